/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor says of what an engine's inspect hides. */
#include "cli/doctor.h"

#include "support/test.h"

/* --- What inspect hides ----------------------------------------------------------------------- */

typedef struct hidden_row {
    cordon_engine_info info;
    bool accepted;
    cordon_cli_state state; /* UNKNOWN: no line */
    const char *part;
} hidden_row;

#define PODMAN(endpoint_, root)                                                                    \
    {                                                                                              \
        .endpoint = (endpoint_), .storage_driver = "overlay", .storage_root = (root),              \
        .hides_runtime = true                                                                      \
    }

static void whether_hidden_facts_can_be_read_is_said_before_a_run(void)
{
    static const hidden_row rows[] = {
        {PODMAN("unix:///run/p.sock", "/tmp"), false, CORDON_CLI_STATE_OK, "below /tmp"},
        {PODMAN("unix:///run/p.sock", "/nonexistent"), false, CORDON_CLI_STATE_FAIL,
         "/nonexistent: No such file"},
        {PODMAN("unix:///run/p.sock", "/etc/passwd"), false, CORDON_CLI_STATE_FAIL, "/etc/passwd"},
        {PODMAN("unix:///run/p.sock", ""), false, CORDON_CLI_STATE_FAIL, "cannot be read"},
        {PODMAN("tcp://h.test:1", "/tmp"), false, CORDON_CLI_STATE_FAIL, "tcp://h.test:1: Object"},
        {PODMAN("tcp://h.test:1", "/tmp"), true, CORDON_CLI_STATE_WARN, "allow_unread_runtime"},
        {{.endpoint = "tcp://h.test:1", .storage_driver = "", .storage_root = ""},
         false,
         CORDON_CLI_STATE_UNKNOWN,
         NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_cli_doctor doctor = {0};
        cordon_cli_doctor_runtime(&doctor, &rows[i].info, rows[i].accepted);
        if (!CHECK_INT(doctor.count, rows[i].part != NULL) || !rows[i].part)
            continue;
        CHECK_INT(doctor.findings[0].state, rows[i].state);
        CHECK_CONTAINS(doctor.findings[0].fact, rows[i].part);
        CHECK((doctor.findings[0].next[0] != '\0') == (rows[i].state != CORDON_CLI_STATE_OK));
    }
}

CORDON_TEST_MAIN("cli_doctor", TEST(whether_hidden_facts_can_be_read_is_said_before_a_run))

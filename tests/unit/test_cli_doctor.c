/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor says of what an engine's inspect hides, and of the lock file of images. */
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

/* --- The lock file of images ------------------------------------------------------------------ */

/* Each line that is not OK has a next step, and no other has. */
static void check_finding(const cordon_cli_doctor *doctor, cordon_cli_state state, const char *part)
{
    if (!CHECK_INT(doctor->count, 1))
        return;
    CHECK_STR(doctor->findings[0].check, "images.lock");
    CHECK_INT(doctor->findings[0].state, state);
    CHECK_CONTAINS(doctor->findings[0].fact, part);
    CHECK((doctor->findings[0].next[0] != '\0') == (state != CORDON_CLI_STATE_OK));
}

static void a_lock_that_must_be_there_and_is_not_fails(void)
{
    static const struct {
        cordon_image_lock_info info;
        cordon_cli_state state;
        const char *part;
    } rows[] = {
        {{.path = "/c/images.lock", .present = true, .required = true, .entries = 3},
         CORDON_CLI_STATE_OK,
         "/c/images.lock: read, trusted, 3 pins"},
        {{.path = "/c/images.lock", .required = true},
         CORDON_CLI_STATE_FAIL,
         "/c/images.lock is named by images_lock and is not there: every run"},
        {{.path = "/c/images.lock"}, CORDON_CLI_STATE_OK, "/c/images.lock: none"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_cli_doctor doctor = {0};
        cordon_cli_doctor_lock(&doctor, &rows[i].info);
        check_finding(&doctor, rows[i].state, rows[i].part);
    }
}

static void what_the_lock_pins_must_be_on_the_engine(void)
{
    static const cordon_image there = {.id = "sha256:aa", .version = "2.1.332", .present = true};
    static const cordon_image gone = {.pin = "sha256:bb"};
    static const struct {
        const char *name;
        const cordon_image *row;
        bool pinned;
        cordon_cli_state state;
        const char *part;
    } rows[] = {
        {"claude", &there, false, CORDON_CLI_STATE_OK, "claude: sha256:aa, version 2.1.332"},
        {"claude", &gone, true, CORDON_CLI_STATE_FAIL, "claude: sha256:bb is not on this engine"},
        {"codex", NULL, false, CORDON_CLI_STATE_OK, "codex: no pin for this engine"},
        {"codex", NULL, true, CORDON_CLI_STATE_FAIL, "codex: the configuration pins it, the lock"},
        {"runner", NULL, false, CORDON_CLI_STATE_WARN, "runner: no pin for this engine"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_cli_doctor doctor = {0};
        cordon_cli_doctor_locked(&doctor, rows[i].name, rows[i].row, rows[i].pinned);
        check_finding(&doctor, rows[i].state, rows[i].part);
    }
}

CORDON_TEST_MAIN("cli_doctor", TEST(a_lock_that_must_be_there_and_is_not_fails),
                 TEST(what_the_lock_pins_must_be_on_the_engine),
                 TEST(whether_hidden_facts_can_be_read_is_said_before_a_run))

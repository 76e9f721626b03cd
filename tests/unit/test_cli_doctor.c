/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor says about journals whose cordon is gone. */
#include "cli/doctor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/cleanup.h"
#include "support/test.h"

#define NO_BOOT "00000000-0000-0000-0000-000000000000"
#define HEAD(kind, boot)                                                                           \
    "{\"journal\":1,\"invocation\":\"abc\",\"token\":\"t\",\"engine\":\"unix:///nonexistent/"      \
    "e.sock\","                                                                                    \
    "\"kind\":\"" kind "\",\"owner\":\"uid-1\",\"pid\":1,\"pid_start\":1,\"boot\":\"" boot "\"}\n"
#define OBJECT(role, type, rest) "{\"object\":\"" role "\",\"type\":\"" type "\"," rest "}\n"

/* Looks at a folder that has this one journal; false when it could not be made. */
static bool look(const char *text, cordon_cli_doctor *doctor)
{
    char folder[] = "/tmp/cordon-doctor-XXXXXX";
    char path[64];
    if (!mkdtemp(folder))
        return false;
    (void)snprintf(path, sizeof path, "%s/abc.jsonl", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        (void)close(fd);
    cordon_cli_doctor_journals(doctor, folder);
    (void)unlink(path);
    return rmdir(folder) == 0 && written;
}

static void a_dead_owner_and_what_is_left_are_named_with_the_commands(void)
{
    cordon_cli_doctor doctor = {0};
    REQUIRE(look(HEAD("podman", NO_BOOT) OBJECT("vendor_network", "network", "\"name\":\"n1\"")
                     OBJECT("step", "container", "\"name\":\"s1\"")
                         OBJECT("step", "container", "\"id\":\"22bb\"") OBJECT("proxy", "container",
                                                                               "\"id\":\"33cc\"")
                             OBJECT("proxy", "container", "\"id\":\"33cc\",\"gone\":true") "{\"obj",
                 &doctor));
    REQUIRE(doctor.count == 3);
    CHECK(doctor.findings[0].state == CORDON_CLI_STATE_WARN);
    CHECK_CONTAINS(doctor.findings[0].fact, "/abc.jsonl: its cordon, process 1, ended without");
    CHECK_STR(doctor.findings[1].fact, "step container: podman rm -f 22bb");
    CHECK_STR(doctor.findings[2].fact, "vendor_network network: podman network rm n1");
}

static void docker_is_asked_where_it_was(void)
{
    cordon_cli_doctor doctor = {0};
    REQUIRE(look(HEAD("docker", NO_BOOT) OBJECT("step", "container", "\"id\":\"22bb\""), &doctor));
    REQUIRE(doctor.count == 2);
    CHECK_STR(doctor.findings[1].fact,
              "step container: docker --host unix:///nonexistent/e.sock rm -f 22bb");
}

static void what_is_no_journal_is_named_and_never_becomes_a_command(void)
{
    static const char *const texts[] = {
        "garbage\n",
        "{\"journal\":1}\n",
        HEAD("podman", NO_BOOT) OBJECT("step", "container", "\"id\":\"x; reboot\""),
        HEAD("podman", NO_BOOT) OBJECT("$(reboot)", "container", "\"id\":\"22bb\""),
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cordon_cli_doctor doctor = {0};
        REQUIRE(look(texts[i], &doctor));
        REQUIRE(doctor.count == 1);
        CHECK_CONTAINS(doctor.findings[0].fact, "is no journal of this version");
    }
}

static void no_folder_and_an_empty_file_are_nothing_to_say(void)
{
    cordon_cli_doctor doctor = {0};
    cordon_cli_doctor_journals(&doctor, NULL);
    cordon_cli_doctor_journals(&doctor, "/nonexistent");
    REQUIRE(look("", &doctor));
    CHECK_INT(doctor.count, 0);
}

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

CORDON_TEST_MAIN("cli_doctor", TEST(a_dead_owner_and_what_is_left_are_named_with_the_commands),
                 TEST(docker_is_asked_where_it_was),
                 TEST(what_is_no_journal_is_named_and_never_becomes_a_command),
                 TEST(no_folder_and_an_empty_file_are_nothing_to_say),
                 TEST(whether_hidden_facts_can_be_read_is_said_before_a_run))

/* SPDX-License-Identifier: Apache-2.0 */
/* Contract cases: attach, start, signal, wait, log, remove, and the event stream. */
#include "contract.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/buf.h"
#include "kit/httpc.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Makes, attaches and starts a shell; NULL when something failed. */
static const char *started(session *s, const char *script, bool with_stdin,
                           cordon_stream **ret_stream)
{
    shell_spec shell;
    cordon_err err = CORDON_ERR_INIT;
    shell_spec_init(s, script, &shell);
    shell.spec.open_stdin = with_stdin;
    const char *id = make_container(s, &shell.spec);
    if (!id)
        return NULL;
    if (ret_stream &&
        !CHECK_OK(s->ops->container_attach(s->impl, id, with_stdin ? CORDON_ATTACH_STDIN : 0U,
                                           soon(), ret_stream, &err),
                  err))
        return NULL;
    return CHECK_OK(s->ops->container_start(s->impl, id, soon(), &err), err) ? id : NULL;
}

static void a_command_speaks_hears_and_ends_with_its_own_status(void)
{
    cordon_auto(session) s = {0};
    cordon_auto_ptr(cordon_stream) stream = NULL;
    cordon_auto(cordon_container_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    captured seen;
    int code = -1;
    REQUIRE(session_open(&s));
    const char *id = started(&s, "read x; echo out=$x; echo err=$x >&2; exit 7", true, &stream);
    REQUIRE(id != NULL);
    REQUIRE_OK(cordon_stream_write(stream, "word\n", 5, soon(), &err), err);
    REQUIRE(capture(stream, &seen));
    CHECK_STR(seen.out, "out=word\n");
    CHECK_STR(seen.err, "err=word\n");
    REQUIRE_OK(s.ops->container_wait(s.impl, id, soon(), &code, &err), err);
    CHECK_INT(code, 7);
    REQUIRE_OK(s.ops->container_inspect(s.impl, id, soon(), &facts, &err), err);
    CHECK_INT(facts.state, CORDON_STATE_EXITED);
    CHECK(facts.exit_code.known && facts.exit_code.value == 7);
    CHECK(facts.started_at && facts.started_at[0] != '\0');
    CHECK(facts.finished_at && facts.finished_at[0] != '\0');
    CHECK_INT(facts.oom_killed, CORDON_FACT_NO);
    CHECK_INT(facts.unmodelled.count, 0);
}

static void the_end_of_stdin_reaches_the_command(void)
{
    cordon_auto(session) s = {0};
    cordon_auto_ptr(cordon_stream) stream = NULL;
    cordon_err err = CORDON_ERR_INIT;
    captured seen;
    REQUIRE(session_open(&s));
    const char *id = started(&s, "cat; echo end", true, &stream);
    REQUIRE(id != NULL);
    REQUIRE_OK(cordon_stream_write(stream, "a\n", 2, soon(), &err), err);
    REQUIRE_OK(cordon_stream_shutdown(stream, &err), err);
    REQUIRE(capture(stream, &seen));
    CHECK_STR(seen.out, "a\nend\n");
}

static void short_lived_output_is_complete_every_time(void)
{
    for (int i = 0; i < 10; i++) {
        cordon_auto(session) s = {0};
        cordon_auto_ptr(cordon_stream) stream = NULL;
        captured seen;
        REQUIRE(session_open(&s));
        REQUIRE(started(&s, "echo one; echo two >&2", false, &stream) != NULL);
        REQUIRE(capture(stream, &seen));
        REQUIRE_STR(seen.out, "one\n");
        REQUIRE_STR(seen.err, "two\n");
    }
}

static void the_process_is_as_confined_as_the_specification_says(void)
{
    cordon_auto(session) s = {0};
    cordon_auto_ptr(cordon_stream) stream = NULL;
    captured seen;
    REQUIRE(session_open(&s));
    REQUIRE(started(&s,
                    "while read -r k v; do case $k in CapEff:|CapBnd:|NoNewPrivs:|Seccomp:|Uid:) "
                    "set -- $v; echo $k$1;; esac; done </proc/self/status; "
                    "echo x >/file 2>/dev/null || echo ro; hostname; "
                    "cat /proc/sys/net/ipv6/conf/all/disable_ipv6; ulimit -n; ulimit -c",
                    false, &stream) != NULL);
    REQUIRE(capture(stream, &seen));
    CHECK_STR(seen.out, "Uid:1000\nCapEff:0000000000000000\nCapBnd:0000000000000000\n"
                        "NoNewPrivs:1\nSeccomp:2\nro\ncase\n1\n512\n0\n");
}

static void a_second_start_is_a_conflict(void)
{
    cordon_auto(session) s = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(session_open(&s));
    const char *id = started(&s, "sleep 60", false, NULL);
    REQUIRE(id != NULL);
    CHECK_FAILS(s.ops->container_start(s.impl, id, soon(), &err), err, CORDON_ERR_CONFLICT, "");
}

static void a_command_that_does_not_exist_is_not_started(void)
{
    cordon_auto(session) s = {0};
    shell_spec shell;
    cordon_auto(cordon_container_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    int code = -1;
    REQUIRE(session_open(&s));
    shell_spec_init(&s, "exit 0", &shell);
    shell.entrypoint[0] = "/bin/no-such-command";
    const char *id = make_container(&s, &shell.spec);
    REQUIRE(id != NULL);
    CHECK_FAILS(s.ops->container_start(s.impl, id, soon(), &err), err, CORDON_ERR_ENGINE,
                "no-such-command");
    err = (cordon_err)CORDON_ERR_INIT;
    REQUIRE_OK(s.ops->container_inspect(s.impl, id, soon(), &facts, &err), err);
    CHECK_INT(facts.state, CORDON_STATE_CREATED);
    CHECK(facts.started_at && facts.started_at[0] == '\0');
    CHECK_FAILS(s.ops->container_wait(s.impl, id, soon(), &code, &err), err, CORDON_ERR_PROTOCOL,
                "");
    CHECK_INT(code, -1);
}

/* The engine must neither make the folder nor start without it. */
static void TO1_a_bind_source_that_has_gone_stops_the_start(void)
{
    cordon_auto(session) s = {0};
    shell_spec shell;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(session_open(&s) && session_folder(&s));
    char gone[80];
    (void)snprintf(gone, sizeof gone, "%s/gone", s.folder);
    REQUIRE(mkdir(gone, 0777) == 0);
    shell_spec_init(&s, "exit 0", &shell);
    shell.mounts[1] =
        (cordon_mount_spec){.type = CORDON_MOUNT_BIND, .source = gone, .target = "/work"};
    shell.spec.mount_count = 2;
    const char *id = make_container(&s, &shell.spec);
    CHECK(rmdir(gone) == 0);
    REQUIRE(id != NULL);
    CHECK_FAILS(s.ops->container_start(s.impl, id, soon(), &err), err, CORDON_ERR_NOTFOUND, gone);
    CHECK(access(gone, F_OK) != 0);
}

static void EA2_waiting_for_what_was_never_started_is_no_status(void)
{
    cordon_auto(session) s = {0};
    shell_spec shell;
    cordon_err err = CORDON_ERR_INIT;
    int code = -1;
    REQUIRE(session_open(&s));
    shell_spec_init(&s, "exit 0", &shell);
    const char *id = make_container(&s, &shell.spec);
    REQUIRE(id != NULL);
    CHECK_FAILS(s.ops->container_wait(s.impl, id, soon(), &code, &err), err, CORDON_ERR_PROTOCOL,
                "");
    CHECK_INT(code, -1);
}

static void EA1_a_wait_ends_at_its_own_deadline(void)
{
    cordon_auto(session) s = {0};
    cordon_err err = CORDON_ERR_INIT;
    int code = -1;
    REQUIRE(session_open(&s));
    const char *id = started(&s, "sleep 60", false, NULL);
    REQUIRE(id != NULL);
    CHECK_FAILS(s.ops->container_wait(s.impl, id, cordon_deadline_in_ms(200, -1), &code, &err), err,
                CORDON_ERR_TIMEOUT, "");
    CHECK_INT(code, -1);
}

static void a_signal_reaches_the_first_process(void)
{
    cordon_auto(session) s = {0};
    cordon_auto_ptr(cordon_stream) stream = NULL;
    cordon_err err = CORDON_ERR_INIT;
    char byte = 0;
    size_t length = 0;
    int code = -1;
    REQUIRE(session_open(&s));
    const char *id =
        started(&s, "trap 'exit 9' TERM; echo r; while :; do sleep 0.1; done", false, &stream);
    REQUIRE(id != NULL);
    /* its trap is set once it has spoken */
    REQUIRE_OK(cordon_stream_read_wait(stream, &byte, 1, soon(), &length, &err), err);
    REQUIRE_OK(s.ops->container_signal(s.impl, id, "SIGTERM", soon(), &err), err);
    REQUIRE_OK(s.ops->container_wait(s.impl, id, soon(), &code, &err), err);
    CHECK_INT(code, 9);
    CHECK_FAILS(s.ops->container_signal(s.impl, id, "SIGTERM", soon(), &err), err,
                CORDON_ERR_CONFLICT, "");
}

static void a_killed_command_ends_with_137(void)
{
    cordon_auto(session) s = {0};
    cordon_err err = CORDON_ERR_INIT;
    int code = -1;
    REQUIRE(session_open(&s));
    const char *id = started(&s, "sleep 60", false, NULL);
    REQUIRE(id != NULL);
    REQUIRE_OK(s.ops->container_signal(s.impl, id, "SIGKILL", soon(), &err), err);
    REQUIRE_OK(s.ops->container_wait(s.impl, id, soon(), &code, &err), err);
    CHECK_INT(code, 137);
}

static void EA6_a_created_container_cannot_be_signalled(void)
{
    cordon_auto(session) s = {0};
    shell_spec shell;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(session_open(&s));
    shell_spec_init(&s, "exit 0", &shell);
    const char *id = make_container(&s, &shell.spec);
    REQUIRE(id != NULL);
    CHECK_FAILS(s.ops->container_signal(s.impl, id, "SIGTERM", soon(), &err), err,
                CORDON_ERR_CONFLICT, "");
}

static void the_log_ends_with_the_last_bytes(void)
{
    cordon_auto(session) s = {0};
    cordon_err err = CORDON_ERR_INIT;
    int code = -1;
    REQUIRE(session_open(&s));
    const char *id = started(&s, "echo first; echo last", false, NULL);
    REQUIRE(id != NULL);
    REQUIRE_OK(s.ops->container_wait(s.impl, id, soon(), &code, &err), err);
    cordon_autofree char *all = NULL;
    cordon_autofree char *end = NULL;
    REQUIRE_OK(s.ops->container_log(s.impl, id, 4096, soon(), &all, &err), err);
    CHECK_STR(all, "first\nlast\n");
    REQUIRE_OK(s.ops->container_log(s.impl, id, 5, soon(), &end, &err), err);
    CHECK_STR(end, "last\n");
}

static void a_silent_container_has_an_empty_log(void)
{
    cordon_auto(session) s = {0};
    shell_spec shell;
    cordon_autofree char *text = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(session_open(&s));
    shell_spec_init(&s, "exit 0", &shell);
    const char *id = make_container(&s, &shell.spec);
    REQUIRE(id != NULL);
    REQUIRE_OK(s.ops->container_log(s.impl, id, 4096, soon(), &text, &err), err);
    CHECK_STR(text, "");
}

/* Of what lies on mounts only the mount points show; a read-only root changes in nothing else. */
static void the_changes_of_a_container_are_its_mount_points(void)
{
    cordon_auto(session) s = {0};
    shell_spec shell;
    cordon_auto(cordon_changes) changes = {0};
    cordon_err err = CORDON_ERR_INIT;
    int code = -1;
    bool work = false;
    char written[sizeof s.folder + 2];
    REQUIRE(session_open(&s) && session_folder(&s));
    (void)snprintf(written, sizeof written, "%s/y", s.folder);
    shell_spec_init(&s, "echo x >/tmp/x && echo y >/bind/y; echo z >/z; exit 3", &shell);
    shell.mounts[1] = (cordon_mount_spec){
        .type = CORDON_MOUNT_BIND, .source = s.folder, .target = "/bind", .read_only = false};
    shell.spec.mount_count = 2;
    const char *id = make_container(&s, &shell.spec);
    REQUIRE(id != NULL);
    REQUIRE_OK(s.ops->container_start(s.impl, id, soon(), &err), err);
    REQUIRE_OK(s.ops->container_wait(s.impl, id, soon(), &code, &err), err);
    CHECK_INT(code, 3);
    REQUIRE_OK(s.ops->container_changes(s.impl, id, soon(), &changes, &err), err);
    CHECK(!changes.more);
    for (size_t i = 0; i < changes.count; i++) {
        const cordon_change *c = &changes.items[i];
        bool etc = strncmp(c->path, "/etc", 4) == 0;
        work = work || (c->kind == CORDON_CHANGE_ADDED && strcmp(c->path, "/bind") == 0);
        TEST_RECORDF(etc || strcmp(c->path, "/bind") == 0 || strcmp(c->path, "/tmp") == 0, "%s %s",
                     cordon_change_kind_name(c->kind), c->path);
    }
    CHECK(work);
    CHECK(unlink(written) == 0);
}

static void removing_kills_and_happens_once(void)
{
    cordon_auto(session) s = {0};
    cordon_container_facts facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(session_open(&s));
    const char *id = started(&s, "trap '' TERM; sleep 60", false, NULL);
    REQUIRE(id != NULL);
    REQUIRE_OK(s.ops->container_remove(s.impl, id, soon(), &err), err);
    CHECK_FAILS(s.ops->container_inspect(s.impl, id, soon(), &facts, &err), err,
                CORDON_ERR_NOTFOUND, "");
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(s.ops->container_remove(s.impl, id, soon(), &err), err, CORDON_ERR_NOTFOUND, "");
    forget(&s, id);
}

/* Collects what the stream says of one object until a given action of it. */
typedef struct story {
    char text[1024];
    cordon_fact_int exit_code;
    bool labelled;
    bool over;
} story;

static const char *action_word(cordon_event_action action)
{
    static const char *const words[] = {
        [CORDON_EVENT_CREATE] = "create ", [CORDON_EVENT_START] = "start ",
        [CORDON_EVENT_DIE] = "die ",       [CORDON_EVENT_REMOVE] = "remove ",
        [CORDON_EVENT_OTHER] = "other ",   [CORDON_EVENT_EXEC] = "exec ",
        [CORDON_EVENT_UPDATE] = "update ", [CORDON_EVENT_RENAME] = "rename ",
    };
    size_t index = (size_t)action;
    return index < COUNT(words) && words[index] ? words[index] : "";
}

static void note_event(story *tale, const session *s, const cordon_event *event, const char *id)
{
    if (strcmp(event->id, id) != 0)
        return;
    CHECK_INT(event->type, CORDON_OBJECT_CONTAINER);
    size_t used = strlen(tale->text);
    (void)snprintf(tale->text + used, sizeof tale->text - used, "%s", action_word(event->action));
    if (event->action == CORDON_EVENT_DIE)
        tale->exit_code = event->exit_code;
    const char *token = cordon_fact_map_get(&event->labels, "cordon.contract");
    if (token && strcmp(token, s->token) == 0)
        tale->labelled = true;
    tale->over = event->action == CORDON_EVENT_REMOVE;
}

static bool parse_events(story *tale, const session *s, cordon_buf *bytes, const char *id)
{
    for (;;) {
        cordon_auto(cordon_event) event = {0};
        cordon_err err = CORDON_ERR_INIT;
        size_t used = 0;
        if (!CHECK_OK(s->ops->events_parse(bytes->data, bytes->length, &used, &event, &err), err))
            return false;
        if (used == 0)
            return true;
        note_event(tale, s, &event, id);
        cordon_buf_consume(bytes, used);
    }
}

static void follow_events(story *tale, const session *s, cordon_stream *stream, const char *id)
{
    cordon_auto(cordon_buf) bytes = cordon_buf_make(1 << 20);
    while (!tale->over) {
        char piece[777]; /* cuts events anywhere */
        size_t length = 0;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE_OK(cordon_stream_read_wait(stream, piece, sizeof piece, soon(), &length, &err),
                   err);
        REQUIRE(length > 0);
        REQUIRE_OK(cordon_buf_append(&bytes, piece, length, &err), err);
        REQUIRE(parse_events(tale, s, &bytes, id));
    }
}

static void the_event_stream_tells_a_containers_life(void)
{
    cordon_auto(session) s = {0};
    cordon_auto_ptr(cordon_stream) stream = NULL;
    cordon_err err = CORDON_ERR_INIT;
    story tale = {0};
    int code = -1;
    char id[CORDON_ID_HEX + 1];
    REQUIRE(session_open(&s));
    REQUIRE_OK(s.ops->events_open(s.impl, 0, soon(), &stream, &err), err);
    const char *made = started(&s, "exit 3", false, NULL);
    REQUIRE(made != NULL);
    (void)snprintf(id, sizeof id, "%s", made);
    REQUIRE_OK(s.ops->container_wait(s.impl, id, soon(), &code, &err), err);
    REQUIRE_OK(s.ops->container_remove(s.impl, id, soon(), &err), err);
    forget(&s, id);
    follow_events(&tale, &s, stream, id);
    CHECK_STR(tale.text, "create start die remove ");
    CHECK(tale.exit_code.known && tale.exit_code.value == 3);
    CHECK(tale.labelled);
}

static void a_half_event_is_none_yet(void)
{
    static const char garbage[] = "no json\n";
    cordon_auto(session) s = {0};
    cordon_event event = {0};
    cordon_err err = CORDON_ERR_INIT;
    size_t used = 77;
    REQUIRE(session_open(&s));
    REQUIRE_OK(s.ops->events_parse("{\"Type\":", 8, &used, &event, &err), err);
    CHECK_INT(used, 0);
    CHECK_FAILS(s.ops->events_parse(garbage, sizeof garbage - 1, &used, &event, &err), err,
                CORDON_ERR_PROTOCOL, "");
    CHECK(event.id == NULL);
}

const test_case contract_life_cases[] = {
    TEST(a_command_speaks_hears_and_ends_with_its_own_status),
    TEST(the_end_of_stdin_reaches_the_command),
    TEST(short_lived_output_is_complete_every_time),
    TEST(the_process_is_as_confined_as_the_specification_says),
    TEST(a_second_start_is_a_conflict),
    TEST(a_command_that_does_not_exist_is_not_started),
    TEST(TO1_a_bind_source_that_has_gone_stops_the_start),
    TEST(EA2_waiting_for_what_was_never_started_is_no_status),
    TEST(EA1_a_wait_ends_at_its_own_deadline),
    TEST(a_signal_reaches_the_first_process),
    TEST(a_killed_command_ends_with_137),
    TEST(EA6_a_created_container_cannot_be_signalled),
    TEST(the_log_ends_with_the_last_bytes),
    TEST(a_silent_container_has_an_empty_log),
    TEST(the_changes_of_a_container_are_its_mount_points),
    TEST(removing_kills_and_happens_once),
    TEST(the_event_stream_tells_a_containers_life),
    TEST(a_half_event_is_none_yet),
};
const size_t contract_life_case_count = COUNT(contract_life_cases);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The egress file of a live run, from both sides: told as it is written, to its end; chosen without
 * a doubt; nothing of anybody else's is believed; bounded.
 */
#include "cordon/egress.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "egress_event.h"
#include "egress_file.h"
#include "kit/cleanup.h"
#include "state_dir.h"
#include "support/folder.h"
#include "support/test.h"

#define ONE      "11111111111111111111111111111111"
#define TWO      "12222222222222222222222222222222"
#define EVENT(n) "{\"event\":\"egress\",\"what\":\"denied\",\"id\":" n "}"

static void live_close(cordon_egress_live **live)
{
    cordon_egress_close(*live);
}

typedef struct rig {
    test_folder folder;
    char state[512];
    cordon_host host;
} rig;

static bool rig_open(rig *r)
{
    *r = (rig){0};
    if (!CHECK(test_folder_make(&r->folder)))
        return false;
    (void)snprintf(r->state, sizeof r->state, "%s/state", r->folder.path);
    r->host.state_dir = r->state;
    return true;
}

static void rig_clear(rig *r)
{
    test_folder_remove(&r->folder);
}
CORDON_DEFINE_AUTO(rig, rig_clear)

static void write_line(cordon_egress_file *file, const char *line)
{
    cordon_egress_file_write(file, line, strlen(line));
}

/* The next event without waiting for one: a cancel that has come already ends the wait. */
static int next_now(cordon_egress_live *live, const char **ret_json, cordon_err *err)
{
    int ends[2];
    int result = -1;
    if (!CHECK(pipe2(ends, O_CLOEXEC) == 0))
        return -1;
    (void)close(ends[1]);
    result = cordon_egress_next(live, ends[0], ret_json, err);
    (void)close(ends[0]);
    return result;
}

static void events_are_told_as_they_come_and_the_end_is_seen(void)
{
    cordon_auto(rig) r = {0};
    cordon_egress_file file = CORDON_EGRESS_FILE_INIT;
    cordon_cleanup(live_close) cordon_egress_live *live = NULL;
    cordon_err err = CORDON_ERR_INIT;
    const char *json = NULL;
    struct stat st;
    REQUIRE(rig_open(&r));
    cordon_egress_file_open(r.state, ONE, &file);
    REQUIRE(file.fd >= 0);
    REQUIRE(fstat(file.fd, &st) == 0);
    CHECK_INT(st.st_mode & 07777, 0600);
    write_line(&file, EVENT("1"));
    REQUIRE_OK(cordon_egress_open(&r.host, NULL, &live, &err), err);
    CHECK_STR(cordon_egress_invocation(live), ONE);
    REQUIRE_OK(cordon_egress_next(live, -1, &json, &err), err);
    CHECK_STR(json, EVENT("1"));
    REQUIRE_FAILS(next_now(live, &json, &err), err, CORDON_ERR_CANCELLED, "");
    cordon_err_clear(&err);
    write_line(&file, EVENT("2"));
    write_line(&file, EVENT("3"));
    REQUIRE_OK(cordon_egress_next(live, -1, &json, &err), err);
    CHECK_STR(json, EVENT("2"));
    write_line(&file, EVENT("4"));
    cordon_egress_file_close(&file);
    REQUIRE_OK(cordon_egress_next(live, -1, &json, &err), err);
    CHECK_STR(json, EVENT("3"));
    REQUIRE_OK(cordon_egress_next(live, -1, &json, &err), err);
    CHECK_STR(json, EVENT("4"));
    REQUIRE_OK(cordon_egress_next(live, -1, &json, &err), err);
    CHECK(json == NULL);
    /* Nothing of it stays. */
    cordon_cleanup(live_close) cordon_egress_live *again = NULL;
    CHECK_FAILS(cordon_egress_open(&r.host, ONE, &again, &err), err, CORDON_ERR_NOTFOUND,
                "no run of yours with egress is live under this id");
}

static void a_run_is_chosen_without_a_doubt_or_not_at_all(void)
{
    static const struct {
        const char *wanted;
        const char *got; /* NULL: refused */
        cordon_code code;
        const char *part;
    } rows[] = {
        {NULL, NULL, CORDON_ERR_CONFIG, "more than one run is meant; name one of "},
        {"1", NULL, CORDON_ERR_CONFIG, "more than one run is meant"},
        {"11", ONE, CORDON_OK, ""},
        {TWO, TWO, CORDON_OK, ""},
        {"3", NULL, CORDON_ERR_NOTFOUND, "3: no run of yours"},
        {"", NULL, CORDON_ERR_CONFIG, "is no id of a run"},
        {"../1", NULL, CORDON_ERR_CONFIG, "is no id of a run"},
        {"AB", NULL, CORDON_ERR_CONFIG, "is no id of a run"},
        {ONE "1", NULL, CORDON_ERR_CONFIG, "is no id of a run"},
    };
    cordon_auto(rig) r = {0};
    cordon_egress_file one = CORDON_EGRESS_FILE_INIT;
    cordon_egress_file two = CORDON_EGRESS_FILE_INIT;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(rig_open(&r));
    cordon_cleanup(live_close) cordon_egress_live *none = NULL;
    CHECK_FAILS(cordon_egress_open(&r.host, NULL, &none, &err), err, CORDON_ERR_NOTFOUND,
                "no run of yours with egress is live;");
    /* A look makes no folder. */
    CHECK(access(r.state, F_OK) != 0);
    cordon_egress_file_open(r.state, ONE, &one);
    cordon_egress_file_open(r.state, TWO, &two);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_cleanup(live_close) cordon_egress_live *live = NULL;
        cordon_err_clear(&err);
        if (!rows[i].got) {
            CHECK_FAILS(cordon_egress_open(&r.host, rows[i].wanted, &live, &err), err, rows[i].code,
                        rows[i].part);
            continue;
        }
        REQUIRE_OK(cordon_egress_open(&r.host, rows[i].wanted, &live, &err), err);
        CHECK_STR(cordon_egress_invocation(live), rows[i].got);
    }
    cordon_egress_file_close(&one);
    cordon_egress_file_close(&two);
    r.host.state_dir = NULL;
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_egress_open(&r.host, NULL, &none, &err), err, CORDON_ERR_CONFIG,
                "there is no state folder");
}

/* Its process is gone, and with it the lock: what it told is told, and then it is over. */
static void what_a_killed_run_left_is_told_to_its_end_if_it_is_named(void)
{
    cordon_auto(rig) r = {0};
    cordon_egress_file file = CORDON_EGRESS_FILE_INIT;
    cordon_cleanup(live_close) cordon_egress_live *live = NULL;
    cordon_cleanup(live_close) cordon_egress_live *none = NULL;
    cordon_err err = CORDON_ERR_INIT;
    const char *json = NULL;
    REQUIRE(rig_open(&r));
    cordon_egress_file_open(r.state, ONE, &file);
    write_line(&file, EVENT("1"));
    (void)close(file.fd);
    CHECK_FAILS(cordon_egress_open(&r.host, NULL, &none, &err), err, CORDON_ERR_NOTFOUND, "no run");
    cordon_err_clear(&err);
    REQUIRE_OK(cordon_egress_open(&r.host, ONE, &live, &err), err);
    REQUIRE_OK(cordon_egress_next(live, -1, &json, &err), err);
    CHECK_STR(json, EVENT("1"));
    REQUIRE_OK(cordon_egress_next(live, -1, &json, &err), err);
    CHECK(json == NULL);
    cordon_autoclose int dir = cordon_state_open(r.state, &err);
    cordon_egress_file_forget(dir, ONE);
    CHECK(access(file.path, F_OK) != 0);
    free(file.path);
}

static bool plant(const rig *r, const char *text, mode_t mode)
{
    char path[600];
    cordon_err err = CORDON_ERR_INIT;
    cordon_autoclose int dir = cordon_state_open(r->state, &err);
    (void)snprintf(path, sizeof path, "%s/%s.egress", r->state, ONE);
    cordon_autoclose int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return dir >= 0 && fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
           fchmod(fd, mode) == 0;
}

static void what_is_no_event_or_nobodys_own_file_is_refused(void)
{
    static const char *const bad[] = {"hello\n", "{}\n", "{\"event\":\"output\"}\n", "\n",
                                      "{\"event\":\"egress\"\n"};
    cordon_auto(rig) r = {0};
    cordon_err err = CORDON_ERR_INIT;
    const char *json = NULL;
    REQUIRE(rig_open(&r));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_cleanup(live_close) cordon_egress_live *live = NULL;
        cordon_err_clear(&err);
        REQUIRE(plant(&r, bad[i], 0600));
        REQUIRE_OK(cordon_egress_open(&r.host, ONE, &live, &err), err);
        CHECK_FAILS(cordon_egress_next(live, -1, &json, &err), err, CORDON_ERR_PROTOCOL,
                    "the egress of run 11111111");
    }
    /* A line that is not finished is none yet. */
    cordon_cleanup(live_close) cordon_egress_live *cut = NULL;
    cordon_err_clear(&err);
    REQUIRE(plant(&r, "{\"event\":\"egress\"", 0600));
    REQUIRE_OK(cordon_egress_open(&r.host, ONE, &cut, &err), err);
    REQUIRE_OK(cordon_egress_next(cut, -1, &json, &err), err);
    CHECK(json == NULL);
    cordon_cleanup(live_close) cordon_egress_live *shared = NULL;
    REQUIRE(plant(&r, EVENT("1") "\n", 0620));
    CHECK_FAILS(cordon_egress_open(&r.host, ONE, &shared, &err), err, CORDON_ERR_NOTFOUND, "");
}

static void a_line_without_end_is_refused(void)
{
    static char text[2 * CORDON_EGRESS_EVENT_MAX];
    cordon_auto(rig) r = {0};
    cordon_cleanup(live_close) cordon_egress_live *live = NULL;
    cordon_err err = CORDON_ERR_INIT;
    const char *json = NULL;
    REQUIRE(rig_open(&r));
    memset(text, ' ', sizeof text - 1);
    REQUIRE(plant(&r, text, 0600));
    REQUIRE_OK(cordon_egress_open(&r.host, ONE, &live, &err), err);
    CHECK_FAILS(cordon_egress_next(live, -1, &json, &err), err, CORDON_ERR_PROTOCOL, "too long");
}

static void a_file_is_bounded_and_says_so(void)
{
    cordon_auto(rig) r = {0};
    cordon_egress_file file = CORDON_EGRESS_FILE_INIT;
    cordon_err err = CORDON_ERR_INIT;
    char line[1024];
    char last[64] = "";
    struct stat st;
    REQUIRE(rig_open(&r));
    cordon_egress_file_open(r.state, ONE, &file);
    REQUIRE(file.fd >= 0);
    memset(line, 'x', sizeof line);
    for (int i = 0; i < 10000; i++)
        cordon_egress_file_write(&file, line, sizeof line);
    REQUIRE(fstat(file.fd, &st) == 0);
    CHECK(st.st_size <= CORDON_EGRESS_FILE_MAX);
    CHECK(st.st_size > CORDON_EGRESS_FILE_MAX / 2);
    cordon_autoclose int fd = open(file.path, O_RDONLY | O_CLOEXEC);
    CHECK(pread(fd, last, 32, st.st_size - 32) == 32);
    CHECK_STR(last, "\"event\":\"egress\",\"what\":\"full\"}\n");
    cordon_egress_file_close(&file);
    CHECK_INT(err.code, CORDON_OK);
}

static void a_name_is_one_of_ours_or_not(void)
{
    CHECK(cordon_egress_file_is_name(ONE ".egress"));
    CHECK(!cordon_egress_file_is_name(ONE ".jsonl"));
    CHECK(!cordon_egress_file_is_name(ONE "1.egress"));
    CHECK(!cordon_egress_file_is_name("g1111111111111111111111111111111.egress"));
    CHECK(!cordon_egress_file_is_name(".egress"));
}

CORDON_TEST_MAIN("egress_live", TEST(events_are_told_as_they_come_and_the_end_is_seen),
                 TEST(a_run_is_chosen_without_a_doubt_or_not_at_all),
                 TEST(what_a_killed_run_left_is_told_to_its_end_if_it_is_named),
                 TEST(what_is_no_event_or_nobodys_own_file_is_refused),
                 TEST(a_line_without_end_is_refused), TEST(a_file_is_bounded_and_says_so),
                 TEST(a_name_is_one_of_ours_or_not))

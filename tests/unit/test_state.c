/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Cordon writes down between runs: the private folder, the journal of one invocation, and what
 * is remembered of an engine. Nothing of it is believed that others may have written.
 */
#include <glob.h>
#include <pthread.h>

#include "engine_cache.h"
#include "journal.h"
#include "state_dir.h"
#include "support/folder.h"
#include "support/test.h"

/* --- The folder ---------------------------------------------------------------------------------
 */

static void a_missing_folder_is_made_for_us_alone(void)
{
    test_auto_folder folder;
    cordon_err err = CORDON_ERR_INIT;
    struct stat facts;
    REQUIRE(test_folder_make(&folder));
    cordon_autoclose int dir = cordon_state_open(test_path(&folder, "a/b/cordon"), &err);
    REQUIRE_OK(dir >= 0 ? 0 : -1, err);
    REQUIRE(fstat(dir, &facts) == 0);
    CHECK_INT(facts.st_mode & 07777, 0700);
    CHECK_INT(fcntl(dir, F_GETFD), FD_CLOEXEC);
}

static void a_folder_that_others_may_write_is_refused(void)
{
    static const mode_t modes[] = {0720, 0702, 0777, 01777};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        test_auto_folder folder;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(test_folder_make(&folder));
        REQUIRE(test_subfolder(&folder, "state", modes[i]));
        CHECK_INT(cordon_state_open(test_path(&folder, "state"), &err), -1);
        CHECK_INT(err.code, CORDON_ERR_CONFIG);
        CHECK_CONTAINS(err.message, "0700");
    }
}

static void a_symlink_or_a_file_is_no_folder(void)
{
    test_auto_folder folder;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_subfolder(&folder, "real", 0700));
    REQUIRE(test_symlink(&folder, "real", "link"));
    REQUIRE(test_file(&folder, "file", "x", 0600));
    CHECK_INT(cordon_state_open(test_path(&folder, "link"), &err), -1);
    CHECK_INT(err.code, CORDON_ERR_SYSTEM);
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_INT(cordon_state_open(test_path(&folder, "file"), &err), -1);
    CHECK_INT(err.code, CORDON_ERR_SYSTEM);
}

static void a_file_is_replaced_as_a_whole(void)
{
    test_auto_folder folder;
    cordon_err err = CORDON_ERR_INIT;
    struct stat facts;
    char line[32];
    REQUIRE(test_folder_make(&folder));
    cordon_autoclose int dir = cordon_state_open(test_path(&folder, "state"), &err);
    REQUIRE_OK(dir >= 0 ? 0 : -1, err);
    cordon_state_replace(dir, "note", "one\ntwo\n", 8);
    cordon_state_read_line(test_path(&folder, "state/note"), line, sizeof line);
    CHECK_STR(line, "one");
    cordon_state_replace(dir, "note", "three", 5);
    cordon_state_read_line(test_path(&folder, "state/note"), line, sizeof line);
    CHECK_STR(line, "three");
    REQUIRE(stat(test_path(&folder, "state/note"), &facts) == 0);
    CHECK_INT(facts.st_mode & 07777, 0600);
    cordon_state_read_line(test_path(&folder, "state/none"), line, sizeof line);
    CHECK_STR(line, "");
    cordon_state_boot_id(line, 5);
    CHECK_INT(strlen(line), 4);
}

/* --- The journal ---------------------------------------------------------------------------------
 */

typedef struct book {
    test_folder folder;
    cordon_owner owner;
    cordon_journal journal;
    char path[128]; /* of its file */
    cordon_err err;
} book;

static void book_clear(book *b)
{
    cordon_journal_close(&b->journal, false);
    test_folder_remove(&b->folder);
}
CORDON_DEFINE_AUTO(book, book_clear)

static bool book_open(book *b)
{
    b->journal = (cordon_journal)CORDON_JOURNAL_INIT;
    if (!test_folder_make(&b->folder) || cordon_owner_init(&b->owner, 1000, &b->err) != 0)
        return false;
    (void)snprintf(b->path, sizeof b->path, "%s/state/%s.jsonl", b->folder.path,
                   b->owner.invocation);
    const cordon_journal_head head = {&b->owner, "docker", "unix:///run/d.sock", NULL, NULL};
    return cordon_journal_open(test_path(&b->folder, "state"), &head, &b->journal, &b->err) == 0;
}

static char *book_read(const book *b, char *text, size_t size)
{
    cordon_autoclose int fd = open(b->path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, size - 1) : -1;
    text[length > 0 ? length : 0] = '\0';
    return text;
}

static void what_is_planned_made_and_gone_stands_in_order(void)
{
    cordon_auto(book) b = {0};
    char text[4096];
    char want[256];
    struct stat facts;
    REQUIRE_OK(book_open(&b) ? 0 : -1, b.err);
    REQUIRE_OK(cordon_journal_planned(&b.journal, CORDON_ROLE_STEP, "cordon-step-1", &b.err),
               b.err);
    REQUIRE_OK(cordon_journal_created(&b.journal, CORDON_ROLE_STEP, "abc", &b.err), b.err);
    cordon_journal_gone(&b.journal, CORDON_ROLE_STEP, "abc");
    (void)book_read(&b, text, sizeof text);
    (void)snprintf(want, sizeof want, "{\"journal\":1,\"invocation\":\"%s\",\"token\":\"%s\",",
                   b.owner.invocation, b.owner.token);
    CHECK_CONTAINS(text, want);
    CHECK_CONTAINS(text, "\"service\":null,\"worktree\":null,\"owner\":\"uid-1000\",\"host\":\"");
    (void)snprintf(want, sizeof want, "\"pid\":%d,\"pid_start\":", (int)getpid());
    CHECK_CONTAINS(text, want);
    CHECK(strstr(text, "\"pid_start\":0,") == NULL);
    CHECK_CONTAINS(text,
                   "}\n{\"object\":\"step\",\"type\":\"container\",\"name\":\"cordon-step-1\"}\n"
                   "{\"object\":\"step\",\"type\":\"container\",\"id\":\"abc\"}\n"
                   "{\"object\":\"step\",\"type\":\"container\",\"id\":\"abc\",\"gone\":true}\n");
    REQUIRE(stat(b.path, &facts) == 0);
    CHECK_INT(facts.st_mode & 07777, 0600);
}

static void it_stays_while_something_is_left(void)
{
    for (int left = 0; left < 2; left++) {
        cordon_auto(book) b = {0};
        REQUIRE_OK(book_open(&b) ? 0 : -1, b.err);
        CHECK(access(b.path, F_OK) == 0);
        cordon_journal_close(&b.journal, left == 0);
        CHECK((access(b.path, F_OK) == 0) == (left != 0));
        CHECK_INT(b.journal.fd, -1);
    }
}

static void one_invocation_has_one_journal(void)
{
    cordon_auto(book) b = {0};
    cordon_journal second = CORDON_JOURNAL_INIT;
    REQUIRE_OK(book_open(&b) ? 0 : -1, b.err);
    const cordon_journal_head head = {&b.owner, "docker", "unix:///x", NULL, NULL};
    CHECK_FAILS(cordon_journal_open(test_path(&b.folder, "state"), &head, &second, &b.err), b.err,
                CORDON_ERR_SYSTEM, b.owner.invocation);
    CHECK_INT(second.fd, -1);
    CHECK(access(b.path, F_OK) == 0);
}

static void without_a_journal_nothing_is_written(void)
{
    cordon_journal none = CORDON_JOURNAL_INIT;
    cordon_err err = CORDON_ERR_INIT;
    CHECK_OK(cordon_journal_planned(&none, CORDON_ROLE_PROXY, "n", &err), err);
    CHECK_OK(cordon_journal_created(&none, CORDON_ROLE_PROXY, "i", &err), err);
    cordon_journal_gone(&none, CORDON_ROLE_PROXY, "i");
    cordon_journal_close(&none, true);
}

#define LINES_EACH 200

static void *write_lines(void *argument)
{
    const cordon_journal *journal = argument;
    cordon_err err = CORDON_ERR_INIT;
    for (int i = 0; i < LINES_EACH; i++) {
        if (cordon_journal_planned(journal, CORDON_ROLE_PROXY, "cordon-proxy-name", &err) != 0)
            return argument;
    }
    return NULL;
}

static void branches_write_whole_lines(void)
{
    static const char line[] =
        "{\"object\":\"proxy\",\"type\":\"container\",\"name\":\"cordon-proxy-name\"}\n";
    cordon_auto(book) b = {0};
    static char text[65536];
    pthread_t thread;
    void *failed = NULL;
    REQUIRE_OK(book_open(&b) ? 0 : -1, b.err);
    REQUIRE(pthread_create(&thread, NULL, write_lines, &b.journal) == 0);
    CHECK(write_lines(&b.journal) == NULL);
    (void)pthread_join(thread, &failed);
    CHECK(failed == NULL);
    (void)book_read(&b, text, sizeof text);
    const char *at = strchr(text, '\n');
    REQUIRE(at != NULL);
    at++;
    int lines = 0;
    for (; strncmp(at, line, sizeof line - 1) == 0; at += sizeof line - 1)
        lines++;
    CHECK_INT(lines, 2 * LINES_EACH);
    CHECK_STR(at, "");
}

/* --- What is remembered of an engine
 * --------------------------------------------------------------- */

static const char identity[] = "20.10.24 1.41";

static bool fill_facts(cordon_engine_facts *facts)
{
    facts->kind = CORDON_ENGINE_DOCKER;
    facts->rootless = CORDON_FACT_NO;
    facts->cgroup_version = (cordon_fact_int){true, 2};
    facts->can = CORDON_CAN_LIMIT_PIDS | CORDON_CAN_LOAD_ON_BASE;
    cordon_fact_list_known(&facts->warnings);
    return cordon_fact_text_set(&facts->version, "20.10.24", NULL) == 0 &&
           cordon_fact_text_set(&facts->architecture, "amd64", NULL) == 0 &&
           cordon_fact_list_add(&facts->security, "name=seccomp,profile=default", NULL) == 0;
}

/* A folder with a socket whose engine was remembered. */
static bool remember(test_folder *folder)
{
    cordon_auto(cordon_engine_facts) facts = {0};
    if (!test_folder_make(folder) || !test_socket(folder, "d.sock") || !fill_facts(&facts))
        return false;
    cordon_engine_cache_save(test_path(folder, "state"), test_path(folder, "d.sock"), identity,
                             &facts);
    return true;
}

static bool recall(test_folder *folder, const char *who)
{
    cordon_auto(cordon_engine_facts) facts = {0};
    return cordon_engine_cache_load(test_path(folder, "state"), test_path(folder, "d.sock"), who,
                                    &facts);
}

/* Writes text over the one file in the state folder, with this mode. */
static bool forge(test_folder *folder, const char *from, const char *to, mode_t mode)
{
    char pattern[PATH_MAX];
    char text[8192];
    glob_t found;
    (void)snprintf(pattern, sizeof pattern, "%s/state/engine-*.json", folder->path);
    if (glob(pattern, 0, NULL, &found) != 0)
        return false;
    cordon_autoclose int fd = open(found.gl_pathv[0], O_RDWR | O_CLOEXEC);
    globfree(&found);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (length < 0)
        return false;
    text[length] = '\0';
    char *at = strstr(text, from);
    if (!at || strlen(from) != strlen(to))
        return false;
    memcpy(at, to, strlen(to));
    return pwrite(fd, text, (size_t)length, 0) == length && fchmod(fd, mode) == 0;
}

static void an_engine_is_remembered_as_it_was(void)
{
    test_auto_folder folder;
    cordon_auto(cordon_engine_facts) facts = {0};
    REQUIRE(remember(&folder));
    REQUIRE(cordon_engine_cache_load(test_path(&folder, "state"), test_path(&folder, "d.sock"),
                                     identity, &facts));
    CHECK_INT(facts.kind, CORDON_ENGINE_DOCKER);
    CHECK_INT(facts.rootless, CORDON_FACT_NO);
    CHECK_INT(facts.can, CORDON_CAN_LIMIT_PIDS | CORDON_CAN_LOAD_ON_BASE);
    CHECK(facts.cgroup_version.known && facts.cgroup_version.value == 2);
    CHECK_STR(facts.version, "20.10.24");
    CHECK_STR(facts.architecture, "amd64");
    REQUIRE_INT(facts.security.count, 1);
    CHECK_STR(facts.security.items[0], "name=seccomp,profile=default");
    CHECK(facts.warnings.known && facts.warnings.count == 0);
}

static void another_life_of_the_daemon_is_asked_again(void)
{
    test_auto_folder folder;
    REQUIRE(remember(&folder));
    CHECK(recall(&folder, identity));
    CHECK(!recall(&folder, "20.10.25 1.41"));
    REQUIRE(unlink(test_path(&folder, "d.sock")) == 0);
    CHECK(!recall(&folder, identity));
    REQUIRE(test_socket(&folder, "d.sock"));
    CHECK(!recall(&folder, identity));
}

static void without_a_folder_or_a_socket_nothing_is_remembered(void)
{
    test_auto_folder folder;
    cordon_auto(cordon_engine_facts) facts = {0};
    REQUIRE(remember(&folder));
    CHECK(!cordon_engine_cache_load(NULL, test_path(&folder, "d.sock"), identity, &facts));
    CHECK(!cordon_engine_cache_load(test_path(&folder, "state"), NULL, identity, &facts));
    cordon_engine_cache_save(NULL, test_path(&folder, "d.sock"), identity, &facts);
    cordon_engine_cache_save(test_path(&folder, "state"), NULL, identity, &facts);
    CHECK(facts.version == NULL);
}

static void a_file_that_is_not_what_was_written_is_not_believed(void)
{
    static const struct {
        const char *from;
        const char *to;
        mode_t mode;
        bool want;
    } rows[] = {
        {"\"can\"", "\"can\"", 0600, true},
        {"\"can\"", "\"can\"", 0620, false},
        {"\"can\"", "\"can\"", 0602, false},
        {"\"can\"", "\"kan\"", 0600, false},
        {"\"rootless\":false", "\"rootless\":12345", 0600, false},
        {"{\"key\"", "[\"key\"", 0600, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_auto_folder folder;
        REQUIRE(remember(&folder));
        REQUIRE(forge(&folder, rows[i].from, rows[i].to, rows[i].mode));
        TEST_RECORDF(recall(&folder, identity) == rows[i].want, "row %zu", i);
    }
}

CORDON_TEST_MAIN("state", TEST(a_missing_folder_is_made_for_us_alone),
                 TEST(a_folder_that_others_may_write_is_refused),
                 TEST(a_symlink_or_a_file_is_no_folder), TEST(a_file_is_replaced_as_a_whole),
                 TEST(what_is_planned_made_and_gone_stands_in_order),
                 TEST(it_stays_while_something_is_left), TEST(one_invocation_has_one_journal),
                 TEST(without_a_journal_nothing_is_written), TEST(branches_write_whole_lines),
                 TEST(an_engine_is_remembered_as_it_was),
                 TEST(another_life_of_the_daemon_is_asked_again),
                 TEST(without_a_folder_or_a_socket_nothing_is_remembered),
                 TEST(a_file_that_is_not_what_was_written_is_not_believed))

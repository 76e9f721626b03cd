/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RELEASE frame and its rules: what is read, and everything that must not release a command.
 */
#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate/fence.h"
#include "gate/release.h"
#include "kit/frame.h"
#include "support/folder.h"
#include "support/test.h"

static const uint8_t nonce[CORDON_GATE_NONCE_BYTES] = {1, 2, 3};
static const uint8_t other_nonce[CORDON_GATE_NONCE_BYTES] = {1, 2, 4};
static const uint8_t exit_key[CORDON_GATE_NONCE_BYTES] = {9, 9, 9};

typedef struct item {
    uint16_t tag;
    const char *text; /* NULL: number as u64 */
    uint64_t number;
    size_t length; /* 0: strlen */
} item;

#define VERSION                                                                                    \
    {                                                                                              \
        .tag = CORDON_GATE_RELEASE_VERSION, .number = CORDON_GATE_VERSION                          \
    }
#define KEY                                                                                        \
    {                                                                                              \
        .tag = CORDON_GATE_RELEASE_EXIT_KEY, .text = (const char *)exit_key, .length = 32          \
    }
#define ARGV(t)                                                                                    \
    {                                                                                              \
        .tag = CORDON_GATE_RELEASE_ARGV, .text = t                                                 \
    }
#define ENV(t)                                                                                     \
    {                                                                                              \
        .tag = CORDON_GATE_RELEASE_ENV, .text = t                                                  \
    }
#define SECRET(t)                                                                                  \
    {                                                                                              \
        .tag = CORDON_GATE_RELEASE_SECRET, .text = t                                               \
    }
#define CWD(t)                                                                                     \
    {                                                                                              \
        .tag = CORDON_GATE_RELEASE_CWD, .text = t                                                  \
    }
#define INPUT(t)                                                                                   \
    {                                                                                              \
        .tag = CORDON_GATE_RELEASE_STDIN, .text = t                                                \
    }
#define RULE(t)                                                                                    \
    {                                                                                              \
        .tag = CORDON_GATE_RELEASE_RULE, .text = t                                                 \
    }
#define FILE_OF(t)                                                                                 \
    {                                                                                              \
        .tag = CORDON_GATE_RELEASE_FILE, .text = t, .length = sizeof(t) - 1                        \
    }
#define LANDLOCK(n)                                                                                \
    {                                                                                              \
        .tag = CORDON_GATE_RELEASE_LANDLOCK, .number = n                                           \
    }

/* Items up to the first with tag 0. */
static int parse(const item *items, const uint8_t *key, cordon_release **ret_release,
                 cordon_err *err)
{
    cordon_err build = CORDON_ERR_INIT;
    cordon_auto(cordon_frame) frame = {0};
    bool ok =
        cordon_frame_init(&frame, CORDON_GATE_MAGIC_RELEASE, CORDON_GATE_RELEASE_MAX, &build) == 0;
    for (const item *i = items; ok && i->tag != 0; i++)
        ok = (i->text ? cordon_frame_add_bytes(&frame, i->tag, i->text,
                                               i->length ? i->length : strlen(i->text), &build)
                      : cordon_frame_add_u64(&frame, i->tag, i->number, &build)) == 0;
    if (!CHECK(ok && cordon_frame_seal(&frame, key, &build) == 0))
        return 0;
    return cordon_release_parse(frame.bytes.data, frame.bytes.length, nonce, ret_release, err);
}

static void a_whole_release_is_read(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto_ptr(cordon_release) release = NULL;
    const item items[] = {VERSION,
                          KEY,
                          ARGV("claude"),
                          ARGV(""),
                          ARGV("-p"),
                          ENV("PATH=/bin"),
                          ENV("EMPTY="),
                          CWD("/work tree"),
                          INPUT("the prompt"),
                          RULE("execute /bin/claude"),
                          RULE("read /a b"),
                          RULE("write /w"),
                          RULE("connect 3128"),
                          LANDLOCK(4),
                          {0}};
    REQUIRE_OK(parse(items, nonce, &release, &err), err);
    CHECK(memcmp(release->exit_key, exit_key, sizeof exit_key) == 0);
    REQUIRE_INT(release->argv.count, 3);
    CHECK_STR(release->argv.items[0], "claude");
    CHECK_STR(release->argv.items[1], "");
    CHECK(release->argv.items[3] == NULL);
    REQUIRE_INT(release->env.count, 2);
    CHECK(release->env.items[2] == NULL);
    CHECK_STR(cordon_release_getenv(release, "PATH"), "/bin");
    CHECK_STR(cordon_release_getenv(release, "EMPTY"), "");
    CHECK(cordon_release_getenv(release, "PAT") == NULL);
    CHECK_STR(release->cwd, "/work tree");
    CHECK_STR(cordon_buf_text(&release->stdin_bytes), "the prompt");
    REQUIRE_INT(release->rule_count, 4);
    CHECK_STR(release->rules[1].path, "/a b");
    CHECK_INT(release->rules[3].port, 3128);
    CHECK_INT(release->landlock_abi_min, 4);
}

static void the_least_release_is_enough(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto_ptr(cordon_release) release = NULL;
    const item items[] = {LANDLOCK(0), CWD("/"), ARGV("x"), KEY, VERSION, {0}};
    REQUIRE_OK(parse(items, nonce, &release, &err), err);
    CHECK_INT(release->env.count, 0);
    REQUIRE(release->env.items != NULL);
    CHECK(release->env.items[0] == NULL);
}

/* What the gate is told to make is there, for its reader alone, and nothing that was is changed. */
static void files_are_made_over_nothing_that_is_there(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto_ptr(cordon_release) release = NULL;
    test_auto_folder folder = {0};
    char field[256];
    struct stat st;
    REQUIRE(test_folder_make(&folder));
    const char *path = test_path(&folder, "ca.pem");
    (void)snprintf(field, sizeof field, "%s", path);
    (void)memcpy(field + strlen(path) + 1, "a\0b", 3);
    const item made = {.tag = CORDON_GATE_RELEASE_FILE, .text = field, .length = strlen(path) + 4};
    const item items[] = {VERSION, KEY, ARGV("x"), CWD("/"), LANDLOCK(0), made, {0}};
    REQUIRE_OK(parse(items, nonce, &release, &err), err);
    REQUIRE_INT(release->file_count, 1);
    REQUIRE_OK(cordon_release_place_files(release, &err), err);
    CHECK_INT(release->file_count, 0);
    REQUIRE(stat(path, &st) == 0);
    CHECK_INT(st.st_mode & 07777, 0600);
    CHECK_INT(st.st_size, 3);
    cordon_release_free(CORDON_TAKE(release));
    REQUIRE_OK(parse(items, nonce, &release, &err), err);
    CHECK_FAILS(cordon_release_place_files(release, &err), err, CORDON_ERR_SYSTEM, "ca.pem");
}

/* Places one file of three bytes. */
static int place(const char *path, cordon_err *err)
{
    cordon_auto_ptr(cordon_release) release = NULL;
    char field[256];
    *err = (cordon_err)CORDON_ERR_INIT;
    (void)snprintf(field, sizeof field, "%s", path);
    (void)memcpy(field + strlen(path) + 1, "abc", 3);
    const item made = {.tag = CORDON_GATE_RELEASE_FILE, .text = field, .length = strlen(path) + 4};
    const item items[] = {VERSION, KEY, ARGV("x"), CWD("/"), LANDLOCK(0), made, {0}};
    if (!CHECK_OK(parse(items, nonce, &release, err), *err))
        return 0;
    return cordon_release_place_files(release, err);
}

static void a_file_comes_with_its_folders_and_never_through_a_link(void)
{
    static const char *const links[] = {"leads/away/file", "leads/file", "plain/file"};
    cordon_err err = CORDON_ERR_INIT;
    test_auto_folder folder = {0};
    struct stat st;
    REQUIRE(test_folder_make(&folder));
    REQUIRE_OK(place(test_path(&folder, "a/b/file"), &err), err);
    REQUIRE(stat(test_path(&folder, "a"), &st) == 0);
    CHECK_INT(st.st_mode & 07777, 0700);
    REQUIRE_OK(place(test_path(&folder, "a/b/other"), &err), err);
    REQUIRE(symlink(test_path(&folder, "a"), test_path(&folder, "leads")) == 0 &&
            symlink("/nowhere", test_path(&folder, "a/dangling")) == 0 &&
            close(creat(test_path(&folder, "plain"), 0600)) == 0);
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        CHECK_FAILS(place(test_path(&folder, links[i]), &err), err, CORDON_ERR_SYSTEM, "folder of");
    CHECK_FAILS(place(test_path(&folder, "a/dangling"), &err), err, CORDON_ERR_SYSTEM, "file ");
    CHECK(stat(test_path(&folder, "a/file"), &st) < 0 && stat("/nowhere", &st) < 0);
}

static void a_release_that_is_not_whole_is_refused(void)
{
    static const struct {
        const char *part;
        item items[10];
    } bad[] = {
        {"field 1 is missing", {KEY, ARGV("x"), CWD("/"), LANDLOCK(0)}},
        {"field 2 is missing", {VERSION, ARGV("x"), CWD("/"), LANDLOCK(0)}},
        {"field 3 is missing", {VERSION, KEY, CWD("/"), LANDLOCK(0)}},
        {"field 5 is missing", {VERSION, KEY, ARGV("x"), LANDLOCK(0)}},
        {"field 8 is missing", {VERSION, KEY, ARGV("x"), CWD("/")}},
        {"release version 2", {{.tag = 1, .number = 2}}},
        {"field 1 has 3 bytes", {{.tag = 1, .text = "abc"}}},
        {"field 1 is repeated", {VERSION, VERSION}},
        {"field 2 is repeated", {VERSION, KEY, KEY}},
        {"field 5 is repeated", {CWD("/"), CWD("/")}},
        {"field 6 is repeated", {INPUT("a"), INPUT("b")}},
        {"field 8 is repeated", {LANDLOCK(0), LANDLOCK(0)}},
        {"field 11 is not known", {VERSION, {.tag = 11, .text = "x"}}},
        {"a file whose path is not absolute", {FILE_OF("/tmp/a")}},
        {"a file whose path is not absolute", {FILE_OF("tmp/a\0x")}},
        {"a file whose path is not absolute", {FILE_OF("\0x")}},
        {"field 65535 is not known", {{.tag = 65535, .text = "x"}}},
        {"an exit key of 31 bytes", {{.tag = 2, .text = (const char *)exit_key, .length = 31}}},
        {"the command's name is empty", {ARGV("")}},
        {"holds a NUL", {{.tag = 3, .text = "a\0b", .length = 3}}},
        {"environment item 1 is not NAME=value", {ENV("PATH")}},
        {"environment item 1 is not NAME=value", {ENV("=x")}},
        {"environment item 2 repeats a name", {ENV("A=1"), ENV("A=2")}},
        {"environment item 2 repeats a name", {ENV("A=1"), SECRET("A=2")}},
        {"environment item 2 repeats a name", {SECRET("A=1"), ENV("A=2")}},
        {"secret 1 is not NAME=value", {SECRET("KEY")}},
        {"secret 1 is not NAME=value", {SECRET("=x")}},
        {"holds a NUL", {{.tag = CORDON_GATE_RELEASE_SECRET, .text = "A=\0b", .length = 4}}},
        {"the working folder is not absolute", {CWD("work")}},
        {"the working folder is not absolute", {CWD("")}},
        {"not a rule", {RULE("delete /x")}},
        {"rules without a Landlock ABI",
         {VERSION, KEY, ARGV("x"), CWD("/"), RULE("read /"), LANDLOCK(0)}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_auto_ptr(cordon_release) release = NULL;
        CHECK_FAILS(parse(bad[i].items, nonce, &release, &err), err, CORDON_ERR_PROTOCOL,
                    bad[i].part);
        CHECK(release == NULL);
    }
}

static void a_release_for_another_nonce_is_refused(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto_ptr(cordon_release) release = NULL;
    const item items[] = {VERSION, KEY, ARGV("x"), CWD("/"), LANDLOCK(0), {0}};
    CHECK_FAILS(parse(items, other_nonce, &release, &err), err, CORDON_ERR_PROTOCOL,
                "not authentic");
}

static void a_secret_value_is_in_no_message(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto_ptr(cordon_release) release = NULL;
    const item items[] = {ENV("TOKEN=hunter2"), ENV("TOKEN=hunter3"), {0}};
    CHECK_FAILS(parse(items, nonce, &release, &err), err, CORDON_ERR_PROTOCOL, "repeats a name");
    CHECK(strstr(err.message, "hunter") == NULL);
}

static void rules_are_read(void)
{
    static const struct {
        const char *text;
        cordon_rule_kind kind;
        const char *path;
        int port;
    } good[] = {
        {"execute /bin/x", CORDON_RULE_EXECUTE, "/bin/x", 0},
        {"read /", CORDON_RULE_READ, "/", 0},
        {"write /a  b ", CORDON_RULE_WRITE, "/a  b ", 0},
        {"connect 0", CORDON_RULE_CONNECT, NULL, 0},
        {"connect 1", CORDON_RULE_CONNECT, NULL, 1},
        {"connect 65535", CORDON_RULE_CONNECT, NULL, 65535},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_rule rule = {0};
        cordon_slice text = cordon_slice_make(good[i].text, strlen(good[i].text));
        REQUIRE_OK(cordon_rule_parse(text, &rule, &err), err);
        CHECK_INT(rule.kind, good[i].kind);
        CHECK_INT(rule.port, good[i].port);
        if (good[i].path)
            CHECK_STR(rule.path, good[i].path);
        free(rule.path);
    }
}

static void bad_rules_are_refused(void)
{
    static const char *const bad[] = {
        "",           "read",        "read ",        "read x",      " read /x",
        "READ /x",    "reading /",   "connect",      "connect 00",  "connect 65536",
        "connect -1", "connect 80 ", "connect 0x50", "connect 080", "bind 80",
        "read  /x",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_rule rule = {0};
        cordon_slice text = cordon_slice_make(bad[i], strlen(bad[i]));
        CHECK_FAILS(cordon_rule_parse(text, &rule, &err), err, CORDON_ERR_PROTOCOL, "");
        CHECK(rule.path == NULL);
    }
}

static void each_abi_handles_its_own_rights(void)
{
    static const struct {
        int abi;
        uint64_t files;
        uint64_t network;
        uint64_t scopes;
    } want[] = {
        {0, 0, 0, 0},      {1, 0x1fff, 0, 0}, {2, 0x3fff, 0, 0}, {3, 0x7fff, 0, 0},
        {4, 0x7fff, 3, 0}, {5, 0xffff, 3, 0}, {6, 0xffff, 3, 3}, {7, 0xffff, 3, 3},
        {8, 0xffff, 3, 3}, {-1, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        cordon_fence_rights got = cordon_fence_rights_of(want[i].abi);
        CHECK_INT(got.files, want[i].files);
        CHECK_INT(got.network, want[i].network);
        CHECK_INT(got.scopes, want[i].scopes);
    }
}

static void a_rule_allows_what_it_says(void)
{
    cordon_fence_rights seven = cordon_fence_rights_of(7);
    cordon_fence_rights one = cordon_fence_rights_of(1);
    CHECK_INT(cordon_fence_allows(CORDON_RULE_EXECUTE, seven, false), 0x5);
    CHECK_INT(cordon_fence_allows(CORDON_RULE_EXECUTE, seven, true), 0xd);
    CHECK_INT(cordon_fence_allows(CORDON_RULE_READ, seven, false), 0x4);
    CHECK_INT(cordon_fence_allows(CORDON_RULE_READ, seven, true), 0xc);
    CHECK_INT(cordon_fence_allows(CORDON_RULE_WRITE, seven, true), 0xfffe);
    CHECK_INT(cordon_fence_allows(CORDON_RULE_WRITE, seven, false), 0xc006);
    CHECK_INT(cordon_fence_allows(CORDON_RULE_WRITE, one, false), 0x6);
    CHECK_INT(cordon_fence_allows(CORDON_RULE_CONNECT, seven, false), 0x2);
    CHECK_INT(cordon_fence_allows(CORDON_RULE_CONNECT, one, false), 0);
    CHECK_INT(cordon_fence_allows(CORDON_RULE_UNKNOWN, seven, true), 0);
}

/* Index of the first socket that is not as wanted behind the filter, 0 for none; in a child. */
static int find_open_socket(bool tcp_alone)
{
    static const struct {
        int family;
        int type;
        int protocol;
        bool ever; /* also with TCP alone */
    } sockets[] = {
        {AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, true},
        {AF_INET, SOCK_STREAM, IPPROTO_TCP, true},
        {AF_UNIX, SOCK_DGRAM, 0, true},
        {AF_INET, SOCK_DGRAM, 0, false},
        {AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_UDP, false},
        {AF_INET6, SOCK_DGRAM, 0, false},
        {AF_INET, SOCK_STREAM, 262 /* IPPROTO_MPTCP */, false},
        {AF_INET, SOCK_STREAM, IPPROTO_SCTP, false},
        {AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP, false},
    };
    for (int i = 0; i < (int)(sizeof sockets / sizeof sockets[0]); i++) {
        cordon_autoclose int fd = socket(sockets[i].family, sockets[i].type, sockets[i].protocol);
        bool refused = fd < 0 && errno == EPERM;
        if (refused != (tcp_alone && !sockets[i].ever))
            return i + 1;
    }
    return 0;
}

/* The same for options that name an interface; 100 and up, so that a failure tells which. */
static int find_open_option(bool tcp_alone)
{
    int none = 0;
    cordon_autoclose int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &none, sizeof none) < 0)
        return 100;
    if ((setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 1) < 0) != tcp_alone)
        return 101;
    if ((setsockopt(fd, SOL_SOCKET, 62, &none, sizeof none) < 0) != tcp_alone)
        return 102; /* SO_BINDTOIFINDEX */
    return 0;
}

static int behind_the_filter(bool tcp_alone)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        int found = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
                            cordon_filter_enter(false, tcp_alone, NULL) < 0
                        ? 99
                        : find_open_socket(tcp_alone);
        _exit(found != 0 ? found : find_open_option(tcp_alone));
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void who_has_a_network_gets_tcp_sockets_alone(void)
{
    CHECK_INT(behind_the_filter(true), 0);
    CHECK_INT(behind_the_filter(false), 0);
}

/* 0 when only our own limits can be set, and the parent's - who stands for the gate - be read. */
static int find_open_limit(void)
{
    struct rlimit now;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || cordon_filter_enter(false, false, NULL) < 0)
        return 99;
    if (prlimit(getppid(), RLIMIT_NOFILE, NULL, &now) < 0)
        return 1;
    if (prlimit(getppid(), RLIMIT_NOFILE, &now, NULL) == 0 || errno != EPERM)
        return 2;
    return setrlimit(RLIMIT_NOFILE, &now) < 0 ? 3 : 0;
}

static void the_limits_of_the_gate_cannot_be_set(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(find_open_limit());
    REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
}

/* 0 or 1: what a fence made here says; 2 and up: it could not be tried. */
static int fence_says_tcp_alone(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        cordon_fence fence = {.ruleset_fd = -1};
        const cordon_release release = {.argv = {0}};
        if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
            _exit(2);
        _exit(cordon_fence_prepare(&release, &fence, NULL) < 0 ? 3 : fence.tcp_alone);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A new network namespace has a loopback that is down, as runner.network = "none" has it up. */
static void who_has_loopback_alone_keeps_datagrams(void)
{
    int got = fence_says_tcp_alone();
    CHECK(got == 0 || got == 2);
}

CORDON_TEST_MAIN("gate_release", TEST(a_whole_release_is_read), TEST(the_least_release_is_enough),
                 TEST(files_are_made_over_nothing_that_is_there),
                 TEST(a_file_comes_with_its_folders_and_never_through_a_link),
                 TEST(a_release_that_is_not_whole_is_refused),
                 TEST(a_release_for_another_nonce_is_refused),
                 TEST(a_secret_value_is_in_no_message), TEST(rules_are_read),
                 TEST(bad_rules_are_refused), TEST(each_abi_handles_its_own_rights),
                 TEST(a_rule_allows_what_it_says), TEST(who_has_a_network_gets_tcp_sockets_alone),
                 TEST(the_limits_of_the_gate_cannot_be_set),
                 TEST(who_has_loopback_alone_keeps_datagrams))

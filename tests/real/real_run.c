/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cordon run` carries a command through: its bytes in and out, its surroundings, its status. What
 * becomes of a command that does not end by itself is in real_end.c.
 */
#include "real.h"

#include <stdlib.h>
#include <unistd.h>

#define MIB (1024 * 1024)

/* --- Status and output ------------------------------------------------------------------------ */

/* Prints and exits at once: the engine's stream must lose neither the bytes nor the status. */
static void every_status_and_all_of_a_short_output(void)
{
    static const int codes[] = {0, 1, 125, 126, 127, 255};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        char script[64];
        char out[32];
        cordon_auto(outcome) o = {0};
        (void)snprintf(script, sizeof script, "printf out-%d; printf err-%d >&2; exit %d", codes[i],
                       codes[i], codes[i]);
        (void)snprintf(out, sizeof out, "out-%d", codes[i]);
        if (!cordon_call(&(call){.argv = SHELL(script)}, &o))
            return;
        EXPECT_EXITED(&o, codes[i]);
        CHECK_STR(outcome_out(&o), out);
        CHECK_CONTAINS(outcome_err(&o), "err-");
        CHECK_INT(receipt_number(&o, "output.stdout_bytes"), strlen(out));
    }
}

/* A signal shows as 128 + n, and is not what became of the run. */
static void a_signal_of_its_own_is_a_status(void)
{
    static const struct {
        const char *script;
        int code;
    } deaths[] = {{"kill -KILL $$", 137}, {"kill -SEGV $$", 139}};
    for (size_t i = 0; i < sizeof deaths / sizeof deaths[0]; i++) {
        cordon_auto(outcome) o = {0};
        if (cordon_call(&(call){.argv = SHELL(deaths[i].script)}, &o))
            EXPECT_EXITED(&o, deaths[i].code);
    }
}

/* Bytes that nobody may take for text, frames, lines or terminal control, both ways at once. */
static void OT2_binary_output_is_exact_and_apart(void)
{
    const char *script = "i=0; while [ $i -lt 16 ]; do"
                         " yes \"$(printf '\\001\\000\\000\\377\\r\\033[2J')\" | head -c 65536;"
                         " head -c 65536 /dev/zero >&2; i=$((i+1)); done";
    const char line[] = "\001\377\r\033[2J\n";
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = SHELL(script)}, &o))
        return;
    EXPECT_EXITED(&o, 0);
    const cordon_buf *out = &o.process.out;
    const cordon_buf *err = &o.process.err;
    REQUIRE_INT(out->length, MIB);
    REQUIRE_INT(err->length, MIB);
    size_t wrong = 0;
    for (size_t i = 0; i < MIB; i++) {
        wrong += out->data[i] != line[i % 65536 % (sizeof line - 1)];
        wrong += err->data[i] != '\0';
    }
    CHECK_INT(wrong, 0);
}

static void OT4_beyond_the_limit_output_is_cut_and_said_so(void)
{
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = SHELL("yes | head -c 3145728; echo last >&2; exit 3"),
                             .limits = "output = \"64KiB\";"},
                     &o))
        return;
    EXPECT_EXITED(&o, 3);
    CHECK_INT(o.process.out.length, 65536);
    CHECK_INT(receipt_number(&o, "output.stdout_bytes"), 3145728);
    CHECK(receipt_true(&o, "output.truncated"));
    EXPECT_NOTHING_LEFT(&o);
}

/* Reads 16 KiB at a time with pauses, until the end; the number of bytes. */
static size_t read_slowly(int fd)
{
    static char piece[16384];
    size_t total = 0;
    ssize_t got;
    while ((got = read(fd, piece, sizeof piece)) > 0) {
        total += (size_t)got;
        (void)usleep(30000);
    }
    return total;
}

/* Some five seconds after the command's end its output is still on the way: none of it is lost. */
static void a_slow_reader_gets_every_byte(void)
{
    int ends[2];
    cordon_auto(running) r;
    cordon_auto(outcome) o = {0};
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    bool started = cordon_start(
        &(call){.argv = SHELL("yes | head -c 3145728; exit 4"), .stdout_fd = ends[1]}, &r);
    (void)close(ends[1]);
    if (started) {
        CHECK_INT(read_slowly(ends[0]), 3145728);
        if (cordon_end(&r, &o))
            EXPECT_EXITED(&o, 4);
        EXPECT_NOTHING_LEFT(&o);
    }
    (void)close(ends[0]);
}

/* The beginning of a note of the gate, made up: it is output, and holds nothing up. */
static void output_that_looks_like_the_gates_word_is_output(void)
{
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = SHELL("printf 'CRDNexi1\\200\\000\\000\\000abc'; exit 6")},
                     &o))
        return;
    EXPECT_EXITED(&o, 6);
    CHECK(o.process.out.length == 15 &&
          memcmp(o.process.out.data, "CRDNexi1\200\0\0\0abc", 15) == 0);
}

/* --- Input, arguments, environment ------------------------------------------------------------ */

static void LC1_standard_input_is_empty_whatever_ours_is(void)
{
    int silent[2];
    cordon_auto(outcome) o = {0};
    REQUIRE(pipe(silent) == 0);
    if (cordon_call(&(call){.argv = SHELL("wc -c; readlink /proc/self/fd/0 | cut -d: -f1"),
                            .stdin_fd = silent[0]},
                    &o)) {
        EXPECT_EXITED(&o, 0);
        CHECK_STR(outcome_out(&o), "0\npipe\n");
    }
    (void)close(silent[0]);
    (void)close(silent[1]);
}

static void UX1_arguments_arrive_byte_for_byte(void)
{
    const char *const argv[] = {
        "sh",
        "-c",
        "printf '<%s>' \"$@\"",
        "name",
        "",
        " two  blanks ",
        "'",
        "\"",
        "$HOME `id` \\",
        "a\ttab",
        "--",
        "-n",
        "gr\xc3\xbc\xc3\x9f\x65",
        "\xff\xfe",
        "*",
        NULL,
    };
    char want[256] = "";
    size_t used = 0;
    for (size_t i = 4; argv[i]; i++)
        used += (size_t)snprintf(want + used, sizeof want - used, "<%s>", argv[i]);
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = argv}, &o))
        return;
    EXPECT_EXITED(&o, 0);
    CHECK_STR(outcome_out(&o), want);
}

/* 131071 bytes is what execve(2) takes, so one more cannot even reach us; the gate takes as many.
 */
static void UX2_an_argument_may_be_as_long_as_the_kernel_allows(void)
{
    enum { LONGEST = 131071 };
    cordon_auto(outcome) o = {0};
    cordon_autofree char *argument = malloc(LONGEST + 2);
    REQUIRE(argument != NULL);
    memset(argument, 'a', LONGEST);
    argument[LONGEST] = '\0';
    if (cordon_call(&(call){.argv = SHELL("printf %s \"$1\" | wc -c", "name", argument)}, &o)) {
        EXPECT_EXITED(&o, 0);
        CHECK_STR(outcome_out(&o), "131071\n");
    }
}

static int by_line(const void *a, const void *b)
{
    const char *const *left = a;
    const char *const *right = b;
    return strcmp(*left, *right);
}

/* Cuts text into its lines, in place, and sorts them. */
static size_t sorted_lines(char *text, const char **ret_lines, size_t max)
{
    size_t count = 0;
    for (char *line; (line = strsep(&text, "\n")) && count < max;) {
        if (line[0])
            ret_lines[count++] = line;
    }
    qsort(ret_lines, count, sizeof *ret_lines, by_line);
    return count;
}

/* The environment is what the plan says and nothing else: nothing of ours, of image or engine. */
static void check_environment(const char *network, const char *const *names)
{
    cordon_auto(outcome) o = {0};
    const char *lines[32];
    size_t wanted = 0;
    if (!cordon_call(&(call){.argv = WORDS("env"), .network = network}, &o))
        return;
    EXPECT_EXITED(&o, 0);
    REQUIRE(o.process.out.data != NULL);
    size_t count = sorted_lines(o.process.out.data, lines, 32);
    for (; names[wanted] && wanted < count; wanted++)
        TEST_RECORDF(strncmp(lines[wanted], names[wanted], strlen(names[wanted])) == 0,
                     "\"%s\", want \"%s...\"", lines[wanted], names[wanted]);
    CHECK(names[wanted] == NULL);
    CHECK_INT(count, wanted);
}

static void the_environment_is_the_planned_one(void)
{
    check_environment("none", WORDS("HOME=/tmp", "LANG=C.UTF-8", "PATH=/", "TMPDIR=/tmp"));
    check_environment("vendor", WORDS("HOME=/tmp", "HTTPS_PROXY=http://", "LANG=C.UTF-8", "PATH=/",
                                      "TMPDIR=/tmp", "https_proxy=http://"));
}

/* --- Worktree --------------------------------------------------------------------------------- */

/* The caller's file on the host: right owner, right content, and the command was in the worktree.
 */
static void RL2_a_writing_phase_writes_as_the_worktrees_owner(void)
{
    const char *tree = real_worktree("writable");
    struct stat facts = {0};
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = SHELL("pwd; echo made >file; mkdir folder; id -u"),
                             .options = WORDS("--phase", "execute", "--worktree", tree)},
                     &o))
        return;
    char want[64];
    (void)snprintf(want, sizeof want, "/worktree\n%u\n", real.uid);
    EXPECT_EXITED(&o, 0);
    CHECK_STR(outcome_out(&o), want);
    CHECK(stat(real_path("writable/file"), &facts) == 0);
    CHECK_INT(facts.st_uid, real.uid);
    CHECK_INT(facts.st_gid, real.uid);
    CHECK_INT(facts.st_size, 5);
    CHECK(stat(real_path("writable/folder"), &facts) == 0 && S_ISDIR(facts.st_mode));
    CHECK(receipt_true(&o, "worktree.writable"));
    EXPECT_NOTHING_LEFT(&o);
}

static void a_reading_phase_reads_and_cannot_write(void)
{
    const char *tree = real_worktree("readable");
    REQUIRE(real_file("readable/file", "content\n"));
    REQUIRE(chmod(real_path("readable/file"), 0666) == 0 && chmod(tree, 0777) == 0);
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = SHELL("cat file; echo more >>file; echo new >new; rm file;"
                                           " touch file; ls | wc -l"),
                             .options = WORDS("--phase", "review", "--worktree", tree)},
                     &o))
        return;
    EXPECT_EXITED(&o, 0);
    CHECK_STR(outcome_out(&o), "content\n1\n");
    CHECK_CONTAINS(outcome_err(&o), "Read-only file system");
    CHECK(access(real_path("readable/new"), F_OK) != 0);
    struct stat facts = {0};
    CHECK(stat(real_path("readable/file"), &facts) == 0 && facts.st_size == 8);
}

static void nothing_but_the_scratch_can_be_written_without_a_worktree(void)
{
    cordon_auto(outcome) o = {0};
    const char *script = "pwd; echo x >/tmp/x && echo tmp;"
                         "for f in /x /etc/x /bin/x /.cordon/x /worktree/x /proc/sys/x /sys/x; do"
                         " (echo x >$f) 2>/dev/null && echo wrote $f; done; true";
    if (!cordon_call(&(call){.argv = SHELL(script), .options = WORDS("--phase", "execute")}, &o))
        return;
    EXPECT_EXITED(&o, 0);
    CHECK_STR(outcome_out(&o), "/tmp\ntmp\n");
}

/* --- The program itself ----------------------------------------------------------------------- */

static void a_command_that_is_not_there_is_127(void)
{
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = WORDS("no-such-program", "x")}, &o))
        return;
    EXPECT_KIND(&o, "not_started", 127);
    EXPECT_LINE(&o, "no-such-program", "image", "No such file");
    EXPECT_NOTHING_LEFT(&o);
}

static void a_file_that_is_no_program_is_126(void)
{
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = WORDS("/etc")}, &o))
        return;
    EXPECT_KIND(&o, "not_started", 126);
    EXPECT_LINE(&o, "/etc", "Permission denied");
    EXPECT_NOTHING_LEFT(&o);
}

/* Found and executable, and still none: the kernel says so only when it is asked to run it. */
static void a_file_of_another_format_is_126(void)
{
    const char *tree = real_worktree("formats");
    cordon_auto(outcome) o = {0};
    REQUIRE(real_file("formats/foreign", "\x7f"
                                         "ELF"));
    REQUIRE(chmod(real_path("formats/foreign"), 0755) == 0);
    if (!cordon_call(&(call){.argv = WORDS("./foreign"),
                             .options = WORDS("--phase", "review", "--worktree", tree)},
                     &o))
        return;
    EXPECT_KIND(&o, "not_started", 126);
    EXPECT_LINE(&o, "./foreign", "Exec format error");
    EXPECT_NOTHING_LEFT(&o);
}

/* Quiet in a pipe: what is on the streams is the command's, nothing of ours. */
static void a_good_run_says_nothing_of_its_own(void)
{
    cordon_auto(outcome) o = {0};
    if (!cordon_call(&(call){.argv = WORDS("true")}, &o))
        return;
    EXPECT_EXITED(&o, 0);
    CHECK_STR(outcome_out(&o), "");
    CHECK_STR(outcome_err(&o), "");
    CHECK(receipt_number(&o, "checks.facts") > 100);
    CHECK_STR(receipt_text(&o, "engine.kind"), real.ops->name);
    CHECK_STR(receipt_text(&o, "image.pin"), real.image);
    EXPECT_NOTHING_LEFT(&o);
}

REAL_MAIN("run", TEST(every_status_and_all_of_a_short_output),
          TEST(a_signal_of_its_own_is_a_status), TEST(OT2_binary_output_is_exact_and_apart),
          TEST(OT4_beyond_the_limit_output_is_cut_and_said_so), TEST(a_slow_reader_gets_every_byte),
          TEST(output_that_looks_like_the_gates_word_is_output),
          TEST(LC1_standard_input_is_empty_whatever_ours_is),
          TEST(UX1_arguments_arrive_byte_for_byte),
          TEST(UX2_an_argument_may_be_as_long_as_the_kernel_allows),
          TEST(the_environment_is_the_planned_one),
          TEST(RL2_a_writing_phase_writes_as_the_worktrees_owner),
          TEST(a_reading_phase_reads_and_cannot_write),
          TEST(nothing_but_the_scratch_can_be_written_without_a_worktree),
          TEST(a_command_that_is_not_there_is_127), TEST(a_file_that_is_no_program_is_126),
          TEST(a_file_of_another_format_is_126), TEST(a_good_run_says_nothing_of_its_own))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the built command refuses by itself: no engine is asked anything, so nothing can have been
 * created. And files that are pipes or FIFOs, which may have no writer.
 */
#include "cordon/cordon.h"
#include "support/bad_input.h"
#include "support/udsd.h"

/* Room for one byte more than may be. */
static bool write_long_prompt(void)
{
    cordon_autofree char *text = malloc(CORDON_PROMPT_MAX + 2);
    if (!text)
        return false;
    memset(text, 'x', CORDON_PROMPT_MAX + 1);
    text[CORDON_PROMPT_MAX + 1] = '\0';
    return write_file("file", text, 0600);
}

#define APPROVED(words) "runner: { approved = ( [" words "] ); };\n"

/*
 * config   of a.conf
 * message  a part of the one line
 */
static const struct {
    const char *config;
    const char *words[8];
    int status;
    const char *message;
    const char *kind;
} before_engines[] = {
    {"", {"--", "x"}, 126, "x with 0 arguments is not approved word for word", "refused"},
    {APPROVED("\"make\""), {"--", "make", ""}, 126, "make with 1 arguments is not", "refused"},
    {APPROVED("\"make\""), {"--", "env", "make"}, 126, "env with 1 arguments is not", "refused"},
    {APPROVED("\"make\""), {"--", "X=1 make"}, 126, "X=1 make with 0 arguments is not", "refused"},
    {APPROVED("\"make\""), {"--", "make\n"}, 126, "argument 0 of the command holds", "refused"},
    {"", {"--approve", "--", "a", "b\rc"}, 126, "argument 1 of the command holds", "refused"},
    {APPROVED("\"a\", \"b\\nc\""),
     {"--", "x"},
     125,
     "runner.approved[0]: argument 1 holds the end of a line",
     "error"},
    {APPROVED("\"a\\x00b\""), {"--", "a"}, 125, "except \\x00", "error"},
    {APPROVED("\"make\""),
     {"--phase", "planning", "--", "make"},
     126,
     "phase planning runs no commands; use review, execute or fix",
     "refused"},
    {APPROVED("\"make\""),
     {"--phase", "questions", "--", "make"},
     126,
     "phase questions runs no commands",
     "refused"},
    {"",
     {"--phase", "Review", "--", "x"},
     125,
     "unknown phase 'Review'; did you mean \"review\"? It is one of planning",
     "error"},
    {"", {"--vendor", "Claude", "--", "x"}, 125, "unknown vendor \"Claude\"", "error"},
    {"agents: { claude = \"2.1.332\"; };\n",
     {"--vendor", "codex", "--prompt", "hi"},
     126,
     "which version of codex is in the image is not said; set agents.codex",
     "refused"},
    {"agents: { claude = \"9.9.9\"; };\n",
     {"--prompt", "hi"},
     126,
     "claude 9.9.9 is not a version that Cordon knows",
     "refused"},
    {"agents: { claude = \"2.1.332\"; };\n",
     {"--prompt-file", "file"},
     125,
     "the prompt has over 1048576 bytes, which is the most",
     "error"},
    {"", {"--approve", "--secret", "TOKEN", "--", "x"}, 125, "--secret TOKEN: the env", "error"},
    {"", {"--approve", "--secret", "TOKEN=no", "--", "x"}, 125, "--secret TOKEN: what", "error"},
};

/* A daemon listens, and nobody ever asks it anything. */
static void bad_input_is_refused_before_any_engine_is_asked(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    static const udsd_step silent = {.flags = UDSD_NEVER_ANSWER | UDSD_REPEAT};
    udsd *daemon = udsd_start(&silent, 1);
    char variable[160];
    REQUIRE(daemon != NULL && sandbox_enter(&box) && write_long_prompt());
    (void)snprintf(variable, sizeof variable, "DOCKER_HOST=unix://%s", udsd_path(daemon));
    for (size_t i = 0; i < COUNT(before_engines); i++) {
        bad_input bad = {.words = {"run", RECEIPT, "--config", "a.conf"},
                         .variable = variable,
                         .status = before_engines[i].status,
                         .message = before_engines[i].message,
                         .kind = before_engines[i].kind};
        for (size_t w = 0; w < COUNT(before_engines[i].words) && before_engines[i].words[w]; w++)
            bad.words[5 + w] = before_engines[i].words[w];
        REQUIRE(write_file("a.conf", before_engines[i].config, 0600));
        check_row(&box, i, &bad);
        TEST_RECORDF(udsd_connections(daemon) == 0, "row %zu: an engine was asked", i);
    }
    udsd_stop(daemon);
}

/* --- Files that are pipes -----------------------------------------------------------------------
 */

/* As the shell's <(...): a descriptor's path; its writer has gone or not. */
static void a_pipe_is_read_to_its_end(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    static const struct {
        const char *text;
        const char *message;
        const char *kind;
        int status;
    } rows[] = {
        /* Read: the version is what is missing then. */
        {"from a pipe", "version of claude is in the image", "refused", 126},
        {"", "the prompt is empty", "error", 125},
    };
    REQUIRE(sandbox_enter(&box));
    for (size_t i = 0; i < COUNT(rows); i++) {
        int ends[2];
        char file[32];
        REQUIRE(pipe(ends) == 0); /* for the command, too */
        REQUIRE(write(ends[1], rows[i].text, strlen(rows[i].text)) ==
                (ssize_t)strlen(rows[i].text));
        (void)close(ends[1]);
        (void)snprintf(file, sizeof file, "/dev/fd/%d", ends[0]);
        const bad_input bad = {.words = {"run", RECEIPT, "--prompt-file", file},
                               .status = rows[i].status,
                               .message = rows[i].message,
                               .kind = rows[i].kind};
        check_row(&box, i, &bad);
        (void)close(ends[0]);
    }
}

static void a_fifo_without_a_writer_costs_the_deadline_and_no_more(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    static const bad_input rows[] = {
        {{"run", RECEIPT, "--deadline", "200ms", "--prompt-file", "file"},
         NULL,
         124,
         "--prompt-file: file: the deadline passed",
         "deadline"},
        {{"run", RECEIPT, "--deadline", "200ms", "--approve", "--secret", "X=file", "--", "x"},
         NULL,
         124,
         "--secret X: file: the deadline passed",
         "deadline"},
    };
    REQUIRE(sandbox_enter(&box) && mkfifo("file", 0600) == 0);
    for (size_t i = 0; i < COUNT(rows); i++)
        check_row(&box, i, &rows[i]);
}

/* The writer's open(2) lasts until somebody reads. */
static void a_fifo_is_read_once_somebody_writes(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    static const bad_input late = {{"run", RECEIPT, "--prompt-file", "file"},
                                   NULL,
                                   126,
                                   "version of claude is in the image",
                                   "refused"};
    int status = 0;
    REQUIRE(sandbox_enter(&box) && mkfifo("file", 0600) == 0);
    pid_t writer = fork();
    if (writer == 0) {
        int fd = open("file", O_WRONLY | O_CLOEXEC);
        _exit(fd >= 0 && write(fd, "late", 4) == 4 ? 0 : 1);
    }
    REQUIRE(writer > 0);
    check_row(&box, 0, &late);
    CHECK(waitpid(writer, &status, 0) == writer && status == 0);
}

CORDON_TEST_MAIN("cli_refused", TEST(bad_input_is_refused_before_any_engine_is_asked),
                 TEST(a_pipe_is_read_to_its_end), TEST(a_fifo_is_read_once_somebody_writes),
                 TEST(a_fifo_without_a_writer_costs_the_deadline_and_no_more))

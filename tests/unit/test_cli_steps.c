/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of --steps that are wrong, given to the built command: each is refused before an engine is
 * asked anything, in one line that names the file's place, the reason and the next step.
 */
#include "cordon/cordon.h"
#include "support/bad_input.h"

static const char config[] = "agents: { claude = \"2.1.332\"; };\n"
                             "runner: { approved = ( [\"make\", \"check\"] ); };\n";

#define SHAPE                                                                                      \
    "a step is {\"prompt\": TEXT}, with \"resume\": true if the session of the prompt before "     \
    "goes "                                                                                        \
    "on, or {\"run\": [WORD, ...]}; nothing else; correct the file"

/*
 * text     of the file
 * status   126 where policy says no, 125 for what is malformed
 * message  a part of the one line
 */
static const struct {
    const char *text;
    int status;
    const char *message;
} files[] = {
    {"", 125, "--steps: file: an empty text where JSON belongs; correct the file"},
    {"nonsense", 125, "--steps: file: not JSON: byte 0: not a value; correct the file"},
    {"[] []", 125, "--steps: file: not JSON: byte 3: text after the value; correct"},
    {"{}", 125, "--steps: file: $: expected array, found object; correct the file"},
    {"null", 125, "--steps: file: 0 steps, and there may be 1 to 16; correct the file"},
    {"[]", 125, "--steps: file: 0 steps, and there may be 1 to 16; correct the file"},
    {"[1]", 125, "--steps: file: step 1: $[0]: expected object, found integer; correct the file"},
    {"[null]", 125, "--steps: file: step 1: $[0]: " SHAPE},
    {"[{}]", 125, "--steps: file: step 1: $[0]: " SHAPE},
    {"[{\"ask\": \"x\"}]", 125, "--steps: file: step 1: $[0]: " SHAPE},
    {"[{\"prompt\": 1}]", 125,
     "--steps: file: step 1: $[0].prompt: expected string, found integer; correct the file"},
    {"[{\"prompt\": null}]", 125, "--steps: file: step 1: $[0]: " SHAPE},
    {"[{\"prompt\": \"\"}]", 125,
     "--steps: file: step 1: the prompt is empty; say what is to be done"},
    {"[{\"prompt\": \"a\\u0000b\"}]", 125, "--steps: file: step 1: $[0].prompt: "},
    {"[{\"prompt\": \"x\", \"prompt\": \"y\"}]", 125,
     "--steps: file: $[0]: a key appears twice (2 members, 1 names); correct"},
    {"[{\"prompt\": \"x\", \"run\": [\"make\", \"check\"]}]", 125,
     "--steps: file: step 1: $[0]: " SHAPE},
    {"[{\"prompt\": \"x\", \"model\": \"m\"}]", 125, "--steps: file: step 1: $[0]: " SHAPE},
    {"[{\"prompt\": \"x\", \"resume\": \"yes\"}]", 125,
     "--steps: file: step 1: $[0].resume: expected boolean, found string; correct the file"},
    {"[{\"prompt\": \"x\", \"resume\": null}]", 125, "--steps: file: step 1: $[0]: " SHAPE},
    {"[{\"prompt\": \"x\", \"resume\": true}]", 125,
     "--steps: file: step 1: $[0]: resume: no prompt comes before it whose session could go on; "
     "leave "
     "resume out; correct the file"},
    {"[{\"run\": [\"make\", \"check\"]}, {\"prompt\": \"x\", \"resume\": true}]", 125,
     "--steps: file: step 2: $[1]: resume: no prompt comes before it"},
    {"[{\"prompt\": \"x\"}, {\"resume\": true}]", 125, "--steps: file: step 2: $[1]: " SHAPE},
    {"[{\"run\": [\"make\", \"check\"], \"resume\": true}]", 125,
     "--steps: file: step 1: $[0]: " SHAPE},
    {"[{\"run\": \"make check\"}]", 125,
     "--steps: file: step 1: $[0].run: expected array, found string; correct the file"},
    {"[{\"run\": []}]", 125, "--steps: file: step 1: $[0].run: a command needs a word at least"},
    {"[{\"run\": [\"make\", 1]}]", 125,
     "--steps: file: step 1: $[0].run[1]: expected string, found integer; correct the file"},
    {"[{\"run\": [\"make\", null]}]", 125,
     "--steps: file: step 1: $[0].run[1]: a word of a command is a text without NUL"},
    {"[{\"run\": [\"\"]}]", 125, "--steps: file: step 1: the command is empty"},
    {"[{\"run\": [\"make\", \"a\\nb\"]}]", 126,
     "step 1: argument 1 of the command holds the end of a line, which nobody can approve; put "
     "several lines into a script"},
    {"[{\"run\": [\"make\"]}]", 126,
     "file: step 1: 'make' with 0 arguments is not approved word for word; add it to "
     "runner.approved in the configuration"},
    {"[{\"prompt\": \"x\"}, {\"run\": [\"make\", \"check\", \"\"]}]", 126,
     "file: step 2: 'make' with 2 arguments is not approved word for word; add it to "
     "runner.approved in the configuration"},
};

static void check_file(const sandbox *box, size_t index, const char *text, int status,
                       const char *message)
{
    const bad_input row = {
        .words = {"run", RECEIPT, "--config", "a.conf", "--steps", "file"},
        .variable = "DOCKER_HOST=unix:///nonexistent/docker.sock",
        .status = status,
        .message = message,
        .kind = status == 126 ? "refused" : "error",
    };
    if (CHECK(write_file("file", text, 0600)))
        check_row(box, index, &row);
}

static void a_file_of_steps_that_is_wrong_is_told_in_one_line(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    REQUIRE(sandbox_enter(&box) && write_file("a.conf", config, 0600));
    for (size_t i = 0; i < COUNT(files); i++)
        check_file(&box, i, files[i].text, files[i].status, files[i].message);
}

/* `count` times a text between two others. */
static bool write_many(cordon_buf *text, const char *begin, const char *item, size_t count,
                       const char *end)
{
    bool ok = cordon_buf_append_text(text, begin, NULL) == 0;
    for (size_t i = 0; ok && i < count; i++)
        ok = cordon_buf_printf(text, NULL, "%s%s", i ? "," : "", item) == 0;
    return CHECK(ok && cordon_buf_append_text(text, end, NULL) == 0);
}

static void what_there_is_too_much_of_is_counted(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    cordon_auto(cordon_buf) steps = cordon_buf_make(1 << 20);
    cordon_auto(cordon_buf) words = cordon_buf_make(1 << 20);
    cordon_auto(cordon_buf) bytes = cordon_buf_make(CORDON_PROMPT_MAX * 2);
    REQUIRE(sandbox_enter(&box) && write_file("a.conf", config, 0600));
    REQUIRE(write_many(&steps, "[", "{\"prompt\":\"x\"}", CORDON_STEPS_MAX + 1, "]"));
    check_file(&box, 0, cordon_buf_text(&steps), 125,
               "--steps: file: 17 steps, and there may be 1 to 16; correct the file");
    REQUIRE(write_many(&words, "[{\"run\":[", "\"make\"", 257, "]}]"));
    check_file(&box, 1, cordon_buf_text(&words), 125, "$[0].run: more than 256 words");
    REQUIRE(
        write_many(&bytes, "[{\"prompt\":\"", "xxxxxxxxxxxxxxx", CORDON_PROMPT_MAX / 16, "\"}]"));
    check_file(&box, 2, cordon_buf_text(&bytes), 125,
               "--steps: file: more than 1048576 bytes; put what is long into files");
}

static const bad_input others[] = {
    {{"run", RECEIPT, "--steps="}, NULL, 125, "--steps: its FILE is empty", "error"},
    {{"run", RECEIPT, "--steps", "none"}, NULL, 125, "--steps: none: No such file", "error"},
    {{"run", RECEIPT, "--steps", "tree"}, NULL, 125, "--steps: tree", "error"},
    {{"run", RECEIPT, "--steps", "-"}, NULL, 125, "--steps: ", "error"},
    {{"run", RECEIPT, "--steps", "file", "--prompt", "x"},
     NULL,
     125,
     "--steps: the file holds all prompts and commands; leave --prompt, --prompt-file, - and",
     "error"},
    {{"run", RECEIPT, "--steps", "file", "--", "x"},
     NULL,
     125,
     "--steps: the file holds all prompts and commands",
     "error"},
    {{"run", RECEIPT, "--steps", "file", "--approve"},
     NULL,
     125,
     "--approve: approves what stands after \"--\"; put the commands of a --steps file into",
     "error"},
};

static void what_does_not_go_with_steps_is_named(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    REQUIRE(sandbox_enter(&box) && write_file("file", "[{\"prompt\": \"x\"}]", 0600));
    for (size_t i = 0; i < COUNT(others); i++)
        check_row(&box, i, &others[i]);
}

CORDON_TEST_MAIN("cli_steps", TEST(a_file_of_steps_that_is_wrong_is_told_in_one_line),
                 TEST(what_there_is_too_much_of_is_counted),
                 TEST(what_does_not_go_with_steps_is_named))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built command, given what it cannot use: one line that names the thing, the reason and the
 * next step, the right exit status, and a receipt of the right kind. No engine is needed: where
 * one is asked for, a socket that is none, or a scripted daemon, stands in its place.
 */
#include "support/bad_input.h"
#include "support/udsd.h"

/* What was meant is told, wherever a word is one of several. */
static const bad_input slips[] = {
    {{"explian"}, NULL, 125, "explian: unknown verb; did you mean \"explain\"? See", NULL},
    {{"hlep"}, NULL, 125, "hlep: unknown verb; did you mean \"help\"? See", NULL},
    {{"DOCTOR"}, NULL, 125, "unknown verb; did you mean \"doctor\"? See", NULL},
    {{"plan", "--phse", "x"}, NULL, 125, "did you mean \"--phase\"? See \"cordon plan", NULL},
    {{"gc", "--dryrun"}, NULL, 125, "did you mean \"--dry-run\"? See \"cordon gc --help", NULL},
    {{"gc", "--jsno"}, NULL, 125, "did you mean \"--json\"? See", NULL},
    {{"gc", "--hepl"}, NULL, 125, "did you mean \"--help\"? See", NULL},
    {{"config", "shwo"}, NULL, 125, "did you mean \"show\"? Use show or path", NULL},
    {{"image", "biuld"}, NULL, 125, "did you mean \"build\"? Use build, pin, ls or rm", NULL},
    {{"explain", "MISMTACH"}, NULL, 125, "did you mean \"MISMATCH\"? See", NULL},
    {{"explain", "step.mountz"}, NULL, 125, "did you mean \"container.mounts\"? See", NULL},
    {{"explain", "kernel.intrface"}, NULL, 125, "did you mean \"kernel.interface\"? See", NULL},
    {{"explain", "q"}, NULL, 125, "q: neither a code nor a fact; see \"cordon explain\"", NULL},
    {{"run", RECEIPT, "--phase", "exceute", "--", "x"},
     NULL,
     125,
     "did you mean \"execute\"? It is one of planning",
     "error"},
    {{"run", RECEIPT, "--vendor", "codxe", "--", "x"},
     NULL,
     125,
     "did you mean \"codex\"? Known are",
     "error"},
    {{"gc", "--engine", "dokcer"}, NULL, 125, "did you mean \"docker\"? Known are", NULL},
};

static const bad_input command_lines[] = {
    {{NULL}, NULL, 125, "cordon: no verb; see \"cordon help\"", NULL},
    {{"fly"}, NULL, 125, "cordon: fly: unknown verb; see \"cordon help\"", NULL},
    {{"rum"}, NULL, 125, "cordon: rum: unknown verb; did you mean \"run\"? See", NULL},
    {{"help", "rum"}, NULL, 125, "cordon: rum: unknown verb", NULL},
    {{"--engine", "x", "run"}, NULL, 125, "--engine: options come after the verb", NULL},
    {{"version", "now"}, NULL, 125, "cordon version: now: unexpected word", NULL},
    {{"config", "edit"}, NULL, 125, "cordon config: edit: unknown word; use show or path", NULL},
    {{"image"}, NULL, 125, "cordon image: image: what about it; use build, pin, ls or rm", NULL},
    {{"image", "push"}, NULL, 125, "push: unknown word; use build, pin, ls or rm", NULL},
    {{"image", "ls", "x"}, NULL, 125, "cordon image: x: unexpected word", NULL},
    {{"image", "rm", "x", "y"}, NULL, 125, "y: unexpected word; see", NULL},
    {{"image", "build"}, NULL, 125, "build: its CLI[@VERSION] is missing", NULL},
    {{"image", "pin"}, NULL, 125, "pin: its NAME[=IMAGE] is missing", NULL},
    {{"image", "pin", "claude="}, NULL, 125, "claude=: no image behind the =", NULL},
    {{"image", "rm"}, NULL, 125, "rm: its NAME|ID is missing", NULL},
    {{"image", "rm", "--unused", "claude"}, NULL, 125, "claude: unexpected word", NULL},
    {{"image", "ls", "--unused"}, NULL, 125, "--unused: only rm takes it", NULL},
    {{"image", "pin", "claude", "--from", "f"}, NULL, 125, "--from: only build takes it", NULL},
    {{"image", "build", "claude", "--from="}, NULL, 125, "--from: its FILE is empty", NULL},
    {{"egress"}, NULL, 125, "cordon egress: no receipt is named; name files that", NULL},
    {{"egress", ""}, NULL, 125, "cordon egress: an operand is empty; see", NULL},
    {{"egress", "--", "x"}, NULL, 125, "cordon egress: --: \"cordon egress\" runs no", NULL},
    {{"egress", "none.json"}, NULL, 125, "none.json: cannot be opened: No such file", NULL},
    {{"egress", "tree"}, NULL, 125, "cordon egress: tree: cannot be read", NULL},
    {{"egress", "--follow", "ab", "cd"}, NULL, 125, "--follow: one run at a time; leave cd", NULL},
    {{"egress", "--follow", "x/../y"}, NULL, 125, "\"x/../y\" is no id of a run; it has up", NULL},
    {{"egress", "--follow", "abcd"}, NULL, 125, "abcd: no run of yours with egress is live", NULL},
    {{"egress", "--follow"}, NULL, 125, "no run of yours with egress is live; of one", NULL},
    {{"plan", "--"}, NULL, 125, "cordon plan: --: no command follows", NULL},
    {{"probe", "--", "x"}, NULL, 125, "cordon probe: --: \"cordon probe\" runs no command", NULL},
    {{"run", RECEIPT}, NULL, 125, "cordon run: no command: give the agent a prompt", "error"},
    {{"run", RECEIPT, "--"}, NULL, 125, "cordon run: --: no command follows", "error"},
    {{"run", RECEIPT, "true"}, NULL, 125, "put the command and its arguments after", "error"},
    {{"run", "--verbose", RECEIPT, "--", "true"}, NULL, 125, "--verbose: unknown option", "error"},
    {{"run", RECEIPT, "--secret=", "--", "x"}, NULL, 125, "--secret: its NAME[=FILE] is", "error"},
    {{"run", RECEIPT, "--approve", "--secret=X", "--", "x"},
     NULL,
     125,
     "--secret X: the environment has no such variable; export it",
     "error"},
    {{"run", RECEIPT, "--approve", "--secret", "X=no", "--", "x"},
     NULL,
     125,
     "--secret X: what stands behind the \"=\" is no file that can be opened (No such file",
     "error"},
    {{"run", RECEIPT, "--approve", "--secret", "X=tree", "--", "x"},
     NULL,
     125,
     "--secret X: tree is neither a plain file nor a pipe",
     "error"},
    {{"run", RECEIPT, "--approve", "--secret", "=f", "--", "x"},
     NULL,
     125,
     "write --secret NAME, or --secret NAME=FILE",
     "error"},
    {{"run", RECEIPT, "--prompt", "hi"}, NULL, 126, "version of claude is in the image", "refused"},
    {{"run", RECEIPT, "--prompt="}, NULL, 125, "--prompt: its TEXT is empty", "error"},
    {{"run", RECEIPT, "-"}, NULL, 125, "the prompt is empty", "error"},
    {{"run", RECEIPT, "-", "--prompt", "x"}, NULL, 125, "a prompt is given in two ways", "error"},
    {{"run", RECEIPT, "-", "--", "x"}, NULL, 125, "a prompt is for the agent, and what", "error"},
    {{"run", RECEIPT, "--prompt-file", "none"}, NULL, 125, "--prompt-file: none: No such", "error"},
    {{"run", RECEIPT, "--model", "m", "--", "x"}, NULL, 125, "only an agent has a model", "error"},
    {{"run", RECEIPT, "--deadline", "0s", "--", "x"}, NULL, 125, "--deadline: 0s has", "error"},
    {{"run", RECEIPT, "--deadline", "169h", "--", "x"}, NULL, 125, "more than 168h", "error"},
    {{"run", RECEIPT, "--deadline", "soon", "--", "x"}, NULL, 125, "--deadline: ", "error"},
    {{"run", "--receipt", "no/r.json", "--", "x"}, NULL, 125, "folder no/ cannot be opened", NULL},
    {{"run", "--receipt", "tree", "--", "x"}, NULL, 125, "tree is no plain file", NULL},
    {{"run", "--receipt", "/dev/null", "--", "x"}, NULL, 125, "/dev/null is no plain file", NULL},
    {{"probe", "--receipt", "link", "--quiet"}, NULL, 125, "link is no plain file", NULL},
};

static void a_command_line_that_is_wrong_is_told_in_one_line(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    REQUIRE(sandbox_enter(&box));
    for (size_t i = 0; i < COUNT(command_lines); i++)
        check_row(&box, i, &command_lines[i]);
}

static const bad_input policies[] = {
    {{"run", RECEIPT, "--vendor", "nobody", "--approve", "--", "x"},
     NULL,
     125,
     "unknown vendor \"nobody\"",
     "error"},
    {{"run", RECEIPT, "--phase", "later", "--approve", "--", "x"}, NULL, 125, "later", "error"},
    {{"run", RECEIPT, "--", "rm", "-rf", "/"},
     NULL,
     126,
     "cordon run: refused: rm with 2 arguments is not approved word for word; add --approve for "
     "this "
     "once, or to the configuration: runner: { approved = ( [\"rm\", \"-rf\", \"/\"] ); };",
     "refused"},
    {{"run", RECEIPT, "--", "say", "\"hi\""}, NULL, 126, "is not approved word for", "refused"},
    {{"run", RECEIPT, "--phase", "planning", "--approve", "--", "x"},
     NULL,
     126,
     "planning runs no commands",
     "refused"},
    {{"run", RECEIPT, "--config", "none.conf", "--", "x"}, NULL, 125, "none.conf", "error"},
    {{"probe", RECEIPT, "--upstream", "nowhere"}, NULL, 125, "nowhere", "error"},
    {{"run", RECEIPT, "--engine", "cloud", "--approve", "--", "x"},
     NULL,
     125,
     "\"cloud\"",
     "error"},
};

static void what_policy_does_not_allow_never_reaches_an_engine(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    REQUIRE(sandbox_enter(&box));
    for (size_t i = 0; i < COUNT(policies); i++)
        check_row(&box, i, &policies[i]);
}

#define RUN_X "run", RECEIPT, "--approve", "--", "x"

static const bad_input endpoints[] = {
    {{RUN_X}, "DOCKER_HOST=unix:///nonexistent/docker.sock", 125, "no such socket", "error"},
    {{RUN_X}, "CONTAINER_HOST=unix:///nonexistent/podman.sock", 125, "no such socket", "error"},
    {{RUN_X}, "DOCKER_HOST=unix:///etc", 125, "is a directory, not a socket", "error"},
    {{RUN_X}, "DOCKER_HOST=unix:///etc/passwd", 125, "is a file, not a socket", "error"},
    {{RUN_X}, "DOCKER_HOST=tcp://192.0.2.1:2375", 125, "DOCKER_HOST", "error"},
    {{RUN_X}, "DOCKER_HOST=nonsense", 125, "DOCKER_HOST", "error"},
    {{RUN_X}, "CONTAINER_HOST=ssh://somewhere", 125, "ssh://somewhere: no ssh program", "error"},
    {{RUN_X}, "CONTAINER_HOST=ssh://-oProxyCommand=x", 125, "CONTAINER_HOST", "error"},
    {{RUN_X}, "DOCKER_HOST=ssh://me:secret@h", 125, "has a password in it", "error"},
    {{RUN_X}, "CORDON_ENGINE=cloud", 125, "\"cloud\"", "error"},
};

static void an_endpoint_that_is_no_engine_is_named(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    REQUIRE(sandbox_enter(&box));
    for (size_t i = 0; i < COUNT(endpoints); i++)
        check_row(&box, i, &endpoints[i]);
}

static void a_configuration_is_held_to_its_grammar_and_its_owner(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    static const struct {
        const char *text;
        mode_t mode;
        bad_input bad;
    } rows[] = {
        {"nonsense = 1;\n", 0600, {{"config", "--config", "a.conf"}, NULL, 125, "nonsense", NULL}},
        {"limit = 1;\n",
         0600,
         {{"config", "--config", "a.conf"},
          NULL,
          125,
          "did you mean \"limits\"? Known here",
          NULL}},
        {"runner: { network = \"vndor\"; };\n",
         0600,
         {{"config", "--config", "a.conf"}, NULL, 125, "(did you mean \"vendor\"?)", NULL}},
        {"engine = 1;\n", 0600, {{"config", "--config", "a.conf"}, NULL, 125, "engine", NULL}},
        {"engine =\n", 0600, {{"config", "--config", "a.conf"}, NULL, 125, "a.conf", NULL}},
        {"\n", 0666, {{"config", "--config", "a.conf"}, NULL, 126, "a.conf", NULL}},
        {"\n",
         0666,
         {{"run", RECEIPT, "--config", "a.conf", "--", "x"}, NULL, 126, "a.conf", "refused"}},
    };
    REQUIRE(sandbox_enter(&box));
    for (size_t i = 0; i < COUNT(rows); i++) {
        REQUIRE(write_file("a.conf", rows[i].text, rows[i].mode));
        check_row(&box, i, &rows[i].bad);
    }
}

/* The daemon's address as an environment variable. */
static void check_daemon(const sandbox *box, const udsd_step *step, const char *deadline,
                         int status, const char *message, const char *kind)
{
    udsd *daemon = udsd_start(step, 1);
    char variable[160];
    REQUIRE(daemon != NULL);
    (void)snprintf(variable, sizeof variable, "DOCKER_HOST=unix://%s", udsd_path(daemon));
    bad_input bad = {.words = {"run", RECEIPT, "--approve", "--deadline", deadline, "--", "x"},
                     .variable = variable,
                     .status = status,
                     .message = message,
                     .kind = kind};
    check_row(box, 0, &bad);
    udsd_stop(daemon);
}

static void a_daemon_that_never_answers_costs_the_deadline_and_no_more(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    static const udsd_step silent = {.flags = UDSD_NEVER_ANSWER | UDSD_REPEAT};
    REQUIRE(sandbox_enter(&box));
    check_daemon(&box, &silent, "500ms", 124, "the deadline passed", "deadline");
}

static void a_daemon_that_answers_garbage_is_not_believed(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    static const udsd_step garbage = {.raw = "220 mail.example ESMTP\r\n",
                                      .flags = UDSD_REPEAT | UDSD_CLOSE};
    REQUIRE(sandbox_enter(&box));
    check_daemon(&box, &garbage, "20s", 125, "unix://", "error");
}

static void a_refusal_with_json_is_one_event_on_standard_output(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    cordon_cleanup(spoken_clear) spoken said;
    static const char *const words[] = {"run", "--json", "--", "true", NULL};
    REQUIRE(sandbox_enter(&box));
    REQUIRE(run(&box, NULL, words, &said));
    CHECK_INT(said.status, 126);
    CHECK(one_line(&said.out) && one_line(&said.err));
    static const char start[] = "{\"event\":\"receipt\",\"receipt\":{\"receipt\":1,";
    CHECK(strncmp(cordon_buf_text(&said.out), start, strlen(start)) == 0);
    CHECK_CONTAINS(cordon_buf_text(&said.out), "\"kind\":\"refused\"");
}

static void every_other_verb_fails_in_json_with_a_code(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    static const struct {
        const char *words[5];
        const char *out;
    } rows[] = {
        {{"plan", "--frob", "--json", NULL},
         "{\"error\":{\"code\":\"CONFIG\",\"message\":\"--frob: "},
        {{"plan", "--json", "--phase", "no", NULL},
         "{\"error\":{\"code\":\"CONFIG\",\"message\":\""},
        {{"config", "edit", "--json", NULL},
         "{\"error\":{\"code\":\"CONFIG\",\"message\":\"edit: "},
        {{"version", "now", "--json", NULL}, "{\"error\":{\"code\":\"CONFIG\",\"message\":\"now: "},
        {{"doctor", "now", "--json", NULL}, "{\"error\":{\"code\":\"CONFIG\",\"message\":\"now: "},
    };
    REQUIRE(sandbox_enter(&box));
    for (size_t i = 0; i < COUNT(rows); i++) {
        cordon_cleanup(spoken_clear) spoken said;
        REQUIRE(run(&box, NULL, rows[i].words, &said));
        CHECK_INT(said.status, 125);
        CHECK(one_line(&said.out) && one_line(&said.err));
        CHECK(strncmp(cordon_buf_text(&said.out), rows[i].out, strlen(rows[i].out)) == 0);
    }
}

static void the_files_of_the_configuration_are_one_object(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    cordon_cleanup(spoken_clear) spoken said;
    static const char *const words[] = {"config", "path", "--json", NULL};
    REQUIRE(sandbox_enter(&box));
    REQUIRE(run(&box, NULL, words, &said));
    CHECK_INT(said.status, 0);
    CHECK_CONTAINS(cordon_buf_text(&said.out), "{\"files\":[{\"source\":\"system\",\"path\":\"");
}

static void doctor_gives_the_next_step_for_what_is_wrong(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    static const char *const words[] = {"doctor", NULL};
    static const struct {
        const char *variable;
        const char *next;
    } rows[] = {
        {"DOCKER_HOST=/run/x", "-> put unix:// before the path"},
        {"DOCKER_HOST=tcp://192.0.2.1:2375", "-> DOCKER_HOST: set DOCKER_TLS_VERIFY=1"},
        {"CORDON_ENGINE=cloud", "-> give that variable, option or key one of the names"},
        {"DOCKER_HOST=unix:///nonexistent/d.sock", "-> start one, or name one with --engine"},
    };
    REQUIRE(sandbox_enter(&box));
    for (size_t i = 0; i < COUNT(rows); i++) {
        cordon_cleanup(spoken_clear) spoken said;
        REQUIRE(run(&box, rows[i].variable, words, &said));
        CHECK_INT(said.status, 1);
        CHECK_CONTAINS(cordon_buf_text(&said.out), rows[i].next);
        CHECK_CONTAINS(cordon_buf_text(&said.out), "\nNOT READY: ");
    }
}

/* What is wrong with the lock of images has a line of its own, in which the next step fits it. */
static void doctor_tells_what_is_wrong_with_the_lock_of_images(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    static const char *const words[] = {"doctor", "--config", "a.conf", NULL};
    static const struct {
        const char *lock;
        mode_t mode;
        const char *fact;
        const char *next;
    } rows[] = {
        {NULL, 0, "is named by images_lock and is not there", "-> make it: cordon image pin NAME"},
        {"{", 0600, "image lock ", "-> mend it, or move it away and pin anew"},
        {"{\"cordon_images\":1,\"images\":[]}", 0666, "image lock ",
         "-> look at what is in it, then make it yours alone"},
        {"{\"cordon_images\":1,\"images\":[]}", 0600, "read, trusted, 0 pins", ""},
    };
    REQUIRE(sandbox_enter(&box) && write_file("a.conf", "images_lock = \"file\";\n", 0600));
    for (size_t i = 0; i < COUNT(rows); i++) {
        cordon_cleanup(spoken_clear) spoken said;
        REQUIRE(!rows[i].lock || write_file("file", rows[i].lock, rows[i].mode));
        REQUIRE(run(&box, "DOCKER_HOST=unix:///nonexistent/d.sock", words, &said));
        CHECK_INT(said.status, 1);
        CHECK_CONTAINS(cordon_buf_text(&said.out), "images.lock");
        CHECK_CONTAINS(cordon_buf_text(&said.out), rows[i].fact);
        CHECK_CONTAINS(cordon_buf_text(&said.out), rows[i].next);
    }
}

static void a_probe_without_an_engine_still_reports_in_json(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    cordon_cleanup(spoken_clear) spoken said;
    static const char *const words[] = {"probe", "--json", NULL};
    REQUIRE(sandbox_enter(&box));
    REQUIRE(run(&box, "DOCKER_HOST=unix:///nonexistent", words, &said));
    CHECK_INT(said.status, 125);
    CHECK_CONTAINS(cordon_buf_text(&said.out),
                   "\"error\":{\"code\":\"UNREACHABLE\",\"message\":\"");
    CHECK_CONTAINS(cordon_buf_text(&said.out), "\"checks\":[],\"ok\":false}\n");
    CHECK(one_line(&said.out) && one_line(&said.err));
}

static void help_and_version_need_nothing(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    static const char *const lines[][3] = {{"help", NULL},          {"--help", NULL},
                                           {"run", "--help", NULL}, {"help", "probe", NULL},
                                           {"version", NULL},       {"--version", NULL}};
    REQUIRE(sandbox_enter(&box));
    for (size_t i = 0; i < COUNT(lines); i++) {
        cordon_cleanup(spoken_clear) spoken said;
        REQUIRE(run(&box, "DOCKER_HOST=nonsense", lines[i], &said));
        CHECK_INT(said.status, 0);
        CHECK_CONTAINS(cordon_buf_text(&said.out), "cordon");
        CHECK_STR(cordon_buf_text(&said.err), "");
    }
}

static void a_slip_is_answered_with_the_word_that_was_meant(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    REQUIRE(sandbox_enter(&box));
    for (size_t i = 0; i < COUNT(slips); i++)
        check_row(&box, i, &slips[i]);
}

static void an_explanation_is_stable_json_and_needs_nothing(void)
{
    cordon_cleanup(sandbox_leave) sandbox box;
    cordon_cleanup(spoken_clear) spoken said;
    static const char *const words[] = {"explain", "--json", "step.exec_ids", NULL};
    REQUIRE(sandbox_enter(&box));
    REQUIRE(run(&box, "DOCKER_HOST=nonsense", words, &said));
    CHECK_INT(said.status, 0);
    CHECK(one_line(&said.out));
    CHECK_CONTAINS(cordon_buf_text(&said.out),
                   "{\"explain\":1,\"word\":\"step.exec_ids\",\"entries\":[{\"kind\":\"fact\","
                   "\"name\":\"container.exec_ids\",\"means\":\"");
    CHECK_CONTAINS(cordon_buf_text(&said.out), "\",\"stops\":\"");
    CHECK_CONTAINS(cordon_buf_text(&said.out), "\",\"do\":\"");
}

CORDON_TEST_MAIN("cli_bad_input", TEST(a_slip_is_answered_with_the_word_that_was_meant),
                 TEST(an_explanation_is_stable_json_and_needs_nothing),
                 TEST(a_command_line_that_is_wrong_is_told_in_one_line),
                 TEST(what_policy_does_not_allow_never_reaches_an_engine),
                 TEST(an_endpoint_that_is_no_engine_is_named),
                 TEST(a_configuration_is_held_to_its_grammar_and_its_owner),
                 TEST(a_daemon_that_never_answers_costs_the_deadline_and_no_more),
                 TEST(a_daemon_that_answers_garbage_is_not_believed),
                 TEST(a_refusal_with_json_is_one_event_on_standard_output),
                 TEST(every_other_verb_fails_in_json_with_a_code),
                 TEST(the_files_of_the_configuration_are_one_object),
                 TEST(doctor_gives_the_next_step_for_what_is_wrong),
                 TEST(doctor_tells_what_is_wrong_with_the_lock_of_images),
                 TEST(a_probe_without_an_engine_still_reports_in_json),
                 TEST(help_and_version_need_nothing))

/* SPDX-License-Identifier: Apache-2.0 */
/* Phases against approvals: which argv becomes a command, and when a policy can still change. */
#include "policy.h"

#include "support/fake_run.h"
#include "support/test.h"

typedef struct rig {
    test_folder folder;
    cordon_config *config;
    cordon_policy *policy;
    cordon_err err;
} rig;

static void rig_clear(rig *r)
{
    cordon_policy_free(r->policy);
    cordon_config_free(r->config);
    test_folder_remove(&r->folder);
}
CORDON_DEFINE_AUTO(rig, rig_clear)

static bool rig_open(rig *r, const char *vendor, const char *phase)
{
    static const char text[] = "runner: { approved = ( [\"make\", \"check\"], [\"true\"] ); };\n";
    cordon_host host = {.uid = getuid(), .system_config = "/nonexistent/cordon.conf"};
    if (!test_folder_make(&r->folder) || !test_file(&r->folder, "cordon.conf", text, 0600) ||
        cordon_configure(&host, test_path(&r->folder, "cordon.conf"), NULL, &r->config, &r->err) !=
            0)
        return false;
    return cordon_policy_new(r->config, vendor, phase, &r->policy, &r->err) == 0;
}

static const struct {
    const char *name;
    bool writes;
    bool runs;
} phases[] = {
    {"planning", false, false}, {"questions", false, false}, {"review", false, true},
    {"execute", true, true},    {"fix", true, true},
};
#define PHASES (sizeof phases / sizeof phases[0])

static void the_table_of_phases_is_the_designs(void)
{
    for (size_t i = 0; i < PHASES; i++) {
        const cordon_phase *phase = NULL;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE_OK(cordon_phase_find(phases[i].name, &phase, &err), err);
        CHECK_STR(phase->name, phases[i].name);
        CHECK(phase->writes == phases[i].writes);
        CHECK(phase->runs == phases[i].runs);
    }
}

static void another_phase_is_none(void)
{
    static const char *const names[] = {"", "Review", "review ", "plan", "all", NULL};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        cordon_auto(rig) r = {0};
        CHECK(!rig_open(&r, "claude", names[i]));
        CHECK_INT(r.err.code, CORDON_ERR_CONFIG);
        CHECK_CONTAINS(r.err.message, "planning, questions, review, execute, fix");
    }
}

static void another_vendor_is_none(void)
{
    cordon_auto(rig) r = {0};
    CHECK(!rig_open(&r, "nobody", "review"));
    CHECK(r.err.code != CORDON_OK);
    CHECK_CONTAINS(r.err.message, "nobody");
}

typedef struct argv_row {
    const char *items[4];
    size_t count;
    bool approved;
} argv_row;

/* Approved are exactly ["make","check"] and ["true"]. */
static const argv_row rows[] = {
    {{"make", "check"}, 2, true},
    {{"true"}, 1, true},
    {{"make"}, 1, false},
    {{"make", "check", ""}, 3, false},
    {{"make", "check", "-j"}, 3, false},
    {{"make", "Check"}, 2, false},
    {{"make", "check "}, 2, false},
    {{"/usr/bin/make", "check"}, 2, false},
    {{"check", "make"}, 2, false},
    {{"make check"}, 1, false},
    {{"sh", "-c", "make check"}, 3, false},
    {{"true", "make", "check"}, 3, false},
    {{"tru"}, 1, false},
    {{"true\n"}, 1, false},
};

static void only_an_approved_argv_becomes_a_command_in_a_phase_that_runs(void)
{
    for (size_t i = 0; i < PHASES; i++) {
        for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++) {
            cordon_auto(rig) r = {0};
            cordon_command *command = NULL;
            REQUIRE_OK(rig_open(&r, "claude", phases[i].name) ? 0 : -1, r.err);
            int rc =
                cordon_command_runner(r.policy, rows[j].items, rows[j].count, &command, &r.err);
            bool want = phases[i].runs && rows[j].approved;
            TEST_RECORDF((rc == 0) == want && (command != NULL) == want, "%s, row %zu: rc %d %s",
                         phases[i].name, j, rc, r.err.message);
            if (!want)
                TEST_RECORDF(r.err.code == CORDON_ERR_REFUSED &&
                                 r.err.refusal == (phases[i].runs ? CORDON_REFUSED_NOT_APPROVED
                                                                  : CORDON_REFUSED_POLICY),
                             "%s, row %zu: %s %d", phases[i].name, j, cordon_code_name(r.err.code),
                             r.err.refusal);
            cordon_command_free(command);
        }
    }
}

static void the_probe_runs_in_every_phase(void)
{
    for (size_t i = 0; i < PHASES; i++) {
        cordon_auto(rig) r = {0};
        cordon_command *command = NULL;
        REQUIRE_OK(rig_open(&r, "codex", phases[i].name) ? 0 : -1, r.err);
        CHECK_OK(cordon_command_probe(r.policy, "10.0.8.4:8443", &command, &r.err), r.err);
        cordon_command_free(command);
    }
}

static void a_probe_upstream_is_an_address(void)
{
    static const char *const bad[] = {"", "example.com:443", "10.0.8.4", "10.0.8.4:0", ":443"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_auto(rig) r = {0};
        cordon_command *command = NULL;
        REQUIRE_OK(rig_open(&r, "claude", "review") ? 0 : -1, r.err);
        CHECK_FAILS(cordon_command_probe(r.policy, bad[i], &command, &r.err), r.err,
                    CORDON_ERR_CONFIG, "upstream");
        CHECK(command == NULL);
    }
}

static void one_more_argv_is_approved_until_a_command_was_made(void)
{
    static const char *const more[] = {"npm", "test"};
    static const char *const later[] = {"rm", "-rf"};
    cordon_auto(rig) r = {0};
    cordon_command *command = NULL;
    REQUIRE_OK(rig_open(&r, "claude", "fix") ? 0 : -1, r.err);
    REQUIRE_OK(cordon_policy_approve(r.policy, more, 2, &r.err), r.err);
    REQUIRE_OK(cordon_command_runner(r.policy, more, 2, &command, &r.err), r.err);
    CHECK_FAILS(cordon_policy_approve(r.policy, later, 2, &r.err), r.err, CORDON_ERR_INVALID,
                "can't be changed");
    cordon_command_free(command);
    command = NULL;
    r.err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(cordon_command_runner(r.policy, later, 2, &command, &r.err), r.err,
                CORDON_ERR_REFUSED, "not approved");
}

static void a_phase_that_runs_nothing_approves_nothing(void)
{
    static const char *const more[] = {"npm", "test"};
    for (size_t i = 0; i < 2; i++) {
        cordon_auto(rig) r = {0};
        REQUIRE_OK(rig_open(&r, "claude", phases[i].name) ? 0 : -1, r.err);
        CHECK_FAILS(cordon_policy_approve(r.policy, more, 2, &r.err), r.err, CORDON_ERR_REFUSED,
                    "runs no commands");
    }
}

static void UX2_what_no_kernel_takes_is_told_with_index_and_limit(void)
{
    static const char *const empty[] = {""};
    cordon_auto(rig) r = {0};
    cordon_autofree char *huge = malloc(CORDON_ARGUMENT_MAX + 1);
    cordon_command *command = NULL;
    REQUIRE(huge != NULL);
    memset(huge, 'x', CORDON_ARGUMENT_MAX);
    huge[CORDON_ARGUMENT_MAX] = '\0';
    const char *const large[] = {"make", huge};
    REQUIRE_OK(rig_open(&r, "claude", "review") ? 0 : -1, r.err);
    CHECK_FAILS(cordon_command_runner(r.policy, empty, 0, &command, &r.err), r.err,
                CORDON_ERR_CONFIG, "empty");
    r.err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(cordon_command_runner(r.policy, empty, 1, &command, &r.err), r.err,
                CORDON_ERR_CONFIG, "empty");
    r.err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(cordon_policy_approve(r.policy, large, 2, &r.err), r.err, CORDON_ERR_CONFIG,
                "argument 1 has 131072 bytes; the kernel takes at most 131071");
}

/* What is approved is one line to read. */
static void the_end_of_a_line_is_in_no_argument(void)
{
    static const char *const bad[][2] = {{"make", "all\nclean"}, {"make\r", "all"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_auto(rig) r = {0};
        cordon_command *command = NULL;
        REQUIRE_OK(rig_open(&r, "claude", "review") ? 0 : -1, r.err);
        CHECK_FAILS(cordon_policy_approve(r.policy, bad[i], 2, &r.err), r.err, CORDON_ERR_REFUSED,
                    "holds the end of a line");
        CHECK_INT(r.err.refusal, CORDON_REFUSED_NOT_APPROVED);
        r.err = (cordon_err)CORDON_ERR_INIT;
        CHECK_FAILS(cordon_command_runner(r.policy, bad[i], 2, &command, &r.err), r.err,
                    CORDON_ERR_REFUSED, i == 0 ? "argument 1 " : "argument 0 ");
    }
}

static bool agents_open(rig *r, const char *vendor, const char *phase)
{
    static const char text[] = "agents: { claude = \"2.1.332\"; codex = \"0.171.0\"; };\n";
    cordon_host host = {.uid = getuid(), .system_config = "/nonexistent/cordon.conf"};
    return test_folder_make(&r->folder) && test_file(&r->folder, "cordon.conf", text, 0600) &&
           cordon_configure(&host, test_path(&r->folder, "cordon.conf"), NULL, &r->config,
                            &r->err) == 0 &&
           cordon_policy_new(r->config, vendor, phase, &r->policy, &r->err) == 0;
}

static int agent(rig *r, const char *cli, const char *prompt, size_t length,
                 cordon_command **ret_command)
{
    const cordon_agent_options options = {.cli = cli, .prompt = prompt, .prompt_length = length};
    r->err = (cordon_err)CORDON_ERR_INIT;
    return cordon_command_agent(r->policy, &options, ret_command, &r->err);
}

/* The prompt is the CLI's input; whatever it looks like, it is no part of argv (UX1). */
static void an_agent_is_commanded_in_every_phase_and_its_prompt_stays_out_of_argv(void)
{
    static const char *const prompts[] = {"- item", "--version", "--", "$(id)\n"};
    for (size_t i = 0; i < PHASES; i++) {
        for (size_t j = 0; j < sizeof prompts / sizeof prompts[0]; j++) {
            cordon_auto(rig) r = {0};
            cordon_command *command = NULL;
            REQUIRE(agents_open(&r, "codex", phases[i].name));
            REQUIRE_OK(agent(&r, NULL, prompts[j], strlen(prompts[j]), &command), r.err);
            for (size_t k = 0; k < command->argv.count; k++)
                CHECK(strcmp(command->argv.items[k], prompts[j]) != 0);
            CHECK_STR(cordon_buf_text(&command->prompt), prompts[j]);
            CHECK(r.policy->frozen);
            cordon_command_free(command);
        }
    }
}

static void a_policy_makes_no_command_of_another_vendors_cli(void)
{
    static const struct {
        const char *vendor, *own, *other;
    } vendors[] = {{"claude", "claude", "codex"}, {"codex", "codex", "claude"}};
    for (size_t i = 0; i < 2; i++) {
        cordon_auto(rig) r = {0};
        cordon_command *command = NULL;
        REQUIRE(agents_open(&r, vendors[i].vendor, "review"));
        CHECK_FAILS(agent(&r, vendors[i].other, "x", 1, &command), r.err, CORDON_ERR_REFUSED,
                    "makes no command for");
        CHECK_INT(r.err.refusal, CORDON_REFUSED_POLICY);
        CHECK(!r.policy->frozen);
        REQUIRE_OK(agent(&r, vendors[i].own, "x", 1, &command), r.err);
        cordon_command_free(command);
    }
}

static void a_prompt_is_text_within_its_limit(void)
{
    cordon_auto(rig) r = {0};
    cordon_command *command = NULL;
    cordon_autofree char *large = malloc(CORDON_PROMPT_MAX + 1);
    REQUIRE(large != NULL && agents_open(&r, "claude", "questions"));
    (void)memset(large, 'x', CORDON_PROMPT_MAX + 1);
    CHECK_FAILS(agent(&r, NULL, large, CORDON_PROMPT_MAX + 1, &command), r.err, CORDON_ERR_CONFIG,
                "over 1048576 bytes");
    CHECK_FAILS(agent(&r, NULL, "", 0, &command), r.err, CORDON_ERR_CONFIG, "is empty");
    CHECK_FAILS(agent(&r, NULL, "a\0b", 3, &command), r.err, CORDON_ERR_CONFIG, "holds a NUL");
    REQUIRE_OK(agent(&r, NULL, large, CORDON_PROMPT_MAX, &command), r.err);
    CHECK_INT(command->prompt.length, CORDON_PROMPT_MAX);
    cordon_command_free(command);
}

CORDON_TEST_MAIN("policy", TEST(the_table_of_phases_is_the_designs), TEST(another_phase_is_none),
                 TEST(another_vendor_is_none),
                 TEST(only_an_approved_argv_becomes_a_command_in_a_phase_that_runs),
                 TEST(the_probe_runs_in_every_phase), TEST(a_probe_upstream_is_an_address),
                 TEST(one_more_argv_is_approved_until_a_command_was_made),
                 TEST(a_phase_that_runs_nothing_approves_nothing),
                 TEST(UX2_what_no_kernel_takes_is_told_with_index_and_limit),
                 TEST(the_end_of_a_line_is_in_no_argument),
                 TEST(an_agent_is_commanded_in_every_phase_and_its_prompt_stays_out_of_argv),
                 TEST(a_policy_makes_no_command_of_another_vendors_cli),
                 TEST(a_prompt_is_text_within_its_limit))

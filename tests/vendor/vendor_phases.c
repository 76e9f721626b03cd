/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every pinned version of both real CLIs, in every phase: what the model is offered on the wire is
 * the phase's set, nothing but the vendor's API is asked for anything, and an ordinary answer comes
 * through to the end.
 */
#include "vendor.h"

#include <unistd.h>

static const struct {
    const char *cli;
    const char *vendor;
    const char *host;
    const char *reads;
    const char *writes;
    const char *paths;
    const char *text;
} vendors[] = {
    {"claude", "t-claude", "api.anthropic.com", "Glob Grep Read", "Edit Glob Grep Read Write",
     "GET /api/claude_code/policy_limits GET /api/claude_code/settings POST /v1/messages",
     "\"type\":\"result\""},
    /* request_user_input cannot be taken away; without a terminal nobody answers it. */
    {"codex", "t-codex", "api.openai.com", "request_user_input", "apply_patch request_user_input",
     "POST /v1/responses", "\"type\":\"turn.completed\""},
};

static const struct {
    const char *name;
    bool writes;
} phases[] = {
    {"planning", false}, {"questions", false}, {"review", false}, {"execute", true}, {"fix", true},
};

/* The receipt's egress: one host, and nothing that was asked for and denied. */
static void check_egress(const outcome *o, const char *host, const char *name)
{
    cordon_json list = {0};
    if (!CHECK(json_find(o->receipt, "egress.allowed", &list)))
        return;
    TEST_RECORDF(cordon_json_count(list) == 1, "%s: %zu hosts were reached", name,
                 cordon_json_count(list));
    for (cordon_json_iter it = cordon_json_iterate(list); cordon_json_next(&it);) {
        const char *reached = "";
        (void)!cordon_json_need_string(it.value, "host", &reached, NULL);
        TEST_RECORDF(strcmp(reached, host) == 0, "%s: reached %s", name, reached);
    }
    if (CHECK(json_find(o->receipt, "egress.denied", &list)))
        TEST_RECORDF(cordon_json_count(list) == 0, "%s: other targets were asked for", name);
}

static void check_wire(size_t v, bool writes, const char *name)
{
    cordon_auto(cordon_fact_list) tools = {0};
    cordon_auto(cordon_fact_list) hosts = {0};
    cordon_auto(cordon_fact_list) paths = {0};
    if (!standin_offered(&tools) || !standin_hosts(&hosts) || !standin_paths(&paths))
        return;
    const char *wanted = writes ? vendors[v].writes : vendors[v].reads;
    TEST_RECORDF(strcmp(names_text(&tools), wanted) == 0, "%s: offers \"%s\", want \"%s\"", name,
                 names_text(&tools), wanted);
    TEST_RECORDF(strcmp(names_text(&hosts), vendors[v].host) == 0, "%s: asks \"%s\"", name,
                 names_text(&hosts));
    TEST_RECORDF(strcmp(names_text(&paths), vendors[v].paths) == 0, "%s: asks for \"%s\"", name,
                 names_text(&paths));
}

static void check_one(const agent *what, size_t v, const char *phase, bool writes,
                      const char *worktree)
{
    char name[1200];
    cordon_auto(outcome) o = {0};
    (void)snprintf(name, sizeof name, "%s %s %s", what->cli, what->version, phase);
    if (!standin_says("{'turns':[[{'text':'an ordinary answer'}]]}") ||
        !agent_run(
            &(agent_call){
                .what = what, .vendor = vendors[v].vendor, .phase = phase, .worktree = worktree},
            &o))
        return;
    TEST_RECORDF(o.process.status == 0, "%s: status %d: %.300s", name, o.process.status,
                 outcome_err(&o));
    EXPECT_EXITED(&o, 0);
    CHECK_CONTAINS(outcome_out(&o), "an ordinary answer");
    CHECK_CONTAINS(outcome_out(&o), vendors[v].text);
    CHECK_STR(receipt_text(&o, "phase"), phase);
    CHECK_STR(receipt_text(&o, "image.pin"), what->image);
    CHECK(receipt_true(&o, "worktree.writable") == writes);
    check_egress(&o, vendors[v].host, name);
    check_wire(v, writes, name);
    EXPECT_NOTHING_LEFT(&o);
}

static void each_cli_in_each_phase_offers_the_phases_tools_and_asks_its_vendor_alone(void)
{
    cordon_auto(standin) s;
    agent agents[AGENTS_MAX];
    size_t count = agents_of_engine(agents);
    REQUIRE(standin_start(&s));
    char worktree[256];
    (void)snprintf(worktree, sizeof worktree, "%s", real_worktree("phases"));
    for (size_t i = 0; i < count; i++) {
        size_t v = strcmp(agents[i].cli, vendors[0].cli) == 0 ? 0 : 1;
        for (size_t p = 0; p < sizeof phases / sizeof phases[0]; p++)
            check_one(&agents[i], v, phases[p].name, phases[p].writes, worktree);
    }
}

/* A vendor's host is asked in the vendor's name: the key goes there, and the prompt is no argument.
 */
static void UX1_the_prompt_reaches_the_vendor_byte_for_byte(void)
{
    static const char *const prompts[] = {"- item", "--version", "--", "$(id) `id` \\ \"quoted\""};
    cordon_auto(standin) s;
    REQUIRE(standin_start(&s));
    for (size_t v = 0; v < 2; v++) {
        agent what;
        REQUIRE(agent_find(vendors[v].cli, false, &what));
        for (size_t i = 0; i < sizeof prompts / sizeof prompts[0]; i++) {
            char option[64];
            char settings[128];
            cordon_auto(outcome) o = {0};
            cordon_auto(cordon_buf) heard = cordon_buf_make(1);
            (void)snprintf(option, sizeof option, "--prompt=%s", prompts[i]);
            (void)snprintf(settings, sizeof settings, "agents: { %s = \"%s\"; };\n", what.cli,
                           what.version);
            REQUIRE(standin_says("{'turns':[[{'text':'heard'}]]}"));
            if (!cordon_call(&(call){.options = WORDS("--vendor", vendors[v].vendor, option),
                                     .image = what.image,
                                     .settings = settings},
                             &o) ||
                !standin_heard(&heard))
                return;
            EXPECT_EXITED(&o, 0);
            CHECK_CONTAINS(cordon_buf_text(&heard),
                           i == 3 ? "$(id) `id` \\\\ \\\"quoted\\\"" : prompts[i]);
            CHECK_CONTAINS(cordon_buf_text(&heard), STANDIN_KEY);
        }
    }
}

/* The CLI reads to the end of its input: the prompt, whatever our own input is. */
static void LC1_a_silent_pipe_as_our_input_holds_nothing_up(void)
{
    int silent[2];
    cordon_auto(standin) s;
    REQUIRE(standin_start(&s) && pipe(silent) == 0);
    for (size_t v = 0; v < 2; v++) {
        agent what;
        char settings[128];
        cordon_auto(outcome) o = {0};
        REQUIRE(agent_find(vendors[v].cli, false, &what));
        REQUIRE(standin_says("{'turns':[[{'text':'an ordinary answer'}]]}"));
        (void)snprintf(settings, sizeof settings, "agents: { %s = \"%s\"; };\n", what.cli,
                       what.version);
        if (cordon_call(&(call){.options = WORDS("--vendor", vendors[v].vendor, "--prompt", "hi"),
                                .image = what.image,
                                .settings = settings,
                                .stdin_fd = silent[0]},
                        &o)) {
            EXPECT_EXITED(&o, 0);
            CHECK_CONTAINS(outcome_out(&o), "an ordinary answer");
        }
    }
    (void)close(silent[0]);
    (void)close(silent[1]);
}

/* An image without a user: the step is nobody's root, so Claude takes the flag that root may not.
 */
static void UX3_an_image_of_root_is_run_as_somebody_else(void)
{
    cordon_auto(standin) s;
    cordon_auto(outcome) o = {0};
    agent what;
    REQUIRE(standin_start(&s) && agent_find("claude", false, &what));
    REQUIRE(standin_says("{'turns':[[{'text':'an ordinary answer'}]]}"));
    if (!agent_run(&(agent_call){.what = &what, .vendor = "naked-claude", .phase = "review"}, &o))
        return;
    EXPECT_EXITED(&o, 0);
    CHECK_CONTAINS(outcome_out(&o), "an ordinary answer");
}

/* What the phase allows is done, and belongs to the caller. */
static void a_writing_phase_writes_the_worktree(void)
{
    static const char *const scenarios[] = {
        "{'turns':[[{'tool':'Write','input':{'file_path':'/worktree/new.txt','content':'new'}}]]}",
        "{'turns':[[{'custom':'apply_patch','input':'*** Begin Patch\\n*** Add File: new.txt\\n"
        "+new\\n*** End Patch\\n'}]]}",
    };
    cordon_auto(standin) s;
    REQUIRE(standin_start(&s));
    for (size_t v = 0; v < 2; v++) {
        agent what;
        struct stat st;
        char path[256];
        cordon_auto(outcome) o = {0};
        const char *worktree = real_worktree(v == 0 ? "write-claude" : "write-codex");
        REQUIRE(agent_find(vendors[v].cli, false, &what) && standin_says(scenarios[v]));
        if (!agent_run(&(agent_call){.what = &what,
                                     .vendor = vendors[v].vendor,
                                     .phase = "execute",
                                     .worktree = worktree},
                       &o))
            return;
        EXPECT_EXITED(&o, 0);
        (void)snprintf(path, sizeof path, "%s/new.txt", worktree);
        if (CHECK(stat(path, &st) == 0))
            CHECK_INT(st.st_uid, real.uid);
    }
}

/* The image holds another version than the configuration says: the first event tells. */
static void another_version_in_the_image_ends_the_run(void)
{
    cordon_auto(standin) s;
    cordon_auto(outcome) o = {0};
    agent what;
    REQUIRE(standin_start(&s) && agent_find("claude", false, &what));
    (void)snprintf(what.version, sizeof what.version, "2.1.197");
    if (!agent_run(&(agent_call){.what = &what, .vendor = "t-claude", .phase = "review"}, &o))
        return;
    EXPECT_KIND(&o, "refused", 126);
    CHECK_STR(receipt_text(&o, "result.refusal.code"), "CORDON_REFUSED_AGENT");
    CHECK_STR(receipt_text(&o, "result.refusal.fact"), "agent.version");
    EXPECT_NOTHING_LEFT(&o);
}

/* Which of the two values counts would be the CLI's choice; nothing is created for it. */
static void a_secret_named_like_a_variable_of_the_adapter_is_refused(void)
{
    cordon_auto(standin) s;
    cordon_auto(outcome) o = {0};
    cordon_auto(cordon_buf) heard = cordon_buf_make(1);
    agent what;
    char secret[320];
    char settings[128];
    REQUIRE(standin_start(&s) && agent_find("claude", false, &what));
    REQUIRE(real_file("secret-telemetry", "0"));
    (void)snprintf(secret, sizeof secret, "DISABLE_TELEMETRY=%s", real_path("secret-telemetry"));
    (void)snprintf(settings, sizeof settings, "agents: { %s = \"%s\"; };\n", what.cli,
                   what.version);
    if (!cordon_call(
            &(call){.options = WORDS("--vendor", "t-claude", "--prompt", "hi", "--secret", secret),
                    .image = what.image,
                    .settings = settings},
            &o) ||
        !standin_heard(&heard))
        return;
    EXPECT_KIND(&o, "error", 125);
    CHECK_CONTAINS(outcome_err(&o),
                   "secret DISABLE_TELEMETRY: Cordon sets that variable for claude");
    CHECK_INT(receipt_number(&o, "timing_ms.create"), 0);
    CHECK_INT(heard.length, 0);
    EXPECT_NOTHING_LEFT(&o);
}

/* The CLI itself says why it cannot work, and its status is ours. */
static void UX3_the_vendors_refusal_is_the_clis_own_to_tell(void)
{
    static const char scenario[] =
        "{'answers':{'POST /v1/messages':{'status':400,'body':{'type':'error','error':"
        "{'type':'invalid_request_error','message':'no such model here'}}},"
        "'POST /v1/responses':{'status':400,'body':{'error':{'message':'no such model here'}}}}}";
    cordon_auto(standin) s;
    REQUIRE(standin_start(&s));
    for (size_t v = 0; v < 2; v++) {
        agent what;
        cordon_auto(outcome) o = {0};
        REQUIRE(agent_find(vendors[v].cli, false, &what) && standin_says(scenario));
        if (!agent_run(
                &(agent_call){.what = &what, .vendor = vendors[v].vendor, .phase = "questions"},
                &o))
            return;
        EXPECT_EXITED(&o, 1);
        CHECK_CONTAINS(outcome_out(&o), "no such model here");
        EXPECT_NOTHING_LEFT(&o);
    }
}

REAL_MAIN("vendor_phases",
          TEST(each_cli_in_each_phase_offers_the_phases_tools_and_asks_its_vendor_alone),
          TEST(UX1_the_prompt_reaches_the_vendor_byte_for_byte),
          TEST(LC1_a_silent_pipe_as_our_input_holds_nothing_up),
          TEST(UX3_an_image_of_root_is_run_as_somebody_else),
          TEST(a_writing_phase_writes_the_worktree),
          TEST(another_version_in_the_image_ends_the_run),
          TEST(a_secret_named_like_a_variable_of_the_adapter_is_refused),
          TEST(UX3_the_vendors_refusal_is_the_clis_own_to_tell))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adapters: the words of an agent command, to the letter, for every CLI, version and phase; and
 * what a CLI may say of itself.
 */
#include <stdlib.h>

#include "support/agent_rig.h"

static void every_version_gets_its_exact_words_in_every_phase(void)
{
    for (size_t i = 0; i < COUNT(words); i++) {
        for (size_t j = 0; j < COUNT(phases); j++) {
            cordon_auto(rig) r = {0};
            char text[4096];
            REQUIRE_OK(build(&r, words[i].vendor, phases[j].name, words[i].version, false, NULL),
                       r.err);
            CHECK_STR(joined(&r.agent.argv, text, sizeof text),
                      phases[j].writes ? words[i].writes : words[i].reads);
            CHECK(r.agent.version_known);
        }
    }
}

static void variables_are_set_or_not_there_and_never_zero(void)
{
    for (size_t i = 0; i < COUNT(words); i++) {
        cordon_auto(rig) r = {0};
        REQUIRE_OK(build(&r, words[i].vendor, "review", words[i].version, false, NULL), r.err);
        for (size_t j = 0; j < r.agent.environment.count; j++) {
            const char *item = r.agent.environment.items[j];
            const char *value = strchr(item, '=');
            REQUIRE(value != NULL);
            CHECK(value[1] != '\0' && strcmp(value, "=0") != 0);
        }
    }
}

static void telemetry_and_updates_of_claude_are_off(void)
{
    static const char *const names[] = {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=",
        "DISABLE_TELEMETRY=",
        "DISABLE_ERROR_REPORTING=",
        "DISABLE_AUTOUPDATER=",
        "DISABLE_UPDATES=",
        "CLAUDE_CODE_DISABLE_WEB_FETCH=",
    };
    cordon_auto(rig) r = {0};
    REQUIRE_OK(build(&r, "claude", "fix", "2.1.332", false, NULL), r.err);
    for (size_t i = 0; i < COUNT(names); i++)
        CHECK(cordon_agent_sets(&r.agent.environment, names[i]));
}

static void a_model_is_one_word_behind_its_option(void)
{
    cordon_auto(rig) r = {0};
    char text[4096];
    REQUIRE_OK(build(&r, "claude", "review", "2.1.197", false, "claude-opus-4-8[1m]"), r.err);
    CHECK_CONTAINS(joined(&r.agent.argv, text, sizeof text),
                   "<dontAsk><--model><claude-opus-4-8[1m]>");
}

static void what_is_no_model_is_refused(void)
{
    static const char *const names[] = {"", "-p", "a b", "a\nb", "x\"", "--settings=x"};
    for (size_t i = 0; i < COUNT(names); i++) {
        cordon_auto(rig) r = {0};
        CHECK_FAILS(build(&r, "codex", "review", "0.171.0", false, names[i]), r.err,
                    CORDON_ERR_CONFIG, "is not the name of a model");
    }
}

static void a_version_without_a_table_is_refused(void)
{
    static const char *const versions[] = {NULL, "2.1.331", "2.1.3321", "latest"};
    for (size_t i = 0; i < COUNT(versions); i++) {
        cordon_auto(rig) r = {0};
        CHECK_FAILS(build(&r, "claude", "review", versions[i], false, NULL), r.err,
                    CORDON_ERR_REFUSED, "2.1.197, 2.1.332");
        CHECK_INT(r.err.refusal, CORDON_REFUSED_AGENT);
    }
}

static void an_accepted_version_gets_the_newest_words(void)
{
    cordon_auto(rig) r = {0};
    char text[4096];
    REQUIRE_OK(build(&r, "claude", "review", "2.2.0", true, NULL), r.err);
    CHECK_STR(joined(&r.agent.argv, text, sizeof text), words[1].reads);
    CHECK(!r.agent.version_known);
    CHECK_STR(r.agent.claimed, "2.2.0");
}

static void no_version_is_never_accepted(void)
{
    cordon_auto(rig) r = {0};
    CHECK_FAILS(build(&r, "codex", "review", NULL, true, NULL), r.err, CORDON_ERR_REFUSED,
                "set agents.codex");
}

/* --- A command line of the operator's --------------------------------------------------------- */

static void a_definitions_own_command_line_is_taken_word_for_word(void)
{
    cordon_auto(rig) r = {0};
    char text[4096];
    REQUIRE_OK(build_own(&r, "\"/usr/local/bin/claude\", \"-p\", \"\"", NULL), r.err);
    CHECK_STR(joined(&r.agent.argv, text, sizeof text), "</usr/local/bin/claude><-p><>");
    CHECK_INT(r.agent.environment.count, 0);
    CHECK(r.agent.version == NULL);
}

static void nothing_but_the_adapters_program_is_commanded(void)
{
    cordon_auto(rig) r = {0};
    CHECK_FAILS(build_own(&r, "\"/bin/sh\", \"-c\", \"id\"", NULL), r.err, CORDON_ERR_CONFIG,
                "argv must begin with /usr/local/bin/claude");
}

static void a_command_line_of_its_own_takes_no_model(void)
{
    cordon_auto(rig) r = {0};
    CHECK_FAILS(build_own(&r, "\"/usr/local/bin/claude\"", "opus"), r.err, CORDON_ERR_CONFIG,
                "name the model there");
}

/* --- What it says of itself ------------------------------------------------------------------- */

static int watch(const char *vendor, const char *phase, const char *version, const char *text,
                 int status, cordon_refusal *refusal, cordon_err *err)
{
    cordon_auto(rig) r = {0};
    cordon_agent_watch reader;
    int result = 0;
    if (!CHECK_OK(build(&r, vendor, phase, version, false, NULL), r.err))
        return 0;
    cordon_agent_watch_init(&reader, &r.agent, NULL);
    /* In cuts that no line respects. */
    size_t whole = strlen(text);
    for (size_t at = 0; result == 0 && at < whole; at += 7) {
        size_t length = whole - at < 7 ? whole - at : 7;
        result = cordon_agent_watch_feed(&reader, text + at, length, refusal, err);
    }
    if (result == 0)
        result = cordon_agent_watch_finish(&reader, status, refusal, err);
    cordon_agent_watch_clear(&reader);
    return result;
}

static const struct {
    const char *text;
    const char *fact;
} lies[] = {
    {INIT(READS ",\"Bash\"", "", "dontAsk", "", "", "", "2.1.332"), "agent.tools"},
    {INIT("\"Read\",\"Grep\"", "", "dontAsk", "", "", "", "2.1.332"), "agent.tools"},
    {INIT(READS ",1", "", "dontAsk", "", "", "", "2.1.332"), "agent.tools"},
    {INIT(READS, "{\"name\":\"x\"}", "dontAsk", "", "", "", "2.1.332"), "agent.mcp_servers"},
    {INIT(READS, "", "bypassPermissions", "", "", "", "2.1.332"), "agent.permission_mode"},
    {INIT(READS, "", "dontAsk", "\"init\"", "", "", "2.1.332"), "agent.slash_commands"},
    {INIT(READS, "", "dontAsk", "", "\"pdf\"", "", "2.1.332"), "agent.skills"},
    {INIT(READS, "", "dontAsk", "", "", "{\"name\":\"evil\",\"path\":\"builtin\"}", "2.1.332"),
     "agent.plugins"},
    {INIT(READS, "", "dontAsk", "", "", "{\"name\":\"cc-plugin-privacy\",\"path\":\"/tmp/x\"}",
          "2.1.332"),
     "agent.plugins"},
    {INIT(READS, "", "dontAsk", "", "", "", "2.1.333"), "agent.version"},
    {"{\"type\":\"system\",\"subtype\":\"init\"}\n", "agent.version"},
    {"{\"type\":\"assistant\"}\n", "agent.init"},
    {"{\"type\":\"result\"}\n" GOOD, "agent.init"},
    {"{\"type\":\"system\",\"subtype\":\"hook_started\"}\n" GOOD, "agent.hooks"},
    {GOOD GOOD INIT(READS ",\"Bash\"", "", "dontAsk", "", "", "", "2.1.332"), "agent.tools"},
    {"{\"tools\":[]}\n", "agent.event"},
    {"", "agent.init"},
    {"no event at all\n", "agent.init"},
};

static void what_claude_says_beyond_the_policy_is_a_refusal(void)
{
    for (size_t i = 0; i < COUNT(lies); i++) {
        cordon_refusal refusal = {0};
        cordon_err err = CORDON_ERR_INIT;
        int result = watch("claude", "review", "2.1.332", lies[i].text, 0, &refusal, &err);
        TEST_RECORDF(result == -1 && err.code == CORDON_ERR_REFUSED &&
                         refusal.code == CORDON_REFUSED_AGENT &&
                         strcmp(refusal.fact, lies[i].fact) == 0,
                     "row %zu: %d, %s, %.200s", i, result, refusal.fact, err.message);
    }
}

static void what_claude_may_say_passes(void)
{
    static const struct {
        const char *phase;
        const char *text;
        int status;
    } good[] = {
        {"review", GOOD "{\"type\":\"assistant\"}\n{\"type\":\"result\"}\n", 0},
        {"planning", "a warning\n" GOOD "{\"type\":\"result\"", 0},
        {"fix",
         INIT(READS ",\"Edit\",\"Write\"", "", "acceptEdits", "", "",
              "{\"name\":\"cc-plugin-privacy\",\"path\":\"builtin\"}", "2.1.332"),
         0},
        /* It failed before it could say anything: that is its own to tell. */
        {"review", "", 1},
        {"review", "Error: no key\n", 1},
    };
    for (size_t i = 0; i < COUNT(good); i++) {
        cordon_refusal refusal = {0};
        cordon_err err = CORDON_ERR_INIT;
        CHECK_OK(
            watch("claude", good[i].phase, "2.1.332", good[i].text, good[i].status, &refusal, &err),
            err);
    }
}

#define ITEM(kind) "{\"type\":\"item.started\",\"item\":{\"type\":\"" kind "\"}}\n"

static void what_codex_does_beyond_the_policy_is_a_refusal(void)
{
    static const struct {
        const char *phase;
        const char *text;
        const char *fact;
    } bad[] = {
        {"review", THREAD ITEM("command_execution"), "agent.item"},
        {"fix", THREAD ITEM("command_execution"), "agent.item"},
        {"fix", THREAD ITEM("mcp_tool_call"), "agent.item"},
        {"fix", THREAD ITEM("web_search"), "agent.item"},
        {"fix", THREAD ITEM("collab_tool_call"), "agent.item"},
        {"review", THREAD ITEM("file_change"), "agent.item"},
        {"review", THREAD "{\"type\":\"item.completed\"}\n", "agent.item"},
        {"review", THREAD "{\"kind\":1}\n", "agent.event"},
        {"review", "not JSON\n", "agent.event"},
        {"review", "", "agent.init"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        cordon_refusal refusal = {0};
        cordon_err err = CORDON_ERR_INIT;
        CHECK_INT(watch("codex", bad[i].phase, "0.171.0", bad[i].text, 0, &refusal, &err), -1);
        CHECK_STR(refusal.fact, bad[i].fact);
    }
}

static void what_codex_may_do_passes(void)
{
    cordon_refusal refusal = {0};
    cordon_err err = CORDON_ERR_INIT;
    CHECK_OK(watch("codex", "fix", "0.166.0",
                   THREAD "{\"type\":\"turn.started\"}\n" ITEM("reasoning") ITEM("file_change")
                       ITEM("agent_message") "\n{\"type\":\"turn.completed\"}\n",
                   0, &refusal, &err),
             err);
}

/* A line longer than is held is no event; of a CLI that never writes such a line it is a refusal.
 */
static void a_line_beyond_the_limit_is_not_held(void)
{
    static const char head[] = "{\"type\":\"result\",\"text\":\"";
    size_t length = CORDON_ADAPTER_LINE_MAX + 10;
    cordon_autofree char *text = calloc(1, length + sizeof GOOD + 2);
    cordon_refusal refusal = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(text != NULL);
    (void)memset(text, 'x', length);
    (void)memcpy(text, head, sizeof head - 1);
    text[length] = '\n';
    (void)memcpy(text + length + 1, GOOD, sizeof GOOD);
    CHECK_OK(watch("claude", "review", "2.1.332", text, 0, &refusal, &err), err);
    CHECK_INT(watch("codex", "review", "0.171.0", text, 0, &refusal, &err), -1);
    CHECK_STR(refusal.fact, "agent.event");
}

static void a_secret_named_like_a_variable_of_the_adapter_is_refused(void)
{
    cordon_auto(rig) r = {0};
    REQUIRE_OK(build(&r, "claude", "review", "2.1.332", false, NULL), r.err);
    CHECK_OK(cordon_agent_check_secret(&r.agent, "ANTHROPIC_API_KEY", &r.err), r.err);
    CHECK_OK(cordon_agent_check_secret(&r.agent, "DISABLE_TELEM", &r.err), r.err);
    CHECK_FAILS(cordon_agent_check_secret(&r.agent, "CLAUDE_CONFIG_DIR", &r.err), r.err,
                CORDON_ERR_CONFIG, "secret CLAUDE_CONFIG_DIR: Cordon sets");
    r.err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(cordon_agent_check_secret(&r.agent, "DISABLE_TELEMETRY", &r.err), r.err,
                CORDON_ERR_CONFIG,
                "secret DISABLE_TELEMETRY: Cordon sets that variable for claude itself");
}

CORDON_TEST_MAIN(
    "adapter", TEST(every_version_gets_its_exact_words_in_every_phase),
    TEST(variables_are_set_or_not_there_and_never_zero),
    TEST(telemetry_and_updates_of_claude_are_off), TEST(a_model_is_one_word_behind_its_option),
    TEST(what_is_no_model_is_refused), TEST(a_version_without_a_table_is_refused),
    TEST(a_definitions_own_command_line_is_taken_word_for_word),
    TEST(nothing_but_the_adapters_program_is_commanded),
    TEST(a_command_line_of_its_own_takes_no_model), TEST(an_accepted_version_gets_the_newest_words),
    TEST(no_version_is_never_accepted), TEST(what_claude_says_beyond_the_policy_is_a_refusal),
    TEST(what_claude_may_say_passes), TEST(what_codex_does_beyond_the_policy_is_a_refusal),
    TEST(what_codex_may_do_passes), TEST(a_line_beyond_the_limit_is_not_held),
    TEST(a_secret_named_like_a_variable_of_the_adapter_is_refused))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claude Code: what its pinned versions want and offer. Measured with the real program against a
 * server that stood in for the vendor; tests/vendor measures again.
 *
 * Variables are set or not there: some count as set with "0" in them. ENABLE_TOOL_SEARCH alone is
 * read for its value.
 */
#include "adapter.h"

#include <string.h>

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

#define TOOLS_READING "Read,Grep,Glob"
#define TOOLS_WRITING "Read,Grep,Glob,Edit,Write"

/*
 * Events as they happen, no tool but those that are named behind it, nothing from settings, hooks,
 * plugins' commands, MCP servers and earlier sessions. "--tools" is greedy, so an option follows.
 */
#define CLAUDE_ARGV                                                                                \
    CORDON_ADAPTER_PROGRAM("claude"), "--print", "--output-format", "stream-json", "--verbose",    \
        "--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence",             \
        "--setting-sources", "", "--settings", "{\"disableAllHooks\":true}"

#define CLAUDE_ENVIRONMENT                                                                         \
    "CLAUDE_CONFIG_DIR=/tmp/.claude", "CLAUDE_CODE_TMPDIR=/tmp",                                   \
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1",                       \
        "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "DISABLE_UPDATES=1",                 \
        "DISABLE_BUG_COMMAND=1", "DISABLE_FEEDBACK_COMMAND=1",                                     \
        "CLAUDE_CODE_DISABLE_FEATURE_FLAGS=1", "CLAUDE_CODE_DISABLE_WEB_FETCH=1",                  \
        "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS=1", "CLAUDE_CODE_DISABLE_CRON=1",                      \
        "CLAUDE_CODE_DISABLE_WORKFLOWS=1", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",               \
        "CLAUDE_CODE_DISABLE_CLAUDE_MDS=1", "CLAUDE_CODE_DISABLE_AUTO_MEMORY=1",                   \
        "CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING=1",                                                \
        "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1", "ENABLE_TOOL_SEARCH=false"

/* Who may not ask is told no: in print mode there is nobody to ask. */
#define READING "--tools", TOOLS_READING, "--permission-mode", "dontAsk"
#define WRITING "--tools", TOOLS_WRITING, "--permission-mode", "acceptEdits"
/* Since some version between the two: no settings at all, files below the folder alone. */
#define RESTRICTED "--restricted", "--permission-prompts", "none"

static const cordon_cli_version versions[] = {
    {
        .version = "2.1.197",
        .argv = WORDS(CLAUDE_ARGV),
        .reading = WORDS(READING),
        .writing = WORDS(WRITING),
        .environment = WORDS(CLAUDE_ENVIRONMENT),
        .tools_reading = WORDS("Glob", "Grep", "Read"),
        .tools_writing = WORDS("Edit", "Glob", "Grep", "Read", "Write"),
        .mode_reading = "dontAsk",
        .mode_writing = "acceptEdits",
    },
    {
        .version = "2.1.332",
        .argv = WORDS(CLAUDE_ARGV),
        .reading = WORDS(READING, RESTRICTED),
        .writing = WORDS(WRITING, RESTRICTED),
        .environment = WORDS(CLAUDE_ENVIRONMENT, "CLAUDE_CODE_SKIP_PLUGIN_MCP_SERVERS=1"),
        .tools_reading = WORDS("Glob", "Grep", "Read"),
        .tools_writing = WORDS("Edit", "Glob", "Grep", "Read", "Write"),
        .mode_reading = "dontAsk",
        .mode_writing = "acceptEdits",
        .plugins = WORDS("cc-plugin-agents-md", "cc-plugin-plugin-authoring", "cc-plugin-privacy"),
    },
};

/* --- What it says of itself ------------------------------------------------------------------- */

static int compare_text(cordon_json event, const char *key, const char *fact, const char *expected,
                        cordon_refusal *ret_refusal, cordon_err *err)
{
    cordon_json_string text = {0};

    if (cordon_json_get_string(event, key, &text, NULL) == 0 && text.has == CORDON_JSON_PRESENT &&
        strcmp(text.text, expected) == 0)
        return 0;
    return cordon_refuse(ret_refusal, CORDON_REFUSED_AGENT, fact, expected, text.text, err);
}

static int compare_list(cordon_json event, const char *key, const char *fact,
                        const char *const *wanted, cordon_refusal *ret_refusal, cordon_err *err)
{
    cordon_json_place list = {0};

    if (cordon_json_get_array(event, key, &list, NULL) != 0 || list.has != CORDON_JSON_PRESENT)
        return cordon_refuse(ret_refusal, CORDON_REFUSED_AGENT, fact, "a list", NULL, err);
    return cordon_agent_compare(list.value, fact, wanted, ret_refusal, err);
}

/* A plugin that the program has in itself; of a version without a table any such. */
static bool is_plugin_known(const cordon_agent *agent, cordon_json plugin)
{
    const char *const *known = agent->version->plugins;
    const char *name = NULL;
    const char *path = NULL;

    if (cordon_json_need_string(plugin, "name", &name, NULL) != 0 ||
        cordon_json_need_string(plugin, "path", &path, NULL) != 0 || strcmp(path, "builtin") != 0)
        return false;
    if (!agent->version_known)
        return true;
    for (; known != NULL && *known != NULL; known++) {
        if (strcmp(*known, name) == 0)
            return true;
    }
    return false;
}

static int compare_plugins(const cordon_agent *agent, cordon_json event,
                           cordon_refusal *ret_refusal, cordon_err *err)
{
    cordon_json_place list = {0};

    if (cordon_json_get_array(event, "plugins", &list, NULL) != 0 ||
        list.has != CORDON_JSON_PRESENT)
        return cordon_refuse(ret_refusal, CORDON_REFUSED_AGENT, "agent.plugins", "a list", NULL,
                             err);
    for (cordon_json_iter it = cordon_json_iterate(list.value); cordon_json_next(&it);) {
        const char *name = "one without a name";

        if (is_plugin_known(agent, it.value))
            continue;
        (void)!cordon_json_need_string(it.value, "name", &name, NULL);
        return cordon_refuse(ret_refusal, CORDON_REFUSED_AGENT, "agent.plugins",
                             "those of the program itself", name, err);
    }
    return 0;
}

static int judge_init(const cordon_agent *agent, cordon_json event, cordon_refusal *ret_refusal,
                      cordon_err *err)
{
    const cordon_cli_version *says = agent->version;

    if (compare_text(event, "claude_code_version", "agent.version", agent->claimed, ret_refusal,
                     err) != 0 ||
        compare_list(event, "tools", "agent.tools",
                     agent->writes ? says->tools_writing : says->tools_reading, ret_refusal,
                     err) != 0 ||
        compare_list(event, "mcp_servers", "agent.mcp_servers", NULL, ret_refusal, err) != 0 ||
        compare_text(event, "permissionMode", "agent.permission_mode",
                     agent->writes ? says->mode_writing : says->mode_reading, ret_refusal,
                     err) != 0 ||
        compare_list(event, "slash_commands", "agent.slash_commands", NULL, ret_refusal, err) !=
            0 ||
        compare_list(event, "skills", "agent.skills", NULL, ret_refusal, err) != 0)
        return -1;
    return compare_plugins(agent, event, ret_refusal, err);
}

/*
 * "system" of subtype "init" says what is offered, before anything else is done. Hooks announce
 * themselves as "system" events, too. The model's and the tools' words come after it.
 */
static int claude_judge(const cordon_agent *agent, cordon_json event, bool *seen_init,
                        cordon_refusal *ret_refusal, cordon_err *err)
{
    cordon_json_string type = {0};
    cordon_json_string subtype = {0};

    (void)!cordon_json_get_string(event, "type", &type, NULL);
    (void)!cordon_json_get_string(event, "subtype", &subtype, NULL);
    if (type.text == NULL)
        return cordon_refuse(ret_refusal, CORDON_REFUSED_AGENT, "agent.event", "a type", NULL, err);
    if (strcmp(type.text, "system") != 0) {
        if (*seen_init)
            return 0;
        return cordon_refuse(ret_refusal, CORDON_REFUSED_AGENT, "agent.init",
                             "what the CLI offers, in its first event", type.text, err);
    }
    if (subtype.text != NULL && strncmp(subtype.text, "hook", 4) == 0)
        return cordon_refuse(ret_refusal, CORDON_REFUSED_AGENT, "agent.hooks", "none", subtype.text,
                             err);
    if (subtype.text == NULL || strcmp(subtype.text, "init") != 0)
        return 0;
    *seen_init = true;
    return judge_init(agent, event, ret_refusal, err);
}

const cordon_adapter_table cordon_adapter_claude = {
    .adapter = CORDON_ADAPTER_CLAUDE,
    .program = "claude",
    .versions = versions,
    .version_count = sizeof(versions) / sizeof(versions[0]),
    .model_option = "--model",
    .ca_variables = WORDS("NODE_EXTRA_CA_CERTS"),
    .execute = WORDS(CORDON_ADAPTER_PROGRAM("claude"), "/lib64/ld-linux-x86-64.so.2",
                     "/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-x86_64.so.1",
                     "/lib/ld-musl-aarch64.so.1"),
    .judge = claude_judge,
    .needs_init = true,
};

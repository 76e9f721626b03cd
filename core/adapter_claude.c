/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claude Code: what its pinned versions want and offer. Measured with the real program against a
 * server that stood in for the vendor; tests/vendor measures again.
 *
 * Variables are set or not there: some count as set with "0" in them. ENABLE_TOOL_SEARCH alone is
 * read for its value.
 */
#include "adapter.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "kit/jsonw.h"

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
        .resume = WORDS("--resume"),
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
        .resume = WORDS("--resume"),
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
    if (agent->session[0] != '\0' &&
        compare_text(event, "session_id", "agent.session", agent->session, ret_refusal, err) != 0)
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

/* --- A session that goes on ------------------------------------------------------------------- */

/* Words of the model itself, not of a sub-agent. */
static int claude_hear(cordon_json event, cordon_talk *talk, cordon_err *err)
{
    const char *type = NULL;
    const char *text = NULL;
    cordon_json message = {0};
    cordon_json content = {0};
    cordon_json_string parent = {0};

    if (cordon_json_need_string(event, "type", &type, NULL) != 0 ||
        strcmp(type, "assistant") != 0 ||
        cordon_json_get_string(event, "parent_tool_use_id", &parent, NULL) != 0 ||
        parent.has == CORDON_JSON_PRESENT ||
        cordon_json_need_object(event, "message", &message, NULL) != 0 ||
        cordon_json_need_array(message, "content", &content, NULL) != 0)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(content); cordon_json_next(&it);) {
        if (cordon_json_need_string(it.value, "type", &type, NULL) == 0 &&
            strcmp(type, "text") == 0 &&
            cordon_json_need_string(it.value, "text", &text, NULL) == 0 &&
            cordon_talk_answer(talk, text, strlen(text), err) != 0)
            return -1;
    }
    return 0;
}

/* Longest name of a project's folder that Claude does not shorten by a rule of its own. */
#define PROJECT_MAX 200

/* projects/-worktree/ID.jsonl: every character of the folder that is no letter or digit is "-". */
static int session_path(const cordon_agent *agent, const char *working_dir,
                        cordon_session_file *file, cordon_err *err)
{
    char name[PROJECT_MAX + 1];
    size_t length = strlen(working_dir);

    if (length > PROJECT_MAX)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "a session of claude cannot go on in a folder whose path has over %d "
                           "bytes; make worktree.mount shorter, or leave resume out",
                           PROJECT_MAX);
    for (size_t i = 0; i <= length; i++) {
        unsigned char c = (unsigned char)working_dir[i];

        if (c > 0x7f)
            return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                               "a session of claude cannot go on in a folder whose path is not "
                               "ASCII; choose another worktree.mount, or leave resume out");
        name[i] = (char)(c == '\0' || isalnum(c) ? c : '-');
    }
    (void)snprintf(file->path, sizeof(file->path), "projects/%s/%s.jsonl", name, agent->session);
    return 0;
}

/* "00000001-0000-4000-8000-000000000000": the lines of a session know each other by these. */
static void line_id(char ret_id[CORDON_ADAPTER_SESSION_ID], size_t line)
{
    (void)snprintf(ret_id, CORDON_ADAPTER_SESSION_ID, "%08x-0000-4000-8000-000000000000",
                   (unsigned)line);
}

static void write_answer(cordon_jsonw *w, const char *id, const char *text)
{
    cordon_jsonw_string(w, "id", id);
    cordon_jsonw_string(w, "type", "message");
    cordon_jsonw_string(w, "role", "assistant");
    cordon_jsonw_string(w, "model", "claude");
    cordon_jsonw_begin_array(w, "content");
    cordon_jsonw_begin_object(w, NULL);
    cordon_jsonw_string(w, "type", "text");
    cordon_jsonw_string(w, "text", text);
    cordon_jsonw_end_object(w);
    cordon_jsonw_end_array(w);
    cordon_jsonw_string(w, "stop_reason", "end_turn");
    cordon_jsonw_null(w, "stop_sequence");
    cordon_jsonw_begin_object(w, "usage"); /* 2.1.197 does not start without it */
    cordon_jsonw_u64(w, "input_tokens", 0);
    cordon_jsonw_u64(w, "output_tokens", 0);
    cordon_jsonw_end_object(w);
}

typedef struct claude_line {
    const cordon_agent *agent;
    const char *working_dir;
    size_t number; /* from 1 on */
    bool asked;
    const char *text;
} claude_line;

static int write_line(const claude_line *line, cordon_buf *out, cordon_err *err)
{
    char id[CORDON_ADAPTER_SESSION_ID];
    char before[CORDON_ADAPTER_SESSION_ID];
    cordon_jsonw w;

    line_id(id, line->number);
    line_id(before, line->number - 1);
    cordon_jsonw_init(&w, out);
    cordon_jsonw_begin_object(&w, NULL);
    cordon_jsonw_string_or_null(&w, "parentUuid", line->number > 1 ? before : NULL);
    cordon_jsonw_bool(&w, "isSidechain", false);
    cordon_jsonw_string(&w, "userType", "external");
    cordon_jsonw_string(&w, "cwd", line->working_dir);
    cordon_jsonw_string(&w, "sessionId", line->agent->session);
    cordon_jsonw_string(&w, "version", line->agent->claimed);
    cordon_jsonw_string(&w, "type", line->asked ? "user" : "assistant");
    cordon_jsonw_string(&w, "uuid", id);
    cordon_jsonw_string(&w, "timestamp", CORDON_ADAPTER_SESSION_TIME);
    cordon_jsonw_begin_object(&w, "message");
    if (line->asked) {
        cordon_jsonw_string(&w, "role", "user");
        cordon_jsonw_string(&w, "content", line->text);
    } else {
        write_answer(&w, id, line->text);
    }
    cordon_jsonw_end_object(&w);
    cordon_jsonw_end_object(&w);
    return cordon_jsonw_finish(&w, err) != 0 ? -1 : cordon_buf_append_char(out, '\n', err);
}

static int claude_session(const cordon_agent *agent, const cordon_talk *talk,
                          const char *working_dir, cordon_session_file *file, cordon_err *err)
{
    claude_line line = {.agent = agent, .working_dir = working_dir};
    size_t at = 0;

    while (cordon_talk_next(talk, &at, &line.asked, &line.text)) {
        line.number++;
        if (write_line(&line, &file->bytes, err) != 0)
            return -1;
    }
    return session_path(agent, working_dir, file, err);
}

const cordon_adapter_table cordon_adapter_claude = {
    .adapter = CORDON_ADAPTER_CLAUDE,
    .program = "claude",
    .versions = versions,
    .version_count = sizeof(versions) / sizeof(versions[0]),
    .model_option = "--model",
    .ca_variables = WORDS("NODE_EXTRA_CA_CERTS"),
    .state_variable = "CLAUDE_CONFIG_DIR",
    .execute = WORDS(CORDON_ADAPTER_PROGRAM("claude"), "/lib64/ld-linux-x86-64.so.2",
                     "/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-x86_64.so.1",
                     "/lib/ld-musl-aarch64.so.1"),
    .judge = claude_judge,
    .hear = claude_hear,
    .session = claude_session,
    .needs_init = true,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codex CLI: what its pinned versions want and do. Measured with the real program against a server
 * that stood in for the vendor; tests/vendor measures again.
 *
 * It has no tool that reads but its shell, so with the shell off a phase that does not write leaves
 * it the prompt alone. Its bundled models bring tools of their own - code mode, sub-agents - which
 * no flag takes away; a catalogue in the image does (etc/images/codex-models).
 */
#include "adapter.h"

#include <stdio.h>
#include <string.h>

#include "kit/buf.h"
#include "kit/jsonw.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/*
 * Events as they happen, no configuration but this command line, nothing written to a session. An
 * unknown key is an error, not passed over.
 */
#define CODEX_ARGV                                                                                 \
    CORDON_ADAPTER_PROGRAM("codex"), "exec", "--json", "--color", "never",                         \
        "--skip-git-repo-check", "--ephemeral", "--ignore-user-config", "--ignore-rules",          \
        "--strict-config", "-c", "approval_policy=\"never\"", "-c", "web_search=\"disabled\"",     \
        "-c", "mcp_servers={}", "-c", "project_doc_max_bytes=0", "-c", "analytics.enabled=false",  \
        "-c", "check_for_update_on_startup=false"

#define OFF(feature) "--disable", feature
#define CODEX_OFF                                                                                  \
    OFF("shell_tool"), OFF("unified_exec"), OFF("shell_snapshot"), OFF("apps"), OFF("plugins"),    \
        OFF("remote_plugin"), OFF("multi_agent"), OFF("goals"), OFF("hooks"), OFF("view_image"),   \
        OFF("image_generation"), OFF("browser_use"), OFF("browser_use_external"),                  \
        OFF("computer_use"), OFF("in_app_browser"), OFF("tool_suggest"), OFF("skill_search"),      \
        OFF("sleep_tool"), OFF("skill_mcp_dependency_install"), OFF("workspace_dependencies"),     \
        OFF("unbounded_connection_retries")

#define CATALOGUE(name) "-c", ("model_catalog_json=\"/etc/cordon-agent/models-" name ".json\"")
#define READING         "--sandbox", "read-only", CATALOGUE("reading")
/*
 * Its own sandbox needs namespaces, which a step does not have: the container, its mounts and
 * Landlock are the boundary.
 */
#define WRITING "--sandbox", "danger-full-access", CATALOGUE("writing")

static const cordon_cli_version versions[] = {
    {
        .version = "0.166.0",
        .argv = WORDS(CODEX_ARGV, CODEX_OFF),
        .reading = WORDS(READING),
        .writing = WORDS(WRITING),
        .resume = WORDS("resume"),
        .last = WORDS("-"),
    },
    {
        .version = "0.171.0",
        .argv = WORDS(CODEX_ARGV, CODEX_OFF),
        .reading = WORDS(READING),
        .writing = WORDS(WRITING),
        .resume = WORDS("resume"),
        .last = WORDS("-"),
    },
};

#define BASE_URL "OPENAI_BASE_URL="

/* The definition's own, else the vendor's first host. */
static const char *base_url(const cordon_vendor *vendor)
{
    for (size_t i = 0; i < vendor->env.count; i++) {
        if (strncmp(vendor->env.items[i], BASE_URL, strlen(BASE_URL)) == 0)
            return vendor->env.items[i] + strlen(BASE_URL);
    }
    return NULL;
}

/* Text inside a TOML string in double quotes. */
static bool is_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x21 || (unsigned char)*text > 0x7e || *text == '"' ||
            *text == '\\')
            return false;
    }
    return true;
}

/*
 * A provider of our own, which is the vendor's API over HTTPS and no more. The built-in one tries
 * a WebSocket first and asks other hosts (models, experiments, plugins), with the key in the
 * request.
 */
static int codex_finish(const cordon_vendor *vendor, cordon_fact_list *argv, cordon_err *err)
{
    const char *url = base_url(vendor);

    if (url != NULL && !is_plain(url))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "vendor %s: OPENAI_BASE_URL '%s' is not a plain URL", vendor->name,
                           CORDON_QUOTE(url));
    if (cordon_fact_list_add(argv, "-c", err) != 0 ||
        cordon_fact_list_add(argv, "model_provider=\"cordon\"", err) != 0 ||
        cordon_fact_list_add(argv, "-c", err) != 0)
        return -1;
    return cordon_fact_list_addf(
        argv, err,
        "model_providers.cordon={name=\"OpenAI\",base_url=\"%s%s%s\",env_key=\"CODEX_API_KEY\","
        "wire_api=\"responses\",supports_websockets=false}",
        url != NULL ? url : "https://", url != NULL ? "" : vendor->hosts.items[0],
        url != NULL ? "" : "/v1");
}

/* --- What it says of itself ------------------------------------------------------------------- */

/* Everything else that an item may be is something done: a command, a call, a search. */
static bool is_item_allowed(const cordon_agent *agent, const char *type)
{
    static const char *const words[] = {"agent_message", "reasoning", "error", "todo_list"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(words[i], type) == 0)
            return true;
    }
    return agent->writes && strcmp(type, "file_change") == 0;
}

/* The session that was to go on does. */
static int judge_thread(const cordon_agent *agent, cordon_json event, cordon_refusal *ret_refusal,
                        cordon_err *err)
{
    const char *id = NULL;

    (void)!cordon_json_need_string(event, "thread_id", &id, NULL);
    if (agent->session[0] == '\0' || (id != NULL && strcmp(id, agent->session) == 0))
        return 0;
    return cordon_refuse(ret_refusal, CORDON_REFUSED_AGENT, "agent.session", agent->session, id,
                         err);
}

/*
 * Its events tell no version and no tools, but what is done: "item.*" events carry an item with a
 * type.
 */
static int codex_judge(const cordon_agent *agent, cordon_json event, bool *seen_init,
                       cordon_refusal *ret_refusal, cordon_err *err)
{
    cordon_json_string type = {0};
    cordon_json item = {0};
    const char *kind = NULL;

    (void)!cordon_json_get_string(event, "type", &type, NULL);
    if (type.text == NULL)
        return cordon_refuse(ret_refusal, CORDON_REFUSED_AGENT, "agent.event", "a type", NULL, err);
    if (strcmp(type.text, "thread.started") == 0) {
        *seen_init = true;
        return judge_thread(agent, event, ret_refusal, err);
    }
    if (strncmp(type.text, "item.", 5) != 0)
        return 0;
    if (cordon_json_need_object(event, "item", &item, NULL) == 0)
        (void)!cordon_json_need_string(item, "type", &kind, NULL);
    if (kind != NULL && is_item_allowed(agent, kind))
        return 0;
    return cordon_refuse(ret_refusal, CORDON_REFUSED_AGENT, "agent.item",
                         agent->writes ? "words, or a change of files" : "words", kind, err);
}

/* --- A session that goes on ------------------------------------------------------------------- */

/* "Changed files: add /worktree/a, update /worktree/b": what was in them is not told. */
static int hear_changes(cordon_json item, cordon_talk *talk, cordon_err *err)
{
    cordon_auto(cordon_buf) text = cordon_buf_make(CORDON_ADAPTER_LINE_MAX);
    cordon_json changes = {0};

    if (cordon_json_need_array(item, "changes", &changes, NULL) != 0)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(changes); cordon_json_next(&it);) {
        const char *path = "";
        const char *kind = "";

        (void)!cordon_json_need_string(it.value, "path", &path, NULL);
        (void)!cordon_json_need_string(it.value, "kind", &kind, NULL);
        if (cordon_buf_printf(&text, err, "%s%s %s",
                              text.length > 0 ? ", " : "Changed files: ", kind, path) != 0)
            return -1;
    }
    return text.length > 0 ? cordon_talk_answer(talk, text.data, text.length, err) : 0;
}

static int codex_hear(cordon_json event, cordon_talk *talk, cordon_err *err)
{
    const char *type = NULL;
    const char *text = NULL;
    cordon_json item = {0};

    if (cordon_json_need_string(event, "type", &type, NULL) != 0 ||
        strcmp(type, "item.completed") != 0 ||
        cordon_json_need_object(event, "item", &item, NULL) != 0 ||
        cordon_json_need_string(item, "type", &type, NULL) != 0)
        return 0;
    if (strcmp(type, "file_change") == 0)
        return hear_changes(item, talk, err);
    if (strcmp(type, "agent_message") != 0 ||
        cordon_json_need_string(item, "text", &text, NULL) != 0)
        return 0;
    return cordon_talk_answer(talk, text, strlen(text), err);
}

/* One line of a session around its payload. */
static void begin_line(cordon_jsonw *w, cordon_buf *out, const char *type)
{
    cordon_jsonw_init(w, out);
    cordon_jsonw_begin_object(w, NULL);
    cordon_jsonw_string(w, "timestamp", CORDON_ADAPTER_SESSION_TIME);
    cordon_jsonw_string(w, "type", type);
    cordon_jsonw_begin_object(w, "payload");
}

static int end_line(cordon_jsonw *w, cordon_buf *out, cordon_err *err)
{
    cordon_jsonw_end_object(w);
    cordon_jsonw_end_object(w);
    return cordon_jsonw_finish(w, err) != 0 ? -1 : cordon_buf_append_char(out, '\n', err);
}

/*
 * Whose session it is. SECURITY: sub-agents come with a session that does not say that it has none,
 * whatever the command line disables.
 */
static int write_meta(const cordon_agent *agent, const char *working_dir, cordon_buf *out,
                      cordon_err *err)
{
    cordon_jsonw w;

    begin_line(&w, out, "session_meta");
    cordon_jsonw_string(&w, "id", agent->session);
    cordon_jsonw_string(&w, "timestamp", CORDON_ADAPTER_SESSION_TIME);
    cordon_jsonw_string(&w, "cwd", working_dir);
    cordon_jsonw_string(&w, "originator", "codex_exec");
    cordon_jsonw_string(&w, "cli_version", agent->claimed);
    cordon_jsonw_string(&w, "source", "exec");
    cordon_jsonw_string(&w, "model_provider", "cordon");
    cordon_jsonw_string(&w, "multi_agent_version", "disabled");
    return end_line(&w, out, err);
}

static int write_message(bool asked, const char *text, cordon_buf *out, cordon_err *err)
{
    cordon_jsonw w;

    begin_line(&w, out, "response_item");
    cordon_jsonw_string(&w, "type", "message");
    cordon_jsonw_string(&w, "role", asked ? "user" : "assistant");
    cordon_jsonw_begin_array(&w, "content");
    cordon_jsonw_begin_object(&w, NULL);
    cordon_jsonw_string(&w, "type", asked ? "input_text" : "output_text");
    cordon_jsonw_string(&w, "text", text);
    cordon_jsonw_end_object(&w);
    cordon_jsonw_end_array(&w);
    return end_line(&w, out, err);
}

static int codex_session(const cordon_agent *agent, const cordon_talk *talk,
                         const char *working_dir, cordon_session_file *file, cordon_err *err)
{
    size_t at = 0;
    bool asked = false;
    const char *text = NULL;

    (void)snprintf(file->path, sizeof(file->path),
                   "sessions/2026/01/01/rollout-2026-01-01T00-00-00-%s.jsonl", agent->session);
    if (write_meta(agent, working_dir, &file->bytes, err) != 0)
        return -1;
    while (cordon_talk_next(talk, &at, &asked, &text)) {
        if (write_message(asked, text, &file->bytes, err) != 0)
            return -1;
    }
    return 0;
}

const cordon_adapter_table cordon_adapter_codex = {
    .adapter = CORDON_ADAPTER_CODEX,
    .program = "codex",
    .versions = versions,
    .version_count = sizeof(versions) / sizeof(versions[0]),
    .model_option = "--model",
    .ca_variables = WORDS("CODEX_CA_CERTIFICATE", "SSL_CERT_FILE"),
    .state_variable = "CODEX_HOME",
    .execute = WORDS(CORDON_ADAPTER_PROGRAM("codex")),
    .finish = codex_finish,
    .judge = codex_judge,
    .hear = codex_hear,
    .session = codex_session,
    .needs_init = true,
    .strict_lines = true,
};

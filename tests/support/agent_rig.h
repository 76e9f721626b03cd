/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agent commands for tests: built for a vendor, phase and version; their exact words for all of
 * these; and what their CLIs say of themselves first.
 */
#ifndef CORDON_TESTS_SUPPORT_AGENT_RIG_H
#define CORDON_TESTS_SUPPORT_AGENT_RIG_H

#include "adapter.h"

#include "support/test.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

typedef struct rig {
    cordon_vendor *vendor;
    cordon_agent agent;
    cordon_err err;
} rig;

static inline void rig_clear(rig *r)
{
    cordon_agent_clear(&r->agent);
    cordon_vendor_free(r->vendor);
}
CORDON_DEFINE_AUTO(rig, rig_clear)

static inline int build_wish(rig *r, const char *vendor, const char *phase_name,
                             const cordon_agent_wish *wish)
{
    const cordon_phase *phase = NULL;
    if (cordon_vendor_load(vendor, "/nonexistent", &(cordon_trust){0}, &r->vendor, &r->err) != 0 ||
        cordon_phase_find(phase_name, &phase, &r->err) != 0)
        return -1;
    return cordon_agent_build(r->vendor, phase, wish, &r->agent, &r->err);
}

static inline int build(rig *r, const char *vendor, const char *phase_name, const char *version,
                        bool allow_unknown, const char *model)
{
    return build_wish(
        r, vendor, phase_name,
        &(cordon_agent_wish){.version = version, .allow_unknown = allow_unknown, .model = model});
}

static inline int build_resumed(rig *r, const char *vendor, const char *phase_name,
                                const char *version)
{
    return build_wish(r, vendor, phase_name,
                      &(cordon_agent_wish){.version = version, .resume = true});
}

/* All words in one line, each in <>, so that an empty one shows. */
static inline const char *joined(const cordon_fact_list *list, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list->count && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "<%s>", list->items[i]);
    return text;
}

#define CLAUDE                                                                                     \
    "</usr/local/bin/claude><--print><--output-format><stream-json><--verbose>"                    \
    "<--strict-mcp-config><--disable-slash-commands><--no-session-persistence>"                    \
    "<--setting-sources><><--settings><{\"disableAllHooks\":true}>"
#define CLAUDE_READS  "<--tools><Read,Grep,Glob><--permission-mode><dontAsk>"
#define CLAUDE_WRITES "<--tools><Read,Grep,Glob,Edit,Write><--permission-mode><acceptEdits>"
#define RESTRICTED    "<--restricted><--permission-prompts><none>"

#define OFF(feature) "<--disable><" feature ">"
#define CODEX                                                                                      \
    "</usr/local/bin/codex><exec><--json><--color><never><--skip-git-repo-check><--ephemeral>"     \
    "<--ignore-user-config><--ignore-rules><--strict-config><-c><approval_policy=\"never\"><-c>"   \
    "<web_search=\"disabled\"><-c><mcp_servers={}><-c><project_doc_max_bytes=0><-c>"               \
    "<analytics.enabled=false><-c><check_for_update_on_startup=false>" OFF("shell_tool")           \
        OFF("unified_exec") OFF("shell_snapshot") OFF("apps") OFF("plugins") OFF("remote_plugin")  \
            OFF("multi_agent") OFF("goals") OFF("hooks") OFF("view_image") OFF("image_generation") \
                OFF("browser_use") OFF("browser_use_external") OFF("computer_use")                 \
                    OFF("in_app_browser") OFF("tool_suggest") OFF("skill_search")                  \
                        OFF("sleep_tool") OFF("skill_mcp_dependency_install")                      \
                            OFF("workspace_dependencies") OFF("unbounded_connection_retries")
#define CODEX_READS                                                                                \
    "<--sandbox><read-only><-c>"                                                                   \
    "<model_catalog_json=\"/etc/cordon-agent/models-reading.json\">"
#define CODEX_WRITES                                                                               \
    "<--sandbox><danger-full-access><-c>"                                                          \
    "<model_catalog_json=\"/etc/cordon-agent/models-writing.json\">"
#define CODEX_LAST                                                                                 \
    "<-c><model_provider=\"cordon\"><-c><model_providers.cordon={name=\"OpenAI\","                 \
    "base_url=\"https://api.openai.com/v1\",env_key=\"CODEX_API_KEY\",wire_api=\"responses\","     \
    "supports_websockets=false}><->"

static const struct {
    const char *vendor;
    const char *version;
    const char *reads;
    const char *writes;
} words[] = {
    {"claude", "2.1.197", CLAUDE CLAUDE_READS, CLAUDE CLAUDE_WRITES},
    {"claude", "2.1.332", CLAUDE CLAUDE_READS RESTRICTED, CLAUDE CLAUDE_WRITES RESTRICTED},
    {"codex", "0.166.0", CODEX CODEX_READS CODEX_LAST, CODEX CODEX_WRITES CODEX_LAST},
    {"codex", "0.171.0", CODEX CODEX_READS CODEX_LAST, CODEX CODEX_WRITES CODEX_LAST},
};

static const struct {
    const char *name;
    bool writes;
} phases[] = {
    {"planning", false}, {"questions", false}, {"review", false}, {"execute", true}, {"fix", true},
};

static inline int build_own(rig *r, const char *argv, const char *model)
{
    char text[512];
    const cordon_phase *phase = NULL;
    (void)snprintf(
        text, sizeof text,
        "name = \"own\"; adapter = \"claude\"; hosts = [ \"a.example\" ]; argv = [ %s ];\n", argv);
    if (cordon_vendor_parse("/v/own.conf", text, strlen(text), &(cordon_trust){0}, &r->vendor,
                            &r->err) != 0 ||
        cordon_phase_find("review", &phase, &r->err) != 0)
        return -1;
    return cordon_agent_build(r->vendor, phase, &(cordon_agent_wish){.model = model}, &r->agent,
                              &r->err);
}

#define INIT(tools, servers, mode, commands, skills, plugins, version)                             \
    "{\"type\":\"system\",\"subtype\":\"init\",\"tools\":[" tools "],\"mcp_servers\":[" servers    \
    "],\"permissionMode\":\"" mode "\",\"slash_commands\":[" commands "],\"skills\":[" skills      \
    "],\"plugins\":[" plugins "],\"claude_code_version\":\"" version "\"}\n"
#define READS "\"Read\",\"Grep\",\"Glob\""
#define GOOD  INIT(READS, "", "dontAsk", "", "", "", "2.1.332")

#define THREAD "{\"type\":\"thread.started\",\"thread_id\":\"1\"}\n"

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in, and runs of agents against it; see vendor.h. */
#include "vendor.h"

#include <stdlib.h>
#include <unistd.h>

#define PORT      8443
#define LINES_MAX (64U << 20)
#define LINE_MAX_ (16U << 20)
#define RUN_CHARS 4096

/* --- Images ----------------------------------------------------------------------------------- */

#define ARMED "armed-"

/* "claude 2.1.332 sha256:..." */
static void read_agent(char *line, agent *ret_agent)
{
    char *rest = line;
    (void)snprintf(ret_agent->cli, sizeof ret_agent->cli, "%s", strsep(&rest, " "));
    (void)snprintf(ret_agent->version, sizeof ret_agent->version, "%s",
                   rest ? strsep(&rest, " ") : "");
    (void)snprintf(ret_agent->image, sizeof ret_agent->image, "%s",
                   rest ? strsep(&rest, "\n") : "");
}

static size_t read_agents(bool armed, agent agents[AGENTS_MAX])
{
    char path[256];
    char line[160];
    size_t count = 0;
    (void)snprintf(path, sizeof path, "%s/agents.%s", real_variable("CORDON_TEST_STATE"),
                   real.word);
    FILE *file = fopen(path, "re");
    TEST_RECORDF(file != NULL, "%s is missing: tests/vendor/images makes it", path);
    while (file && count < AGENTS_MAX && fgets(line, sizeof line, file)) {
        bool has = strncmp(line, ARMED, strlen(ARMED)) == 0;
        if (has == armed)
            read_agent(armed ? line + strlen(ARMED) : line, &agents[count++]);
    }
    if (file)
        (void)fclose(file);
    CHECK(count > 0);
    return count;
}

size_t agents_of_engine(agent agents[AGENTS_MAX])
{
    return read_agents(false, agents);
}

bool agent_find(const char *cli, bool armed, agent *ret_agent)
{
    agent agents[AGENTS_MAX];
    size_t count = read_agents(armed, agents);
    for (size_t i = count; i-- > 0;) {
        if (strcmp(agents[i].cli, cli) == 0) {
            *ret_agent = agents[i];
            return true;
        }
    }
    return TEST_RECORDF(false, "no image of %s", cli);
}

/* --- The stand-in ----------------------------------------------------------------------------- */

static const char *standin_path(const char *name)
{
    char relative[64];
    (void)snprintf(relative, sizeof relative, "standin/%s", name);
    return real_path(relative);
}

/* An authority, and the certificate that it gives to all hosts of the built-in vendors. */
static bool make_certificates(void)
{
    static const char script[] =
        "set -e; cd \"$1\"; new='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'\n"
        "openssl req -x509 $new -keyout ca.key -out ca.pem -days 2 -subj /CN=standin-authority"
        " -addext keyUsage=critical,keyCertSign\n"
        "openssl req $new -keyout key.pem -out leaf.csr -subj /CN=standin\n"
        "printf 'subjectAltName=DNS:api.anthropic.com,DNS:api.openai.com,DNS:chatgpt.com\\n"
        "basicConstraints=CA:FALSE\\nextendedKeyUsage=serverAuth\\n' >leaf.ext\n"
        "openssl x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out cert.pem"
        " -days 2 -extfile leaf.ext\n";
    cordon_auto(child) shell = {.out_fd = -1, .err_fd = -1};
    const child_spec spec = {.argv = WORDS("sh", "-c", script, "sh", real_path("standin"))};
    if (!child_start(&spec, &shell) || !CHECK(child_finish(&shell, REAL_PATIENCE_MS)))
        return false;
    return TEST_RECORDF(shell.status == 0, "openssl: %.300s", cordon_buf_text(&shell.err));
}

static const struct {
    const char *name;
    const char *adapter;
    const char *hosts[3];
    const char *key;
    const char *argv; /* of the configuration; "" for the adapter's own */
} definitions[] = {
    {"t-claude", "claude", {"api.anthropic.com"}, "ANTHROPIC_API_KEY", ""},
    {"t-codex", "codex", {"api.openai.com", "chatgpt.com"}, "CODEX_API_KEY", ""},
    {"naked-claude",
     "claude",
     {"api.anthropic.com"},
     "ANTHROPIC_API_KEY",
     "argv = [ \"/usr/local/bin/claude\", \"-p\", \"--output-format\", \"stream-json\", "
     "\"--verbose\", \"--dangerously-skip-permissions\" ];"},
    {"naked-codex",
     "codex",
     {"api.openai.com", "chatgpt.com"},
     "CODEX_API_KEY",
     "argv = [ \"/usr/local/bin/codex\", \"exec\", \"--json\", \"--skip-git-repo-check\", "
     "\"--dangerously-bypass-approvals-and-sandbox\", \"--dangerously-bypass-hook-trust\", "
     "\"-m\", \"gpt-5.5\", \"-c\", "
     "\"model_provider=\\\"plain\\\"\", \"-c\", "
     "\"model_providers.plain={name=\\\"x\\\",base_url=\\\"https://api.openai.com/v1\\\","
     "env_key=\\\"CODEX_API_KEY\\\",wire_api=\\\"responses\\\",supports_websockets=false}\", "
     "\"-\" ];"},
};

static bool write_definition(size_t index)
{
    char name[64];
    cordon_auto(cordon_buf) text = cordon_buf_make(8192);
    const char *address = real_variable("CORDON_TEST_UPSTREAM_ADDR");
    bool ok = cordon_buf_printf(&text, NULL,
                                "name = \"%s\"; adapter = \"%s\"; ca_file = \"%s\";\n"
                                "env = ( \"%s=" STANDIN_KEY "\" ); %s\n",
                                definitions[index].name, definitions[index].adapter,
                                standin_path("ca.pem"), definitions[index].key,
                                definitions[index].argv) == 0;
    for (const char *const *host = definitions[index].hosts; ok && *host; host++)
        ok = cordon_buf_printf(&text, NULL, "%s\"%s\"",
                               host == definitions[index].hosts ? "hosts = [ " : ", ", *host) == 0;
    ok = ok && cordon_buf_append_text(&text, " ];\nupstream = ( ", NULL) == 0;
    for (const char *const *host = definitions[index].hosts; ok && *host; host++)
        ok = cordon_buf_printf(&text, NULL, "%s{ host = \"%s\"; address = \"%s:%d\"; }",
                               host == definitions[index].hosts ? "" : ", ", *host, address,
                               PORT) == 0;
    ok = ok && cordon_buf_append_text(&text, " );\n", NULL) == 0;
    (void)snprintf(name, sizeof name, "vendors.d/%s.conf", definitions[index].name);
    return CHECK(ok) && real_file(name, cordon_buf_text(&text));
}

bool standin_start(standin *ret_standin)
{
    char address[64];
    *ret_standin = (standin){.server = {.out_fd = -1, .err_fd = -1}};
    if (!CHECK(mkdir(real_path("standin"), 0755) == 0 || errno == EEXIST) || !make_certificates())
        return false;
    for (size_t i = 0; i < sizeof definitions / sizeof definitions[0]; i++) {
        if (!write_definition(i))
            return false;
    }
    (void)snprintf(address, sizeof address, "%s:%d", real_variable("CORDON_TEST_UPSTREAM_ADDR"),
                   PORT);
    const child_spec spec = {
        .argv = WORDS(CORDON_STANDIN, real_path("standin"), address),
        .netns = real_variable("CORDON_TEST_NETNS"),
    };
    return standin_says("{}") && child_start(&spec, &ret_standin->server) &&
           TEST_RECORDF(child_hear(&ret_standin->server, "ready", REAL_PATIENCE_MS),
                        "the stand-in: %.300s", cordon_buf_text(&ret_standin->server.err));
}

void standin_clear(standin *s)
{
    child_clear(&s->server);
}

bool standin_says(const char *scenario)
{
    cordon_autofree char *text = strdup(scenario);
    if (!CHECK(text != NULL))
        return false;
    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    return real_file("standin/requests", "") && real_file("standin/scenario", text);
}

bool standin_heard(cordon_buf *ret_lines)
{
    char piece[65536];
    size_t got;
    *ret_lines = cordon_buf_make(LINES_MAX);
    FILE *file = fopen(standin_path("requests"), "re");
    bool ok = CHECK(file != NULL);
    while (ok && (got = fread(piece, 1, sizeof piece, file)) > 0)
        ok = CHECK(cordon_buf_append(ret_lines, piece, got, NULL) == 0);
    if (file)
        (void)fclose(file);
    return ok;
}

/* --- What was asked --------------------------------------------------------------------------- */

static bool add_name(cordon_fact_list *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i], name) == 0)
            return true;
    }
    return CHECK(cordon_fact_list_add(names, name, NULL) == 0);
}

/* A tool's own name, else what kind of hosted tool it is. Tools in a namespace stand inside it. */
static void add_tools(cordon_json list, cordon_fact_list *names)
{
    for (cordon_json_iter it = cordon_json_iterate(list); cordon_json_next(&it);) {
        cordon_json_place inner = {0};
        const char *name = NULL;
        if (cordon_json_get_array(it.value, "tools", &inner, NULL) == 0 &&
            inner.has == CORDON_JSON_PRESENT)
            add_tools(inner.value, names);
        else if (cordon_json_need_string(it.value, "name", &name, NULL) == 0 ||
                 cordon_json_need_string(it.value, "type", &name, NULL) == 0)
            (void)add_name(names, name);
    }
}

/* Claude, and older models of Codex: in "tools"; newer ones: in an item of the input. */
static void add_offers(cordon_json request, cordon_fact_list *names)
{
    cordon_json body = {0};
    cordon_json list = {0};
    if (cordon_json_need_object(request, "body", &body, NULL) != 0)
        return;
    if (cordon_json_need_array(body, "tools", &list, NULL) == 0)
        add_tools(list, names);
    if (cordon_json_need_array(body, "input", &list, NULL) != 0)
        return;
    for (cordon_json_iter it = cordon_json_iterate(list); cordon_json_next(&it);) {
        const char *type = NULL;
        cordon_json tools = {0};
        if (cordon_json_need_string(it.value, "type", &type, NULL) == 0 &&
            strcmp(type, "additional_tools") == 0 &&
            cordon_json_need_array(it.value, "tools", &tools, NULL) == 0)
            add_tools(tools, names);
    }
}

static void add_host(cordon_json request, cordon_fact_list *names)
{
    const char *name = "none";
    (void)!cordon_json_need_string(request, "host", &name, NULL);
    (void)add_name(names, name);
    (void)!cordon_json_need_string(request, "server_name", &name, NULL);
    (void)add_name(names, name);
}

static void add_path(cordon_json request, cordon_fact_list *names)
{
    char text[512];
    const char *method = "";
    const char *path = "";
    (void)!cordon_json_need_string(request, "method", &method, NULL);
    (void)!cordon_json_need_string(request, "path", &path, NULL);
    (void)snprintf(text, sizeof text, "%s %.*s", method, (int)strcspn(path, "?"), path);
    (void)add_name(names, text);
}

/* What a connection that brought no request left: the proxy's own, or one that was cut. */
static bool is_request(cordon_json line)
{
    cordon_json_string method = {0};
    return cordon_json_get_string(line, "method", &method, NULL) == 0 &&
           method.has == CORDON_JSON_PRESENT;
}

static bool gather(void (*add)(cordon_json request, cordon_fact_list *names),
                   cordon_fact_list *ret_names)
{
    cordon_auto(cordon_buf) lines = cordon_buf_make(1);
    if (!standin_heard(&lines))
        return false;
    const char *at = cordon_buf_text(&lines);
    while (*at) {
        size_t length = strcspn(at, "\n");
        cordon_auto_ptr(cordon_json_doc) doc = NULL;
        cordon_err err = CORDON_ERR_INIT;
        if (!CHECK_OK(cordon_json_parse(at, length, LINE_MAX_, 0, &doc, &err), err))
            return false;
        if (is_request(cordon_json_root(doc)))
            add(cordon_json_root(doc), ret_names);
        at += length + (at[length] == '\n');
    }
    cordon_fact_list_sort(ret_names);
    return true;
}

bool standin_offered(cordon_fact_list *ret_names)
{
    return gather(add_offers, ret_names);
}

bool standin_hosts(cordon_fact_list *ret_hosts)
{
    return gather(add_host, ret_hosts);
}

bool standin_paths(cordon_fact_list *ret_paths)
{
    return gather(add_path, ret_paths);
}

const char *names_text(const cordon_fact_list *names)
{
    static char texts[4][1024];
    static unsigned next;
    char *text = texts[next++ % 4];
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < names->count && at < sizeof texts[0]; i++)
        at += (size_t)snprintf(text + at, sizeof texts[0] - at, "%s%s", i ? " " : "",
                               names->items[i]);
    return text;
}

/* --- Running ---------------------------------------------------------------------------------- */

bool agent_run(const agent_call *call_, outcome *ret_outcome)
{
    char settings[RUN_CHARS];
    const char *worktree = call_->worktree;
    (void)snprintf(settings, sizeof settings, "agents: { %s = \"%s\"; };\n%s", call_->what->cli,
                   call_->what->version, call_->settings ? call_->settings : "");
    const char *const options[] = {
        "--vendor",
        call_->vendor,
        "--phase",
        call_->phase,
        "--prompt",
        call_->prompt ? call_->prompt : "do it",
        worktree ? "--worktree" : NULL,
        worktree,
        NULL,
    };
    return cordon_call(&(call){.options = options,
                               .image = call_->what->image,
                               .limits = call_->limits,
                               .settings = settings},
                       ret_outcome);
}

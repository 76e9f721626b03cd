/* SPDX-License-Identifier: Apache-2.0 */
/* Building an agent's command from its CLI's table, and reading its events; see adapter.h. */
#include "adapter.h"

#include <stdio.h>
#include <string.h>

#include "kit/random.h"

#define MODEL_MAX 128

static const cordon_adapter_table *const tables[] = {&cordon_adapter_claude, &cordon_adapter_codex};

const cordon_adapter_table *cordon_adapter_find(int adapter)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        if (tables[i]->adapter == adapter)
            return tables[i];
    }
    return NULL;
}

void cordon_agent_clear(cordon_agent *agent)
{
    cordon_fact_list_clear(&agent->argv);
    cordon_fact_list_clear(&agent->environment);
    *agent = (cordon_agent){0};
}

/* --- The version --- */

/* "2.1.197, 2.1.332" */
static int known_versions(const cordon_adapter_table *table, cordon_buf *out, cordon_err *err)
{
    for (size_t i = 0; i < table->version_count; i++) {
        if (cordon_buf_printf(out, err, "%s%s", i > 0 ? ", " : "", table->versions[i].version) != 0)
            return -1;
    }
    return 0;
}

static int refuse_version(const cordon_adapter_table *table, const char *version, cordon_err *err)
{
    cordon_auto(cordon_buf) known = cordon_buf_make(1024);

    if (known_versions(table, &known, err) != 0)
        return -1;
    if (version == NULL)
        cordon_err_set(err, CORDON_ERR_REFUSED, 0,
                       "which version of %s is in the image is not said; set agents.%s in the "
                       "configuration (known are %s)",
                       table->program, table->program, cordon_buf_text(&known));
    else
        cordon_err_set(err, CORDON_ERR_REFUSED, 0,
                       "%s %s is not a version that Cordon knows (%s); pin one of these, or accept "
                       "it with allow_unknown_agent",
                       table->program, CORDON_QUOTE(version), cordon_buf_text(&known));
    cordon_refuse_as(err, CORDON_REFUSED_AGENT);
    return -1;
}

static int agent_version(cordon_agent *agent, const char *version, bool allow_unknown,
                         cordon_err *err)
{
    const cordon_adapter_table *table = agent->table;

    for (size_t i = 0; version != NULL && i < table->version_count; i++) {
        if (strcmp(table->versions[i].version, version) == 0) {
            agent->version = &table->versions[i];
            agent->version_known = true;
        }
    }
    if (agent->version == NULL && (version == NULL || !allow_unknown))
        return refuse_version(table, version, err);
    if (agent->version == NULL)
        agent->version = &table->versions[table->version_count - 1];
    (void)snprintf(agent->claimed, sizeof(agent->claimed), "%s", version);
    return 0;
}

/* --- Words --- */

static int add_all(cordon_fact_list *list, const char *const *words, cordon_err *err)
{
    for (; words != NULL && *words != NULL; words++) {
        if (cordon_fact_list_add(list, *words, err) != 0)
            return -1;
    }
    return 0;
}

/* A name as vendors give them; nothing that a CLI could take for an option. */
static int check_model(const char *model, cordon_err *err)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:/_-[]@";
    size_t length = strlen(model);

    if (length == 0 || length > MODEL_MAX || model[0] == '-' || strspn(model, allowed) != length)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "'%s' is not the name of a model (letters, digits and .:/_-[]@)",
                           CORDON_QUOTE(model));
    return 0;
}

/* The fence lets the adapter's program run and nothing else, so another could not even start. */
static int vendor_argv(cordon_agent *agent, const cordon_vendor *vendor, const char *model,
                       cordon_err *err)
{
    const char *program = agent->table->execute[0];

    if (strcmp(vendor->argv.items[0], program) != 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "vendor %s: argv must begin with %s",
                           vendor->name, program);
    if (model != NULL)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "vendor %s has a command line of its own; name the model there",
                           vendor->name);
    for (size_t i = 0; i < vendor->argv.count; i++) {
        if (cordon_fact_list_add(&agent->argv, vendor->argv.items[i], err) != 0)
            return -1;
    }
    return 0;
}

/* --- A session that goes on ------------------------------------------------------------------- */

/* RFC 9562, section 5.4: version 4, which is random. */
static int make_session_id(char ret_id[CORDON_ADAPTER_SESSION_ID], cordon_err *err)
{
    char digits[33];

    if (cordon_random_hex(digits, 32, err) != 0)
        return -1;
    (void)snprintf(ret_id, CORDON_ADAPTER_SESSION_ID, "%.8s-%.4s-4%.3s-8%.3s-%.12s", digits,
                   digits + 8, digits + 13, digits + 17, digits + 20);
    return 0;
}

static int refuse_resume(const cordon_agent *agent, const cordon_vendor *vendor, cordon_err *err)
{
    if (agent->version == NULL)
        cordon_err_set(err, CORDON_ERR_REFUSED, 0,
                       "vendor %s has a command line of its own, which Cordon cannot make resume a "
                       "session; leave resume out",
                       vendor->name);
    else
        cordon_err_set(err, CORDON_ERR_REFUSED, 0,
                       "how %s %s resumes a session is not known to Cordon; leave resume out, or "
                       "pin a version that Cordon knows",
                       agent->table->program, CORDON_QUOTE(agent->claimed));
    cordon_refuse_as(err, CORDON_REFUSED_AGENT);
    return -1;
}

static int agent_resume(cordon_agent *agent, const cordon_vendor *vendor, cordon_err *err)
{
    if (agent->version == NULL || !agent->version_known || agent->version->resume == NULL)
        return refuse_resume(agent, vendor, err);
    return make_session_id(agent->session, err);
}

static int add_session(cordon_agent *agent, cordon_err *err)
{
    if (agent->session[0] == '\0')
        return 0;
    if (add_all(&agent->argv, agent->version->resume, err) != 0)
        return -1;
    return cordon_fact_list_add(&agent->argv, agent->session, err);
}

static int agent_argv(cordon_agent *agent, const cordon_vendor *vendor, const char *model,
                      cordon_err *err)
{
    const cordon_cli_version *words = agent->version;

    if (add_all(&agent->argv, words->argv, err) != 0 ||
        add_all(&agent->argv, agent->writes ? words->writing : words->reading, err) != 0)
        return -1;
    if (model != NULL &&
        (check_model(model, err) != 0 ||
         cordon_fact_list_add(&agent->argv, agent->table->model_option, err) != 0 ||
         cordon_fact_list_add(&agent->argv, model, err) != 0))
        return -1;
    if (agent->table->finish != NULL && agent->table->finish(vendor, &agent->argv, err) != 0)
        return -1;
    if (add_session(agent, err) != 0)
        return -1;
    return add_all(&agent->argv, words->last, err);
}

bool cordon_agent_sets(const cordon_fact_list *environment, const char *item)
{
    size_t length = strcspn(item, "=") + 1;

    for (size_t i = 0; i < environment->count; i++) {
        if (strncmp(environment->items[i], item, length) == 0)
            return true;
    }
    return false;
}

/* Which of two values counts would be the runtime's choice; so there are no two. */
static int check_vendor_environment(const cordon_agent *agent, const cordon_vendor *vendor,
                                    cordon_err *err)
{
    for (size_t i = 0; i < vendor->env.count; i++) {
        const char *item = vendor->env.items[i];

        if (cordon_agent_sets(&agent->environment, item) || cordon_agent_sets_state(agent, item))
            return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                               "vendor %s: env sets %.*s, which Cordon sets for %s itself; leave "
                               "it out",
                               vendor->name, (int)strcspn(item, "="), item, agent->table->program);
    }
    return 0;
}

static int agent_environment(cordon_agent *agent, const cordon_vendor *vendor, cordon_err *err)
{
    const char *const *name = vendor->ca_pem != NULL ? agent->table->ca_variables : NULL;

    if (agent->version != NULL &&
        add_all(&agent->environment, agent->version->environment, err) != 0)
        return -1;
    for (; name != NULL && *name != NULL; name++) {
        if (cordon_fact_list_addf(&agent->environment, err, "%s=" CORDON_ADAPTER_CA_FILE, *name) !=
            0)
            return -1;
    }
    return check_vendor_environment(agent, vendor, err);
}

/* The whole name, whether it is set always or among steps alone. */
static bool is_set_by_cordon(const cordon_agent *agent, const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < agent->environment.count; i++) {
        const char *item = agent->environment.items[i];

        if (strncmp(item, name, length) == 0 && item[length] == '=')
            return true;
    }
    return agent->version != NULL && strcmp(agent->table->state_variable, name) == 0;
}

int cordon_agent_check_secret(const cordon_agent *agent, const char *name, cordon_err *err)
{
    if (!is_set_by_cordon(agent, name))
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                       "secret %s: Cordon sets that variable for %s itself; give the secret the "
                       "name that the agent reads it from",
                       name, agent->table->program);
}

int cordon_agent_build(const cordon_vendor *vendor, const cordon_phase *phase,
                       const cordon_agent_wish *wish, cordon_agent *ret_agent, cordon_err *err)
{
    cordon_auto(cordon_agent) agent = {
        .table = cordon_adapter_find(vendor->adapter),
        .writes = phase->writes,
    };

    if (agent.table == NULL)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "vendor %s has no adapter", vendor->name);
    if (vendor->argv.count == 0 &&
        agent_version(&agent, wish->version, wish->allow_unknown, err) != 0)
        return -1;
    if (wish->resume && agent_resume(&agent, vendor, err) != 0)
        return -1;
    if ((agent.version != NULL ? agent_argv(&agent, vendor, wish->model, err)
                               : vendor_argv(&agent, vendor, wish->model, err)) != 0 ||
        agent_environment(&agent, vendor, err) != 0)
        return -1;
    *ret_agent = agent;
    agent = (cordon_agent){0};
    return 0;
}

/* --- Comparing sets of names --- */

static bool is_wanted(const char *const *wanted, const char *name)
{
    for (; wanted != NULL && *wanted != NULL; wanted++) {
        if (strcmp(*wanted, name) == 0)
            return true;
    }
    return false;
}

static bool is_told(cordon_json list, const char *name)
{
    for (cordon_json_iter it = cordon_json_iterate(list); cordon_json_next(&it);) {
        cordon_json_string text = {0};

        if (cordon_json_as_string(it.value, &text, NULL) == 0 && text.has == CORDON_JSON_PRESENT &&
            strcmp(text.text, name) == 0)
            return true;
    }
    return false;
}

/* "Read Grep", for a refusal; "none" for an empty list. */
static void join(const char *const *wanted, char *ret_text, size_t size)
{
    size_t at = 0;

    (void)snprintf(ret_text, size, "none");
    for (; wanted != NULL && *wanted != NULL && at < size; wanted++)
        at += (size_t)snprintf(ret_text + at, size - at, "%s%s", at > 0 ? " " : "", *wanted);
}

int cordon_agent_compare(cordon_json list, const char *fact, const char *const *wanted,
                         cordon_refusal *ret_refusal, cordon_err *err)
{
    char expected[256];

    join(wanted, expected, sizeof(expected));
    for (cordon_json_iter it = cordon_json_iterate(list); cordon_json_next(&it);) {
        cordon_json_string text = {0};

        if (cordon_json_as_string(it.value, &text, NULL) != 0 || text.has != CORDON_JSON_PRESENT)
            return cordon_refuse(ret_refusal, CORDON_REFUSED_AGENT, fact, expected,
                                 "something that is no name", err);
        if (!is_wanted(wanted, text.text))
            return cordon_refuse(ret_refusal, CORDON_REFUSED_AGENT, fact, expected, text.text, err);
    }
    for (; wanted != NULL && *wanted != NULL; wanted++) {
        if (!is_told(list, *wanted))
            return cordon_refuse(ret_refusal, CORDON_REFUSED_AGENT, fact, *wanted, "missing", err);
    }
    return 0;
}

/* --- Reading along --- */

void cordon_agent_watch_init(cordon_agent_watch *ret_watch, const cordon_agent *agent,
                             cordon_talk *talk)
{
    *ret_watch = (cordon_agent_watch){
        .agent = agent != NULL && agent->version != NULL ? agent : NULL,
        .talk = talk,
        .line = cordon_buf_make(CORDON_ADAPTER_LINE_MAX),
    };
}

void cordon_agent_watch_clear(cordon_agent_watch *watch)
{
    cordon_buf_clear(&watch->line);
}

/* What is no JSON object is no event: a CLI's warning, say. It is the caller's to read. */
static int watch_unread(const cordon_agent_watch *watch, cordon_refusal *ret_refusal,
                        cordon_err *err)
{
    if (!watch->agent->table->strict_lines || (!watch->too_long && watch->line.length == 0))
        return 0;
    return cordon_refuse(ret_refusal, CORDON_REFUSED_AGENT, "agent.event", "a JSON object a line",
                         watch->too_long ? "a line beyond the limit" : "another line", err);
}

static int watch_line(cordon_agent_watch *watch, cordon_refusal *ret_refusal, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err ignored = CORDON_ERR_INIT;

    if (watch->too_long ||
        cordon_json_parse(watch->line.data, watch->line.length, CORDON_ADAPTER_LINE_MAX, 0, &doc,
                          &ignored) != 0 ||
        cordon_json_type_of(cordon_json_root(doc)) != CORDON_JSON_TYPE_OBJECT)
        return watch_unread(watch, ret_refusal, err);
    if (watch->agent->table->judge(watch->agent, cordon_json_root(doc), &watch->seen_init,
                                   ret_refusal, err) != 0)
        return -1;
    if (watch->talk == NULL)
        return 0;
    return watch->agent->table->hear(cordon_json_root(doc), watch->talk, err);
}

static int watch_keep(cordon_agent_watch *watch, const char *bytes, size_t length, cordon_err *err)
{
    if (watch->too_long || watch->line.length + length > CORDON_ADAPTER_LINE_MAX) {
        watch->too_long = true;
        return 0;
    }
    return cordon_buf_append(&watch->line, bytes, length, err);
}

int cordon_agent_watch_feed(cordon_agent_watch *watch, const void *bytes, size_t length,
                            cordon_refusal *ret_refusal, cordon_err *err)
{
    const char *at = bytes;
    const char *end = at + length;

    while (watch->agent != NULL && at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline != NULL ? newline : end;

        if (watch_keep(watch, at, (size_t)(stop - at), err) != 0)
            return -1;
        if (newline == NULL)
            return 0;
        if (watch_line(watch, ret_refusal, err) != 0)
            return -1;
        cordon_buf_reset(&watch->line);
        watch->too_long = false;
        at = newline + 1;
    }
    return 0;
}

int cordon_agent_watch_finish(cordon_agent_watch *watch, int exit_code, cordon_refusal *ret_refusal,
                              cordon_err *err)
{
    if (watch->agent == NULL)
        return 0;
    if (watch->line.length > 0 && watch_line(watch, ret_refusal, err) != 0)
        return -1;
    if (exit_code == 0 && watch->agent->table->needs_init && !watch->seen_init)
        return cordon_refuse(ret_refusal, CORDON_REFUSED_AGENT, "agent.init",
                             "what the CLI offers, in its first event", "no such event", err);
    return 0;
}

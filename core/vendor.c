/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in vendors, and definitions from vendors.d.
 */
#include "vendor.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_read.h"
#include "kit/buf.h"
#include "kit/near.h"
#include "vendor_check.h"

#define SUFFIX ".conf"

/* --- Built-in ------------------------------------------------------------------------------ */

typedef struct built_in {
    const char *name;
    cordon_adapter adapter;
    const char *hosts[3]; /* NULL ends */
} built_in;

/*
 * SECURITY: what each CLI needs while it runs, as observed; not the hosts of logging in, of
 * updates or of telemetry.
 */
static const built_in built_ins[] = {
    {"claude", CORDON_ADAPTER_CLAUDE, {"api.anthropic.com", NULL, NULL}},
    {"codex", CORDON_ADAPTER_CODEX, {"api.openai.com", "chatgpt.com", NULL}},
};

static const built_in *find_built_in(const char *name)
{
    for (size_t i = 0; i < sizeof built_ins / sizeof built_ins[0]; i++)
        if (strcmp(built_ins[i].name, name) == 0)
            return &built_ins[i];
    return NULL;
}

const char *cordon_adapter_name(int adapter)
{
    for (size_t i = 0; i < sizeof built_ins / sizeof built_ins[0]; i++)
        if ((int)built_ins[i].adapter == adapter)
            return built_ins[i].name;
    return "unknown";
}

static int new_vendor(cordon_vendor **ret_vendor, cordon_err *err)
{
    cordon_vendor *vendor = calloc(1, sizeof *vendor);
    if (!vendor)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    *ret_vendor = vendor;
    return 0;
}

static int load_built_in(const built_in *from, cordon_vendor **ret_vendor, cordon_err *err)
{
    cordon_auto_ptr(cordon_vendor) vendor = NULL;
    if (new_vendor(&vendor, err) < 0 || cordon_text_copy(from->name, &vendor->name, err) < 0)
        return -1;
    vendor->adapter = (int)from->adapter;
    vendor->built_in = true;
    for (const char *const *host = from->hosts; *host; host++)
        if (cordon_text_list_add(&vendor->hosts, *host, err) < 0)
            return -1;
    *ret_vendor = CORDON_TAKE(vendor);
    return 0;
}

/* --- The schema of NAME.conf --------------------------------------------------------------- */

static const cordon_choice adapters[] = {
    {"claude", CORDON_ADAPTER_CLAUDE}, {"codex", CORDON_ADAPTER_CODEX}, {NULL, 0}};

#define FORM_HOST    "an exact host name, such as \"llm.corp.example\""
#define FORM_ADDRESS "\"10.0.8.4:8443\" or \"[fd00::1]:8443\""

static const cordon_key upstream_keys[] = {
    {.name = "host",
     .type = CORDON_KEY_TEXT,
     .flags = CORDON_KEY_REQUIRED | CORDON_KEY_LOWER,
     .offset = offsetof(cordon_upstream, host),
     .min = 0,
     .max = 1024,
     .check = cordon_vendor_check_host,
     .form = FORM_HOST},
    {.name = "address",
     .type = CORDON_KEY_TEXT,
     .flags = CORDON_KEY_REQUIRED,
     .offset = offsetof(cordon_upstream, address),
     .min = 1,
     .max = 64,
     .check = cordon_vendor_check_address,
     .form = FORM_ADDRESS},
};
static const cordon_schema upstream_schema = {
    .keys = upstream_keys, .count = 2, .size = sizeof(cordon_upstream)};

static int check_ca_path(const char *text, cordon_err *err)
{
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" holds control characters",
                               CORDON_QUOTE(text));
    return 0;
}

static const cordon_key vendor_keys[] = {
    {.name = "name",
     .type = CORDON_KEY_TEXT,
     .flags = CORDON_KEY_REQUIRED,
     .offset = offsetof(cordon_vendor, name),
     .min = 1,
     .max = 63,
     .check = cordon_vendor_check_name,
     .form = "the file's own name without \".conf\""},
    {.name = "adapter",
     .type = CORDON_KEY_CHOICE,
     .flags = CORDON_KEY_REQUIRED,
     .offset = offsetof(cordon_vendor, adapter),
     .choices = adapters},
    {.name = "hosts",
     .type = CORDON_KEY_TEXTS,
     .flags = CORDON_KEY_REQUIRED | CORDON_KEY_LOWER,
     .offset = offsetof(cordon_vendor, hosts),
     .min = 0,
     .max = 1024,
     .max_items = CORDON_VENDOR_HOSTS_MAX,
     .check = cordon_vendor_check_host,
     .form = "exact host names, such as [ \"llm.corp.example\" ]"},
    {.name = "upstream",
     .type = CORDON_KEY_ITEMS,
     .offset = offsetof(cordon_vendor, upstream),
     .max_items = CORDON_VENDOR_HOSTS_MAX,
     .sub = &upstream_schema,
     .form = "a list of groups: ( { host = ...; address = ...; } )"},
    {.name = "ca_file",
     .type = CORDON_KEY_TEXT,
     .flags = CORDON_KEY_PATH,
     .offset = offsetof(cordon_vendor, ca_file),
     .min = 1,
     .max = PATH_MAX - 1,
     .check = check_ca_path,
     .form = "the path of a PEM file"},
    {.name = "argv",
     .type = CORDON_KEY_TEXTS,
     .offset = offsetof(cordon_vendor, argv),
     .min = 0,
     .max = 131071,
     .max_items = 256,
     .form = "the agent's whole command line, such as [ \"/usr/local/bin/claude\", \"-p\" ]"},
    {.name = "env",
     .type = CORDON_KEY_TEXTS,
     .offset = offsetof(cordon_vendor, env),
     .min = 1,
     .max = 131071,
     .max_items = 64,
     .check = cordon_vendor_check_env,
     .form = "texts \"NAME=value\""},
};
static const cordon_schema vendor_schema = {.keys = vendor_keys,
                                            .count = sizeof vendor_keys / sizeof vendor_keys[0],
                                            .size = sizeof(cordon_vendor)};

/* --- Rules over several keys --------------------------------------------------------------- */

static int finish_name(const cordon_vendor *vendor, const char *file, cordon_err *err)
{
    const char *slash = strrchr(file, '/');
    const char *base = slash ? slash + 1 : file;
    size_t length = strlen(vendor->name);
    if (find_built_in(vendor->name))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "\"%s\" is built in and cannot be changed; another host set is another "
                           "vendor with another name",
                           vendor->name);
    if (strncmp(base, vendor->name, length) != 0 || strcmp(base + length, SUFFIX) != 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "\"%s\" does not match the file's name; the file must be %s%s",
                           vendor->name, vendor->name, SUFFIX);
    return 0;
}

static int finish_hosts(const cordon_vendor *vendor, char fault[CORDON_FAULT_MAX], cordon_err *err)
{
    const cordon_text_list *hosts = &vendor->hosts;
    if (hosts->count == 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "is empty; name at least one host");
    for (size_t i = 0; i < hosts->count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(hosts->items[i], hosts->items[j]) == 0) {
                (void)snprintf(fault, CORDON_FAULT_MAX, "hosts.[%zu]", i);
                return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is in the list already",
                                   hosts->items[i]);
            }
    return 0;
}

static int finish_upstream(const cordon_vendor *vendor, char fault[CORDON_FAULT_MAX],
                           cordon_err *err)
{
    for (size_t i = 0; i < vendor->upstream.count; i++) {
        const char *host = vendor->upstream.items[i].host;
        (void)snprintf(fault, CORDON_FAULT_MAX, "upstream.[%zu].host", i);
        if (!cordon_text_list_has(&vendor->hosts, host))
            return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                               "\"%s\" is not one of this vendor's hosts; add it there or drop it",
                               host);
        for (size_t j = 0; j < i; j++)
            if (strcmp(vendor->upstream.items[j].host, host) == 0)
                return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" has an address already", host);
    }
    return 0;
}

/* A variable given twice would leave it to the runtime which one counts. */
static int finish_env(const cordon_vendor *vendor, char fault[CORDON_FAULT_MAX], cordon_err *err)
{
    for (size_t i = 0; i < vendor->env.count; i++) {
        size_t length = strcspn(vendor->env.items[i], "=") + 1;
        for (size_t j = 0; j < i; j++) {
            if (strncmp(vendor->env.items[i], vendor->env.items[j], length) != 0)
                continue;
            (void)snprintf(fault, CORDON_FAULT_MAX, "env.[%zu]", i);
            return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%.*s is set a second time", (int)length - 1,
                               vendor->env.items[i]);
        }
    }
    return 0;
}

typedef struct definition {
    const char *file;
    const cordon_trust *trust;
} definition;

static int finish_ca(cordon_vendor *vendor, const cordon_trust *trust, cordon_err *err)
{
    cordon_autofree char *pem = NULL;
    size_t length = 0;
    if (!vendor->ca_file)
        return 0;
    cordon_err why = CORDON_ERR_INIT;
    if (cordon_trust_read(trust, vendor->ca_file, NULL, &pem, &length, &why) < 0)
        return CORDON_FAIL(err, why.code == CORDON_ERR_NOTFOUND ? CORDON_ERR_CONFIG : why.code,
                           "%s", why.message);
    if (strlen(pem) != length || !strstr(pem, "-----BEGIN CERTIFICATE-----"))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s holds no PEM certificate",
                           CORDON_QUOTE(vendor->ca_file));
    vendor->ca_pem = CORDON_TAKE(pem);
    return 0;
}

static int finish_vendor(void *target, void *context, char fault[CORDON_FAULT_MAX], cordon_err *err)
{
    cordon_vendor *vendor = target;
    const definition *from = context;
    (void)snprintf(fault, CORDON_FAULT_MAX, "name");
    if (finish_name(vendor, from->file, err) < 0)
        return -1;
    (void)snprintf(fault, CORDON_FAULT_MAX, "hosts");
    if (finish_hosts(vendor, fault, err) < 0 || finish_upstream(vendor, fault, err) < 0 ||
        finish_env(vendor, fault, err) < 0)
        return -1;
    (void)snprintf(fault, CORDON_FAULT_MAX, "ca_file");
    return finish_ca(vendor, from->trust, err);
}

int cordon_vendor_parse(const char *file, const char *text, size_t length,
                        const cordon_trust *trust, cordon_vendor **ret_vendor, cordon_err *err)
{
    cordon_auto_ptr(cordon_vendor) vendor = NULL;
    definition from = {.file = file, .trust = trust};
    if (new_vendor(&vendor, err) < 0 ||
        cordon_config_read(file, text, length, &vendor_schema, vendor, finish_vendor, &from, err) <
            0 ||
        cordon_text_copy(file, &vendor->file, err) < 0)
        return -1;
    *ret_vendor = CORDON_TAKE(vendor);
    return 0;
}

/* --- Loading by name ----------------------------------------------------------------------- */

/* "unknown vendor ...; known are ...": a folder that cannot be listed adds none. */
static int fail_unknown(const char *name, const char *vendors_dir, const cordon_trust *trust,
                        cordon_err *err)
{
    cordon_auto(cordon_text_list) defined = {0};
    cordon_auto(cordon_buf) known = cordon_buf_make(8192);
    cordon_err ignored = CORDON_ERR_INIT;
    char hint[CORDON_NEAR_HINT_SIZE];
    cordon_near near = {.word = name};
    for (size_t i = 0; i < sizeof built_ins / sizeof built_ins[0]; i++)
        cordon_near_look(&near, built_ins[i].name);
    for (size_t i = 0; i < sizeof built_ins / sizeof built_ins[0]; i++)
        if (cordon_buf_printf(&known, err, "%s%s", i > 0 ? ", " : "", built_ins[i].name) < 0)
            return -1;
    if (cordon_trust_list(trust, vendors_dir, SUFFIX, &defined, &ignored) == 0)
        for (size_t i = 0; i < defined.count && known.length < 200; i++)
            if (cordon_buf_printf(&known, err, ", %.63s", defined.items[i]) < 0)
                return -1;
    return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                       "unknown vendor \"%s\"%s %s; define another in %s/NAME.conf",
                       CORDON_QUOTE(name), cordon_near_hint(&near, "known are", hint),
                       cordon_err_printable((char[300]){0}, 300, known.data, known.length),
                       CORDON_QUOTE(vendors_dir));
}

static int load_definition(const char *name, const char *vendors_dir, const cordon_trust *trust,
                           cordon_vendor **ret_vendor, cordon_err *err)
{
    cordon_autofree char *path = NULL;
    cordon_autofree char *absolute = NULL;
    cordon_autofree char *text = NULL;
    size_t length = 0;
    cordon_err why = CORDON_ERR_INIT;
    if (asprintf(&path, "%s/%s" SUFFIX, vendors_dir, name) < 0) {
        path = NULL;
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    }
    if (cordon_trust_read(trust, path, &absolute, &text, &length, &why) < 0) {
        if (why.code == CORDON_ERR_NOTFOUND)
            return fail_unknown(name, vendors_dir, trust, err);
        return CORDON_FAIL(err, why.code, "vendor \"%s\": %s", name, why.message);
    }
    return cordon_vendor_parse(absolute, text, length, trust, ret_vendor, err);
}

int cordon_vendor_load(const char *name, const char *vendors_dir, const cordon_trust *trust,
                       cordon_vendor **ret_vendor, cordon_err *err)
{
    cordon_err ignored = CORDON_ERR_INIT;
    const built_in *from = find_built_in(name);
    if (from)
        return load_built_in(from, ret_vendor, err);
    if (cordon_vendor_check_name(name, &ignored) < 0)
        return fail_unknown(name, vendors_dir, trust, err);
    return load_definition(name, vendors_dir, trust, ret_vendor, err);
}

void cordon_vendor_free(cordon_vendor *vendor)
{
    if (!vendor)
        return;
    free(vendor->ca_pem);
    free(vendor->file);
    cordon_schema_clear(&vendor_schema, vendor);
    free(vendor);
}

const char *cordon_vendor_upstream(const cordon_vendor *vendor, const char *host)
{
    for (size_t i = 0; i < vendor->upstream.count; i++)
        if (strcmp(vendor->upstream.items[i].host, host) == 0)
            return vendor->upstream.items[i].address;
    return NULL;
}

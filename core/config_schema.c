/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every key of cordon.conf with its type and range. etc/cordon.conf documents the same keys for
 * people; a test holds the two together.
 */
#include "config_schema.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "address.h"
#include "engine_names.h"
#include "kit/hash.h"
#include "kit/num.h"
#include "worktree_guard.h"
#include "worktree_link.h"

#define KIB INT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)
#define TIB (GIB * 1024)

#define SECOND_MS INT64_C(1000)
#define HOUR_MS   (3600 * SECOND_MS)

/* Longest single argument of execve(2): 128 KiB with its NUL (MAX_ARG_STRLEN). */
#define ARGUMENT_MAX 131071

#define SHA256_PREFIX "sha256:"
#define SHA256_DIGITS 64

/* --- Rules over one text ------------------------------------------------------------------- */

static bool is_plain(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

static bool all_of(const char *text, size_t length, const char *allowed)
{
    return strspn(text, allowed) >= length;
}

#define LOWER_DIGITS "abcdefghijklmnopqrstuvwxyz0123456789"

static int check_name(const char *text, cordon_err *err)
{
    if (!all_of(text, strlen(text), LOWER_DIGITS "-_.") || !all_of(text, 1, LOWER_DIGITS))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is not a name", CORDON_QUOTE(text));
    return 0;
}

static int check_path(const char *text, cordon_err *err)
{
    if (!is_plain(text))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" holds control characters",
                           CORDON_QUOTE(text));
    return 0;
}

static int check_program(const char *text, cordon_err *err)
{
    if (!is_plain(text) || (text[0] != '/' && strchr(text, '/')))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "\"%s\" is neither an absolute path nor a bare name",
                           CORDON_QUOTE(text));
    return 0;
}

static int check_version(const char *text, cordon_err *err)
{
    if (!all_of(text, strlen(text), LOWER_DIGITS ".-+") || !all_of(text, 1, "0123456789"))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is not a version", CORDON_QUOTE(text));
    return 0;
}

/* "registry.example:5000/team/image": no tag, because the digest alone decides. */
static bool is_image_name(const char *text, size_t length)
{
    const char *slash = memrchr(text, '/', length);
    size_t folder = slash ? (size_t)(slash - text) + 1 : 0;
    const char *base = text + folder;
    return length > folder && length <= 255 && all_of(base, length - folder, LOWER_DIGITS "-_.") &&
           all_of(text, folder, LOWER_DIGITS "-_.:/") && all_of(text, 1, LOWER_DIGITS) &&
           all_of(base, 1, LOWER_DIGITS);
}

int cordon_config_check_pin(const char *text, cordon_err *err)
{
    const char *at = strrchr(text, '@');
    const char *digest = at ? at + 1 : text;
    size_t prefix = strlen(SHA256_PREFIX);
    bool pinned = strncmp(digest, SHA256_PREFIX, prefix) == 0 &&
                  strlen(digest) == prefix + SHA256_DIGITS &&
                  cordon_hex_is_lower(digest + prefix, SHA256_DIGITS);
    if (!pinned)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "\"%s\" is not pinned: a name or tag can be moved to another image; "
                           "docker (or podman) image inspect -f '{{.Id}}' NAME tells its id",
                           CORDON_QUOTE(text));
    if (at && !is_image_name(text, (size_t)(at - text)))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "\"%s\" does not have a plain image name (no tag) before the @",
                           CORDON_QUOTE(text));
    return 0;
}

/* --- The tables ---------------------------------------------------------------------------- */

#define AT(type, member) .offset = offsetof(type, member)
#define SCHEMA(keys_, type)                                                                        \
    {                                                                                              \
        .keys = (keys_), .count = sizeof(keys_) / sizeof((keys_)[0]), .size = sizeof(type)         \
    }

#define FORM_NAME                                                                                  \
    "a name of lower-case letters, digits, '-', '_' and '.', at most 63 of them, such as \"ci\""
#define FORM_PIN "\"sha256:<64 hex digits>\" or \"name@sha256:<64 hex digits>\""
#define FORM_ENDPOINT                                                                              \
    "\"unix:///absolute/path\", \"tcp://host:port\" or \"ssh://user@host/path/of/socket\""
#define FORM_FILE "the path of a PEM file"

#define KIND_CHOICE(kind, name) {name, CORDON_ENGINE_##kind},
static const cordon_choice kinds[] = {CORDON_ENGINE_KINDS(KIND_CHOICE){NULL, 0}};

static const cordon_choice runner_networks[] = {
    {"none", CORDON_RUNNER_NETWORK_NONE},
    {"vendor", CORDON_RUNNER_NETWORK_VENDOR},
    {NULL, 0},
};

static const cordon_choice podman_services[] = {
    {"auto", CORDON_PODMAN_SERVICE_AUTO}, {"never", CORDON_PODMAN_SERVICE_NEVER}, {NULL, 0}};

#define TLS_FILE(name_, member)                                                                    \
    {                                                                                              \
        .name = (name_), .type = CORDON_KEY_TEXT, .flags = CORDON_KEY_PATH,                        \
        AT(cordon_engine_config, member), .min = 1, .max = PATH_MAX - 1, .check = check_path,      \
        .form = FORM_FILE                                                                          \
    }

static const cordon_key engine_keys[] = {
    {.name = "name",
     .type = CORDON_KEY_TEXT,
     .flags = CORDON_KEY_REQUIRED,
     AT(cordon_engine_config, name),
     .min = 1,
     .max = 63,
     .check = check_name,
     .form = FORM_NAME},
    {.name = "kind",
     .type = CORDON_KEY_CHOICE,
     .flags = CORDON_KEY_REQUIRED,
     AT(cordon_engine_config, kind),
     .choices = kinds},
    {.name = "endpoint",
     .type = CORDON_KEY_TEXT,
     .flags = CORDON_KEY_REQUIRED,
     AT(cordon_engine_config, endpoint),
     .min = 1,
     .max = 1024,
     .form = FORM_ENDPOINT},
    TLS_FILE("tls_ca", tls_ca_file),
    TLS_FILE("tls_cert", tls_cert_file),
    TLS_FILE("tls_key", tls_key_file),
};
static const cordon_schema engine_schema = SCHEMA(engine_keys, cordon_engine_config);

#define PIN(name_, member)                                                                         \
    {                                                                                              \
        .name = (name_), .type = CORDON_KEY_TEXT, AT(cordon_image_pins, member), .min = 1,         \
        .max = 400, .check = cordon_config_check_pin, .form = FORM_PIN                             \
    }

static const cordon_key image_keys[] = {
    PIN("claude", claude),
    PIN("codex", codex),
    PIN("runner", runner),
};
static const cordon_schema image_schema = SCHEMA(image_keys, cordon_image_pins);

#define VERSION(name_, member)                                                                     \
    {                                                                                              \
        .name = (name_), .type = CORDON_KEY_TEXT, AT(cordon_agents_config, member), .min = 1,      \
        .max = 32, .check = check_version, .form = "a version such as \"2.1.332\""                 \
    }

static const cordon_key agent_keys[] = {
    VERSION("claude", claude),
    VERSION("codex", codex),
};
static const cordon_schema agent_schema = SCHEMA(agent_keys, cordon_agents_config);

static const cordon_key runner_keys[] = {
    {.name = "approved",
     .type = CORDON_KEY_ARGVS,
     AT(cordon_runner_config, approved),
     .min = 0,
     .max = ARGUMENT_MAX,
     .max_items = 256,
     .form = "a list of argument vectors, such as ( [\"make\", \"check\"] )"},
    {.name = "network",
     .type = CORDON_KEY_CHOICE,
     AT(cordon_runner_config, network),
     .choices = runner_networks},
};
static const cordon_schema runner_schema = SCHEMA(runner_keys, cordon_runner_config);

#define LIMIT(name_, type_, member, min_, max_)                                                    \
    {                                                                                              \
        .name = (name_), .type = (type_), AT(cordon_limits_config, member), .min = (min_),         \
        .max = (max_)                                                                              \
    }

static const cordon_key limit_keys[] = {
    LIMIT("deadline", CORDON_KEY_DURATION, deadline_ms, SECOND_MS, 168 * HOUR_MS),
    LIMIT("grace", CORDON_KEY_DURATION, grace_ms, 0, 600 * SECOND_MS),
    LIMIT("memory", CORDON_KEY_SIZE, memory_bytes, 16 * MIB, 16 * TIB),
    LIMIT("cpus", CORDON_KEY_CPUS, nano_cpus, 10000000, INT64_C(1024) * 1000000000),
    LIMIT("pids", CORDON_KEY_COUNT, pids, 8, 4194304),
    LIMIT("open_files", CORDON_KEY_COUNT, open_files, 64, 1048576),
    LIMIT("scratch", CORDON_KEY_SIZE, scratch_bytes, MIB, TIB),
    LIMIT("output", CORDON_KEY_SIZE, output_bytes, KIB, TIB),
    LIMIT("diff", CORDON_KEY_SIZE, diff_bytes, MIB, TIB),
    LIMIT("tunnels", CORDON_KEY_COUNT, tunnels, 1, 65536),
    LIMIT("tunnel_bytes", CORDON_KEY_SIZE, tunnel_bytes, 0, 1024 * TIB),
    LIMIT("egress_bytes", CORDON_KEY_SIZE, egress_bytes, 0, 1024 * TIB),
    LIMIT("refusals", CORDON_KEY_COUNT, refusals, 0, 1000000),
    LIMIT("worktree_entries", CORDON_KEY_COUNT, worktree_entries, 1, INT64_C(1000000000)),
};
static const cordon_schema limit_schema = SCHEMA(limit_keys, cordon_limits_config);

static const cordon_key network_keys[] = {
    {.name = "range",
     .type = CORDON_KEY_TEXT,
     AT(cordon_network_config, range),
     .min = 1,
     .max = 18,
     .form = "a private IPv4 range, such as \"10.213.0.0/16\""},
    {.name = "prefix",
     .type = CORDON_KEY_COUNT,
     AT(cordon_network_config, prefix),
     .min = 16,
     .max = 29},
};
static const cordon_schema network_schema = SCHEMA(network_keys, cordon_network_config);

static const cordon_key worktree_keys[] = {
    {.name = "protected",
     .type = CORDON_KEY_TEXTS,
     AT(cordon_worktree_config, protected),
     .min = 1,
     .max = 255,
     .max_items = 64,
     .check = cordon_guard_check_path,
     .form = "a list of plain paths below the worktree, such as ( \".vscode\", \".envrc\" )"},
    {.name = "git_data", .type = CORDON_KEY_FLAG, AT(cordon_worktree_config, git_data)},
    {.name = "mount",
     .type = CORDON_KEY_TEXT,
     AT(cordon_worktree_config, mount),
     .min = 2,
     .max = 255,
     .check = cordon_worktree_check_mount,
     .form = "an absolute path inside a step that is nobody's yet, such as \"/worktree\""},
};
static const cordon_schema worktree_schema = SCHEMA(worktree_keys, cordon_worktree_config);

#define GROUP(name_, member, sub_)                                                                 \
    {                                                                                              \
        .name = (name_), .type = CORDON_KEY_GROUP, AT(cordon_config, member), .sub = &(sub_),      \
        .form = "a group: { ... }"                                                                 \
    }

static const cordon_key config_keys[] = {
    {.name = "engine",
     .type = CORDON_KEY_TEXT,
     AT(cordon_config, engine),
     .min = 1,
     .max = 135,
     .check = cordon_name_check,
     .form = "\"auto\", or the name of an engine"},
    {.name = "engines",
     .type = CORDON_KEY_ITEMS,
     AT(cordon_config, engines),
     .max_items = 64,
     .sub = &engine_schema,
     .form = "a list of groups: ( { name = ...; kind = ...; endpoint = ...; } )"},
    GROUP("images", images, image_schema),
    GROUP("agents", agents, agent_schema),
    GROUP("runner", runner, runner_schema),
    GROUP("limits", limits, limit_schema),
    GROUP("network", network, network_schema),
    GROUP("worktree", tree, worktree_schema),
    {.name = "vendors_dir",
     .type = CORDON_KEY_TEXT,
     .flags = CORDON_KEY_PATH,
     AT(cordon_config, vendors_dir),
     .min = 1,
     .max = PATH_MAX - 1,
     .check = check_path,
     .form = "the path of a folder"},
    {.name = "images_lock",
     .type = CORDON_KEY_TEXT,
     .flags = CORDON_KEY_PATH,
     AT(cordon_config, images_lock),
     .min = 1,
     .max = PATH_MAX - 1,
     .check = check_path,
     .form = "the path of a file"},
    {.name = "recipes_dir",
     .type = CORDON_KEY_TEXT,
     .flags = CORDON_KEY_PATH,
     AT(cordon_config, recipes_dir),
     .min = 1,
     .max = PATH_MAX - 1,
     .check = check_path,
     .form = "the path of a folder"},
    {.name = "podman_service",
     .type = CORDON_KEY_CHOICE,
     AT(cordon_config, podman_service),
     .choices = podman_services},
    {.name = "podman_program",
     .type = CORDON_KEY_TEXT,
     AT(cordon_config, podman_program),
     .min = 1,
     .max = PATH_MAX - 1,
     .check = check_program,
     .form = "an absolute path, or a name to be searched in PATH"},
    {.name = "ssh_program",
     .type = CORDON_KEY_TEXT,
     AT(cordon_config, ssh_program),
     .min = 1,
     .max = PATH_MAX - 1,
     .check = check_program,
     .form = "an absolute path, or a name to be searched in PATH"},
    {.name = "allow_unenforced_limits",
     .type = CORDON_KEY_FLAG,
     AT(cordon_config, allow_unenforced_limits)},
    {.name = "allow_unread_runtime",
     .type = CORDON_KEY_FLAG,
     AT(cordon_config, allow_unread_runtime)},
    {.name = "allow_weak_landlock",
     .type = CORDON_KEY_FLAG,
     AT(cordon_config, allow_weak_landlock)},
    {.name = "sweep", .type = CORDON_KEY_FLAG, AT(cordon_config, sweep)},
    {.name = "mask_secrets", .type = CORDON_KEY_FLAG, AT(cordon_config, mask_secrets)},
    {.name = "allow_unknown_agent",
     .type = CORDON_KEY_FLAG,
     AT(cordon_config, allow_unknown_agent)},
};
const cordon_schema cordon_config_schema = SCHEMA(config_keys, cordon_config);

/* --- Rules over several keys --------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void set_fault(char fault[CORDON_FAULT_MAX],
                                                            const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(fault, CORDON_FAULT_MAX, format, arguments);
    va_end(arguments);
}

static int finish_engine_name(const cordon_config *config, size_t index, cordon_err *err)
{
    const char *name = config->engines.items[index].name;
    if (strcmp(name, "auto") == 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "\"auto\" means automatic choice; give the engine another name");
    for (size_t i = 0; i < index; i++)
        if (strcmp(config->engines.items[i].name, name) == 0)
            return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                               "\"%s\" is the name of another engine in the list already; "
                               "give each its own",
                               CORDON_QUOTE(name));
    return 0;
}

static int finish_endpoint(const cordon_engine_config *engine, cordon_err *err)
{
    bool tls = engine->tls_ca_file != NULL;
    if (tls != (engine->tls_cert_file != NULL) || tls != (engine->tls_key_file != NULL))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "mutual TLS needs all of tls_ca, tls_cert and tls_key");
    if (tls && strncmp(engine->endpoint, "tcp://", strlen("tcp://")) != 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "only tcp:// has TLS of its own; remove the tls_ keys");
    return cordon_address_check(engine->endpoint, tls, err);
}

static int finish_engines(const cordon_config *config, char fault[CORDON_FAULT_MAX],
                          cordon_err *err)
{
    for (size_t i = 0; i < config->engines.count; i++) {
        set_fault(fault, "engines.[%zu].name", i);
        if (finish_engine_name(config, i, err) < 0)
            return -1;
        set_fault(fault, "engines.[%zu].endpoint", i);
        if (finish_endpoint(&config->engines.items[i], err) < 0)
            return -1;
    }
    return 0;
}

static int finish_runner(const cordon_config *config, char fault[CORDON_FAULT_MAX], cordon_err *err)
{
    const cordon_argv_list *approved = &config->runner.approved;
    for (size_t i = 0; i < approved->count; i++) {
        set_fault(fault, "runner.approved.[%zu]", i);
        if (approved->items[i].count == 0 || approved->items[i].items[0][0] == '\0')
            return CORDON_FAIL(err, CORDON_ERR_CONFIG, "the program's name is empty");
        for (size_t j = 0; j < approved->items[i].count; j++) {
            if (strpbrk(approved->items[i].items[j], "\r\n"))
                return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                                   "argument %zu holds the end of a line; no command with one is "
                                   "run",
                                   j);
        }
    }
    return 0;
}

/* RFC 1918. Anything else would shadow addresses that belong to somebody. */
static bool is_private_range(uint32_t address, int prefix)
{
    static const struct {
        uint32_t address;
        int prefix;
    } ranges[] = {{0x0a000000, 8}, {0xac100000, 12}, {0xc0a80000, 16}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (prefix >= ranges[i].prefix &&
            address >> (32 - ranges[i].prefix) == ranges[i].address >> (32 - ranges[i].prefix))
            return true;
    return false;
}

/* "10.213.0.0/16" */
static int parse_range(cordon_network_config *network, cordon_err *err)
{
    char text[INET_ADDRSTRLEN] = "";
    struct in_addr address;
    uint64_t prefix = 0;
    cordon_err ignored = CORDON_ERR_INIT;
    const char *slash = strchr(network->range, '/');
    size_t length = slash ? (size_t)(slash - network->range) : 0;
    if (!slash || length >= sizeof text)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is not of the form ADDRESS/PREFIX",
                           CORDON_QUOTE(network->range));
    memcpy(text, network->range, length);
    if (inet_pton(AF_INET, text, &address) != 1 ||
        cordon_num_u64(slash + 1, strlen(slash + 1), 8, 28, &prefix, &ignored) < 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "\"%s\" is not an IPv4 address with a prefix from 8 to 28",
                           CORDON_QUOTE(network->range));
    network->range_address = ntohl(address.s_addr);
    network->range_prefix = (int)prefix;
    return 0;
}

static int finish_network(cordon_network_config *network, char fault[CORDON_FAULT_MAX],
                          cordon_err *err)
{
    set_fault(fault, "network.range");
    if (parse_range(network, err) < 0)
        return -1;
    if (network->range_address & (UINT32_MAX >> network->range_prefix))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "\"%s\" has bits set behind its prefix; write the first address",
                           CORDON_QUOTE(network->range));
    if (!is_private_range(network->range_address, network->range_prefix))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "\"%s\" is not within 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16",
                           CORDON_QUOTE(network->range));
    set_fault(fault, "network.prefix");
    if (network->prefix <= network->range_prefix)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "/%lld blocks do not fit into the range %s; use a larger prefix, up to "
                           "29, or a larger range",
                           (long long)network->prefix, CORDON_QUOTE(network->range));
    return 0;
}

int cordon_config_finish(void *target, void *context, char fault[CORDON_FAULT_MAX], cordon_err *err)
{
    cordon_config *config = target;
    (void)context;
    if (finish_engines(config, fault, err) < 0 || finish_runner(config, fault, err) < 0)
        return -1;
    return finish_network(&config->network, fault, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe's options: "--name value" pairs, closed and exact. libc-only.
 */
#include <stdio.h>
#include <string.h>

#include "gate/probe.h"
#include "kit/num.h"

/* Services that a host may offer at a bridge's address, and an arbitrary one for tests (9999). */
static const uint16_t usual_ports[] = {22,   53,   80,   111,  443,  2049, 2375, 2376,
                                       3128, 5000, 5432, 6379, 6443, 8080, 9999};

typedef int set_fn(cordon_probe *probe, const char *value, cordon_err *err);

static int parse_port(const char *text, size_t length, uint16_t *ret_port, cordon_err *err)
{
    uint64_t port = 0;
    if (cordon_num_u64(text, length, 1, 65535, &port, err) < 0)
        return -1;
    *ret_port = (uint16_t)port;
    return 0;
}

static int set_proxy(cordon_probe *probe, const char *value, cordon_err *err)
{
    const char *colon = strrchr(value, ':');
    size_t length = colon ? (size_t)(colon - value) : 0;
    if (length == 0 || length >= sizeof probe->proxy_address)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "not ADDRESS:PORT");
    memcpy(probe->proxy_address, value, length);
    probe->proxy_address[length] = '\0';
    return parse_port(colon + 1, strlen(colon + 1), &probe->proxy_port, err);
}

static int set_pinned(cordon_probe *probe, const char *value, cordon_err *err)
{
    (void)err;
    probe->pinned = value;
    return 0;
}

static int set_other_host(cordon_probe *probe, const char *value, cordon_err *err)
{
    (void)err;
    probe->other_host = value;
    return 0;
}

static int set_worktree(cordon_probe *probe, const char *value, cordon_err *err)
{
    (void)err;
    probe->worktree = value;
    return 0;
}

static int set_scratch(cordon_probe *probe, const char *value, cordon_err *err)
{
    (void)err;
    probe->scratch = value;
    return 0;
}

static int add_address(cordon_probe_addresses *list, const char *value, cordon_err *err)
{
    if (list->count == CORDON_PROBE_ADDRESSES_MAX)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "over %d addresses", CORDON_PROBE_ADDRESSES_MAX);
    list->items[list->count++] = value;
    return 0;
}

static int add_gateway(cordon_probe *probe, const char *value, cordon_err *err)
{
    return add_address(&probe->gateways, value, err);
}

static int add_host(cordon_probe *probe, const char *value, cordon_err *err)
{
    return add_address(&probe->hosts, value, err);
}

static int add_foreign(cordon_probe *probe, const char *value, cordon_err *err)
{
    return add_address(&probe->foreign, value, err);
}

static int add_port(cordon_probe *probe, const char *value, cordon_err *err)
{
    uint16_t port = 0;
    if (parse_port(value, strlen(value), &port, err) < 0)
        return -1;
    if (probe->port_count == CORDON_PROBE_PORTS_MAX)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "too many ports");
    probe->ports[probe->port_count++] = port;
    return 0;
}

static int parse_yes(const char *value, bool *ret_yes, cordon_err *err)
{
    if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "neither yes nor no");
    *ret_yes = value[0] == 'y';
    return 0;
}

static int set_writable(cordon_probe *probe, const char *value, cordon_err *err)
{
    return parse_yes(value, &probe->writable, err);
}

static int set_fenced(cordon_probe *probe, const char *value, cordon_err *err)
{
    return parse_yes(value, &probe->fenced, err);
}

static int set_upstream(cordon_probe *probe, const char *value, cordon_err *err)
{
    bool yes = false;
    if (strcmp(value, "any") == 0)
        return 0;
    if (parse_yes(value, &yes, err) < 0)
        return -1;
    probe->upstream = yes ? CORDON_PROBE_UPSTREAM_YES : CORDON_PROBE_UPSTREAM_NO;
    return 0;
}

static int set_pinned_ms(cordon_probe *probe, const char *value, cordon_err *err)
{
    uint64_t ms = 0;
    if (cordon_num_u64(value, strlen(value), 100, 60000, &ms, err) < 0)
        return -1;
    probe->pinned_ms = (int)ms;
    return 0;
}

static const struct {
    const char *name;
    set_fn *set;
    bool required;
    bool repeated;
} options[] = {
    {"--proxy", set_proxy, true, false},   /* ADDRESS:PORT */
    {"--pinned", set_pinned, true, false}, /* HOST */
    {"--other-host", set_other_host, false, false},
    {"--upstream", set_upstream, false, false},  /* yes, no or any: does the pinned host answer */
    {"--gateway", add_gateway, true, true},      /* ADDRESS */
    {"--host", add_host, false, true},           /* ADDRESS */
    {"--foreign", add_foreign, false, true},     /* ADDRESS */
    {"--port", add_port, false, true},           /* one more port of host services */
    {"--worktree", set_worktree, true, false},   /* PATH */
    {"--writable", set_writable, true, false},   /* yes or no */
    {"--scratch", set_scratch, false, false},    /* PATH, writable and noexec */
    {"--fenced", set_fenced, true, false},       /* yes or no */
    {"--pinned-ms", set_pinned_ms, false, false} /* how long the pinned host may take */
};

#define OPTION_COUNT (sizeof options / sizeof options[0])

static size_t find_option(const char *name)
{
    size_t i = 0;
    while (i < OPTION_COUNT && strcmp(name, options[i].name) != 0)
        i++;
    return i;
}

static int take_option(const char *name, const char *value, bool seen[OPTION_COUNT],
                       cordon_probe *probe, cordon_err *err)
{
    size_t i = find_option(name);
    if (i == OPTION_COUNT)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "unknown option %s", CORDON_QUOTE(name));
    if (!value || *value == '\0')
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s needs a value", options[i].name);
    if (seen[i] && !options[i].repeated)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s is repeated", options[i].name);
    seen[i] = true;
    if (options[i].set(probe, value, err) < 0) {
        cordon_err_wrap(err, "%s", options[i].name);
        return -1;
    }
    return 0;
}

/* The proxy's port comes first: it is the one that Landlock lets through to the network. */
static int add_usual_ports(cordon_probe *probe, cordon_err *err)
{
    uint16_t extra[CORDON_PROBE_PORTS_MAX];
    size_t extra_count = probe->port_count;
    const size_t usual_count = sizeof usual_ports / sizeof usual_ports[0];
    if (1 + extra_count + usual_count > CORDON_PROBE_PORTS_MAX)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "too many --port");
    memcpy(extra, probe->ports, sizeof extra);
    probe->ports[0] = probe->proxy_port;
    memcpy(probe->ports + 1, extra, extra_count * sizeof extra[0]);
    memcpy(probe->ports + 1 + extra_count, usual_ports, sizeof usual_ports);
    probe->port_count = 1 + extra_count + usual_count;
    return 0;
}

int cordon_probe_parse(int argc, char **argv, cordon_probe *ret_probe, cordon_err *err)
{
    bool seen[OPTION_COUNT] = {false};
    cordon_probe probe = {.other_host = "example.com", .scratch = "/tmp", .pinned_ms = 3500};
    for (int i = 1; i < argc; i += 2)
        if (take_option(argv[i], i + 1 < argc ? argv[i + 1] : NULL, seen, &probe, err) < 0)
            return -1;
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (options[i].required && !seen[i])
            return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s is missing", options[i].name);
    if (add_usual_ports(&probe, err) < 0)
        return -1;
    *ret_probe = probe;
    return 0;
}

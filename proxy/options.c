/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option table; see options.h.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "kit/num.h"
#include "options.h"

/* A day: longer is certainly a mistake in the unit. */
#define OPTION_MS_MAX      86400000
#define OPTION_TUNNELS_MAX 65536

typedef int option_fn(cordon_proxy_options *options, const char *value, cordon_err *err);

/*
 * Either `set` does the work, or the value is a number of [min..max] for the uint32_t at `offset`.
 */
typedef struct option_row {
    const char *name;
    option_fn *set;
    size_t offset;
    uint32_t min;
    uint32_t max;
    uint32_t initial;
    bool repeatable;
    bool required;
} option_row;

static int set_listen(cordon_proxy_options *options, const char *value, cordon_err *err)
{
    cordon_address address;
    if (!cordon_address_parse(value, 0, &address))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is not ADDRESS:PORT",
                           CORDON_QUOTE(value));
    /* SECURITY: on "every address" the egress network could use the proxy too. */
    if (!cordon_address_is_unicast(&address))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is not one specific address",
                           CORDON_QUOTE(value));
    options->listen = address;
    return 0;
}

static int set_allow(cordon_proxy_options *options, const char *value, cordon_err *err)
{
    return cordon_policy_allow(&options->policy, value, err);
}

static int set_upstream(cordon_proxy_options *options, const char *value, cordon_err *err)
{
    return cordon_policy_map(&options->policy, value, err);
}

#define OPTION_NUMBER(option, member, least, most, value)                                          \
    {                                                                                              \
        .name = (option), .offset = offsetof(cordon_proxy_options, member), .min = (least),        \
        .max = (most), .initial = (value)                                                          \
    }

static const option_row option_rows[] = {
    {.name = "--listen", .set = set_listen, .required = true},
    {.name = "--allow", .set = set_allow, .repeatable = true, .required = true},
    {.name = "--upstream", .set = set_upstream, .repeatable = true},
    OPTION_NUMBER("--header-ms", head_ms, 1, OPTION_MS_MAX, 10000),
    OPTION_NUMBER("--connect-ms", connect_ms, 1, OPTION_MS_MAX, 15000),
    OPTION_NUMBER("--hello-ms", hello_ms, 1, OPTION_MS_MAX, 15000),
    OPTION_NUMBER("--idle-ms", idle_ms, 0, OPTION_MS_MAX, 0),
    OPTION_NUMBER("--max-tunnels", max_tunnels, 1, OPTION_TUNNELS_MAX, 512),
};
#define OPTION_COUNT (sizeof option_rows / sizeof option_rows[0])

static uint32_t *option_slot(cordon_proxy_options *options, const option_row *row)
{
    return (uint32_t *)(void *)((char *)options + row->offset);
}

static size_t option_find(const char *name)
{
    size_t i = 0;
    while (i < OPTION_COUNT && strcmp(option_rows[i].name, name) != 0)
        i++;
    return i;
}

static int option_set(cordon_proxy_options *options, const option_row *row, const char *value,
                      cordon_err *err)
{
    if (row->set)
        return row->set(options, value, err);
    uint64_t number = 0;
    if (cordon_num_u64(value, strlen(value), row->min, row->max, &number, err) != 0)
        return -1;
    *option_slot(options, row) = (uint32_t)number;
    return 0;
}

static int option_take(cordon_proxy_options *options, const char *const *pair, bool has_value,
                       bool *seen, cordon_err *err)
{
    size_t index = option_find(pair[0]);
    if (index == OPTION_COUNT)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "unknown option \"%s\"", CORDON_QUOTE(pair[0]));
    const option_row *row = &option_rows[index];
    if (!has_value)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s: a value is missing", row->name);
    if (seen[index] && !row->repeatable)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s: given twice", row->name);
    seen[index] = true;
    if (option_set(options, row, pair[1], err) != 0) {
        cordon_err_wrap(err, "%s", row->name);
        return -1;
    }
    return 0;
}

int cordon_proxy_options_parse(int argc, const char *const *argv, cordon_proxy_options *ret_options,
                               cordon_err *err)
{
    cordon_proxy_options options = {0};
    bool seen[OPTION_COUNT] = {false};
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (!option_rows[i].set)
            *option_slot(&options, &option_rows[i]) = option_rows[i].initial;
    }
    for (int i = 1; i < argc; i += 2) {
        if (option_take(&options, argv + i, i + 1 < argc, seen, err) != 0)
            return -1;
    }
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (option_rows[i].required && !seen[i])
            return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s is required", option_rows[i].name);
    }
    *ret_options = options;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The field table; see options.h.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "kit/cleanup.h"
#include "kit/frame.h"
#include "options.h"

/* Over a week: longer than any run, and certainly a mistake in the unit. */
#define OPTION_MS_MAX      UINT64_C(691200000)
#define OPTION_TUNNELS_MAX 65536
#define OPTION_TEXT_MAX    ((size_t)2 * CORDON_HOST_MAX)

typedef int option_fn(cordon_proxy_options *options, const char *value, cordon_err *err);

/*
 * Either `set` takes a text, or the value is a number of [min..max] for the int64_t at `offset`.
 */
typedef struct option_row {
    const char *name;
    option_fn *set;
    size_t offset;
    uint64_t min;
    uint64_t max;
    uint16_t tag;
    bool repeatable;
    bool optional;
    bool is_version;
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

static int set_host(cordon_proxy_options *options, const char *value, cordon_err *err)
{
    return cordon_policy_allow(&options->policy, value, err);
}

static int set_upstream(cordon_proxy_options *options, const char *value, cordon_err *err)
{
    return cordon_policy_map(&options->policy, value, err);
}

#define OPTION_NUMBER(tag_, name_, member, least, most)                                            \
    {                                                                                              \
        .tag = CORDON_PROXY_POLICY_##tag_, .name = (name_),                                        \
        .offset = offsetof(cordon_proxy_options, member), .min = (least), .max = (most)            \
    }

static const option_row option_rows[] = {
    {.tag = CORDON_PROXY_POLICY_VERSION,
     .name = "version",
     .min = CORDON_PROXY_VERSION,
     .max = CORDON_PROXY_VERSION,
     .is_version = true},
    {.tag = CORDON_PROXY_POLICY_LISTEN, .name = "listen", .set = set_listen},
    {.tag = CORDON_PROXY_POLICY_HOST, .name = "host", .set = set_host, .repeatable = true},
    {.tag = CORDON_PROXY_POLICY_UPSTREAM,
     .name = "upstream",
     .set = set_upstream,
     .repeatable = true,
     .optional = true},
    OPTION_NUMBER(HEAD_MS, "head_ms", head_ms, 1, OPTION_MS_MAX),
    OPTION_NUMBER(CONNECT_MS, "connect_ms", connect_ms, 1, OPTION_MS_MAX),
    OPTION_NUMBER(HELLO_MS, "hello_ms", hello_ms, 1, OPTION_MS_MAX),
    OPTION_NUMBER(IDLE_MS, "idle_ms", idle_ms, 0, OPTION_MS_MAX),
    OPTION_NUMBER(TUNNELS, "tunnels", max_tunnels, 1, OPTION_TUNNELS_MAX),
    OPTION_NUMBER(TUNNEL_BYTES, "tunnel_bytes", max_tunnel_bytes, 0, INT64_MAX),
    OPTION_NUMBER(ALL_BYTES, "all_bytes", max_all_bytes, 0, INT64_MAX),
    OPTION_NUMBER(REFUSALS, "refusals", max_refusals, 0, UINT32_MAX),
};
#define OPTION_COUNT (sizeof option_rows / sizeof option_rows[0])

static size_t option_find(uint16_t tag)
{
    size_t i = 0;
    while (i < OPTION_COUNT && option_rows[i].tag != tag)
        i++;
    return i;
}

static int option_number(cordon_proxy_options *options, const option_row *row,
                         const cordon_frame_field *field, cordon_err *err)
{
    uint64_t number = 0; /* never over INT64_MAX */
    if (cordon_frame_field_u64(field, &number, err) != 0)
        return -1;
    if (number < row->min || number > row->max)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%llu is not from %llu to %llu",
                           (unsigned long long)number, (unsigned long long)row->min,
                           (unsigned long long)row->max);
    if (!row->is_version)
        memcpy((char *)options + row->offset, &number, sizeof number);
    return 0;
}

static int option_set(cordon_proxy_options *options, const option_row *row,
                      const cordon_frame_field *field, cordon_err *err)
{
    cordon_autofree char *text = NULL;
    if (!row->set)
        return option_number(options, row, field, err);
    if (cordon_frame_field_text(field, OPTION_TEXT_MAX, &text, err) != 0)
        return -1;
    return row->set(options, text, err);
}

static int option_take(cordon_proxy_options *options, const cordon_frame_field *field, bool *seen,
                       cordon_err *err)
{
    size_t index = option_find(field->tag);
    if (index == OPTION_COUNT)
        return cordon_frame_field_unknown(field, err);
    const option_row *row = &option_rows[index];
    if (seen[index] && !row->repeatable)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s: given twice", row->name);
    seen[index] = true;
    if (option_set(options, row, field, err) != 0) {
        cordon_err_wrap(err, "%s", row->name);
        return -1;
    }
    return 0;
}

static void note_code(cordon_proxy_options *options, const void *bytes, size_t length)
{
    static const char hex[] = "0123456789abcdef";
    const unsigned char *code = (const unsigned char *)bytes + length - CORDON_PROXY_CODE_BYTES;
    for (size_t i = 0; i < CORDON_PROXY_CODE_BYTES; i++) {
        options->code[2 * i] = hex[code[i] >> 4];
        options->code[2 * i + 1] = hex[code[i] & 15];
    }
}

static int read_fields(cordon_proxy_options *options, cordon_frame_reader *reader, cordon_err *err)
{
    cordon_frame_field field;
    bool seen[OPTION_COUNT] = {false};
    while (cordon_frame_next(reader, &field)) {
        if (option_take(options, &field, seen, err) != 0)
            return -1;
    }
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (!seen[i] && !option_rows[i].optional)
            return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s is missing", option_rows[i].name);
    }
    return 0;
}

int cordon_proxy_options_read(const void *bytes, size_t length, cordon_proxy_options *ret_options,
                              cordon_err *err)
{
    cordon_frame_reader reader;
    if (length > CORDON_PROXY_POLICY_MAX)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "a policy of %zu bytes", length);
    /* Not on the stack, whose pages would stay for as long as the proxy runs. */
    cordon_autofree cordon_proxy_options *options = calloc(1, sizeof *options);
    if (!options)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "no memory for the policy");
    if (cordon_frame_open(&reader, CORDON_PROXY_MAGIC_POLICY, bytes, length, cordon_frame_unkeyed,
                          err) != 0 ||
        read_fields(options, &reader, err) != 0)
        return -1;
    note_code(options, bytes, length);
    memcpy(ret_options, options,
           offsetof(cordon_proxy_options, policy.hosts) +
               options->policy.count * sizeof options->policy.hosts[0]);
    return 0;
}

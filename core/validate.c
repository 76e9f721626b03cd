/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing facts by table; see validate.h. The tables stand in rules.c. */
#include "validate.h"

#include <stdio.h>
#include <string.h>

/* What a comparison is about, handed down to the comparers. */
typedef struct rule_context {
    const char *object;
    const cordon_rule *rule;
    cordon_refusal_code code;
    cordon_refusal *refusal;
    cordon_err *err;
} rule_context;

static int rule_refuse(const rule_context *context, cordon_refusal_code code, const char *part,
                       const char *expected, const char *actual)
{
    char path[160];

    (void)snprintf(path, sizeof(path), "%s.%s%s", context->object, context->rule->name, part);
    return cordon_refuse(context->refusal, code, path, expected, actual, context->err);
}

/*
 * The engine is silent on a fact that the plan needs, or that an earlier reading told: between two
 * readings that is a change like any other.
 */
static int rule_silent(const rule_context *context, const char *part, const char *expected)
{
    bool changed = context->code == CORDON_REFUSED_CHANGED;

    if (context->rule->witness != NULL)
        return 0;
    return rule_refuse(context, changed ? CORDON_REFUSED_CHANGED : CORDON_REFUSED_UNKNOWN, part,
                       expected, NULL);
}

static int compare_text(const rule_context *context, const char *part, const char *expected,
                        const char *actual)
{
    if (expected == NULL)
        return 0;
    if (actual == NULL)
        return rule_silent(context, part, expected);
    if (strcmp(expected, actual) == 0)
        return 0;
    return rule_refuse(context, context->code, part, expected[0] != '\0' ? expected : "nothing",
                       actual[0] != '\0' ? actual : "nothing");
}

static const char *bool_text(cordon_fact_bool value)
{
    return value == CORDON_FACT_YES ? "true" : value == CORDON_FACT_NO ? "false" : NULL;
}

static int compare_int(const rule_context *context, const cordon_fact_int *expected,
                       const cordon_fact_int *actual)
{
    char want[24];
    char got[24];

    if (!expected->known)
        return 0;
    (void)snprintf(want, sizeof(want), "%lld", (long long)expected->value);
    (void)snprintf(got, sizeof(got), "%lld", (long long)actual->value);
    return compare_text(context, "", want, actual->known ? got : NULL);
}

/* "a, b, c", cut; for messages. */
static const char *list_text(const cordon_fact_list *list, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < list->count && used + 1 < size; i++) {
        int written = snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", list->items[i]);

        if (written < 0)
            break;
        used += (size_t)written < size - used ? (size_t)written : size - used - 1;
    }
    return list->count > 0 ? text : "nothing";
}

static bool list_holds(const cordon_fact_list *list, const char *item)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], item) == 0)
            return true;
    }
    return false;
}

static bool list_within(const cordon_fact_list *inner, const cordon_fact_list *outer)
{
    for (size_t i = 0; i < inner->count; i++) {
        if (!list_holds(outer, inner->items[i]))
            return false;
    }
    return true;
}

/* Equal as sets; equal counts keep repeated items from standing in for missing ones. */
static bool list_same_set(const cordon_fact_list *a, const cordon_fact_list *b)
{
    return a->count == b->count && list_within(a, b) && list_within(b, a);
}

static bool list_same_sequence(const cordon_fact_list *a, const cordon_fact_list *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (strcmp(a->items[i], b->items[i]) != 0)
            return false;
    }
    return true;
}

static bool list_off(const cordon_fact_list *actual)
{
    return actual->count == 0 || (actual->count == 1 && strcmp(actual->items[0], "NONE") == 0);
}

/* libpod's and containers.conf's own default: only group 0 may make ping sockets. */
static bool sysctl_set_by_engine(const char *item)
{
    return strcmp(item, "net.ipv4.ping_group_range=0 0") == 0;
}

/* Everything that is planned, and beyond it at most what an engine sets by itself. */
static bool list_same_sysctls(const cordon_fact_list *expected, const cordon_fact_list *actual)
{
    for (size_t i = 0; i < actual->count; i++) {
        if (!sysctl_set_by_engine(actual->items[i]) && !list_holds(expected, actual->items[i]))
            return false;
    }
    return list_within(expected, actual);
}

static bool list_free_of(const cordon_fact_list *expected, const cordon_fact_list *actual)
{
    for (size_t i = 0; i < expected->count; i++) {
        if (list_holds(actual, expected->items[i]))
            return false;
    }
    return true;
}

static bool list_agrees(cordon_rule_kind kind, const cordon_fact_list *expected,
                        const cordon_fact_list *actual)
{
    if (kind == CORDON_RULE_SEQUENCE)
        return list_same_sequence(expected, actual);
    if (kind == CORDON_RULE_SUPERSET)
        return list_within(expected, actual);
    if (kind == CORDON_RULE_WITHIN)
        return list_within(actual, expected);
    if (kind == CORDON_RULE_FREE_OF)
        return list_free_of(expected, actual);
    if (kind == CORDON_RULE_SYSCTLS)
        return list_same_sysctls(expected, actual);
    if (kind == CORDON_RULE_OFF)
        return list_off(actual);
    return list_same_set(expected, actual);
}

static int compare_list(const rule_context *context, const char *part, cordon_rule_kind kind,
                        const cordon_fact_list *expected, const cordon_fact_list *actual)
{
    char want[384];
    char got[384];

    if (!expected->known)
        return 0;
    if (!actual->known)
        return rule_silent(context, part, list_text(expected, want, sizeof(want)));
    if (list_agrees(kind, expected, actual))
        return 0;
    return rule_refuse(context, context->code, part, list_text(expected, want, sizeof(want)),
                       list_text(actual, got, sizeof(got)));
}

/*
 * A tmpfs is exactly what was asked for. A bind may have more, of what takes away alone: not every
 * engine has these; anything else (to change owners, to map ids, to overlay) was not asked for.
 */
static int compare_mount_options(const rule_context *context, const char *part,
                                 const cordon_mount_fact *expected, const cordon_mount_fact *actual)
{
    static const char *const narrowing[] = {"nosuid", "nodev", "noexec"};

    if (expected->type == CORDON_MOUNT_TMPFS)
        return compare_list(context, part, CORDON_RULE_SET, &expected->options, &actual->options);
    if (expected->type != CORDON_MOUNT_BIND && expected->type != CORDON_MOUNT_VOLUME)
        return 0;
    for (size_t i = 0; expected->options.known && i < actual->options.count; i++) {
        const char *option = actual->options.items[i];
        bool allowed = list_holds(&expected->options, option);

        for (size_t j = 0; j < sizeof(narrowing) / sizeof(narrowing[0]); j++)
            allowed = allowed || strcmp(option, narrowing[j]) == 0;
        if (!allowed)
            return rule_refuse(context, context->code, part, "no further option", option);
    }
    return compare_list(context, part, CORDON_RULE_SUPERSET, &expected->options, &actual->options);
}

/*
 * A mount that spreads to or from the host is never asked for. Docker knows none of a volume, which
 * it mounts into a tree that is cut off from the host's, and writes "".
 */
static int compare_propagation(const rule_context *context, const cordon_mount_fact *expected,
                               const cordon_mount_fact *actual)
{
    bool volume = expected->type == CORDON_MOUNT_VOLUME;
    bool none = actual->propagation != NULL && actual->propagation[0] == '\0';
    char part[128];

    if ((expected->type != CORDON_MOUNT_BIND && !volume) || (volume && none))
        return 0;
    (void)snprintf(part, sizeof(part), "[%s].propagation", expected->target);
    return compare_text(context, part, "rprivate", actual->propagation);
}

static int compare_mount(const rule_context *context, const cordon_mount_fact *expected,
                         const cordon_mount_fact *actual)
{
    char part[128];

    (void)snprintf(part, sizeof(part), "[%s].type", expected->target);
    if (compare_text(context, part, cordon_mount_type_name(expected->type),
                     cordon_mount_type_name(actual->type)) != 0)
        return -1;
    (void)snprintf(part, sizeof(part), "[%s].source", expected->target);
    if (compare_text(context, part, expected->source, actual->source) != 0)
        return -1;
    (void)snprintf(part, sizeof(part), "[%s].place", expected->target);
    if (compare_text(context, part, expected->place, actual->place) != 0)
        return -1;
    (void)snprintf(part, sizeof(part), "[%s].read_only", expected->target);
    if (compare_text(context, part, bool_text(expected->read_only), bool_text(actual->read_only)) !=
        0)
        return -1;
    (void)snprintf(part, sizeof(part), "[%s].options", expected->target);
    if (compare_mount_options(context, part, expected, actual) != 0)
        return -1;
    return compare_propagation(context, expected, actual);
}

static const cordon_mount_fact *mount_find(const cordon_mount_facts *mounts, const char *target)
{
    for (size_t i = 0; target != NULL && i < mounts->count; i++) {
        if (mounts->items[i].target != NULL && strcmp(mounts->items[i].target, target) == 0)
            return &mounts->items[i];
    }
    return NULL;
}

static int compare_mounts(const rule_context *context, const cordon_mount_facts *expected,
                          const cordon_mount_facts *actual)
{
    if (!expected->known)
        return 0;
    if (!actual->known)
        return rule_silent(context, "", "the planned mounts");
    for (size_t i = 0; i < actual->count; i++) {
        const char *target = actual->items[i].target;

        if (target == NULL || mount_find(expected, target) == NULL)
            return rule_refuse(context, context->code, "", "no further mount", target);
    }
    for (size_t i = 0; i < expected->count; i++) {
        const cordon_mount_fact *found = mount_find(actual, expected->items[i].target);

        if (found == NULL)
            return rule_refuse(context, context->code, "", expected->items[i].target,
                               "no such mount");
        if (compare_mount(context, &expected->items[i], found) != 0)
            return -1;
    }
    if (actual->count != expected->count)
        return rule_refuse(context, context->code, "", "each mount once", "a mount twice");
    return 0;
}

/*
 * The network id is compared where the engine shows one; where it does not (Docker before the
 * start, Podman 4), the name, the member list of the network with our id, and the address in the
 * gate's report settle which network it is.
 */
static int compare_endpoint(const rule_context *context, const cordon_endpoint_fact *expected,
                            const cordon_endpoint_fact *actual)
{
    char part[128];

    (void)snprintf(part, sizeof(part), "[%s].network_id", expected->network_key);
    if (actual->network_id != NULL &&
        compare_text(context, part, expected->network_id, actual->network_id) != 0)
        return -1;
    (void)snprintf(part, sizeof(part), "[%s].ipv4", expected->network_key);
    if (compare_text(context, part, expected->ipv4, actual->ipv4) != 0)
        return -1;
    (void)snprintf(part, sizeof(part), "[%s].requested_ipv4", expected->network_key);
    if (actual->requested_ipv4 != NULL &&
        compare_text(context, part, expected->requested_ipv4, actual->requested_ipv4) != 0)
        return -1;
    (void)snprintf(part, sizeof(part), "[%s].ipv6", expected->network_key);
    return compare_text(context, part, expected->ipv6, actual->ipv6);
}

static const cordon_endpoint_fact *endpoint_find(const cordon_endpoint_facts *endpoints,
                                                 const char *key)
{
    for (size_t i = 0; key != NULL && i < endpoints->count; i++) {
        if (endpoints->items[i].network_key != NULL &&
            strcmp(endpoints->items[i].network_key, key) == 0)
            return &endpoints->items[i];
    }
    return NULL;
}

static int compare_endpoints(const rule_context *context, const cordon_endpoint_facts *expected,
                             const cordon_endpoint_facts *actual)
{
    char want[24];
    char got[24];

    if (!expected->known)
        return 0;
    if (!actual->known)
        return rule_silent(context, "", "the planned networks");
    for (size_t i = 0; i < expected->count; i++) {
        const cordon_endpoint_fact *found = endpoint_find(actual, expected->items[i].network_key);

        if (found == NULL)
            return rule_refuse(context, context->code, "", expected->items[i].network_key,
                               "not attached");
        if (compare_endpoint(context, &expected->items[i], found) != 0)
            return -1;
    }
    (void)snprintf(want, sizeof(want), "%zu networks", expected->count);
    (void)snprintf(got, sizeof(got), "%zu networks", actual->count);
    return compare_text(context, "", want, got);
}

/* A profile or label that confines nothing, and none where the host has such a module. */
static int compare_confined(const rule_context *context, const char *expected, const char *actual)
{
    static const char *const open[] = {"unconfined", ":spc_t:", "unconfined_t"};

    if (expected == NULL)
        return 0;
    if (actual == NULL)
        return rule_silent(context, "", "a confinement");
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
        if (strstr(actual, open[i]) != NULL)
            return rule_refuse(context, context->code, "", "a confinement", actual);
    }
    if (expected[0] != '\0' && actual[0] == '\0')
        return rule_refuse(context, context->code, "", "a confinement", "nothing");
    return 0;
}

static int compare_state(const rule_context *context, const cordon_run_state *expected,
                         const cordon_run_state *actual)
{
    return compare_text(context, "",
                        *expected == CORDON_STATE_UNKNOWN ? NULL : cordon_run_state_name(*expected),
                        *actual == CORDON_STATE_UNKNOWN ? NULL : cordon_run_state_name(*actual));
}

static int rule_apply(const rule_context *context, const void *expected, const void *actual)
{
    switch (context->rule->kind) {
    case CORDON_RULE_TEXT:
        return compare_text(context, "", *(const cordon_fact_text *)expected,
                            *(const cordon_fact_text *)actual);
    case CORDON_RULE_BOOL:
        return compare_text(context, "", bool_text(*(const cordon_fact_bool *)expected),
                            bool_text(*(const cordon_fact_bool *)actual));
    case CORDON_RULE_INT:
        return compare_int(context, expected, actual);
    case CORDON_RULE_STATE:
        return compare_state(context, expected, actual);
    case CORDON_RULE_SEQUENCE:
    case CORDON_RULE_SET:
    case CORDON_RULE_SUPERSET:
    case CORDON_RULE_WITHIN:
    case CORDON_RULE_FREE_OF:
    case CORDON_RULE_SYSCTLS:
    case CORDON_RULE_OFF:
        return compare_list(context, "", context->rule->kind, expected, actual);
    case CORDON_RULE_CONFINED:
        return compare_confined(context, *(const cordon_fact_text *)expected,
                                *(const cordon_fact_text *)actual);
    case CORDON_RULE_MOUNTS:
        return compare_mounts(context, expected, actual);
    case CORDON_RULE_ENDPOINTS:
        return compare_endpoints(context, expected, actual);
    case CORDON_RULE_HARMLESS:
        return 0;
    case CORDON_RULE_NONE:
    default:
        return rule_refuse(context, CORDON_REFUSED_UNKNOWN, "", "a rule", "none");
    }
}

typedef struct rule_table {
    const cordon_rule *rules;
    size_t count;
} rule_table;

static int table_apply(rule_table table, const char *object, const void *expected,
                       const void *actual, unsigned round, cordon_tally *tally,
                       rule_context *context)
{
    for (size_t i = 0; i < table.count; i++) {
        const cordon_rule *rule = &table.rules[i];

        if ((rule->rounds & round) == 0 && rule->kind != CORDON_RULE_NONE)
            continue;
        context->object = object;
        context->rule = rule;
        context->code = rule->code;
        if (rule_apply(context, (const char *)expected + rule->offset,
                       (const char *)actual + rule->offset) != 0)
            return -1;
        tally->facts++;
    }
    return 0;
}

int cordon_validate_container(const char *object, const cordon_container_facts *expected,
                              const cordon_container_facts *actual, cordon_round round,
                              cordon_tally *tally, cordon_refusal *ret_refusal, cordon_err *err)
{
    rule_context context = {.refusal = ret_refusal, .err = err};
    rule_table table = {cordon_container_rules, cordon_container_rule_count};

    return table_apply(table, object, expected, actual, round, tally, &context);
}

int cordon_validate_runtime(const char *object, const cordon_runtime_facts *expected,
                            const cordon_runtime_facts *actual, cordon_tally *tally,
                            cordon_refusal *ret_refusal, cordon_err *err)
{
    rule_context context = {.refusal = ret_refusal, .err = err};
    rule_table table = {cordon_runtime_rules, cordon_runtime_rule_count};

    return table_apply(table, object, expected, actual, CORDON_ROUND_CREATED, tally, &context);
}

int cordon_validate_network(const char *object, const cordon_network_facts *expected,
                            const cordon_network_facts *actual, cordon_round round,
                            cordon_tally *tally, cordon_refusal *ret_refusal, cordon_err *err)
{
    rule_context context = {.refusal = ret_refusal, .err = err};
    rule_table table = {cordon_network_rules, cordon_network_rule_count};

    return table_apply(table, object, expected, actual, round, tally, &context);
}

int cordon_validate_volume(const char *object, const cordon_volume_facts *expected,
                           const cordon_volume_facts *actual, cordon_round round,
                           cordon_tally *tally, cordon_refusal *ret_refusal, cordon_err *err)
{
    rule_context context = {.refusal = ret_refusal, .err = err};
    rule_table table = {cordon_volume_rules, cordon_volume_rule_count};

    return table_apply(table, object, expected, actual, round, tally, &context);
}

int cordon_validate_unchanged(const char *object, const cordon_container_facts *first,
                              const cordon_container_facts *second, cordon_tally *tally,
                              cordon_refusal *ret_refusal, cordon_err *err)
{
    rule_context context = {.object = object, .refusal = ret_refusal, .err = err};

    for (size_t i = 0; i < cordon_container_rule_count; i++) {
        const cordon_rule *rule = &cordon_container_rules[i];

        if (rule->run_state)
            continue;
        context.rule = rule;
        context.code = CORDON_REFUSED_CHANGED;
        /* Both ways: what only one of the readings tells is a difference, too. */
        if (rule_apply(&context, (const char *)first + rule->offset,
                       (const char *)second + rule->offset) != 0 ||
            rule_apply(&context, (const char *)second + rule->offset,
                       (const char *)first + rule->offset) != 0)
            return -1;
        tally->facts++;
    }
    return 0;
}

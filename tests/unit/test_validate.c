/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables measured: every byte of the facts has its rule, every rule sees a change of its fact,
 * and the facts that may be untold or are not judged are exactly those listed here.
 */
#include <stdlib.h>

#include "support/sample_facts.h"

/* --- Coverage ------------------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b)
{
    const cordon_rule *const *left = a;
    const cordon_rule *const *right = b;

    return (*left)->offset < (*right)->offset ? -1 : (*left)->offset > (*right)->offset;
}

/*
 * Between two neighbours there may be padding: fewer bytes than the alignment of what follows. A
 * member that small could hide in it; the ctest lint.facts counts members by name for that.
 */
static void check_neighbours(size_t end, size_t next, const char *name)
{
    size_t alignment = next & (~next + 1);

    if (alignment == 0 || alignment > sizeof(void *))
        alignment = sizeof(void *);
    TEST_RECORDF(next >= end, "%s overlaps the fact before it", name);
    TEST_RECORDF(next < end + alignment, "%zu bytes without a rule before %s", next - end, name);
}

static void check_coverage(const cordon_rule *rules, size_t count, size_t size)
{
    const cordon_rule *sorted[128];
    size_t end = 0;

    REQUIRE(count <= sizeof(sorted) / sizeof(sorted[0]));
    for (size_t i = 0; i < count; i++)
        sorted[i] = &rules[i];
    qsort(sorted, count, sizeof(sorted[0]), by_offset);
    for (size_t i = 0; i < count; i++) {
        check_neighbours(end, sorted[i]->offset, sorted[i]->name);
        end = sorted[i]->offset + sorted[i]->size;
    }
    check_neighbours(end, size, "the end");
}

static void every_byte_of_a_containers_facts_has_one_rule(void)
{
    check_coverage(cordon_container_rules, cordon_container_rule_count,
                   sizeof(cordon_container_facts));
}

static void every_byte_of_a_networks_facts_has_one_rule(void)
{
    check_coverage(cordon_network_rules, cordon_network_rule_count, sizeof(cordon_network_facts));
}

static void every_byte_of_a_volumes_facts_has_one_rule(void)
{
    check_coverage(cordon_volume_rules, cordon_volume_rule_count, sizeof(cordon_volume_facts));
}

static void no_fact_is_named_twice(void)
{
    for (size_t i = 0; i < cordon_container_rule_count; i++) {
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(cordon_container_rules[i].name, cordon_container_rules[j].name) != 0);
    }
    for (size_t i = 0; i < cordon_network_rule_count; i++) {
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(cordon_network_rules[i].name, cordon_network_rules[j].name) != 0);
    }
    for (size_t i = 0; i < cordon_volume_rule_count; i++) {
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(cordon_volume_rules[i].name, cordon_volume_rules[j].name) != 0);
    }
}

/* --- The exceptions, word for word ------------------------------------------------------------ */

/* "pid exit_code ... ", of the rules that `is` holds for. */
static void names_of(const cordon_rule *rules, size_t count, bool (*is)(const cordon_rule *),
                     char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (is(&rules[i]) && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s ", rules[i].name);
    }
}

static bool is_harmless(const cordon_rule *rule)
{
    return rule->kind == CORDON_RULE_HARMLESS;
}

static bool is_witnessed(const cordon_rule *rule)
{
    return rule->witness != NULL;
}

/* Judged by less than equality. */
static bool is_lenient(const cordon_rule *rule)
{
    return rule->kind == CORDON_RULE_SUPERSET || rule->kind == CORDON_RULE_OFF;
}

/* Where the runtime's configuration is: only the two readings are held against each other. */
static bool is_place(const cordon_rule *rule)
{
    return strcmp(rule->name, "runtime_config") == 0 && rule->rounds == 0 && !rule->run_state;
}

static bool is_run_state(const cordon_rule *rule)
{
    return rule->run_state && rule->kind != CORDON_RULE_HARMLESS;
}

static void check_exceptions(bool (*is)(const cordon_rule *), const char *container,
                             const char *network, const char *volume)
{
    char text[1024];

    names_of(cordon_container_rules, cordon_container_rule_count, is, text, sizeof(text));
    CHECK_STR(text, container);
    names_of(cordon_network_rules, cordon_network_rule_count, is, text, sizeof(text));
    CHECK_STR(text, network);
    names_of(cordon_volume_rules, cordon_volume_rule_count, is, text, sizeof(text));
    CHECK_STR(text, volume);
}

static void what_is_not_judged_is_listed_and_has_a_reason(void)
{
    check_exceptions(is_harmless,
                     "pid exit_code started_at finished_at apparmor_profile selinux_label ",
                     "gateways ", "created_at ");
    for (size_t i = 0; i < cordon_container_rule_count; i++) {
        const cordon_rule *rule = &cordon_container_rules[i];

        CHECK(rule->kind != CORDON_RULE_HARMLESS || (rule->why != NULL && strlen(rule->why) > 20));
    }
}

static void what_an_engine_may_leave_untold_is_seen_by_the_gate(void)
{
    check_exceptions(is_witnessed, "init masked_paths readonly_paths ipc_mode sysctls ", "dns ",
                     "");
    for (size_t i = 0; i < cordon_container_rule_count; i++) {
        const char *witness = cordon_container_rules[i].witness;

        CHECK(witness == NULL || strncmp(witness, "kernel.", strlen("kernel.")) == 0);
    }
}

static void what_may_be_more_than_was_planned_is_listed(void)
{
    check_exceptions(is_lenient, "healthcheck masked_paths readonly_paths ", "", "");
}

static void what_may_differ_between_two_readings_is_run_state(void)
{
    check_exceptions(is_run_state, "state oom_killed error restart_count exec_ids endpoints ", "",
                     "");
}

static void every_other_fact_is_judged_in_both_rounds(void)
{
    for (size_t i = 0; i < cordon_container_rule_count; i++) {
        const cordon_rule *rule = &cordon_container_rules[i];

        TEST_RECORDF(is_harmless(rule) || rule->rounds == 3 || is_place(rule),
                     "%s is not always judged", rule->name);
        TEST_RECORDF(rule->kind != CORDON_RULE_NONE, "%s has no kind", rule->name);
    }
    for (size_t i = 0; i < cordon_network_rule_count; i++) {
        const cordon_rule *rule = &cordon_network_rules[i];
        unsigned want = strcmp(rule->name, "endpoints") == 0 ? CORDON_ROUND_RUNNING : 3;

        TEST_RECORDF(is_harmless(rule) || rule->rounds == want, "%s is not always judged",
                     rule->name);
    }
    for (size_t i = 0; i < cordon_volume_rule_count; i++) {
        const cordon_rule *rule = &cordon_volume_rules[i];
        /* Where it lies is learned when it is made, and may not change. */
        unsigned want = strcmp(rule->name, "place") == 0 ? CORDON_ROUND_RUNNING : 3;

        TEST_RECORDF(is_harmless(rule) || rule->rounds == want, "%s is not always judged",
                     rule->name);
    }
}

/* --- Mutants ---------------------------------------------------------------------------------- */

typedef enum fate {
    FATE_REFUSED = 0, /* with the rule's own code */
    FATE_UNKNOWN,     /* refused, because it was not told */
    FATE_PASSES,
} mutant_fate;

typedef struct mutant {
    char what[160];
    mutant_fate fate;
} mutant;

static void describe(mutant *made, mutant_fate fate, const cordon_rule *rule, const char *what)
{
    (void)snprintf(made->what, sizeof(made->what), "%s %s", rule->name, what);
    made->fate = fate;
}

static bool set_text(cordon_fact_text *text, const char *value)
{
    cordon_err err = CORDON_ERR_INIT;

    return CHECK_OK(cordon_fact_text_set(text, value, &err), err);
}

/* The mutate functions make change number m of a fact; false when there is none of that number. */
static bool mutate_text(const cordon_rule *rule, cordon_fact_text *text, size_t m, mutant *made)
{
    char longer[256];

    describe(made, FATE_REFUSED, rule, m == 1 ? "longer" : m == 2 ? "empty" : "shorter");
    (void)snprintf(longer, sizeof(longer), "%sx", *text);
    if (m == 1)
        return set_text(text, longer);
    if (m > 3 || (*text)[0] == '\0')
        return false;
    longer[m == 2 ? 0 : strlen(*text) - 1] = '\0';
    return set_text(text, longer);
}

static bool mutate_bool(const cordon_rule *rule, cordon_fact_bool *fact, size_t m, mutant *made)
{
    describe(made, FATE_REFUSED, rule, "flipped");
    *fact = *fact == CORDON_FACT_YES ? CORDON_FACT_NO : CORDON_FACT_YES;
    return m == 1;
}

static bool mutate_int(const cordon_rule *rule, cordon_fact_int *fact, size_t m, mutant *made)
{
    static const char *const what[] = {"", "+ 1", "- 1", "negated", "extreme"};
    int64_t values[] = {0, fact->value + 1, fact->value - 1, -fact->value, INT64_MAX};

    if (m >= sizeof(values) / sizeof(values[0]))
        return false;
    describe(made, values[m] == fact->value ? FATE_PASSES : FATE_REFUSED, rule, what[m]);
    fact->value = values[m];
    return true;
}

static bool mutate_state(const cordon_rule *rule, cordon_run_state *fact, size_t m, mutant *made)
{
    bool same = *fact == (cordon_run_state)m;

    if (m > CORDON_STATE_DEAD)
        return false;
    *fact = (cordon_run_state)m;
    describe(made, same ? FATE_PASSES : FATE_REFUSED, rule, cordon_run_state_name(*fact));
    return true;
}

static bool add_item(cordon_fact_list *list, const char *item)
{
    cordon_err err = CORDON_ERR_INIT;

    return CHECK_OK(cordon_fact_list_add(list, item, &err), err);
}

static void drop_item(cordon_fact_list *list, size_t at)
{
    free(list->items[at]);
    list->items[at] = list->items[--list->count];
}

static bool swap_items(const cordon_rule *rule, cordon_fact_list *list, mutant *made)
{
    char *first = list->count > 1 ? list->items[0] : NULL;

    if (first == NULL)
        return false;
    describe(made, rule->kind == CORDON_RULE_SEQUENCE ? FATE_REFUSED : FATE_PASSES, rule,
             "in another order");
    list->items[0] = list->items[list->count - 1];
    list->items[list->count - 1] = first;
    return true;
}

static bool mutate_list(const cordon_rule *rule, cordon_fact_list *list, size_t m, mutant *made)
{
    bool at_least = rule->kind == CORDON_RULE_SUPERSET;
    bool repeats = at_least;
    size_t at = (m - 2) / 3;

    if (m == 1) {
        describe(made, at_least ? FATE_PASSES : FATE_REFUSED, rule, "with one more item");
        return add_item(list, "EXTRA=1");
    }
    if (at >= list->count)
        return m == 2 + 3 * list->count && swap_items(rule, list, made);
    if ((m - 2) % 3 == 0) {
        describe(made, FATE_REFUSED, rule, "without an item");
        drop_item(list, at);
        return true;
    }
    if ((m - 2) % 3 == 1) {
        char *changed = list->items[at];

        describe(made, FATE_REFUSED, rule, "with an item changed");
        changed[strlen(changed) - 1] ^= 1;
        return true;
    }
    describe(made, repeats ? FATE_PASSES : FATE_REFUSED, rule, "with an item twice");
    return add_item(list, list->items[at]);
}

/* Change number 0 of every fact: the engine does not tell it. */
static void forget(const cordon_rule *rule, void *fact, mutant *made)
{
    describe(made, rule->witness != NULL ? FATE_PASSES : FATE_UNKNOWN, rule, "not told");
    switch (rule->kind) {
    case CORDON_RULE_TEXT:
        free(*(cordon_fact_text *)fact);
        *(cordon_fact_text *)fact = NULL;
        break;
    case CORDON_RULE_BOOL:
        *(cordon_fact_bool *)fact = CORDON_FACT_UNKNOWN;
        break;
    case CORDON_RULE_INT:
        ((cordon_fact_int *)fact)->known = false;
        break;
    case CORDON_RULE_STATE:
        *(cordon_run_state *)fact = CORDON_STATE_UNKNOWN;
        break;
    case CORDON_RULE_MOUNTS:
        ((cordon_mount_facts *)fact)->known = false;
        break;
    case CORDON_RULE_ENDPOINTS:
        ((cordon_endpoint_facts *)fact)->known = false;
        break;
    case CORDON_RULE_SEQUENCE:
    case CORDON_RULE_SET:
    case CORDON_RULE_SUPERSET:
    case CORDON_RULE_OFF:
        ((cordon_fact_list *)fact)->known = false;
        break;
    case CORDON_RULE_WITHIN:
    case CORDON_RULE_FREE_OF:
    case CORDON_RULE_SYSCTLS:
    case CORDON_RULE_CONFINED:
    case CORDON_RULE_NONE:
    case CORDON_RULE_HARMLESS:
    default:
        CHECK(!"a rule that has nothing to forget");
    }
}

/* Mounts and endpoints have a test of their own, test_validate_parts.c. */
static bool mutate(const cordon_rule *rule, void *fact, size_t m, mutant *made)
{
    if (m == 0) {
        forget(rule, fact, made);
        return true;
    }
    switch (rule->kind) {
    case CORDON_RULE_TEXT:
        return mutate_text(rule, fact, m, made);
    case CORDON_RULE_BOOL:
        return mutate_bool(rule, fact, m, made);
    case CORDON_RULE_INT:
        return mutate_int(rule, fact, m, made);
    case CORDON_RULE_STATE:
        return mutate_state(rule, fact, m, made);
    case CORDON_RULE_SEQUENCE:
    case CORDON_RULE_SET:
    case CORDON_RULE_SUPERSET:
    case CORDON_RULE_OFF:
        return mutate_list(rule, fact, m, made);
    case CORDON_RULE_MOUNTS:
    case CORDON_RULE_ENDPOINTS:
    case CORDON_RULE_WITHIN:
    case CORDON_RULE_FREE_OF:
    case CORDON_RULE_SYSCTLS:
    case CORDON_RULE_CONFINED:
    case CORDON_RULE_NONE:
    case CORDON_RULE_HARMLESS:
    default:
        return false;
    }
}

/* One mutant, judged; false when there is none of this number. */
static bool try_mutant(const sample_run *run, const sample_subject *subject,
                       const cordon_rule *rule, size_t m)
{
    cordon_auto(sample_pair) pair = {0};
    cordon_err err = CORDON_ERR_INIT;
    mutant made;
    char fact[160];
    int rc;

    if (!sample_pair_make(run, subject, &pair) ||
        !mutate(rule, sample_fact(&pair, rule, false), m, &made))
        return false;
    rc = sample_validate(&pair, &err);
    (void)snprintf(fact, sizeof(fact), "%s.%s", subject->name, rule->name);
    if (made.fate == FATE_PASSES)
        sample_check_passes(&pair, rc, &err, made.what);
    else
        sample_check_refused(&pair, rc, &err,
                             made.fate == FATE_UNKNOWN ? CORDON_REFUSED_UNKNOWN : rule->code, fact,
                             made.what);
    return true;
}

static void what_was_planned_passes_as_a_whole(void)
{
    cordon_auto(sample_run) run = {0};

    REQUIRE(sample_run_make(&run));
    for (size_t i = 0; i < SAMPLE_SUBJECTS; i++) {
        cordon_auto(sample_pair) pair = {0};
        cordon_err err = CORDON_ERR_INIT;
        size_t rules;
        size_t not_judged = 0;

        REQUIRE(sample_pair_make(&run, &sample_subjects[i], &pair));
        sample_check_passes(&pair, sample_validate(&pair, &err), &err, "unchanged");
        for (size_t j = 0; j < (sample_rules(&sample_subjects[i], &rules), rules); j++)
            not_judged += (sample_rules(&sample_subjects[i], &rules)[j].rounds &
                           sample_subjects[i].round) == 0;
        CHECK_INT(pair.tally.facts, rules - not_judged);
    }
}

/* An expectation that is itself unknown would accept anything. */
static void the_plan_knows_every_fact_that_is_judged(void)
{
    static const char zeros[sizeof(cordon_fact_list)];
    cordon_auto(sample_run) run = {0};

    REQUIRE(sample_run_make(&run));
    for (size_t i = 0; i < SAMPLE_SUBJECTS; i++) {
        cordon_auto(sample_pair) pair = {0};
        size_t count;
        const cordon_rule *rules = sample_rules(&sample_subjects[i], &count);

        REQUIRE(sample_pair_make(&run, &sample_subjects[i], &pair));
        for (size_t j = 0; j < count; j++) {
            if ((rules[j].rounds & sample_subjects[i].round) == 0)
                continue;
            REQUIRE(rules[j].size <= sizeof(zeros));
            TEST_RECORDF(memcmp(sample_fact(&pair, &rules[j], true), zeros, rules[j].size) != 0,
                         "%s.%s is not in the plan", sample_subjects[i].name, rules[j].name);
        }
    }
}

static void every_single_change_is_refused_by_name(void)
{
    cordon_auto(sample_run) run = {0};
    size_t mutants = 0;

    REQUIRE(sample_run_make(&run));
    for (size_t i = 0; i < SAMPLE_SUBJECTS; i++) {
        size_t count;
        const cordon_rule *rules = sample_rules(&sample_subjects[i], &count);

        for (size_t j = 0; j < count; j++) {
            if ((rules[j].rounds & sample_subjects[i].round) == 0)
                continue;
            for (size_t m = 0; try_mutant(&run, &sample_subjects[i], &rules[j], m); m++)
                mutants++;
        }
    }
    (void)printf("%zu mutants ... ", mutants);
    CHECK(mutants > 1000);
}

CORDON_TEST_MAIN("validate", TEST(every_byte_of_a_containers_facts_has_one_rule),
                 TEST(every_byte_of_a_networks_facts_has_one_rule),
                 TEST(every_byte_of_a_volumes_facts_has_one_rule), TEST(no_fact_is_named_twice),
                 TEST(what_is_not_judged_is_listed_and_has_a_reason),
                 TEST(what_an_engine_may_leave_untold_is_seen_by_the_gate),
                 TEST(what_may_be_more_than_was_planned_is_listed),
                 TEST(what_may_differ_between_two_readings_is_run_state),
                 TEST(every_other_fact_is_judged_in_both_rounds),
                 TEST(what_was_planned_passes_as_a_whole),
                 TEST(the_plan_knows_every_fact_that_is_judged),
                 TEST(every_single_change_is_refused_by_name))

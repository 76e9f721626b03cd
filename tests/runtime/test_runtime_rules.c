/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime's table measured: every byte of the facts has its rule, the plan knows what each is
 * to be, and every fact that is changed, or not told, is refused by its own name.
 */
#include <stdlib.h>

#include "support/sample_plan.h"
#include "validate.h"

typedef struct pair {
    sample_run run;
    cordon_runtime_facts expected;
    cordon_runtime_facts actual;
} pair;

static void pair_clear(pair *p)
{
    cordon_runtime_facts_clear(&p->expected);
    cordon_runtime_facts_clear(&p->actual);
    sample_run_clear(&p->run);
}
CORDON_DEFINE_AUTO(pair, pair_clear)

static bool set_text(cordon_fact_text *text, const char *value)
{
    cordon_err err = CORDON_ERR_INIT;
    return CHECK_OK(cordon_fact_text_set(text, value, &err), err);
}

static bool add(cordon_fact_list *list, const char *item)
{
    cordon_err err = CORDON_ERR_INIT;
    return CHECK_OK(cordon_fact_list_add(list, item, &err), err);
}

/* What an honest Podman shows where that is not the expectation itself. */
static bool as_shown(cordon_runtime_facts *facts)
{
    for (size_t i = 0; i < facts->mounts.count; i++) {
        if (facts->mounts.items[i].type == CORDON_MOUNT_BIND &&
            !set_text(&facts->mounts.items[i].propagation, "rprivate"))
            return false;
    }
    cordon_fact_list_clear(&facts->seccomp_allowed);
    return add(&facts->seccomp_allowed, "read") &&
           set_text(&facts->apparmor_profile, "a-profile") &&
           set_text(&facts->selinux_label, "system_u:system_r:container_t:s0:c1,c2");
}

static bool pair_make(pair *p)
{
    cordon_err err = CORDON_ERR_INIT;
    if (!sample_input(&p->run) || !add(&p->run.engine.security, "apparmor") ||
        !add(&p->run.engine.security, "selinux"))
        return false;
    p->run.engine.rootless = CORDON_FACT_NO;
    p->run.input.keep_id = true;
    bool made = sample_plan(&p->run) &&
                CHECK_OK(cordon_expect_runtime(&p->run.plan, CORDON_ROLE_STEP, &p->run.ids,
                                               &p->expected, &err),
                         err) &&
                CHECK_OK(cordon_expect_runtime(&p->run.plan, CORDON_ROLE_STEP, &p->run.ids,
                                               &p->actual, &err),
                         err) &&
                as_shown(&p->actual);
    cordon_fact_list_clear(&p->run.engine.security);
    return made;
}

static int judge(pair *p, cordon_refusal *refusal, cordon_err *err)
{
    cordon_tally tally = {0};
    *refusal = (cordon_refusal){.code = CORDON_REFUSED_NONE};
    return cordon_validate_runtime("step.runtime", &p->expected, &p->actual, &tally, refusal, err);
}

static void what_was_planned_passes(void)
{
    cordon_auto(pair) p = {0};
    cordon_refusal refusal;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(pair_make(&p));
    CHECK_OK(judge(&p, &refusal, &err), err);
}

static int by_offset(const void *a, const void *b)
{
    const cordon_rule *left = a;
    const cordon_rule *right = b;
    return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static void every_byte_of_the_facts_has_one_rule(void)
{
    cordon_rule sorted[64];
    size_t end = 0;
    REQUIRE(cordon_runtime_rule_count <= sizeof sorted / sizeof sorted[0]);
    memcpy(sorted, cordon_runtime_rules, cordon_runtime_rule_count * sizeof sorted[0]);
    qsort(sorted, cordon_runtime_rule_count, sizeof sorted[0], by_offset);
    for (size_t i = 0; i < cordon_runtime_rule_count; i++) {
        TEST_RECORDF(sorted[i].offset >= end && sorted[i].offset < end + sizeof(void *),
                     "a gap or an overlap before %s", sorted[i].name);
        end = sorted[i].offset + sorted[i].size;
    }
    CHECK(end + sizeof(void *) > sizeof(cordon_runtime_facts));
}

static void the_plan_knows_every_fact(void)
{
    static const char zeros[sizeof(cordon_fact_list)];
    cordon_auto(pair) p = {0};
    REQUIRE(pair_make(&p));
    for (size_t i = 0; i < cordon_runtime_rule_count; i++) {
        const cordon_rule *rule = &cordon_runtime_rules[i];
        TEST_RECORDF(memcmp((const char *)&p.expected + rule->offset, zeros, rule->size) != 0,
                     "%s is not in the plan", rule->name);
        TEST_RECORDF(rule->kind != CORDON_RULE_HARMLESS && rule->witness == NULL,
                     "%s need not be told", rule->name);
    }
}

/* --- One change --- */

/* Forgets a fact. */
static void forget(const cordon_rule *rule, void *fact)
{
    if (rule->kind == CORDON_RULE_TEXT || rule->kind == CORDON_RULE_CONFINED) {
        free(*(cordon_fact_text *)fact);
        *(cordon_fact_text *)fact = NULL;
    } else if (rule->kind == CORDON_RULE_BOOL) {
        *(cordon_fact_bool *)fact = CORDON_FACT_UNKNOWN;
    } else if (rule->kind == CORDON_RULE_INT) {
        ((cordon_fact_int *)fact)->known = false;
    } else if (rule->kind == CORDON_RULE_MOUNTS) {
        ((cordon_mount_facts *)fact)->known = false;
    } else {
        ((cordon_fact_list *)fact)->known = false;
    }
}

static bool change_list(const cordon_rule *rule, cordon_fact_list *list)
{
    if (rule->kind == CORDON_RULE_FREE_OF)
        return add(list, "userfaultfd");
    if (rule->kind != CORDON_RULE_SUPERSET)
        return add(list, "deny-all=1");
    free(list->items[0]);
    list->items[0] = list->items[--list->count];
    return true;
}

/* Makes it another one than the plan has. */
static bool change(const cordon_rule *rule, void *fact)
{
    if (rule->kind == CORDON_RULE_TEXT)
        return set_text(fact, "zz");
    if (rule->kind == CORDON_RULE_CONFINED)
        return set_text(fact, "unconfined");
    if (rule->kind == CORDON_RULE_INT)
        return ((cordon_fact_int *)fact)->value++ < INT64_MAX;
    if (rule->kind == CORDON_RULE_MOUNTS)
        return set_text(&((cordon_mount_facts *)fact)->items[0].target, "/zz");
    if (rule->kind != CORDON_RULE_BOOL)
        return change_list(rule, fact);
    cordon_fact_bool *flag = fact;
    *flag = *flag == CORDON_FACT_YES ? CORDON_FACT_NO : CORDON_FACT_YES;
    return true;
}

static void check_refused(pair *p, const cordon_rule *rule, cordon_refusal_code code)
{
    char fact[96];
    cordon_refusal refusal;
    cordon_err err = CORDON_ERR_INIT;
    (void)snprintf(fact, sizeof fact, "step.runtime.%s", rule->name);
    (void)!judge(p, &refusal, &err);
    TEST_RECORDF(refusal.code == code && strcmp(refusal.fact, fact) == 0,
                 "%s: %s at \"%s\", want %s", rule->name, cordon_refusal_name(refusal.code),
                 refusal.fact, cordon_refusal_name(code));
}

static void what_is_changed_or_not_told_is_refused_by_its_name(void)
{
    for (size_t i = 0; i < cordon_runtime_rule_count; i++) {
        const cordon_rule *rule = &cordon_runtime_rules[i];
        cordon_auto(pair) silent = {0};
        cordon_auto(pair) other = {0};
        REQUIRE(pair_make(&silent) && pair_make(&other));
        forget(rule, (char *)&silent.actual + rule->offset);
        check_refused(&silent, rule, CORDON_REFUSED_UNKNOWN);
        REQUIRE(change(rule, (char *)&other.actual + rule->offset));
        check_refused(&other, rule, rule->code);
    }
}

/* --- What may be more, less or different --- */

static cordon_refusal_code with_label(const char *apparmor, const char *selinux)
{
    cordon_auto(pair) p = {0};
    cordon_refusal refusal = {.code = CORDON_REFUSED_NONE};
    cordon_err err = CORDON_ERR_INIT;
    if (pair_make(&p) && set_text(&p.actual.apparmor_profile, apparmor) &&
        set_text(&p.actual.selinux_label, selinux))
        (void)!judge(&p, &refusal, &err);
    return refusal.code;
}

static void a_label_confines_or_is_refused(void)
{
    static const char confined[] = "system_u:system_r:container_t:s0:c1,c2";
    CHECK_INT(with_label("containers-default-0.50.1", confined), CORDON_REFUSED_NONE);
    CHECK_INT(with_label("", confined), CORDON_REFUSED_MISMATCH);
    CHECK_INT(with_label("containers-default-0.50.1", ""), CORDON_REFUSED_MISMATCH);
    CHECK_INT(with_label("containers-default-0.50.1", "system_u:system_r:spc_t:s0"),
              CORDON_REFUSED_MISMATCH);
    CHECK_INT(with_label("containers-default-0.50.1",
                         "unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023"),
              CORDON_REFUSED_MISMATCH);
}

static void what_an_engine_adds_or_leaves_out_by_itself_passes(void)
{
    cordon_auto(pair) p = {0};
    cordon_refusal refusal;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(pair_make(&p));
    REQUIRE(add(&p.actual.sysctls, "net.ipv4.ping_group_range=0 0"));
    cordon_fact_list_clear(&p.actual.extra_groups);
    cordon_fact_list_known(&p.actual.extra_groups);
    REQUIRE(add(&p.actual.masked_paths, "/proc/more"));
    CHECK_OK(judge(&p, &refusal, &err), err);
}

static void a_range_of_pings_for_everybody_does_not(void)
{
    cordon_auto(pair) p = {0};
    cordon_refusal refusal;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(pair_make(&p) && add(&p.actual.sysctls, "net.ipv4.ping_group_range=0 2147483647"));
    CHECK_INT(judge(&p, &refusal, &err), -1);
    CHECK_STR(refusal.fact, "step.runtime.sysctls");
}

CORDON_TEST_MAIN("runtime_rules", TEST(what_was_planned_passes),
                 TEST(every_byte_of_the_facts_has_one_rule), TEST(the_plan_knows_every_fact),
                 TEST(what_is_changed_or_not_told_is_refused_by_its_name),
                 TEST(a_label_confines_or_is_refused),
                 TEST(what_an_engine_adds_or_leaves_out_by_itself_passes),
                 TEST(a_range_of_pings_for_everybody_does_not))

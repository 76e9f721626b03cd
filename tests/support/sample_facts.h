/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expected and actual facts of one object of the sample run, in one round: the actual ones as an
 * honest engine shows them, so that a test changes exactly one thing and sees what is made of it.
 */
#ifndef CORDON_TESTS_SUPPORT_SAMPLE_FACTS_H
#define CORDON_TESTS_SUPPORT_SAMPLE_FACTS_H

#include <stdlib.h>

#include "support/sample_plan.h"
#include "validate.h"

typedef struct sample_subject {
    const char *name; /* as in fact paths */
    cordon_role role;
    cordon_round round;
} sample_subject;

/* Every object of a run, in every round. */
static const sample_subject sample_subjects[] = {
    {"step", CORDON_ROLE_STEP, CORDON_ROUND_CREATED},
    {"step", CORDON_ROLE_STEP, CORDON_ROUND_RUNNING},
    {"proxy", CORDON_ROLE_PROXY, CORDON_ROUND_CREATED},
    {"proxy", CORDON_ROLE_PROXY, CORDON_ROUND_RUNNING},
    {"vendor-network", CORDON_ROLE_VENDOR_NETWORK, CORDON_ROUND_CREATED},
    {"vendor-network", CORDON_ROLE_VENDOR_NETWORK, CORDON_ROUND_RUNNING},
    {"egress-network", CORDON_ROLE_EGRESS_NETWORK, CORDON_ROUND_CREATED},
    {"egress-network", CORDON_ROLE_EGRESS_NETWORK, CORDON_ROUND_RUNNING},
};
#define SAMPLE_SUBJECTS (sizeof(sample_subjects) / sizeof(sample_subjects[0]))

/* Only one kind is filled, the one that the subject is of. */
typedef struct sample_pair {
    const sample_subject *subject;
    cordon_container_facts expected;
    cordon_container_facts actual;
    cordon_network_facts expected_network;
    cordon_network_facts actual_network;
    cordon_refusal refusal;
    cordon_tally tally;
} sample_pair;

static inline void sample_pair_clear(sample_pair *pair)
{
    cordon_container_facts_clear(&pair->expected);
    cordon_container_facts_clear(&pair->actual);
    cordon_network_facts_clear(&pair->expected_network);
    cordon_network_facts_clear(&pair->actual_network);
}
CORDON_DEFINE_AUTO(sample_pair, sample_pair_clear)

static inline bool sample_is_network(const sample_subject *subject)
{
    return cordon_role_type(subject->role) == CORDON_OBJECT_NETWORK;
}

static inline const cordon_rule *sample_rules(const sample_subject *subject, size_t *ret_count)
{
    bool network = sample_is_network(subject);

    *ret_count = network ? cordon_network_rule_count : cordon_container_rule_count;
    return network ? cordon_network_rules : cordon_container_rules;
}

/* What engines add to what was asked for. */
static inline bool sample_as_shown(cordon_container_facts *facts)
{
    cordon_err err = CORDON_ERR_INIT;

    for (size_t i = 0; i < facts->mounts.count; i++) {
        cordon_mount_fact *mount = &facts->mounts.items[i];

        if (mount->type == CORDON_MOUNT_BIND &&
            !CHECK_OK(cordon_fact_text_set(&mount->propagation, "rprivate", &err), err))
            return false;
    }
    return true;
}

static inline bool sample_pair_make(const sample_run *run, const sample_subject *subject,
                                    sample_pair *pair)
{
    cordon_err err = CORDON_ERR_INIT;

    pair->subject = subject;
    if (sample_is_network(subject))
        return CHECK_OK(cordon_expect_network(&run->plan, subject->role, &run->ids, subject->round,
                                              &pair->expected_network, &err),
                        err) &&
               CHECK_OK(cordon_expect_network(&run->plan, subject->role, &run->ids, subject->round,
                                              &pair->actual_network, &err),
                        err);
    return CHECK_OK(cordon_expect_container(&run->plan, subject->role, &run->ids, subject->round,
                                            &pair->expected, &err),
                    err) &&
           CHECK_OK(cordon_expect_container(&run->plan, subject->role, &run->ids, subject->round,
                                            &pair->actual, &err),
                    err) &&
           sample_as_shown(&pair->actual);
}

static inline void *sample_fact(sample_pair *pair, const cordon_rule *rule, bool expected)
{
    void *container = expected ? &pair->expected : &pair->actual;
    void *network = expected ? &pair->expected_network : &pair->actual_network;

    return (char *)(sample_is_network(pair->subject) ? network : container) + rule->offset;
}

static inline int sample_validate(sample_pair *pair, cordon_err *err)
{
    const sample_subject *subject = pair->subject;

    if (sample_is_network(subject))
        return cordon_validate_network(subject->name, &pair->expected_network,
                                       &pair->actual_network, subject->round, &pair->tally,
                                       &pair->refusal, err);
    return cordon_validate_container(subject->name, &pair->expected, &pair->actual, subject->round,
                                     &pair->tally, &pair->refusal, err);
}

/* The refusal has this code and this fact; `what` tells which mutant it was. */
static inline bool sample_check_refused(const sample_pair *pair, int rc, const cordon_err *err,
                                        cordon_refusal_code code, const char *fact,
                                        const char *what)
{
    return TEST_RECORDF(
        rc == -1 && err->code == CORDON_ERR_REFUSED && pair->refusal.code == code &&
            strcmp(pair->refusal.fact, fact) == 0,
        "%s in round %d: %.60s: rc %d, %s at \"%.80s\" (%.60s / %.60s), want %s at \"%.80s\"",
        pair->subject->name, pair->subject->round, what, rc,
        cordon_refusal_name(pair->refusal.code), pair->refusal.fact, pair->refusal.expected,
        pair->refusal.actual, cordon_refusal_name(code), fact);
}

static inline bool sample_check_passes(const sample_pair *pair, int rc, const cordon_err *err,
                                       const char *what)
{
    return TEST_RECORDF(rc == 0 && pair->refusal.code == CORDON_REFUSED_NONE,
                        "%s in round %d: %s: not accepted: %.250s", pair->subject->name,
                        pair->subject->round, what, err->message);
}

/* Changes to make; a NULL text is one that was not told. */
static inline bool sample_set_text(cordon_fact_text *text, const char *value)
{
    cordon_err err = CORDON_ERR_INIT;

    if (value != NULL)
        return CHECK_OK(cordon_fact_text_set(text, value, &err), err);
    free(*text);
    *text = NULL;
    return true;
}

static inline bool sample_add_item(cordon_fact_list *list, const char *item)
{
    cordon_err err = CORDON_ERR_INIT;

    return CHECK_OK(cordon_fact_list_add(list, item, &err), err);
}

static inline void sample_drop_item(cordon_fact_list *list, size_t at)
{
    free(list->items[at]);
    list->items[at] = list->items[--list->count];
}

/* The actual mount at a target, NULL when there is none. */
/* The samples have what tests ask for: never NULL. */
static inline cordon_mount_fact *sample_mount_at(sample_pair *pair, const char *target)
{
    for (size_t i = 0; i < pair->actual.mounts.count; i++) {
        if (strcmp(pair->actual.mounts.items[i].target, target) == 0)
            return &pair->actual.mounts.items[i];
    }
    abort();
}

static inline bool sample_add_mount(sample_pair *pair, const char *source, const char *target)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_mount_fact *mount;

    if (!CHECK_OK(cordon_mount_facts_add(&pair->actual.mounts, &mount, &err), err))
        return false;
    mount->type = CORDON_MOUNT_BIND;
    mount->read_only = CORDON_FACT_YES;
    return sample_set_text(&mount->source, source) && sample_set_text(&mount->target, target) &&
           sample_set_text(&mount->propagation, "rprivate");
}

#endif

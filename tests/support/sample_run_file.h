/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a recorded run (tests/samples/README.md), made again from its file, so that what was
 * recorded can be held against what was planned.
 */
#ifndef CORDON_TESTS_SUPPORT_SAMPLE_RUN_FILE_H
#define CORDON_TESTS_SUPPORT_SAMPLE_RUN_FILE_H

#include "support/sample_file.h"
#include "support/sample_plan.h"

/* "key value" lines. The value, in a buffer of the caller's; false when there is none. */
static inline bool sample_plan_value(const char *text, const char *key, char ret_value[256])
{
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) != 0 || line[length] != ' ')
            continue;
        const char *value = line + length + 1;
        (void)snprintf(ret_value, 256, "%.*s", (int)strcspn(value, "\n"), value);
        return true;
    }
    return TEST_RECORDF(false, "the plan has no %s", key);
}

/* What a recorded run is made from; kept together because the plan points into it. */
typedef struct sample_recorded {
    sample_run run;
    char texts[8][256];
    cordon_fact_list no_labels;
} sample_recorded;

/* Scratch and keeper are of a run of several steps alone. */
static inline bool sample_plan_is_shared(const char *text)
{
    return strstr(text, "\nsteps 2\n") != NULL;
}

static inline bool sample_plan_has(const char *text, cordon_role role)
{
    return sample_plan_is_shared(text) ||
           (role != CORDON_ROLE_SCRATCH && role != CORDON_ROLE_KEEPER);
}

static inline bool sample_recorded_owner(const char *text, cordon_owner *owner)
{
    char value[256];
    const char *prefixes[] = {CORDON_LABEL_OWNER, CORDON_LABEL_INVOCATION, CORDON_LABEL_ROLE,
                              CORDON_LABEL_TOKEN};
    const char *keys[] = {"owner", "invocation", NULL, "token"};
    for (int role = 0; role < CORDON_ROLE_COUNT; role++) {
        cordon_badge *badge = &owner->badges[role];
        char name[64];
        if (!sample_plan_has(text, (cordon_role)role))
            continue;
        (void)snprintf(name, sizeof name, "name.%s", cordon_role_name((cordon_role)role));
        if (!sample_plan_value(text, name, value))
            return false;
        (void)snprintf(badge->name, sizeof badge->name, "%.*s", (int)sizeof badge->name - 1, value);
        for (size_t i = 0; i < CORDON_LABEL_COUNT; i++) {
            if (keys[i] && !sample_plan_value(text, keys[i], value))
                return false;
            (void)snprintf(badge->labels[i], CORDON_LABEL_SIZE, "%s=%.80s", prefixes[i],
                           keys[i] ? value : cordon_role_name((cordon_role)role));
            badge->label_items[i] = badge->labels[i];
        }
    }
    return true;
}

static inline bool sample_recorded_number(const char *text, const char *key, long *ret)
{
    char value[256];
    char *end = NULL;
    if (!sample_plan_value(text, key, value))
        return false;
    *ret = strtol(value, &end, 10);
    return CHECK(*end == '\0');
}

static inline bool sample_recorded_input(const char *text, sample_recorded *r)
{
    static const char *const keys[] = {"guard",    "step_image", "worktree",
                                       "id.proxy", "id.step",    "runtime"};
    long delivery = 0;
    long uid = 0;
    long keep_id = 0;
    long can = 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (!sample_plan_value(text, keys[i], r->texts[i]))
            return false;
    }
    if (!sample_recorded_number(text, "delivery", &delivery) ||
        !sample_recorded_number(text, "uid", &uid) ||
        !sample_recorded_number(text, "keep_id", &keep_id) ||
        !sample_recorded_number(text, "can", &can))
        return false;
    r->no_labels.known = true;
    r->run.engine.can = (unsigned)can;
    r->run.engine.runtime = r->texts[5];
    r->run.hosts[0] = (cordon_plan_host){"api.anthropic.com", NULL};
    r->run.input = (cordon_plan_input){
        .networked = true,
        .owner = &r->run.owner,
        .engine = &r->run.engine,
        .hosts = r->run.hosts,
        .host_count = 1,
        .limits = {.memory_bytes = INT64_C(256) << 20,
                   .nano_cpus = INT64_C(1500000000),
                   .pids = 100,
                   .open_files = 1000,
                   .scratch_bytes = INT64_C(16) << 20},
        .guard_image_id = r->texts[0],
        .step_image_id = r->texts[1],
        .step_image_labels = &r->no_labels,
        .delivery = (cordon_gate_delivery)delivery,
        .worktree = r->texts[2],
        .uid = (uid_t)uid,
        .gid = (gid_t)uid,
        .keep_id = keep_id != 0,
        .shared = sample_plan_is_shared(text),
    };
    if (r->run.input.shared && !sample_plan_value(text, "id.keeper", r->texts[6]))
        return false;
    (void)snprintf(r->run.ids.keeper, sizeof r->run.ids.keeper, "%.64s", r->texts[6]);
    (void)snprintf(r->run.ids.proxy, sizeof r->run.ids.proxy, "%.64s", r->texts[3]);
    (void)snprintf(r->run.ids.step, sizeof r->run.ids.step, "%.64s", r->texts[4]);
    return true;
}

static inline bool sample_recorded_networks(const char *text, cordon_plan *plan)
{
    cordon_err err = CORDON_ERR_INIT;
    for (int role = CORDON_ROLE_VENDOR_NETWORK; role <= CORDON_ROLE_EGRESS_NETWORK; role++) {
        char key[64];
        char value[256];
        (void)snprintf(key, sizeof key, "subnet.%s", cordon_role_name((cordon_role)role));
        if (!sample_plan_value(text, key, value) ||
            !CHECK_OK(cordon_plan_place(plan, (cordon_role)role, value, &err), err))
            return false;
        (void)snprintf(key, sizeof key, "id.%s", cordon_role_name((cordon_role)role));
        if (!sample_plan_value(text, key, value))
            return false;
        cordon_plan_network_made(plan, (cordon_role)role, value);
    }
    return true;
}

/* samples: "docker/20.10-run". Must stay where it is. */
static inline bool sample_recorded_make(const char *samples, sample_recorded *r)
{
    char name[128];
    (void)snprintf(name, sizeof name, "%s.plan", samples);
    cordon_autofree char *text = sample_read(name);
    if (!text || !sample_recorded_owner(text, &r->run.owner) || !sample_recorded_input(text, r))
        return false;
    cordon_plan_init(&r->run.plan, &r->run.input);
    return sample_recorded_networks(text, &r->run.plan);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The table over the gate's report; see witness.h. The judges stand in witness_judges.c. */
#include "witness.h"

#include <stdio.h>
#include <string.h>

#include "witness_judges.h"

/* --- The table --- */

typedef struct witness_rule {
    const char *key;
    witness_judge *judge; /* NULL: told for people and later checks, harmless by itself */
    unsigned least;       /* how often it must be there */
    unsigned most;        /* 0: any number */
} witness_rule;

static const witness_rule witness_rules[] = {
    {"uid", cordon_judge_uid, 1, 1},
    {"gid", cordon_judge_gid, 1, 1},
    {"group", cordon_judge_group, 0, 1},
    {"cap.inheritable", cordon_judge_no_caps, 1, 1},
    {"cap.permitted", cordon_judge_no_caps, 1, 1},
    {"cap.effective", cordon_judge_no_caps, 1, 1},
    {"cap.bounding", cordon_judge_no_caps, 1, 1},
    {"cap.ambient", cordon_judge_no_caps, 1, 1},
    {"no_new_privs", cordon_judge_one, 1, 1},
    {"seccomp.mode", cordon_judge_seccomp, 1, 1},
    {"seccomp.filters", cordon_judge_seccomp_filters, 0, 1},
    {"securebits", cordon_judge_zero, 1, 1},
    {"dumpable", NULL, 1, 1}, /* before the gate cleared it: the runtime's choice */
    {"pid", cordon_judge_one, 1, 1},
    {"mount", cordon_judge_mount, 2, 0},
    {"folder", cordon_judge_folder, 0, 0},
    {"interface", cordon_judge_interface, 1, 0},
    {"address", cordon_judge_address, 1, 0},
    {"route", cordon_judge_route, 0, 0},
    {"resolv", cordon_judge_resolv, 0, 0},
    {"hosts", NULL, 0, 0}, /* names for addresses; the addresses are not reachable */
    {"fd", cordon_judge_fd, 3, 3},
    {"limit", cordon_judge_limit, 3, 0},
    {"ns", cordon_judge_ns, 6, 0},
    {"cgroup", NULL, 0, 0}, /* a path inside the container's own cgroup namespace */
    {"cgroup.memory.max", cordon_judge_memory_max, 0, 1},
    {"cgroup.pids.max", cordon_judge_pids_max, 0, 1},
    {"cgroup.cpu.max", NULL, 0, 1}, /* compared in the engine's facts, where it is exact */
    {"env", NULL, 0, 0},            /* the gate's own; the command's comes with the release */
    {"argv", cordon_judge_argv, 2, 2},
    {"hostname", cordon_judge_hostname, 1, 1},
    {"working_dir", cordon_judge_working_dir, 1, 1},
    {"uid_map", NULL, 1, 0}, /* the ids in force are judged; the map decides only their host side */
    {"gid_map", NULL, 1, 0}, /* the same */
    {"sysctl", cordon_judge_sysctl, 1, 0},
    {"masked", cordon_judge_masked, 1, 0},
    {"device", cordon_judge_device, 1, 0},
    {"denied", cordon_judge_denied, 10, 10},
    {"socket", cordon_judge_never, 0, 0},
    {"landlock.abi", cordon_judge_landlock, 1, 1},
    {"truncated", cordon_judge_never, 0, 0},
};

static int witness_count(const witness_context *context, const witness_rule *rule, unsigned seen)
{
    char fact[96];
    char expected[32];
    char actual[32];

    if (seen >= rule->least && (rule->most == 0 || seen <= rule->most))
        return 0;
    (void)snprintf(fact, sizeof(fact), "kernel.%s", rule->key);
    (void)snprintf(expected, sizeof(expected), "%u to %u values", rule->least, rule->most);
    (void)snprintf(actual, sizeof(actual), "%u values", seen);
    return cordon_refuse(context->refusal, CORDON_REFUSED_UNKNOWN, fact, expected, actual,
                         context->err);
}

static int witness_apply(witness_context *context, const witness_rule *rule, cordon_tally *tally)
{
    const char *value;
    unsigned seen = 0;
    size_t at = 0;

    context->key = rule->key;
    while ((value = cordon_gate_view_next(context->view, rule->key, &at)) != NULL) {
        seen++;
        if (rule->judge != NULL && rule->judge(context, value) != 0)
            return -1;
        tally->facts++;
    }
    return witness_count(context, rule, seen);
}

/* SECURITY: a fact that no rule knows comes from another gate than ours, or from a newer one. */
static int witness_all_known(const witness_context *context)
{
    for (size_t i = 0; i < context->view->facts.count; i++) {
        const char *fact = context->view->facts.items[i];
        size_t length = strcspn(fact, "=");
        bool known = false;

        for (size_t j = 0; j < sizeof(witness_rules) / sizeof(witness_rules[0]); j++)
            known = known || (strncmp(witness_rules[j].key, fact, length) == 0 &&
                              witness_rules[j].key[length] == '\0');
        if (!known)
            return cordon_refuse(context->refusal, CORDON_REFUSED_UNMODELLED, "kernel.report",
                                 "known facts", fact, context->err);
    }
    return 0;
}

/* Every planned mount must really be there, not just no other one. */
static int witness_planned_mounts(witness_context *context)
{
    const cordon_plan *plan = context->plan;

    context->key = "mount";
    for (size_t i = 0; i < plan->step.mount_count; i++) {
        const char *value;
        bool found = false;
        size_t at = 0;

        while ((value = cordon_gate_view_next(context->view, "mount", &at)) != NULL) {
            char target[WITNESS_MOUNT_FIELD_SIZE];

            cordon_witness_mount_target(value, target);
            found = found || strcmp(target, plan->step.mounts[i].target) == 0;
        }
        if (!found)
            return cordon_witness_refuse(context, plan->step.mounts[i].target, "no such mount");
    }
    return 0;
}

/* Nobody but the kernel can say which folders an engine has mounted. */
static int witness_planned_folders(witness_context *context)
{
    const cordon_plan *plan = context->plan;

    context->key = "folder";
    for (size_t i = 0; i < plan->step.mount_count; i++) {
        const cordon_mount_spec *spec = &plan->step.mounts[i];

        if (spec->type == CORDON_MOUNT_BIND && !cordon_witness_has_folder(context, spec))
            return cordon_witness_refuse(context, spec->source, "no folder");
    }
    return 0;
}

/* The planned address must be there: an interface without it is on another network. */
static int witness_planned_address(witness_context *context)
{
    const char *value;
    size_t at = 0;

    if (context->plan->step.endpoint_count == 0)
        return 0;
    context->key = "address";
    while ((value = cordon_gate_view_next(context->view, "address", &at)) != NULL) {
        if (strncmp(value, "lo ", 3) != 0)
            return 0;
    }
    return cordon_witness_refuse(context, context->plan->step_address, "no address");
}

int cordon_witness_check(const cordon_plan *plan, const cordon_gate_view *view, cordon_tally *tally,
                         cordon_refusal *ret_refusal, cordon_err *err)
{
    witness_context context = {
        .plan = plan,
        .view = view,
        .refusal = ret_refusal,
        .err = err,
    };

    if (witness_all_known(&context) != 0)
        return -1;
    for (size_t i = 0; i < sizeof(witness_rules) / sizeof(witness_rules[0]); i++) {
        if (witness_apply(&context, &witness_rules[i], tally) != 0)
            return -1;
    }
    if (witness_planned_mounts(&context) != 0 || witness_planned_folders(&context) != 0)
        return -1;
    return witness_planned_address(&context);
}

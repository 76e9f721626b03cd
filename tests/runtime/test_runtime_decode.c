/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configurations that real Podmans wrote for Cordon's containers: each is what the plan
 * expects, and every one of their values, dropped, nulled, retyped, changed or joined by an unknown
 * one, is refused with a code and a fact, or unreadable with a path, or stands on the list of what
 * tells nothing.
 */
#include <ctype.h>

#include "factread.h"
#include "podman_decode.h"
#include "support/json_text.h"
#include "support/sample_file.h"
#include "support/sample_plan.h"
#include "validate.h"

/*
 * file   below tests/samples/podman
 * id     of the container that it is of
 * role   STEP or PROXY
 */
typedef struct sample {
    const char *file;
    const char *id;
    cordon_role role;
    bool rootless;
    bool worktree;
} sample;

static const sample samples[] = {
    {"podman/4.3-step-config.json",
     "c4820af1b8627bd04daa8c4aa869da9b456418e860f6cc3298197617b6d1eefa", CORDON_ROLE_STEP, false,
     true},
    {"podman/4.3-rootless-step-config.json",
     "9ffb1b960be893e3ebff5ac674b1f43b214a5d2d1f6ceb51d97e9668ac8d24e8", CORDON_ROLE_STEP, true,
     false},
    {"podman/5.4-rootless-step-config.json",
     "c9d0a6e8d162f282b355d3534a55fc7c84f8f2b315419a0e590add207f5e1ddd", CORDON_ROLE_STEP, true,
     true},
    {"podman/5.4-proxy-config.json",
     "f36cd9022e773bdb9428aa2b80a7bafb56f69cb39a614779b86bd48ccec06a45", CORDON_ROLE_PROXY, false,
     false},
};
#define SAMPLES (sizeof samples / sizeof samples[0])

/*
 * Values that tell nothing by themselves: letters of the mutants that may pass, of d(rop), n(ull),
 * r(etype), f(lip), e(xtend).
 */
typedef struct excuse {
    const char *path;
    const char *kinds;
    const char *reason;
} excuse;

#define LESS "without it the container has less"

static const excuse excuses[] = {
    {"$.ociVersion", "dnrf", "of the specification; what it adds is reported"},
    {"$.annotations", "dn", "what Podman notes; another annotation is refused"},
    {"$.annotations.*", "d", "the same"},
    {"$.annotations[\"io.kubernetes.cri-o.Created\"]", "f", "a time of day"},
    {"$.annotations[\"org.systemd.property.TimeoutStopUSec\"]", "f", "how a scope is stopped"},
    {"$.annotations[\"org.opencontainers.image.stopSignal\"]", "f", "an image's own metadata"},
    {"$.process.user.additionalGids", "dn", "the primary group, said again"},
    {"$.process.user.additionalGids[*]", "d", "the same"},
    {"$.mounts", "dn", "of one that has nothing but what Podman mounts by itself; " LESS},
    {"$.mounts[*]", "d", "one of those; " LESS},
    {"$.mounts[*].options[*]", "d", "a default: private, writable, or of how /dev is made"},
    {"$.mounts[*].source", "dn", "of a tmpfs, which has none"},
    {"$.linux.cgroupsPath", "dn", "the runtime's choice; limits are compared"},
    {"$.linux.namespaces[*].path", "dn", "a new network namespace, without a way out"},
    {"$.linux.sysctl[\"net.ipv4.ping_group_range\"]", "d", "the kernel's own range is empty"},
    {"$.linux.maskedPaths", "e", "more is masked"},
    {"$.linux.maskedPaths[*]", "df", "beyond what every engine masks"},
    {"$.linux.readonlyPaths", "e", "more is read-only"},
    {"$.linux.readonlyPaths[*]", "df", "beyond what every engine protects"},
    {"$.linux.uidMappings[*]", "d", "how the other ids are spread"},
    {"$.linux.uidMappings[*].*", "f", "the same"},
    {"$.linux.gidMappings[*]", "d", "the same"},
    {"$.linux.gidMappings[*].*", "f", "the same"},
    {"$.linux.seccomp.defaultErrnoRet", "dnrf", "which error a refused call gets"},
    {"$.linux.seccomp.architectures**", "dnrfe", "foreign ones are refused otherwise"},
    {"$.linux.seccomp.syscalls", "dn", "then every call is refused"},
    {"$.linux.seccomp.syscalls[*]", "d", "what a rule allows is refused, or refused otherwise"},
    {"$.linux.seccomp.syscalls[*].names", "e", "only calls that every engine refuses are judged"},
    {"$.linux.seccomp.syscalls[*].names[*]", "df", "the same"},
    {"$.linux.seccomp.syscalls[*].errnoRet", "dnrf", "which error a refused call gets"},
    {"$.linux.seccomp.syscalls[*].args**", "dnrfe",
     "a call that is let through with some arguments counts as let through"},
};

/* --- The plan behind the samples --- */

static bool plan_of(const sample *s, sample_run *run)
{
    cordon_err err = CORDON_ERR_INIT;
    if (!sample_input(run))
        return false;
    run->engine.rootless = s->rootless ? CORDON_FACT_YES : CORDON_FACT_NO;
    run->input.uid = run->input.gid = 60999;
    run->input.keep_id = s->rootless;
    run->input.limits = (cordon_plan_limits){
        .memory_bytes = s->rootless ? 0 : INT64_C(2) << 30,
        .nano_cpus = s->rootless ? 0 : INT64_C(2000000000),
        .pids = s->rootless ? 0 : 256,
        .open_files = 1024,
        .scratch_bytes = INT64_C(256) << 20,
    };
    run->hosts[0] = (cordon_plan_host){"api.anthropic.com", NULL};
    run->input.host_count = 1;
    if (!s->worktree)
        run->input.worktree = NULL;
    return sample_plan(run) && CHECK_OK(cordon_plan_place(&run->plan, CORDON_ROLE_VENDOR_NETWORK,
                                                          "10.213.202.16/29", &err),
                                        err);
}

static bool expected_of(const sample *s, cordon_runtime_facts *ret_facts)
{
    cordon_auto(sample_run) run = {0};
    cordon_err err = CORDON_ERR_INIT;
    return plan_of(s, &run) &&
           CHECK_OK(cordon_expect_runtime(&run.plan, s->role, &run.ids, ret_facts, &err), err);
}

/* --- Judging one text --- */

typedef struct outcome {
    bool refused;
    cordon_refusal refusal;
    cordon_err err;
} outcome;

static void judge(const sample *s, const cordon_runtime_facts *expected, const char *text,
                  outcome *ret)
{
    cordon_auto(cordon_runtime_facts) facts = {0};
    cordon_tally tally = {0};
    *ret = (outcome){.err = CORDON_ERR_INIT};
    ret->refused = podman_decode_runtime(text, strlen(text), s->id, &facts, &ret->err) != 0 ||
                   cordon_validate_runtime("step.runtime", expected, &facts, &tally, &ret->refusal,
                                           &ret->err) != 0;
}

static void what_real_podmans_wrote_is_as_planned(void)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        cordon_auto(cordon_runtime_facts) expected = {0};
        cordon_autofree char *text = sample_read(samples[i].file);
        outcome made;
        REQUIRE(text && expected_of(&samples[i], &expected));
        judge(&samples[i], &expected, text, &made);
        TEST_RECORDF(!made.refused, "%s: %.300s", samples[i].file, made.err.message);
    }
}

/* --- Mutants --- */

static const char *retyped(json_text_type type)
{
    static const char *const other[] = {
        [JSON_TEXT_NULL] = "7",
        [JSON_TEXT_BOOL] = "\"x\"",
        [JSON_TEXT_NUMBER] = "\"x\"",
        [JSON_TEXT_STRING] = "7",
        [JSON_TEXT_ARRAY] = "{\"zz\": 7}",
        [JSON_TEXT_OBJECT] = "[\"zz\"]",
    };
    return other[type];
}

static char *flipped(const json_text *json, size_t at)
{
    const json_text_place *place = &json->places[at];
    int length = (int)(place->end - place->begin);
    const char *value = json->text + place->begin;
    char made[1024];
    if (place->type == JSON_TEXT_BOOL)
        return json_text_replace(json, at, value[0] == 't' ? "false" : "true");
    if (place->type == JSON_TEXT_STRING)
        (void)snprintf(made, sizeof made, "%.*szz\"", length - 1, value);
    else if (place->type == JSON_TEXT_NUMBER)
        (void)snprintf(made, sizeof made, "%.*s1", value[0] == '0' ? 0 : length, value);
    else
        return NULL;
    return json_text_replace(json, at, made);
}

static char *extended(const json_text *json, size_t at)
{
    const json_text_place *place = &json->places[at];
    if (place->type == JSON_TEXT_OBJECT)
        return json_text_extend(json, at, "\"zz\": 7");
    if (place->type != JSON_TEXT_ARRAY || place->count == 0)
        return NULL;
    const json_text_place *first = &json->places[at + 1];
    return json_text_extend(json, at,
                            first->type == JSON_TEXT_OBJECT   ? "{\"zz\": 7}"
                            : first->type == JSON_TEXT_NUMBER ? "77"
                                                              : "\"zz\"");
}

static char *mutant_of(const json_text *json, size_t at, char kind)
{
    switch (kind) {
    case 'd':
        return at == 0 ? NULL : json_text_drop(json, at);
    case 'n':
        return json_text_replace(json, at, "null");
    case 'r':
        return json_text_replace(json, at, retyped(json->places[at].type));
    case 'f':
        return flipped(json, at);
    default:
        return extended(json, at);
    }
}

static bool excused(const char *path, char kind)
{
    for (size_t i = 0; i < sizeof excuses / sizeof excuses[0]; i++) {
        if ((strcmp(excuses[i].path, path) == 0 ||
             cordon_factread_path_matches(excuses[i].path, path)) &&
            strchr(excuses[i].kinds, kind) != NULL)
            return true;
    }
    return false;
}

/* A refusal names a fact, an unreadable text a path. */
static void check_named(const outcome *made, const char *path, char kind)
{
    bool named = made->refusal.code != CORDON_REFUSED_NONE
                     ? strncmp(made->refusal.fact, "step.runtime.", strlen("step.runtime.")) == 0
                     : made->err.code == CORDON_ERR_PROTOCOL && strchr(made->err.message, '$');
    TEST_RECORDF(named, "%c %s: %.200s", kind, path, made->err.message);
}

static size_t mutate(const sample *s, const cordon_runtime_facts *expected, const char *text)
{
    static const char kinds[] = "dnrfe";
    cordon_auto(json_text) json = {0};
    size_t mutants = 0;
    if (!CHECK(json_text_read(text, &json)))
        return 0;
    for (size_t at = 0; at < json.count; at++) {
        /* hundreds of names, of which the first sample's are enough */
        if (s != samples && strstr(json.places[at].path, "].names[") != NULL)
            continue;
        for (const char *kind = kinds; *kind; kind++) {
            cordon_autofree char *mutant = mutant_of(&json, at, *kind);
            outcome made;
            if (!mutant)
                continue;
            mutants++;
            judge(s, expected, mutant, &made);
            if (made.refused)
                check_named(&made, json.places[at].path, *kind);
            else
                TEST_RECORDF(excused(json.places[at].path, *kind), "%s: %c %s survives", s->file,
                             *kind, json.places[at].path);
        }
    }
    return mutants;
}

static void every_change_of_them_is_refused_by_name(void)
{
    size_t mutants = 0;
    for (size_t i = 0; i < SAMPLES; i++) {
        cordon_auto(cordon_runtime_facts) expected = {0};
        cordon_autofree char *text = sample_read(samples[i].file);
        REQUIRE(text && expected_of(&samples[i], &expected));
        mutants += mutate(&samples[i], &expected, text);
    }
    (void)printf("%zu mutants ... ", mutants);
    CHECK(mutants > 5000);
}

CORDON_TEST_MAIN("runtime_decode", TEST(what_real_podmans_wrote_is_as_planned),
                 TEST(every_change_of_them_is_refused_by_name))

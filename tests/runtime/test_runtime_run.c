/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole runs over the fake engine whose runtime was told something else than planned, or whose
 * configuration cannot be read: nothing is started that was not looked at, and what is not seen is
 * accepted by name or not at all.
 */
#include "config.h"
#include "support/run_case.h"

static const fake_run_options on_podman = {.podman = true, .worktree = true};
static const fake_run_options on_docker = {.podman = false, .worktree = true};
static const fake_run_options probe_on_podman = {.podman = true, .probe = true};

typedef struct runtime_case {
    const char *role;
    void (*lie)(cordon_runtime_facts *facts);
    const char *fact;
    const char *refusal;
} runtime_case;

static void without_filter(cordon_runtime_facts *facts)
{
    (void)!cordon_fact_text_set(&facts->seccomp_default, "none", NULL);
}

static void one_call_more(cordon_runtime_facts *facts)
{
    (void)!cordon_fact_list_add(&facts->seccomp_allowed, "bpf", NULL);
}

static void one_sysctl_more(cordon_runtime_facts *facts)
{
    (void)!cordon_fact_list_add(&facts->sysctls, "net.ipv4.conf.all.forwarding=1", NULL);
}

static void a_shared_ipc(cordon_runtime_facts *facts)
{
    free(facts->namespaces.items[1]);
    facts->namespaces.items[1] = strdup("ipc=/proc/1/ns/ipc");
}

static void a_hook(cordon_runtime_facts *facts)
{
    (void)!cordon_fact_list_add(&facts->hooks, "prestart /bin/x", NULL);
}

static void a_novelty(cordon_runtime_facts *facts)
{
    (void)!cordon_fact_list_add(&facts->unmodelled, "$.novelty = 1", NULL);
}

static const runtime_case lies_told[] = {
    {"step", without_filter, "step.runtime.seccomp_default", "CORDON_REFUSED_MISMATCH"},
    {"proxy", without_filter, "proxy.runtime.seccomp_default", "CORDON_REFUSED_MISMATCH"},
    {"step", one_call_more, "step.runtime.seccomp_allowed", "CORDON_REFUSED_MISMATCH"},
    {"proxy", one_sysctl_more, "proxy.runtime.sysctls", "CORDON_REFUSED_MISMATCH"},
    {"step", a_shared_ipc, "step.runtime.namespaces", "CORDON_REFUSED_MISMATCH"},
    {"proxy", a_hook, "proxy.runtime.hooks", "CORDON_REFUSED_MISMATCH"},
    {"step", a_novelty, "step.runtime.unmodelled", "CORDON_REFUSED_UNMODELLED"},
};

static void check_refused(const run_outcome *made, const char *refusal, const char *fact)
{
    RUN_CHECK_KIND(*made, fact, "refused");
    RUN_CHECK_CLEAN(*made, fact);
    CHECK(!made->released);
    CHECK_STR(made->refusal, refusal);
    CHECK_STR(made->fact, fact);
}

static void lie_of_runtime(void *context, const char *role, cordon_runtime_facts *facts)
{
    const runtime_case *c = context;
    if (strcmp(role, c->role) == 0)
        c->lie(facts);
}

static void script_lie(void *context, fake_run *run)
{
    fake_lies all = {.context = context, .runtime = lie_of_runtime};
    fake_engine_lie(run->fake, &all);
}

static void what_the_runtime_was_told_is_refused_by_name(void)
{
    for (size_t i = 0; i < sizeof lies_told / sizeof lies_told[0]; i++) {
        runtime_case c = lies_told[i];
        run_outcome made = run_case(&probe_on_podman, script_lie, &c);
        check_refused(&made, c.refusal, c.fact);
    }
}

/* --- What cannot be read --- */

static void script_fault(void *context, fake_run *run)
{
    fake_engine_fault(run->fake, context);
}

static void script_accepted_fault(void *context, fake_run *run)
{
    run->config->allow_unread_runtime = true;
    fake_engine_fault(run->fake, context);
}

static const fake_fault unread_step = {FAKE_CONTAINER_RUNTIME, "step", 0, FAKE_FAULT_BEFORE,
                                       CORDON_ERR_UNSUPPORTED};
static const fake_fault unread_proxy = {FAKE_CONTAINER_RUNTIME, "proxy", 0, FAKE_FAULT_BEFORE,
                                        CORDON_ERR_UNSUPPORTED};

static void what_cannot_be_read_refuses(void)
{
    fake_fault step = unread_step;
    fake_fault proxy = unread_proxy;
    run_outcome made = run_case(&on_podman, script_fault, &step);
    check_refused(&made, "CORDON_REFUSED_UNKNOWN", "step.runtime");
    made = run_case(&probe_on_podman, script_fault, &proxy);
    check_refused(&made, "CORDON_REFUSED_UNKNOWN", "proxy.runtime");
}

static void what_never_shows_up_refuses_like_what_cannot_be_read(void)
{
    fake_fault never = {FAKE_CONTAINER_RUNTIME, "step", 0, FAKE_FAULT_BEFORE, CORDON_ERR_NOTFOUND};
    run_outcome made = run_case(&on_podman, script_fault, &never);
    check_refused(&made, "CORDON_REFUSED_UNKNOWN", "step.runtime");
}

static void the_operator_may_accept_that_by_name_and_is_told(void)
{
    cordon_auto(fake_run) run = {0};
    REQUIRE(fake_run_open(&run, &on_podman));
    fake_fault fault = unread_step;
    script_accepted_fault(&fault, &run);
    REQUIRE(fake_run_go(&run));
    CHECK_STR(run.result.kind_name, "exited");
    CHECK(strstr(cordon_buf_text(&run.words), "runtime") != NULL);
}

static void what_is_no_configuration_is_not_accepted_by_that(void)
{
    fake_fault broken = {FAKE_CONTAINER_RUNTIME, "step", 0, FAKE_FAULT_BEFORE, CORDON_ERR_PROTOCOL};
    run_outcome made = run_case(&on_podman, script_accepted_fault, &broken);
    RUN_CHECK_KIND(made, "a broken configuration", "not_started");
    RUN_CHECK_CLEAN(made, "a broken configuration");
    CHECK(!made.released);
}

/* --- The order --- */

static void an_engine_whose_attach_sets_nothing_up_is_asked_to(void)
{
    cordon_auto(fake_run) run = {0};
    fake_fault first = {FAKE_CONTAINER_RUNTIME, "step", 1, FAKE_FAULT_BEFORE, CORDON_ERR_NOTFOUND};
    REQUIRE(fake_run_open(&run, &on_podman));
    fake_engine_fault(run.fake, &first);
    REQUIRE(fake_run_go(&run));
    CHECK_STR(run.result.kind_name, "exited");
    CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_PREPARE, "step"), 1);
    CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_RUNTIME, "step"), 2);
}

static void nothing_is_started_before_it_was_read_and_no_call_is_spent_on_it(void)
{
    static const char *const roles[] = {"step", "proxy"};
    cordon_auto(fake_run) run = {0};
    REQUIRE(fake_run_open(&run, &probe_on_podman));
    REQUIRE(fake_run_go(&run));
    CHECK_STR(run.result.kind_name, "exited");
    for (size_t i = 0; i < 2; i++) {
        long attach = fake_run_first(&run, FAKE_CONTAINER_ATTACH, roles[i]);
        long read = fake_run_first(&run, FAKE_CONTAINER_RUNTIME, roles[i]);
        CHECK(attach >= 0 && attach < read);
        CHECK(read < fake_run_first(&run, FAKE_CONTAINER_START, roles[i]));
        CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_RUNTIME, roles[i]), 1);
        CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_PREPARE, roles[i]), 0);
    }
}

static void an_engine_that_hides_nothing_is_not_asked(void)
{
    cordon_auto(fake_run) run = {0};
    REQUIRE(fake_run_open(&run, &on_docker));
    REQUIRE(fake_run_go(&run));
    CHECK_STR(run.result.kind_name, "exited");
    CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_RUNTIME, NULL), 0);
    CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_PREPARE, NULL), 0);
}

static void lie_of_place(void *context, const char *role, unsigned nth,
                         cordon_container_facts *facts)
{
    (void)context;
    if (strcmp(role, "step") == 0 && nth == 2)
        (void)!cordon_fact_text_set(&facts->runtime_config, "/elsewhere/config.json", NULL);
}

static void script_place(void *context, fake_run *run)
{
    fake_lies all = {.context = context, .container = lie_of_place};
    fake_engine_lie(run->fake, &all);
}

static void a_configuration_that_is_said_to_be_elsewhere_afterwards_refuses(void)
{
    run_outcome made = run_case(&on_podman, script_place, NULL);
    check_refused(&made, "CORDON_REFUSED_CHANGED", "step.runtime_config");
}

/* --- The gate's view of the same --- */

static void lie_of_report(void *context, cordon_fact_list *facts)
{
    (void)context;
    for (size_t i = 0; i < facts->count; i++) {
        if (strcmp(facts->items[i], "denied=kcmp refused") != 0)
            continue;
        free(facts->items[i]);
        facts->items[i] = strdup("denied=kcmp allowed");
    }
}

static void script_report(void *context, fake_run *run)
{
    fake_lies all = {.context = context, .report = lie_of_report};
    fake_engine_lie(run->fake, &all);
}

static void a_profile_that_lets_a_call_through_refuses_on_every_engine(void)
{
    run_outcome made = run_case(&on_docker, script_report, NULL);
    check_refused(&made, "CORDON_REFUSED_KERNEL", "kernel.denied");
    made = run_case(&on_podman, script_report, NULL);
    check_refused(&made, "CORDON_REFUSED_KERNEL", "kernel.denied");
}

CORDON_TEST_MAIN("runtime_run", TEST(what_the_runtime_was_told_is_refused_by_name),
                 TEST(what_cannot_be_read_refuses),
                 TEST(what_never_shows_up_refuses_like_what_cannot_be_read),
                 TEST(the_operator_may_accept_that_by_name_and_is_told),
                 TEST(what_is_no_configuration_is_not_accepted_by_that),
                 TEST(an_engine_whose_attach_sets_nothing_up_is_asked_to),
                 TEST(nothing_is_started_before_it_was_read_and_no_call_is_spent_on_it),
                 TEST(an_engine_that_hides_nothing_is_not_asked),
                 TEST(a_configuration_that_is_said_to_be_elsewhere_afterwards_refuses),
                 TEST(a_profile_that_lets_a_call_through_refuses_on_every_engine))

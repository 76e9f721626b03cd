/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in the containers misbehaves, the engine lies, somebody tampers: the run ends with the
 * right verdict, a command is released only where everything was as planned, and nothing is left.
 */
#include "config.h"
#include "support/run_case.h"

/* Enough for a run that must not succeed and has to be waited for. */
#define SHORT_MS 3000

/* What a case wants. NULL: any. */
typedef struct verdict {
    const char *kind;
    bool released;
    const char *refusal;
    const char *fact;
    const char *message;
} verdict;

static void check_verdict(const run_outcome *outcome, const char *name, const verdict *want)
{
    RUN_CHECK_KIND(*outcome, name, want->kind);
    RUN_CHECK_CLEAN(*outcome, name);
    TEST_RECORDF(outcome->released == want->released, "%s: released %d", name, outcome->released);
    if (want->refusal)
        TEST_RECORDF(strcmp(outcome->refusal, want->refusal) == 0 &&
                         strcmp(outcome->fact, want->fact) == 0,
                     "%s: %s %s, want %s %s", name, outcome->refusal, outcome->fact, want->refusal,
                     want->fact);
    else
        TEST_RECORDF(outcome->refusal[0] == '\0', "%s: %s %s, want none", name, outcome->refusal,
                     outcome->fact);
    if (want->message)
        TEST_RECORDF(strstr(outcome->message, want->message) != NULL, "%s: \"%s\" lacks \"%s\"",
                     name, outcome->message, want->message);
}

/* --- The gate and the proxy ----------------------------------------------------------------- */

typedef struct actor_case {
    const char *name;
    fake_step step;
    fake_proxy proxy;
    int64_t deadline_ms;
    bool probe;
    verdict want;
    run_outcome outcome;
} actor_case;

#define LOCKS(seccomp, landlock, no_new_privs, dumpable, capabilities)                             \
    "\"seccomp\":" seccomp ",\"landlock\":" landlock ",\"no_new_privs\":" no_new_privs             \
    ",\"dumpable\":" dumpable ",\"capabilities\":" capabilities

static actor_case actors[] = {
    {"a gate that never reports", .step = {.fault = FAKE_GATE_SILENT}, .deadline_ms = SHORT_MS,
     .want = {"deadline"}},
    {"a gate that ends", .step = {.fault = FAKE_GATE_ENDS},
     .want = {"not_started", .message = "ended before its gate had reported"}},
    {"no gate at all", .step = {.fault = FAKE_GATE_GARBAGE}, .want = {"not_started"}},
    {"half a report", .step = {.fault = FAKE_GATE_CUT},
     .want = {"not_started", .message = "ended before its gate had reported"}},
    {"a changed report", .step = {.fault = FAKE_GATE_REPLAY},
     .want = {"refused", false, "CORDON_REFUSED_REPORT", "kernel.report", NULL}},
    {"bytes before the release", .step = {.fault = FAKE_GATE_TALKS}, .want = {"not_started"}},
    {"a stream that is none", .step = {.fault = FAKE_GATE_BAD_STREAM}, .want = {"not_started"}},
    {"no start note", .step = {.fault = FAKE_GATE_NO_STARTED, .stdout_text = "out\n"},
     .want = {"error", true}},
    {"a forged start note", .step = {.fault = FAKE_GATE_FORGED_STARTED}, .want = {"error", true}},
    {"a forged exit note", .step = {.fault = FAKE_GATE_FORGED_EXIT},
     .want = {"tampered", true, "CORDON_REFUSED_CHANGED", "step.state",
              "ended from outside, with status 0"}},
    {"no exit note", .step = {.fault = FAKE_GATE_NO_EXIT, .exit_code = 5},
     .want = {"tampered", true, "CORDON_REFUSED_CHANGED", "step.state",
              "ended from outside, with status 5"}},
    {"bytes after the exit note", .step = {.fault = FAKE_GATE_TALKS_AFTER_EXIT},
     .want = {"error", true}},
    {"a command that is not there", .step = {.start_errnum = ENOENT},
     .want = {"not_started", true, .message = "no command make to execute"}},
    {"a command that may not be executed", .step = {.start_errnum = EACCES},
     .want = {"not_started", true, .message = "no command make to execute"}},
    {"a kill for memory", .step = {.oom = true}, .want = {"oom", true}},
    {"a kill by a signal", .step = {.exit_signal = 9}, .want = {"exited", true}},
    {"a proxy that dies", .proxy = {.dies = true},
     .want = {"not_started", .message = "the proxy did not come up"}},
    {"a proxy that is silent", .proxy = {.silent = true}, .deadline_ms = SHORT_MS,
     .want = {"deadline"}},
    {"a proxy that talks nonsense", .proxy = {.silent = true, .lines = "not json\n"},
     .want = {"not_started", .message = "the proxy did not come up"}},
    {"a proxy elsewhere", .probe = true, .proxy = {.listen = "0.0.0.0:3128"},
     .want = {"refused", false, "CORDON_REFUSED_PROXY", "proxy.listen", NULL}},
    {"a proxy with another policy", .probe = true, .proxy = {.policy = "00"},
     .want = {"refused", false, "CORDON_REFUSED_PROXY", "proxy.policy", "00"}},
    {"a proxy without its filter", .probe = true,
     .proxy = {.locks = LOCKS("0", "7", "1", "0", "0")},
     .want = {"refused", false, "CORDON_REFUSED_PROXY", "proxy.seccomp", "0"}},
    {"a proxy without Landlock", .probe = true, .proxy = {.locks = LOCKS("1", "0", "1", "0", "0")},
     .want = {"refused", false, "CORDON_REFUSED_PROXY", "proxy.landlock", "0"}},
    {"a proxy whose Landlock knows no ports", .probe = true,
     .proxy = {.locks = LOCKS("1", "3", "1", "0", "0")},
     .want = {"refused", false, "CORDON_REFUSED_PROXY", "proxy.landlock", "3"}},
    {"a proxy that can gain privileges", .probe = true,
     .proxy = {.locks = LOCKS("1", "7", "0", "0", "0")},
     .want = {"refused", false, "CORDON_REFUSED_PROXY", "proxy.no_new_privs", "0"}},
    {"a proxy that can be looked into", .probe = true,
     .proxy = {.locks = LOCKS("1", "7", "1", "1", "0")},
     .want = {"refused", false, "CORDON_REFUSED_PROXY", "proxy.dumpable", "1"}},
    {"a proxy with a capability", .probe = true,
     .proxy = {.locks = LOCKS("1", "7", "1", "0", "1024")},
     .want = {"refused", false, "CORDON_REFUSED_PROXY", "proxy.capabilities", "1024"}},
};
#define ACTORS (sizeof actors / sizeof actors[0])

static void script_actor(void *context, fake_run *run)
{
    const actor_case *c = context;
    fake_engine_step(run->fake, &c->step);
    fake_engine_proxy(run->fake, &c->proxy);
}

static void run_actor(void *context, size_t index)
{
    actor_case *c = (actor_case *)context + index;
    c->outcome = run_case(
        &(fake_run_options){.grace = "0s", .deadline_ms = c->deadline_ms, .probe = c->probe},
        script_actor, c);
}

static void whoever_misbehaves_inside_gets_the_right_name(void)
{
    at_once(ACTORS, run_actor, actors);
    for (size_t i = 0; i < ACTORS; i++)
        check_verdict(&actors[i].outcome, actors[i].name, &actors[i].want);
}

static void statuses_of_commands_that_do_not_start_are_the_shells(void)
{
    static const struct {
        int errnum;
        int status;
    } rows[] = {{ENOENT, 127}, {EACCES, 126}};
    for (size_t i = 0; i < 2; i++) {
        fake_step step = {.start_errnum = rows[i].errnum};
        cordon_auto(fake_run) run = {0};
        REQUIRE_OK(fake_run_open(&run, &(fake_run_options){0}) ? 0 : -1, run.err);
        fake_engine_step(run.fake, &step);
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        CHECK_INT(run.result.status, rows[i].status);
        CHECK_INT(run.result.exit_code, -1);
    }
}

/* --- Lies ----------------------------------------------------------------------------------- */

typedef struct lie_case {
    const char *name;
    const char *role;
    unsigned nth;
    void (*container)(cordon_container_facts *facts);
    void (*network)(cordon_network_facts *facts);
    const char *refusal; /* behind CORDON_REFUSED_ */
    const char *fact;
} lie_case;

static void make_privileged(cordon_container_facts *facts)
{
    facts->privileged = CORDON_FACT_YES;
}

static void forget_privileged(cordon_container_facts *facts)
{
    facts->privileged = CORDON_FACT_UNKNOWN;
}

static void add_unmodelled(cordon_container_facts *facts)
{
    (void)!cordon_fact_list_add(&facts->unmodelled, "HostConfig.Novelty=1", NULL);
}

static void take_labels(cordon_container_facts *facts)
{
    cordon_fact_list_clear(&facts->labels);
    cordon_fact_list_known(&facts->labels);
}

static void add_capability(cordon_container_facts *facts)
{
    (void)!cordon_fact_list_add(&facts->capabilities, "NET_RAW", NULL);
}

static void open_network(cordon_network_facts *facts)
{
    facts->internal = CORDON_FACT_NO;
}

static void move_network(cordon_network_facts *facts)
{
    cordon_fact_list_clear(&facts->subnets);
    (void)!cordon_fact_list_add(&facts->subnets, "192.168.0.0/16", NULL);
}

static const lie_case lies[] = {
    {"privileged at create", "step", 1, make_privileged, NULL, "MISMATCH", "step.privileged"},
    {"privileged since the start", "step", 2, make_privileged, NULL, "MISMATCH", "step.privileged"},
    {"not told whether privileged", "step", 1, forget_privileged, NULL, "UNKNOWN",
     "step.privileged"},
    {"a setting that nobody knows", "step", 2, add_unmodelled, NULL, "UNMODELLED",
     "step.unmodelled"},
    {"a capability at create", "step", 1, add_capability, NULL, "MISMATCH", "step.capabilities"},
    {"a privileged proxy", "proxy", 1, make_privileged, NULL, "MISMATCH", "proxy.privileged"},
    {"a proxy with a capability", "proxy", 2, add_capability, NULL, "MISMATCH",
     "proxy.capabilities"},
    {"a proxy of somebody else", "proxy", 1, take_labels, NULL, "FOREIGN", "proxy.labels"},
    {"an open vendor network", "vendor-network", 1, NULL, open_network, "MISMATCH",
     "vendor-network.internal"},
    {"a vendor network that was opened", "vendor-network", 2, NULL, open_network, "MISMATCH",
     "vendor-network.internal"},
    {"another subnet", "egress-network", 1, NULL, move_network, "MISMATCH",
     "egress-network.subnets"},
    {"another subnet later", "egress-network", 2, NULL, move_network, "MISMATCH",
     "egress-network.subnets"},
};
#define LIES (sizeof lies / sizeof lies[0])

/* What a table's row came to, for any of the tables; the tests run one after the other. */
static run_outcome outcomes[64];

static void lie_of_container(void *context, const char *role, unsigned nth,
                             cordon_container_facts *facts)
{
    const lie_case *c = &lies[*(const size_t *)context];
    if (c->container && c->nth == nth && strcmp(c->role, role) == 0)
        c->container(facts);
}

static void lie_of_network(void *context, const char *role, unsigned nth,
                           cordon_network_facts *facts)
{
    const lie_case *c = &lies[*(const size_t *)context];
    if (c->network && c->nth == nth && strcmp(c->role, role) == 0)
        c->network(facts);
}

static void script_lie(void *context, fake_run *run)
{
    fake_lies all = {.context = context, .container = lie_of_container, .network = lie_of_network};
    fake_engine_lie(run->fake, &all);
}

static void run_lie(void *context, size_t index)
{
    (void)context;
    outcomes[index] =
        run_case(&(fake_run_options){.podman = index % 2 != 0, .probe = true}, script_lie, &index);
}

static void a_fact_that_differs_refuses_by_name_in_either_round(void)
{
    at_once(LIES, run_lie, NULL);
    for (size_t i = 0; i < LIES; i++) {
        char refusal[64];
        verdict want = {"refused", false, refusal, lies[i].fact, NULL};
        (void)snprintf(refusal, sizeof refusal, "CORDON_REFUSED_%s", lies[i].refusal);
        check_verdict(&outcomes[i], lies[i].name, &want);
    }
}

/* --- The kernel's view ------------------------------------------------------------------------ */

typedef struct view_case {
    const char *key; /* of the fact that is replaced, or added where there is none */
    const char *item;
    const char *fact;
    const char *refusal; /* NULL: KERNEL */
} view_case;

static const view_case views[] = {
    {"cap.effective=", "cap.effective=0000000000003000", "kernel.cap.effective", NULL},
    {"cap.bounding=", "cap.bounding=00000000a80425fb", "kernel.cap.bounding", NULL},
    {"no_new_privs=", "no_new_privs=0", "kernel.no_new_privs", NULL},
    {"seccomp.mode=", "seccomp.mode=0", "kernel.seccomp.mode", NULL},
    {"uid=", "uid=0 0 0 0", "kernel.uid", NULL},
    {"+", "mount=/host\text4\trw\trw\t/dev/sda1\t/\t", "kernel.mount", NULL},
    {"+", "interface=eth1 up mtu 1500 flags 0x1043", "kernel.interface", NULL},
    {"+", "route=0.0.0.0/0 via 10.213.0.1 dev eth0", "kernel.route", NULL},
    {"+", "socket=/var/run/docker.sock", "kernel.socket", NULL},
    {"+", "device=sda b 8:0", "kernel.device", NULL},
    {"+", "fd=7 /etc/shadow", "kernel.fd", NULL},
    {"+", "truncated=mount", "kernel.truncated", NULL},
    {"landlock.abi=", "landlock.abi=5", "kernel.landlock.abi", NULL},
    {"landlock.abi=", "landlock.abi=0", "kernel.landlock.abi", NULL},
    {"landlock.abi=", "landlock.abi=many", "kernel.landlock.abi", NULL},
    {"+", "novelty=1", "kernel.report", "CORDON_REFUSED_UNMODELLED"},
};
#define VIEWS (sizeof views / sizeof views[0])

static void lie_of_one_fact(void *context, cordon_fact_list *facts)
{
    const view_case *c = context;
    for (size_t i = 0; i < facts->count; i++) {
        if (strncmp(facts->items[i], c->key, strlen(c->key)) != 0)
            continue;
        free(facts->items[i]);
        facts->items[i] = strdup(c->item);
        return;
    }
    (void)!cordon_fact_list_add(facts, c->item, NULL);
}

static void lie_of_report(void *context, cordon_fact_list *facts)
{
    view_case c = views[*(const size_t *)context];
    lie_of_one_fact(&c, facts);
}

static void script_view(void *context, fake_run *run)
{
    fake_lies all = {.context = context, .report = lie_of_report};
    fake_engine_lie(run->fake, &all);
}

static void run_view(void *context, size_t index)
{
    (void)context;
    outcomes[index] = run_case(&(fake_run_options){.podman = index % 2 != 0, .worktree = true},
                               script_view, &index);
}

static void what_the_kernel_shows_from_inside_refuses_too(void)
{
    at_once(VIEWS, run_view, NULL);
    for (size_t i = 0; i < VIEWS; i++) {
        verdict want = {"refused", false, "CORDON_REFUSED_KERNEL", views[i].fact, NULL};
        if (views[i].refusal)
            want.refusal = views[i].refusal;
        check_verdict(&outcomes[i], views[i].item, &want);
    }
}

/* The receipt says what nobody vouches for. */
static void a_weaker_fence_may_be_accepted_by_name_and_is_recorded(void)
{
    static const char *const abis[] = {"landlock.abi=0", "landlock.abi=4"};
    for (size_t i = 0; i < sizeof abis / sizeof abis[0]; i++) {
        cordon_auto(fake_run) run = {0};
        cordon_autofree char *json = NULL;
        view_case weak = {"landlock.abi=", abis[i], NULL, NULL};
        fake_lies told = {.context = &weak, .report = lie_of_one_fact};
        REQUIRE(fake_run_open(&run, &(fake_run_options){.worktree = true}));
        run.config->allow_weak_landlock = true;
        fake_engine_lie(run.fake, &told);
        REQUIRE(fake_run_go(&run));
        CHECK_STR(run.result.kind_name, "exited");
        REQUIRE_OK(cordon_receipt_json(run.receipt, &json, &run.err), run.err);
        CHECK_CONTAINS(json, "\"unassured\":[\"kernel.landlock.abi\"]");
    }
}

/* --- Images ----------------------------------------------------------------------------------- */

static void lie_of_image(void *context, cordon_image_facts *facts)
{
    if (strcmp(facts->id, FAKE_IMAGE_ID) == 0)
        ((void (*)(cordon_image_facts *))context)(facts);
}

static void other_image(cordon_image_facts *facts)
{
    (void)!cordon_fact_text_set(&facts->id, FAKE_IMAGE_DIGEST, NULL);
}

static void other_architecture(cordon_image_facts *facts)
{
    (void)!cordon_fact_text_set(&facts->architecture, "riscv64", NULL);
}

static void our_labels(cordon_image_facts *facts)
{
    (void)!cordon_fact_list_add(&facts->labels, "io.cordon.role=step", NULL);
}

static void no_layers(cordon_image_facts *facts)
{
    cordon_fact_list_clear(&facts->layers);
}

static void an_image_that_is_not_the_pinned_one_is_refused_before_anything_is_made(void)
{
    static const struct {
        void (*lie)(cordon_image_facts *);
        const char *code;
        const char *fact;
    } rows[] = {
        {other_image, "CORDON_REFUSED_IMAGE", "image.id"},
        {other_architecture, "CORDON_REFUSED_IMAGE", "image.architecture"},
        {our_labels, "CORDON_REFUSED_IMAGE", "image.labels"},
        {no_layers, "CORDON_REFUSED_UNKNOWN", "image.layers"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(fake_run) run = {0};
        fake_lies all = {.context = (void *)rows[i].lie, .image = lie_of_image};
        REQUIRE_OK(fake_run_open(&run, &(fake_run_options){0}) ? 0 : -1, run.err);
        fake_engine_lie(run.fake, &all);
        REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        CHECK_STR(run.result.kind_name, "refused");
        CHECK_STR(run.result.refusal_code, rows[i].code);
        CHECK_STR(run.result.refusal_fact, rows[i].fact);
        CHECK_INT(run.result.status, 126);
        CHECK_INT(fake_engine_count(run.fake, FAKE_NETWORK_CREATE, NULL), 0);
    }
}

/* A name can be moved to another image, and one that is not here is not fetched. */
static void an_image_that_is_not_pinned_or_not_there_stops_before_anything_is_made(void)
{
    static const struct {
        const char *pin;
        const char *said;
    } rows[] = {
        {"localhost/agent:latest", "\"localhost/agent:latest\" is not pinned"},
        {"agent", "\"agent\" is not pinned"},
        {"sha256:aa", "\"sha256:aa\" is not pinned"},
        {"sha256:00000000000000000000000000000000000000000000000000000000000000aa", "00aa"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(fake_run) run = {0};
        bool opened = fake_run_open(&run, &(fake_run_options){.image = rows[i].pin});
        REQUIRE(run.fake != NULL);
        if (opened)
            REQUIRE_OK(fake_run_go(&run) ? 0 : -1, run.err);
        CHECK_CONTAINS(opened ? run.result.message : run.err.message, rows[i].said);
        CHECK_INT(opened, i == 3);
        CHECK_INT(fake_engine_count(run.fake, FAKE_NETWORK_CREATE, NULL), 0);
        CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_CREATE, NULL), 0);
    }
}

CORDON_TEST_MAIN("run_gate", TEST(whoever_misbehaves_inside_gets_the_right_name),
                 TEST(statuses_of_commands_that_do_not_start_are_the_shells),
                 TEST(a_fact_that_differs_refuses_by_name_in_either_round),
                 TEST(what_the_kernel_shows_from_inside_refuses_too),
                 TEST(a_weaker_fence_may_be_accepted_by_name_and_is_recorded),
                 TEST(an_image_that_is_not_the_pinned_one_is_refused_before_anything_is_made),
                 TEST(an_image_that_is_not_pinned_or_not_there_stops_before_anything_is_made))

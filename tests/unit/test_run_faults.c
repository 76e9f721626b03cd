/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every operation of a run fails, at every position, with every code that an engine may give,
 * before it was done and after it: the receipt's kind is right, the command is never released, and
 * nothing is left. The positions are one table; test_every_call_has_its_row holds it against a real
 * run.
 */
#include "support/run_case.h"

/* Where in a run a call comes. */
typedef enum stage {
    IMAGES = 1, /* before anything is made */
    MAKE,
    CHECK_AGAIN, /* the final revalidation */
    CONFIRM,     /* after the command's end: what the engine says of it */
    DISPOSE,
} stage;

typedef struct position {
    stage stage;
    fake_op op;
    const char *role; /* NULL: any object, nth counts all */
    unsigned nth;
} position;

/* On the Docker model; images with a runner command, all else with the probe, which needs it all.
 */
static const position positions[] = {
    {IMAGES, FAKE_IMAGE_RESOLVE, NULL, 2},
    {IMAGES, FAKE_IMAGE_RESOLVE, NULL, 3},
    {IMAGES, FAKE_IMAGE_RESOLVE, NULL, 5},
    {IMAGES, FAKE_IMAGE_LOAD, NULL, 1},
    {IMAGES, FAKE_IMAGE_LOAD, NULL, 2},
    {IMAGES, FAKE_EVENTS_OPEN, NULL, 1},
    {MAKE, FAKE_NETWORK_CREATE, "vendor-network", 1},
    {MAKE, FAKE_NETWORK_INSPECT, "vendor-network", 1},
    {MAKE, FAKE_NETWORK_CREATE, "egress-network", 1},
    {MAKE, FAKE_NETWORK_INSPECT, "egress-network", 1},
    {MAKE, FAKE_CONTAINER_CREATE, "proxy", 1},
    {MAKE, FAKE_CONTAINER_INSPECT, "proxy", 1},
    {MAKE, FAKE_CONTAINER_ATTACH, "proxy", 1},
    {MAKE, FAKE_CONTAINER_START, "proxy", 1},
    {MAKE, FAKE_CONTAINER_CREATE, "step", 1},
    {MAKE, FAKE_CONTAINER_INSPECT, "step", 1},
    {MAKE, FAKE_CONTAINER_ATTACH, "step", 1},
    {MAKE, FAKE_CONTAINER_START, "step", 1},
    {CHECK_AGAIN, FAKE_NETWORK_INSPECT, "vendor-network", 2},
    {CHECK_AGAIN, FAKE_NETWORK_INSPECT, "egress-network", 2},
    {CHECK_AGAIN, FAKE_CONTAINER_INSPECT, "proxy", 2},
    {CHECK_AGAIN, FAKE_CONTAINER_INSPECT, "step", 2},
    {CONFIRM, FAKE_CONTAINER_INSPECT, "step", 3},
    {CONFIRM, FAKE_CONTAINER_CHANGES, "step", 1},
    {CONFIRM, FAKE_CONTAINER_CHANGES, "proxy", 1},
    {DISPOSE, FAKE_CONTAINER_SIGNAL, "proxy", 1},
    {DISPOSE, FAKE_CONTAINER_INSPECT, "proxy", 3},
    {DISPOSE, FAKE_CONTAINER_INSPECT, "proxy", 4},
    {DISPOSE, FAKE_CONTAINER_REMOVE, "proxy", 1},
    {DISPOSE, FAKE_CONTAINER_REMOVE, "step", 1},
    {DISPOSE, FAKE_NETWORK_INSPECT, "vendor-network", 3},
    {DISPOSE, FAKE_NETWORK_INSPECT, "vendor-network", 4},
    {DISPOSE, FAKE_NETWORK_REMOVE, "vendor-network", 1},
    {DISPOSE, FAKE_NETWORK_INSPECT, "egress-network", 3},
    {DISPOSE, FAKE_NETWORK_REMOVE, "egress-network", 1},
};
#define POSITIONS (sizeof positions / sizeof positions[0])

static const cordon_code codes[] = {
    CORDON_ERR_NOMEM,       CORDON_ERR_TIMEOUT,  CORDON_ERR_NOTFOUND,      CORDON_ERR_CONFLICT,
    CORDON_ERR_UNSUPPORTED, CORDON_ERR_PROTOCOL, CORDON_ERR_INDETERMINATE, CORDON_ERR_CANCELLED,
    CORDON_ERR_UNREACHABLE, CORDON_ERR_SYSTEM,   CORDON_ERR_OVERLAP,       CORDON_ERR_ENGINE,
    CORDON_ERR_INVALID,     CORDON_ERR_WARNED,
};
#define CODES (sizeof codes / sizeof codes[0])

/*
 * "The engine made nothing": what the contract lets core believe of a failed create. SYSTEM is one
 * that was never sent, for want of a descriptor, say: afterwards it would be INDETERMINATE.
 */
static bool is_declined(cordon_code code)
{
    return code != CORDON_ERR_NOMEM && code != CORDON_ERR_PROTOCOL &&
           code != CORDON_ERR_INDETERMINATE && code != CORDON_ERR_WARNED;
}

static bool is_create(const position *at)
{
    return at->op == FAKE_NETWORK_CREATE || at->op == FAKE_CONTAINER_CREATE;
}

static bool is_remove(const position *at)
{
    return at->op == FAKE_NETWORK_REMOVE || at->op == FAKE_CONTAINER_REMOVE;
}

/*
 * The receipt's kind; REFUSED with FOREIGN where an object is gone before the release, TAMPERED
 * where our first removal finds it gone. One call that took too long is no "deadline" while the
 * run's own has not passed.
 */
static const char *wanted_kind(const position *at, fake_fault_kind kind, cordon_code code)
{
    switch (at->stage) {
    case IMAGES:
        return code == CORDON_ERR_CANCELLED ? "cancelled" : "error";
    case CHECK_AGAIN:
        if (code == CORDON_ERR_NOTFOUND)
            return "refused";
        break;
    case CONFIRM:
        return code == CORDON_ERR_NOTFOUND ? "tampered" : "error";
    case DISPOSE:
        return is_remove(at) && kind == FAKE_FAULT_AFTER && code == CORDON_ERR_NOTFOUND ? "tampered"
                                                                                        : "exited";
    case MAKE:
        if (at->op == FAKE_NETWORK_CREATE && code == CORDON_ERR_OVERLAP)
            return "exited";
        if (is_create(at) && code == CORDON_ERR_WARNED)
            return "refused";
        if ((at->op == FAKE_CONTAINER_ATTACH && code == CORDON_ERR_NOTFOUND) ||
            (at->op == FAKE_CONTAINER_START &&
             (code == CORDON_ERR_NOTFOUND || code == CORDON_ERR_CONFLICT)))
            return "refused";
        break;
    }
    return code == CORDON_ERR_CANCELLED ? "cancelled" : "not_started";
}

/* --- Running all of it ---------------------------------------------------------------------- */

typedef struct fault_case {
    const position *at;
    fake_fault fault;
    run_outcome outcome;
} fault_case;

static void script_fault(void *context, fake_run *run)
{
    const fault_case *c = context;
    fake_engine_fault(run->fake, &c->fault);
}

static void run_fault(void *context, size_t index)
{
    fault_case *c = (fault_case *)context + index;
    fake_run_options options = {.grace = "0s", .probe = c->at->stage != IMAGES};
    c->outcome = run_case(&options, script_fault, c);
}

static const char *case_name(const fault_case *c, char *text, size_t size)
{
    (void)snprintf(text, size, "%s %s #%u %s %s", fake_op_name(c->at->op),
                   c->at->role ? c->at->role : "", c->at->nth,
                   c->fault.kind == FAKE_FAULT_BEFORE ? "before" : "after",
                   cordon_code_name(c->fault.code));
    return text;
}

/* RL4: with the text of the warning. */
static void check_warning(const fault_case *c, const char *name)
{
    char fact[64];
    (void)snprintf(fact, sizeof fact, "%s.warnings", c->at->role);
    TEST_RECORDF(strcmp(c->outcome.refusal, "CORDON_REFUSED_WARNING") == 0 &&
                     strcmp(c->outcome.fact, fact) == 0 && c->outcome.status == 126 &&
                     strstr(c->outcome.message, "scripted failure") != NULL,
                 "%s: %s %s, %d: %s", name, c->outcome.refusal, c->outcome.fact, c->outcome.status,
                 c->outcome.message);
}

/* Gone, or - a conflict before the start - changed by somebody else. */
static void check_refusal(const fault_case *c, const char *name)
{
    if (c->fault.code == CORDON_ERR_WARNED) {
        check_warning(c, name);
        return;
    }
    bool gone = c->fault.code == CORDON_ERR_NOTFOUND;
    bool step = c->at->role && strcmp(c->at->role, "step") == 0;
    const char *code = gone ? "CORDON_REFUSED_FOREIGN" : "CORDON_REFUSED_CHANGED";
    const char *fact = gone ? "engine.objects" : step ? "step.state" : "proxy.state";
    TEST_RECORDF(strcmp(c->outcome.refusal, code) == 0 && strcmp(c->outcome.fact, fact) == 0,
                 "%s: %s %s", name, c->outcome.refusal, c->outcome.fact);
}

static void check_case(const fault_case *c)
{
    char name[160];
    const char *kind = wanted_kind(c->at, c->fault.kind, c->fault.code);
    bool exited = strcmp(kind, "exited") == 0;
    (void)case_name(c, name, sizeof name);
    RUN_CHECK_KIND(c->outcome, name, kind);
    RUN_CHECK_CLEAN(c->outcome, name);
    TEST_RECORDF(c->outcome.released == (exited || c->at->stage >= CONFIRM), "%s: released %d",
                 name, c->outcome.released);
    TEST_RECORDF(exited || c->outcome.message[0] != '\0', "%s: no message", name);
    TEST_RECORDF(c->at->stage != IMAGES || c->outcome.creates == 0, "%s: %u creates", name,
                 c->outcome.creates);
    if (strcmp(kind, "refused") == 0)
        check_refusal(c, name);
}

/* True: the engine may answer so without a breach of its own contract, and it has no test below. */
static bool is_sound(const position *at, fake_fault_kind kind, cordon_code code)
{
    /* A network that is in use is not removed. */
    if (at->op == FAKE_NETWORK_REMOVE && code == CORDON_ERR_CONFLICT)
        return kind == FAKE_FAULT_BEFORE;
    /* A create that was carried out is warned of, and nothing else is. */
    if (!is_create(at))
        return code != CORDON_ERR_WARNED;
    /* One that failed inside the engine may have left what it had made: it is looked for. */
    if (code == CORDON_ERR_ENGINE)
        return true;
    return is_declined(code) == (kind == FAKE_FAULT_BEFORE);
}

static void check_all(fake_fault_kind kind)
{
    static fault_case cases[POSITIONS * CODES];
    size_t count = 0;
    memset(cases, 0, sizeof cases);
    for (size_t i = 0; i < POSITIONS; i++) {
        for (size_t j = 0; j < CODES; j++) {
            if (!is_sound(&positions[i], kind, codes[j]))
                continue;
            cases[count++] = (fault_case){.at = &positions[i],
                                          .fault = {.op = positions[i].op,
                                                    .object = positions[i].role,
                                                    .nth = positions[i].nth,
                                                    .kind = kind,
                                                    .code = codes[j]}};
        }
    }
    at_once(count, run_fault, cases);
    for (size_t i = 0; i < count; i++)
        check_case(&cases[i]);
}

static void a_call_that_fails_and_did_nothing(void)
{
    check_all(FAKE_FAULT_BEFORE);
}

static void a_call_that_fails_and_was_carried_out(void)
{
    check_all(FAKE_FAULT_AFTER);
}

/* --- The table is whole --------------------------------------------------------------------- */

static bool has_row(fake_op op, const char *role)
{
    for (size_t i = 0; i < POSITIONS; i++) {
        if (positions[i].op == op && (!positions[i].role || strcmp(positions[i].role, role) == 0))
            return true;
    }
    return op == FAKE_OPEN || op == FAKE_DESCRIBE;
}

static void every_call_of_a_run_has_a_row(void)
{
    cordon_auto(fake_run) run = {0};
    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){.probe = true}) && fake_run_go(&run) ? 0
                                                                                            : -1,
               run.err);
    REQUIRE_STR(run.result.kind_name, "exited");
    for (size_t i = 0; i < fake_engine_call_count(run.fake); i++) {
        fake_call call = fake_engine_call(run.fake, i);
        TEST_RECORDF(has_row(call.op, call.object), "no row for %s %s", fake_op_name(call.op),
                     call.object);
    }
}

/* --- Opening -------------------------------------------------------------------------------- */

static void an_engine_that_cannot_be_opened_is_told_as_it_is(void)
{
    static const fake_op ops[] = {FAKE_OPEN, FAKE_DESCRIBE};
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < CODES; j++) {
            cordon_auto(fake_run) run = {0};
            fake_fault fault = {.op = ops[i], .kind = FAKE_FAULT_BEFORE, .code = codes[j]};
            REQUIRE_OK(fake_run_prepare(&run, &(fake_run_options){0}) ? 0 : -1, run.err);
            fake_engine_fault(run.fake, &fault);
            CHECK(!fake_run_connect(&run));
            CHECK_INT(run.err.code, codes[j]);
            CHECK(run.engine == NULL);
            CHECK_INT(fake_engine_left(run.fake), 0);
        }
    }
}

CORDON_TEST_MAIN("run_faults", TEST(every_call_of_a_run_has_a_row),
                 TEST(an_engine_that_cannot_be_opened_is_told_as_it_is),
                 TEST(a_call_that_fails_and_did_nothing),
                 TEST(a_call_that_fails_and_was_carried_out))

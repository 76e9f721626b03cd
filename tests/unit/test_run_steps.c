/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several steps of one invocation: what they share is made once, held by a keeper, looked at before
 * every release and gone at the end; the first step that fails is the last one; and whoever meddles
 * with keeper or scratch is found, by its fact.
 */
#include <signal.h>

#include "adapter.h"
#include "support/run_case.h"

#define BOTH 2

static bool engine_of(size_t index)
{
    return index % BOTH != 0;
}

static void three_steps_share_one_scratch_and_nothing_is_left(void)
{
    for (size_t i = 0; i < BOTH; i++) {
        cordon_auto(fake_run) run = {0};
        cordon_autofree char *json = NULL;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(fake_run_open(&run, &(fake_run_options){.podman = engine_of(i), .steps = 3}));
        REQUIRE(fake_run_go(&run));
        CHECK_STR(run.result.kind_name, "exited");
        CHECK_INT(run.result.status, 0);
        CHECK_INT(fake_engine_count(run.fake, FAKE_VOLUME_CREATE, NULL), 1);
        CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_CREATE, "keeper"), 1);
        CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_CREATE, "proxy"), 1);
        CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_CREATE, "step"), 3);
        CHECK_INT(fake_engine_count(run.fake, FAKE_NETWORK_CREATE, NULL), 2);
        CHECK_INT(fake_engine_left(run.fake), 0);
        CHECK_INT(fake_run_journals(&run), 0);
        CHECK(fake_engine_complaint(run.fake) == NULL);
        REQUIRE_OK(cordon_receipt_json(run.receipt, &json, &err), err);
        CHECK(strstr(json, "\"steps\":[{\"command\":\"runner\",\"program\":\"make\"") != NULL);
        CHECK(strstr(json, "not_reached") == NULL);
    }
}

static void one_step_makes_no_scratch(void)
{
    cordon_auto(fake_run) run = {0};
    REQUIRE(fake_run_open(&run, &(fake_run_options){.steps = 1}));
    REQUIRE(fake_run_go(&run));
    CHECK_STR(run.result.kind_name, "exited");
    CHECK_INT(fake_engine_count(run.fake, FAKE_VOLUME_CREATE, NULL), 0);
    CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_CREATE, "keeper"), 0);
}

static void the_first_step_that_fails_is_the_last_one(void)
{
    cordon_auto(fake_run) run = {0};
    cordon_autofree char *json = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(fake_run_open(&run, &(fake_run_options){.podman = true, .steps = 3}));
    fake_engine_step(run.fake, &(fake_step){.exit_code = 7});
    REQUIRE(fake_run_go(&run));
    CHECK_STR(run.result.kind_name, "exited");
    CHECK_INT(run.result.status, 7);
    CHECK_INT(fake_engine_count(run.fake, FAKE_CONTAINER_CREATE, "step"), 1);
    CHECK_INT(fake_engine_left(run.fake), 0);
    REQUIRE_OK(cordon_receipt_json(run.receipt, &json, &err), err);
    CHECK(strstr(json, "\"kind\":\"exited\",\"exit_code\":7") != NULL);
    CHECK(strstr(json, "\"kind\":\"not_reached\",\"exit_code\":null") != NULL);
}

static void how_many_steps_there_are_is_bounded(void)
{
    cordon_auto(fake_run) run = {0};
    REQUIRE(fake_run_open(&run, &(fake_run_options){.steps = CORDON_STEPS_MAX + 1}));
    CHECK(!fake_run_go(&run));
    CHECK_INT(run.err.code, CORDON_ERR_INVALID);
    CHECK_INT(fake_engine_count(run.fake, FAKE_VOLUME_CREATE, NULL), 0);
}

static void the_probe_is_no_step_among_others(void)
{
    cordon_auto(fake_run) run = {0};
    REQUIRE(fake_run_open(&run, &(fake_run_options){.probe = true, .steps = 2}));
    CHECK(!fake_run_go(&run));
    CHECK_INT(run.err.code, CORDON_ERR_INVALID);
}

/* --- Agents ----------------------------------------------------------------------------------- */

/* A run of these agent's steps; resume[i] says which of them go on. */
typedef struct agent_steps {
    fake_run run;
    cordon_command *commands[3];
} agent_steps;

static void agent_steps_clear(agent_steps *a)
{
    fake_run_clear(&a->run);
    for (size_t i = 0; i < 3; i++)
        cordon_command_free(a->commands[i]);
}

static bool agent_steps_open(agent_steps *a, const char *const *prompts, const bool *resume)
{
    static const char settings[] = "agents: { claude = \"2.1.332\"; };\n"
                                   "images: { claude = \"" FAKE_IMAGE_PIN "\"; };\n";
    if (!fake_run_open(&a->run, &(fake_run_options){.unpinned = true, .settings = settings}))
        return TEST_RECORDF(false, "%s", a->run.err.message);
    for (size_t i = 0; i < 3 && prompts[i]; i++) {
        const cordon_agent_options wanted = {
            .prompt = prompts[i], .prompt_length = strlen(prompts[i]), .resume = resume[i]};
        if (!CHECK_OK(cordon_command_agent(a->run.policy, &wanted, &a->commands[i], &a->run.err),
                      a->run.err))
            return false;
    }
    return true;
}

static int agent_steps_go(agent_steps *a, size_t count)
{
    const cordon_io io = {.stdout_fd = a->run.out_fd, .stderr_fd = a->run.err_fd, .cancel_fd = -1};
    int rc =
        cordon_invocation_run_steps(a->run.invocation, (const cordon_command *const *)a->commands,
                                    count, &io, &a->run.receipt, &a->run.err);
    if (rc == 0)
        cordon_receipt_result(a->run.receipt, &a->run.result);
    return rc;
}

static const char *item_with(const cordon_fact_list *list, const char *part, size_t nth)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strstr(list->items[i], part) != NULL && nth-- == 0)
            return list->items[i];
    }
    return "";
}

/* Each step has a folder that the one before cannot know; the session that goes on lies in it. */
static void a_session_goes_on_in_a_folder_of_the_steps_own(void)
{
    cordon_cleanup(agent_steps_clear) agent_steps a = {0};
    fake_release released;
    char says[1024];
    char session[256];
    REQUIRE(agent_steps_open(&a, (const char *const[]){"why?", "and?", NULL},
                             (const bool[]){false, true}));
    const char *id = a.commands[1]->agent->session;
    (void)snprintf(says, sizeof says,
                   "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"%s\",\"tools\":"
                   "[\"Read\",\"Grep\",\"Glob\"],\"mcp_servers\":[],\"permissionMode\":\"dontAsk\","
                   "\"slash_commands\":[],\"skills\":[],\"plugins\":[],\"claude_code_version\":"
                   "\"2.1.332\"}\n{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":"
                   "\"text\",\"text\":\"so\"}]}}\n",
                   id);
    fake_engine_step(a.run.fake, &(fake_step){.stdout_text = says});
    REQUIRE_OK(agent_steps_go(&a, 2), a.run.err);
    CHECK_STR(a.run.result.kind_name, "exited");
    CHECK_INT(fake_engine_left(a.run.fake), 0);
    REQUIRE(fake_engine_released(a.run.fake, &released));
    const char *first = item_with(released.environment, "CLAUDE_CONFIG_DIR=/tmp/.cordon-", 0);
    const char *second = item_with(released.environment, "CLAUDE_CONFIG_DIR=/tmp/.cordon-", 1);
    CHECK_INT(strlen(first), strlen("CLAUDE_CONFIG_DIR=/tmp/.cordon-") + 32);
    CHECK_INT(strlen(second), strlen(first));
    CHECK(strcmp(first, second) != 0);
    REQUIRE_INT(released.files->count, 3);
    const char *folder = strchr(second, '/');
    (void)snprintf(session, sizeof session, "%s/projects/-tmp--cordon-%s-work/%s.jsonl=", folder,
                   folder + strlen("/tmp/.cordon-"), id);
    const char *file = item_with(released.files, session, 0);
    CHECK_STR(item_with(released.environment, "HOME=", 1) + strlen("HOME="), folder);
    CHECK_CONTAINS(file, "\"content\":\"why?\"");
    CHECK_CONTAINS(file, "\"text\":\"so\"");
    CHECK(strstr(file, "and?") == NULL);
}

static void a_session_that_nobody_began_does_not_go_on(void)
{
    cordon_cleanup(agent_steps_clear) agent_steps a = {0};
    REQUIRE(agent_steps_open(&a, (const char *const[]){"why?", "and?", NULL},
                             (const bool[]){true, false}));
    CHECK_FAILS(agent_steps_go(&a, 2), a.run.err, CORDON_ERR_INVALID,
                "step 1 resumes a session, and no agent's step comes before it");
    CHECK_INT(fake_engine_count(a.run.fake, FAKE_VOLUME_CREATE, NULL), 0);
}

/* --- Meddling --------------------------------------------------------------------------------- */

static void remount(fake_engine *fake)
{
    fake_engine_remount(fake);
}
static void swap_volume(fake_engine *fake)
{
    fake_engine_vanish(fake, "scratch");
}
static void intrude(fake_engine *fake)
{
    fake_engine_intrude(fake, "scratch");
}
static void exec_keeper(fake_engine *fake)
{
    fake_engine_emit(fake, "keeper", CORDON_EVENT_EXEC, "exec_start");
}
static void kill_keeper(fake_engine *fake)
{
    fake_engine_emit(fake, "keeper", CORDON_EVENT_DIE, "die");
}
static void remove_volume_event(fake_engine *fake)
{
    fake_engine_emit(fake, "scratch", CORDON_EVENT_REMOVE, "destroy");
}
static void upload(fake_engine *fake)
{
    fake_engine_upload(fake, "keeper", "/cordon-guard");
}

typedef struct meddle_case {
    const char *name;
    void (*meddle)(fake_engine *fake);
    bool podman;
    const char *kind;
    const char *code;
    const char *fact;
    bool left; /* the fake keeps what is not ours to remove */
} meddle_case;

/* Before the second step's start: each has a code and a fact of its own. */
static const meddle_case meddles[] = {
    {"another file system in its place", remount, false, "refused", "CORDON_REFUSED_CHANGED",
     "kernel.folder", false},
    {"the volume is removed", swap_volume, true, "refused", "CORDON_REFUSED_FOREIGN",
     "engine.objects", false},
    {"somebody else has the volume", intrude, false, "refused", "CORDON_REFUSED_FOREIGN",
     "scratch.users", true},
    {"an exec in the keeper", exec_keeper, true, "tampered", "CORDON_REFUSED_CHANGED",
     "keeper.events", false},
    {"the keeper is killed", kill_keeper, false, "tampered", "CORDON_REFUSED_CHANGED",
     "keeper.events", false},
    {"an event of the volume's end", remove_volume_event, false, "tampered",
     "CORDON_REFUSED_CHANGED", "scratch.events", false},
    {"a file put into the keeper", upload, true, "refused", "CORDON_REFUSED_CHANGED",
     "keeper.changes[/cordon-guard]", false},
};
#define MEDDLES (sizeof meddles / sizeof meddles[0])

static run_outcome outcomes[MEDDLES];

static void at_second_step(void *context, fake_engine *fake, fake_op op, const char *role,
                           unsigned nth)
{
    const meddle_case *c = context;
    if (op == FAKE_CONTAINER_START && strcmp(role, "step") == 0 && nth == 2)
        c->meddle(fake);
}

static void script_meddle(void *context, fake_run *run)
{
    const meddle_case *c = context;
    fake_engine_hook(run->fake, at_second_step, (void *)(uintptr_t)c);
}

static void run_meddle(void *context, size_t index)
{
    (void)context;
    outcomes[index] = run_case(&(fake_run_options){.podman = meddles[index].podman, .steps = 2},
                               script_meddle, (void *)(uintptr_t)&meddles[index]);
}

static void meddling_with_what_is_shared_is_found(void)
{
    at_once(MEDDLES, run_meddle, NULL);
    for (size_t i = 0; i < MEDDLES; i++) {
        const meddle_case *c = &meddles[i];
        RUN_CHECK_KIND(outcomes[i], c->name, c->kind);
        TEST_RECORDF(strcmp(outcomes[i].refusal, c->code) == 0 &&
                         strcmp(outcomes[i].fact, c->fact) == 0 && outcomes[i].status == 126,
                     "%s: %s %s, status %d: %s", c->name, outcomes[i].refusal, outcomes[i].fact,
                     outcomes[i].status, outcomes[i].message);
        if (!c->left)
            RUN_CHECK_CLEAN(outcomes[i], c->name);
        else
            TEST_RECORDF(outcomes[i].left_told == 1 && outcomes[i].left_there == 1 &&
                             strcmp(outcomes[i].left[0].type, "volume") == 0,
                         "%s: told %zu, there %zu", c->name, outcomes[i].left_told,
                         outcomes[i].left_there);
    }
}

/* --- Faults ----------------------------------------------------------------------------------- */

typedef struct fault_case {
    fake_op op;
    const char *object;
    unsigned nth;
    fake_fault_kind kind;
    cordon_code code;
} fault_case;

static const fault_case faults[] = {
    {FAKE_VOLUME_CREATE, "scratch", 1, FAKE_FAULT_BEFORE, CORDON_ERR_ENGINE},
    {FAKE_VOLUME_CREATE, "scratch", 1, FAKE_FAULT_AFTER, CORDON_ERR_INDETERMINATE},
    {FAKE_VOLUME_INSPECT, "scratch", 1, FAKE_FAULT_BEFORE, CORDON_ERR_ENGINE},
    {FAKE_CONTAINER_CREATE, "keeper", 1, FAKE_FAULT_AFTER, CORDON_ERR_INDETERMINATE},
    {FAKE_CONTAINER_START, "keeper", 1, FAKE_FAULT_BEFORE, CORDON_ERR_ENGINE},
    {FAKE_CONTAINER_CREATE, "step", 2, FAKE_FAULT_AFTER, CORDON_ERR_INDETERMINATE},
    {FAKE_CONTAINER_START, "step", 2, FAKE_FAULT_BEFORE, CORDON_ERR_ENGINE},
    {FAKE_VOLUME_REMOVE, "scratch", 1, FAKE_FAULT_BEFORE, CORDON_ERR_ENGINE},
};
#define FAULTS (sizeof faults / sizeof faults[0])

static run_outcome faulty[FAULTS];

static void script_fault(void *context, fake_run *run)
{
    const fault_case *c = context;
    fake_engine_fault(run->fake, &(fake_fault){c->op, c->object, c->nth, c->kind, c->code});
}

static void run_fault(void *context, size_t index)
{
    (void)context;
    faulty[index] = run_case(&(fake_run_options){.podman = engine_of(index), .steps = 2},
                             script_fault, (void *)(uintptr_t)&faults[index]);
}

static void whatever_fails_nothing_is_left(void)
{
    at_once(FAULTS, run_fault, NULL);
    for (size_t i = 0; i < FAULTS; i++) {
        bool at_the_end = faults[i].op == FAKE_VOLUME_REMOVE;
        char name[96];
        (void)snprintf(name, sizeof name, "%s of %s, call %u", fake_op_name(faults[i].op),
                       faults[i].object, faults[i].nth);
        RUN_CHECK_CLEAN(faulty[i], name);
        TEST_RECORDF((faulty[i].status == 0) == at_the_end, "%s: %s, status %d", name,
                     faulty[i].kind, faulty[i].status);
    }
}

CORDON_TEST_MAIN("run_steps", TEST(three_steps_share_one_scratch_and_nothing_is_left),
                 TEST(one_step_makes_no_scratch), TEST(the_first_step_that_fails_is_the_last_one),
                 TEST(how_many_steps_there_are_is_bounded), TEST(the_probe_is_no_step_among_others),
                 TEST(a_session_goes_on_in_a_folder_of_the_steps_own),
                 TEST(a_session_that_nobody_began_does_not_go_on),
                 TEST(meddling_with_what_is_shared_is_found), TEST(whatever_fails_nothing_is_left))

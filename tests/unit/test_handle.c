/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy is not a capability: at every public entry a handle that is copied, forged, freed, of
 * another kind or NULL is refused with INVALID - before anything is read through it, and before the
 * engine hears anything.
 */
#include "handle.h"

#include <sys/mman.h>

#include "invocation.h"
#include "receipt.h"
#include "support/fake_run.h"
#include "support/test.h"

/* --- The set itself --------------------------------------------------------------------------- */

static void only_this_address_as_this_kind_is_alive(void)
{
    cordon_err err = CORDON_ERR_INIT;
    int object[2] = {0, 0};
    REQUIRE_OK(cordon_handle_add(CORDON_HANDLE_POLICY, &object[0], &err), err);
    CHECK(cordon_handle_is_live(CORDON_HANDLE_POLICY, &object[0]));
    CHECK(!cordon_handle_is_live(CORDON_HANDLE_POLICY, &object[1]));
    CHECK(!cordon_handle_is_live(CORDON_HANDLE_COMMAND, &object[0]));
    CHECK(!cordon_handle_is_live(CORDON_HANDLE_POLICY, NULL));
    CHECK(!cordon_handle_remove(CORDON_HANDLE_COMMAND, &object[0]));
    CHECK(!cordon_handle_remove(CORDON_HANDLE_POLICY, &object[1]));
    CHECK(cordon_handle_remove(CORDON_HANDLE_POLICY, &object[0]));
    CHECK(!cordon_handle_remove(CORDON_HANDLE_POLICY, &object[0]));
    CHECK_FAILS(cordon_handle_check(CORDON_HANDLE_POLICY, &object[0], &err), err,
                CORDON_ERR_INVALID, "no policy that the library handed out, or it was freed");
}

/* --- Every public entry ----------------------------------------------------------------------- */

/* Each kind of handle once; a test replaces one of them by something that is none. */
typedef struct handles {
    cordon_config *config;
    cordon_engine *engine;
    cordon_policy *policy;
    cordon_command *command;
    cordon_invocation *invocation;
    cordon_receipt *receipt;
} handles;

static const char *const argv[] = {"make", "check"};
static const cordon_host host = {.system_config = "/nonexistent/cordon.conf"};

static int call_config_json(const handles *h, cordon_err *err)
{
    char *json = NULL;
    return cordon_config_json(h->config, &json, err);
}

static int call_engine_open(const handles *h, cordon_err *err)
{
    cordon_engine *engine = NULL;
    return cordon_engine_open(h->config, &host, NULL, 1000, -1, &engine, err);
}

static int call_engine_candidates(const handles *h, cordon_err *err)
{
    cordon_engine_candidate *list = NULL;
    size_t count = 0;
    return cordon_engine_candidates(h->config, &host, NULL, &list, &count, err);
}

static int call_policy_new(const handles *h, cordon_err *err)
{
    cordon_policy *policy = NULL;
    return cordon_policy_new(h->config, "claude", "review", &policy, err);
}

static int call_policy_approve(const handles *h, cordon_err *err)
{
    return cordon_policy_approve(h->policy, argv, 2, err);
}

static int call_command_runner(const handles *h, cordon_err *err)
{
    cordon_command *command = NULL;
    return cordon_command_runner(h->policy, argv, 2, &command, err);
}

static int call_command_probe(const handles *h, cordon_err *err)
{
    cordon_command *command = NULL;
    return cordon_command_probe(h->policy, NULL, &command, err);
}

static int call_invocation_new(const handles *h, cordon_err *err)
{
    cordon_invocation *invocation = NULL;
    cordon_invocation_options options = {.deadline_ms = 1000};
    return cordon_invocation_new(h->engine, h->config, &host, h->policy, &options, &invocation,
                                 err);
}

static int call_plan(const handles *h, cordon_err *err)
{
    char *json = NULL;
    return cordon_invocation_plan_json(h->invocation, h->command, &json, err);
}

static int call_run(const handles *h, cordon_err *err)
{
    cordon_io io = {.stdout_fd = -1, .stderr_fd = -1, .cancel_fd = -1};
    cordon_receipt *receipt = NULL;
    return cordon_invocation_run(h->invocation, h->command, &io, &receipt, err);
}

static int call_receipt_json(const handles *h, cordon_err *err)
{
    char *json = NULL;
    return cordon_receipt_json(h->receipt, &json, err);
}

typedef struct entry {
    const char *name;
    int (*call)(const handles *h, cordon_err *err);
    size_t offset; /* of the handle that is replaced */
    size_t size;   /* of what it points to */
} entry;

#define ENTRY(call, member)                                                                        \
    {                                                                                              \
#call " " #member, call, offsetof(handles, member), SIZE_##member                          \
    }
#define SIZE_config     sizeof(cordon_config)
#define SIZE_engine     sizeof(cordon_engine)
#define SIZE_policy     sizeof(cordon_policy)
#define SIZE_command    sizeof(cordon_command)
#define SIZE_invocation sizeof(cordon_invocation)
#define SIZE_receipt    sizeof(cordon_receipt)

static const entry entries[] = {
    ENTRY(call_config_json, config),       ENTRY(call_engine_open, config),
    ENTRY(call_engine_candidates, config), ENTRY(call_policy_new, config),
    ENTRY(call_policy_approve, policy),    ENTRY(call_command_runner, policy),
    ENTRY(call_command_probe, policy),     ENTRY(call_invocation_new, engine),
    ENTRY(call_invocation_new, config),    ENTRY(call_invocation_new, policy),
    ENTRY(call_plan, invocation),          ENTRY(call_plan, command),
    ENTRY(call_run, invocation),           ENTRY(call_run, command),
    ENTRY(call_receipt_json, receipt),
};
#define ENTRIES (sizeof entries / sizeof entries[0])

static void check_refused(const entry *e, const handles *good, void *bad, const char *what)
{
    handles h = *good;
    cordon_err err = CORDON_ERR_INIT;
    memcpy((char *)&h + e->offset, &bad, sizeof bad);
    int rc = e->call(&h, &err);
    TEST_RECORDF(rc == -1 && err.code == CORDON_ERR_INVALID, "%s, %s: rc %d %s %s", e->name, what,
                 rc, cordon_code_name(err.code), err.message);
}

static void *handle_of(const handles *h, size_t offset)
{
    void *handle = NULL;
    memcpy(&handle, (const char *)h + offset, sizeof handle);
    return handle;
}

/* One page that may not even be read: whoever looks through the handle dies. */
static void *unreadable(void)
{
    void *page = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page != MAP_FAILED ? page : NULL;
}

static void check_entry(const entry *e, const handles *good, void *page)
{
    cordon_autofree void *copy = malloc(e->size);
    if (!CHECK(copy != NULL && page != NULL))
        return;
    memcpy(copy, handle_of(good, e->offset), e->size);
    check_refused(e, good, copy, "a copy");
    check_refused(e, good, page, "a forgery that may not be read");
    check_refused(e, good, (char *)handle_of(good, e->offset) + 8, "a pointer into it");
    check_refused(e, good, NULL, "NULL");
    for (size_t other = 0; other < sizeof *good; other += sizeof(void *)) {
        if (other != e->offset)
            check_refused(e, good, handle_of(good, other), "a handle of another kind");
    }
}

static bool make_all(fake_run *run, handles *ret_handles, cordon_receipt **ret_receipt)
{
    cordon_err failure = CORDON_ERR_INIT;
    (void)CORDON_FAIL(&failure, CORDON_ERR_CONFIG, "no");
    if (!CHECK_OK(fake_run_open(run, &(fake_run_options){0}) ? 0 : -1, run->err) ||
        !CHECK_OK(cordon_receipt_new_failed(&failure, "claude", "review", ret_receipt, &run->err),
                  run->err))
        return false;
    *ret_handles = (handles){run->config,  run->engine,     run->policy,
                             run->command, run->invocation, *ret_receipt};
    return true;
}

static void what_is_no_handle_is_refused_everywhere(void)
{
    cordon_auto(fake_run) run = {0};
    cordon_receipt *receipt = NULL;
    handles good;
    void *page = unreadable();
    if (make_all(&run, &good, &receipt)) {
        size_t calls = fake_engine_call_count(run.fake);
        for (size_t i = 0; i < ENTRIES; i++)
            check_entry(&entries[i], &good, page);
        CHECK_INT(fake_engine_call_count(run.fake), calls);
    }
    cordon_receipt_free(receipt);
    (void)munmap(page, 65536);
}

static void what_was_freed_is_refused_everywhere(void)
{
    cordon_auto(fake_run) run = {0};
    cordon_receipt *receipt = NULL;
    handles good;
    if (!make_all(&run, &good, &receipt)) {
        cordon_receipt_free(receipt);
        return;
    }
    size_t calls = fake_engine_call_count(run.fake);
    cordon_receipt_free(receipt);
    cordon_invocation_free(CORDON_TAKE(run.invocation));
    cordon_command_free(CORDON_TAKE(run.command));
    cordon_policy_free(CORDON_TAKE(run.policy));
    cordon_engine_free(CORDON_TAKE(run.engine));
    cordon_config_free(CORDON_TAKE(run.config));
    for (size_t i = 0; i < ENTRIES; i++) {
        cordon_err err = CORDON_ERR_INIT;
        int rc = entries[i].call(&good, &err);
        TEST_RECORDF(rc == -1 && err.code == CORDON_ERR_INVALID, "%s: rc %d %s", entries[i].name,
                     rc, err.message);
    }
    CHECK_INT(fake_engine_call_count(run.fake), calls);
    /* A second free, and one of what never was a handle, do nothing. */
    cordon_receipt_free(good.receipt);
    cordon_invocation_free(good.invocation);
    cordon_command_free(good.command);
    cordon_policy_free(good.policy);
    cordon_engine_free(good.engine);
    cordon_config_free(good.config);
}

/* --- Handles of somebody else ------------------------------------------------------------------
 */

static void a_command_of_another_policy_is_refused_before_any_call(void)
{
    cordon_auto(fake_run) run = {0};
    cordon_auto(fake_run) other = {0};
    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){0}) ? 0 : -1, run.err);
    REQUIRE_OK(fake_run_open(&other, &(fake_run_options){0}) ? 0 : -1, other.err);
    handles mixed = {.invocation = run.invocation, .command = other.command};
    size_t calls = fake_engine_call_count(run.fake);
    CHECK_FAILS(call_run(&mixed, &run.err), run.err, CORDON_ERR_INVALID, "");
    run.err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(call_plan(&mixed, &run.err), run.err, CORDON_ERR_INVALID, "");
    CHECK_INT(fake_engine_call_count(run.fake), calls);
}

static void a_policy_of_another_configuration_is_refused(void)
{
    cordon_auto(fake_run) run = {0};
    cordon_auto(fake_run) other = {0};
    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){0}) ? 0 : -1, run.err);
    REQUIRE_OK(fake_run_open(&other, &(fake_run_options){0}) ? 0 : -1, other.err);
    handles mixed = {.engine = run.engine, .config = run.config, .policy = other.policy};
    CHECK_FAILS(call_invocation_new(&mixed, &run.err), run.err, CORDON_ERR_INVALID,
                "another configuration");
}

static void a_run_whose_parts_were_freed_is_refused(void)
{
    cordon_auto(fake_run) run = {0};
    REQUIRE_OK(fake_run_open(&run, &(fake_run_options){0}) ? 0 : -1, run.err);
    handles h = {.invocation = run.invocation, .command = run.command};
    cordon_engine_free(CORDON_TAKE(run.engine));
    CHECK_FAILS(call_run(&h, &run.err), run.err, CORDON_ERR_INVALID, "engine");
}

/* --- What answers instead of failing -----------------------------------------------------------
 */

static void questions_about_no_handle_have_empty_answers(void)
{
    cordon_engine_info info;
    cordon_result result;
    cordon_leftover left;
    void *page = unreadable();
    REQUIRE(page != NULL);
    cordon_engine_describe(page, &info);
    CHECK_STR(info.name, "");
    CHECK_STR(info.endpoint, "");
    cordon_receipt_result(page, &result);
    CHECK_STR(result.kind_name, "error");
    CHECK_INT(result.status, 125);
    CHECK(!cordon_receipt_leftover(page, 0, &left));
    (void)munmap(page, 65536);
}

CORDON_TEST_MAIN("handle", TEST(only_this_address_as_this_kind_is_alive),
                 TEST(what_is_no_handle_is_refused_everywhere),
                 TEST(what_was_freed_is_refused_everywhere),
                 TEST(a_command_of_another_policy_is_refused_before_any_call),
                 TEST(a_policy_of_another_configuration_is_refused),
                 TEST(a_run_whose_parts_were_freed_is_refused),
                 TEST(questions_about_no_handle_have_empty_answers))

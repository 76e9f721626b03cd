/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many runs at once on one engine: each has its own networks, none reaches another, all are cleaned
 * up; and when there is no room for one more, it says so and leaves nothing.
 */
#include "real.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define RUNS 6

typedef struct crowd {
    running runs[RUNS];
    size_t count;
} crowd;

static void crowd_clear(crowd *c)
{
    for (size_t i = 0; i < c->count; i++)
        running_clear(&c->runs[i]);
}
CORDON_DEFINE_AUTO(crowd, crowd_clear)

/* Each waits for the others at the end of its pipe, so that all of them exist at once. */
static bool crowd_start(crowd *c)
{
    char script[RUNS][64];
    for (c->count = 0; c->count < RUNS;) {
        char *text = script[c->count];
        (void)snprintf(text, sizeof script[0], "echo ready %zu; sleep $0", c->count);
        if (!cordon_start(&(call){.argv = SHELL(text, real_marker())}, &c->runs[c->count]))
            return false;
        c->count++;
    }
    bool all = true;
    for (size_t i = 0; i < c->count; i++) {
        bool heard = child_hear(&c->runs[i].process, "ready", REAL_PATIENCE_MS);
        all = TEST_RECORDF(heard, "run %zu: %.300s", i, cordon_buf_text(&c->runs[i].process.err)) &&
              all;
    }
    return all;
}

/* The address of a container in the network of its run. */
static bool address_of(const char *id, char ret_address[64])
{
    cordon_auto(cordon_container_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    ret_address[0] = '\0';
    if (!CHECK_OK(real.ops->container_inspect(real.impl, id, real_soon(), &facts, &err), err) ||
        !CHECK(facts.endpoints.count > 0))
        return false;
    (void)snprintf(ret_address, 64, "%s", facts.endpoints.items[0].ipv4);
    return CHECK(ret_address[0] != '\0');
}

/* Every object of every run is there once, on a subnet of its own. */
static void all_are_distinct(const crowd *c, real_ids ids[RUNS], char steps[RUNS][64])
{
    for (size_t i = 0; i < c->count; i++) {
        REQUIRE(real_find_run(ids, i, &ids[i]) && address_of(ids[i].step, steps[i]));
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(ids[i].vendor_network, ids[j].vendor_network) != 0 &&
                  strcmp(ids[i].egress_network, ids[j].egress_network) != 0 &&
                  strcmp(ids[i].proxy, ids[j].proxy) != 0 && strcmp(steps[i], steps[j]) != 0);
    }
}

/* From a run of its own: its own proxy answers, nobody else's anything does. */
static void nothing_of_another_run_answers(char steps[RUNS][64], const real_ids ids[RUNS])
{
    static const char *const script =
        "own=${HTTPS_PROXY#http://}; p=${own%:*};"
        "printf 'GET / HTTP/1.1\\r\\n\\r\\n' | nc -w 3 $p 3128 | head -c 12; echo;"
        "for a in \"$@\"; do nc -w 2 $a 3128 </dev/null >/dev/null 2>&1 && echo reached $a;"
        " ping -c 1 -W 1 $a >/dev/null 2>&1 && echo pinged $a; done; true";
    char proxies[RUNS][64];
    const char *argv[5 + 2 * RUNS] = {"sh", "-c", script, "name"};
    size_t count = 4;
    cordon_auto(outcome) o = {.process = {.out_fd = -1, .err_fd = -1}};
    for (size_t i = 0; i < 2; i++) {
        if (!address_of(ids[i].proxy, proxies[i]))
            return;
        argv[count++] = proxies[i];
        argv[count++] = steps[i];
    }
    argv[count] = NULL;
    if (!cordon_call(&(call){.argv = argv}, &o))
        return;
    EXPECT_EXITED(&o, 0);
    CHECK_STR(outcome_out(&o), "HTTP/1.1 405\n");
}

static void SL4_six_at_once_are_apart_and_all_are_cleaned_up(void)
{
    cordon_auto(crowd) c = {.count = 0};
    real_ids ids[RUNS];
    char steps[RUNS][64] = {{0}};
    if (crowd_start(&c)) {
        all_are_distinct(&c, ids, steps);
        nothing_of_another_run_answers(steps, ids);
    }
    for (size_t i = 0; i < c.count; i++)
        CHECK(kill(c.runs[i].process.pid, SIGTERM) == 0);
    for (size_t i = 0; i < c.count; i++) {
        char want[32];
        cordon_auto(outcome) o = {.process = {.out_fd = -1, .err_fd = -1}};
        (void)snprintf(want, sizeof want, "ready %zu\n", i);
        if (!cordon_end(&c.runs[i], &o))
            continue;
        EXPECT_KIND(&o, "cancelled", 143);
        CHECK(receipt_true(&o, "cleanup.complete"));
        CHECK_STR(outcome_out(&o), want);
    }
    const outcome none = {.receipt = NULL};
    EXPECT_NOTHING_LEFT(&none);
    CHECK(!real_process_left());
}

/* Two blocks are room for one run. The second is told what to do, and the first goes on. */
static void CS1_a_run_without_room_is_refused_its_network(void)
{
    static const char *const narrow = "network: { range = \"10.214.77.0/28\"; prefix = 29; };\n";
    cordon_auto(running) r;
    cordon_auto(outcome) first = {.process = {.out_fd = -1, .err_fd = -1}};
    cordon_auto(outcome) second = {.process = {.out_fd = -1, .err_fd = -1}};
    if (!cordon_start(
            &(call){.argv = SHELL("echo ready; sleep $0", real_marker()), .settings = narrow},
            &r) ||
        !CHECK(child_hear(&r.process, "ready", REAL_PATIENCE_MS)))
        return;
    if (cordon_call(&(call){.argv = WORDS("true"), .settings = narrow}, &second)) {
        EXPECT_KIND(&second, "error", 125);
        EXPECT_LINE(&second, "no free /29 block", "10.214.77.0/28", "network.range");
        CHECK(receipt_true(&second, "cleanup.complete"));
    }
    CHECK(kill(r.process.pid, SIGTERM) == 0);
    if (cordon_end(&r, &first))
        EXPECT_KIND(&first, "cancelled", 143);
    EXPECT_NOTHING_LEFT(&first);
}

/* A subnet that somebody else holds is passed over. */
static void a_subnet_that_is_taken_is_passed_over(void)
{
    static const char *const narrow = "network: { range = \"10.214.78.0/27\"; prefix = 29; };\n";
    char foreign[65] = "";
    cordon_auto(outcome) o = {.process = {.out_fd = -1, .err_fd = -1}};
    if (real_foreign_network("cordon-foreign-network", "10.214.78.0/28", foreign) &&
        cordon_call(&(call){.argv = WORDS("echo", "ran"), .settings = narrow}, &o)) {
        EXPECT_EXITED(&o, 0);
        CHECK_STR(outcome_out(&o), "ran\n");
    }
    real_remove_network(foreign);
    EXPECT_NOTHING_LEFT(&o);
}

REAL_MAIN("parallel", TEST(SL4_six_at_once_are_apart_and_all_are_cleaned_up),
          TEST(CS1_a_run_without_room_is_refused_its_network),
          TEST(a_subnet_that_is_taken_is_passed_over))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe's pure parts: its options, its list of checks and its verdict words.
 */
#include <errno.h>
#include <stdlib.h>

#include "gate/probe.h"
#include "support/test.h"

#define GOOD                                                                                       \
    "--proxy", "10.213.0.2:3128", "--pinned", "api.anthropic.com", "--gateway", "10.213.0.1",      \
        "--worktree", "/work", "--writable", "yes", "--fenced", "yes"

/* Arguments up to NULL, behind the role's name. */
static int parse(const char *const *arguments, cordon_probe *ret_probe, cordon_err *err)
{
    char *argv[64] = {NULL};
    int argc = 0;
    argv[argc++] = (char[]){"probe"};
    for (; *arguments; arguments++)
        argv[argc++] = strdup(*arguments);
    int rc = cordon_probe_parse(argc, argv, ret_probe, err);
    if (rc < 0)
        for (int i = 1; i < argc; i++)
            free(argv[i]);
    return rc;
}

static void options_are_read(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_probe probe;
    char *argv[] = {(char[]){"probe"},      (char[]){"--proxy"},     (char[]){"10.213.0.2:3128"},
                    (char[]){"--pinned"},   (char[]){"a.example"},   (char[]){"--gateway"},
                    (char[]){"10.213.0.1"}, (char[]){"--gateway"},   (char[]){"10.213.0.9"},
                    (char[]){"--worktree"}, (char[]){"/work"},       (char[]){"--writable"},
                    (char[]){"no"},         (char[]){"--fenced"},    (char[]){"yes"},
                    (char[]){"--upstream"}, (char[]){"yes"},         (char[]){"--port"},
                    (char[]){"4242"},       (char[]){"--pinned-ms"}, (char[]){"900"}};
    REQUIRE_OK(cordon_probe_parse(21, argv, &probe, &err), err);
    CHECK_STR(probe.proxy_address, "10.213.0.2");
    CHECK_INT(probe.proxy_port, 3128);
    CHECK_INT(probe.gateways.count, 2);
    CHECK(!probe.writable && probe.fenced);
    CHECK_INT(probe.upstream, CORDON_PROBE_UPSTREAM_YES);
    CHECK_INT(probe.ports[0], 3128);
    CHECK_INT(probe.ports[1], 4242);
    CHECK_INT(probe.pinned_ms, 900);
    CHECK_STR(probe.scratch, "/tmp");
}

static void bad_options_are_named(void)
{
    static const struct {
        const char *part;
        const char *arguments[20];
    } bad[] = {
        {"--proxy is missing", {"--pinned", "x"}},
        {"--fenced is missing",
         {"--proxy", "1.2.3.4:1", "--pinned", "x", "--gateway", "1.2.3.5", "--worktree", "/",
          "--writable", "no"}},
        {"--proxy: not ADDRESS:PORT", {"--proxy", "10.0.0.1"}},
        {"--proxy: ", {"--proxy", "10.0.0.1:0"}},
        {"--writable: neither yes nor no", {"--writable", "true"}},
        {"--pinned is repeated", {"--pinned", "a", "--pinned", "b"}},
        {"--pinned needs a value", {"--pinned"}},
        {"--pinned needs a value", {"--pinned", ""}},
        {"unknown option --pin", {"--pin", "a"}},
        {"--pinned-ms: ", {"--pinned-ms", "1"}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        cordon_probe probe;
        CHECK_FAILS(parse(bad[i].arguments, &probe, &err), err, CORDON_ERR_CONFIG, bad[i].part);
    }
}

static void alternatives_of_want(void)
{
    CHECK(cordon_check_is_ok("tunnel|502|504", "tunnel"));
    CHECK(cordon_check_is_ok("tunnel|502|504", "504"));
    CHECK(!cordon_check_is_ok("tunnel|502|504", "50"));
    CHECK(!cordon_check_is_ok("tunnel|502|504", "tunnel|502"));
    CHECK(!cordon_check_is_ok("refused", ""));
    CHECK(!cordon_check_is_ok("refused", "refuse"));
}

static void an_attempt_is_judged_by_its_errno(void)
{
    cordon_found found;
    cordon_found_attempt(&found, true, 0, "x");
    CHECK_STR(found.got, "allowed");
    cordon_found_attempt(&found, false, EPERM, "x");
    CHECK_STR(found.got, "refused");
    cordon_found_attempt(&found, false, EINVAL, "x");
    CHECK_STR(found.got, "unclear");
    cordon_found_attempt(&found, false, EFAULT, "\033[2Jx");
    CHECK(strchr(found.detail, '\033') == NULL);
}

/* All groups with the longest lists: they fit, and no two checks have the same name. */
static void the_list_fits_and_names_are_unique(void)
{
    cordon_probe probe = {.proxy_address = "10.213.0.2",
                          .proxy_port = 3128,
                          .pinned = "a.example",
                          .other_host = "b.example",
                          .worktree = "/work",
                          .scratch = "/tmp",
                          .fenced = true,
                          .writable = true};
    static const char *const addresses[] = {"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4",
                                            "10.0.0.5", "10.0.0.6", "10.0.0.7", "10.0.0.8"};
    for (size_t i = 0; i < CORDON_PROBE_ADDRESSES_MAX; i++) {
        probe.gateways.items[probe.gateways.count++] = addresses[i];
        probe.hosts.items[probe.hosts.count++] = addresses[i];
        probe.foreign.items[probe.foreign.count++] = addresses[i];
    }
    cordon_checks *checks = calloc(1, sizeof *checks);
    REQUIRE(checks != NULL);
    cordon_probe_add_proxy(&probe, checks);
    cordon_probe_add_network(&probe, checks);
    cordon_probe_add_names(&probe, checks);
    cordon_probe_add_calls(&probe, checks);
    cordon_probe_add_files(&probe, checks);
    cordon_probe_add_process(&probe, checks);
    cordon_probe_add_execution(&probe, checks);
    CHECK(checks->count >= 60);
    for (size_t i = 0; i < checks->count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(checks->items[i].name, checks->items[j].name) == 0)
                TEST_RECORDF(false, "%s is there twice", checks->items[i].name);
    free(checks);
}

CORDON_TEST_MAIN("gate_probe", TEST(options_are_read), TEST(bad_options_are_named),
                 TEST(alternatives_of_want), TEST(an_attempt_is_judged_by_its_errno),
                 TEST(the_list_fits_and_names_are_unique))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory runs out in the pure parts: reading JSON, both container decoders, plan with expectation
 * and comparison, the receipt's JSON, loading a configuration.
 */
#include "torture.h"

#include "config.h"
#include "docker/docker_decode.h"
#include "expect.h"
#include "kit/jsonr.h"
#include "podman/podman_decode.h"
#include "receipt.h"
#include "support/folder.h"
#include "support/sample_file.h"
#include "support/sample_plan.h"
#include "validate.h"

/* --- JSON and decoders ------------------------------------------------------------------------ */

typedef struct answer {
    const char *text;
    size_t length;
    int major;
} answer;

static int read_json(void *context, cordon_err *err)
{
    const answer *a = context;
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    return cordon_json_parse(a->text, a->length, 1 << 20, 32, &doc, err);
}

static int decode_docker(void *context, cordon_err *err)
{
    const answer *a = context;
    cordon_auto(cordon_container_facts) facts = {0};
    return docker_decode_container(a->text, a->length, &facts, err);
}

static int decode_podman(void *context, cordon_err *err)
{
    const answer *a = context;
    cordon_auto(cordon_container_facts) facts = {0};
    return podman_decode_container(a->text, a->length, a->major, &facts, err);
}

static void torture_answer(const char *sample, int major, torture_fn *run)
{
    cordon_autofree char *text = sample_read(sample);
    if (!text)
        return;
    answer a = {text, strlen(text), major};
    torture(sample, run, &a);
}

static void reading_json(void)
{
    torture_answer("docker/20.10-container-running.json", 0, read_json);
}

static void a_docker_container(void)
{
    torture_answer("docker/20.10-step-running.json", 0, decode_docker);
    torture_answer("docker/26.1-container-running.json", 0, decode_docker);
}

static void a_podman_container(void)
{
    torture_answer("podman/4.3-step-running.json", 4, decode_podman);
}

/* --- Plan, expectation, comparison ------------------------------------------------------------ */

static int compare_container(const sample_run *sample, cordon_role role, cordon_round round,
                             cordon_err *err)
{
    cordon_auto(cordon_container_facts) expected = {0};
    cordon_auto(cordon_container_facts) actual = {0};
    cordon_tally tally = {0};
    cordon_refusal refusal = {0};
    if (cordon_expect_container(&sample->plan, role, &sample->ids, round, &expected, err) != 0 ||
        cordon_expect_container(&sample->plan, role, &sample->ids, round, &actual, err) != 0)
        return -1;
    int rc = cordon_validate_container(cordon_role_name(role), &expected, &actual, round, &tally,
                                       &refusal, err);
    /* What is only expected is not all that an engine tells; a refusal for that is as good. */
    if (rc != 0 && err->code == CORDON_ERR_REFUSED) {
        cordon_err_clear(err);
        return 0;
    }
    return rc;
}

static int plan_all(void *context, cordon_err *err)
{
    cordon_auto(sample_run) sample = {0};
    (void)context;
    if (!sample_input(&sample))
        return -1;
    cordon_plan_init(&sample.plan, &sample.input);
    if (cordon_plan_place(&sample.plan, CORDON_ROLE_VENDOR_NETWORK, "10.213.4.8/29", err) != 0 ||
        cordon_plan_place(&sample.plan, CORDON_ROLE_EGRESS_NETWORK, "10.213.7.16/29", err) != 0)
        return -1;
    cordon_plan_network_made(&sample.plan, CORDON_ROLE_VENDOR_NETWORK, SAMPLE_VENDOR_NET);
    cordon_plan_network_made(&sample.plan, CORDON_ROLE_EGRESS_NETWORK, SAMPLE_EGRESS_NET);
    (void)snprintf(sample.ids.proxy, sizeof sample.ids.proxy, "%s", SAMPLE_PROXY);
    (void)snprintf(sample.ids.step, sizeof sample.ids.step, "%s", SAMPLE_STEP);
    if (compare_container(&sample, CORDON_ROLE_PROXY, CORDON_ROUND_RUNNING, err) != 0)
        return -1;
    return compare_container(&sample, CORDON_ROLE_STEP, CORDON_ROUND_CREATED, err);
}

static void plan_expectation_and_comparison(void)
{
    torture("plan", plan_all, NULL);
}

/* --- Receipt and configuration ------------------------------------------------------------------
 */

static int write_receipt(void *context, cordon_err *err)
{
    const cordon_err *failure = context;
    cordon_receipt *receipt = NULL;
    cordon_autofree char *json = NULL;
    if (cordon_receipt_new_failed(failure, "claude", "review", &receipt, err) != 0)
        return -1;
    int rc = cordon_receipt_json(receipt, &json, err);
    cordon_receipt_free(receipt);
    return rc;
}

static void a_receipt(void)
{
    cordon_err failure = CORDON_ERR_INIT;
    (void)CORDON_FAIL(&failure, CORDON_ERR_REFUSED, "no");
    torture("receipt", write_receipt, &failure);
}

static int load_config(void *context, cordon_err *err)
{
    cordon_auto(cordon_config) config = {0};
    cordon_config_sources sources = {.system_file = "/nonexistent/cordon.conf",
                                     .explicit_file = context,
                                     .trust = {.uid = getuid()}};
    return cordon_config_load(&sources, &config, err);
}

static void a_configuration(void)
{
    static const char text[] =
        "engine = \"ci\";\n"
        "engines = ( { name = \"ci\"; kind = \"podman\"; endpoint = \"unix:///run/p.sock\"; } );\n"
        "images: { runner = "
        "\"sha256:1111111111111111111111111111111111111111111111111111111111111111\"; };\n"
        "runner: { approved = ( [\"make\", \"check\"], [\"npm\", \"test\"] ); };\n"
        "limits: { deadline = \"90s\"; memory = \"1GiB\"; };\n"
        "vendors_dir = \"v\";\n";
    test_auto_folder folder;
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_file(&folder, "cordon.conf", text, 0600));
    torture("configuration", load_config, (void *)(uintptr_t)test_path(&folder, "cordon.conf"));
}

CORDON_TEST_MAIN("torture_parts", TEST(reading_json), TEST(a_docker_container),
                 TEST(a_podman_container), TEST(plan_expectation_and_comparison), TEST(a_receipt),
                 TEST(a_configuration))

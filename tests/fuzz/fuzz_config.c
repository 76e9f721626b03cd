/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration texts, and vendor definitions, from somebody who means harm. Whatever comes in:
 * no crash, no leak, an error if and only if -1, and only CONFIG, UNSUPPORTED or (vendor CA files)
 * REFUSED; what is accepted holds values within their ranges.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "vendor.h"

#define FILE_NAME "/nonexistent/gw.conf"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_config(const cordon_config *config)
{
    const cordon_limits_config *limits = &config->limits;
    assert(limits->deadline_ms >= 1000 && limits->grace_ms >= 0);
    assert(limits->memory_bytes >= 16 << 20 && limits->nano_cpus >= 10000000);
    assert(limits->pids >= 8 && limits->open_files >= 64 && limits->worktree_entries >= 1);
    assert(limits->scratch_bytes >= 1 << 20 && limits->output_bytes >= 1024);
    assert(config->network.prefix > config->network.range_prefix && config->network.prefix <= 29);
    assert(config->engine && config->vendors_dir && config->vendors_dir[0] == '/');
    for (size_t i = 0; i < config->engines.count; i++)
        assert(config->engines.items[i].name && config->engines.items[i].endpoint &&
               config->engines.items[i].kind != CORDON_ENGINE_UNKNOWN);
    for (size_t i = 0; i < config->runner.approved.count; i++)
        assert(config->runner.approved.items[i].count > 0);
}

static void check_error(const cordon_err *err)
{
    assert(err->code == CORDON_ERR_CONFIG || err->code == CORDON_ERR_UNSUPPORTED ||
           err->code == CORDON_ERR_REFUSED || err->code == CORDON_ERR_SYSTEM);
    assert(strncmp(err->message, FILE_NAME ":", sizeof FILE_NAME) == 0);
    for (const char *p = err->message; *p; p++)
        assert((unsigned char)*p >= 0x20 && (unsigned char)*p < 0x7f);
}

static void fuzz_config(const char *text, size_t length)
{
    cordon_auto(cordon_config) config = {0};
    cordon_err err = CORDON_ERR_INIT;
    if (cordon_config_init(&config, FILE_NAME, &err) < 0)
        abort();
    if (cordon_config_apply(&config, FILE_NAME, text, length, &err) == 0)
        check_config(&config);
    else
        check_error(&err);
}

static void fuzz_vendor(const char *text, size_t length)
{
    cordon_auto_ptr(cordon_vendor) vendor = NULL;
    cordon_err err = CORDON_ERR_INIT;
    cordon_trust trust = {.uid = 0};
    if (cordon_vendor_parse(FILE_NAME, text, length, &trust, &vendor, &err) < 0)
        check_error(&err);
    else
        assert(strcmp(vendor->name, "gw") == 0 && vendor->hosts.count > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    fuzz_config(text, size);
    fuzz_vendor(text, size);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A repository's configuration, as an agent may have left it. No crash, no leak; every variable has
 * a section's and a key's spelling; an error is CONFIG and names its line.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "git_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int check(void *context, const char *section, const char *key, const char *value,
                 cordon_err *err)
{
    (void)context;
    (void)err;
    assert(strlen(section) < CORDON_GIT_CONFIG_TEXT_MAX && key[0] >= 'a' && key[0] <= 'z');
    assert(!value || strlen(value) < CORDON_GIT_CONFIG_TEXT_MAX);
    for (const char *p = key; *p; p++)
        assert((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '-');
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cordon_err err = CORDON_ERR_INIT;
    if (cordon_git_config_read((const char *)data, size, check, NULL, &err) == 0)
        assert(err.code == CORDON_OK);
    else
        assert(err.code == CORDON_ERR_CONFIG && strncmp(err.message, "line ", 5) == 0);
    return 0;
}

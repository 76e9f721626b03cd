/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller's surroundings, read once: environment, user and folders. The one place of the
 * project that reads the environment.
 */
#ifndef CORDON_CLI_HOST_H
#define CORDON_CLI_HOST_H

#include "cordon/cordon.h"
#include "kit/error.h"

/* A cordon_host together with the texts that had to be made for it. */
typedef struct cordon_cli_host {
    cordon_host host;
    char *home;
    char *state_dir;
    char *user_config;
} cordon_cli_host;

/*
 * Fills in everything that is known. A folder variable that is not an absolute path counts as
 * not set (XDG Base Directory Specification). @return 0, or -1 with NOMEM
 */
int cordon_cli_host_init(cordon_cli_host *ret_host, cordon_err *err)
    __attribute__((warn_unused_result));
/* A variable of the caller's environment; NULL when it is empty or not set. */
const char *cordon_cli_host_variable(const char *name);

/*
 * The "NAME=value" of the environment whose names begin with one of the prefixes (NULL-terminated);
 * a NULL-terminated list, to be freed with free(3); the texts are the environment's own. NULL: no
 * memory.
 */
const char **cordon_cli_host_variables(const char *const *prefixes);

void cordon_cli_host_clear(cordon_cli_host *host);

#endif

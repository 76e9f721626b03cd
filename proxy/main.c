/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The role's entry: argv in, exit code out; see proxy.h. The one file of proxy/ that prints to
 * stderr.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "descriptors.h"
#include "options.h"
#include "proxy.h"
#include "serve.h"

static int fail(int status, const cordon_err *err)
{
    (void)fprintf(stderr, "cordon-guard proxy: %s\n", err->message);
    return status;
}

/*
 * What the process can give up by itself, whatever the container left it: inherited descriptors,
 * the environment (no resolver option comes from there), new privileges, core dumps and tracing.
 */
static void confine(void)
{
    struct rlimit none = {0};
    cordon_descriptors_close_from(STDERR_FILENO + 1, -1);
    (void)clearenv();
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int cordon_proxy_main(int argc, char **argv)
{
    cordon_proxy_options options;
    cordon_err err = CORDON_ERR_INIT;
    if (cordon_proxy_options_parse(argc, (const char *const *)argv, &options, &err) != 0)
        return fail(CORDON_PROXY_EXIT_USAGE, &err);
    confine();
    if (cordon_proxy_serve(&options, cordon_lookup_system, &err) != 0)
        return fail(CORDON_PROXY_EXIT_SYSTEM, &err);
    return CORDON_PROXY_EXIT_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The role's entry: what it finds, what it is told, exit code out; see proxy.h. The one file of
 * proxy/ that prints to stderr.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "descriptors.h"
#include "kit/cleanup.h"
#include "proxy.h"
#include "serve.h"
#include "start.h"

/* As long as core waits for the ready line; the policy is written right after the start. */
#define POLICY_MS 30000

static int fail(int status, const cordon_err *err)
{
    (void)fprintf(stderr, "cordon-guard proxy: %s\n", err->message);
    return status;
}

/*
 * What the process can give up by itself, whatever the container left it: inherited descriptors,
 * the environment (no resolver option comes from there), new privileges, core dumps and tracing.
 */
static int confine(cordon_err *err)
{
    struct rlimit none = {0};
    cordon_descriptors_close_from(STDERR_FILENO + 1, -1);
    (void)clearenv();
    if (setrlimit(RLIMIT_CORE, &none) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "give up privileges");
    return 0;
}

int cordon_proxy_main(int argc, char **argv)
{
    const cordon_proxy_place place = {
        .look_up = cordon_lookup_system, .owner_fd = STDIN_FILENO, .locked = true};
    cordon_autofree cordon_proxy_options *options = calloc(1, sizeof *options);
    cordon_err err = CORDON_ERR_INIT;
    if (cordon_start_check(argc, argv, environ, &err) != 0)
        return fail(CORDON_PROXY_EXIT_USAGE, &err);
    if (!options)
        (void)CORDON_FAIL(&err, CORDON_ERR_NOMEM, "no memory for the policy");
    if (!options || confine(&err) != 0)
        return fail(CORDON_PROXY_EXIT_SYSTEM, &err);
    if (cordon_start_read(STDIN_FILENO, POLICY_MS, options, &err) != 0)
        return fail(err.code == CORDON_ERR_NOMEM || err.code == CORDON_ERR_SYSTEM
                        ? CORDON_PROXY_EXIT_SYSTEM
                        : CORDON_PROXY_EXIT_USAGE,
                    &err);
    if (cordon_proxy_serve(options, &place, &err) != 0)
        return fail(CORDON_PROXY_EXIT_SYSTEM, &err);
    return CORDON_PROXY_EXIT_OK;
}

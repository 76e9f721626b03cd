/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe role: options, the list of checks, and the verdict words. libc-only.
 */
#include "gate/probe.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate/gate.h"
#include "gate/text.h"

bool cordon_check_is_ok(const char *want, const char *got)
{
    cordon_slice rest = cordon_slice_make(want, strlen(want));
    cordon_slice word;
    while (cordon_slice_cut(&rest, '|', &word))
        if (cordon_slice_is(word, got))
            return true;
    return false;
}

void cordon_found_set(cordon_found *found, const char *got, const char *format, ...)
{
    char raw[sizeof found->detail];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    (void)snprintf(found->got, sizeof found->got, "%s", got);
    (void)cordon_err_printable(found->detail, sizeof found->detail, raw, strlen(raw));
}

/* Errnos of "you may not", "there is no such thing here", "this kernel does not do that". */
static bool means_refused(int errnum)
{
    static const int refusals[] = {
        EPERM,        EACCES, EROFS,   ENOSYS,          EOPNOTSUPP,      ENOENT,  ENODEV,
        EAFNOSUPPORT, ENXIO,  ENOTDIR, EPROTONOSUPPORT, ESOCKTNOSUPPORT, ETXTBSY,
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (refusals[i] == errnum)
            return true;
    return false;
}

void cordon_found_attempt(cordon_found *found, bool succeeded, int errnum, const char *what)
{
    if (succeeded)
        cordon_found_set(found, "allowed", "%s succeeded", what);
    else
        cordon_found_set(found, means_refused(errnum) ? "refused" : "unclear", "%s: %s", what,
                         strerror(errnum));
}

cordon_check *cordon_check_add(cordon_checks *checks, const char *want, cordon_check_fn *run,
                               const char *text, int number, const char *name_format, ...)
{
    va_list arguments;
    if (checks->count == CORDON_PROBE_CHECKS_MAX)
        abort();
    cordon_check *check = &checks->items[checks->count++];
    *check = (cordon_check){
        .run = run, .text = text, .number = number, .bound_ms = CORDON_PROBE_CHECK_MS};
    va_start(arguments, name_format);
    (void)vsnprintf(check->name, sizeof check->name, name_format, arguments);
    va_end(arguments);
    (void)snprintf(check->want, sizeof check->want, "%s", want);
    return check;
}

static int fail(int status, const cordon_err *err)
{
    (void)dprintf(STDERR_FILENO, "cordon-guard: probe: %s\n", err->message);
    return status;
}

int cordon_probe_main(int argc, char **argv)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_probe probe;
    if (cordon_probe_parse(argc, argv, &probe, &err) < 0)
        return fail(CORDON_GUARD_EXIT_USAGE, &err);
    probe.gate = getppid();
    cordon_checks *checks = calloc(1, sizeof *checks);
    if (!checks)
        return 1;
    cordon_probe_add_proxy(&probe, checks);
    cordon_probe_add_network(&probe, checks);
    cordon_probe_add_names(&probe, checks);
    cordon_probe_add_calls(&probe, checks);
    cordon_probe_add_files(&probe, checks);
    cordon_probe_add_process(&probe, checks);
    cordon_probe_add_execution(&probe, checks);
    int bad = cordon_probe_run(&probe, checks, &err);
    free(checks);
    if (bad < 0)
        return fail(2, &err);
    return bad == 0 ? 0 : 1;
}

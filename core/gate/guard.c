/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon-guard: the one static program that lives inside Cordon's containers. Its first argument
 * is its role. It runs as PID 1, in an image that may hold nothing else, so it asks libc for
 * nothing that needs a file: no locale, no name service, no time zone.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gate/gate.h"
#include "gate/protocol.h"
#include "proxy/proxy.h"

static int version_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    (void)dprintf(STDOUT_FILENO, "cordon-guard %s protocol %d\n", CORDON_VERSION,
                  CORDON_GATE_VERSION);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} roles[] = {
    {"proxy", cordon_proxy_main}, {"gate", cordon_gate_main}, {"probe", cordon_probe_main},
    {"keep", cordon_keep_main},   {"version", version_main},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof roles / sizeof roles[0]; i++)
        if (strcmp(argv[1], roles[i].name) == 0)
            return roles[i].run(argc - 1, argv + 1);
    (void)dprintf(STDERR_FILENO, "usage: cordon-guard proxy|gate|probe|keep|version [OPTION...]\n");
    return CORDON_GUARD_EXIT_USAGE;
}

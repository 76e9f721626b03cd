/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: a process that does nothing until it is told to end, so that its container stays and
 * with it what is mounted there - the scratch that the steps of an invocation share.
 */
#include <signal.h>
#include <stddef.h>

#include "gate/gate.h"
#include "gate/protocol.h"

int cordon_keep_main(int argc, char **argv)
{
    sigset_t ends;
    int which = 0;
    (void)argv;
    if (argc > 1)
        return CORDON_GUARD_EXIT_USAGE;
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGTERM);
    (void)sigaddset(&ends, SIGINT);
    /* As PID 1 it gets no signal that it does not wait for. */
    (void)sigprocmask(SIG_BLOCK, &ends, NULL);
    return sigwait(&ends, &which) == 0 ? 0 : CORDON_GATE_STATUS_FAILED;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry of cordon-guard's proxy role: a CONNECT-only relay that is told its policy by one
 * frame on stdin (gate/proxy_protocol.h).
 * The one header of proxy/ that the rest of cordon-guard includes. libc-only.
 */
#ifndef CORDON_PROXY_PROXY_H
#define CORDON_PROXY_PROXY_H

/* sysexits(3) numbers, so that the engine's exit code tells a wrong plan from a failing system. */
#define CORDON_PROXY_EXIT_OK     0
#define CORDON_PROXY_EXIT_USAGE  64
#define CORDON_PROXY_EXIT_SYSTEM 71

/*
 * Runs the proxy until SIGTERM, SIGINT or SIGHUP. Meant for the main function of a process of its
 * own, PID 1 included: it empties the environment, blocks signals, locks itself (lockdown.h),
 * and writes JSON lines to stdout and at most one plain line to stderr.
 *
 * @param argv  the role's name alone; anything behind it is refused
 * @return one of CORDON_PROXY_EXIT_*; USAGE before anything is opened when argv, environment,
 *         descriptors or the policy hold anything unexpected
 */
int cordon_proxy_main(int argc, char **argv);

#endif

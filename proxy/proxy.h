/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry of cordon-guard's proxy role: a CONNECT-only relay that is configured by argv alone.
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
 * own, PID 1 included: it closes every descriptor above 2, empties the environment, blocks
 * signals, and writes JSON lines to stdout and at most one plain line to stderr.
 *
 * @param argv  argv[0] is the role's name and is ignored; options begin at argv[1]
 * @return one of CORDON_PROXY_EXIT_*; a bad option is USAGE before anything is opened
 */
int cordon_proxy_main(int argc, char **argv);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of cordon-guard's gate and probe roles. libc-only.
 */
#ifndef CORDON_GATE_GATE_H
#define CORDON_GATE_GATE_H

/* EX_USAGE of sysexits(3). */
#define CORDON_GUARD_EXIT_USAGE 64

/*
 * gate [--wait-ms N]: the first process of a step container; see protocol.h. Returns the exit
 * status. It changes the process for good (signals, descriptors, no_new_privs), so it is for a
 * main function alone.
 * @param argv  argv[0] is the role's name; options begin at argv[1]
 */
int cordon_gate_main(int argc, char **argv);

/* keep: nothing, until a signal comes (keep.c). */
int cordon_keep_main(int argc, char **argv);

/* probe OPTIONS: what the agent can and cannot do, one JSON object a line; see probe.h. */
int cordon_probe_main(int argc, char **argv);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command's last fence, put up by the gate between fork and exec: Landlock (landlock(7)) for
 * what may be executed, read, written and connected to, and a seccomp(2) filter for the ways
 * around it. Raw system calls; the structures are the kernel's ABI 1 to 7, whatever headers the
 * build finds. The filter comes always, Landlock when the release asks for it. libc-only.
 *
 * Why a filter. Landlock governs files that have a path: a program that is written into a
 * memfd_create(2) file and executed from there is not seen by it. And which of the unprivileged
 * kernel interfaces (io_uring, keyrings, userfaultfd, bpf, perf, vsock, user namespaces) an engine
 * leaves open differs (Docker 20.10: io_uring; Podman 4.3: user namespaces, keyctl; both: vsock),
 * and the verdict must not. The filter holds for native
 * calls, and foreign calling conventions (x32, i386) are refused whole.
 */
#ifndef CORDON_GATE_FENCE_H
#define CORDON_GATE_FENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "gate/release.h"
#include "kit/error.h"

/* The newest Landlock ABI whose rights this file knows. */
#define CORDON_FENCE_ABI_KNOWN 7

/* A prepared fence; ruleset_fd is -1 when no Landlock was asked for. */
typedef struct cordon_fence {
    int ruleset_fd;
    bool no_memfd_exec; /* also refuse files that exist in memory alone */
    bool tcp_alone;     /* also refuse all internet sockets but TCP, and naming an interface */
} cordon_fence;

/* The rights that a ruleset of an ABI handles. */
typedef struct cordon_fence_rights {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
} cordon_fence_rights;

/* The kernel's Landlock ABI; 0 when it has none or it is switched off. */
int cordon_fence_abi(void);

/* Pure: what is handled at `abi` (1 and up; more than known counts as known). */
cordon_fence_rights cordon_fence_rights_of(int abi);

/* Pure: what one rule allows, out of what is handled; for a file only what files can have. */
uint64_t cordon_fence_allows(cordon_rule_kind kind, cordon_fence_rights handled, bool is_folder);

/*
 * Builds the ruleset in the gate, before the fork. A rule whose path does not exist grants nothing
 * and is passed over: core may name a loader that one image has and another has not.
 * @return 0, or -1 with UNSUPPORTED when the kernel's ABI is below the release's least one, SYSTEM
 */
int cordon_fence_prepare(const cordon_release *release, cordon_fence *ret_fence, cordon_err *err)
    __attribute__((warn_unused_result));

/* Puts the fence around the calling process for good. It must have no_new_privs. */
int cordon_fence_enter(const cordon_fence *fence, cordon_err *err)
    __attribute__((warn_unused_result));

void cordon_fence_clear(cordon_fence *fence);

/* The filter alone; part of enter. */
int cordon_filter_enter(bool no_memfd_exec, bool tcp_alone, cordon_err *err)
    __attribute__((warn_unused_result));

CORDON_DEFINE_AUTO(cordon_fence, cordon_fence_clear)

#endif

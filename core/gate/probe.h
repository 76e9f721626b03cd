/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boundary probe: cordon-guard run as the agent would be, trying what an agent must not be
 * able to do. It prints one JSON object per check, in an order that does not depend on timing,
 *
 *   {"name":"tcp.1.1.1.1","want":"blocked","got":"blocked","ok":true,"detail":"..."}
 *
 * and last {"probe":1,"done":true,"checks":N}. `want` may hold alternatives, parted by '|'; `ok` is
 * that `got` is one of them. A check that could not be carried out says so in `got` and is not ok.
 * Every check runs in a process of its own, so that one which succeeds in changing something
 * (a namespace, an id, a mount) cannot change what the others see. libc-only.
 */
#ifndef CORDON_GATE_PROBE_H
#define CORDON_GATE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kit/deadline.h"
#include "kit/error.h"

#define CORDON_PROBE_CHECKS_MAX    288
#define CORDON_PROBE_ADDRESSES_MAX 8
#define CORDON_PROBE_PORTS_MAX     32

/* The bound of one check, and within it of one wait for the network. */
#define CORDON_PROBE_CHECK_MS 1500
#define CORDON_PROBE_WAIT_MS  1100

/* Is something expected to answer behind the proxy. */
typedef enum cordon_probe_upstream {
    CORDON_PROBE_UPSTREAM_ANY = 0,
    CORDON_PROBE_UPSTREAM_YES,
    CORDON_PROBE_UPSTREAM_NO,
} cordon_probe_upstream;

/* A list of addresses from options or of the probe's own; borrowed. */
typedef struct cordon_probe_addresses {
    size_t count;
    const char *items[CORDON_PROBE_ADDRESSES_MAX];
} cordon_probe_addresses;

/*
 * What core tells the probe; see the table in probe_options.c for the spelling.
 * proxy_*     where the proxy listens
 * pinned      a host that the proxy allows; other_host one that it does not
 * gateways    the first address of the vendor network (the engine's bridge, if it has one)
 * hosts       addresses of the engine's host, to be tried on `ports`
 * foreign     addresses of other invocations' members
 * fenced      core asked the gate for Landlock and allowed to execute this program alone
 */
typedef struct cordon_probe {
    char proxy_address[64];
    uint16_t proxy_port;
    const char *pinned;
    const char *other_host;
    cordon_probe_upstream upstream;
    cordon_probe_addresses gateways;
    cordon_probe_addresses hosts;
    cordon_probe_addresses foreign;
    size_t port_count;
    uint16_t ports[CORDON_PROBE_PORTS_MAX]; /* of host services; the proxy's own is the first */
    const char *worktree;
    bool writable;
    const char *scratch;
    bool fenced;
    int pinned_ms;
    pid_t gate; /* the probe's parent */
} cordon_probe;

/* What a check found. got is a short word; detail one printable line for people. */
typedef struct cordon_found {
    char got[24];
    char detail[232];
} cordon_found;

struct cordon_check;

/* Runs in a process of its own and fills *found, which is "not-carried-out" before. */
typedef void cordon_check_fn(const cordon_probe *probe, const struct cordon_check *check,
                             cordon_found *found);

/* text and number belong to run: an address, a path, a name; a port, a system call's index. */
typedef struct cordon_check {
    char name[72];
    char want[24];
    cordon_check_fn *run;
    const char *text;
    int number;
    int bound_ms;
} cordon_check;

typedef struct cordon_checks {
    size_t count;
    cordon_check items[CORDON_PROBE_CHECKS_MAX];
} cordon_checks;

/* Reads the options; the strings of argv are borrowed. -1 with CONFIG names the bad one. */
int cordon_probe_parse(int argc, char **argv, cordon_probe *ret_probe, cordon_err *err)
    __attribute__((warn_unused_result));

/* Appends a check with the usual bound and returns it for changes; aborts when there are too many,
 * which a test rules out. */
cordon_check *cordon_check_add(cordon_checks *checks, const char *want, cordon_check_fn *run,
                               const char *text, int number, const char *name_format, ...)
    __attribute__((format(printf, 6, 7)));

/* The groups, in the order of the output. */
void cordon_probe_add_proxy(const cordon_probe *probe, cordon_checks *checks);
void cordon_probe_add_network(const cordon_probe *probe, cordon_checks *checks);
void cordon_probe_add_names(const cordon_probe *probe, cordon_checks *checks);
void cordon_probe_add_calls(const cordon_probe *probe, cordon_checks *checks);
void cordon_probe_add_files(const cordon_probe *probe, cordon_checks *checks);
void cordon_probe_add_process(const cordon_probe *probe, cordon_checks *checks);
void cordon_probe_add_execution(const cordon_probe *probe, cordon_checks *checks);

/* Pure: is `got` one of the alternatives of `want`. */
bool cordon_check_is_ok(const char *want, const char *got);

/* Sets got and the printf-formatted detail, made printable. */
void cordon_found_set(cordon_found *found, const char *got, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * For an attempt that the kernel must refuse: "allowed" when it did not fail, "refused" when errno
 * says that it may not or cannot be done here, "unclear" with any other errno.
 */
void cordon_found_attempt(cordon_found *found, bool succeeded, int errnum, const char *what);

/* Runs all checks and prints. @return how many were not ok, or -1 when it could not print */
int cordon_probe_run(const cordon_probe *probe, const cordon_checks *checks, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

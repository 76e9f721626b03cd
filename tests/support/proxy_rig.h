/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running proxy for tests: forked, on loopback, with a listener that plays the upstream and its
 * log read through a pipe. Everything waits with a generous bound and fails, never hangs.
 */
#ifndef CORDON_TESTS_SUPPORT_PROXY_RIG_H
#define CORDON_TESTS_SUPPORT_PROXY_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proxy/conn.h"
#include "proxy/options.h"
#include "support/hello.h"

#define RIG_WAIT_MS 20000
#define RIG_LOG_MAX (4 << 20)

/*
 * Pinned: ok.test (mapped to the upstream), down.test (mapped to a closed port), and unmapped,
 * answered by a look-up that is played: private.test, empty.test, slow.test, crash.test.
 *
 * options  change them between rig_prepare and rig_start
 * files    soft and hard descriptor limit of the proxy; 0 leaves it
 * arrange  changes the proxy before it serves, or NULL
 * begin    called in the forked child before it serves, with its stdout in place; it may serve by
 *          itself and end with rig_exit. NULL: nothing
 * context  for both
 */
typedef struct proxy_rig {
    cordon_proxy_options options;
    unsigned files;
    void (*arrange)(cordon_proxy *proxy, void *context);
    void (*begin)(const struct proxy_rig *rig);
    void *context;
    pid_t proxy;
    int upstream;
    int log_fd;
    uint16_t port;
    size_t log_length;
    char *log;
} proxy_rig;

/* Opens the upstream's listener and fills in options. */
bool rig_prepare(proxy_rig *rig);
/* Forks the proxy and waits for its ready line; false when it ends before. */
bool rig_start(proxy_rig *rig);
/* Ends the child; 98 instead of the status when it leaked, which sanitizer builds can tell. */
_Noreturn void rig_exit(int status);
/* Both with the options as they are. */
bool rig_run(proxy_rig *rig);
/* SIGTERM; reads the log to its end. Returns the exit status, or -1. */
int rig_stop(proxy_rig *rig);
/* Frees everything; kills a proxy that still runs. */
void rig_clear(proxy_rig *rig);

/* Reads log lines until one holds `part`, or the bound passes. */
bool rig_log_has(proxy_rig *rig, const char *part);
/* How often `part` is in the log so far. */
size_t rig_log_count(const proxy_rig *rig, const char *part);
/* Look-ups that run now: the children of its resolver, zombies included. */
size_t rig_children(const proxy_rig *rig);

/* True as soon as there are none; false when some stay. */
bool rig_has_no_children(const proxy_rig *rig);

/* A client's connection to the proxy; blocking, with a receive bound. -1 on failure. */
int rig_client(const proxy_rig *rig);
/* The next connection that the proxy made to the upstream; -1 if none comes. */
int rig_accept(const proxy_rig *rig);
/* Has the proxy dialled the upstream at all since the last accept? */
bool rig_was_dialled(const proxy_rig *rig);

bool rig_send(int fd, const void *bytes, size_t length);
bool rig_send_text(int fd, const char *text);
/* Exactly `length` bytes. */
bool rig_receive(int fd, void *bytes, size_t length);
/* All until end of file or reset; NUL-terminated. Returns the length. */
size_t rig_receive_all(int fd, char *text, size_t size);
/* An answer's head up to its empty line; false if the connection ends before. */
bool rig_receive_head(int fd, char *text, size_t size);
/* The connection is at its end: orderly or by reset, and no byte comes before it. */
bool rig_is_closed(int fd);
/* Nothing to read within a short while. */
bool rig_is_quiet(int fd);

/* CONNECT ok.test:443 answered with 200. */
int rig_tunnel(const proxy_rig *rig);
/* The same, and the hello sent and received by the upstream: an open tunnel's two ends. */
bool rig_open(const proxy_rig *rig, int *ret_client, int *ret_upstream);

#endif

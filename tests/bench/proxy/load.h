/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load generator's parts: a tunnel opened and waited for (tunnel.c), operations counted for a
 * while (load.c), tunnels that do nothing and starts (idle.c).
 */
#ifndef CORDON_TESTS_BENCH_PROXY_LOAD_H
#define CORDON_TESTS_BENCH_PROXY_LOAD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire.h"

/*
 * proxy      where the proxy listens on loopback, or the origin if `direct`
 * target     what the CONNECT asks for, "host:port"
 * pid        the proxy's first process; 0 measures no cost
 * seconds    how long operations are counted
 * at_once    operations at a time, or tunnels that are held
 * cpu        core of a proxy that is started here; -1 leaves it
 * input      file that its standard input holds, which does not end then; or NULL
 * command    its argv
 */
typedef struct load_options {
    struct sockaddr_in proxy;
    const char *target;
    bool direct;
    pid_t pid;
    double seconds;
    unsigned at_once;
    int cpu;
    const char *input;
    char **command;
} load_options;

_Noreturn void load_die(const char *what);

/* The request as bytes. */
size_t load_request(const load_options *options, char *text, size_t size);

/* A connection to the proxy; -1 with errno. */
int load_connect(const load_options *options);

/* A tunnel whose first bytes are sent, and answered where the order has an answer; -1 on failure.
 */
int load_tunnel(const load_options *options, wire_order order);

/* Holds at_once tunnels; prints "held failed pss0 pss1 fds0 fds1 threads idle_cpu_us". */
int load_idle(const load_options *options);

/* Starts the command at_once times; prints one line "us pss_kib rss_kib" each. */
int load_start(const load_options *options);

#endif

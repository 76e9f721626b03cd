/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tunnels that do nothing, and starts of a proxy up to its first 200; see load.h.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"
#include "proc.h"

/* Still alive: a byte goes to the origin and comes back. */
static bool is_alive(int fd)
{
    char byte = 'x';
    return send(fd, &byte, 1, MSG_NOSIGNAL) == 1 && recv(fd, &byte, 1, 0) == 1;
}

static unsigned hold(const load_options *options, int *fds)
{
    unsigned held = 0;
    for (unsigned i = 0; i < options->at_once; i++) {
        fds[i] = load_tunnel(options, WIRE_ECHO);
        held += fds[i] >= 0;
    }
    return held;
}

static unsigned count_alive(const load_options *options, int *fds)
{
    unsigned alive = 0;
    for (unsigned i = 0; i < options->at_once; i++) {
        alive += fds[i] >= 0 && is_alive(fds[i]);
        (void)close(fds[i]);
    }
    return alive;
}

int load_idle(const load_options *options)
{
    int *fds = calloc(options->at_once, sizeof *fds);
    if (!fds)
        load_die("memory");
    /* What the first tunnel costs once is not a tunnel's price. */
    (void)close(load_tunnel(options, WIRE_ECHO));
    (void)usleep(300000);
    proc_cost before = proc_look(options->pid);
    unsigned held = hold(options, fds);
    (void)usleep(300000);
    proc_tree tree = proc_tree_of(options->pid);
    proc_cost after = proc_look(options->pid);
    (void)usleep((useconds_t)(options->seconds * 1e6));
    int64_t idle_ns = proc_cpu_ns(&tree) - after.cpu_ns;
    unsigned alive = count_alive(options, fds);
    free(fds);
    (void)printf("%u %u %ld %ld %ld %ld %ld %lld\n", held, options->at_once - alive, before.pss_kib,
                 after.pss_kib, before.descriptors, after.descriptors, after.threads,
                 (long long)(idle_ns / 1000));
    return 0;
}

static _Noreturn void become(const load_options *options, int input, int output)
{
    static char home[] = "HOME=/";
    static char name[] = "HOSTNAME=proxy";
    static char path[] = "PATH=/";
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    if (options->cpu >= 0) {
        CPU_SET((size_t)options->cpu, &cpus);
        (void)sched_setaffinity(0, sizeof cpus, &cpus);
    }
    (void)dup2(input, STDIN_FILENO);
    (void)dup2(output, STDOUT_FILENO);
    /* With an input it is the guard, which wants the environment that an engine gives it. */
    if (options->input)
        (void)execve(options->command[0], options->command, (char *[]){home, name, path, NULL});
    else
        (void)execvp(options->command[0], options->command);
    load_die(options->command[0]);
}

/* A pipe that holds the file and does not end: what an engine gives. */
static void fill_input(const load_options *options, int ends[2])
{
    char bytes[32768];
    if (pipe2(ends, O_CLOEXEC) != 0)
        load_die("pipe");
    if (!options->input)
        return;
    int fd = open(options->input, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, bytes, sizeof bytes) : -1;
    if (length < 0 || write(ends[1], bytes, (size_t)length) != length)
        load_die(options->input);
    (void)close(fd);
}

/* Asks until there is an answer; the proxy has a core of its own. */
static void wait_for_first(const load_options *options)
{
    int64_t give_up_ns = wire_now_ns() + INT64_C(30000000000);
    int fd = -1;
    while (fd < 0) {
        fd = load_tunnel(options, WIRE_ONCE);
        if (wire_now_ns() > give_up_ns)
            load_die("no first 200");
    }
    (void)close(fd);
}

static void start_once(const load_options *options)
{
    int ends[2];
    int input[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        load_die("pipe");
    fill_input(options, input);
    int64_t begin_ns = wire_now_ns();
    /* A copy of this process would cost page faults that are not the proxy's. */
    pid_t child = vfork();
    if (child == 0)
        become(options, input[0], ends[1]);
    (void)close(ends[1]);
    wait_for_first(options);
    int64_t took_ns = wire_now_ns() - begin_ns;
    proc_cost cost = proc_look(child);
    (void)kill(child, SIGTERM);
    (void)usleep(20000);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    (void)close(ends[0]);
    (void)close(input[0]);
    (void)close(input[1]);
    (void)printf("%lld %ld %ld\n", (long long)(took_ns / 1000), cost.pss_kib, cost.rss_kib);
}

int load_start(const load_options *options)
{
    for (unsigned i = 0; i < options->at_once; i++)
        start_once(options);
    return 0;
}

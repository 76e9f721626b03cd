/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation and every system call of the proxy fails once, with each errno that it may have,
 * while clients come: a tunnel, a refused host, a half-close. At most the one that it struck is cut
 * off, and is told so or closed; nothing is dialled but what is pinned, no byte is lost, repeated
 * or anybody else's, no descriptor stays, and the next tunnel works - or the process ends and says
 * why.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proxy/proxy.h"
#include "support/parent_of.h"
#include "support/proxy_policy.h"
#include "support/test.h"
#include "torture/torture_proxy.h"

/* Longer than the rig waits, so that an event that is lost is seen and not mended by a deadline. */
#define PATIENCE_MS "100000"

/*
 * by_main    the whole role, from its policy on stdin; no resolver
 * offspring  what is struck is a call of the resolver, not of the relay
 * setting_up calls count from the start, else from the first client on
 */
typedef struct scenario {
    const char *name;
    bool by_main;
    bool offspring;
    bool setting_up;
    operation_fn *operations[5];
} scenario;

/* --- The proxy --- */

static void serve(const proxy_rig *rig)
{
    const attempt *a = rig->context;
    a->page->ports[0] = rig->options.policy.hosts[0].upstream.port;
    a->page->ports[1] = rig->options.policy.hosts[1].upstream.port;
    (void)dup2(a->errors[1], STDERR_FILENO);
    callfail_begin(a->page);
}

/* A stream with the policy that has no end, since its reader holds the other one, too. */
static bool give_policy(const proxy_rig *rig)
{
    char map[64];
    char path[64];
    int ends[2];
    const char *const pairs[] = {"--listen",     "127.0.0.1:0", "--allow",     "ok.test",
                                 "--upstream",   map,           "--header-ms", PATIENCE_MS,
                                 "--connect-ms", PATIENCE_MS,   "--hello-ms",  PATIENCE_MS};
    cordon_auto(cordon_frame) frame = {0};
    (void)snprintf(map, sizeof map, "ok.test=127.0.0.1:%u",
                   rig->options.policy.hosts[0].upstream.port);
    if (policy_make(sizeof pairs / sizeof pairs[0], pairs, &frame, NULL) != 0 || pipe(ends) != 0)
        return false;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    int both = open(path, O_RDWR);
    return write(both, frame.bytes.data, frame.bytes.length) > 0 &&
           dup2(both, STDIN_FILENO) == STDIN_FILENO;
}

static void serve_by_main(const proxy_rig *rig)
{
    char role[] = "proxy";
    char *argv[] = {role, NULL};
    bool given = give_policy(rig);
    attempt *a = rig->context;
    a->page->ports[0] = a->rig.options.policy.hosts[0].upstream.port;
    (void)dup2(a->errors[1], STDERR_FILENO);
    (void)clearenv();
    for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)
        (void)close(fd);
    callfail_begin(a->page);
    rig_exit(given ? cordon_proxy_main(1, argv) : 97);
}

static bool is_socket(const char *path)
{
    char target[64] = "";
    return readlink(path, target, sizeof target - 1) > 0 && strncmp(target, "socket:", 7) == 0;
}

static int count_descriptors(pid_t process, int *ret_sockets)
{
    char path[300];
    int count = 0;
    int sockets = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)process);
    DIR *folder = opendir(path);
    for (struct dirent *one = folder ? readdir(folder) : NULL; one; one = readdir(folder)) {
        (void)snprintf(path, sizeof path, "/proc/%d/fd/%s", (int)process, one->d_name);
        count += one->d_name[0] != '.';
        sockets += is_socket(path);
    }
    if (folder)
        (void)closedir(folder);
    if (ret_sockets)
        *ret_sockets = sockets;
    return count;
}

/* The relay's one child; 0 if it has none. */
static pid_t resolver_of(pid_t process)
{
    pid_t found = 0;
    DIR *folder = opendir("/proc");
    for (struct dirent *one = folder ? readdir(folder) : NULL; one; one = readdir(folder)) {
        if (one->d_name[0] >= '1' && one->d_name[0] <= '9' && parent_of(one->d_name) == process)
            found = (pid_t)strtol(one->d_name, NULL, 10);
    }
    if (folder)
        (void)closedir(folder);
    return found;
}

/* --- One attempt --- */

static bool prepare(attempt *a, const scenario *s, const char *call, unsigned nth, unsigned variant)
{
    a->page =
        mmap(NULL, sizeof *a->page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (a->page == MAP_FAILED || pipe2(a->errors, O_CLOEXEC | O_NONBLOCK) != 0 ||
        !rig_prepare(&a->rig))
        return false;
    (void)snprintf(a->page->call, sizeof a->page->call, "%s", call);
    a->page->nth = nth;
    a->page->variant = variant;
    a->page->offspring = s->offspring;
    atomic_store(&a->page->armed, s->setting_up);
    a->rig.options.head_ms = a->rig.options.connect_ms = a->rig.options.hello_ms = 100000;
    a->rig.begin = s->by_main ? serve_by_main : serve;
    a->rig.context = a;
    return true;
}

static void hear(attempt *a)
{
    (void)close(a->errors[1]);
    ssize_t got = read(a->errors[0], a->said, sizeof a->said - 1);
    a->said[got > 0 ? got : 0] = '\0';
    (void)close(a->errors[0]);
}

/* The exit status, or minus the signal that it died of. */
static int end_of(attempt *a)
{
    int status = 0;
    for (int ms = 0; ms < RIG_WAIT_MS; ms += 10) {
        if (waitpid(a->rig.proxy, &status, WNOHANG) == a->rig.proxy) {
            a->rig.proxy = 0;
            return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        }
        (void)usleep(10000);
    }
    return -1000;
}

/* Descriptors of closed tunnels are gone in a moment; pooled pipes stay, two ends each. */
static bool is_clean(const attempt *a)
{
    int sockets = 0;
    for (int ms = 0; ms < RIG_WAIT_MS; ms += 5) {
        int more = count_descriptors(a->rig.proxy, &sockets) - a->descriptors;
        if (sockets == a->sockets && (more == 0 || more == 2 || more == 4))
            return true;
        (void)usleep(5000);
    }
    return false;
}

/* Its standard error and its end of the pair, whatever the relay had open. */
static bool resolver_is_clean(const attempt *a)
{
    pid_t resolver = resolver_of(a->rig.proxy);
    for (int ms = 0; ms < RIG_WAIT_MS; ms += 5) {
        if (count_descriptors(resolver, NULL) == 2)
            return true;
        (void)usleep(5000);
    }
    return false;
}

/* It has ended, or does so in a moment. */
static bool has_ended(const attempt *a)
{
    for (int ms = 0; ms < RIG_WAIT_MS; ms += 10) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)a->rig.proxy, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == a->rig.proxy)
            return true;
        (void)usleep(10000);
    }
    return false;
}

/* All clients, one after the other; then one more, which must fare well. False: it has ended. */
static bool operate(attempt *a, const scenario *s)
{
    unsigned cut = 0;
    a->descriptors = count_descriptors(a->rig.proxy, &a->sockets);
    atomic_store(&a->page->armed, true);
    for (operation_fn *const *operation = s->operations; *operation; operation++)
        cut += (*operation)(a) == CUT;
    /* The one that must fare well is not struck itself; the stop may be. */
    atomic_store(&a->page->armed, false);
    if (tunnel(a) != FINE) {
        if (!has_ended(a))
            (void)wrong(a, "the next tunnel does not work");
        return false;
    }
    if (cut > 1)
        (void)wrong(a, "more than one client was cut off");
    if (!is_clean(a))
        (void)wrong(a, "descriptors are left");
    if (!s->by_main && s->setting_up && !resolver_is_clean(a))
        (void)wrong(a, "the resolver holds more than it needs");
    atomic_store(&a->page->armed, true);
    return true;
}

/* A status of failure has a reason, and what happened is all that may have happened. */
static bool check(const attempt *a, const scenario *s, unsigned nth, bool ready, int status)
{
    bool struck = atomic_load(&a->page->struck);
    bool fine = status == CORDON_PROXY_EXIT_OK
                    ? ready && a->said[0] == '\0'
                    : struck && a->said[0] != '\0' &&
                          (status == CORDON_PROXY_EXIT_SYSTEM ||
                           (status == CORDON_PROXY_EXIT_USAGE && !ready));
    /* Whatever failed, a proxy that was to lock itself says so or is never ready. */
    if (s->by_main && ready && !strstr(a->rig.log, "\"seccomp\":1,"))
        fine = false;
    return TEST_RECORDF(fine && !a->wrong && atomic_load(&a->page->strayed) == 0,
                        "%s, %s %u: %s: %s; ready %d, status %d, %u elsewhere, said \"%.200s\"",
                        s->name, a->page->call, nth, struck ? strerror(a->page->error) : "-",
                        a->wrong ? a->wrong : "end", ready, status, atomic_load(&a->page->strayed),
                        a->said);
}

/* ret_variants: how many errnos the call has that was struck; 0 if there is no such call. */
static bool attempt_once(const scenario *s, const char *call, unsigned nth, unsigned variant,
                         unsigned *ret_variants)
{
    attempt a = {.wrong = NULL};
    *ret_variants = 0;
    if (!prepare(&a, s, call, nth, variant))
        return CHECK(false);
    bool ready = rig_start(&a.rig);
    bool runs = ready && operate(&a, s);
    int status = runs ? rig_stop(&a.rig) : end_of(&a);
    hear(&a);
    bool fine = check(&a, s, nth, ready, status);
    *ret_variants = atomic_load(&a.page->struck) ? a.page->variants : 0;
    rig_clear(&a.rig);
    (void)munmap(a.page, sizeof *a.page);
    return fine;
}

/* With each of its errnos. False: there is no such call any more. */
static bool strike(const scenario *s, const char *call, unsigned nth)
{
    unsigned variants = 1;
#ifdef __SANITIZE_ADDRESS__
    /* The search for leaks at each end takes long: one of them is enough then, each time another.
     */
    return attempt_once(s, call, nth, nth, &variants) && variants > 0;
#endif
    for (unsigned variant = 0; variant < variants; variant++) {
        if (!attempt_once(s, call, nth, variant, &variants))
            return false;
    }
    return variants > 0;
}

/* Of a long run of equal calls, as those of bulk are, later ones are taken by samples. */
static void torture(const scenario *s)
{
    unsigned variants = 0;
    unsigned struck = 0;
    REQUIRE(attempt_once(s, "", 0, 0, &variants) && variants == 0);
    for (const char *const *call = callfail_calls; *call; call++) {
        unsigned nth = 1;
        for (; strike(s, *call, nth); nth += 1 + nth / 8)
            struck++;
    }
    CHECK(struck > 15);
}

static void from_the_policy_to_the_last_client(void)
{
    torture(&(scenario){.name = "main",
                        .by_main = true,
                        .setting_up = true,
                        .operations = {tunnel, refused, half_close}});
}

static void with_a_resolver(void)
{
    torture(&(scenario){.name = "lookup", .setting_up = true, .operations = {looked_up, tunnel}});
}

static void in_the_resolver(void)
{
    torture(&(scenario){.name = "resolver",
                        .offspring = true,
                        .setting_up = true,
                        .operations = {looked_up, refused}});
}

static void in_the_midst_of_bulk(void)
{
    torture(&(scenario){.name = "bulk", .operations = {bulk}});
}

CORDON_TEST_MAIN("torture_proxy", TEST(from_the_policy_to_the_last_client), TEST(with_a_resolver),
                 TEST(in_the_resolver), TEST(in_the_midst_of_bulk))

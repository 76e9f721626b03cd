/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Five thousand tunnels that are open and do nothing: two descriptors and half a KiB each, one
 * thread, no wake-up, and each of them carries bytes afterwards.
 */
#include <dirent.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/proxy_rig.h"
#include "support/test.h"

#define TUNNELS 5000
/* Descriptors of the test besides two for each tunnel. */
#define OTHERS 100

/* A sanitizer's own memory, and what it holds back of freed memory, are not the proxy's. */
#ifdef __SANITIZE_ADDRESS__
#define HALF_KIB 8
#else
#define HALF_KIB 1
#endif

static long number_in(pid_t process, const char *file, const char *key)
{
    char path[64];
    char text[8192] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)process, file);
    FILE *stream = fopen(path, "re");
    size_t length = stream ? fread(text, 1, sizeof text - 1, stream) : 0;
    if (stream)
        (void)fclose(stream);
    text[length] = '\0';
    const char *line = strstr(text, key);
    return line ? strtol(line + strlen(key), NULL, 10) : -1;
}

static int descriptors_of(pid_t process)
{
    char path[64];
    int count = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)process);
    DIR *folder = opendir(path);
    for (struct dirent *one = folder ? readdir(folder) : NULL; one; one = readdir(folder))
        count += one->d_name[0] != '.';
    if (folder)
        (void)closedir(folder);
    return count;
}

/*
 * It is not woken for a second. However long it takes until then: what it does once for a tunnel
 * that has lived a while (keep-alive) may be due meanwhile.
 */
static bool comes_to_rest(pid_t process)
{
    long before = -1;
    for (int tries = 0; tries < 120; tries++) {
        long now = number_in(process, "status", "\nvoluntary_ctxt_switches:") +
                   number_in(process, "status", "\nnonvoluntary_ctxt_switches:");
        if (now == before)
            return true;
        before = now;
        (void)sleep(1);
    }
    return false;
}

static int open_tunnels(const proxy_rig *rig, int (*ends)[2], int count)
{
    int held = 0;
    while (held < count && rig_open(rig, &ends[held][0], &ends[held][1]))
        held++;
    return held;
}

static bool is_alive(const int *ends)
{
    char bytes[4] = "";
    return rig_send(ends[0], "ping", 4) && rig_receive(ends[1], bytes, 4) &&
           rig_send(ends[1], "pong", 4) && rig_receive(ends[0], bytes, 4);
}

static int close_tunnels(int (*ends)[2], int count)
{
    int alive = 0;
    for (int i = 0; i < count; i++) {
        alive += is_alive(ends[i]);
        (void)close(ends[i][0]);
        (void)close(ends[i][1]);
    }
    return alive;
}

/* As many as the limits allow of this process and, as it says itself, of the proxy. */
static int how_many(const proxy_rig *rig)
{
    struct rlimit files = {0};
    const char *told = strstr(rig->log, "\"max_tunnels\":");
    long most = told ? strtol(told + 14, NULL, 10) : 0;
    (void)getrlimit(RLIMIT_NOFILE, &files);
    long own = files.rlim_cur > 1000000 ? TUNNELS : ((long)files.rlim_cur - OTHERS) / 2;
    return (int)(own < most ? own : most);
}

static void raise_limit(void)
{
    struct rlimit files = {0};
    (void)getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

static void check_cost(const proxy_rig *rig, int count, int descriptors, long pss_kib)
{
    long now_kib = number_in(rig->proxy, "smaps_rollup", "\nPss:");
    CHECK_INT(descriptors_of(rig->proxy) - descriptors, 2 * count);
    TEST_RECORDF(pss_kib > 0 && 2 * (now_kib - pss_kib) <= (long)HALF_KIB * count,
                 "%d tunnels: %ld KiB before, %ld KiB with them", count, pss_kib, now_kib);
    CHECK_INT(number_in(rig->proxy, "status", "\nThreads:"), 1);
    CHECK(comes_to_rest(rig->proxy));
}

static void five_thousand_idle_tunnels_cost_next_to_nothing_and_are_alive(void)
{
    static int ends[TUNNELS][2];
    proxy_rig rig;
    raise_limit();
    REQUIRE(rig_prepare(&rig));
    rig.options.max_tunnels = TUNNELS;
    REQUIRE(rig_start(&rig));
    int count = how_many(&rig);
    CHECK(count >= 1 && count <= TUNNELS);
    /* What the first tunnel costs once is not a tunnel's price. */
    CHECK_INT(open_tunnels(&rig, ends, 1), 1);
    CHECK_INT(close_tunnels(ends, 1), 1);
    CHECK(rig_log_has(&rig, "\"event\":\"tunnel\""));
    int descriptors = descriptors_of(rig.proxy);
    long pss_kib = number_in(rig.proxy, "smaps_rollup", "\nPss:");
    int held = open_tunnels(&rig, ends, count);
    CHECK_INT(held, count);
    check_cost(&rig, held, descriptors, pss_kib);
    CHECK_INT(close_tunnels(ends, held), held);
    CHECK_INT(rig_stop(&rig), 0);
    rig_clear(&rig);
}

CORDON_TEST_MAIN("proxy_idle", TEST(five_thousand_idle_tunnels_cost_next_to_nothing_and_are_alive))

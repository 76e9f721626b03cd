/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptor limits and clean-up; see descriptors.h.
 */
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descriptors.h"

/* Old kernels and old seccomp profiles have no close_range(2): close one by one, within reason. */
static void close_each(unsigned first, unsigned last)
{
    struct rlimit limit = {0};
    unsigned bound = 65536;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < bound)
        bound = (unsigned)limit.rlim_cur;
    for (unsigned fd = first; fd <= last && fd < bound; fd++)
        (void)close((int)fd);
}

static void close_between(unsigned first, unsigned last)
{
    if (first > last)
        return;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, last, 0) == 0)
        return;
#endif
    close_each(first, last);
}

void cordon_descriptors_close_from(int first, int spared)
{
    unsigned start = (unsigned)first;
    if (spared < first) {
        close_between(start, ~0U);
        return;
    }
    if (spared > first)
        close_between(start, (unsigned)spared - 1);
    close_between((unsigned)spared + 1, ~0U);
}

/* One poll(2) tells of many: POLLNVAL is "not open". */
#define LOOK_AT  256
#define LOOK_MAX 4096

static int first_open(int first, int count)
{
    struct pollfd items[LOOK_AT];
    for (int i = 0; i < count; i++)
        items[i] = (struct pollfd){.fd = first + i};
    if (poll(items, (nfds_t)count, 0) < 0)
        return first; /* what can't be looked at is not believed to be closed */
    for (int i = 0; i < count; i++) {
        if (!(items[i].revents & POLLNVAL))
            return first + i;
    }
    return -1;
}

int cordon_descriptors_first_from(int first)
{
    struct rlimit limit = {0};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return first;
    int last = limit.rlim_cur < LOOK_MAX ? (int)limit.rlim_cur : LOOK_MAX;
    int found = -1;
    for (int fd = first; found < 0 && fd < last; fd += LOOK_AT)
        found = first_open(fd, last - fd < LOOK_AT ? last - fd : LOOK_AT);
    return found;
}

uint32_t cordon_descriptors_raise(uint32_t most)
{
    struct rlimit limit = {0};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 256;
    if (limit.rlim_cur < limit.rlim_max) {
        struct rlimit raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
            limit = raised;
    }
    return limit.rlim_cur < most ? (uint32_t)limit.rlim_cur : most;
}

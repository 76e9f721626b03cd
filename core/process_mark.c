/* SPDX-License-Identifier: Apache-2.0 */
/* Telling processes apart; see process_mark.h. */
#include "process_mark.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kit/hash.h"
#include "kit/num.h"
#include "state_dir.h"

#define MARK_HOST_DIGITS 32

/* SECURITY: machine-id(5) asks that the id itself be kept; an application shows a digest of it. */
static void mark_host(char *ret_text, size_t size)
{
    static const char *const files[] = {"/etc/machine-id", "/var/lib/dbus/machine-id"};
    char keyed[160];
    char id[128] = "";
    char hex[CORDON_SHA256_HEX_SIZE];
    uint8_t digest[CORDON_SHA256_BYTES];
    struct utsname name;

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && id[0] == '\0'; i++)
        cordon_state_read_line(files[i], id, sizeof(id));
    if (id[0] == '\0') {
        (void)snprintf(ret_text, size, "name-%.64s", uname(&name) == 0 ? name.nodename : "");
        return;
    }
    (void)snprintf(keyed, sizeof(keyed), "cordon journal %s", id);
    cordon_sha256_digest(keyed, strlen(keyed), digest);
    cordon_hex_encode(digest, sizeof(digest), hex);
    (void)snprintf(ret_text, size, "%.*s", MARK_HOST_DIGITS, hex);
}

static void mark_space(char *ret_text, size_t size)
{
    ssize_t length = readlink("/proc/self/ns/pid", ret_text, size - 1);

    ret_text[length > 0 ? length : 0] = '\0';
}

/* 0: there is no such process, or it cannot be told. */
static int64_t mark_start(int64_t pid)
{
    char path[64];
    char text[1024];
    char *field;
    int64_t ticks = 0;

    (void)snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
    cordon_state_read_line(path, text, sizeof(text));
    /* The name in parentheses may hold anything. */
    field = strrchr(text, ')');
    for (int number = 2; field != NULL && number < 22; number++)
        field = strchr(field + 1, ' ');
    if (field == NULL)
        return 0;
    field++;
    if (cordon_num_i64(field, strcspn(field, " "), 0, INT64_MAX, &ticks, NULL) != 0)
        return 0;
    return ticks;
}

void cordon_process_mark_self(cordon_process_mark *ret_mark)
{
    cordon_process_mark mark = {.pid = getpid()};

    mark_host(mark.host, sizeof(mark.host));
    cordon_state_boot_id(mark.boot, sizeof(mark.boot));
    mark_space(mark.space, sizeof(mark.space));
    mark.start = mark_start(mark.pid);
    *ret_mark = mark;
}

static cordon_process_fate fate(cordon_process_fate value, const char *why, const char **ret_why)
{
    *ret_why = why;
    return value;
}

cordon_process_fate cordon_process_fate_of(const cordon_process_mark *mark, const char **ret_why)
{
    cordon_process_mark self;

    cordon_process_mark_self(&self);
    if (mark->host[0] == '\0' || strcmp(mark->host, self.host) != 0)
        return fate(CORDON_PROCESS_UNKNOWN, "it was made on another host", ret_why);
    if (mark->boot[0] == '\0' || self.boot[0] == '\0')
        return fate(CORDON_PROCESS_UNKNOWN, "one boot cannot be told from another", ret_why);
    if (strcmp(mark->boot, self.boot) != 0)
        return fate(CORDON_PROCESS_DEAD, "the host was booted since", ret_why);
    if (mark->space[0] == '\0' || strcmp(mark->space, self.space) != 0)
        return fate(CORDON_PROCESS_UNKNOWN, "its process is in another pid namespace", ret_why);
    if (mark->start <= 0 || self.start <= 0)
        return fate(CORDON_PROCESS_UNKNOWN, "/proc does not tell when processes began", ret_why);
    if (mark_start(mark->pid) == mark->start)
        return fate(CORDON_PROCESS_ALIVE, "its process runs", ret_why);
    return fate(CORDON_PROCESS_DEAD, "its process has ended", ret_why);
}

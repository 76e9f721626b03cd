/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Journals whose cordon is gone: a run that was killed (KILL, power loss) leaves its file, and
 * perhaps its objects (core/journal.h has the format). Names them and the commands that remove
 * them; removes nothing. The files are the caller's own, and are read as if they were not: bounded,
 * strict.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor.h"
#include "kit/cleanup.h"
#include "kit/jsonr.h"
#include "kit/num.h"

#define JOURNAL_SUFFIX    ".jsonl"
#define JOURNAL_BYTES_MAX 65536
#define LINE_BYTES_MAX    4096
#define OBJECTS_MAX       8
#define SHOWN_MAX         8 /* files; more are counted */
#define WORD_CHARACTERS   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

/* Something that was about to be made, or was made, and is not known to be gone. */
typedef struct trace {
    char role[32];
    char handle[96]; /* id, or the name while no id is known */
    bool network;
    bool gone;
} trace;

typedef struct journal {
    char engine[256]; /* endpoint */
    char kind[16];
    int64_t pid;
    int64_t pid_start;
    char boot[64];
    trace traces[OBJECTS_MAX];
    size_t count;
} journal;

/* Reads at most size - 1 bytes, as text. @return length, 0 when there is nothing to be read */
static size_t read_text(int folder, const char *path, char *ret_text, size_t size)
{
    cordon_autoclose int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t length = fd >= 0 ? read(fd, ret_text, size - 1) : -1;
    ret_text[length > 0 ? length : 0] = '\0';
    return length > 0 ? (size_t)length : 0;
}

/* A text member that fits and, as it is shown in a command, holds nothing that a shell reads. */
static bool take_text(cordon_json line, const char *key, const char *allowed, char *ret_text,
                      size_t size)
{
    const char *text = NULL;
    cordon_err ignored = CORDON_ERR_INIT;
    if (cordon_json_need_string(line, key, &text, &ignored) != 0 || strlen(text) >= size ||
        text[0] == '\0' || strspn(text, allowed) != strlen(text))
        return false;
    memcpy(ret_text, text, strlen(text) + 1);
    return true;
}

static bool take_head(cordon_json line, journal *j)
{
    cordon_err ignored = CORDON_ERR_INIT;
    return take_text(line, "engine", WORD_CHARACTERS "/:@[]", j->engine, sizeof j->engine) &&
           take_text(line, "kind", WORD_CHARACTERS, j->kind, sizeof j->kind) &&
           take_text(line, "boot", WORD_CHARACTERS, j->boot, sizeof j->boot) &&
           cordon_json_need_i64(line, "pid", &j->pid, &ignored) == 0 &&
           cordon_json_need_i64(line, "pid_start", &j->pid_start, &ignored) == 0;
}

static trace *find_trace(journal *j, const char *role)
{
    for (size_t i = 0; i < j->count; i++) {
        if (strcmp(j->traces[i].role, role) == 0)
            return &j->traces[i];
    }
    if (j->count == OBJECTS_MAX)
        return NULL;
    trace *added = &j->traces[j->count++];
    (void)snprintf(added->role, sizeof added->role, "%s", role);
    return added;
}

/* Planned, created, gone: each line says more about the same object. */
static bool take_object(cordon_json line, journal *j)
{
    char role[sizeof j->traces[0].role];
    char type[16];
    cordon_json_bool gone = {0};
    cordon_err ignored = CORDON_ERR_INIT;
    if (!take_text(line, "object", WORD_CHARACTERS, role, sizeof role) ||
        !take_text(line, "type", WORD_CHARACTERS, type, sizeof type) ||
        cordon_json_get_bool(line, "gone", &gone, &ignored) != 0)
        return false;
    trace *at = find_trace(j, role);
    if (!at)
        return false;
    at->network = strcmp(type, "network") == 0;
    at->gone = gone.has == CORDON_JSON_PRESENT && gone.value;
    return take_text(line, "id", WORD_CHARACTERS, at->handle, sizeof at->handle) ||
           take_text(line, "name", WORD_CHARACTERS, at->handle, sizeof at->handle);
}

/* A last line that a crash has cut is no line: what it was about is known from the one before. */
static bool parse(char *text, journal *j)
{
    bool head = true;
    for (char *line = text, *end = strchr(line, '\n'); end;
         line = end + 1, end = strchr(line, '\n')) {
        cordon_auto_ptr(cordon_json_doc) doc = NULL;
        cordon_err ignored = CORDON_ERR_INIT;
        if (cordon_json_parse(line, (size_t)(end - line), LINE_BYTES_MAX, 0, &doc, &ignored) != 0)
            return false;
        cordon_json root = cordon_json_root(doc);
        if (head ? !take_head(root, j) : !take_object(root, j))
            return false;
        head = false;
    }
    return !head;
}

/* Field 22 of /proc/PID/stat, start time in clock ticks since boot: proc_pid_stat(5). */
static int64_t start_of(int64_t pid)
{
    char path[64];
    char text[1024];
    int64_t ticks = -1;
    (void)snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    (void)read_text(AT_FDCWD, path, text, sizeof text);
    char *field = strrchr(text, ')');
    for (int number = 2; field && number < 22; number++)
        field = strchr(field + 1, ' ');
    if (!field ||
        cordon_num_i64(field + 1, strcspn(field + 1, " "), 0, INT64_MAX, &ticks, NULL) != 0)
        return -1;
    return ticks;
}

/* A process is its number, its start and its boot: numbers come again. */
static bool owner_lives(const journal *j)
{
    char boot[64];
    (void)read_text(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    boot[strcspn(boot, "\n")] = '\0';
    return strcmp(boot, j->boot) == 0 && start_of(j->pid) == j->pid_start;
}

/* The engine's own command line, at this endpoint unless that was a service for one run. */
static void command_of(const journal *j, char *ret_text, size_t size)
{
    static const char scheme[] = "unix://";
    bool docker = strcmp(j->kind, "docker") == 0;
    bool local = strncmp(j->engine, scheme, sizeof scheme - 1) == 0;
    if (!docker && local && access(j->engine + sizeof scheme - 1, F_OK) != 0)
        (void)snprintf(ret_text, size, "podman");
    else
        (void)snprintf(ret_text, size, "%s %s", docker ? "docker --host" : "podman --url",
                       j->engine);
}

/* Containers first: a network goes only when nothing is on it. */
static void add_traces(cordon_cli_doctor *doctor, const journal *j, bool networks)
{
    char command[sizeof j->engine + 32];
    command_of(j, command, sizeof command);
    for (size_t i = 0; i < j->count; i++) {
        const trace *at = &j->traces[i];
        if (!at->gone && at->network == networks)
            cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_WARN, "left behind", "",
                                  "%s %s: %s %s %s", at->role, networks ? "network" : "container",
                                  command, networks ? "network rm" : "rm -f", at->handle);
    }
}

static void add_journal(cordon_cli_doctor *doctor, const char *folder, const char *name,
                        const journal *j)
{
    cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_WARN, "journal",
                          "remove what is left behind (next lines, as far as it is there), then "
                          "this file",
                          "%s/%s: its cordon, process %lld, ended without cleaning up", folder,
                          name, (long long)j->pid);
    add_traces(doctor, j, false);
    add_traces(doctor, j, true);
}

/* Says what there is to say about one file; true when it took lines. */
static bool examine(cordon_cli_doctor *doctor, int dir, const char *folder, const char *name)
{
    char text[JOURNAL_BYTES_MAX];
    journal j = {0};
    if (read_text(dir, name, text, sizeof text) == 0)
        return false; /* gone meanwhile, or just made */
    if (!parse(text, &j)) {
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_WARN, "journal",
                              "look at it, and remove it when no run is using it",
                              "%s/%s: is no journal of this version", folder, name);
        return true;
    }
    if (owner_lives(&j))
        return false;
    add_journal(doctor, folder, name, &j);
    return true;
}

static bool is_journal(const char *name)
{
    size_t length = strlen(name);
    size_t suffix = strlen(JOURNAL_SUFFIX);
    return length > suffix && strcmp(name + length - suffix, JOURNAL_SUFFIX) == 0;
}

void cordon_cli_doctor_journals(cordon_cli_doctor *doctor, const char *folder)
{
    DIR *entries = folder ? opendir(folder) : NULL;
    size_t shown = 0;
    if (!entries)
        return;
    for (struct dirent *entry = readdir(entries); entry && shown < SHOWN_MAX;
         entry = readdir(entries)) {
        if (is_journal(entry->d_name) && examine(doctor, dirfd(entries), folder, entry->d_name))
            shown++;
    }
    (void)closedir(entries);
    if (shown == SHOWN_MAX)
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_WARN, "journal", "",
                              "%d files were shown; there may be more in %s", SHOWN_MAX, folder);
}

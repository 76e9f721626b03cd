/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the machine that `cordon` runs on can do. An engine on another machine has a kernel of its
 * own, which the gate reports from inside at every run.
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "doctor.h"
#include "kit/cleanup.h"
#include "kit/num.h"

/* landlock_create_ruleset(2): ask for the ABI version instead of a ruleset. */
#define LANDLOCK_ASK_VERSION 1U
#define LANDLOCK_ABI_NEEDED  6 /* as the library demands it */

/* What rootless containers need to map a whole image (newuidmap(1)). */
#define SUBORDINATE_IDS_MIN 65536

/* What the kernel lacks below each ABI, latest first: landlock(7). */
static const struct {
    long abi;
    const char *lacks;
} landlock_gaps[] = {
    {1, "no Landlock at all"},
    {3, "no rules for truncating, TCP ports, signals"},
    {4, "no rules for TCP ports, signals"},
    {6, "no rules for signals and abstract sockets"},
};

static void check_landlock(cordon_cli_doctor *doctor)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_ASK_VERSION);
    if (abi >= LANDLOCK_ABI_NEEDED) {
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_OK, "landlock", "", "ABI %ld", abi);
        return;
    }
    size_t gap = 0;
    while (abi >= landlock_gaps[gap].abi)
        gap++;
    cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_WARN, "landlock",
                          "use a kernel of 6.12 or later with lsm=landlock,..., or accept less: "
                          "allow_weak_landlock = true",
                          "ABI %ld of %d: %s", abi > 0 ? abi : 0L, LANDLOCK_ABI_NEEDED,
                          landlock_gaps[gap].lacks);
}

/* The number in a one-line kernel file; -1 when there is no such file or it holds none. */
static int64_t kernel_number(const char *path)
{
    char text[32];
    int64_t value = -1;
    cordon_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text) : -1;
    if (length > 0 && text[length - 1] == '\n')
        length--;
    if (length <= 0 || cordon_num_i64(text, (size_t)length, 0, INT64_MAX, &value, NULL) != 0)
        return -1;
    return value;
}

static void check_user_namespaces(cordon_cli_doctor *doctor)
{
    if (kernel_number("/proc/sys/user/max_user_namespaces") == 0)
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_FAIL, "user namespaces",
                              "set user.max_user_namespaces, or use a rootful engine",
                              "user.max_user_namespaces is 0");
    else if (kernel_number("/proc/sys/kernel/unprivileged_userns_clone") == 0)
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_FAIL, "user namespaces",
                              "set kernel.unprivileged_userns_clone=1, or use a rootful engine",
                              "kernel.unprivileged_userns_clone is 0");
    else if (kernel_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1)
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_WARN, "user namespaces",
                              "podman needs an AppArmor profile that allows them",
                              "restricted by AppArmor");
    else
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_OK, "user namespaces", "", "available");
}

/* The ids that "NAME:START:COUNT" lines of the file give this user, by name or number. */
static int64_t subordinate_ids(const char *path, const char *name, const char *number)
{
    int64_t sum = 0;
    char line[512];
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    while (fgets(line, sizeof line, file)) {
        char *owner_end = strchr(line, ':');
        char *count = owner_end ? strchr(owner_end + 1, ':') : NULL;
        if (!count)
            continue;
        *owner_end = '\0';
        count++;
        size_t digits = strcspn(count, "\n");
        int64_t value = 0;
        bool mine = strcmp(line, name) == 0 || strcmp(line, number) == 0;
        if (mine && cordon_num_i64(count, digits, 0, UINT32_MAX, &value, NULL) == 0)
            sum += value;
    }
    (void)fclose(file);
    return sum;
}

static void check_subordinate(cordon_cli_doctor *doctor, const char *path, const char *name,
                              const char *number)
{
    int64_t ids = subordinate_ids(path, name, number);
    bool enough = ids >= SUBORDINATE_IDS_MIN;
    cordon_cli_doctor_add(doctor, enough ? CORDON_CLI_STATE_OK : CORDON_CLI_STATE_WARN,
                          "subordinate ids",
                          enough ? "" : "rootless podman: usermod --add-subuids, --add-subgids",
                          "%s gives %s %lld", path, name, (long long)(ids < 0 ? 0 : ids));
}

static void check_rootless(cordon_cli_doctor *doctor, const cordon_host *host)
{
    char text[4096];
    char number[16];
    struct passwd entry;
    struct passwd *found = NULL;
    if (host->uid == 0) {
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_OK, "rootless", "",
                              "not needed by root: user namespaces and subordinate ids");
        return;
    }
    (void)snprintf(number, sizeof number, "%u", host->uid);
    bool known = getpwuid_r(host->uid, &entry, text, sizeof text, &found) == 0 && found;
    check_user_namespaces(doctor);
    check_subordinate(doctor, "/etc/subuid", known ? entry.pw_name : number, number);
    check_subordinate(doctor, "/etc/subgid", known ? entry.pw_name : number, number);
}

static void check_state_dir(cordon_cli_doctor *doctor, const cordon_host *host)
{
    struct stat there;
    if (!host->state_dir)
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_FAIL, "journal",
                              "set HOME or XDG_STATE_HOME", "no folder is known");
    else if (lstat(host->state_dir, &there) != 0 && errno == ENOENT)
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_OK, "journal", "",
                              "%s will be made by the first run", host->state_dir);
    else if (lstat(host->state_dir, &there) != 0)
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_FAIL, "journal", "give yourself access",
                              "%s: %s", host->state_dir, strerrordesc_np(errno));
    else if (!S_ISDIR(there.st_mode) || there.st_uid != host->uid || (there.st_mode & 022) != 0)
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_FAIL, "journal",
                              "make it a folder of your own that nobody else can write",
                              "%s: owner %u, mode %04o", host->state_dir, there.st_uid,
                              there.st_mode & 07777U);
    else
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_OK, "journal", "", "%s", host->state_dir);
}

/* Where rootless engines have their sockets; without it a default is assumed. */
static void check_runtime_dir(cordon_cli_doctor *doctor, const cordon_host *host)
{
    static const char next[] = "rootless engines: log in as this user (not by su or sudo), or "
                               "\"loginctl enable-linger\" and set XDG_RUNTIME_DIR=/run/user/UID";
    if (host->uid == 0)
        return;
    if (!host->runtime_dir)
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_WARN, "runtime folder", next,
                              "XDG_RUNTIME_DIR is not set; /run/user/%u is %s", host->uid,
                              "looked at instead");
    else if (access(host->runtime_dir, R_OK | W_OK | X_OK) != 0)
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_WARN, "runtime folder", next,
                              "XDG_RUNTIME_DIR=%s: %s", host->runtime_dir, strerrordesc_np(errno));
    else
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_OK, "runtime folder", "", "%s",
                              host->runtime_dir);
}

/* 0 when the folder where Podman keeps its containers' files can be entered, else errno. */
static int enter_containers(const cordon_engine_info *info)
{
    char path[4096];
    int length =
        snprintf(path, sizeof path, "%s/%s-containers", info->storage_root, info->storage_driver);
    if (info->storage_root[0] != '/' || length < 0 || (size_t)length >= sizeof path)
        return ENOENT;
    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0)
        return 0;
    /* Made with the first container. */
    if (errno == ENOENT)
        return faccessat(AT_FDCWD, info->storage_root, X_OK, AT_EACCESS) == 0 ? 0 : errno;
    return errno;
}

void cordon_cli_doctor_runtime(cordon_cli_doctor *doctor, const cordon_engine_info *info,
                               bool accepted)
{
    static const char next[] =
        "run cordon where the engine runs, as its user or as root, or accept "
        "it: allow_unread_runtime = true";
    bool here = strncmp(info->endpoint, "unix://", strlen("unix://")) == 0;
    if (!info->hides_runtime)
        return;
    int failed = here ? enter_containers(info) : EREMOTE;
    if (failed == 0)
        cordon_cli_doctor_add(doctor, CORDON_CLI_STATE_OK, "hidden facts", "",
                              "what inspect leaves out can be read below %s", info->storage_root);
    else
        cordon_cli_doctor_add(
            doctor, accepted ? CORDON_CLI_STATE_WARN : CORDON_CLI_STATE_FAIL, "hidden facts", next,
            "what inspect leaves out (seccomp, sysctls, hooks) cannot be read: %s: %s%s",
            here ? info->storage_root : info->endpoint, strerrordesc_np(failed),
            accepted ? "; accepted by allow_unread_runtime" : "");
}

void cordon_cli_doctor_host(cordon_cli_doctor *doctor, const cordon_host *host)
{
    check_state_dir(doctor, host);
    check_runtime_dir(doctor, host);
    check_landlock(doctor);
    check_rootless(doctor, host);
}

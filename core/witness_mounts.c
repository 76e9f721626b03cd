/* SPDX-License-Identifier: Apache-2.0 */
/* Mounts: what engines mount by themselves, and what the plan asked for; see witness_judges.h. */
#include "witness_judges.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "kit/octal.h"

/* "target\tfstype\toptions\tsuper options\tsource\troot" */
enum {
    MOUNT_TARGET = 0,
    MOUNT_FSTYPE,
    MOUNT_OPTIONS,
    MOUNT_SUPER,
    MOUNT_SOURCE,
    MOUNT_ROOT,
    MOUNT_FIELDS
};

/* Copies field number `which`; "" when there is none. */
static void mount_field(const char *mount, int which, char *ret_text, size_t size)
{
    const char *begin = mount;
    size_t length;

    for (int i = 0; i < which && begin != NULL; i++) {
        begin = strchr(begin, '\t');
        begin = begin != NULL ? begin + 1 : NULL;
    }
    ret_text[0] = '\0';
    if (begin == NULL)
        return;
    length = strcspn(begin, "\t");
    if (length >= size)
        return;
    memcpy(ret_text, begin, length);
    ret_text[length] = '\0';
}

/* True if a comma-separated list holds the whole word. */
static bool options_hold(const char *options, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = options; at != NULL; at = strchr(at, ',')) {
        at += *at == ',' ? 1 : 0;
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): within the text */
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/*
 * What engines mount by themselves. A target that stands neither here nor in the plan refuses.
 * need: options that must be in force, blank-separated.
 */
static const struct {
    const char *target;
    const char *fstype; /* NULL: any */
    const char *need;
    bool below; /* the same holds for everything below the target */
} engine_mounts[] = {
    {"/", NULL, "ro", false},
    {"/proc", "proc", "nosuid nodev noexec", false},
    {"/proc/bus", "proc", "ro", false},
    {"/proc/fs", "proc", "ro", false},
    {"/proc/irq", "proc", "ro", false},
    {"/proc/sys", "proc", "ro", false},
    {"/proc/sysrq-trigger", "proc", "ro", false},
    {"/proc", "tmpfs", "", true},    /* masked by an empty tmpfs or a null device */
    {"/proc", "devtmpfs", "", true}, /* the null device of rootless engines */
    {"/dev", "tmpfs", "nosuid", false},
    /* Nodes that a rootless engine binds one by one; the report's "device" tells what they are. */
    {"/dev/null", NULL, "", false},
    {"/dev/zero", NULL, "", false},
    {"/dev/full", NULL, "", false},
    {"/dev/tty", NULL, "", false},
    {"/dev/random", NULL, "", false},
    {"/dev/urandom", NULL, "", false},
    {"/dev/pts", "devpts", "nosuid noexec", false},
    {"/dev/shm", "tmpfs", "nosuid nodev noexec", false},
    {"/dev/mqueue", "mqueue", "nosuid nodev noexec", false},
    {"/sys", "sysfs", "ro nosuid nodev noexec", false},
    {"/sys/firmware", "tmpfs", "ro", false},
    {"/sys/dev/block", "tmpfs", "ro", false},
    {"/sys/fs/selinux", "tmpfs", "ro", false},
    {"/sys/devices/virtual/powercap", "tmpfs", "ro", false},
    {"/sys/fs/cgroup", "cgroup2", "ro nosuid nodev noexec", true},
    {"/sys/fs/cgroup", "cgroup", "ro nosuid nodev noexec", true},
    {"/sys/fs/cgroup", "tmpfs", "nosuid nodev noexec",
     false}, /* v1: root's folder of mount points */
    {"/etc/resolv.conf", NULL, "", false},
    {"/etc/hostname", NULL, "", false},
    {"/etc/hosts", NULL, "", false},
    {"/etc/passwd", NULL, "", false},
    {"/etc/group", NULL, "", false},
    {"/run/.containerenv", NULL, "", false},
};

static bool options_hold_all(const char *options, const char *words)
{
    while (*words != '\0') {
        char word[16];
        size_t length = strcspn(words, " ");

        if (length >= sizeof(word))
            return false;
        memcpy(word, words, length);
        word[length] = '\0';
        if (!options_hold(options, word))
            return false;
        words += length + (words[length] == ' ' ? 1 : 0);
    }
    return true;
}

static bool engine_mount_covers(size_t row, const char *target, const char *fstype)
{
    const char *place = engine_mounts[row].target;
    size_t length = strlen(place);

    if (engine_mounts[row].fstype != NULL && strcmp(engine_mounts[row].fstype, fstype) != 0)
        return false;
    if (strcmp(place, target) == 0)
        return true;
    return engine_mounts[row].below && strncmp(place, target, length) == 0 && target[length] == '/';
}

static int judge_engine_mount(const witness_context *context, const char *value, const char *target)
{
    char fstype[64];
    char options[WITNESS_MOUNT_FIELD_SIZE];

    mount_field(value, MOUNT_FSTYPE, fstype, sizeof(fstype));
    mount_field(value, MOUNT_OPTIONS, options, sizeof(options));
    for (size_t i = 0; i < sizeof(engine_mounts) / sizeof(engine_mounts[0]); i++) {
        if (!engine_mount_covers(i, target, fstype))
            continue;
        if (options_hold_all(options, engine_mounts[i].need))
            return 0;
        return cordon_witness_refuse(context, engine_mounts[i].need, value);
    }
    return cordon_witness_refuse(context, "no further mount", value);
}

static const cordon_mount_spec *planned_mount(const cordon_plan *plan, const char *target)
{
    for (size_t i = 0; i < plan->step.mount_count; i++) {
        if (strcmp(plan->step.mounts[i].target, target) == 0)
            return &plan->step.mounts[i];
    }
    return NULL;
}

/* An inspect shows what was asked for, and Podman has asked for something else before. */
static int judge_bound(const witness_context *context, const cordon_mount_spec *spec,
                       const char *value)
{
    char super[WITNESS_MOUNT_FIELD_SIZE];
    char bound[64];

    mount_field(value, MOUNT_SUPER, super, sizeof(super));
    (void)snprintf(bound, sizeof(bound), "size=%lldk", (long long)(spec->size_bytes / 1024));
    if (options_hold(super, bound))
        return 0;
    return cordon_witness_refuse(context, bound, value);
}

static int judge_planned_mount(const witness_context *context, const cordon_mount_spec *spec,
                               const char *value)
{
    char options[WITNESS_MOUNT_FIELD_SIZE];
    char fstype[64];

    /* An image mount is an overlay without an upper layer: read-only as a file system. */
    mount_field(value, spec->type == CORDON_MOUNT_IMAGE ? MOUNT_SUPER : MOUNT_OPTIONS, options,
                sizeof(options));
    mount_field(value, MOUNT_FSTYPE, fstype, sizeof(fstype));
    if (!options_hold(options, spec->read_only ? "ro" : "rw"))
        return cordon_witness_refuse(context, spec->read_only ? "ro" : "rw", value);
    if (spec->type != CORDON_MOUNT_TMPFS && spec->type != CORDON_MOUNT_VOLUME)
        return 0;
    if (strcmp(fstype, "tmpfs") != 0 || !options_hold_all(options, "nosuid nodev") ||
        (spec->no_exec && !options_hold(options, "noexec")))
        return cordon_witness_refuse(context, "a tmpfs with nosuid, nodev and noexec", value);
    return spec->type == CORDON_MOUNT_VOLUME ? judge_bound(context, spec, value) : 0;
}

int cordon_judge_mount(const witness_context *context, const char *value)
{
    char target[WITNESS_MOUNT_FIELD_SIZE];
    const cordon_mount_spec *spec;

    cordon_witness_mount_target(value, target);
    spec = planned_mount(context->plan, target);
    return spec != NULL ? judge_planned_mount(context, spec, value)
                        : judge_engine_mount(context, value, target);
}

/* The planned folder of a "folder" value, and what stands behind its path; NULL for an engine's. */
static const cordon_mount_spec *planned_folder(const cordon_plan *plan, const char *value,
                                               const char **ret_identity)
{
    char target[WITNESS_MOUNT_FIELD_SIZE];
    const char *blank = strchr(value, ' ');
    size_t length = blank != NULL ? (size_t)(blank - value) : 0;
    const cordon_mount_spec *spec;

    if (blank == NULL || length >= sizeof(target))
        return NULL;
    memcpy(target, value, length);
    target[length] = '\0';
    cordon_octal_decode(target);
    spec = planned_mount(plan, target);
    *ret_identity = blank + 1;
    return spec != NULL && spec->type == CORDON_MOUNT_BIND ? spec : NULL;
}

/*
 * SECURITY: "/worktree 8:1 131074", the folder that was approved and no other: somebody who may
 * rename in the folder above - a step of another run, say - can put a link to any folder of the
 * host in its place while the engine mounts, and take it away before anybody looks again.
 */
int cordon_judge_folder(const witness_context *context, const char *value)
{
    const char *identity = "";
    const cordon_mount_spec *spec = planned_folder(context->plan, value, &identity);
    char expected[96];

    if (spec == NULL)
        return 0;
    (void)snprintf(expected, sizeof(expected), "%u:%u %llu", major(spec->dev), minor(spec->dev),
                   (unsigned long long)spec->ino);
    if (strcmp(expected, identity) == 0)
        return 0;
    return cordon_witness_refuse(context, expected, value);
}

bool cordon_witness_has_folder(const witness_context *context, const cordon_mount_spec *spec)
{
    const char *identity;
    const char *value;
    size_t at = 0;

    while ((value = cordon_gate_view_next(context->view, "folder", &at)) != NULL) {
        if (planned_folder(context->plan, value, &identity) == spec)
            return true;
    }
    return false;
}

void cordon_witness_mount_target(const char *value, char ret_target[WITNESS_MOUNT_FIELD_SIZE])
{
    mount_field(value, MOUNT_TARGET, ret_target, WITNESS_MOUNT_FIELD_SIZE);
    cordon_octal_decode(ret_target);
}

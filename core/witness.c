/* SPDX-License-Identifier: Apache-2.0 */
/* Judging the gate's report; see witness.h. */
#include "witness.h"

#include <stdio.h>
#include <string.h>

/* What the judges share. `value` is one value of the key at hand. */
typedef struct witness_context {
    const cordon_plan *plan;
    const cordon_gate_view *view;
    const char *key;
    cordon_refusal *refusal;
    cordon_err *err;
} witness_context;

typedef int witness_judge(const witness_context *context, const char *value);

static int witness_refuse(const witness_context *context, const char *expected, const char *actual)
{
    char fact[96];

    (void)snprintf(fact, sizeof(fact), "kernel.%s", context->key);
    return cordon_refuse(context->refusal, CORDON_REFUSED_KERNEL, fact, expected, actual,
                         context->err);
}

static int must_equal(const witness_context *context, const char *expected, const char *value)
{
    return strcmp(expected, value) == 0 ? 0 : witness_refuse(context, expected, value);
}

static bool one_of(const char *value, const char *const *allowed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(value, allowed[i]) == 0)
            return true;
    }
    return false;
}

#define ONE_OF(value, list) one_of((value), (list), sizeof(list) / sizeof((list)[0]))

/* --- Identity and privileges ------------------------------------------------------------- */

static int judge_id(const witness_context *context, unsigned id, const char *value)
{
    char expected[64];

    (void)snprintf(expected, sizeof(expected), "%u %u %u %u", id, id, id, id);
    return must_equal(context, expected, value);
}

static int judge_uid(const witness_context *context, const char *value)
{
    return judge_id(context, context->plan->input.uid, value);
}

static int judge_gid(const witness_context *context, const char *value)
{
    return judge_id(context, context->plan->input.gid, value);
}

/* The engine may repeat the primary group; any other one could open a door. */
static int judge_group(const witness_context *context, const char *value)
{
    char expected[32];

    (void)snprintf(expected, sizeof(expected), "%u", context->plan->input.gid);
    return must_equal(context, expected, value);
}

static int judge_no_caps(const witness_context *context, const char *value)
{
    return must_equal(context, "0000000000000000", value);
}

static int judge_one(const witness_context *context, const char *value)
{
    return must_equal(context, "1", value);
}

static int judge_zero(const witness_context *context, const char *value)
{
    return must_equal(context, "0", value);
}

/* SECCOMP_MODE_FILTER: proc(5), "Seccomp". */
static int judge_seccomp(const witness_context *context, const char *value)
{
    return must_equal(context, "2", value);
}

static int judge_seccomp_filters(const witness_context *context, const char *value)
{
    return strcmp(value, "0") != 0 ? 0 : witness_refuse(context, "at least 1", value);
}

/* --- Mounts -------------------------------------------------------------------------------- */

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

#define MOUNT_FIELD_SIZE 4096

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
    char options[MOUNT_FIELD_SIZE];

    mount_field(value, MOUNT_FSTYPE, fstype, sizeof(fstype));
    mount_field(value, MOUNT_OPTIONS, options, sizeof(options));
    for (size_t i = 0; i < sizeof(engine_mounts) / sizeof(engine_mounts[0]); i++) {
        if (!engine_mount_covers(i, target, fstype))
            continue;
        if (options_hold_all(options, engine_mounts[i].need))
            return 0;
        return witness_refuse(context, engine_mounts[i].need, value);
    }
    return witness_refuse(context, "no further mount", value);
}

static const cordon_mount_spec *planned_mount(const cordon_plan *plan, const char *target)
{
    for (size_t i = 0; i < plan->step.mount_count; i++) {
        if (strcmp(plan->step.mounts[i].target, target) == 0)
            return &plan->step.mounts[i];
    }
    return NULL;
}

static int judge_planned_mount(const witness_context *context, const cordon_mount_spec *spec,
                               const char *value)
{
    char options[MOUNT_FIELD_SIZE];
    char fstype[64];

    /* An image mount is an overlay without an upper layer: read-only as a file system. */
    mount_field(value, spec->type == CORDON_MOUNT_IMAGE ? MOUNT_SUPER : MOUNT_OPTIONS, options,
                sizeof(options));
    mount_field(value, MOUNT_FSTYPE, fstype, sizeof(fstype));
    if (!options_hold(options, spec->read_only ? "ro" : "rw"))
        return witness_refuse(context, spec->read_only ? "ro" : "rw", value);
    if (spec->type != CORDON_MOUNT_TMPFS)
        return 0;
    if (strcmp(fstype, "tmpfs") != 0 || !options_hold_all(options, "nosuid nodev") ||
        (spec->no_exec && !options_hold(options, "noexec")))
        return witness_refuse(context, "a tmpfs with nosuid, nodev and noexec", value);
    return 0;
}

static int judge_mount(const witness_context *context, const char *value)
{
    char target[MOUNT_FIELD_SIZE];
    const cordon_mount_spec *spec;

    mount_field(value, MOUNT_TARGET, target, sizeof(target));
    spec = planned_mount(context->plan, target);
    return spec != NULL ? judge_planned_mount(context, spec, value)
                        : judge_engine_mount(context, value, target);
}

/* --- Network --------------------------------------------------------------------------------- */

/* Devices that the kernel puts into every network namespace when their module is loaded. */
static bool interface_is_idle(const char *value)
{
    const char *state = strchr(value, ' ');

    return state != NULL && strncmp(state, " down ", strlen(" down ")) == 0;
}

static int judge_interface(const witness_context *context, const char *value)
{
    static const char *const names[] = {"lo", "eth0", "vendor0"};
    char name[32];
    size_t length = strcspn(value, " ");

    if (interface_is_idle(value))
        return 0;
    if (length >= sizeof(name))
        return witness_refuse(context, "lo and one interface", value);
    memcpy(name, value, length);
    name[length] = '\0';
    return ONE_OF(name, names) ? 0 : witness_refuse(context, "lo and one interface", value);
}

/* "eth0 10.213.0.3/29": loopback and the planned address, nothing else. */
static int judge_address(const witness_context *context, const char *value)
{
    static const char *const loopback[] = {"lo 127.0.0.1/8", "lo ::1/128"};
    char expected[64];
    const char *address = strchr(value, ' ');

    if (ONE_OF(value, loopback))
        return 0;
    (void)snprintf(expected, sizeof(expected), "%s/%u", context->plan->step_address,
                   cordon_subnet_prefix(context->plan->subnets[CORDON_ROLE_VENDOR_NETWORK]));
    if (address != NULL && strcmp(address + 1, expected) == 0)
        return 0;
    return witness_refuse(context, expected, value);
}

/*
 * Only what is reachable on the vendor network itself. A default route through the block's first
 * address is Docker's; nobody has that address (network fact host_address), so it leads nowhere.
 */
static int judge_route(const witness_context *context, const char *value)
{
    char gateway[INET_ADDRSTRLEN];
    char nowhere[64];
    const char *via = strstr(value, " via ");

    cordon_subnet_host(context->plan->subnets[CORDON_ROLE_VENDOR_NETWORK], 1, gateway);
    (void)snprintf(nowhere, sizeof(nowhere), " via %s ", gateway);
    if (via == NULL || strncmp(via, " via  ", strlen(" via  ")) == 0 ||
        strncmp(via, " via none ", strlen(" via none ")) == 0 ||
        strncmp(via, nowhere, strlen(nowhere)) == 0)
        return 0;
    return witness_refuse(context, "no gateway", value);
}

static int judge_resolv(const witness_context *context, const char *value)
{
    static const char *const nowhere[] = {"nameserver 127.0.0.1", "nameserver 127.0.0.11"};

    if (strncmp(value, "nameserver", strlen("nameserver")) != 0 || ONE_OF(value, nowhere))
        return 0;
    return witness_refuse(context, "a resolver inside the container, where there is none", value);
}

/* --- Process -----------------------------------------------------------------------------------
 */

static int judge_fd(const witness_context *context, const char *value)
{
    if (value[0] >= '0' && value[0] <= '2' && value[1] == ' ')
        return 0;
    return witness_refuse(context, "0, 1 and 2 alone", value);
}

/* "nofile soft hard" for the limits that the plan sets. */
static int judge_limit(const witness_context *context, const char *value)
{
    const cordon_limits_spec *limits = &context->plan->step.limits;
    const struct {
        const char *name;
        int64_t limit;
    } planned[] = {
        {"core", 0},
        {"nofile", limits->open_files},
        {"nproc", limits->user_processes},
    };

    for (size_t i = 0; i < sizeof(planned) / sizeof(planned[0]); i++) {
        size_t length = strlen(planned[i].name);
        char expected[64];

        if (strncmp(value, planned[i].name, length) != 0 || value[length] != ' ')
            continue;
        (void)snprintf(expected, sizeof(expected), "%s %lld %lld", planned[i].name,
                       (long long)planned[i].limit, (long long)planned[i].limit);
        return must_equal(context, expected, value);
    }
    return 0;
}

/*
 * The inode numbers of the initial namespaces are fixed: include/linux/proc_ns.h of the kernel,
 * PROC_*_INIT_INO. A step in one of them would share it with the host.
 */
static int judge_ns(const witness_context *context, const char *value)
{
    static const char *const initial[] = {
        "ipc:[4026531839]",
        "uts:[4026531838]",
        "pid:[4026531836]",
        "cgroup:[4026531835]",
    };

    return ONE_OF(value, initial) ? witness_refuse(context, "a namespace of its own", value) : 0;
}

/* "net.ipv4.ip_forward 0" for those that the plan sets; an absent one is no protocol at all. */
static int judge_sysctl(const witness_context *context, const char *value)
{
    size_t length = strcspn(value, " ");

    for (size_t i = 0; i < context->plan->step.sysctls.count; i++) {
        const char *planned = context->plan->step.sysctls.items[i];

        if (strncmp(planned, value, length) != 0 || planned[length] != '=')
            continue;
        return value[length] == ' ' && strcmp(planned + length + 1, value + length + 1) == 0
                   ? 0
                   : witness_refuse(context, planned, value);
    }
    return 0;
}

static int judge_masked(const witness_context *context, const char *value)
{
    const char *blank = strrchr(value, ' ');

    if (blank != NULL && strcmp(blank + 1, "open") == 0)
        return witness_refuse(context, "absent, empty or read-only", value);
    return 0;
}

/* "null c 1:3": what the OCI runtime specification lists as default devices, and terminals. */
static int judge_device(const witness_context *context, const char *value)
{
    static const char *const nodes[] = {
        "null c 1:3",    "zero c 1:5", "full c 1:7", "random c 1:8",
        "urandom c 1:9", "tty c 5:0",  "ptmx c 5:2", "pts/ptmx c 5:2",
    };

    return ONE_OF(value, nodes) ? 0 : witness_refuse(context, "the default devices", value);
}

static int judge_never(const witness_context *context, const char *value)
{
    return witness_refuse(context, "none", value);
}

static int judge_hostname(const witness_context *context, const char *value)
{
    return must_equal(context, context->plan->step.hostname, value);
}

static int judge_working_dir(const witness_context *context, const char *value)
{
    return must_equal(context, context->plan->step.working_dir, value);
}

static int judge_argv(const witness_context *context, const char *value)
{
    const cordon_container_spec *step = &context->plan->step;

    if (one_of(value, step->entrypoint.items, step->entrypoint.count) ||
        one_of(value, step->command.items, step->command.count))
        return 0;
    return witness_refuse(context, "the gate's own command line", value);
}

/* A limit that is visible inside must be the planned one; "max" only where none was planned. */
static int judge_cgroup_limit(const witness_context *context, int64_t limit, const char *value)
{
    char expected[32];

    if (limit == 0)
        return 0;
    (void)snprintf(expected, sizeof(expected), "%lld", (long long)limit);
    return must_equal(context, expected, value);
}

static int judge_memory_max(const witness_context *context, const char *value)
{
    return judge_cgroup_limit(context, context->plan->step.limits.memory_bytes, value);
}

static int judge_pids_max(const witness_context *context, const char *value)
{
    return judge_cgroup_limit(context, context->plan->step.limits.pids, value);
}

/* --- The table -----------------------------------------------------------------------------------
 */

typedef struct witness_rule {
    const char *key;
    witness_judge *judge; /* NULL: told for people and later checks, harmless by itself */
    unsigned least;       /* how often it must be there */
    unsigned most;        /* 0: any number */
} witness_rule;

static const witness_rule witness_rules[] = {
    {"uid", judge_uid, 1, 1},
    {"gid", judge_gid, 1, 1},
    {"group", judge_group, 0, 1},
    {"cap.inheritable", judge_no_caps, 1, 1},
    {"cap.permitted", judge_no_caps, 1, 1},
    {"cap.effective", judge_no_caps, 1, 1},
    {"cap.bounding", judge_no_caps, 1, 1},
    {"cap.ambient", judge_no_caps, 1, 1},
    {"no_new_privs", judge_one, 1, 1},
    {"seccomp.mode", judge_seccomp, 1, 1},
    {"seccomp.filters", judge_seccomp_filters, 0, 1},
    {"securebits", judge_zero, 1, 1},
    {"dumpable", NULL, 1, 1}, /* before the gate cleared it: the runtime's choice */
    {"pid", judge_one, 1, 1},
    {"mount", judge_mount, 2, 0},
    {"interface", judge_interface, 1, 0},
    {"address", judge_address, 1, 0},
    {"route", judge_route, 0, 0},
    {"resolv", judge_resolv, 0, 0},
    {"hosts", NULL, 0, 0}, /* names for addresses; the addresses are not reachable */
    {"fd", judge_fd, 3, 3},
    {"limit", judge_limit, 3, 0},
    {"ns", judge_ns, 6, 0},
    {"cgroup", NULL, 0, 0}, /* a path inside the container's own cgroup namespace */
    {"cgroup.memory.max", judge_memory_max, 0, 1},
    {"cgroup.pids.max", judge_pids_max, 0, 1},
    {"cgroup.cpu.max", NULL, 0, 1}, /* compared in the engine's facts, where it is exact */
    {"env", NULL, 0, 0},            /* the gate's own; the command's comes with the release */
    {"argv", judge_argv, 2, 2},
    {"hostname", judge_hostname, 1, 1},
    {"working_dir", judge_working_dir, 1, 1},
    {"uid_map", NULL, 1, 0}, /* the ids in force are judged; the map decides only their host side */
    {"gid_map", NULL, 1, 0}, /* the same */
    {"sysctl", judge_sysctl, 1, 0},
    {"masked", judge_masked, 1, 0},
    {"device", judge_device, 1, 0},
    {"socket", judge_never, 0, 0},
    {"landlock.abi", NULL, 1, 1}, /* what the kernel offers; policy decides what it demands */
    {"truncated", judge_never, 0, 0},
};

static int witness_count(const witness_context *context, const witness_rule *rule, unsigned seen)
{
    char fact[96];
    char expected[32];
    char actual[32];

    if (seen >= rule->least && (rule->most == 0 || seen <= rule->most))
        return 0;
    (void)snprintf(fact, sizeof(fact), "kernel.%s", rule->key);
    (void)snprintf(expected, sizeof(expected), "%u to %u values", rule->least, rule->most);
    (void)snprintf(actual, sizeof(actual), "%u values", seen);
    return cordon_refuse(context->refusal, CORDON_REFUSED_UNKNOWN, fact, expected, actual,
                         context->err);
}

static int witness_apply(witness_context *context, const witness_rule *rule, cordon_tally *tally)
{
    const char *value;
    unsigned seen = 0;
    size_t at = 0;

    context->key = rule->key;
    while ((value = cordon_gate_view_next(context->view, rule->key, &at)) != NULL) {
        seen++;
        if (rule->judge != NULL && rule->judge(context, value) != 0)
            return -1;
        tally->facts++;
    }
    return witness_count(context, rule, seen);
}

/* SECURITY: a fact that no rule knows comes from another gate than ours, or from a newer one. */
static int witness_all_known(const witness_context *context)
{
    for (size_t i = 0; i < context->view->facts.count; i++) {
        const char *fact = context->view->facts.items[i];
        size_t length = strcspn(fact, "=");
        bool known = false;

        for (size_t j = 0; j < sizeof(witness_rules) / sizeof(witness_rules[0]); j++)
            known = known || (strncmp(witness_rules[j].key, fact, length) == 0 &&
                              witness_rules[j].key[length] == '\0');
        if (!known)
            return cordon_refuse(context->refusal, CORDON_REFUSED_UNMODELLED, "kernel.report",
                                 "known facts", fact, context->err);
    }
    return 0;
}

/* Every planned mount must really be there, not just no other one. */
static int witness_planned_mounts(witness_context *context)
{
    const cordon_plan *plan = context->plan;

    context->key = "mount";
    for (size_t i = 0; i < plan->step.mount_count; i++) {
        const char *value;
        bool found = false;
        size_t at = 0;

        while ((value = cordon_gate_view_next(context->view, "mount", &at)) != NULL) {
            char target[MOUNT_FIELD_SIZE];

            mount_field(value, MOUNT_TARGET, target, sizeof(target));
            found = found || strcmp(target, plan->step.mounts[i].target) == 0;
        }
        if (!found)
            return witness_refuse(context, plan->step.mounts[i].target, "no such mount");
    }
    return 0;
}

/* The planned address must be there: an interface without it is on another network. */
static int witness_planned_address(witness_context *context)
{
    const char *value;
    size_t at = 0;

    context->key = "address";
    while ((value = cordon_gate_view_next(context->view, "address", &at)) != NULL) {
        if (strncmp(value, "lo ", 3) != 0)
            return 0;
    }
    return witness_refuse(context, context->plan->step_address, "no address");
}

int cordon_witness_check(const cordon_plan *plan, const cordon_gate_view *view, cordon_tally *tally,
                         cordon_refusal *ret_refusal, cordon_err *err)
{
    witness_context context = {
        .plan = plan,
        .view = view,
        .refusal = ret_refusal,
        .err = err,
    };

    if (witness_all_known(&context) != 0)
        return -1;
    for (size_t i = 0; i < sizeof(witness_rules) / sizeof(witness_rules[0]); i++) {
        if (witness_apply(&context, &witness_rules[i], tally) != 0)
            return -1;
    }
    if (witness_planned_mounts(&context) != 0)
        return -1;
    return witness_planned_address(&context);
}

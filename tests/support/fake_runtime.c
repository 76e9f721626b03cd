/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fake Podman tells its runtime of a container, made from what it was asked for and the
 * way Podman is. The fake Docker has no such thing. Written without a look at core's expectation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fake_impl.h"

typedef struct text_fact {
    cordon_fact_text *slot;
    const char *text;
} text_fact;

static cordon_fact_int number(int64_t value)
{
    return (cordon_fact_int){.known = true, .value = value};
}

static int add_all(cordon_fact_list *list, const char *const *items, size_t count, cordon_err *err)
{
    cordon_fact_list_known(list);
    for (size_t i = 0; i < count; i++) {
        if (cordon_fact_list_add(list, items[i], err) != 0)
            return -1;
    }
    return 0;
}

#define ADD(list, table) add_all((list), (table), sizeof(table) / sizeof((table)[0]), err)

static int set_texts(const cordon_container_spec *s, cordon_runtime_facts *f, cordon_err *err)
{
    const text_fact table[] = {
        {&f->working_dir, s->working_dir},
        {&f->hostname, s->hostname},
        {&f->user, s->user},
        {&f->apparmor_profile, ""},
        {&f->selinux_label, ""},
        {&f->seccomp_default, "errno"},
        {&f->root_propagation, ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (cordon_fact_text_set(table[i].slot, table[i].text, err) != 0)
            return -1;
    }
    return 0;
}

/* keep-id: the user is "uid:gid". */
static int set_user_space(const cordon_container_spec *s, cordon_runtime_facts *f, cordon_err *err)
{
    int uid_length = (int)strcspn(s->user, ":");
    if (cordon_fact_list_addf(&f->uid_map, err, "%.*s 0 1", uid_length, s->user) != 0 ||
        cordon_fact_list_addf(&f->gid_map, err, "%s 0 1", s->user + uid_length + 1) != 0)
        return -1;
    return cordon_fact_list_add(&f->namespaces, "user", err);
}

static int set_lists(const cordon_container_spec *s, cordon_runtime_facts *f, cordon_err *err)
{
    static const char *const allowed[] = {"clone", "execve", "keyctl", "mount", "read", "write"};
    static const char *const masked[] = {
        "/proc/acpi",          "/proc/kcore",       "/proc/keys",
        "/proc/latency_stats", "/proc/scsi",        "/proc/timer_list",
        "/proc/timer_stats",   "/proc/sched_debug", "/sys/firmware",
    };
    static const char *const readonly[] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                           "/proc/sysrq-trigger"};
    static const char *const spaces[] = {"cgroup", "ipc", "mount", "network", "pid", "uts"};
    static const char *const deny[] = {"deny a *:* rwm"};
    static const char *const own_sysctl[] = {"net.ipv4.ping_group_range=0 0"};
    cordon_fact_list *const empty[] = {&f->capabilities, &f->extra_groups, &f->uid_map,
                                       &f->gid_map,      &f->devices,      &f->hooks,
                                       &f->unmodelled};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++)
        cordon_fact_list_known(empty[i]);
    if (add_all(&f->argv, s->entrypoint.items, s->entrypoint.count, err) != 0 ||
        add_all(&f->argv, s->command.items, s->command.count, err) != 0 ||
        add_all(&f->environment, s->environment.items, s->environment.count, err) != 0 ||
        add_all(&f->sysctls, s->sysctls.items, s->sysctls.count, err) != 0 ||
        ADD(&f->sysctls, own_sysctl) != 0 || ADD(&f->seccomp_allowed, allowed) != 0 ||
        ADD(&f->masked_paths, masked) != 0 || ADD(&f->readonly_paths, readonly) != 0 ||
        ADD(&f->namespaces, spaces) != 0 || ADD(&f->device_rules, deny) != 0)
        return -1;
    return s->userns == CORDON_USERNS_KEEP_ID ? set_user_space(s, f, err) : 0;
}

static void set_scalars(const cordon_container_spec *s, cordon_runtime_facts *f)
{
    f->umask = number(022);
    f->tty = CORDON_FACT_NO;
    f->no_new_privileges = CORDON_FACT_YES;
    f->read_only_root = CORDON_FACT_YES;
    f->devices_denied = CORDON_FACT_YES;
    f->memory_bytes = f->memory_swap_bytes = number(s->limits.memory_bytes);
    f->nano_cpus = number(s->limits.nano_cpus);
    f->pids = number(s->limits.pids);
    f->oom_score_adj = number(s->oom_score_adj);
}

/* What the inspect shows of mounts and ulimits is what the runtime gets. */
static int take_shared(const fake_container *c, cordon_runtime_facts *f, cordon_err *err)
{
    cordon_auto(cordon_container_facts) shown = {0};
    if (fake_container_facts(c, &shown, err) != 0)
        return -1;
    f->mounts = shown.mounts;
    f->ulimits = shown.ulimits;
    shown.mounts = (cordon_mount_facts){0};
    shown.ulimits = (cordon_fact_list){0};
    for (size_t i = 0; i < f->mounts.count; i++) {
        if (f->mounts.items[i].type == CORDON_MOUNT_VOLUME) {
            f->mounts.items[i].type = CORDON_MOUNT_BIND;
            free(f->mounts.items[i].place);
            f->mounts.items[i].place = NULL;
            if (cordon_fact_text_set(&f->mounts.items[i].propagation, "rprivate", err) != 0 ||
                cordon_fact_list_add(&f->mounts.items[i].options, "noexec", err) != 0 ||
                cordon_fact_text_set(&f->mounts.items[i].source, FAKE_VOLUME_PLACE, err) != 0)
                return -1;
        }
        if (f->mounts.items[i].type == CORDON_MOUNT_BIND &&
            (cordon_fact_list_add(&f->mounts.items[i].options, "nosuid", err) != 0 ||
             cordon_fact_list_add(&f->mounts.items[i].options, "nodev", err) != 0))
            return -1;
        if (f->mounts.items[i].type != CORDON_MOUNT_IMAGE)
            continue;
        free(f->mounts.items[i].source);
        f->mounts.items[i].source = NULL;
    }
    return 0;
}

static int runtime_facts(const fake_container *c, cordon_runtime_facts *ret_facts, cordon_err *err)
{
    cordon_auto(cordon_runtime_facts) facts = {0};
    set_scalars(&c->spec, &facts);
    if (set_texts(&c->spec, &facts, err) != 0 || set_lists(&c->spec, &facts, err) != 0 ||
        take_shared(c, &facts, err) != 0)
        return -1;
    *ret_facts = facts;
    return facts = (cordon_runtime_facts){0}, 0;
}

/* With the lock held. */
static int read_runtime(fake_engine *fake, const char *id, const char *place,
                        cordon_runtime_facts *ret_facts, cordon_err *err)
{
    const fake_container *c = fake_find_container(fake, id);
    if (!fake->podman)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED, "fake: no configuration");
    if (!c || strcmp(place, FAKE_RUNTIME_CONFIG) != 0)
        return fake_not_found("configuration", err);
    /* Written when it is set up, and attaching does that. */
    if (c->peer < 0 && !c->prepared)
        return fake_not_found("configuration", err);
    return runtime_facts(c, ret_facts, err);
}

int fake_container_runtime(void *impl, const char *id, const char *place, cordon_deadline dl,
                           cordon_runtime_facts *ret_facts, cordon_err *err)
{
    fake_scope s;
    cordon_auto(cordon_runtime_facts) facts = {0};
    char role[FAKE_ROLE_SIZE] = "";
    if (fake_enter_id(&s, impl, FAKE_CONTAINER_RUNTIME, id, dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    int rc = read_runtime(s.fake, id, place, &facts, err);
    const fake_container *c = fake_find_container(s.fake, id);
    if (c)
        (void)snprintf(role, sizeof role, "%s", c->role);
    fake_unlock(s.fake);
    if (fake_leave(&s, rc, err) != 0)
        return -1;
    if (s.fake->lies.runtime)
        s.fake->lies.runtime(s.fake->lies.context, role, &facts);
    *ret_facts = facts;
    return facts = (cordon_runtime_facts){0}, 0;
}

int fake_container_prepare(void *impl, const char *id, cordon_deadline dl, cordon_err *err)
{
    fake_scope s;
    if (fake_enter_id(&s, impl, FAKE_CONTAINER_PREPARE, id, dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    fake_container *c = fake_find_container(s.fake, id);
    int rc = 0;
    if (!s.fake->podman)
        rc = CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED, "fake: no such step");
    else if (!c)
        rc = fake_not_found("container", err);
    else
        c->prepared = true;
    fake_unlock(s.fake);
    return fake_leave(&s, rc, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine shows of a container, against what it was asked to make. By tables: a fact of
 * facts.h, where it lies, and what it must be. Encoding, the daemon and decoding together must be
 * the identity.
 */
#include "contract.h"

#include <stddef.h>
#include <stdio.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define AT(fact)     #fact, offsetof(cordon_container_facts, fact)

static bool may_be_silent(const char *name)
{
    for (const char *const *s = contract_under_test->silent; s && *s; s++) {
        if (strcmp(*s, name) == 0)
            return true;
    }
    return false;
}

static void check_text(const cordon_container_facts *facts, const char *name, size_t offset,
                       const char *want)
{
    const char *got = *(const cordon_fact_text *)(const void *)((const char *)facts + offset);
    if (!got && may_be_silent(name))
        return;
    TEST_RECORDF(got && strcmp(got, want) == 0, "%s: got \"%s\", want \"%s\"", name,
                 got ? got : "(unknown)", want);
}

static void check_bool(const cordon_container_facts *facts, const char *name, size_t offset,
                       bool want)
{
    cordon_fact_bool got;
    memcpy(&got, (const char *)facts + offset, sizeof got);
    if (got == CORDON_FACT_UNKNOWN && may_be_silent(name))
        return;
    TEST_RECORDF(got == (want ? CORDON_FACT_YES : CORDON_FACT_NO), "%s: got %d, want %d", name, got,
                 want);
}

static void check_int(const cordon_container_facts *facts, const char *name, size_t offset,
                      int64_t want)
{
    cordon_fact_int got;
    memcpy(&got, (const char *)facts + offset, sizeof got);
    if (!got.known && may_be_silent(name))
        return;
    TEST_RECORDF(got.known && got.value == want, "%s: got %s %lld, want %lld", name,
                 got.known ? "known" : "unknown", (long long)got.value, (long long)want);
}

static bool has(const cordon_fact_list *list, const char *item)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], item) == 0)
            return true;
    }
    return false;
}

static const char *shown(const cordon_fact_list *list, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list->count && used < size - 1; i++) {
        int n = snprintf(text + used, size - used, "[%s]", list->items[i]);
        used += n > 0 ? (size_t)n : 0;
    }
    return text;
}

static void check_list(const cordon_container_facts *facts, const char *name, size_t offset,
                       const char *const *want, size_t count, bool ordered)
{
    const cordon_fact_list *got = (const void *)((const char *)facts + offset);
    char text[256];
    if (!got->known && may_be_silent(name))
        return;
    bool same = got->known && got->count == count;
    for (size_t i = 0; same && i < count; i++)
        same = ordered ? strcmp(got->items[i], want[i]) == 0 : has(got, want[i]);
    TEST_RECORDF(same, "%s: got %s%s, want %zu items like \"%s\"", name,
                 got->known ? "" : "(unknown)", shown(got, text, sizeof text), count,
                 count > 0 ? want[0] : "");
}

static void check_texts(const cordon_container_spec *spec, const char *id,
                        const cordon_container_facts *facts)
{
    const struct {
        const char *name;
        size_t offset;
        const char *want;
    } rows[] = {
        {AT(id), id},
        {AT(name), spec->name},
        {AT(image_id), spec->image_id},
        {AT(error), ""},
        {AT(user), spec->user},
        {AT(working_dir), spec->working_dir},
        {AT(hostname), spec->hostname},
        {AT(domainname), ""},
        {AT(stop_signal), "SIGTERM"},
        {AT(pid_mode), "private"},
        {AT(ipc_mode), "private"},
        {AT(uts_mode), "private"},
        {AT(user_mode), spec->userns == CORDON_USERNS_KEEP_ID ? "keep-id" : "host"},
        {AT(cgroup_mode), "private"},
        {AT(network_mode), spec->endpoint_count > 0 ? "network" : "none"},
        {AT(cgroup_parent), ""},
        {AT(restart_policy), "no"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        check_text(facts, rows[i].name, rows[i].offset, rows[i].want);
}

static void check_bools(const cordon_container_spec *spec, const cordon_container_facts *facts)
{
    const struct {
        const char *name;
        size_t offset;
        bool want;
    } rows[] = {
        {AT(oom_killed), false},
        {AT(tty), false},
        {AT(open_stdin), spec->open_stdin},
        {AT(stdin_once), spec->open_stdin},
        {AT(init), false},
        {AT(privileged), false},
        {AT(no_new_privileges), true},
        {AT(read_only_root), true},
        {AT(publish_all), false},
        {AT(oom_kill_disable), false},
        {AT(auto_remove), false},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        check_bool(facts, rows[i].name, rows[i].offset, rows[i].want);
}

static void check_ints(const cordon_container_spec *spec, const cordon_container_facts *facts)
{
    const struct {
        const char *name;
        size_t offset;
        int64_t want;
    } rows[] = {
        {AT(restart_count), 0},
        {AT(stop_timeout_s), spec->stop_timeout_s},
        {AT(memory_bytes), spec->limits.memory_bytes},
        {AT(memory_swap_bytes), spec->limits.memory_bytes},
        {AT(nano_cpus), spec->limits.nano_cpus},
        {AT(pids), spec->limits.pids},
        {AT(shm_bytes), spec->limits.shm_bytes},
        {AT(oom_score_adj), spec->oom_score_adj},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        check_int(facts, rows[i].name, rows[i].offset, rows[i].want);
}

/* Everything that the contract fixes to nothing. */
static void check_empties(const cordon_container_facts *facts)
{
    static const struct {
        const char *name;
        size_t offset;
    } rows[] = {
        {AT(exec_ids)},        {AT(capabilities)},  {AT(security_options)}, {AT(extra_groups)},
        {AT(volumes_from)},    {AT(image_volumes)}, {AT(devices)},          {AT(secrets)},
        {AT(published_ports)}, {AT(exposed_ports)}, {AT(dns_search)},       {AT(dns_options)},
        {AT(extra_hosts)},     {AT(links)},         {AT(unmodelled)},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        check_list(facts, rows[i].name, rows[i].offset, NULL, 0, false);
}

static void check_argv(const cordon_container_spec *spec, const cordon_container_facts *facts)
{
    const char *argv[8];
    size_t count = 0;
    for (size_t i = 0; i < spec->entrypoint.count && count < COUNT(argv); i++)
        argv[count++] = spec->entrypoint.items[i];
    for (size_t i = 0; i < spec->command.count && count < COUNT(argv); i++)
        argv[count++] = spec->command.items[i];
    check_list(facts, AT(argv), argv, count, true);
    check_list(facts, AT(entrypoint), spec->entrypoint.items, spec->entrypoint.count, true);
    check_list(facts, AT(command), spec->command.items, spec->command.count, true);
}

static bool engine_adds(const char *item)
{
    for (const char *const *a = contract_under_test->adds_env; a && *a; a++) {
        if (strncmp(item, *a, strlen(*a)) == 0)
            return true;
    }
    return false;
}

static void check_environment(const cordon_container_spec *spec,
                              const cordon_container_facts *facts)
{
    const cordon_fact_list *got = &facts->environment;
    cordon_fact_list want = {.count = spec->environment.count};
    char *items[8];
    for (size_t i = 0; i < want.count && i < COUNT(items); i++) {
        TEST_RECORDF(has(got, spec->environment.items[i]), "environment lacks %s",
                     spec->environment.items[i]);
        items[i] = (char *)(uintptr_t)spec->environment.items[i];
    }
    want.items = items;
    for (size_t i = 0; i < got->count; i++)
        TEST_RECORDF(has(&want, got->items[i]) || engine_adds(got->items[i]), "environment has %s",
                     got->items[i]);
    CHECK(got->known);
}

static void check_paths(const cordon_container_facts *facts)
{
    static const char *const masked[] = {"/proc/kcore", "/proc/keys", "/proc/timer_list",
                                         "/sys/firmware"};
    static const char *const readonly[] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                           "/proc/sysrq-trigger"};
    for (size_t i = 0;
         i < COUNT(masked) && !(may_be_silent("masked_paths") && !facts->masked_paths.known); i++)
        TEST_RECORDF(has(&facts->masked_paths, masked[i]), "masked_paths lacks %s", masked[i]);
    for (size_t i = 0;
         i < COUNT(readonly) && !(may_be_silent("readonly_paths") && !facts->readonly_paths.known);
         i++)
        TEST_RECORDF(has(&facts->readonly_paths, readonly[i]), "readonly_paths lacks %s",
                     readonly[i]);
}

static void check_ulimits(const cordon_container_spec *spec, const cordon_container_facts *facts)
{
    char files[64];
    char processes[64];
    (void)snprintf(files, sizeof files, "nofile=%lld:%lld", (long long)spec->limits.open_files,
                   (long long)spec->limits.open_files);
    (void)snprintf(processes, sizeof processes, "nproc=%lld:%lld",
                   (long long)spec->limits.user_processes, (long long)spec->limits.user_processes);
    const char *want[] = {"core=0:0", files, processes};
    check_list(facts, AT(ulimits), want, COUNT(want), true);
}

static const cordon_mount_fact *find_mount(const cordon_container_facts *facts, const char *target)
{
    for (size_t i = 0; i < facts->mounts.count; i++) {
        const cordon_mount_fact *mount = &facts->mounts.items[i];
        if (mount->target && strcmp(mount->target, target) == 0)
            return mount;
    }
    return NULL;
}

static void check_tmpfs(const cordon_mount_spec *want, const cordon_mount_fact *got)
{
    char size[32];
    char mode[32];
    (void)snprintf(size, sizeof size, "size=%lld", (long long)want->size_bytes);
    (void)snprintf(mode, sizeof mode, "mode=%o", want->mode_octal);
    CHECK(got->options.known);
    CHECK(has(&got->options, "nosuid") && has(&got->options, "nodev"));
    CHECK(has(&got->options, "noexec") == want->no_exec);
    CHECK(has(&got->options, size) && has(&got->options, mode));
    CHECK_INT(got->options.count, want->no_exec ? 5 : 4);
    CHECK_STR(got->source, "");
}

static void check_mounts(const cordon_container_spec *spec, const cordon_container_facts *facts)
{
    CHECK(facts->mounts.known);
    CHECK_INT(facts->mounts.count, spec->mount_count);
    for (size_t i = 0; i < spec->mount_count; i++) {
        const cordon_mount_spec *want = &spec->mounts[i];
        const cordon_mount_fact *got = find_mount(facts, want->target);
        if (!TEST_RECORDF(got != NULL, "no mount at %s", want->target))
            continue;
        CHECK_INT(got->type, want->type);
        CHECK_INT(got->read_only, want->read_only ? CORDON_FACT_YES : CORDON_FACT_NO);
        if (want->type == CORDON_MOUNT_TMPFS)
            check_tmpfs(want, got);
        if (want->type == CORDON_MOUNT_BIND) {
            CHECK_STR(got->source, want->source);
            CHECK_STR(got->propagation, "rprivate");
            CHECK(has(&got->options, "nonrecursive"));
        }
    }
}

static const cordon_endpoint_fact *find_endpoint(const cordon_container_facts *facts,
                                                 const char *key)
{
    for (size_t i = 0; i < facts->endpoints.count; i++) {
        if (strcmp(facts->endpoints.items[i].network_key, key) == 0)
            return &facts->endpoints.items[i];
    }
    return NULL;
}

static void check_endpoints(const cordon_container_spec *spec, cordon_run_state state,
                            const cordon_container_facts *facts)
{
    CHECK(facts->endpoints.known);
    CHECK_INT(facts->endpoints.count, spec->endpoint_count);
    for (size_t i = 0; i < spec->endpoint_count; i++) {
        const cordon_endpoint_spec *want = &spec->endpoints[i];
        const cordon_endpoint_fact *got = find_endpoint(facts, want->network_name);
        if (!TEST_RECORDF(got != NULL, "no endpoint on %s", want->network_name))
            continue;
        /* an engine that shows no id here says so by NULL; another id is never right */
        CHECK(!got->network_id || strcmp(got->network_id, want->network_id) == 0);
        CHECK(!got->requested_ipv4 || strcmp(got->requested_ipv4, want->ipv4) == 0);
        CHECK(!got->ipv6 || got->ipv6[0] == '\0');
        if (state == CORDON_STATE_RUNNING)
            CHECK_STR(got->ipv4, want->ipv4);
    }
}

void check_container_facts(const session *s, const cordon_container_spec *spec, const char *id,
                           cordon_run_state state, const cordon_container_facts *facts)
{
    (void)s;
    CHECK_STR(cordon_run_state_name(facts->state), cordon_run_state_name(state));
    check_texts(spec, id, facts);
    check_bools(spec, facts);
    check_ints(spec, facts);
    check_empties(facts);
    check_argv(spec, facts);
    check_environment(spec, facts);
    check_paths(facts);
    check_ulimits(spec, facts);
    check_list(facts, AT(labels), spec->labels.items, spec->labels.count, false);
    check_list(facts, AT(dns_servers), spec->dns_servers.items, spec->dns_servers.count, true);
    check_list(facts, AT(sysctls), spec->sysctls.items, spec->sysctls.count, false);
    CHECK(facts->healthcheck.count == 0 ||
          (facts->healthcheck.count == 1 && strcmp(facts->healthcheck.items[0], "NONE") == 0));
    CHECK(facts->pid.known && (facts->pid.value > 0) == (state == CORDON_STATE_RUNNING));
    check_mounts(spec, facts);
    check_endpoints(spec, state, facts);
}

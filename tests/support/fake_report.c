/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of a gate that finds everything as it should be, in the spelling of
 * gate/protocol.h.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "support/fake_impl.h"

/* What is the same in every step container: the kernel's side of a hardened runc. */
static const char *const constant[] = {
    "cap.inheritable=0000000000000000",
    "cap.permitted=0000000000000000",
    "cap.effective=0000000000000000",
    "cap.bounding=0000000000000000",
    "cap.ambient=0000000000000000",
    "no_new_privs=1",
    "seccomp.mode=2",
    "seccomp.filters=1",
    "securebits=0",
    "dumpable=1",
    "pid=1",
    "mount=/\toverlay\tro,relatime\trw\toverlay\t/",
    "mount=/proc\tproc\trw,nosuid,nodev,noexec,relatime\trw\tproc\t/",
    "mount=/dev\ttmpfs\trw,nosuid\trw,size=65536k,mode=755\ttmpfs\t/",
    "mount=/dev/pts\tdevpts\trw,nosuid,noexec,relatime\trw\tdevpts\t/",
    "mount=/dev/shm\ttmpfs\trw,nosuid,nodev,noexec,relatime\trw\tshm\t/",
    "mount=/dev/mqueue\tmqueue\trw,nosuid,nodev,noexec,relatime\trw\tmqueue\t/",
    "mount=/sys\tsysfs\tro,nosuid,nodev,noexec,relatime\tro\tsysfs\t/",
    "mount=/sys/fs/cgroup\tcgroup2\tro,nosuid,nodev,noexec,relatime\trw\tcgroup\t/",
    "mount=/etc/resolv.conf\text4\trw,relatime\trw\t/dev/sda1\t/resolv.conf",
    "mount=/etc/hostname\text4\trw,relatime\trw\t/dev/sda1\t/hostname",
    "mount=/etc/hosts\text4\trw,relatime\trw\t/dev/sda1\t/hosts",
    "mount=/proc/bus\tproc\tro,nosuid,nodev,noexec,relatime\trw\tproc\t/bus",
    "mount=/proc/sys\tproc\tro,nosuid,nodev,noexec,relatime\trw\tproc\t/sys",
    "mount=/proc/kcore\ttmpfs\trw,nosuid\trw\ttmpfs\t/null",
    "mount=/sys/firmware\ttmpfs\tro,relatime\tro\ttmpfs\t/",
    "interface=lo up mtu 65536 flags 0x49",
    "interface=eth0 up mtu 1500 flags 0x1043",
    "address=lo 127.0.0.1/8",
    "resolv=nameserver 127.0.0.1",
    "hosts=127.0.0.1\tlocalhost",
    "fd=0 pipe:[1]",
    "fd=1 pipe:[2]",
    "fd=2 pipe:[3]",
    "limit=core 0 0",
    "limit=cpu unlimited unlimited",
    "ns=cgroup:[4026532001]",
    "ns=ipc:[4026532002]",
    "ns=mnt:[4026532003]",
    "ns=net:[4026532004]",
    "ns=pid:[4026532005]",
    "ns=user:[4026531837]",
    "ns=uts:[4026532006]",
    "cgroup=0::/",
    "uid_map=0 0 4294967295",
    "gid_map=0 0 4294967295",
    "masked=/proc/kcore empty",
    "masked=/proc/sysrq-trigger readonly",
    "device=null c 1:3",
    "device=zero c 1:5",
    "device=full c 1:7",
    "device=random c 1:8",
    "device=urandom c 1:9",
    "device=tty c 5:0",
    "landlock.abi=7",
    "denied=add_key refused",
    "denied=bpf refused",
    "denied=kcmp refused",
    "denied=move_pages refused",
    "denied=open_by_handle_at refused",
    "denied=perf_event_open refused",
    "denied=personality refused",
    "denied=quotactl refused",
    "denied=request_key refused",
    "denied=userfaultfd refused",
};

static int add_constant(cordon_fact_list *facts, cordon_err *err)
{
    for (size_t i = 0; i < sizeof constant / sizeof constant[0]; i++) {
        if (cordon_fact_list_add(facts, constant[i], err) != 0)
            return -1;
    }
    return 0;
}

static int add_ids(const cordon_container_spec *spec, cordon_fact_list *facts, cordon_err *err)
{
    int uid = (int)strcspn(spec->user, ":");
    const char *gid = spec->user + uid + (spec->user[uid] == ':' ? 1 : 0);
    if (cordon_fact_list_addf(facts, err, "uid=%.*s %.*s %.*s %.*s", uid, spec->user, uid,
                              spec->user, uid, spec->user, uid, spec->user) != 0)
        return -1;
    return cordon_fact_list_addf(facts, err, "gid=%s %s %s %s", gid, gid, gid, gid);
}

static int add_texts(const char *key, cordon_texts texts, cordon_fact_list *facts, cordon_err *err)
{
    for (size_t i = 0; i < texts.count; i++) {
        if (cordon_fact_list_addf(facts, err, "%s=%s", key, texts.items[i]) != 0)
            return -1;
    }
    return 0;
}

static int add_process(const cordon_container_spec *spec, cordon_fact_list *facts, cordon_err *err)
{
    long long files = spec->limits.open_files;
    long long processes = spec->limits.user_processes;
    if (add_texts("argv", spec->entrypoint, facts, err) != 0 ||
        add_texts("argv", spec->command, facts, err) != 0 ||
        add_texts("env", spec->environment, facts, err) != 0 ||
        cordon_fact_list_addf(facts, err, "hostname=%s", spec->hostname) != 0 ||
        cordon_fact_list_addf(facts, err, "working_dir=%s", spec->working_dir) != 0 ||
        cordon_fact_list_addf(facts, err, "limit=nofile %lld %lld", files, files) != 0)
        return -1;
    return cordon_fact_list_addf(facts, err, "limit=nproc %lld %lld", processes, processes);
}

static int add_mounts(const cordon_container_spec *spec, cordon_fact_list *facts, cordon_err *err)
{
    for (size_t i = 0; i < spec->mount_count; i++) {
        const cordon_mount_spec *mount = &spec->mounts[i];
        bool volume = mount->type == CORDON_MOUNT_VOLUME;
        bool memory = mount->type == CORDON_MOUNT_TMPFS || volume;
        char bound[64] = "rw";
        if (volume)
            (void)snprintf(bound, sizeof bound, "rw,size=%lldk",
                           (long long)(mount->size_bytes / 1024));
        /* An image mount is an overlay that is read-only as a file system. */
        bool image = mount->type == CORDON_MOUNT_IMAGE;
        if (cordon_fact_list_addf(facts, err, "mount=%s\t%s\t%s,nosuid,nodev%s\t%s\t%s\t/",
                                  mount->target,
                                  memory  ? "tmpfs"
                                  : image ? "overlay"
                                          : "ext4",
                                  mount->read_only ? "ro" : "rw", mount->no_exec ? ",noexec" : "",
                                  image ? "ro" : bound,
                                  memory  ? "tmpfs"
                                  : image ? "overlay"
                                          : "/dev/sda1") != 0)
            return -1;
    }
    return 0;
}

/* Of a folder that is not there: device and inode 0, as in a plan that names none. */
static int add_folders(const fake_container *container, cordon_fact_list *facts, cordon_err *err)
{
    const cordon_container_spec *spec = &container->spec;
    for (size_t i = 0; i < spec->mount_count; i++) {
        struct stat st = {0};
        if (spec->mounts[i].type == CORDON_MOUNT_VOLUME &&
            cordon_fact_list_addf(facts, err, "folder=%s 0:%u 1", spec->mounts[i].target,
                                  100 + container->fake->remounts) != 0)
            return -1;
        if (spec->mounts[i].type != CORDON_MOUNT_BIND)
            continue;
        if (stat(spec->mounts[i].source, &st) < 0)
            st = (struct stat){0};
        if (cordon_fact_list_addf(facts, err, "folder=%s %u:%u %llu", spec->mounts[i].target,
                                  major(st.st_dev), minor(st.st_dev),
                                  (unsigned long long)st.st_ino) != 0)
            return -1;
    }
    return 0;
}

/* Networks never go before the fake does, so the text stays. */
static const char *prefix_of(const fake_container *container, const char *network_id)
{
    const char *prefix = "0.0.0.0/0";
    fake_lock(container->fake);
    for (size_t i = 0; i < container->fake->network_count; i++) {
        const fake_network *network = container->fake->networks[i];
        if (strcmp(network->id, network_id) == 0)
            prefix = network->spec.subnet;
    }
    fake_unlock(container->fake);
    return prefix;
}

static int add_network(const fake_container *container, cordon_fact_list *facts, cordon_err *err)
{
    for (size_t i = 0; i < container->spec.endpoint_count; i++) {
        const cordon_endpoint_spec *endpoint = &container->spec.endpoints[i];
        const char *subnet = prefix_of(container, endpoint->network_id);
        if (cordon_fact_list_addf(facts, err, "address=eth%zu %s%s", i, endpoint->ipv4,
                                  strchr(subnet, '/')) != 0 ||
            cordon_fact_list_addf(facts, err, "route=%s via none dev eth%zu", subnet, i) != 0)
            return -1;
    }
    return 0;
}

/* "net.ipv4.ip_forward=0" is reported as "net.ipv4.ip_forward 0". */
static int add_sysctls(const cordon_container_spec *spec, cordon_fact_list *facts, cordon_err *err)
{
    for (size_t i = 0; i < spec->sysctls.count; i++) {
        const char *text = spec->sysctls.items[i];
        int key = (int)strcspn(text, "=");
        if (cordon_fact_list_addf(facts, err, "sysctl=%.*s %s", key, text, text + key + 1) != 0)
            return -1;
    }
    return 0;
}

static int add_cgroup(const cordon_container_spec *spec, cordon_fact_list *facts, cordon_err *err)
{
    if (spec->limits.memory_bytes > 0 &&
        cordon_fact_list_addf(facts, err, "cgroup.memory.max=%lld",
                              (long long)spec->limits.memory_bytes) != 0)
        return -1;
    if (spec->limits.pids > 0 && cordon_fact_list_addf(facts, err, "cgroup.pids.max=%lld",
                                                       (long long)spec->limits.pids) != 0)
        return -1;
    return 0;
}

int fake_report(const fake_container *container, cordon_fact_list *ret_facts, cordon_err *err)
{
    cordon_auto(cordon_fact_list) facts = {0};
    const cordon_container_spec *spec = &container->spec;
    if (add_ids(spec, &facts, err) != 0 || add_constant(&facts, err) != 0 ||
        add_process(spec, &facts, err) != 0 || add_mounts(spec, &facts, err) != 0 ||
        add_folders(container, &facts, err) != 0 || add_network(container, &facts, err) != 0 ||
        add_sysctls(spec, &facts, err) != 0 || add_cgroup(spec, &facts, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_fact_list){0};
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Specification -> the JSON that libpod's create calls take (pkg/specgen SpecGenerator, and
 * libnetwork types.Network). Pure. Everything is said, also what is off: an engine's or
 * containers.conf's default never decides.
 */
#include "podman_internal.h"

#include <stdio.h>
#include <string.h>

#include "kit/hash.h"
#include "kit/jsonw.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

#define LOG_MAX_BYTES INT64_C(1048576)
#define CPU_PERIOD_US INT64_C(100000)
#define NS_PER_US     INT64_C(1000)
#define SIGNAL_TERM   15

typedef enum fixed_kind {
    FIXED_FALSE = 0,
    FIXED_TRUE,
    FIXED_TEXT,
    FIXED_NONE_OF, /* [] */
    FIXED_NO_MAP,  /* {} */
    FIXED_SPACE,   /* a namespace: {"nsmode": text} */
} fixed_kind;

typedef struct fixed_member {
    const char *key;
    fixed_kind kind;
    const char *text;
} fixed_member;

/* What the contract of spec.h fixes for every container. */
static const fixed_member container_fixed[] = {
    /* process */
    {"terminal", FIXED_FALSE, NULL},
    {"env_host", FIXED_FALSE, NULL},   /* true copies the service's own environment */
    {"httpproxy", FIXED_FALSE, NULL},  /* true, the default, copies its proxy variables */
    {"unsetenvall", FIXED_TRUE, NULL}, /* no image, containers.conf or built-in variables */
    {"init", FIXED_FALSE, NULL},
    {"systemd", FIXED_TEXT, "false"}, /* guessing by the command's name would add mounts */
    {"sdnotifyMode", FIXED_TEXT, "ignore"},
    {"umask", FIXED_TEXT, "0022"},
    /* privileges */
    {"privileged", FIXED_FALSE, NULL},
    {"cap_add", FIXED_NONE_OF, NULL},
    {"no_new_privileges", FIXED_TRUE, NULL},
    {"seccomp_policy", FIXED_TEXT, "default"},
    {"selinux_opts", FIXED_NONE_OF, NULL},
    {"groups", FIXED_NONE_OF, NULL},
    /* namespaces */
    {"pidns", FIXED_SPACE, "private"},
    {"ipcns", FIXED_SPACE, "private"},
    {"utsns", FIXED_SPACE, "private"},
    {"cgroupns", FIXED_SPACE, "private"},
    /* file systems */
    {"read_only_filesystem", FIXED_TRUE, NULL},
    {"read_write_tmpfs", FIXED_FALSE, NULL}, /* true adds writable /run, /tmp and /var/tmp */
    {"image_volume_mode", FIXED_TEXT, "ignore"},
    {"overlay_volumes", FIXED_NONE_OF, NULL},
    {"volumes_from", FIXED_NONE_OF, NULL},
    {"devices", FIXED_NONE_OF, NULL},
    {"secrets", FIXED_NONE_OF, NULL},
    /* network; use_image_hosts: no /etc/hosts of the engine's, which would copy the host's */
    {"use_image_hosts", FIXED_TRUE, NULL},
    {"publish_image_ports", FIXED_FALSE, NULL},
    {"portmappings", FIXED_NONE_OF, NULL},
    {"expose", FIXED_NO_MAP, NULL},
    {"dns_option", FIXED_NONE_OF, NULL},
    /* life cycle */
    {"restart_policy", FIXED_TEXT, "no"},
    {"remove", FIXED_FALSE, NULL},
};

static void write_space(cordon_jsonw *w, const char *key, const char *mode)
{
    cordon_jsonw_begin_object(w, key);
    cordon_jsonw_string(w, "nsmode", mode);
    cordon_jsonw_end_object(w);
}

/* keep-id by itself maps the number of the engine's own user, whom nobody here knows by it. */
static void write_userns(cordon_jsonw *w, const cordon_container_spec *spec)
{
    bool keep = spec->userns == CORDON_USERNS_KEEP_ID;
    const char *colon = spec->user ? strchr(spec->user, ':') : NULL;
    char value[64];
    cordon_jsonw_begin_object(w, "userns");
    cordon_jsonw_string(w, "nsmode", keep ? "keep-id" : "host");
    if (keep && colon) {
        (void)snprintf(value, sizeof value, "uid=%.*s,gid=%s", (int)(colon - spec->user),
                       spec->user, colon + 1);
        cordon_jsonw_string(w, "value", value);
    }
    cordon_jsonw_end_object(w);
}

static void write_texts(cordon_jsonw *w, const char *key, cordon_texts texts)
{
    cordon_jsonw_begin_array(w, key);
    for (size_t i = 0; i < texts.count; i++)
        cordon_jsonw_string(w, NULL, texts.items[i]);
    cordon_jsonw_end_array(w);
}

static void write_one(cordon_jsonw *w, const char *key, const char *text)
{
    write_texts(w, key, (cordon_texts){.items = &text, .count = 1});
}

static void write_fixed(cordon_jsonw *w, const fixed_member *member)
{
    switch (member->kind) {
    case FIXED_FALSE:
    case FIXED_TRUE:
        cordon_jsonw_bool(w, member->key, member->kind == FIXED_TRUE);
        return;
    case FIXED_TEXT:
        cordon_jsonw_string(w, member->key, member->text);
        return;
    case FIXED_NONE_OF:
        write_texts(w, member->key, (cordon_texts){0});
        return;
    case FIXED_NO_MAP:
        cordon_jsonw_begin_object(w, member->key);
        cordon_jsonw_end_object(w);
        return;
    case FIXED_SPACE:
        write_space(w, member->key, member->text);
        return;
    }
}

/* "key=value" texts as an object. SECURITY: a key twice would be one of the two, unknown which. */
static int write_map(cordon_jsonw *w, const char *key, cordon_texts texts, cordon_err *err)
{
    cordon_jsonw_begin_object(w, key);
    for (size_t i = 0; i < texts.count; i++) {
        const char *item = texts.items[i];
        size_t length = strcspn(item, "=");
        if (length == 0 || item[length] != '=')
            return CORDON_FAIL(err, CORDON_ERR_INVALID, "%s: \"%s\" is not KEY=VALUE", key,
                               CORDON_QUOTE(item));
        for (size_t k = 0; k < i; k++) {
            if (strncmp(texts.items[k], item, length + 1) == 0)
                return CORDON_FAIL(err, CORDON_ERR_INVALID, "%s: \"%s\" is given twice", key,
                                   CORDON_QUOTE(item));
        }
        cordon_auto(cordon_buf) name = cordon_buf_make(length);
        if (cordon_buf_append(&name, item, length, err) != 0)
            return -1;
        cordon_jsonw_string(w, cordon_buf_text(&name), item + length + 1);
    }
    cordon_jsonw_end_object(w);
    return 0;
}

int podman_encode_network(const cordon_network_spec *spec, cordon_buf *out, cordon_err *err)
{
    cordon_jsonw w;
    if (spec->no_gateway && !spec->internal)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "a network with a way out needs a gateway");
    cordon_jsonw_init(&w, out);
    cordon_jsonw_begin_object(&w, NULL);
    cordon_jsonw_string(&w, "name", spec->name);
    cordon_jsonw_string(&w, "driver", "bridge");
    /* internal, without DNS and without a gateway given: then the bridge gets no address */
    cordon_jsonw_bool(&w, "internal", spec->internal);
    cordon_jsonw_bool(&w, "dns_enabled", false);
    cordon_jsonw_bool(&w, "ipv6_enabled", false);
    cordon_jsonw_begin_array(&w, "subnets");
    cordon_jsonw_begin_object(&w, NULL);
    cordon_jsonw_string(&w, "subnet", spec->subnet);
    cordon_jsonw_end_object(&w);
    cordon_jsonw_end_array(&w);
    cordon_jsonw_begin_object(&w, "options");
    if (spec->isolated)
        cordon_jsonw_string(&w, "isolate", "true");
    cordon_jsonw_end_object(&w);
    if (write_map(&w, "labels", spec->labels, err) != 0)
        return -1;
    cordon_jsonw_end_object(&w);
    return cordon_jsonw_finish(&w, err);
}

static void write_endpoint(cordon_jsonw *w, const cordon_endpoint_spec *endpoint)
{
    if (endpoint->ipv4)
        write_one(w, "static_ips", endpoint->ipv4);
    /* without a name, eth0 and eth1 are dealt out in random order */
    if (endpoint->interface)
        cordon_jsonw_string(w, "interface_name", endpoint->interface);
}

int podman_encode_connect(const char *container_id, const cordon_endpoint_spec *endpoint,
                          cordon_buf *out, cordon_err *err)
{
    cordon_jsonw w;
    cordon_jsonw_init(&w, out);
    cordon_jsonw_begin_object(&w, NULL);
    cordon_jsonw_string(&w, "container", container_id);
    write_endpoint(&w, endpoint);
    cordon_jsonw_end_object(&w);
    return cordon_jsonw_finish(&w, err);
}

/* Networks by id: libpod looks the id up now and keeps the network's name. */
static int write_networks(cordon_jsonw *w, const cordon_container_spec *spec, cordon_err *err)
{
    write_space(w, "netns", spec->endpoint_count > 0 ? "bridge" : "none");
    cordon_jsonw_begin_object(w, "networks");
    for (size_t i = 0; i < spec->endpoint_count; i++) {
        const cordon_endpoint_spec *endpoint = &spec->endpoints[i];
        if (podman_need_id(endpoint->network_id, err) != 0)
            return -1;
        cordon_jsonw_begin_object(w, endpoint->network_id);
        write_endpoint(w, endpoint);
        cordon_jsonw_end_object(w);
    }
    cordon_jsonw_end_object(w);
    return 0;
}

static int write_tmpfs_options(cordon_jsonw *w, const cordon_mount_spec *mount, cordon_err *err)
{
    cordon_auto(cordon_buf) size = cordon_buf_make(64);
    cordon_auto(cordon_buf) mode = cordon_buf_make(64);
    if (mount->size_bytes <= 0)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "tmpfs \"%s\" without a size",
                           CORDON_QUOTE(mount->target));
    if (cordon_buf_printf(&size, err, "size=%lld", (long long)mount->size_bytes) != 0 ||
        cordon_buf_printf(&mode, err, "mode=%o", mount->mode_octal) != 0)
        return -1;
    cordon_jsonw_string(w, NULL, cordon_buf_text(&size));
    cordon_jsonw_string(w, NULL, cordon_buf_text(&mode));
    /* else the image's files below the target would be copied in */
    cordon_jsonw_string(w, NULL, "notmpcopyup");
    return 0;
}

static int write_mount(cordon_jsonw *w, const cordon_mount_spec *mount, cordon_err *err)
{
    bool bind = mount->type == CORDON_MOUNT_BIND;
    cordon_jsonw_begin_object(w, NULL);
    cordon_jsonw_string(w, "type", bind ? "bind" : "tmpfs");
    cordon_jsonw_string(w, "source", bind ? mount->source : "tmpfs");
    cordon_jsonw_string(w, "destination", mount->target);
    cordon_jsonw_begin_array(w, "options");
    if (bind) {
        cordon_jsonw_string(w, NULL, "bind"); /* not "rbind": nothing that is mounted below */
        cordon_jsonw_string(w, NULL, "rprivate");
    }
    cordon_jsonw_string(w, NULL, mount->read_only ? "ro" : "rw");
    cordon_jsonw_string(w, NULL, "nosuid");
    cordon_jsonw_string(w, NULL, "nodev");
    if (mount->no_exec)
        cordon_jsonw_string(w, NULL, "noexec");
    if (!bind && write_tmpfs_options(w, mount, err) != 0)
        return -1;
    cordon_jsonw_end_array(w);
    cordon_jsonw_end_object(w);
    return 0;
}

static int write_image_mount(cordon_jsonw *w, const cordon_mount_spec *mount, cordon_err *err)
{
    if (podman_need_id(mount->source, err) != 0)
        return -1;
    if (!mount->read_only)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "image mount \"%s\" must be read-only",
                           CORDON_QUOTE(mount->target));
    cordon_jsonw_begin_object(w, NULL);
    cordon_jsonw_string(w, "Source", mount->source);
    cordon_jsonw_string(w, "Destination", mount->target);
    cordon_jsonw_bool(w, "ReadWrite", false);
    cordon_jsonw_end_object(w);
    return 0;
}

static int write_volume(cordon_jsonw *w, const cordon_mount_spec *mount, cordon_err *err)
{
    static const char *const options[] = {"rw", "rprivate", "nosuid", "nodev", "noexec", "nocopy"};
    if (podman_need_volume(mount->source, err) != 0)
        return -1;
    if (mount->read_only)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "volume \"%s\" must be writable",
                           CORDON_QUOTE(mount->target));
    cordon_jsonw_begin_object(w, NULL);
    cordon_jsonw_string(w, "Name", mount->source);
    cordon_jsonw_string(w, "Dest", mount->target);
    write_texts(w, "Options", (cordon_texts){.items = options, .count = COUNT(options)});
    cordon_jsonw_end_object(w);
    return 0;
}

static int write_volumes(cordon_jsonw *w, const cordon_container_spec *spec, cordon_err *err)
{
    cordon_jsonw_begin_array(w, "volumes");
    for (size_t i = 0; i < spec->mount_count; i++) {
        if (spec->mounts[i].type == CORDON_MOUNT_VOLUME &&
            write_volume(w, &spec->mounts[i], err) != 0)
            return -1;
    }
    cordon_jsonw_end_array(w);
    return 0;
}

static int write_mounts(cordon_jsonw *w, const cordon_container_spec *spec, cordon_err *err)
{
    cordon_jsonw_begin_array(w, "mounts");
    for (size_t i = 0; i < spec->mount_count; i++) {
        const cordon_mount_spec *mount = &spec->mounts[i];
        if (mount->type == CORDON_MOUNT_IMAGE || mount->type == CORDON_MOUNT_VOLUME)
            continue;
        if (mount->type != CORDON_MOUNT_BIND && mount->type != CORDON_MOUNT_TMPFS)
            return CORDON_FAIL(err, CORDON_ERR_INVALID,
                               "mount \"%s\" has a type that no "
                               "specification may have",
                               CORDON_QUOTE(mount->target));
        if (write_mount(w, mount, err) != 0)
            return -1;
    }
    cordon_jsonw_end_array(w);
    cordon_jsonw_begin_array(w, "image_volumes");
    for (size_t i = 0; i < spec->mount_count; i++) {
        if (spec->mounts[i].type == CORDON_MOUNT_IMAGE &&
            write_image_mount(w, &spec->mounts[i], err) != 0)
            return -1;
    }
    cordon_jsonw_end_array(w);
    return write_volumes(w, spec, err);
}

static void write_group(cordon_jsonw *w, const char *key, const char *first, int64_t first_value,
                        const char *second, int64_t second_value)
{
    cordon_jsonw_begin_object(w, key);
    cordon_jsonw_i64(w, first, first_value);
    if (second)
        cordon_jsonw_i64(w, second, second_value);
    cordon_jsonw_end_object(w);
}

/* Nothing is sent for 0, not even {}: rootless on cgroup v1 answers it with a warning. */
static int write_cgroup_limits(cordon_jsonw *w, const cordon_limits_spec *limits, cordon_err *err)
{
    int64_t quota_us = limits->nano_cpus / (NS_PER_US * 10);
    if (quota_us * NS_PER_US * 10 != limits->nano_cpus)
        return CORDON_FAIL(err, CORDON_ERR_INVALID,
                           "%lld nano CPUs: Podman takes multiples of "
                           "10000",
                           (long long)limits->nano_cpus);
    if (limits->memory_bytes + limits->nano_cpus + limits->pids == 0)
        return 0;
    cordon_jsonw_begin_object(w, "resource_limits");
    if (limits->memory_bytes > 0)
        write_group(w, "memory", "limit", limits->memory_bytes, "swap", limits->memory_bytes);
    if (limits->nano_cpus > 0)
        write_group(w, "cpu", "quota", quota_us, "period", CPU_PERIOD_US);
    if (limits->pids > 0)
        write_group(w, "pids", "limit", limits->pids, NULL, 0);
    cordon_jsonw_end_object(w);
    return 0;
}

static void write_ulimit(cordon_jsonw *w, const char *name, int64_t value)
{
    cordon_jsonw_begin_object(w, NULL);
    cordon_jsonw_string(w, "type", name);
    cordon_jsonw_i64(w, "soft", value);
    cordon_jsonw_i64(w, "hard", value);
    cordon_jsonw_end_object(w);
}

/* All three together: Podman 4 sets what is missing of nofile and nproc to 1048576. */
static void write_ulimits(cordon_jsonw *w, const cordon_limits_spec *limits)
{
    cordon_jsonw_begin_array(w, "r_limits");
    if (limits->open_files > 0)
        write_ulimit(w, "nofile", limits->open_files);
    if (limits->user_processes > 0)
        write_ulimit(w, "nproc", limits->user_processes);
    write_ulimit(w, "core", 0);
    cordon_jsonw_end_array(w);
}

static int write_limits(cordon_jsonw *w, const cordon_container_spec *spec, cordon_err *err)
{
    const cordon_limits_spec *limits = &spec->limits;
    if (limits->memory_bytes < 0 || limits->nano_cpus < 0 || limits->pids < 0 ||
        limits->open_files < 0 || limits->user_processes < 0 || limits->shm_bytes < 0)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "a limit below zero");
    if (write_cgroup_limits(w, limits, err) != 0)
        return -1;
    write_ulimits(w, limits);
    if (limits->shm_bytes > 0)
        cordon_jsonw_i64(w, "shm_size", limits->shm_bytes);
    cordon_jsonw_i64(w, "oom_score_adj", spec->oom_score_adj);
    return 0;
}

/*
 * No servers named: Podman writes the resolv.conf that it sees itself. "." as the only search
 * domain is how resolv.conf(5) says that there is none; without it the host's would be copied.
 */
static void write_dns(cordon_jsonw *w, cordon_texts servers)
{
    cordon_jsonw_bool(w, "use_image_resolve_conf", false);
    if (servers.count > 0)
        write_texts(w, "dns_server", servers);
    write_one(w, "dns_search", ".");
}

static int write_process(cordon_jsonw *w, const cordon_container_spec *spec, cordon_err *err)
{
    write_texts(w, "entrypoint", spec->entrypoint);
    write_texts(w, "command", spec->command);
    if (write_map(w, "env", spec->environment, err) != 0)
        return -1;
    cordon_jsonw_string(w, "user", spec->user);
    cordon_jsonw_string(w, "work_dir", spec->working_dir);
    cordon_jsonw_string(w, "hostname", spec->hostname);
    cordon_jsonw_bool(w, "stdin", spec->open_stdin);
    cordon_jsonw_i64(w, "stop_signal", SIGNAL_TERM);
    cordon_jsonw_i64(w, "stop_timeout", spec->stop_timeout_s);
    cordon_jsonw_begin_object(w, "healthconfig");
    write_one(w, "Test", "NONE");
    cordon_jsonw_end_object(w);
    return 0;
}

static void write_log(cordon_jsonw *w, bool keep)
{
    cordon_jsonw_begin_object(w, "log_configuration");
    cordon_jsonw_string(w, "driver", keep ? "k8s-file" : "none");
    if (keep)
        cordon_jsonw_i64(w, "size", LOG_MAX_BYTES);
    cordon_jsonw_end_object(w);
}

static int write_container(cordon_jsonw *w, const cordon_container_spec *spec, cordon_err *err)
{
    if (podman_need_id(spec->image_id, err) != 0)
        return -1;
    if (spec->userns != CORDON_USERNS_HOST && spec->userns != CORDON_USERNS_KEEP_ID)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "no user namespace was chosen");
    cordon_jsonw_string(w, "name", spec->name);
    cordon_jsonw_string(w, "image", spec->image_id);
    for (size_t i = 0; i < COUNT(container_fixed); i++)
        write_fixed(w, &container_fixed[i]);
    write_one(w, "cap_drop", "all");
    write_userns(w, spec);
    write_dns(w, spec->dns_servers);
    write_log(w, spec->keep_log);
    if (write_process(w, spec, err) != 0 || write_map(w, "labels", spec->labels, err) != 0 ||
        write_map(w, "sysctl", spec->sysctls, err) != 0 || write_networks(w, spec, err) != 0 ||
        write_mounts(w, spec, err) != 0)
        return -1;
    return write_limits(w, spec, err);
}

int podman_encode_container(const cordon_container_spec *spec, cordon_buf *out, cordon_err *err)
{
    cordon_jsonw w;
    cordon_jsonw_init(&w, out);
    cordon_jsonw_begin_object(&w, NULL);
    if (write_container(&w, spec, err) != 0)
        return -1;
    cordon_jsonw_end_object(&w);
    return cordon_jsonw_finish(&w, err);
}

int podman_encode_volume(const cordon_volume_spec *spec, cordon_buf *out, cordon_err *err)
{
    cordon_auto(cordon_buf) options = cordon_buf_make(128);
    cordon_jsonw w;
    if (podman_need_volume(spec->name, err) != 0 ||
        cordon_buf_printf(&options, err, CORDON_VOLUME_OPTIONS, (long long)spec->blocks) != 0)
        return -1;
    if (spec->blocks <= 0)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "a volume without a bound");
    cordon_jsonw_init(&w, out);
    cordon_jsonw_begin_object(&w, NULL);
    cordon_jsonw_string(&w, "Name", spec->name);
    cordon_jsonw_string(&w, "Driver", "local");
    cordon_jsonw_begin_object(&w, "Options");
    cordon_jsonw_string(&w, "type", "tmpfs");
    cordon_jsonw_string(&w, "device", "tmpfs");
    cordon_jsonw_string(&w, "o", cordon_buf_text(&options));
    cordon_jsonw_end_object(&w);
    if (write_map(&w, "Label", spec->labels, err) != 0)
        return -1;
    cordon_jsonw_end_object(&w);
    return cordon_jsonw_finish(&w, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Specifications to the JSON of a create request. Pure. SECURITY: what the contract fixes (spec.h)
 * is written out here, off and empty included, so that no default of a daemon has a say.
 */
#include "docker_internal.h"

#include <stdio.h>
#include <string.h>

#include "docker_decode.h"
#include "kit/jsonw.h"

static void write_texts(cordon_jsonw *w, const char *key, cordon_texts texts)
{
    cordon_jsonw_begin_array(w, key);
    for (size_t i = 0; i < texts.count; i++)
        cordon_jsonw_string(w, NULL, texts.items[i]);
    cordon_jsonw_end_array(w);
}

static void write_none(cordon_jsonw *w, const char *key)
{
    cordon_jsonw_begin_array(w, key);
    cordon_jsonw_end_array(w);
}

static void write_one(cordon_jsonw *w, const char *key, const char *text)
{
    cordon_jsonw_begin_array(w, key);
    cordon_jsonw_string(w, NULL, text);
    cordon_jsonw_end_array(w);
}

static void write_empty_object(cordon_jsonw *w, const char *key)
{
    cordon_jsonw_begin_object(w, key);
    cordon_jsonw_end_object(w);
}

/* "key=value" items as an object. */
static int write_map(cordon_jsonw *w, const char *key, cordon_texts texts, cordon_err *err)
{
    cordon_jsonw_begin_object(w, key);
    for (size_t i = 0; i < texts.count; i++) {
        const char *item = texts.items[i];
        const char *equals = strchr(item, '=');
        if (!equals)
            return CORDON_FAIL(err, CORDON_ERR_INVALID, "%s: \"%s\" has no value", key,
                               CORDON_QUOTE(item));
        cordon_autofree char *name = strndup(item, (size_t)(equals - item));
        if (!name)
            return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
        cordon_jsonw_string(w, name, equals + 1);
    }
    cordon_jsonw_end_object(w);
    return 0;
}

static int write_config(cordon_jsonw *w, const cordon_container_spec *spec, cordon_err *err)
{
    char image[sizeof "sha256:" + CORDON_ID_HEX];
    (void)snprintf(image, sizeof image, "sha256:%s", spec->image_id);
    cordon_jsonw_string(w, "Image", image);
    cordon_jsonw_string(w, "Hostname", spec->hostname);
    cordon_jsonw_string(w, "Domainname", "");
    cordon_jsonw_string(w, "User", spec->user);
    cordon_jsonw_bool(w, "Tty", false);
    cordon_jsonw_bool(w, "OpenStdin", spec->open_stdin);
    cordon_jsonw_bool(w, "StdinOnce", spec->open_stdin);
    cordon_jsonw_bool(w, "AttachStdin", spec->open_stdin);
    cordon_jsonw_bool(w, "AttachStdout", true);
    cordon_jsonw_bool(w, "AttachStderr", true);
    write_texts(w, "Env", spec->environment);
    write_texts(w, "Entrypoint", spec->entrypoint);
    write_texts(w, "Cmd", spec->command);
    cordon_jsonw_string(w, "WorkingDir", spec->working_dir);
    cordon_jsonw_string(w, "StopSignal", "SIGTERM");
    cordon_jsonw_i64(w, "StopTimeout", spec->stop_timeout_s);
    cordon_jsonw_begin_object(w, "Healthcheck");
    write_one(w, "Test", "NONE");
    cordon_jsonw_end_object(w);
    write_empty_object(w, "ExposedPorts");
    write_empty_object(w, "Volumes");
    return write_map(w, "Labels", spec->labels, err);
}

static void write_privileges(cordon_jsonw *w)
{
    cordon_jsonw_bool(w, "Privileged", false);
    cordon_jsonw_bool(w, "ReadonlyRootfs", true);
    write_none(w, "CapAdd");
    write_one(w, "CapDrop", "ALL");
    write_one(w, "SecurityOpt", "no-new-privileges:true");
    write_none(w, "GroupAdd");
    /* on the way in null is the daemon's default list; [] would be none */
    cordon_jsonw_null(w, "MaskedPaths");
    cordon_jsonw_null(w, "ReadonlyPaths");
    write_none(w, "Devices");
    write_none(w, "DeviceRequests");
    write_none(w, "DeviceCgroupRules");
}

static void write_namespaces(cordon_jsonw *w, const cordon_container_spec *spec)
{
    cordon_jsonw_string(w, "PidMode", "");
    cordon_jsonw_string(w, "IpcMode", "private");
    cordon_jsonw_string(w, "UTSMode", "");
    cordon_jsonw_string(w, "UsernsMode", "");
    cordon_jsonw_string(w, "CgroupnsMode", "private");
    cordon_jsonw_string(w, "CgroupParent", "");
    cordon_jsonw_string(w, "NetworkMode",
                        spec->endpoint_count > 0 ? spec->endpoints[0].network_id : "none");
}

static void write_network_side(cordon_jsonw *w, const cordon_container_spec *spec)
{
    write_texts(w, "Dns", spec->dns_servers);
    write_one(w, "DnsSearch", "."); /* none; [] would be the host's */
    write_none(w, "DnsOptions");
    write_none(w, "ExtraHosts");
    cordon_jsonw_null(w, "Links");
    write_empty_object(w, "PortBindings");
    cordon_jsonw_bool(w, "PublishAllPorts", false);
}

static void write_ulimit(cordon_jsonw *w, const char *name, int64_t value)
{
    cordon_jsonw_begin_object(w, NULL);
    cordon_jsonw_string(w, "Name", name);
    cordon_jsonw_i64(w, "Soft", value);
    cordon_jsonw_i64(w, "Hard", value);
    cordon_jsonw_end_object(w);
}

static void write_limits(cordon_jsonw *w, const cordon_container_spec *spec)
{
    const cordon_limits_spec *limits = &spec->limits;
    cordon_jsonw_i64(w, "Memory", limits->memory_bytes);
    cordon_jsonw_i64(w, "MemorySwap", limits->memory_bytes);
    cordon_jsonw_i64(w, "NanoCpus", limits->nano_cpus);
    cordon_jsonw_i64(w, "PidsLimit", limits->pids);
    cordon_jsonw_i64(w, "ShmSize", limits->shm_bytes);
    cordon_jsonw_i64(w, "OomScoreAdj", spec->oom_score_adj);
    cordon_jsonw_bool(w, "OomKillDisable", false);
    cordon_jsonw_begin_array(w, "Ulimits");
    write_ulimit(w, "core", 0);
    if (limits->open_files > 0)
        write_ulimit(w, "nofile", limits->open_files);
    if (limits->user_processes > 0)
        write_ulimit(w, "nproc", limits->user_processes);
    cordon_jsonw_end_array(w);
}

static void write_life(cordon_jsonw *w, const cordon_container_spec *spec)
{
    cordon_jsonw_begin_object(w, "RestartPolicy");
    cordon_jsonw_string(w, "Name", "no");
    cordon_jsonw_i64(w, "MaximumRetryCount", 0);
    cordon_jsonw_end_object(w);
    cordon_jsonw_bool(w, "AutoRemove", false);
    cordon_jsonw_bool(w, "Init", false); /* null would be the daemon's choice */
    cordon_jsonw_begin_object(w, "LogConfig");
    cordon_jsonw_string(w, "Type", spec->keep_log ? "json-file" : "none");
    cordon_jsonw_begin_object(w, "Config");
    if (spec->keep_log) {
        cordon_jsonw_string(w, "max-size", "1m");
        cordon_jsonw_string(w, "max-file", "1");
    }
    cordon_jsonw_end_object(w);
    cordon_jsonw_end_object(w);
}

/*
 * As a Mount, not as a Bind: a missing source of a Bind is made as a folder of root's. Docker has
 * no nosuid and nodev for binds. NonRecursive keeps host mounts below the source out.
 */
static void write_bind(cordon_jsonw *w, const cordon_mount_spec *mount)
{
    cordon_jsonw_begin_object(w, NULL);
    cordon_jsonw_string(w, "Type", "bind");
    cordon_jsonw_string(w, "Source", mount->source);
    cordon_jsonw_string(w, "Target", mount->target);
    cordon_jsonw_bool(w, "ReadOnly", mount->read_only);
    cordon_jsonw_begin_object(w, "BindOptions");
    cordon_jsonw_string(w, "Propagation", "rprivate");
    cordon_jsonw_bool(w, "NonRecursive", true);
    cordon_jsonw_end_object(w);
    cordon_jsonw_end_object(w);
}

/*
 * In HostConfig.Tmpfs, because there every option can be said, exec included (TmpfsOptions learnt
 * that with API 1.46 only), and because inspect shows the text verbatim.
 */
static void write_tmpfs(cordon_jsonw *w, const cordon_mount_spec *mount)
{
    char options[128];
    (void)snprintf(options, sizeof options, "%s,%s,nosuid,nodev,size=%lld,mode=%o",
                   mount->read_only ? "ro" : "rw", mount->no_exec ? "noexec" : "exec",
                   (long long)mount->size_bytes, mount->mode_octal);
    cordon_jsonw_string(w, mount->target, options);
}

/* nosuid, nodev and noexec are the volume's own: Docker has none for the mount of one. */
static void write_volume(cordon_jsonw *w, const cordon_mount_spec *mount)
{
    cordon_jsonw_begin_object(w, NULL);
    cordon_jsonw_string(w, "Type", "volume");
    cordon_jsonw_string(w, "Source", mount->source);
    cordon_jsonw_string(w, "Target", mount->target);
    cordon_jsonw_bool(w, "ReadOnly", mount->read_only);
    cordon_jsonw_begin_object(w, "VolumeOptions");
    cordon_jsonw_bool(w, "NoCopy", true);
    cordon_jsonw_end_object(w);
    cordon_jsonw_end_object(w);
}

static int check_mount(const cordon_mount_spec *mount, cordon_err *err)
{
    if (mount->type == CORDON_MOUNT_BIND || mount->type == CORDON_MOUNT_TMPFS)
        return 0;
    if (mount->type == CORDON_MOUNT_VOLUME)
        return docker_check_volume(mount->source, err);
    if (mount->type == CORDON_MOUNT_IMAGE)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                           "docker cannot mount an image before API 1.48");
    return CORDON_FAIL(err, CORDON_ERR_INVALID, "%s: not a kind of mount", mount->target);
}

static int write_mounts(cordon_jsonw *w, const cordon_container_spec *spec, cordon_err *err)
{
    for (size_t i = 0; i < spec->mount_count; i++) {
        if (check_mount(&spec->mounts[i], err) != 0)
            return -1;
    }
    cordon_jsonw_begin_array(w, "Mounts");
    for (size_t i = 0; i < spec->mount_count; i++) {
        if (spec->mounts[i].type == CORDON_MOUNT_BIND)
            write_bind(w, &spec->mounts[i]);
        if (spec->mounts[i].type == CORDON_MOUNT_VOLUME)
            write_volume(w, &spec->mounts[i]);
    }
    cordon_jsonw_end_array(w);
    cordon_jsonw_begin_object(w, "Tmpfs");
    for (size_t i = 0; i < spec->mount_count; i++) {
        if (spec->mounts[i].type == CORDON_MOUNT_TMPFS)
            write_tmpfs(w, &spec->mounts[i]);
    }
    cordon_jsonw_end_object(w);
    cordon_jsonw_null(w, "Binds");
    cordon_jsonw_null(w, "VolumesFrom");
    return 0;
}

static int write_host(cordon_jsonw *w, const cordon_container_spec *spec, cordon_err *err)
{
    write_privileges(w);
    write_namespaces(w, spec);
    write_network_side(w, spec);
    write_limits(w, spec);
    write_life(w, spec);
    if (write_map(w, "Sysctls", spec->sysctls, err) != 0)
        return -1;
    return write_mounts(w, spec, err);
}

static void write_endpoint(cordon_jsonw *w, const char *key, const cordon_endpoint_spec *endpoint)
{
    cordon_jsonw_begin_object(w, key);
    if (endpoint->ipv4) {
        cordon_jsonw_begin_object(w, "IPAMConfig");
        cordon_jsonw_string(w, "IPv4Address", endpoint->ipv4);
        cordon_jsonw_end_object(w);
    }
    cordon_jsonw_end_object(w);
}

/*
 * One at most; container_create connects the others. Before API 1.44 there is no other way, and
 * from there on the daemon would take them all, but show those beyond the first under the
 * network's id instead of its name until the start.
 */
static void write_endpoints(cordon_jsonw *w, const cordon_container_spec *spec)
{
    cordon_jsonw_begin_object(w, "NetworkingConfig");
    cordon_jsonw_begin_object(w, "EndpointsConfig");
    if (spec->endpoint_count > 0)
        write_endpoint(w, spec->endpoints[0].network_id, &spec->endpoints[0]);
    cordon_jsonw_end_object(w);
    cordon_jsonw_end_object(w);
}

static int check_container(const cordon_container_spec *spec, cordon_err *err)
{
    if (spec->userns == CORDON_USERNS_KEEP_ID)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED, "docker has no keep-id user namespace");
    if (docker_check_id(spec->image_id, err) != 0)
        return -1;
    for (size_t i = 0; i < spec->endpoint_count; i++) {
        if (docker_check_id(spec->endpoints[i].network_id, err) != 0)
            return -1;
    }
    return 0;
}

int docker_encode_container(const cordon_container_spec *spec, cordon_buf *out, cordon_err *err)
{
    cordon_jsonw w;
    if (check_container(spec, err) != 0)
        return -1;
    cordon_jsonw_init(&w, out);
    cordon_jsonw_begin_object(&w, NULL);
    if (write_config(&w, spec, err) != 0)
        return -1;
    cordon_jsonw_begin_object(&w, "HostConfig");
    if (write_host(&w, spec, err) != 0)
        return -1;
    cordon_jsonw_end_object(&w);
    write_endpoints(&w, spec);
    cordon_jsonw_end_object(&w);
    return cordon_jsonw_finish(&w, err);
}

static void write_ipam(cordon_jsonw *w, const char *subnet)
{
    cordon_jsonw_begin_object(w, "IPAM");
    cordon_jsonw_string(w, "Driver", "default");
    cordon_jsonw_begin_array(w, "Config");
    cordon_jsonw_begin_object(w, NULL);
    cordon_jsonw_string(w, "Subnet", subnet);
    cordon_jsonw_end_object(w);
    cordon_jsonw_end_array(w);
    cordon_jsonw_end_object(w);
}

int docker_encode_network(const cordon_network_spec *spec, cordon_buf *out, cordon_err *err)
{
    cordon_jsonw w;
    if (spec->no_gateway && !spec->internal)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "%s: no_gateway is for internal networks",
                           spec->name);
    cordon_jsonw_init(&w, out);
    cordon_jsonw_begin_object(&w, NULL);
    cordon_jsonw_string(&w, "Name", spec->name);
    /* before 1.44 a second network of the same name would be made without a word */
    cordon_jsonw_bool(&w, "CheckDuplicate", true);
    cordon_jsonw_string(&w, "Driver", "bridge");
    cordon_jsonw_bool(&w, "Internal", spec->internal);
    cordon_jsonw_bool(&w, "Attachable", false);
    cordon_jsonw_bool(&w, "Ingress", false);
    cordon_jsonw_bool(&w, "EnableIPv6", false);
    write_ipam(&w, spec->subnet);
    cordon_jsonw_begin_object(&w, "Options");
    if (spec->no_gateway)
        cordon_jsonw_string(&w, DOCKER_OPTION_NO_ADDRESS, "true");
    cordon_jsonw_end_object(&w);
    if (write_map(&w, "Labels", spec->labels, err) != 0)
        return -1;
    cordon_jsonw_end_object(&w);
    return cordon_jsonw_finish(&w, err);
}

int docker_encode_connect(const char *container_id, const cordon_endpoint_spec *endpoint,
                          cordon_buf *out, cordon_err *err)
{
    cordon_jsonw w;
    cordon_jsonw_init(&w, out);
    cordon_jsonw_begin_object(&w, NULL);
    cordon_jsonw_string(&w, "Container", container_id);
    write_endpoint(&w, "EndpointConfig", endpoint);
    cordon_jsonw_end_object(&w);
    return cordon_jsonw_finish(&w, err);
}

int docker_encode_volume(const cordon_volume_spec *spec, cordon_buf *out, cordon_err *err)
{
    cordon_auto(cordon_buf) options = cordon_buf_make(128);
    cordon_jsonw w;
    if (docker_check_volume(spec->name, err) != 0 ||
        cordon_buf_printf(&options, err, CORDON_VOLUME_OPTIONS, (long long)spec->blocks) != 0)
        return -1;
    if (spec->blocks <= 0)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "a volume without a bound");
    cordon_jsonw_init(&w, out);
    cordon_jsonw_begin_object(&w, NULL);
    cordon_jsonw_string(&w, "Name", spec->name);
    cordon_jsonw_string(&w, "Driver", "local");
    cordon_jsonw_begin_object(&w, "DriverOpts");
    cordon_jsonw_string(&w, "type", "tmpfs");
    cordon_jsonw_string(&w, "device", "tmpfs");
    cordon_jsonw_string(&w, "o", cordon_buf_text(&options));
    cordon_jsonw_end_object(&w);
    if (write_map(&w, "Labels", spec->labels, err) != 0)
        return -1;
    cordon_jsonw_end_object(&w);
    return cordon_jsonw_finish(&w, err);
}

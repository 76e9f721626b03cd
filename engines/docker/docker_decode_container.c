/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /containers/{id}/json to facts, and the body of wait. The tables at the top are the decoder:
 * which key becomes which fact, and which keys may hold anything and why. HostConfig, mounts and
 * endpoints have files of their own.
 */
#include "docker_decode_internal.h"

#include <stdio.h>
#include <string.h>

#define FIELD DOCKER_CONTAINER_FIELD

static const cordon_factread_field root_fields[] = {
    FIELD("RestartCount", INT, restart_count, UNKNOWN),
    FIELD("AppArmorProfile", TEXT, apparmor_profile, UNKNOWN),
    /* null while no exec lives (engine-facts.md section 5) */
    FIELD("ExecIDs", SET, exec_ids, EMPTY),
};

static const cordon_factread_field state_fields[] = {
    FIELD("Pid", INT, pid, UNKNOWN),
    FIELD("ExitCode", INT, exit_code, UNKNOWN),
    FIELD("OOMKilled", BOOL, oom_killed, UNKNOWN),
    FIELD("Error", TEXT, error, UNKNOWN),
    FIELD("StartedAt", TEXT, started_at, UNKNOWN),
    FIELD("FinishedAt", TEXT, finished_at, UNKNOWN),
};

/* Go writes a nil slice or map as null, and Docker treats it as the empty one. */
static const cordon_factread_field config_fields[] = {
    FIELD("Hostname", TEXT, hostname, UNKNOWN),
    FIELD("Domainname", TEXT, domainname, UNKNOWN),
    FIELD("User", TEXT, user, UNKNOWN),
    FIELD("Tty", BOOL, tty, UNKNOWN),
    FIELD("OpenStdin", BOOL, open_stdin, UNKNOWN),
    FIELD("StdinOnce", BOOL, stdin_once, UNKNOWN),
    FIELD("Env", SET, environment, EMPTY),
    FIELD("Cmd", LIST, command, EMPTY),
    FIELD("Entrypoint", LIST, entrypoint, EMPTY),
    FIELD("WorkingDir", TEXT, working_dir, UNKNOWN),
    FIELD("Labels", MAP, labels, EMPTY),
    FIELD("Volumes", KEYS, image_volumes, EMPTY),
    FIELD("ExposedPorts", KEYS, exposed_ports, EMPTY),
    FIELD("StopSignal", TEXT, stop_signal, UNKNOWN),
    /* null and absent are the daemon's default, which is not asked for */
    FIELD("StopTimeout", INT, stop_timeout_s, UNKNOWN),
};

/* Keys that may hold anything. */
const cordon_factread_harmless docker_container_harmless[] = {
    {"$.Created", "time of day of the daemon's host"},
    {"$.ResolvConfPath", "where the daemon keeps the file on its host"},
    {"$.HostnamePath", "the same"},
    {"$.HostsPath", "the same"},
    {"$.LogPath", "the same; the log's driver and bound are checked"},
    {"$.Driver", "the daemon's storage driver, shown by describe"},
    {"$.GraphDriver**", "where the layers lie on the daemon's host"},
    {"$.Storage**", "the same, for containerd's image store"},
    {"$.ImageManifestDescriptor**", "which platform of the image it was; the id is a fact"},
    {"$.Config.AttachStdin", "what the creating client meant to attach; no effect on the process"},
    {"$.Config.AttachStdout", "the same"},
    {"$.Config.AttachStderr", "the same"},
    {"$.Config.ArgsEscaped", "Windows only; old Linux images carry it"},
    {"$.HostConfig.ContainerIDFile", "a note of the creating client"},
    {"$.HostConfig.ConsoleSize**", "Windows only, and there is no terminal"},
    {"$.NetworkSettings.SandboxID", "libnetwork's own id of the network namespace"},
    {"$.NetworkSettings.SandboxKey", "its path on the daemon's host"},
    {"$.NetworkSettings.Networks.*.EndpointID", "libnetwork's own id of the attachment"},
    {"$.NetworkSettings.Networks.*.IPPrefixLen",
     "follows from the network, whose subnet is a fact"},
    {"$.NetworkSettings.Networks.*.DNSNames[*]", "the aliases and names again, for its resolver"},
};
const size_t docker_container_harmless_count = DOCKER_COUNT(docker_container_harmless);

/* A text in place: `given` becomes `normal`. Unknown stays unknown. */
static int normalise(cordon_fact_text *text, const char *given, const char *normal, cordon_err *err)
{
    return *text && strcmp(*text, given) == 0 ? cordon_fact_text_set(text, normal, err) : 0;
}

/* SECURITY: each flag is derived from the status; a pair that contradicts it is no state. */
static int check_flags(cordon_json state, cordon_run_state status, cordon_fact_list *unmodelled,
                       cordon_err *err)
{
    bool paused = status == CORDON_STATE_PAUSED;
    bool restarting = status == CORDON_STATE_RESTARTING;
    bool running = status == CORDON_STATE_RUNNING || paused || restarting;
    const struct {
        const char *key;
        bool must;
        bool may;
    } flags[] = {
        {"Running", running, running},
        {"Paused", paused, paused},
        {"Restarting", restarting, restarting},
        {"Dead", false, status == CORDON_STATE_DEAD || status == CORDON_STATE_REMOVING},
    };
    for (size_t i = 0; i < DOCKER_COUNT(flags); i++) {
        cordon_json_bool flag = {0};
        if (cordon_json_get_bool(state, flags[i].key, &flag, err) != 0)
            return -1;
        if (flag.has == CORDON_JSON_PRESENT && (flag.value ? !flags[i].may : flags[i].must) &&
            cordon_factread_odd(state, flags[i].key, unmodelled, err) != 0)
            return -1;
    }
    return 0;
}

static int read_status(cordon_json state, cordon_container_facts *facts, cordon_err *err)
{
    static const cordon_run_state states[] = {
        CORDON_STATE_CREATED, CORDON_STATE_RUNNING,  CORDON_STATE_PAUSED, CORDON_STATE_RESTARTING,
        CORDON_STATE_EXITED,  CORDON_STATE_REMOVING, CORDON_STATE_DEAD,
    };
    cordon_json_string status = {0};
    if (cordon_json_get_string(state, "Status", &status, err) != 0)
        return -1;
    if (status.has != CORDON_JSON_PRESENT)
        return 0;
    for (size_t i = 0; i < DOCKER_COUNT(states); i++) {
        if (strcmp(status.text, cordon_run_state_name(states[i])) == 0)
            facts->state = states[i];
    }
    if (facts->state == CORDON_STATE_UNKNOWN)
        return cordon_factread_odd(state, status.text, &facts->unmodelled, err);
    return check_flags(state, facts->state, &facts->unmodelled, err);
}

static int read_state(cordon_json root, cordon_container_facts *facts, cordon_err *err)
{
    static const char never[] = "0001-01-01T00:00:00Z"; /* Go's zero time */
    cordon_json state = {0};
    if (cordon_json_need_object(root, "State", &state, err) != 0 ||
        cordon_factread_fields(state, state_fields, DOCKER_COUNT(state_fields), facts, err) != 0 ||
        normalise(&facts->started_at, never, "", err) != 0 ||
        normalise(&facts->finished_at, never, "", err) != 0)
        return -1;
    return read_status(state, facts, err);
}

/* Absent unless the container has one, and then {"Test": [...]}. */
static int read_healthcheck(cordon_json config, cordon_container_facts *facts, cordon_err *err)
{
    static const cordon_factread_field fields[] = {FIELD("Test", LIST, healthcheck, EMPTY)};
    cordon_json_place place = {0};
    if (cordon_json_get_object(config, "Healthcheck", &place, err) != 0)
        return -1;
    return place.has == CORDON_JSON_PRESENT
               ? cordon_factread_fields(place.value, fields, DOCKER_COUNT(fields), facts, err)
               : 0;
}

/* "" is SIGTERM (Docker's documented default); a number or a short name has no normal form here. */
static int read_stop_signal(cordon_json config, cordon_container_facts *facts, cordon_err *err)
{
    if (!facts->stop_signal || strncmp(facts->stop_signal, "SIG", 3) == 0)
        return 0;
    if (facts->stop_signal[0] == '\0')
        return cordon_fact_text_set(&facts->stop_signal, "SIGTERM", err);
    return cordon_factread_odd(config, facts->stop_signal, &facts->unmodelled, err);
}

/* The name the image was asked by: ours is always an id, and it must be the resolved one. */
static int check_image_name(cordon_json config, cordon_container_facts *facts, cordon_err *err)
{
    cordon_json_string name = {0};
    if (cordon_json_get_string(config, "Image", &name, err) != 0)
        return -1;
    const char *hex = name.has == CORDON_JSON_PRESENT ? docker_bare_id(name.text) : NULL;
    if (name.has != CORDON_JSON_PRESENT || (hex && strcmp(hex, facts->image_id) == 0))
        return 0;
    return cordon_factread_odd(config, name.text, &facts->unmodelled, err);
}

static int read_config(cordon_json root, cordon_container_facts *facts, cordon_err *err)
{
    cordon_json config = {0};
    if (cordon_json_need_object(root, "Config", &config, err) != 0 ||
        cordon_factread_fields(config, config_fields, DOCKER_COUNT(config_fields), facts, err) != 0)
        return -1;
    /*
     * Go's omitempty: an empty set leaves the key out, and there is no other way to see that it
     * is empty. Ports that are merely exposed open nothing; published ones are another fact.
     */
    cordon_fact_list_known(&facts->exposed_ports);
    if (read_healthcheck(config, facts, err) != 0 || read_stop_signal(config, facts, err) != 0)
        return -1;
    return check_image_name(config, facts, err);
}

/* Path and Args: what the runtime is told to execute. */
static int read_argv(cordon_json root, cordon_container_facts *facts, cordon_err *err)
{
    cordon_json_string path = {0};
    cordon_json_place args = {0};
    if (cordon_json_get_string(root, "Path", &path, err) != 0 ||
        cordon_json_get_array(root, "Args", &args, err) != 0)
        return -1;
    if (path.has != CORDON_JSON_PRESENT || args.has == CORDON_JSON_ABSENT)
        return 0;
    if (cordon_fact_list_add(&facts->argv, path.text, err) != 0)
        return -1;
    return args.has == CORDON_JSON_PRESENT ? cordon_factread_texts(args.value, &facts->argv, err)
                                           : 0;
}

static int read_name(cordon_json root, cordon_container_facts *facts, cordon_err *err)
{
    cordon_json_string name = {0};
    if (cordon_json_get_string(root, "Name", &name, err) != 0)
        return -1;
    if (name.has != CORDON_JSON_PRESENT)
        return 0;
    return cordon_fact_text_set(&facts->name, name.text + (name.text[0] == '/'), err);
}

static int check_platform(cordon_json root, cordon_container_facts *facts, cordon_err *err)
{
    const char *platform = NULL;
    if (cordon_json_need_string(root, "Platform", &platform, err) != 0)
        return -1;
    return strcmp(platform, "linux") == 0
               ? 0
               : cordon_factread_odd(root, platform, &facts->unmodelled, err);
}

/* The level of "user:role:type:level", or "". */
static const char *selinux_level(const char *label)
{
    for (int i = 0; i < 3; i++) {
        const char *colon = strchr(label, ':');
        if (!colon)
            return "";
        label = colon + 1;
    }
    return label;
}

static int read_selinux(cordon_json root, cordon_container_facts *facts, cordon_err *err)
{
    cordon_json_string process = {0};
    cordon_json_string mount = {0};
    if (cordon_json_get_string(root, "ProcessLabel", &process, err) != 0 ||
        cordon_json_get_string(root, "MountLabel", &mount, err) != 0)
        return -1;
    if (process.has != CORDON_JSON_PRESENT || mount.has != CORDON_JSON_PRESENT)
        return 0;
    if (strcmp(selinux_level(process.text), selinux_level(mount.text)) == 0)
        return cordon_fact_text_set(&facts->selinux_label, process.text, err);
    char both[2 * CORDON_QUOTE_MAX];
    (void)snprintf(both, sizeof both, "%s %s", CORDON_QUOTE(process.text),
                   CORDON_QUOTE(mount.text));
    return cordon_fact_text_set(&facts->selinux_label, both, err);
}

static int read_identity(cordon_json root, cordon_container_facts *facts, cordon_err *err)
{
    if (docker_read_id(root, "Id", &facts->id, err) != 0 ||
        docker_read_id(root, "Image", &facts->image_id, err) != 0 ||
        read_name(root, facts, err) != 0 || read_argv(root, facts, err) != 0 ||
        check_platform(root, facts, err) != 0 || read_selinux(root, facts, err) != 0)
        return -1;
    return cordon_factread_fields(root, root_fields, DOCKER_COUNT(root_fields), facts, err);
}

static int read_container(cordon_json root, cordon_container_facts *facts, cordon_err *err)
{
    cordon_json host = {0};
    cordon_json settings = {0};
    if (read_identity(root, facts, err) != 0 || read_state(root, facts, err) != 0 ||
        read_config(root, facts, err) != 0 ||
        cordon_json_need_object(root, "HostConfig", &host, err) != 0 ||
        docker_read_host(host, facts, err) != 0 ||
        docker_read_mounts(root, host, facts, err) != 0 ||
        cordon_json_need_object(root, "NetworkSettings", &settings, err) != 0 ||
        docker_read_endpoints(settings, facts, err) != 0 ||
        docker_read_ports(host, settings, facts, err) != 0)
        return -1;
    /* Docker has no secrets for containers outside a swarm: none is a fact. */
    cordon_fact_list_known(&facts->secrets);
    return cordon_factread_leftovers(root, docker_container_harmless,
                                     docker_container_harmless_count, &facts->unmodelled, err);
}

int docker_decode_container(const void *json, size_t length, cordon_container_facts *ret_facts,
                            cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_container_facts) facts = {0};
    cordon_json root = {0};
    if (docker_parse_object(json, length, &doc, &root, err) != 0 ||
        read_container(root, &facts, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_container_facts){0};
    return 0;
}

static int refuse_wait_error(cordon_json root, cordon_err *err)
{
    cordon_json_place place = {0};
    const char *message = NULL;
    if (cordon_json_get_object(root, "Error", &place, err) != 0)
        return -1;
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    if (cordon_json_need_string(place.value, "Message", &message, err) != 0)
        return -1;
    return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "an error instead of an exit status: %s",
                       CORDON_QUOTE(message));
}

int docker_decode_exit(const void *json, size_t length, int *ret_exit_code, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_json root = {0};
    int64_t code = 0;
    if (docker_parse_object(json, length, &doc, &root, err) != 0 ||
        refuse_wait_error(root, err) != 0 ||
        cordon_json_need_i64(root, "StatusCode", &code, err) != 0)
        return -1;
    /* SECURITY: never clamped, never folded to 0 */
    if (code < 0 || code > 255)
        return cordon_json_fail(root, err, "exit status %lld is not 0 to 255", (long long)code);
    *ret_exit_code = (int)code;
    return 0;
}

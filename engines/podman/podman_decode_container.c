/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libpod's container inspect (libpod/define/container_inspect.go, InspectContainerData) -> facts.
 * Tables say what goes straight into a fact and what may hold anything; functions are for what has
 * another shape than its fact. Here: identity, state, process; the rest is in
 * podman_decode_{host,mounts,endpoints,fixed}.c.
 *
 * What libpod does not show stays unknown: seccomp, masked paths, sysctls, the address asked for,
 * and on Podman 4 the ipc mode, the network's id and whether the end was for lack of memory.
 */
#include "podman_decode_internal.h"

#include <string.h>

#include "podman_internal.h"

#define AT(member)    offsetof(cordon_container_facts, member)
#define FIELDS(table) (table), sizeof(table) / sizeof((table)[0])
#define COUNT(table)  (sizeof(table) / sizeof((table)[0]))

/* NULL_EMPTY: a Go slice or map that nobody filled is written as null. */
static const cordon_factread_field root_fields[] = {
    {"Name", CORDON_READ_TEXT, AT(name), CORDON_NULL_UNKNOWN},
    {"RestartCount", CORDON_READ_INT, AT(restart_count), CORDON_NULL_UNKNOWN},
    {"ExecIDs", CORDON_READ_LIST, AT(exec_ids), CORDON_NULL_EMPTY},
    {"AppArmorProfile", CORDON_READ_TEXT, AT(apparmor_profile), CORDON_NULL_UNKNOWN},
    {"OCIRuntime", CORDON_READ_TEXT, AT(runtime), CORDON_NULL_UNKNOWN},
};

static const cordon_factread_field state_fields[] = {
    {"Pid", CORDON_READ_INT, AT(pid), CORDON_NULL_UNKNOWN},
    {"ExitCode", CORDON_READ_INT, AT(exit_code), CORDON_NULL_UNKNOWN},
    {"OOMKilled", CORDON_READ_BOOL, AT(oom_killed), CORDON_NULL_UNKNOWN},
    {"Error", CORDON_READ_TEXT, AT(error), CORDON_NULL_UNKNOWN},
    {"StartedAt", CORDON_READ_TEXT, AT(started_at), CORDON_NULL_UNKNOWN},
    {"FinishedAt", CORDON_READ_TEXT, AT(finished_at), CORDON_NULL_UNKNOWN},
};

static const cordon_factread_field config_fields[] = {
    {"Hostname", CORDON_READ_TEXT, AT(hostname), CORDON_NULL_UNKNOWN},
    {"Domainname", CORDON_READ_TEXT, AT(domainname), CORDON_NULL_UNKNOWN},
    {"User", CORDON_READ_TEXT, AT(user), CORDON_NULL_UNKNOWN},
    {"Tty", CORDON_READ_BOOL, AT(tty), CORDON_NULL_UNKNOWN},
    {"OpenStdin", CORDON_READ_BOOL, AT(open_stdin), CORDON_NULL_UNKNOWN},
    {"Env", CORDON_READ_SET, AT(environment), CORDON_NULL_EMPTY},
    {"Cmd", CORDON_READ_LIST, AT(command), CORDON_NULL_EMPTY},
    {"WorkingDir", CORDON_READ_TEXT, AT(working_dir), CORDON_NULL_UNKNOWN},
    {"Labels", CORDON_READ_MAP, AT(labels), CORDON_NULL_EMPTY},
    {"StopTimeout", CORDON_READ_INT, AT(stop_timeout_s), CORDON_NULL_UNKNOWN},
    {"Volumes", CORDON_READ_KEYS, AT(image_volumes), CORDON_NULL_EMPTY},
    {"ExposedPorts", CORDON_READ_KEYS, AT(exposed_ports), CORDON_NULL_EMPTY}, /* Podman 5 */
};

static const cordon_factread_field host_fields[] = {
    {"Privileged", CORDON_READ_BOOL, AT(privileged), CORDON_NULL_UNKNOWN},
    {"ReadonlyRootfs", CORDON_READ_BOOL, AT(read_only_root), CORDON_NULL_UNKNOWN},
    {"GroupAdd", CORDON_READ_LIST, AT(extra_groups), CORDON_NULL_EMPTY},
    {"PidMode", CORDON_READ_TEXT, AT(pid_mode), CORDON_NULL_UNKNOWN},
    {"IpcMode", CORDON_READ_TEXT, AT(ipc_mode), CORDON_NULL_UNKNOWN},
    {"UTSMode", CORDON_READ_TEXT, AT(uts_mode), CORDON_NULL_UNKNOWN},
    {"UsernsMode", CORDON_READ_TEXT, AT(user_mode), CORDON_NULL_UNKNOWN},
    {"CgroupMode", CORDON_READ_TEXT, AT(cgroup_mode), CORDON_NULL_UNKNOWN},
    {"NetworkMode", CORDON_READ_TEXT, AT(network_mode), CORDON_NULL_UNKNOWN},
    {"CgroupParent", CORDON_READ_TEXT, AT(cgroup_parent), CORDON_NULL_UNKNOWN},
    {"VolumesFrom", CORDON_READ_LIST, AT(volumes_from), CORDON_NULL_EMPTY},
    {"PublishAllPorts", CORDON_READ_BOOL, AT(publish_all), CORDON_NULL_UNKNOWN},
    {"Dns", CORDON_READ_LIST, AT(dns_servers), CORDON_NULL_EMPTY},
    {"DnsSearch", CORDON_READ_LIST, AT(dns_search), CORDON_NULL_EMPTY},
    {"DnsOptions", CORDON_READ_LIST, AT(dns_options), CORDON_NULL_EMPTY},
    {"ExtraHosts", CORDON_READ_LIST, AT(extra_hosts), CORDON_NULL_EMPTY},
    {"Links", CORDON_READ_LIST, AT(links), CORDON_NULL_EMPTY},
    {"Memory", CORDON_READ_INT, AT(memory_bytes), CORDON_NULL_UNKNOWN},
    {"MemorySwap", CORDON_READ_INT, AT(memory_swap_bytes), CORDON_NULL_UNKNOWN},
    {"PidsLimit", CORDON_READ_INT, AT(pids), CORDON_NULL_UNKNOWN},
    {"ShmSize", CORDON_READ_INT, AT(shm_bytes), CORDON_NULL_UNKNOWN},
    {"OomScoreAdj", CORDON_READ_INT, AT(oom_score_adj), CORDON_NULL_UNKNOWN},
    {"OomKillDisable", CORDON_READ_BOOL, AT(oom_kill_disable), CORDON_NULL_UNKNOWN},
    {"AutoRemove", CORDON_READ_BOOL, AT(auto_remove), CORDON_NULL_UNKNOWN},
};

const cordon_factread_harmless podman_container_harmless[] = {
    {"$.Created", "when it was made"},
    {"$.State.OciVersion", "of the runtime specification"},
    {"$.State.Running", "told by Status"},
    {"$.State.Paused", "told by Status"},
    {"$.State.ConmonPid", "the monitor's process id"},
    {"$.State.CgroupPath", "follows from CgroupParent and CgroupMode, which are facts"},
    {"$.State.StoppedByUser", "how it ended"},
    {"$.ImageDigest", "of the image; its id is the fact"},
    {"$.ImageName", "a name of the image; its id is the fact"},
    {"$.Config.Image", "a name of the image; its id is the fact"},
    {"$.Driver", "where layers lie on the host"},
    {"$.GraphDriver**", "where layers lie on the host"},
    {"$.lockNumber", "Podman's own book-keeping"},
    {"$.Config.Passwd", "a passwd entry for the user is added; it grants nothing"},
    {"$.Config.HealthcheckMaxLogCount", "there is no health check"},
    {"$.Config.HealthcheckMaxLogSize", "there is no health check"},
    {"$.HostConfig.CgroupManager", "how the host's Podman is set up"},
    {"$.HostConfig.CapDrop[*]", "the asking; what is left is the fact"},
    {"$.NetworkSettings.SandboxKey", "where the network namespace is mounted on the host"},
    {"$.NetworkSettings.Networks.*.IPPrefixLen", "the network's own facts have the subnet"},
};
const size_t podman_container_harmless_count =
    sizeof podman_container_harmless / sizeof podman_container_harmless[0];

/* --- identity and state --- */

static int decode_identity(podman_decoding *d, cordon_err *err)
{
    const char *id = NULL;
    const char *image = NULL;
    cordon_json root = d->section[PODMAN_ROOT];
    if (podman_read_id(root, "Id", &id, err) != 0 ||
        cordon_json_need_string(root, "Image", &image, err) != 0 ||
        cordon_fact_text_set(&d->facts->image_id, podman_bare_id(image), err) != 0)
        return -1;
    return cordon_fact_text_set(&d->facts->id, id, err);
}

static int never_is_empty(cordon_fact_text *slot, cordon_err *err)
{
    if (*slot && strcmp(*slot, PODMAN_NEVER) == 0)
        return cordon_fact_text_set(slot, "", err);
    return 0;
}

static cordon_run_state state_of(const char *word)
{
    static const struct {
        const char *word;
        cordon_run_state state;
    } states[] = {
        {"created", CORDON_STATE_CREATED},   {"initialized", CORDON_STATE_INITIALIZED},
        {"running", CORDON_STATE_RUNNING},   {"paused", CORDON_STATE_PAUSED},
        {"stopping", CORDON_STATE_STOPPING}, {"stopped", CORDON_STATE_EXITED},
        {"exited", CORDON_STATE_EXITED},     {"removing", CORDON_STATE_REMOVING},
    };
    for (size_t i = 0; i < COUNT(states); i++) {
        if (strcmp(states[i].word, word) == 0)
            return states[i].state;
    }
    return CORDON_STATE_UNKNOWN;
}

static int decode_state(podman_decoding *d, cordon_err *err)
{
    cordon_container_facts *facts = d->facts;
    cordon_json_string status = {0};
    if (cordon_json_get_string(d->section[PODMAN_STATE], "Status", &status, err) != 0 ||
        never_is_empty(&facts->started_at, err) != 0 ||
        never_is_empty(&facts->finished_at, err) != 0)
        return -1;
    if (status.has == CORDON_JSON_PRESENT)
        facts->state = state_of(status.text);
    /* Podman 4 on cgroup v1 says false even of one that the kernel killed, which ends with 137 */
    if (d->major < 5 && facts->exit_code.value == 137 && facts->oom_killed == CORDON_FACT_NO)
        facts->oom_killed = CORDON_FACT_UNKNOWN;
    if (facts->state == CORDON_STATE_UNKNOWN && status.has == CORDON_JSON_PRESENT &&
        podman_odd(d, "$.State.Status", status.text, err) != 0)
        return -1;
    if (facts->exit_code.known && (facts->exit_code.value < 0 || facts->exit_code.value > 255)) {
        facts->exit_code = (cordon_fact_int){0};
        return podman_odd(d, "$.State.ExitCode", "out of range", err);
    }
    return 0;
}

/* --- process --- */

static int decode_argv(podman_decoding *d, cordon_err *err)
{
    cordon_json_string path = {0};
    cordon_json_place args = {0};
    cordon_json root = d->section[PODMAN_ROOT];
    if (cordon_json_get_string(root, "Path", &path, err) != 0 ||
        cordon_json_get_array(root, "Args", &args, err) != 0)
        return -1;
    if (path.has != CORDON_JSON_PRESENT || args.has == CORDON_JSON_ABSENT)
        return 0;
    if (cordon_fact_list_add(&d->facts->argv, path.text, err) != 0)
        return -1;
    return args.has == CORDON_JSON_PRESENT ? cordon_factread_texts(args.value, &d->facts->argv, err)
                                           : 0;
}

/* True when list begins (from `at`) with these items. */
static bool has_items_at(const cordon_fact_list *list, size_t at, const cordon_fact_list *items)
{
    for (size_t i = 0; i < items->count; i++) {
        if (at + i >= list->count || strcmp(list->items[at + i], items->items[i]) != 0)
            return false;
    }
    return true;
}

/* True when the items from start up to end, with one blank between, are this text. */
static bool joined_is(const cordon_fact_list *list, size_t start, size_t end, const char *text)
{
    for (size_t i = start; i < end; i++) {
        size_t length = strlen(list->items[i]);
        if (strncmp(text, list->items[i], length) != 0)
            return false;
        text += length;
        if (i + 1 < end && *text++ != ' ')
            return false;
    }
    return *text == '\0';
}

/* The words before the entry point that are an init of Podman's: "/run/podman-init", "--". */
static size_t init_words(const cordon_fact_list *argv)
{
    return argv->count > 2 && strcmp(argv->items[1], "--") == 0 ? 2 : 0;
}

/*
 * Podman 4 joins the entry point with blanks. Path and Args have the elements: what stands in
 * them before the command, if it joins to the same text.
 */
static int decode_joined_entrypoint(podman_decoding *d, const char *text, cordon_err *err)
{
    cordon_container_facts *facts = d->facts;
    const cordon_fact_list *argv = &facts->argv;
    if (!argv->known || !facts->command.known || argv->count < facts->command.count ||
        !has_items_at(argv, argv->count - facts->command.count, &facts->command))
        return podman_odd(d, "$.Config.Entrypoint", text, err);
    size_t end = argv->count - facts->command.count;
    size_t start = joined_is(argv, 0, end, text) ? 0 : init_words(argv);
    if (start > end || !joined_is(argv, start, end, text))
        return podman_odd(d, "$.Config.Entrypoint", text, err);
    for (size_t i = start; i < end; i++) {
        if (cordon_fact_list_add(&facts->entrypoint, argv->items[i], err) != 0)
            return -1;
    }
    cordon_fact_list_known(&facts->entrypoint);
    return 0;
}

static int decode_entrypoint(podman_decoding *d, cordon_err *err)
{
    cordon_json_place place = {0};
    cordon_json_string text = {0};
    if (cordon_json_get_any(d->section[PODMAN_CONFIG], "Entrypoint", &place, err) != 0)
        return -1;
    if (place.has == CORDON_JSON_ABSENT)
        return 0;
    if (place.has == CORDON_JSON_NULL) {
        cordon_fact_list_known(&d->facts->entrypoint);
        return 0;
    }
    if (cordon_json_type_of(place.value) == CORDON_JSON_TYPE_ARRAY)
        return cordon_factread_texts(place.value, &d->facts->entrypoint, err);
    if (cordon_json_as_string(place.value, &text, err) != 0)
        return -1;
    return decode_joined_entrypoint(d, text.text, err);
}

/*
 * An init of Podman's shows in Init, in an annotation, and as the first word of what is run.
 * Absent Init means nothing by itself; that entry point and command alone are run does.
 */
static int decode_init(podman_decoding *d, cordon_err *err)
{
    cordon_container_facts *facts = d->facts;
    cordon_json_bool init = {0};
    if (cordon_json_get_bool(d->section[PODMAN_HOST], "Init", &init, err) != 0)
        return -1;
    if (init.has == CORDON_JSON_PRESENT && init.value)
        facts->init = CORDON_FACT_YES;
    else if (facts->argv.known && facts->entrypoint.known && facts->command.known)
        facts->init = facts->argv.count == facts->entrypoint.count + facts->command.count &&
                              has_items_at(&facts->argv, 0, &facts->entrypoint)
                          ? CORDON_FACT_NO
                          : CORDON_FACT_YES;
    return 0;
}

static const char *signal_name(int64_t number)
{
    static const char *const names[] = {
        [1] = "SIGHUP",   [2] = "SIGINT",   [3] = "SIGQUIT",  [9] = "SIGKILL",
        [10] = "SIGUSR1", [12] = "SIGUSR2", [15] = "SIGTERM", [28] = "SIGWINCH",
    };
    return number > 0 && number < (int64_t)COUNT(names) ? names[number] : NULL;
}

/* A number on Podman 4, a name on Podman 5. */
static int decode_stop_signal(podman_decoding *d, cordon_err *err)
{
    cordon_json_place place = {0};
    cordon_json_string text = {0};
    cordon_json_i64 number = {0};
    if (cordon_json_get_any(d->section[PODMAN_CONFIG], "StopSignal", &place, err) != 0)
        return -1;
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    if (cordon_json_type_of(place.value) == CORDON_JSON_TYPE_STRING) {
        if (cordon_json_as_string(place.value, &text, err) != 0)
            return -1;
        return cordon_fact_text_set(&d->facts->stop_signal, text.text, err);
    }
    if (cordon_json_as_i64(place.value, &number, err) != 0)
        return -1;
    const char *name = signal_name(number.value);
    if (name == NULL)
        return podman_odd(d, "$.Config.StopSignal", "a signal without a name", err);
    return cordon_fact_text_set(&d->facts->stop_signal, name, err);
}

/*
 * StdinOnce is written as false whatever happens (container_inspect.go has it on its list). What
 * holds for every container of libpod: conmon is started without --leave-stdin-open, so an open
 * stdin ends with the first client that attached it.
 */
static int decode_stdin(podman_decoding *d, cordon_err *err)
{
    cordon_json_bool once = {0};
    if (cordon_json_get_bool(d->section[PODMAN_CONFIG], "StdinOnce", &once, err) != 0)
        return -1;
    d->facts->stdin_once =
        once.has == CORDON_JSON_PRESENT && once.value ? CORDON_FACT_YES : d->facts->open_stdin;
    return 0;
}

static int decode_healthcheck(podman_decoding *d, cordon_err *err)
{
    static const cordon_factread_field test[] = {
        {"Test", CORDON_READ_LIST, AT(healthcheck), CORDON_NULL_EMPTY},
    };
    cordon_json_place check = {0};
    if (cordon_json_get_object(d->section[PODMAN_CONFIG], "Healthcheck", &check, err) != 0)
        return -1;
    if (check.has != CORDON_JSON_PRESENT)
        return 0;
    return cordon_factread_fields(check.value, FIELDS(test), d->facts, err);
}

int podman_odd(podman_decoding *d, const char *path, const char *text, cordon_err *err)
{
    return cordon_fact_list_addf(&d->facts->unmodelled, err, "%s = \"%s\"", path,
                                 CORDON_QUOTE(text));
}

/* --- the whole --- */

static int decode_tables(podman_decoding *d, cordon_err *err)
{
    static const struct {
        podman_section section;
        const cordon_factread_field *fields;
        size_t count;
    } tables[] = {
        {PODMAN_ROOT, FIELDS(root_fields)},
        {PODMAN_STATE, FIELDS(state_fields)},
        {PODMAN_CONFIG, FIELDS(config_fields)},
        {PODMAN_HOST, FIELDS(host_fields)},
    };
    for (size_t i = 0; i < COUNT(tables); i++) {
        if (cordon_factread_fields(d->section[tables[i].section], tables[i].fields, tables[i].count,
                                   d->facts, err) != 0)
            return -1;
    }
    return 0;
}

static int open_sections(podman_decoding *d, cordon_json root, cordon_err *err)
{
    static const char *const keys[] = {
        [PODMAN_STATE] = "State",
        [PODMAN_CONFIG] = "Config",
        [PODMAN_HOST] = "HostConfig",
        [PODMAN_NETWORK] = "NetworkSettings",
    };
    cordon_json_string folder = {0};
    d->section[PODMAN_ROOT] = root;
    for (size_t i = PODMAN_STATE; i < PODMAN_SECTIONS; i++) {
        if (cordon_json_need_object(root, keys[i], &d->section[i], err) != 0)
            return -1;
    }
    if (cordon_json_get_string(root, "StaticDir", &folder, err) != 0)
        return -1;
    d->static_dir = folder.has == CORDON_JSON_PRESENT ? folder.text : "";
    return 0;
}

/* Told once it has been written; it is always written into the container's own folder. */
static int decode_runtime_config(podman_decoding *d, cordon_err *err)
{
    cordon_json_string path = {0};
    cordon_auto(cordon_buf) later = cordon_buf_make(PODMAN_PATH_MAX);
    if (cordon_json_get_string(d->section[PODMAN_ROOT], "OCIConfigPath", &path, err) != 0)
        return -1;
    if (path.has == CORDON_JSON_PRESENT && *path.text)
        return cordon_fact_text_set(&d->facts->runtime_config, path.text, err);
    if (!*d->static_dir)
        return 0;
    if (cordon_buf_printf(&later, err, "%s/config.json", d->static_dir) != 0)
        return -1;
    return cordon_fact_text_set(&d->facts->runtime_config, cordon_buf_text(&later), err);
}

static int decode(podman_decoding *d, cordon_err *err)
{
    static int (*const steps[])(podman_decoding *, cordon_err *) = {
        decode_identity,    decode_tables,         decode_state,       decode_argv,
        decode_entrypoint,  decode_init,           decode_stop_signal, decode_stdin,
        decode_healthcheck, podman_read_host,      podman_read_mounts, podman_read_endpoints,
        podman_read_fixed,  decode_runtime_config,
    };
    for (size_t i = 0; i < COUNT(steps); i++) {
        if (steps[i](d, err) != 0)
            return -1;
    }
    return 0;
}

int podman_decode_container(const void *bytes, size_t length, int major,
                            cordon_container_facts *ret_facts, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_container_facts) facts = {0};
    podman_decoding d = {.major = major, .facts = &facts};
    if (cordon_json_parse(bytes, length, PODMAN_ANSWER_MAX, 0, &doc, err) != 0)
        return -1;
    cordon_json root = cordon_json_root(doc);
    if (open_sections(&d, root, err) != 0 || decode(&d, err) != 0)
        return -1;
    if (cordon_factread_leftovers(root, podman_container_harmless, podman_container_harmless_count,
                                  &facts.unmodelled, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_container_facts){0};
    return 0;
}

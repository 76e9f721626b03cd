/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file systems of a container inspect. Docker shows them three times: $.Mounts is what it
 * resolved, $.HostConfig.Mounts and $.HostConfig.Tmpfs what it was asked for. The facts are the
 * resolved ones, with the options that only the question shows, and every question must have its
 * answer. $.HostConfig.Binds stays unread: Cordon never asks that way, so one is unmodelled.
 */
#include "docker_decode_internal.h"

#include <string.h>

#include "kit/num.h"

static cordon_mount_type type_of(const char *text)
{
    static const struct {
        const char *text;
        cordon_mount_type type;
    } types[] = {
        {"bind", CORDON_MOUNT_BIND},
        {"tmpfs", CORDON_MOUNT_TMPFS},
        {"volume", CORDON_MOUNT_VOLUME},
        {"image", CORDON_MOUNT_IMAGE},
    };
    for (size_t i = 0; i < DOCKER_COUNT(types); i++) {
        if (strcmp(text, types[i].text) == 0)
            return types[i].type;
    }
    return CORDON_MOUNT_OTHER;
}

static int read_mount_place(cordon_json at, cordon_mount_fact *mount, cordon_err *err)
{
    /* a volume's source is its name; what Docker calls so is where it lies on the daemon's host */
    bool named = mount->type == CORDON_MOUNT_VOLUME;
    const cordon_factread_field fields[] = {
        {"Destination", CORDON_READ_TEXT, offsetof(cordon_mount_fact, target), CORDON_NULL_UNKNOWN},
        {"Propagation", CORDON_READ_TEXT, offsetof(cordon_mount_fact, propagation),
         CORDON_NULL_UNKNOWN},
        {named ? "Name" : "Source", CORDON_READ_TEXT, offsetof(cordon_mount_fact, source),
         CORDON_NULL_UNKNOWN},
        {"Source", CORDON_READ_TEXT, offsetof(cordon_mount_fact, place), CORDON_NULL_UNKNOWN},
    };
    return cordon_factread_fields(at, fields, DOCKER_COUNT(fields) - (named ? 0 : 1), mount, err);
}

/*
 * SELinux mode ("z" for every volume, asked for or not) and driver of a volume; on any other mount
 * they stay unread, so must be empty.
 */
static int read_volume(cordon_json at, cordon_fact_list *unmodelled, cordon_err *err)
{
    const char *driver = NULL;
    const char *mode = NULL;
    if (cordon_json_need_string(at, "Driver", &driver, err) != 0 ||
        cordon_json_need_string(at, "Mode", &mode, err) != 0 ||
        (strcmp(driver, "local") != 0 && cordon_factread_odd(at, driver, unmodelled, err) != 0))
        return -1;
    if (mode[0] == '\0' || strcmp(mode, "z") == 0)
        return 0;
    return cordon_factread_odd(at, mode, unmodelled, err);
}

static int read_resolved(cordon_json at, cordon_mount_fact *mount, cordon_fact_list *unmodelled,
                         cordon_err *err)
{
    const char *type = NULL;
    cordon_json_bool writable = {0};
    if (cordon_json_need_string(at, "Type", &type, err) != 0)
        return -1;
    mount->type = type_of(type);
    if (read_mount_place(at, mount, err) != 0 ||
        cordon_json_get_bool(at, "RW", &writable, err) != 0)
        return -1;
    if (writable.has == CORDON_JSON_PRESENT)
        mount->read_only = writable.value ? CORDON_FACT_NO : CORDON_FACT_YES;
    cordon_fact_list_known(&mount->options);
    return mount->type == CORDON_MOUNT_VOLUME ? read_volume(at, unmodelled, err) : 0;
}

static int read_all_resolved(cordon_json root, cordon_container_facts *facts, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_array(root, "Mounts", &place, err) != 0)
        return -1;
    if (place.has == CORDON_JSON_ABSENT)
        return 0;
    facts->mounts.known = true;
    cordon_json_iter it = docker_items(place);
    while (cordon_json_next(&it)) {
        cordon_mount_fact *mount = NULL;
        if (cordon_mount_facts_add(&facts->mounts, &mount, err) != 0 ||
            read_resolved(it.value, mount, &facts->unmodelled, err) != 0)
            return -1;
    }
    return 0;
}

static cordon_mount_fact *find_mount(cordon_mount_facts *mounts, const char *target)
{
    for (size_t i = 0; i < mounts->count; i++) {
        if (mounts->items[i].target && strcmp(mounts->items[i].target, target) == 0)
            return &mounts->items[i];
    }
    return NULL;
}

static bool same(const char *fact, const char *asked)
{
    return fact && strcmp(fact, asked) == 0;
}

/* What was asked for, key by key. Absent (Go's omitempty) is false or "". */
typedef struct docker_asked_mount {
    const char *type;
    const char *target;
    cordon_json_string source;
    cordon_json_bool read_only;
    cordon_json_string propagation;
    cordon_json_bool non_recursive;
    cordon_json_bool no_copy;
} docker_asked_mount;

static int read_asked_options(cordon_json at, docker_asked_mount *asked, cordon_err *err)
{
    cordon_json_place bind = {0};
    cordon_json_place volume = {0};
    if (cordon_json_get_object(at, "BindOptions", &bind, err) != 0 ||
        cordon_json_get_object(at, "VolumeOptions", &volume, err) != 0)
        return -1;
    if (bind.has == CORDON_JSON_PRESENT &&
        (cordon_json_get_string(bind.value, "Propagation", &asked->propagation, err) != 0 ||
         cordon_json_get_bool(bind.value, "NonRecursive", &asked->non_recursive, err) != 0))
        return -1;
    return volume.has == CORDON_JSON_PRESENT
               ? cordon_json_get_bool(volume.value, "NoCopy", &asked->no_copy, err)
               : 0;
}

static int read_asked(cordon_json at, docker_asked_mount *ret_asked, cordon_err *err)
{
    if (cordon_json_need_string(at, "Type", &ret_asked->type, err) != 0 ||
        cordon_json_need_string(at, "Target", &ret_asked->target, err) != 0 ||
        cordon_json_get_string(at, "Source", &ret_asked->source, err) != 0 ||
        cordon_json_get_bool(at, "ReadOnly", &ret_asked->read_only, err) != 0)
        return -1;
    return read_asked_options(at, ret_asked, err);
}

static bool agrees(const docker_asked_mount *asked, const cordon_mount_fact *mount)
{
    bool read_only = asked->read_only.has == CORDON_JSON_PRESENT && asked->read_only.value;
    const char *source = asked->source.has == CORDON_JSON_PRESENT ? asked->source.text : "";
    bool source_fits = source[0] == '\0' || same(mount->source, source);
    bool propagation_fits = asked->propagation.has != CORDON_JSON_PRESENT ||
                            same(mount->propagation, asked->propagation.text);
    return mount->type == type_of(asked->type) && source_fits && propagation_fits &&
           mount->read_only == (read_only ? CORDON_FACT_YES : CORDON_FACT_NO);
}

static int merge_asked(cordon_json at, cordon_container_facts *facts, cordon_err *err)
{
    docker_asked_mount asked = {0};
    if (read_asked(at, &asked, err) != 0)
        return -1;
    cordon_mount_fact *mount = find_mount(&facts->mounts, asked.target);
    if (!mount || !agrees(&asked, mount))
        return cordon_factread_odd(at, asked.target, &facts->unmodelled, err);
    if (asked.non_recursive.has == CORDON_JSON_PRESENT && asked.non_recursive.value &&
        cordon_fact_list_add(&mount->options, "nonrecursive", err) != 0)
        return -1;
    if (asked.no_copy.has == CORDON_JSON_PRESENT && asked.no_copy.value &&
        cordon_fact_list_add(&mount->options, "nocopy", err) != 0)
        return -1;
    cordon_fact_list_sort(&mount->options);
    return 0;
}

static int merge_all_asked(cordon_json host, cordon_container_facts *facts, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_array(host, "Mounts", &place, err) != 0)
        return -1;
    cordon_json_iter it = docker_items(place);
    while (cordon_json_next(&it)) {
        if (merge_asked(it.value, facts, err) != 0)
            return -1;
    }
    return 0;
}

/*
 * The options of one tmpfs, as they are in force: Docker starts with noexec, nosuid, nodev and
 * rprivate and lets each asked one override its opposite (moby, daemon/oci_linux.go).
 */
typedef struct docker_tmpfs {
    bool exec;
    bool suid;
    bool dev;
    bool read_only;
} docker_tmpfs;

static bool take_flag(docker_tmpfs *tmpfs, const char *word)
{
    const struct {
        const char *word;
        bool *flag;
        bool value;
    } flags[] = {
        {"exec", &tmpfs->exec, true},    {"noexec", &tmpfs->exec, false},
        {"suid", &tmpfs->suid, true},    {"nosuid", &tmpfs->suid, false},
        {"dev", &tmpfs->dev, true},      {"nodev", &tmpfs->dev, false},
        {"ro", &tmpfs->read_only, true}, {"rw", &tmpfs->read_only, false},
    };
    for (size_t i = 0; i < DOCKER_COUNT(flags); i++) {
        if (strcmp(word, flags[i].word) == 0) {
            *flags[i].flag = flags[i].value;
            return true;
        }
    }
    return false;
}

/* "size=16m" in bytes; a size that is no such number stays as it is. */
static int add_size(cordon_fact_list *options, const char *word, cordon_err *err)
{
    size_t length = strlen(word);
    const char *units = "kmg";
    const char *unit = length > 5 ? strchr(units, word[length - 1]) : NULL;
    size_t digits = length - 5 - (unit ? 1 : 0);
    uint64_t value = 0;
    cordon_err scratch = CORDON_ERR_INIT;
    if (cordon_num_u64(word + 5, digits, 0, (uint64_t)1 << 40, &value, &scratch) != 0)
        return cordon_fact_list_add(options, word, err);
    unsigned shift = unit ? 10U * (unsigned)(unit - units + 1) : 0;
    return cordon_fact_list_addf(options, err, "size=%llu", (unsigned long long)value << shift);
}

static int take_word(docker_tmpfs *tmpfs, cordon_mount_fact *mount, const char *word,
                     cordon_err *err)
{
    if (take_flag(tmpfs, word))
        return 0;
    if (strncmp(word, "size=", 5) == 0)
        return add_size(&mount->options, word, err);
    if (strcmp(word, "rprivate") == 0 || strcmp(word, "") == 0)
        return 0;
    return cordon_fact_list_add(&mount->options, word, err);
}

static int take_words(docker_tmpfs *tmpfs, cordon_mount_fact *mount, const char *text,
                      cordon_err *err)
{
    cordon_autofree char *copy = strdup(text);
    if (!copy)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    char *rest = copy;
    for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
        if (take_word(tmpfs, mount, word, err) != 0)
            return -1;
    }
    return 0;
}

static int finish_tmpfs(const docker_tmpfs *tmpfs, cordon_mount_fact *mount, cordon_err *err)
{
    cordon_fact_list *options = &mount->options;
    if ((!tmpfs->exec && cordon_fact_list_add(options, "noexec", err) != 0) ||
        (!tmpfs->suid && cordon_fact_list_add(options, "nosuid", err) != 0) ||
        (!tmpfs->dev && cordon_fact_list_add(options, "nodev", err) != 0))
        return -1;
    mount->read_only = tmpfs->read_only ? CORDON_FACT_YES : CORDON_FACT_NO;
    cordon_fact_list_known(options);
    cordon_fact_list_sort(options);
    return 0;
}

static int read_tmpfs(const char *target, const char *text, cordon_mount_facts *mounts,
                      cordon_err *err)
{
    docker_tmpfs tmpfs = {0};
    cordon_mount_fact *mount = NULL;
    if (cordon_mount_facts_add(mounts, &mount, err) != 0)
        return -1;
    mount->type = CORDON_MOUNT_TMPFS;
    if (cordon_fact_text_set(&mount->source, "", err) != 0 ||
        cordon_fact_text_set(&mount->target, target, err) != 0 ||
        cordon_fact_text_set(&mount->propagation, "rprivate", err) != 0 ||
        take_words(&tmpfs, mount, text, err) != 0)
        return -1;
    return finish_tmpfs(&tmpfs, mount, err);
}

static int read_all_tmpfs(cordon_json host, cordon_mount_facts *mounts, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_object(host, "Tmpfs", &place, err) != 0)
        return -1;
    cordon_json_iter it = docker_items(place);
    while (cordon_json_next(&it)) {
        cordon_json_string text = {0};
        if (cordon_json_as_string(it.value, &text, err) != 0)
            return -1;
        if (text.has != CORDON_JSON_PRESENT)
            return cordon_json_fail(it.value, err, "null, expected string");
        if (read_tmpfs(it.key, text.text, mounts, err) != 0)
            return -1;
    }
    return 0;
}

static int add_device(cordon_json at, cordon_fact_list *devices, cordon_err *err)
{
    const char *host = NULL;
    const char *inside = NULL;
    const char *rights = NULL;
    if (cordon_json_need_string(at, "PathOnHost", &host, err) != 0 ||
        cordon_json_need_string(at, "PathInContainer", &inside, err) != 0 ||
        cordon_json_need_string(at, "CgroupPermissions", &rights, err) != 0)
        return -1;
    return cordon_fact_list_addf(devices, err, "%s:%s:%s", host, inside, rights);
}

/* A request names drivers, ids and capabilities; its content stays unread, so it shows up twice. */
static int add_request(cordon_json at, cordon_fact_list *devices, cordon_err *err)
{
    return cordon_fact_list_addf(devices, err, "request:%s", CORDON_JSON_PATH(at));
}

static int add_rule(cordon_json at, cordon_fact_list *devices, cordon_err *err)
{
    cordon_json_string rule = {0};
    if (cordon_json_as_string(at, &rule, err) != 0)
        return -1;
    return cordon_fact_list_addf(devices, err, "rule:%s",
                                 rule.has == CORDON_JSON_PRESENT ? rule.text : "");
}

static int read_device_list(cordon_json host, const char *key,
                            int (*add)(cordon_json, cordon_fact_list *, cordon_err *),
                            cordon_fact_list *devices, bool *known, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_array(host, key, &place, err) != 0)
        return -1;
    if (place.has == CORDON_JSON_ABSENT)
        *known = false;
    cordon_json_iter it = docker_items(place);
    while (cordon_json_next(&it)) {
        if (add(it.value, devices, err) != 0)
            return -1;
    }
    return 0;
}

static int read_devices(cordon_json host, cordon_container_facts *facts, cordon_err *err)
{
    bool known = true;
    cordon_fact_list *devices = &facts->devices;
    if (read_device_list(host, "Devices", add_device, devices, &known, err) != 0 ||
        read_device_list(host, "DeviceRequests", add_request, devices, &known, err) != 0 ||
        read_device_list(host, "DeviceCgroupRules", add_rule, devices, &known, err) != 0)
        return -1;
    /* SECURITY: no devices is known only when all three keys said so */
    if (known)
        cordon_fact_list_known(devices);
    cordon_fact_list_sort(devices);
    return 0;
}

static int by_target(const void *a, const void *b)
{
    const cordon_mount_fact *left = a;
    const cordon_mount_fact *right = b;
    return strcmp(left->target ? left->target : "", right->target ? right->target : "");
}

int docker_read_mounts(cordon_json root, cordon_json host, cordon_container_facts *facts,
                       cordon_err *err)
{
    if (read_all_resolved(root, facts, err) != 0 || merge_all_asked(host, facts, err) != 0 ||
        read_all_tmpfs(host, &facts->mounts, err) != 0)
        return -1;
    if (facts->mounts.count > 1) /* their order is random */
        qsort(facts->mounts.items, facts->mounts.count, sizeof *facts->mounts.items, by_target);
    return read_devices(host, facts, err);
}

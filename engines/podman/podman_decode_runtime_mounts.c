/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounts of an OCI configuration -> facts. What Podman mounts into every container, in the way
 * it always does, is taken out by a table; all others become facts, also one that stands where
 * Podman's own would but is not like it.
 */
#include <stdio.h>
#include <string.h>

#include "podman_decode_internal.h"
#include "podman_internal.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/*
 * One mount of Podman's own.
 * source  as it stands there; of a bind: the name of a file in the container's folder
 * need    options that must be there; may: that may be there; blank-separated. No other one is.
 */
typedef struct own_mount {
    const char *target;
    const char *type;
    const char *source;
    const char *need;
    const char *may;
} own_mount;

#define OWN_FILE "bind ro nosuid noexec nodev"

static const own_mount own_mounts[] = {
    {"/proc", "proc", "proc", "nosuid noexec nodev", ""},
    {"/sys", "sysfs", "sysfs", "ro nosuid noexec nodev", ""},
    {"/sys/fs/cgroup", "cgroup", "cgroup", "ro nosuid noexec nodev", "rprivate relatime"},
    {"/dev", "tmpfs", "tmpfs", "nosuid strictatime mode=755 size=65536k", "noexec ro"},
    {"/dev/pts", "devpts", "devpts", "nosuid noexec newinstance ptmxmode=0666 mode=0620", "gid=5"},
    {"/dev/mqueue", "mqueue", "mqueue", "nosuid noexec nodev", ""},
    {"/dev/shm", "bind", "shm", "bind nosuid noexec nodev", "rprivate ro"},
    {"/etc/passwd", "bind", "passwd", OWN_FILE, "rprivate"},
    {"/etc/group", "bind", "group", OWN_FILE, "rprivate"},
    {"/etc/hostname", "bind", "hostname", OWN_FILE, "rprivate"},
    {"/etc/resolv.conf", "bind", "resolv.conf", OWN_FILE, "rprivate"},
    {"/run/.containerenv", "bind", ".containerenv", OWN_FILE, "rprivate"},
};

typedef struct spec_mount {
    const char *target;
    const char *type;
    const char *source;
    cordon_fact_list options;
} spec_mount;

static void spec_mount_clear(spec_mount *m)
{
    cordon_fact_list_clear(&m->options);
}
CORDON_DEFINE_AUTO(spec_mount, spec_mount_clear)

static bool has_option(const cordon_fact_list *options, const char *word, size_t length)
{
    for (size_t i = 0; i < options->count; i++) {
        if (strlen(options->items[i]) == length && memcmp(options->items[i], word, length) == 0)
            return true;
    }
    return false;
}

static bool is_word_of(const char *words, const char *option)
{
    size_t length = strlen(option);
    for (const char *at = words; *at;) {
        size_t word = strcspn(at, " ");
        if (word == length && memcmp(at, option, length) == 0)
            return true;
        at += word + (at[word] == ' ');
    }
    return false;
}

static bool has_all(const cordon_fact_list *options, const char *words)
{
    for (const char *at = words; *at;) {
        size_t word = strcspn(at, " ");
        if (!has_option(options, at, word))
            return false;
        at += word + (at[word] == ' ');
    }
    return true;
}

static bool options_are_own(const own_mount *own, const cordon_fact_list *options)
{
    for (size_t i = 0; i < options->count; i++) {
        if (!is_word_of(own->need, options->items[i]) && !is_word_of(own->may, options->items[i]))
            return false;
    }
    return has_all(options, own->need);
}

static bool ends_with(const char *text, const char *tail)
{
    size_t length = strlen(text);
    size_t tail_length = strlen(tail);
    return length >= tail_length && strcmp(text + length - tail_length, tail) == 0;
}

static bool source_is_own(const podman_spec *spec, const own_mount *own, const char *source)
{
    char tail[CORDON_ID_HEX + 64];
    if (strcmp(own->type, "bind") != 0)
        return strcmp(own->source, source) == 0;
    (void)snprintf(tail, sizeof tail, "/%s/userdata/%s", spec->id, own->source);
    return source[0] == '/' && strstr(source, "/../") == NULL && ends_with(source, tail);
}

static bool is_own(const podman_spec *spec, const spec_mount *m)
{
    for (size_t i = 0; i < COUNT(own_mounts); i++) {
        if (strcmp(own_mounts[i].target, m->target) == 0 &&
            strcmp(own_mounts[i].type, m->type) == 0)
            return source_is_own(spec, &own_mounts[i], m->source) &&
                   options_are_own(&own_mounts[i], &m->options);
    }
    return false;
}

/* "lowerdir=<layers of an image>:/.../<id>/userdata/overlay/N/lower". */
static bool is_image_layers(const char *option, const char *folder)
{
    static const char head[] = "lowerdir=";
    const char *layers = option + sizeof head - 1;
    if (strncmp(option, head, sizeof head - 1) != 0)
        return false;
    size_t length = strcspn(layers, ":");
    const char *own = layers + length;
    return podman_is_layer(layers, length) && own[0] == ':' && own[1] == '/' &&
           strchr(own + 1, ':') == NULL && strstr(own, "/../") == NULL &&
           strstr(own, folder) != NULL && ends_with(own, "/lower");
}

/*
 * An image mount: an overlay that Podman made below the container's folder, of lower layers alone,
 * which the kernel mounts read-only (Documentation/filesystems/overlayfs.rst).
 */
static bool is_image(const podman_spec *spec, const spec_mount *m)
{
    static const char also[] = "private rprivate userxattr ro";
    char folder[CORDON_ID_HEX + 64];
    size_t lower = 0;
    (void)snprintf(folder, sizeof folder, "/%s/userdata/overlay/", spec->id);
    if (strcmp(m->type, "overlay") != 0 || strstr(m->source, folder) == NULL ||
        !ends_with(m->source, "/merge") || strstr(m->source, "/../") != NULL)
        return false;
    for (size_t i = 0; i < m->options.count; i++) {
        const char *option = m->options.items[i];
        if (is_image_layers(option, folder))
            lower++;
        else if (!is_word_of(also, option))
            return false;
    }
    return lower == 1;
}

static cordon_mount_type type_of(const podman_spec *spec, const spec_mount *m)
{
    if (is_image(spec, m))
        return CORDON_MOUNT_IMAGE;
    if (strcmp(m->type, "bind") == 0)
        return CORDON_MOUNT_BIND;
    return strcmp(m->type, "tmpfs") == 0 ? CORDON_MOUNT_TMPFS : CORDON_MOUNT_OTHER;
}

/* Options of the facts: without those that have a fact of their own. */
static int add_options(const spec_mount *m, cordon_mount_fact *fact, cordon_err *err)
{
    static const char propagations[] =
        "private rprivate shared rshared slave rslave unbindable runbindable";
    bool recursive = has_option(&m->options, "rbind", strlen("rbind"));
    cordon_fact_list_known(&fact->options);
    for (size_t i = 0; i < m->options.count; i++) {
        const char *option = m->options.items[i];
        if (is_word_of("ro rw rbind", option) || (recursive && strcmp(option, "bind") == 0))
            continue;
        if (is_word_of(propagations, option)) {
            if (cordon_fact_text_set(&fact->propagation, option, err) != 0)
                return -1;
            continue;
        }
        if (cordon_fact_list_add(&fact->options,
                                 strcmp(option, "bind") == 0 ? "nonrecursive" : option, err) != 0)
            return -1;
    }
    cordon_fact_list_sort(&fact->options);
    return 0;
}

/* Writable unless it says otherwise; what says both stays unknown. */
static cordon_fact_bool read_only(const spec_mount *m)
{
    bool ro = has_option(&m->options, "ro", 2);
    bool rw = has_option(&m->options, "rw", 2);
    if (ro && rw)
        return CORDON_FACT_UNKNOWN;
    return ro ? CORDON_FACT_YES : CORDON_FACT_NO;
}

/* The configuration does not say which image it was; the container's own facts do. */
static int add_image(const spec_mount *m, cordon_mount_fact *fact, cordon_err *err)
{
    fact->read_only = CORDON_FACT_YES;
    cordon_fact_list_known(&fact->options);
    return cordon_fact_text_set(&fact->target, m->target, err);
}

/* Nothing outside is part of a tmpfs; what stands as its source is a word. */
static bool is_plain_tmpfs(const spec_mount *m)
{
    return strcmp(m->type, "tmpfs") == 0 && strcmp(m->source, "tmpfs") == 0;
}

static int add_mount(podman_spec *spec, const spec_mount *m, cordon_err *err)
{
    cordon_mount_fact *fact = NULL;
    if (cordon_mount_facts_add(&spec->facts->mounts, &fact, err) != 0)
        return -1;
    fact->type = type_of(spec, m);
    if (fact->type == CORDON_MOUNT_IMAGE)
        return add_image(m, fact, err);
    fact->read_only = read_only(m);
    if (cordon_fact_text_set(&fact->target, m->target, err) != 0 ||
        cordon_fact_text_set(&fact->source, is_plain_tmpfs(m) ? "" : m->source, err) != 0)
        return -1;
    return add_options(m, fact, err);
}

static int read_mount(cordon_json at, spec_mount *ret, cordon_err *err)
{
    cordon_json_string source = {0};
    cordon_json_string type = {0};
    cordon_json_place options = {0};
    if (cordon_json_need_string(at, "destination", &ret->target, err) != 0 ||
        cordon_json_get_string(at, "type", &type, err) != 0 ||
        cordon_json_get_string(at, "source", &source, err) != 0 ||
        cordon_json_get_array(at, "options", &options, err) != 0)
        return -1;
    ret->type = type.has == CORDON_JSON_PRESENT ? type.text : "";
    ret->source = source.has == CORDON_JSON_PRESENT ? source.text : "";
    return options.has == CORDON_JSON_PRESENT
               ? cordon_factread_texts(options.value, &ret->options, err)
               : 0;
}

int podman_spec_read_mounts(podman_spec *spec, cordon_err *err)
{
    cordon_json_place mounts = {0};
    if (cordon_json_get_array(spec->root, "mounts", &mounts, err) != 0)
        return -1;
    spec->facts->mounts.known = true;
    if (mounts.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(mounts.value); cordon_json_next(&it);) {
        cordon_auto(spec_mount) m = {0};
        if (read_mount(it.value, &m, err) != 0 ||
            (!is_own(spec, &m) && add_mount(spec, &m, err) != 0))
            return -1;
    }
    return 0;
}

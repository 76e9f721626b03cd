/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libpod tells of mounts in three places: Mounts (binds, volumes, images), HostConfig.Tmpfs, and
 * HostConfig.Binds, which repeats the first. Here they become one list, and what the third has
 * beyond the first is reported.
 *
 * An image mount that has been set up shows a second time, as a bind of an overlay that Podman
 * made for it below its own folder: { Source: ".../<id>/userdata/overlay/N/merge", RW: true,
 * Options: ["lowerdir=..."] }. Without an upper layer the kernel mounts an overlay read-only
 * (Documentation/filesystems/overlayfs.rst), whatever RW says, so this is the image mount itself.
 */
#include "podman_decode_internal.h"

#include <string.h>

#include "podman_internal.h"

#define AT(member)    offsetof(cordon_mount_fact, member)
#define FIELDS(table) (table), sizeof(table) / sizeof((table)[0])
#define COUNT(table)  (sizeof(table) / sizeof((table)[0]))

/* The texts of one entry of Mounts; borrowed from the document. */
typedef struct entry {
    const char *type;
    const char *name;
    const char *source;
    const char *target;
} entry;

static const cordon_factread_field mount_fields[] = {
    {"Propagation", CORDON_READ_TEXT, AT(propagation), CORDON_NULL_UNKNOWN},
    {"Options", CORDON_READ_LIST, AT(options), CORDON_NULL_EMPTY},
};

static bool starts_with(const char *text, const char *head)
{
    return strncmp(text, head, strlen(head)) == 0;
}

static bool ends_with(const char *text, const char *tail)
{
    size_t length = strlen(text);
    size_t tail_length = strlen(tail);
    return length >= tail_length && strcmp(text + length - tail_length, tail) == 0;
}

static bool is_one_of(const char *text, size_t length, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0)
            return true;
    }
    return false;
}

static int read_entry(cordon_json at, entry *ret, cordon_err *err)
{
    cordon_json_string name = {0};
    if (cordon_json_need_string(at, "Type", &ret->type, err) != 0 ||
        cordon_json_need_string(at, "Source", &ret->source, err) != 0 ||
        cordon_json_need_string(at, "Destination", &ret->target, err) != 0 ||
        cordon_json_get_string(at, "Name", &name, err) != 0)
        return -1;
    ret->name = name.has == CORDON_JSON_PRESENT ? name.text : "";
    return 0;
}

static cordon_mount_type type_of(const char *word)
{
    static const struct {
        const char *word;
        cordon_mount_type type;
    } types[] = {
        {"bind", CORDON_MOUNT_BIND},
        {"volume", CORDON_MOUNT_VOLUME},
        {"image", CORDON_MOUNT_IMAGE},
        {"tmpfs", CORDON_MOUNT_TMPFS},
    };
    for (size_t i = 0; i < COUNT(types); i++) {
        if (strcmp(types[i].word, word) == 0)
            return types[i].type;
    }
    return CORDON_MOUNT_OTHER;
}

/* "bind" is the mount(8) word for not recursive, "rbind" for what is the default elsewhere. */
static int normal_options(cordon_fact_list *options, cordon_err *err)
{
    cordon_auto(cordon_fact_list) normal = {0};
    normal.known = options->known;
    for (size_t i = 0; i < options->count; i++) {
        const char *option = options->items[i];
        if (strcmp(option, "rbind") == 0)
            continue;
        if (strcmp(option, "bind") == 0)
            option = "nonrecursive";
        if (cordon_fact_list_add(&normal, option, err) != 0)
            return -1;
    }
    cordon_fact_list_sort(&normal);
    cordon_fact_list_clear(options);
    *options = normal;
    normal = (cordon_fact_list){0};
    return 0;
}

static int decode_entry(podman_decoding *d, cordon_json at, const entry *e, cordon_err *err)
{
    cordon_mount_fact *fact = NULL;
    cordon_json_bool writable = {0};
    cordon_json_string driver = {0};
    if (cordon_mount_facts_add(&d->facts->mounts, &fact, err) != 0 ||
        cordon_json_get_bool(at, "RW", &writable, err) != 0 ||
        cordon_factread_fields(at, FIELDS(mount_fields), fact, err) != 0)
        return -1;
    fact->type = type_of(e->type);
    if (writable.has == CORDON_JSON_PRESENT)
        fact->read_only = writable.value ? CORDON_FACT_NO : CORDON_FACT_YES;
    bool volume = fact->type == CORDON_MOUNT_VOLUME;
    if (cordon_json_get_string(at, "Driver", &driver, err) != 0)
        return -1;
    const char *word = driver.has == CORDON_JSON_PRESENT ? driver.text : "";
    if (strcmp(word, volume ? "local" : "") != 0 &&
        podman_odd(d, "$.Mounts[*].Driver", *word ? word : "none of a volume", err) != 0)
        return -1;
    if (volume && cordon_fact_text_set(&fact->place, e->source, err) != 0)
        return -1;
    if (cordon_fact_text_set(&fact->source, volume ? e->name : podman_bare_id(e->source), err) !=
            0 ||
        cordon_fact_text_set(&fact->target, e->target, err) != 0)
        return -1;
    return normal_options(&fact->options, err);
}

/* --- image mounts that are set up --- */

static int has_image_mount(cordon_json mounts, const char *target, bool *ret, cordon_err *err)
{
    *ret = false;
    for (cordon_json_iter it = cordon_json_iterate(mounts); cordon_json_next(&it);) {
        entry e = {0};
        if (read_entry(it.value, &e, err) != 0)
            return -1;
        *ret = *ret || (strcmp(e.type, "image") == 0 && strcmp(e.target, target) == 0);
    }
    return 0;
}

/* SECURITY: an upper layer would make it writable; only lower layers are an image. */
static int has_lower_layers_alone(cordon_json at, bool *ret, cordon_err *err)
{
    cordon_auto(cordon_fact_list) options = {0};
    cordon_json_place place = {0};
    *ret = false;
    if (cordon_json_get_array(at, "Options", &place, err) != 0)
        return -1;
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    if (cordon_factread_texts(place.value, &options, err) != 0)
        return -1;
    size_t lower = 0;
    size_t other = 0;
    for (size_t i = 0; i < options.count; i++) {
        if (starts_with(options.items[i], "lowerdir="))
            lower++;
        else if (strcmp(options.items[i], "userxattr") != 0) /* rootless */
            other++;
    }
    *ret = lower == 1 && other == 0;
    return 0;
}

static bool is_own_overlay(const podman_decoding *d, const entry *e)
{
    size_t length = strlen(d->static_dir);
    return length > 0 && strcmp(e->type, "bind") == 0 && starts_with(e->source, d->static_dir) &&
           starts_with(e->source + length, "/overlay/") && ends_with(e->source, "/merge") &&
           strstr(e->source, "/../") == NULL;
}

static int is_image_overlay(podman_decoding *d, cordon_json mounts, cordon_json at, const entry *e,
                            bool *ret, cordon_err *err)
{
    bool lower_alone = false;
    bool known_target = false;
    *ret = false;
    if (!is_own_overlay(d, e))
        return 0;
    if (has_lower_layers_alone(at, &lower_alone, err) != 0 ||
        has_image_mount(mounts, e->target, &known_target, err) != 0)
        return -1;
    *ret = lower_alone && known_target;
    return 0;
}

/* "source:target" of every entry, as HostConfig.Binds begins. */
static int decode_array(podman_decoding *d, cordon_json mounts, cordon_fact_list *ret_pairs,
                        cordon_err *err)
{
    for (cordon_json_iter it = cordon_json_iterate(mounts); cordon_json_next(&it);) {
        entry e = {0};
        bool overlay = false;
        if (read_entry(it.value, &e, err) != 0 ||
            is_image_overlay(d, mounts, it.value, &e, &overlay, err) != 0)
            return -1;
        if (overlay)
            cordon_json_consume(it.value);
        else if (decode_entry(d, it.value, &e, err) != 0)
            return -1;
        const char *source = strcmp(e.type, "volume") == 0 ? e.name : e.source;
        if (cordon_fact_list_addf(ret_pairs, err, "%s:%s", source, e.target) != 0)
            return -1;
    }
    return 0;
}

/* --- HostConfig.Tmpfs --- */

static int add_tmpfs_option(cordon_mount_fact *fact, const char *word, size_t length,
                            cordon_err *err)
{
    static const char *const propagations[] = {
        "private", "shared", "rshared", "slave", "rslave", "unbindable", "runbindable",
    };
    cordon_auto(cordon_buf) copy = cordon_buf_make(length);
    if (cordon_buf_append(&copy, word, length, err) != 0)
        return -1;
    const char *text = cordon_buf_text(&copy);
    if (strcmp(text, "rw") == 0)
        fact->read_only = CORDON_FACT_NO;
    else if (strcmp(text, "ro") == 0)
        fact->read_only = CORDON_FACT_YES;
    else if (strcmp(text, "rprivate") == 0)
        return 0; /* the default; nothing outside is part of a tmpfs */
    else if (is_one_of(word, length, propagations, COUNT(propagations)))
        return cordon_fact_text_set(&fact->propagation, text, err);
    else
        return cordon_fact_list_add(&fact->options, text, err);
    return 0;
}

static int decode_tmpfs_entry(podman_decoding *d, const char *target, const char *options,
                              cordon_err *err)
{
    cordon_mount_fact *fact = NULL;
    if (cordon_mount_facts_add(&d->facts->mounts, &fact, err) != 0)
        return -1;
    fact->type = CORDON_MOUNT_TMPFS;
    cordon_fact_list_known(&fact->options);
    if (cordon_fact_text_set(&fact->source, "", err) != 0 ||
        cordon_fact_text_set(&fact->target, target, err) != 0)
        return -1;
    while (*options) {
        size_t length = strcspn(options, ",");
        if (length > 0 && add_tmpfs_option(fact, options, length, err) != 0)
            return -1;
        options += length + (options[length] == ',');
    }
    cordon_fact_list_sort(&fact->options);
    return 0;
}

static int decode_tmpfs(podman_decoding *d, bool *ret_told, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_object(d->section[PODMAN_HOST], "Tmpfs", &place, err) != 0)
        return -1;
    *ret_told = place.has != CORDON_JSON_ABSENT;
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(place.value); cordon_json_next(&it);) {
        cordon_json_string options = {0};
        if (cordon_json_as_string(it.value, &options, err) != 0)
            return -1;
        if (decode_tmpfs_entry(d, it.key, options.has == CORDON_JSON_PRESENT ? options.text : "",
                               err) != 0)
            return -1;
    }
    return 0;
}

/* --- HostConfig.Binds --- */

/* True for "source:target" or "source:target:options" of a known pair. */
static bool is_known_bind(const cordon_fact_list *pairs, const char *bind)
{
    for (size_t i = 0; i < pairs->count; i++) {
        size_t length = strlen(pairs->items[i]);
        if (strncmp(bind, pairs->items[i], length) == 0 &&
            (bind[length] == '\0' || bind[length] == ':'))
            return true;
    }
    return false;
}

static int check_binds(podman_decoding *d, const cordon_fact_list *pairs, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_array(d->section[PODMAN_HOST], "Binds", &place, err) != 0)
        return -1;
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(place.value); cordon_json_next(&it);) {
        cordon_json_string bind = {0};
        if (cordon_json_as_string(it.value, &bind, err) != 0)
            return -1;
        if (bind.has == CORDON_JSON_PRESENT && !is_known_bind(pairs, bind.text) &&
            cordon_factread_odd(it.value, bind.text, &d->facts->unmodelled, err) != 0)
            return -1;
    }
    return 0;
}

int podman_read_mounts(podman_decoding *d, cordon_err *err)
{
    cordon_auto(cordon_fact_list) pairs = {0};
    cordon_json_place place = {0};
    bool tmpfs_told = false;
    if (cordon_json_get_array(d->section[PODMAN_ROOT], "Mounts", &place, err) != 0)
        return -1;
    if (place.has == CORDON_JSON_PRESENT && decode_array(d, place.value, &pairs, err) != 0)
        return -1;
    if (decode_tmpfs(d, &tmpfs_told, err) != 0)
        return -1;
    /* SECURITY: a list of which one half is missing is not the whole list */
    d->facts->mounts.known = place.has != CORDON_JSON_ABSENT && tmpfs_told;
    return check_binds(d, &pairs, err);
}

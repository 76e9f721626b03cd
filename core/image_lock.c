/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the lock file of images and looking into it; see image_lock.h. */
#include "image_lock.h"

#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "kit/hash.h"
#include "kit/jsonr.h"
#include "text_list.h"

#define LOCK_DEPTH     4
#define LOCK_MAX_BYTES ((size_t)256 << 10)
#define LOWER_DIGITS   "abcdefghijklmnopqrstuvwxyz0123456789"

const char *const cordon_image_names[] = {"claude", "codex", "runner", NULL};

bool cordon_image_name_is_known(const char *name)
{
    for (size_t i = 0; cordon_image_names[i] != NULL; i++) {
        if (strcmp(cordon_image_names[i], name) == 0)
            return true;
    }
    return false;
}

void cordon_image_lock_clear(cordon_image_lock *lock)
{
    free(lock->path);
    *lock = (cordon_image_lock){0};
}

/* --- Texts -------------------------------------------------------------------------------- */

static bool is_engine(const char *text)
{
    static const char *const names[] = {
#define KIND_NAME(kind, name) name,
        CORDON_ENGINE_KINDS(KIND_NAME)
#undef KIND_NAME
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0)
            return true;
    }
    return false;
}

static bool is_architecture(const char *text)
{
    return text[0] != '\0' && strspn(text, LOWER_DIGITS) == strlen(text);
}

static bool is_digest(const char *text)
{
    return strncmp(text, "sha256:", 7) == 0 && strlen(text + 7) == CORDON_SHA256_HEX_SIZE - 1 &&
           cordon_hex_is_lower(text + 7, CORDON_SHA256_HEX_SIZE - 1);
}

static bool is_cli(const char *text)
{
    return strcmp(text, "claude") == 0 || strcmp(text, "codex") == 0;
}

static bool is_version(const char *text)
{
    return text[0] != '\0' &&
           strspn(text, LOWER_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZ.-+") == strlen(text);
}

/* "2026-11-30T06:40:00Z": the form alone; nothing depends on it. */
static bool is_time(const char *text)
{
    static const char form[] = "0000-00-00T00:00:00Z";

    if (strlen(text) != sizeof form - 1)
        return false;
    for (size_t i = 0; form[i] != '\0'; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';

        if (form[i] == '0' ? !digit : text[i] != form[i])
            return false;
    }
    return true;
}

/* One member of an entry. */
typedef struct lock_member {
    const char *key;
    size_t offset;
    size_t size;
    bool needed;
    bool (*is_good)(const char *text);
    const char *form;
} lock_member;

#define MEMBER(name, needed, is_good, form)                                                        \
    {                                                                                              \
#name, offsetof(cordon_image_entry, name), sizeof(((cordon_image_entry *)0)->name),        \
            (needed), (is_good), (form)                                                            \
    }

static const lock_member members[] = {
    MEMBER(name, true, cordon_image_name_is_known, "claude, codex or runner"),
    MEMBER(engine, true, is_engine, "docker or podman"),
    MEMBER(architecture, true, is_architecture, "an architecture such as amd64"),
    MEMBER(id, true, is_digest, "sha256:<64 hex digits>"),
    MEMBER(cli, false, is_cli, "claude or codex"),
    MEMBER(version, false, is_version, "a version such as 2.1.332"),
    MEMBER(recipe, false, is_digest, "sha256:<64 hex digits>"),
    MEMBER(pinned, true, is_time, "a time such as 2026-11-30T06:40:00Z"),
};

/* --- Reading ------------------------------------------------------------------------------ */

static int read_member(cordon_json object, const lock_member *member, cordon_image_entry *entry,
                       cordon_err *err)
{
    cordon_json_string text = {0};

    if (cordon_json_get_string(object, member->key, &text, err) != 0)
        return -1;
    if (text.has == CORDON_JSON_ABSENT && !member->needed)
        return 0;
    if (text.has != CORDON_JSON_PRESENT || text.length >= member->size ||
        !member->is_good(text.text))
        return cordon_json_fail(object, err, "%s: \"%s\" is not %s", member->key,
                                text.has == CORDON_JSON_PRESENT ? CORDON_QUOTE(text.text) : "",
                                member->form);
    memcpy((char *)entry + member->offset, text.text, text.length + 1);
    return 0;
}

/* What belongs together; a name that says a CLI cannot mean an image of another one. */
static int check_entry(cordon_json object, const cordon_image_entry *entry, cordon_err *err)
{
    if ((entry->cli[0] == '\0') != (entry->version[0] == '\0'))
        return cordon_json_fail(object, err, "cli and version stand together, or neither does");
    if (is_cli(entry->name) && entry->cli[0] != '\0' && strcmp(entry->cli, entry->name) != 0)
        return cordon_json_fail(object, err, "an image of %s is pinned as %s", entry->cli,
                                entry->name);
    return 0;
}

static int read_entry(cordon_json object, cordon_image_lock *lock, cordon_err *err)
{
    cordon_image_entry entry = {0};

    if (lock->count == CORDON_IMAGE_LOCK_MAX)
        return cordon_json_fail(object, err, "more than %d entries", CORDON_IMAGE_LOCK_MAX);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (read_member(object, &members[i], &entry, err) != 0)
            return -1;
    }
    if (check_entry(object, &entry, err) != 0)
        return -1;
    if (cordon_image_lock_find(lock, entry.name, entry.engine, entry.architecture) != NULL)
        return cordon_json_fail(object, err, "%s is pinned twice for %s on %s", entry.name,
                                entry.engine, entry.architecture);
    lock->entries[lock->count++] = entry;
    return 0;
}

static int refuse_leftover(void *context, const cordon_json_leftover *leftover, cordon_err *err)
{
    (void)context;
    return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s: unknown key", CORDON_QUOTE(leftover->path));
}

static int read_lock(cordon_json root, cordon_image_lock *lock, cordon_err *err)
{
    int64_t format = 0;
    cordon_json images = {0};
    cordon_json_place place = {0};

    if (cordon_json_need_i64(root, "cordon_images", &format, err) != 0)
        return -1;
    if (format != 1)
        return cordon_json_fail(root, err, "format %lld is not one that this Cordon knows",
                                (long long)format);
    if (cordon_json_need_array(root, "images", &images, err) != 0)
        return -1;
    for (cordon_json_iter it = cordon_json_iterate(images); cordon_json_next(&it);) {
        if (cordon_json_as_object(it.value, &place, err) != 0)
            return -1;
        if (place.has != CORDON_JSON_PRESENT)
            return cordon_json_fail(it.value, err, "null, expected object");
        if (read_entry(place.value, lock, err) != 0)
            return -1;
    }
    return cordon_json_leftovers(root, refuse_leftover, NULL, err);
}

int cordon_image_lock_parse(const char *file, const char *text, size_t length,
                            cordon_image_lock *lock, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_image_lock read = {0};
    cordon_err why = CORDON_ERR_INIT;

    if (cordon_json_parse(text, length, LOCK_MAX_BYTES, LOCK_DEPTH, &doc, &why) != 0 ||
        read_lock(cordon_json_root(doc), &read, &why) != 0) {
        cordon_code code = why.code == CORDON_ERR_NOMEM ? CORDON_ERR_NOMEM : CORDON_ERR_CONFIG;

        return CORDON_FAIL(err, code,
                           "image lock %s: %s; mend it, or make it again by cordon image pin",
                           CORDON_QUOTE(file), why.message);
    }
    lock->count = read.count;
    memcpy(lock->entries, read.entries, sizeof lock->entries);
    lock->present = true;
    return 0;
}

int cordon_image_lock_read(const cordon_trust *trust, const char *path, cordon_image_lock *lock,
                           cordon_err *err)
{
    cordon_autofree char *absolute = NULL;
    cordon_autofree char *text = NULL;
    size_t length = 0;
    cordon_err why = CORDON_ERR_INIT;

    lock->present = false;
    lock->count = 0;
    if (lock->path == NULL && cordon_path_absolute(path, &lock->path, err) != 0)
        return -1;
    if (cordon_trust_read(trust, lock->path, &absolute, &text, &length, &why) != 0) {
        if (why.code == CORDON_ERR_NOTFOUND)
            return 0;
        return CORDON_FAIL(err, why.code, "image lock %s", why.message);
    }
    return cordon_image_lock_parse(lock->path, text, length, lock, err);
}

/* --- Looking ------------------------------------------------------------------------------ */

const cordon_image_entry *cordon_image_lock_find(const cordon_image_lock *lock, const char *name,
                                                 const char *engine, const char *architecture)
{
    for (size_t i = 0; i < lock->count; i++) {
        const cordon_image_entry *entry = &lock->entries[i];

        if (strcmp(entry->name, name) == 0 && strcmp(entry->engine, engine) == 0 &&
            strcmp(entry->architecture, architecture) == 0)
            return entry;
    }
    return NULL;
}

int cordon_image_lock_version(const cordon_image_lock *lock, const char *name,
                              const char **ret_version, cordon_err *err)
{
    const char *version = NULL;

    for (size_t i = 0; i < lock->count; i++) {
        const cordon_image_entry *entry = &lock->entries[i];

        if (strcmp(entry->name, name) != 0 || entry->version[0] == '\0')
            continue;
        if (version != NULL && strcmp(version, entry->version) != 0)
            return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                               "image lock %s: its images of %s have versions %s and %s; pin the "
                               "same in both engines, or say which one by agents.%s",
                               CORDON_QUOTE(lock->path), name, version, entry->version, name);
        version = entry->version;
    }
    *ret_version = version;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Pinning and removing images; see cordon/image.h. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "image_rows.h"
#include "kit/hash.h"
#include "owner.h"

#define ID_PREFIX "sha256:"

static cordon_trust trust_of(const cordon_config *config)
{
    return (cordon_trust){.uid = config->uid, .worktree = config->worktree};
}

static int check_name(const char *name, cordon_err *err)
{
    if (name != NULL && cordon_image_name_is_known(name))
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                       "%s: no image is pinned under that name; use claude, codex or runner",
                       CORDON_QUOTE(name != NULL ? name : ""));
}

/* The digits of a full id in either form; NULL for anything else. */
static const char *id_digits(const char *text)
{
    const char *hex =
        strncmp(text, ID_PREFIX, strlen(ID_PREFIX)) == 0 ? text + strlen(ID_PREFIX) : text;

    return strlen(hex) == CORDON_ID_HEX && cordon_hex_is_lower(hex, CORDON_ID_HEX) ? hex : NULL;
}

/* --- Pinning -------------------------------------------------------------------------------- */

/* The one image that Cordon made for this CLI. *ret_id is "" when there is none. */
static int find_made(const cordon_image_scope *scope, const char *name, char ret_id[72],
                     cordon_err *err)
{
    cordon_auto(cordon_image_rows) rows = {0};
    const cordon_image *found = NULL;

    if (cordon_image_rows_read(scope, &rows, err) != 0)
        return -1;
    for (size_t i = 0; i < rows.count; i++) {
        const cordon_image *row = &rows.items[i];

        if (strcmp(row->kind, "agent") != 0 || strcmp(row->cli, name) != 0 ||
            (found != NULL && strcmp(found->id, row->id) == 0))
            continue;
        if (found != NULL)
            return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                               "there are several images of %s (%s is %s, %s is %s); say which "
                               "one: cordon image pin %s=IMAGE",
                               name, found->version, found->id, row->version, row->id, name);
        found = row;
    }
    (void)snprintf(ret_id, 72, "%s", found != NULL ? found->id : "");
    return 0;
}

/* What is to be pinned, as a reference for the engine. */
static int choose(const cordon_image_scope *scope, const char *name, const char *image,
                  char made[72], const char **ret_reference, cordon_err *err)
{
    *ret_reference = image;
    if (image != NULL)
        return 0;
    if (find_made(scope, name, made, err) != 0)
        return -1;
    *ret_reference = made[0] != '\0' ? made : cordon_image_scope_pin(scope, name);
    if (*ret_reference != NULL)
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_NOTFOUND,
                       "no image to pin as %s; %s%s%s, or say which one: cordon image pin %s=IMAGE",
                       name, strcmp(name, "runner") == 0 ? "build one" : "cordon image build ",
                       strcmp(name, "runner") == 0 ? "" : name, "", name);
}

/* A pin of the configuration that means another image would have every run refused. */
static int check_configured(const cordon_image_scope *scope, const char *name,
                            const cordon_image_facts *facts, cordon_err *err)
{
    const char *pin = cordon_image_scope_pin(scope, name);
    const char *digest = pin != NULL ? strchr(pin, '@') : NULL;

    if (pin == NULL || (digest == NULL && strcmp(pin + strlen(ID_PREFIX), facts->id) == 0))
        return 0;
    for (size_t i = 0; digest != NULL && i < facts->digests.count; i++) {
        const char *has = strchr(facts->digests.items[i], '@');

        if (has != NULL && strcmp(has, digest) == 0)
            return 0;
    }
    return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                       "images.%s of the configuration pins %s, which is another image; take that "
                       "key out (the lock file is enough), or pin that one",
                       name, CORDON_QUOTE(pin));
}

/* What no step may be made of, and what is another CLI's, is no pin. */
static int check_image(const cordon_image_scope *scope, const char *name,
                       const cordon_image_facts *facts, const cordon_image *row, cordon_err *err)
{
    bool agent = strcmp(row->kind, "agent") == 0;

    if (cordon_images_check_usable(&scope->engine->facts, facts, NULL, err) != 0)
        return -1;
    if (row->made && !agent)
        return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                           "%s is the guard, or an image with the guard on top, which Cordon makes "
                           "anew for every pin; pin the image itself",
                           row->id);
    if (agent && strcmp(name, "runner") != 0 && strcmp(row->cli, name) != 0)
        return CORDON_FAIL(err, CORDON_ERR_REFUSED, "%s is an image of %s, not of %s", row->id,
                           row->cli, name);
    return check_configured(scope, name, facts, err);
}

static void fill_entry(const cordon_image_scope *scope, const char *name, const cordon_image *row,
                       cordon_image_entry *entry)
{
    time_t now = time(NULL);
    struct tm utc;

    (void)snprintf(entry->name, sizeof entry->name, "%s", name);
    (void)snprintf(entry->engine, sizeof entry->engine, "%s", scope->engine->ops->name);
    (void)snprintf(entry->architecture, sizeof entry->architecture, "%s",
                   scope->engine->facts.architecture);
    (void)snprintf(entry->id, sizeof entry->id, "%s", row->id);
    (void)snprintf(entry->cli, sizeof entry->cli, "%s", row->cli);
    (void)snprintf(entry->version, sizeof entry->version, "%.32s", row->version);
    (void)snprintf(entry->recipe, sizeof entry->recipe, "%s", row->recipe);
    if (gmtime_r(&now, &utc) == NULL ||
        strftime(entry->pinned, sizeof entry->pinned, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        (void)snprintf(entry->pinned, sizeof entry->pinned, "1970-01-01T00:00:00Z");
}

int cordon_image_pin(cordon_engine *engine, cordon_config *config, const char *name,
                     const char *image, int64_t budget_ms, int cancel_fd, cordon_image *ret_image,
                     cordon_err *err)
{
    cordon_auto(cordon_image_facts) facts = {0};
    cordon_image row = {.size_bytes = -1};
    cordon_image_entry entry = {0};
    cordon_image_scope scope;
    cordon_trust trust;
    const char *reference = NULL;
    char made[72] = "";

    if (cordon_image_scope_open(engine, config, budget_ms, cancel_fd, &scope, err) != 0 ||
        check_name(name, err) != 0 || choose(&scope, name, image, made, &reference, err) != 0)
        return -1;
    if (engine->ops->image_resolve(engine->impl, reference, scope.dl, &facts, err) != 0) {
        cordon_err_wrap(err, "the image %s (Cordon never pulls: build or pull it first)",
                        CORDON_QUOTE(reference));
        return -1;
    }
    trust = trust_of(config);
    if (cordon_image_row_fill(&facts, &row, err) != 0 ||
        check_image(&scope, name, &facts, &row, err) != 0)
        return -1;
    fill_entry(&scope, name, &row, &entry);
    if (cordon_image_lock_put(&trust, &config->lock, &entry, err) != 0)
        return -1;
    (void)snprintf(row.name, sizeof row.name, "%s", name);
    (void)snprintf(row.pin, sizeof row.pin, "%s", row.id);
    (void)snprintf(row.pinned_by, sizeof row.pinned_by, "lock");
    *ret_image = row;
    return 0;
}

/* --- Removing ------------------------------------------------------------------------------- */

/* The name of a pin, of any kind of engine, that means this id; NULL for none. */
static const char *pinned_as(const cordon_image_scope *scope, const char *id, const char *but)
{
    const cordon_image_lock *lock = &scope->config->lock;

    for (size_t i = 0; i < lock->count; i++) {
        bool mine = strcmp(lock->entries[i].engine, scope->engine->ops->name) == 0;

        if (mine && strcmp(lock->entries[i].id, id) == 0 &&
            (but == NULL || strcmp(lock->entries[i].name, but) != 0))
            return lock->entries[i].name;
    }
    for (size_t i = 0; cordon_image_names[i] != NULL; i++) {
        const char *pin = cordon_image_scope_pin(scope, cordon_image_names[i]);

        if (pin != NULL && strcmp(pin, id) == 0)
            return cordon_image_names[i];
    }
    return NULL;
}

/*
 * SECURITY: not every engine counts an image as in use that is only mounted into a container, as
 * the guard's is; so while a run of anybody's is there, the guards stay.
 */
static int check_no_run(const cordon_image_scope *scope, cordon_err *err)
{
    const cordon_engine *engine = scope->engine;
    cordon_auto(cordon_list) list = {0};

    if (engine->ops->list_by_label(engine->impl, CORDON_OBJECT_CONTAINER, NULL, scope->dl, &list,
                                   err) != 0)
        return -1;
    for (size_t i = 0; i < list.count; i++) {
        if (cordon_fact_map_get(&list.items[i].labels, CORDON_LABEL_INVOCATION) != NULL)
            return CORDON_FAIL(err, CORDON_ERR_CONFLICT,
                               "container %s of a run is there, which may use it; wait for its end",
                               CORDON_QUOTE(list.items[i].name));
    }
    return 0;
}

/* By id, without force: the engine refuses what a container is made from. */
static int remove_made(const cordon_image_scope *scope, cordon_image *row, cordon_err *err)
{
    const cordon_engine *engine = scope->engine;

    if ((strcmp(row->kind, "agent") != 0 && check_no_run(scope, err) != 0) ||
        engine->ops->image_remove(engine->impl, row->id + strlen(ID_PREFIX), scope->dl, err) != 0) {
        cordon_err_wrap(err, "%s", row->id);
        return -1;
    }
    row->present = false;
    return 0;
}

/* The row of an id, from its own facts. NOTFOUND. */
static int read_row(const cordon_image_scope *scope, const char *id, cordon_image *row,
                    cordon_err *err)
{
    const cordon_engine *engine = scope->engine;
    cordon_auto(cordon_image_facts) facts = {0};

    *row = (cordon_image){.size_bytes = -1};
    if (engine->ops->image_resolve(engine->impl, id, scope->dl, &facts, err) != 0)
        return -1;
    return cordon_image_row_fill(&facts, row, err);
}

static int remove_name(const cordon_image_scope *scope, cordon_config *config, const char *name,
                       cordon_image *row, cordon_err *err)
{
    const cordon_image_entry *found = cordon_image_scope_entry(scope, name);
    cordon_trust trust = trust_of(config);
    cordon_err why = CORDON_ERR_INIT;
    cordon_image_entry entry;

    if (found == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOTFOUND,
                           "%s: the lock file has no image of that name for %s on %s", name,
                           scope->engine->ops->name, scope->engine->facts.architecture);
    entry = *found;
    if (read_row(scope, entry.id, row, &why) != 0 && why.code != CORDON_ERR_NOTFOUND) {
        *err = why;
        return -1;
    }
    (void)snprintf(row->id, sizeof row->id, "%s", entry.id);
    (void)snprintf(row->name, sizeof row->name, "%s", name);
    if (row->present && row->made && pinned_as(scope, entry.id, name) == NULL &&
        remove_made(scope, row, err) != 0)
        return -1;
    return cordon_image_lock_drop(&trust, &config->lock, &entry, err);
}

static int remove_id(const cordon_image_scope *scope, const char *digits, cordon_image *row,
                     cordon_err *err)
{
    char id[72];
    const char *name;

    (void)snprintf(id, sizeof id, ID_PREFIX "%s", digits);
    name = pinned_as(scope, id, NULL);
    if (name != NULL)
        return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                           "%s is pinned as %s; cordon image rm %s takes both away, or take "
                           "images.%s out of the configuration",
                           id, name, name, name);
    if (read_row(scope, id, row, err) != 0)
        return -1;
    if (!row->made)
        return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                           "%s: Cordon did not make this image, so it is left; remove it by the "
                           "engine's own command",
                           id);
    return remove_made(scope, row, err);
}

int cordon_image_remove(cordon_engine *engine, cordon_config *config, const char *name_or_id,
                        int64_t budget_ms, int cancel_fd, cordon_image *ret_image, cordon_err *err)
{
    cordon_image row = {.size_bytes = -1};
    cordon_image_scope scope;
    const char *digits;
    int rc;

    if (cordon_image_scope_open(engine, config, budget_ms, cancel_fd, &scope, err) != 0)
        return -1;
    digits = id_digits(name_or_id);
    if (digits == NULL && !cordon_image_name_is_known(name_or_id))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "%s: neither claude, codex nor runner, nor a full image id (64 hex "
                           "digits); cordon image ls shows them",
                           CORDON_QUOTE(name_or_id));
    rc = digits != NULL ? remove_id(&scope, digits, &row, err)
                        : remove_name(&scope, config, name_or_id, &row, err);
    if (rc == 0)
        *ret_image = row;
    return rc;
}

/* In use, or gone by itself, is no failure here; the row tells. */
static int remove_if_unused(const cordon_image_scope *scope, cordon_image *row, cordon_err *err)
{
    cordon_err why = CORDON_ERR_INIT;

    if (remove_made(scope, row, &why) == 0 || why.code == CORDON_ERR_CONFLICT ||
        why.code == CORDON_ERR_UNSUPPORTED)
        return 0;
    if (why.code == CORDON_ERR_NOTFOUND) {
        row->present = false;
        return 0;
    }
    *err = why;
    return -1;
}

int cordon_images_remove_unused(cordon_engine *engine, const cordon_config *config,
                                int64_t budget_ms, int cancel_fd, cordon_image **ret_images,
                                size_t *ret_count, cordon_err *err)
{
    cordon_auto(cordon_image_rows) rows = {0};
    cordon_image_scope scope;
    size_t kept = 0;

    if (cordon_image_scope_open(engine, config, budget_ms, cancel_fd, &scope, err) != 0 ||
        cordon_image_rows_read(&scope, &rows, err) != 0)
        return -1;
    for (size_t i = 0; i < rows.count; i++) {
        cordon_image *row = &rows.items[i];

        if (!row->made || row->current || row->name[0] != '\0' || strcmp(row->kind, "agent") == 0)
            continue;
        if (remove_if_unused(&scope, row, err) != 0)
            return -1;
        rows.items[kept++] = *row;
    }
    *ret_images = CORDON_TAKE(rows.items);
    *ret_count = kept;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The images that Cordon made or a pin names; see image_rows.h. */
#include "image_rows.h"

#include <stdio.h>
#include <string.h>

#include "gate/blob.h"
#include "handle.h"

void cordon_image_rows_clear(cordon_image_rows *rows)
{
    free(rows->items);
    *rows = (cordon_image_rows){0};
}

int cordon_image_scope_open(cordon_engine *engine, const cordon_config *config, int64_t budget_ms,
                            int cancel_fd, cordon_image_scope *ret_scope, cordon_err *err)
{
    if (cordon_handle_check(CORDON_HANDLE_ENGINE, engine, err) != 0 ||
        cordon_handle_check(CORDON_HANDLE_CONFIG, config, err) != 0)
        return -1;
    *ret_scope = (cordon_image_scope){
        .engine = engine,
        .config = config,
        .dl = cordon_deadline_in_ms(budget_ms, cancel_fd),
    };
    return 0;
}

const cordon_image_entry *cordon_image_scope_entry(const cordon_image_scope *scope,
                                                   const char *name)
{
    return cordon_image_lock_find(&scope->config->lock, name, scope->engine->ops->name,
                                  scope->engine->facts.architecture);
}

const char *cordon_image_scope_pin(const cordon_image_scope *scope, const char *name)
{
    const cordon_image_pins *pins = &scope->config->images;

    if (strcmp(name, "claude") == 0)
        return pins->claude;
    return strcmp(name, "codex") == 0 ? pins->codex : pins->runner;
}

static int resolve(const cordon_image_scope *scope, const char *reference,
                   cordon_image_facts *ret_facts, cordon_err *err)
{
    const cordon_engine *engine = scope->engine;

    return engine->ops->image_resolve(engine->impl, reference, scope->dl, ret_facts, err);
}

/* The same, where an image that is not there is no error: ret_facts->id stays NULL. */
static int resolve_if_there(const cordon_image_scope *scope, const char *reference,
                            cordon_image_facts *ret_facts, cordon_err *err)
{
    cordon_err why = CORDON_ERR_INIT;

    if (resolve(scope, reference, ret_facts, &why) == 0 || why.code == CORDON_ERR_NOTFOUND)
        return 0;
    *err = why;
    return -1;
}

static void copy(char *slot, size_t size, const char *text)
{
    (void)cordon_err_printable(slot, size, text, strlen(text));
}

int cordon_image_row_fill(const cordon_image_facts *facts, cordon_image *row, cordon_err *err)
{
    cordon_image_kind kind = CORDON_IMAGE_FOREIGN;
    cordon_image_badge badge = {"", "", ""};

    if (cordon_image_recognize(facts, &kind, &badge, err) != 0)
        return -1;
    (void)snprintf(row->id, sizeof row->id, "sha256:%s", facts->id);
    copy(row->kind, sizeof row->kind, cordon_image_kind_name(kind));
    row->present = true;
    row->made = kind != CORDON_IMAGE_FOREIGN;
    if (kind != CORDON_IMAGE_AGENT)
        return 0;
    copy(row->cli, sizeof row->cli, badge.cli);
    copy(row->version, sizeof row->version, badge.version);
    copy(row->recipe, sizeof row->recipe, badge.recipe);
    return 0;
}

/* --- The list ------------------------------------------------------------------------------- */

/* A zeroed row more, borrowed. */
static int add_row(cordon_image_rows *rows, cordon_image **ret_row, cordon_err *err)
{
    cordon_image *larger = realloc(rows->items, (rows->count + 1) * sizeof *larger);

    if (larger == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    rows->items = larger;
    *ret_row = &larger[rows->count++];
    **ret_row = (cordon_image){.size_bytes = -1};
    return 0;
}

/* Worth a look: names and labels are anybody's; what it is, its own facts tell. */
static bool is_candidate(const cordon_listed_image *listed)
{
    static const char *const names[] = {CORDON_IMAGE_NAME_GUARD ":", CORDON_IMAGE_NAME_STEP ":"};

    if (cordon_fact_map_get(&listed->labels, CORDON_IMAGE_LABEL_CLI) != NULL)
        return true;
    for (size_t i = 0; i < listed->names.count; i++) {
        for (size_t j = 0; j < sizeof names / sizeof names[0]; j++) {
            if (strncmp(listed->names.items[i], names[j], strlen(names[j])) == 0)
                return true;
        }
    }
    return false;
}

static void add_listed(const cordon_listed_image *listed, cordon_image *row)
{
    if (listed->names.count > 0)
        copy(row->tag, sizeof row->tag, listed->names.items[0]);
    if (listed->size_bytes.known)
        row->size_bytes = listed->size_bytes.value;
}

static int add_made(const cordon_image_scope *scope, const cordon_listed_image *listed,
                    cordon_image_rows *rows, cordon_err *err)
{
    cordon_auto(cordon_image_facts) facts = {0};
    cordon_image made = {.size_bytes = -1};
    cordon_image *row;

    if (!is_candidate(listed))
        return 0;
    if (resolve_if_there(scope, listed->id, &facts, err) != 0)
        return -1;
    if (facts.id == NULL)
        return 0;
    if (cordon_image_row_fill(&facts, &made, err) != 0)
        return -1;
    if (!made.made)
        return 0;
    if (add_row(rows, &row, err) != 0)
        return -1;
    *row = made;
    add_listed(listed, row);
    return 0;
}

/* What a name is pinned to. pin is NULL for nothing. */
typedef struct row_pin {
    const char *name;
    const char *pin;
    const char *by;
} row_pin;

static row_pin find_pin(const cordon_image_scope *scope, const char *name)
{
    const cordon_image_entry *entry = cordon_image_scope_entry(scope, name);

    if (entry != NULL)
        return (row_pin){name, entry->id, "lock"};
    return (row_pin){name, cordon_image_scope_pin(scope, name), "configuration"};
}

static void mark_pinned(const row_pin *pin, cordon_image *row)
{
    copy(row->name, sizeof row->name, pin->name);
    copy(row->pin, sizeof row->pin, pin->pin);
    copy(row->pinned_by, sizeof row->pinned_by, pin->by);
}

/* A row of its own for each name: two may mean one image. */
static int add_pinned(const cordon_image_scope *scope, const row_pin *pin,
                      const cordon_image_list *listed, cordon_image_rows *rows, cordon_err *err)
{
    cordon_auto(cordon_image_facts) facts = {0};
    cordon_image *row = NULL;

    if (pin->pin == NULL)
        return 0;
    if (resolve_if_there(scope, pin->pin, &facts, err) != 0)
        return -1;
    for (size_t i = 0; facts.id != NULL && i < rows->count; i++) {
        if (strcmp(&rows->items[i].id[strlen("sha256:")], facts.id) == 0 &&
            rows->items[i].name[0] == '\0')
            row = &rows->items[i];
    }
    if (row == NULL && add_row(rows, &row, err) != 0)
        return -1;
    mark_pinned(pin, row);
    if (facts.id == NULL) {
        copy(row->id, sizeof row->id, strchr(pin->pin, '@') == NULL ? pin->pin : "");
        return 0;
    }
    for (size_t i = 0; i < listed->count; i++) {
        if (strcmp(listed->items[i].id, facts.id) == 0)
            add_listed(&listed->items[i], row);
    }
    return cordon_image_row_fill(&facts, row, err);
}

/* --- What is in use ------------------------------------------------------------------------- */

static void mark_current(cordon_image_rows *rows, const char *id)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (strcmp(&rows->items[i].id[rows->items[i].id[0] != '\0' ? strlen("sha256:") : 0], id) ==
            0)
            rows->items[i].current = true;
    }
}

/* The step image that this guard and the pinned image make. */
static int mark_step(const cordon_image_scope *scope, const char *id, cordon_image_rows *rows,
                     cordon_err *err)
{
    const cordon_guard_program guard = {cordon_guard_bytes, cordon_guard_size};
    cordon_auto(cordon_image_facts) facts = {0};
    char step[CORDON_ID_HEX + 1];

    if (resolve_if_there(scope, id, &facts, err) != 0)
        return -1;
    if (facts.id == NULL || facts.layers.count == 0 || facts.architecture == NULL)
        return 0;
    if (cordon_images_own_id(&guard, NULL, &facts, step, err) != 0)
        return -1;
    mark_current(rows, step);
    return 0;
}

static int mark_used(const cordon_image_scope *scope, cordon_image_rows *rows, cordon_err *err)
{
    const cordon_guard_program guard = {cordon_guard_bytes, cordon_guard_size};
    char id[CORDON_ID_HEX + 1];

    if (cordon_images_own_id(&guard, scope->engine->facts.architecture, NULL, id, err) != 0)
        return -1;
    mark_current(rows, id);
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->items[i].name[0] != '\0' && rows->items[i].present &&
            mark_step(scope, rows->items[i].id, rows, err) != 0)
            return -1;
    }
    return 0;
}

int cordon_image_rows_read(const cordon_image_scope *scope, cordon_image_rows *ret_rows,
                           cordon_err *err)
{
    const cordon_engine *engine = scope->engine;
    cordon_auto(cordon_image_list) listed = {0};
    cordon_auto(cordon_image_rows) rows = {0};

    if (engine->ops->image_list(engine->impl, scope->dl, &listed, err) != 0)
        return -1;
    for (size_t i = 0; i < listed.count; i++) {
        if (add_made(scope, &listed.items[i], &rows, err) != 0)
            return -1;
    }
    for (size_t i = 0; cordon_image_names[i] != NULL; i++) {
        row_pin pin = find_pin(scope, cordon_image_names[i]);

        if (add_pinned(scope, &pin, &listed, &rows, err) != 0)
            return -1;
    }
    if (mark_used(scope, &rows, err) != 0)
        return -1;
    *ret_rows = rows;
    rows = (cordon_image_rows){0};
    return 0;
}

int cordon_images_list(cordon_engine *engine, const cordon_config *config, int64_t budget_ms,
                       int cancel_fd, cordon_image **ret_images, size_t *ret_count, cordon_err *err)
{
    cordon_image_rows rows = {0};
    cordon_image_scope scope;

    if (cordon_image_scope_open(engine, config, budget_ms, cancel_fd, &scope, err) != 0 ||
        cordon_image_rows_read(&scope, &rows, err) != 0)
        return -1;
    *ret_images = rows.items;
    *ret_count = rows.count;
    return 0;
}

void cordon_images_free(cordon_image *images)
{
    free(images);
}

void cordon_image_lock_describe(const cordon_config *config, cordon_image_lock_info *ret_info)
{
    *ret_info = (cordon_image_lock_info){.path = ""};
    if (cordon_handle_check(CORDON_HANDLE_CONFIG, config, NULL) != 0)
        return;
    *ret_info = (cordon_image_lock_info){
        .path = config->lock.path != NULL ? config->lock.path : "",
        .present = config->lock.present,
        .required = config->lock.required,
        .entries = config->lock.count,
    };
}

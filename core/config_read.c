/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a scanned text through libconfig's tree into a struct, one small reader for each type of
 * key. The only file that includes libconfig.
 */
#include "config_read.h"

#include <libconfig.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_scan.h"
#include "config_value.h"
#include "kit/buf.h"
#include "text_list.h"
#include "trust.h"

/* Longest "engines[3].name" in a message. */
#define KEY_PATH_MAX 256

typedef struct reader {
    const char *file;
    config_t *config;
} reader;

/* Every list in a target struct has this shape; they are copied, never aliased. */
typedef struct any_list {
    size_t count;
    void *items;
} any_list;

static int read_group(const reader *r, config_setting_t *setting, const cordon_schema *schema,
                      char *base, cordon_err *err);

/* --- Messages ------------------------------------------------------------------------------ */

/* Writes the setting's path, outermost name first, and returns its length. */
static size_t key_path(const config_setting_t *setting, char *out, size_t size)
{
    const config_setting_t *parent = config_setting_parent(setting);
    if (!parent)
        return 0;
    size_t length = key_path(parent, out, size);
    const char *name = config_setting_name(setting);
    int added = 0;
    if (name)
        added = snprintf(out + length, size - length, "%s%s", length > 0 ? "." : "", name);
    else
        added = snprintf(out + length, size - length, "[%d]", config_setting_index(setting));
    if (added < 0 || (size_t)added >= size - length)
        return size - 1;
    return length + (size_t)added;
}

/* The whole text has no line of its own. */
static int fail_code_at(const reader *r, const config_setting_t *setting, cordon_code code,
                        const char *reason, const char *form, cordon_err *err)
{
    char path[KEY_PATH_MAX] = "";
    char line[16] = "";
    if (key_path(setting, path, sizeof path) > 0)
        (void)snprintf(line, sizeof line, "%u: ", (unsigned)config_setting_source_line(setting));
    return CORDON_FAIL(err, code, "%s:%s%s%s%s%s%s", CORDON_QUOTE(r->file), line[0] ? line : " ",
                       path, path[0] ? ": " : "", reason, form ? "; it takes " : "",
                       form ? form : "");
}

static int fail_at(const reader *r, const config_setting_t *setting, const char *reason,
                   const char *form, cordon_err *err)
{
    return fail_code_at(r, setting, CORDON_ERR_CONFIG, reason, form, err);
}

static const char *type_word(const config_setting_t *setting)
{
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        return "is a whole number";
    case CONFIG_TYPE_FLOAT:
        return "is a fraction";
    case CONFIG_TYPE_STRING:
        return "is a text";
    case CONFIG_TYPE_BOOL:
        return "is true or false";
    case CONFIG_TYPE_ARRAY:
        return "is an array";
    case CONFIG_TYPE_LIST:
        return "is a list";
    case CONFIG_TYPE_GROUP:
        return "is a group";
    default:
        return "has no value";
    }
}

static int fail_type(const reader *r, const config_setting_t *setting, const cordon_key *key,
                     cordon_err *err)
{
    char form[CORDON_FORM_MAX];
    return fail_at(r, setting, type_word(setting), cordon_value_form(key, form), err);
}

/* A reason from a check or a parser, said at its place and with what the key takes. */
static int fail_value(const reader *r, const config_setting_t *setting, const cordon_key *key,
                      const cordon_err *why, cordon_err *err)
{
    char form[CORDON_FORM_MAX];
    if (why->code == CORDON_ERR_NOMEM)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "%s", why->message);
    return fail_at(r, setting, why->message, cordon_value_form(key, form), err);
}

/* --- Single values ------------------------------------------------------------------------- */

/* The setting as a plain value, without libconfig's types. */
static cordon_value to_value(const config_setting_t *setting)
{
    cordon_value value = {.type = CORDON_VALUE_OTHER};
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        value.type = CORDON_VALUE_NUMBER;
        value.number = config_setting_get_int64(setting);
        break;
    case CONFIG_TYPE_FLOAT:
        value.type = CORDON_VALUE_FRACTION;
        value.fraction = config_setting_get_float(setting);
        break;
    case CONFIG_TYPE_STRING:
        value.type = CORDON_VALUE_TEXT;
        value.text = config_setting_get_string(setting);
        break;
    case CONFIG_TYPE_BOOL:
        value.type = CORDON_VALUE_FLAG;
        value.flag = config_setting_get_bool(setting) != 0;
        break;
    default:
        break;
    }
    return value;
}

static int read_number(const reader *r, const config_setting_t *setting, const cordon_key *key,
                       char *slot, cordon_err *err)
{
    cordon_err why = CORDON_ERR_INIT;
    cordon_value value = to_value(setting);
    int64_t number = 0;
    if (!cordon_value_fits(key, &value))
        return fail_type(r, setting, key, err);
    if (cordon_value_number(key, &value, &number, &why) < 0)
        return fail_value(r, setting, key, &why, err);
    memcpy(slot, &number, sizeof number);
    return 0;
}

static int read_flag(const reader *r, const config_setting_t *setting, const cordon_key *key,
                     char *slot, cordon_err *err)
{
    if (config_setting_type(setting) != CONFIG_TYPE_BOOL)
        return fail_type(r, setting, key, err);
    bool flag = config_setting_get_bool(setting) != 0;
    memcpy(slot, &flag, sizeof flag);
    return 0;
}

static int read_choice(const reader *r, const config_setting_t *setting, const cordon_key *key,
                       char *slot, cordon_err *err)
{
    cordon_err why = CORDON_ERR_INIT;
    cordon_value value = to_value(setting);
    int chosen = 0;
    if (value.type != CORDON_VALUE_TEXT)
        return fail_type(r, setting, key, err);
    if (cordon_value_choice(key, value.text, &chosen, &why) < 0)
        return fail_value(r, setting, key, &why, err);
    memcpy(slot, &chosen, sizeof chosen);
    return 0;
}

/* A checked copy of a text setting. */
static int copy_text(const reader *r, const config_setting_t *setting, const cordon_key *key,
                     char **ret_text, cordon_err *err)
{
    cordon_err why = CORDON_ERR_INIT;
    cordon_value value = to_value(setting);
    if (value.type != CORDON_VALUE_TEXT)
        return fail_type(r, setting, key, err);
    if (cordon_value_text(key, value.text, r->file, ret_text, &why) < 0)
        return fail_value(r, setting, key, &why, err);
    return 0;
}

static int read_text(const reader *r, const config_setting_t *setting, const cordon_key *key,
                     char *slot, cordon_err *err)
{
    char *text = NULL;
    char *old = NULL;
    if (copy_text(r, setting, key, &text, err) < 0)
        return -1;
    memcpy(&old, slot, sizeof old);
    free(old);
    memcpy(slot, &text, sizeof text);
    return 0;
}

/* --- Lists --------------------------------------------------------------------------------- */

static bool is_list(const config_setting_t *setting)
{
    int type = config_setting_type(setting);
    return type == CONFIG_TYPE_LIST || type == CONFIG_TYPE_ARRAY;
}

static int check_length(const reader *r, const config_setting_t *setting, const cordon_key *key,
                        cordon_err *err)
{
    char reason[64];
    if (!is_list(setting))
        return fail_type(r, setting, key, err);
    if ((size_t)config_setting_length(setting) <= key->max_items)
        return 0;
    (void)snprintf(reason, sizeof reason, "has more than %zu items", key->max_items);
    return fail_at(r, setting, reason, NULL, err);
}

static int fill_texts(const reader *r, const config_setting_t *setting, const cordon_key *key,
                      cordon_text_list *texts, cordon_err *err)
{
    for (int i = 0; i < config_setting_length(setting); i++) {
        cordon_autofree char *text = NULL;
        config_setting_t *item = config_setting_get_elem(setting, (unsigned)i);
        if (copy_text(r, item, key, &text, err) < 0 || cordon_text_list_add(texts, text, err) < 0)
            return -1;
    }
    return 0;
}

static int read_texts(const reader *r, const config_setting_t *setting, const cordon_key *key,
                      char *slot, cordon_err *err)
{
    cordon_auto(cordon_text_list) texts = {0};
    cordon_text_list old;
    if (check_length(r, setting, key, err) < 0 || fill_texts(r, setting, key, &texts, err) < 0)
        return -1;
    memcpy(&old, slot, sizeof old);
    cordon_text_list_clear(&old);
    memcpy(slot, &texts, sizeof texts);
    texts = (cordon_text_list){0};
    return 0;
}

static void clear_items(const cordon_key *key, any_list *list)
{
    char *item = list->items;
    size_t size = key->type == CORDON_KEY_ARGVS ? sizeof(cordon_text_list) : key->sub->size;
    for (size_t i = 0; i < list->count; i++, item += size) {
        if (key->type == CORDON_KEY_ITEMS) {
            cordon_schema_clear(key->sub, item);
            continue;
        }
        cordon_text_list argv;
        memcpy(&argv, item, sizeof argv);
        cordon_text_list_clear(&argv);
    }
    free(list->items);
    *list = (any_list){0};
}

static int fill_item(const reader *r, config_setting_t *item, const cordon_key *key, char *slot,
                     cordon_err *err)
{
    if (key->type == CORDON_KEY_ITEMS && config_setting_type(item) != CONFIG_TYPE_GROUP)
        return fail_type(r, item, key, err);
    if (key->type == CORDON_KEY_ITEMS)
        return read_group(r, item, key->sub, slot, err);
    if (!is_list(item))
        return fail_type(r, item, key, err);
    if (config_setting_length(item) == 0)
        return fail_at(r, item, "is empty", "a program and its arguments", err);
    return read_texts(r, item, key, slot, err);
}

static int fill_items(const reader *r, const config_setting_t *setting, const cordon_key *key,
                      size_t size, any_list *list, cordon_err *err)
{
    size_t count = (size_t)config_setting_length(setting);
    if (count == 0)
        return 0;
    char *items = calloc(count, size);
    if (!items)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    *list = (any_list){.count = count, .items = items};
    for (size_t i = 0; i < count; i++) {
        config_setting_t *item = config_setting_get_elem(setting, (unsigned)i);
        if (fill_item(r, item, key, items + i * size, err) < 0)
            return -1;
    }
    return 0;
}

/* Lists replace: the earlier one is freed once the new one is whole. */
static int read_items(const reader *r, const config_setting_t *setting, const cordon_key *key,
                      char *slot, cordon_err *err)
{
    any_list list = {0};
    any_list old;
    size_t size = key->type == CORDON_KEY_ARGVS ? sizeof(cordon_text_list) : key->sub->size;
    if (check_length(r, setting, key, err) < 0)
        return -1;
    if (fill_items(r, setting, key, size, &list, err) < 0) {
        clear_items(key, &list);
        return -1;
    }
    memcpy(&old, slot, sizeof old);
    clear_items(key, &old);
    memcpy(slot, &list, sizeof list);
    return 0;
}

/* --- Groups -------------------------------------------------------------------------------- */

static int read_subgroup(const reader *r, config_setting_t *setting, const cordon_key *key,
                         char *slot, cordon_err *err)
{
    if (config_setting_type(setting) != CONFIG_TYPE_GROUP)
        return fail_type(r, setting, key, err);
    return read_group(r, setting, key->sub, slot, err);
}

static int read_key(const reader *r, config_setting_t *setting, const cordon_key *key, char *base,
                    cordon_err *err)
{
    char *slot = base + key->offset;
    switch (key->type) {
    case CORDON_KEY_TEXT:
        return read_text(r, setting, key, slot, err);
    case CORDON_KEY_CHOICE:
        return read_choice(r, setting, key, slot, err);
    case CORDON_KEY_FLAG:
        return read_flag(r, setting, key, slot, err);
    case CORDON_KEY_COUNT:
    case CORDON_KEY_SIZE:
    case CORDON_KEY_DURATION:
    case CORDON_KEY_CPUS:
        return read_number(r, setting, key, slot, err);
    case CORDON_KEY_TEXTS:
        return read_texts(r, setting, key, slot, err);
    case CORDON_KEY_ARGVS:
    case CORDON_KEY_ITEMS:
        return read_items(r, setting, key, slot, err);
    case CORDON_KEY_GROUP:
        return read_subgroup(r, setting, key, slot, err);
    }
    return CORDON_FAIL(err, CORDON_ERR_INVALID, "%s: a key without a type", key->name);
}

static int fail_unknown(const reader *r, const config_setting_t *setting,
                        const cordon_schema *schema, cordon_err *err)
{
    char reason[CORDON_FORM_MAX];
    cordon_value_unknown(schema, config_setting_name(setting), reason);
    return fail_at(r, setting, reason, NULL, err);
}

static const cordon_key *find_key(const cordon_schema *schema, const char *name)
{
    for (size_t i = 0; name && i < schema->count; i++)
        if (strcmp(schema->keys[i].name, name) == 0)
            return &schema->keys[i];
    return NULL;
}

static int check_required(const reader *r, const config_setting_t *setting,
                          const cordon_schema *schema, cordon_err *err)
{
    for (size_t i = 0; i < schema->count; i++) {
        char reason[128];
        char form[CORDON_FORM_MAX];
        const cordon_key *key = &schema->keys[i];
        if (!(key->flags & CORDON_KEY_REQUIRED) || config_setting_get_member(setting, key->name))
            continue;
        (void)snprintf(reason, sizeof reason, "%s is missing", key->name);
        return fail_at(r, setting, reason, cordon_value_form(key, form), err);
    }
    return 0;
}

static int read_group(const reader *r, config_setting_t *setting, const cordon_schema *schema,
                      char *base, cordon_err *err)
{
    for (int i = 0; i < config_setting_length(setting); i++) {
        config_setting_t *member = config_setting_get_elem(setting, (unsigned)i);
        const cordon_key *key = find_key(schema, config_setting_name(member));
        if (!key)
            return fail_unknown(r, member, schema, err);
        if (read_key(r, member, key, base, err) < 0)
            return -1;
    }
    return check_required(r, setting, schema, err);
}

/* --- All of it ----------------------------------------------------------------------------- */

/* Not reached while the scanner knows the grammar; an answer if a libconfig should differ. */
static int fail_syntax(const reader *r, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s:%d: a setting is NAME = VALUE;",
                       CORDON_QUOTE(r->file), config_error_line(r->config));
}

/* The fault of a rule over several keys. A key that came from another file has no line here. */
static int fail_finish(const reader *r, const char *fault, const cordon_err *why, cordon_err *err)
{
    const config_setting_t *setting = config_lookup(r->config, fault);
    if (why->code == CORDON_ERR_NOMEM)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "%s", why->message);
    if (setting)
        return fail_code_at(r, setting, why->code, why->message, NULL, err);
    return CORDON_FAIL(err, why->code, "%s: %s: %s", CORDON_QUOTE(r->file), fault, why->message);
}

static int read_config(const reader *r, const char *text, const cordon_schema *schema, void *target,
                       cordon_finish_fn *finish, void *context, cordon_err *err)
{
    cordon_err why = CORDON_ERR_INIT;
    char fault[CORDON_FAULT_MAX] = "";
    if (config_read_string(r->config, text) != CONFIG_TRUE)
        return fail_syntax(r, err);
    if (read_group(r, config_root_setting(r->config), schema, target, err) < 0)
        return -1;
    if (finish && finish(target, context, fault, &why) < 0)
        return fail_finish(r, fault, &why, err);
    return 0;
}

int cordon_config_read(const char *file, const char *text, size_t length,
                       const cordon_schema *schema, void *target, cordon_finish_fn *finish,
                       void *context, cordon_err *err)
{
    cordon_autofree char *scanned = NULL;
    cordon_cleanup(config_destroy) config_t config;
    reader r = {.file = file, .config = &config};
    config_init(&config);
    if (cordon_config_scan(file, text, length, &scanned, err) < 0)
        return -1;
    return read_config(&r, scanned, schema, target, finish, context, err);
}

/* --- Clearing ------------------------------------------------------------------------------ */

static void clear_key(const cordon_key *key, char *slot)
{
    char *text = NULL;
    any_list list;
    cordon_text_list texts;
    switch (key->type) {
    case CORDON_KEY_TEXT:
        memcpy(&text, slot, sizeof text);
        free(text);
        break;
    case CORDON_KEY_TEXTS:
        memcpy(&texts, slot, sizeof texts);
        cordon_text_list_clear(&texts);
        break;
    case CORDON_KEY_ARGVS:
    case CORDON_KEY_ITEMS:
        memcpy(&list, slot, sizeof list);
        clear_items(key, &list);
        break;
    case CORDON_KEY_GROUP:
        cordon_schema_clear(key->sub, slot);
        break;
    case CORDON_KEY_CHOICE:
    case CORDON_KEY_FLAG:
    case CORDON_KEY_COUNT:
    case CORDON_KEY_SIZE:
    case CORDON_KEY_DURATION:
    case CORDON_KEY_CPUS:
        break;
    }
}

void cordon_schema_clear(const cordon_schema *schema, void *target)
{
    char *base = target;
    for (size_t i = 0; i < schema->count; i++)
        clear_key(&schema->keys[i], base + schema->keys[i].offset);
    memset(target, 0, schema->size);
}

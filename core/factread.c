/* SPDX-License-Identifier: Apache-2.0 */
/* The table interpreter of factread.h: one function per kind of value, one matcher for paths. */
#include "factread.h"

#include <string.h>

typedef struct reading {
    cordon_json object;
    const cordon_factread_field *field;
    void *slot;
} reading;

static int read_text(const reading *r, cordon_err *err)
{
    cordon_json_string value = {0};
    if (cordon_json_get_string(r->object, r->field->key, &value, err) != 0)
        return -1;
    if (value.has == CORDON_JSON_PRESENT)
        return cordon_fact_text_set(r->slot, value.text, err);
    if (value.has == CORDON_JSON_NULL && r->field->null == CORDON_NULL_EMPTY)
        return cordon_fact_text_set(r->slot, "", err);
    return 0;
}

static int read_bool(const reading *r, cordon_err *err)
{
    cordon_json_bool value = {0};
    if (cordon_json_get_bool(r->object, r->field->key, &value, err) != 0)
        return -1;
    cordon_fact_bool *fact = r->slot;
    if (value.has == CORDON_JSON_PRESENT)
        *fact = value.value ? CORDON_FACT_YES : CORDON_FACT_NO;
    else if (value.has == CORDON_JSON_NULL && r->field->null == CORDON_NULL_EMPTY)
        *fact = CORDON_FACT_NO;
    return 0;
}

static int read_int(const reading *r, cordon_err *err)
{
    cordon_json_i64 value = {0};
    if (cordon_json_get_i64(r->object, r->field->key, &value, err) != 0)
        return -1;
    cordon_fact_int *fact = r->slot;
    if (value.has == CORDON_JSON_PRESENT)
        *fact = (cordon_fact_int){.known = true, .value = value.value};
    else if (value.has == CORDON_JSON_NULL && r->field->null == CORDON_NULL_EMPTY)
        *fact = (cordon_fact_int){.known = true, .value = 0};
    return 0;
}

int cordon_factread_texts(cordon_json array, cordon_fact_list *list, cordon_err *err)
{
    cordon_json_iter it = cordon_json_iterate(array);
    while (cordon_json_next(&it)) {
        cordon_json_string item = {0};
        if (cordon_json_as_string(it.value, &item, err) != 0)
            return -1;
        if (item.has != CORDON_JSON_PRESENT)
            return cordon_json_fail(it.value, err, "null, expected string");
        if (cordon_fact_list_add(list, item.text, err) != 0)
            return -1;
    }
    cordon_fact_list_known(list);
    return 0;
}

int cordon_factread_map(cordon_json object, cordon_fact_list *list, cordon_err *err)
{
    cordon_json_iter it = cordon_json_iterate(object);
    while (cordon_json_next(&it)) {
        cordon_json_string item = {0};
        if (cordon_json_as_string(it.value, &item, err) != 0)
            return -1;
        if (item.has != CORDON_JSON_PRESENT)
            return cordon_json_fail(it.value, err, "null, expected string");
        /* SECURITY: "a=b": "c" and "a": "b=c" would become the same item */
        if (strchr(it.key, '='))
            return cordon_json_fail(it.value, err, "a key with an equals sign");
        if (cordon_fact_list_addf(list, err, "%s=%s", it.key, item.text) != 0)
            return -1;
    }
    cordon_fact_list_known(list);
    cordon_fact_list_sort(list);
    return 0;
}

static int keys_of(cordon_json object, cordon_fact_list *list, cordon_err *err)
{
    cordon_json_iter it = cordon_json_iterate(object);
    while (cordon_json_next(&it)) {
        if (cordon_fact_list_add(list, it.key, err) != 0)
            return -1;
    }
    cordon_fact_list_known(list);
    cordon_fact_list_sort(list);
    return 0;
}

static int list_of(const reading *r, cordon_json value, cordon_err *err)
{
    if (r->field->kind == CORDON_READ_MAP)
        return cordon_factread_map(value, r->slot, err);
    if (r->field->kind == CORDON_READ_KEYS)
        return keys_of(value, r->slot, err);
    if (cordon_factread_texts(value, r->slot, err) != 0)
        return -1;
    if (r->field->kind == CORDON_READ_SET)
        cordon_fact_list_sort(r->slot);
    return 0;
}

static int read_list(const reading *r, cordon_err *err)
{
    bool is_array = r->field->kind == CORDON_READ_LIST || r->field->kind == CORDON_READ_SET;
    cordon_json_place place = {0};
    int rc = is_array ? cordon_json_get_array(r->object, r->field->key, &place, err)
                      : cordon_json_get_object(r->object, r->field->key, &place, err);
    if (rc != 0)
        return -1;
    if (place.has == CORDON_JSON_PRESENT)
        return list_of(r, place.value, err);
    if (place.has == CORDON_JSON_NULL && r->field->null == CORDON_NULL_EMPTY)
        cordon_fact_list_known(r->slot);
    return 0;
}

static int read_field(const reading *r, cordon_err *err)
{
    switch (r->field->kind) {
    case CORDON_READ_TEXT:
        return read_text(r, err);
    case CORDON_READ_BOOL:
        return read_bool(r, err);
    case CORDON_READ_INT:
        return read_int(r, err);
    case CORDON_READ_LIST:
    case CORDON_READ_SET:
    case CORDON_READ_MAP:
    case CORDON_READ_KEYS:
        return read_list(r, err);
    case CORDON_READ_NOTHING:
        break;
    }
    return 0;
}

int cordon_factread_fields(cordon_json object, const cordon_factread_field *fields, size_t count,
                           void *facts, cordon_err *err)
{
    for (size_t i = 0; i < count; i++) {
        reading r = {object, &fields[i], (char *)facts + fields[i].offset};
        if (read_field(&r, err) != 0)
            return -1;
    }
    return 0;
}

/* The end of the path step that starts at `step` (".word", "[0]" or "[\"any key\"]"). */
static const char *step_end(const char *step)
{
    if (step[0] == '[' && step[1] == '"') {
        const char *at = step + 2;
        while (*at != '\0' && *at != '"')
            at += at[0] == '\\' && at[1] != '\0' ? 2 : 1;
        return *at == '"' && at[1] == ']' ? at + 2 : at + strlen(at);
    }
    return step + 1 + strcspn(step + 1, ".[");
}

static bool is_element(const char *step)
{
    return step[0] == '[' && step[1] >= '0' && step[1] <= '9';
}

static bool step_matches(const char *pattern, size_t pattern_length, const char *step,
                         size_t step_length)
{
    if (pattern_length == 2 && memcmp(pattern, ".*", 2) == 0)
        return !is_element(step);
    if (pattern_length == 3 && memcmp(pattern, "[*]", 3) == 0)
        return is_element(step);
    return pattern_length == step_length && memcmp(pattern, step, step_length) == 0;
}

/* Length of the first step of a pattern, and whether "**" follows it at once. */
static size_t pattern_step(const char *pattern)
{
    size_t length = 1 + strcspn(pattern + 1, ".[");
    bool subtree = length > 2 && memcmp(pattern + length - 2, "**", 2) == 0;
    return subtree ? length - 2 : length;
}

/* The last byte up to which steps are whole: a path that had to be cut ends in "...". */
static const char *whole_until(const char *path)
{
    size_t length = strlen(path);
    bool cut = length > 3 && memcmp(path + length - 3, "...", 3) == 0;
    return cut ? path + length - 4 : path + length;
}

bool cordon_factread_path_matches(const char *pattern, const char *path)
{
    const char *whole = whole_until(path);
    if (*pattern++ != '$' || *path++ != '$')
        return false;
    while (strcmp(pattern, "**") != 0) {
        if (*pattern == '\0' || *path == '\0')
            return *pattern == *path;
        size_t length = pattern_step(pattern);
        const char *next = step_end(path);
        /* SECURITY: a step that may go on beyond the cut is no match for anything */
        if (next > whole || !step_matches(pattern, length, path, (size_t)(next - path)))
            return false;
        pattern += length;
        path = next;
    }
    return true;
}

typedef struct leftovers {
    const cordon_factread_harmless *table;
    size_t count;
    cordon_fact_list *unmodelled;
} leftovers;

static int on_leftover(void *context, const cordon_json_leftover *leftover, cordon_err *err)
{
    const leftovers *l = context;
    if (leftover->empty)
        return 0;
    for (size_t i = 0; i < l->count; i++) {
        if (cordon_factread_path_matches(l->table[i].path, leftover->path))
            return 0;
    }
    return cordon_fact_list_addf(l->unmodelled, err, "%s = %s", leftover->path, leftover->value);
}

int cordon_factread_leftovers(cordon_json root, const cordon_factread_harmless *table, size_t count,
                              cordon_fact_list *unmodelled, cordon_err *err)
{
    leftovers l = {table, count, unmodelled};
    cordon_fact_list_known(unmodelled);
    return cordon_json_leftovers(root, on_leftover, &l, err);
}

int cordon_factread_odd(cordon_json at, const char *text, cordon_fact_list *unmodelled,
                        cordon_err *err)
{
    return cordon_fact_list_addf(unmodelled, err, "%s = \"%s\"", CORDON_JSON_PATH(at),
                                 CORDON_QUOTE(text));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* See json_text.h. */
#include "support/json_text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_MAX 8192

/* ret->places grows; `at` is the next byte. */
typedef struct reader {
    const char *text;
    size_t at;
    json_text *ret;
} reader;

static void skip_blanks(reader *r)
{
    r->at += strspn(r->text + r->at, " \t\r\n");
}

static bool take(reader *r, char c)
{
    skip_blanks(r);
    if (r->text[r->at] != c)
        return false;
    r->at++;
    return true;
}

static bool skip_string(reader *r)
{
    if (r->text[r->at] != '"')
        return false;
    for (r->at++; r->text[r->at] != '"'; r->at++) {
        if (r->text[r->at] == '\\' && r->text[r->at + 1] != '\0')
            r->at++;
        if (r->text[r->at] == '\0')
            return false;
    }
    r->at++;
    return true;
}

static bool is_word(const char *key, size_t length)
{
    static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return length > 0 && strspn(key, chars) >= length;
}

/* key: with its quotes, or NULL for an element. */
static void fill_path(json_text *json, json_text_place *place, const char *key, size_t length)
{
    const json_text_place *parent = &json->places[place->parent];
    char path[sizeof place->path];
    if (!key)
        (void)snprintf(path, sizeof path, "%.280s[%zu]", parent->path, parent->count);
    else if (is_word(key + 1, length - 2))
        (void)snprintf(path, sizeof path, "%.200s.%.*s", parent->path, (int)length - 2, key + 1);
    else
        (void)snprintf(path, sizeof path, "%.200s[%.*s]", parent->path, (int)length, key);
    memcpy(place->path, path, sizeof path);
}

static bool read_value(reader *r, size_t parent, size_t key, size_t key_length);

static bool read_members(reader *r, size_t container, bool object)
{
    char close = object ? '}' : ']';
    r->at++;
    if (take(r, close))
        return true;
    do {
        skip_blanks(r);
        size_t key = r->at;
        if (object && !skip_string(r))
            return false;
        size_t length = r->at - key;
        if ((object && !take(r, ':')) || !read_value(r, container, key, length))
            return false;
        r->ret->places[container].count++;
    } while (take(r, ','));
    return take(r, close);
}

static bool read_scalar(reader *r, json_text_type *ret_type)
{
    const char *at = r->text + r->at;
    size_t length = strcspn(at, " \t\r\n,]}");
    *ret_type = *at == 'n'                 ? JSON_TEXT_NULL
                : *at == '"'               ? JSON_TEXT_STRING
                : *at == 't' || *at == 'f' ? JSON_TEXT_BOOL
                                           : JSON_TEXT_NUMBER;
    if (*ret_type == JSON_TEXT_STRING)
        return skip_string(r);
    r->at += length;
    return length > 0;
}

static bool read_value(reader *r, size_t parent, size_t key, size_t key_length)
{
    json_text *json = r->ret;
    skip_blanks(r);
    if (json->count == PLACES_MAX)
        return false;
    size_t index = json->count++;
    json_text_place *place = &json->places[index];
    *place = (json_text_place){.begin = r->at, .member = r->at, .parent = parent, .path = "$"};
    if (parent != JSON_TEXT_NONE) {
        place->member = key_length > 0 ? key : r->at;
        fill_path(json, place, key_length > 0 ? r->text + key : NULL, key_length);
    }
    bool object = r->text[r->at] == '{';
    bool array = r->text[r->at] == '[';
    place->type = object ? JSON_TEXT_OBJECT : JSON_TEXT_ARRAY;
    bool ok = object || array ? read_members(r, index, object) : read_scalar(r, &place->type);
    json->places[index].end = r->at;
    return ok;
}

bool json_text_read(const char *text, json_text *ret_json)
{
    reader r = {.text = text, .ret = ret_json};
    *ret_json = (json_text){.text = text, .places = calloc(PLACES_MAX, sizeof(json_text_place))};
    bool ok = ret_json->places && read_value(&r, JSON_TEXT_NONE, 0, 0);
    skip_blanks(&r);
    if (ok && text[r.at] == '\0')
        return true;
    json_text_clear(ret_json);
    return false;
}

void json_text_clear(json_text *json)
{
    free(json->places);
    *json = (json_text){0};
}

size_t json_text_find(const json_text *json, const char *path)
{
    for (size_t i = 0; i < json->count; i++) {
        if (strcmp(json->places[i].path, path) == 0)
            return i;
    }
    return JSON_TEXT_NONE;
}

bool json_text_is_leaf(const json_text_place *place)
{
    return place->type < JSON_TEXT_ARRAY || place->count == 0;
}

/* The text with the bytes of [begin, end) replaced. */
static char *splice(const char *text, size_t begin, size_t end, const char *with)
{
    size_t size = strlen(text) + strlen(with) + 1;
    char *copy = malloc(size);
    if (copy)
        (void)snprintf(copy, size, "%.*s%s%s", (int)begin, text, with, text + end);
    return copy;
}

char *json_text_replace(const json_text *json, size_t at, const char *value)
{
    return splice(json->text, json->places[at].begin, json->places[at].end, value);
}

char *json_text_drop(const json_text *json, size_t at)
{
    size_t begin = json->places[at].member;
    size_t end = json->places[at].end;
    size_t after = end + strspn(json->text + end, " \t\r\n");
    if (json->text[after] == ',')
        return splice(json->text, begin, after + 1, "");
    while (begin > 0 && strchr(" \t\r\n", json->text[begin - 1]))
        begin--;
    if (begin > 0 && json->text[begin - 1] == ',')
        begin--;
    return splice(json->text, begin, end, "");
}

char *json_text_extend(const json_text *json, size_t container, const char *more)
{
    const json_text_place *place = &json->places[container];
    char added[512];
    (void)snprintf(added, sizeof added, "%s%s", more, place->count > 0 ? ", " : "");
    return splice(json->text, place->begin + 1, place->begin + 1, added);
}

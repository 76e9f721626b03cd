/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The growing byte string. libc-only.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* explicit_bzero */
#endif
#include "kit/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define FIRST_CAPACITY 64

cordon_buf cordon_buf_make(size_t max_bytes)
{
    assert(max_bytes > 0 && max_bytes < SIZE_MAX / 2);
    return (cordon_buf){.max_bytes = max_bytes};
}

cordon_buf cordon_buf_make_secret(size_t max_bytes)
{
    cordon_buf buf = cordon_buf_make(max_bytes);
    buf.secret = true;
    return buf;
}

void cordon_buf_clear(cordon_buf *buf)
{
    if (buf->secret && buf->data)
        explicit_bzero(buf->data, buf->capacity);
    free(buf->data);
    buf->data = NULL;
    buf->length = 0;
    buf->capacity = 0;
}

void cordon_buf_reset(cordon_buf *buf)
{
    if (!buf->data)
        return;
    if (buf->secret)
        explicit_bzero(buf->data, buf->capacity);
    buf->length = 0;
    buf->data[0] = '\0';
}

/* realloc would leave a copy of a secret behind. */
static char *grow_secret(cordon_buf *buf, size_t capacity)
{
    char *data = malloc(capacity);
    if (!data)
        return NULL;
    if (buf->data) {
        memcpy(data, buf->data, buf->length + 1);
        explicit_bzero(buf->data, buf->capacity);
        free(buf->data);
    }
    return data;
}

/* Doubles up to the ceiling; `need` counts the NUL and is at most max_bytes + 1. */
static size_t next_capacity(const cordon_buf *buf, size_t need)
{
    size_t capacity = buf->capacity ? buf->capacity : FIRST_CAPACITY;
    while (capacity < need)
        capacity *= 2;
    return capacity > buf->max_bytes + 1 ? buf->max_bytes + 1 : capacity;
}

static int make_room(cordon_buf *buf, size_t extra, cordon_err *err)
{
    if (extra > buf->max_bytes - buf->length)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "more than the limit of %zu bytes",
                           buf->max_bytes);
    size_t need = buf->length + extra + 1;
    if (buf->data && need <= buf->capacity)
        return 0;
    size_t capacity = next_capacity(buf, need);
    char *data = buf->secret ? grow_secret(buf, capacity) : realloc(buf->data, capacity);
    if (!data)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "no memory for %zu bytes", capacity);
    buf->data = data;
    buf->capacity = capacity;
    buf->data[buf->length] = '\0';
    return 0;
}

int cordon_buf_append(cordon_buf *buf, const void *bytes, size_t length, cordon_err *err)
{
    if (make_room(buf, length, err) < 0)
        return -1;
    if (length > 0)
        memcpy(buf->data + buf->length, bytes, length);
    cordon_buf_commit(buf, length);
    return 0;
}

int cordon_buf_append_text(cordon_buf *buf, const char *text, cordon_err *err)
{
    return cordon_buf_append(buf, text, strlen(text), err);
}

int cordon_buf_append_char(cordon_buf *buf, char c, cordon_err *err)
{
    return cordon_buf_append(buf, &c, 1, err);
}

int cordon_buf_printf(cordon_buf *buf, cordon_err *err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (wanted < 0)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "text that cannot be formatted");
    if (make_room(buf, (size_t)wanted, err) < 0)
        return -1;
    va_start(arguments, format);
    (void)vsnprintf(buf->data + buf->length, (size_t)wanted + 1, format, arguments);
    va_end(arguments);
    cordon_buf_commit(buf, (size_t)wanted);
    return 0;
}

int cordon_buf_reserve(cordon_buf *buf, size_t extra, char **ret_space, cordon_err *err)
{
    if (make_room(buf, extra, err) < 0)
        return -1;
    *ret_space = buf->data + buf->length;
    return 0;
}

void cordon_buf_commit(cordon_buf *buf, size_t written)
{
    assert(buf->data && written < buf->capacity - buf->length);
    buf->length += written;
    buf->data[buf->length] = '\0';
}

void cordon_buf_consume(cordon_buf *buf, size_t count)
{
    assert(count <= buf->length);
    if (count == 0)
        return;
    memmove(buf->data, buf->data + count, buf->length - count + 1);
    if (buf->secret)
        explicit_bzero(buf->data + buf->length - count + 1, count);
    buf->length -= count;
}

const char *cordon_buf_text(const cordon_buf *buf)
{
    return buf->data ? buf->data : "";
}

int cordon_buf_take(cordon_buf *buf, char **ret_text, size_t *ret_length, cordon_err *err)
{
    if (make_room(buf, 0, err) < 0)
        return -1;
    if (ret_length)
        *ret_length = buf->length;
    *ret_text = CORDON_TAKE(buf->data);
    buf->length = 0;
    buf->capacity = 0;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The error object: filling, wrapping, and making foreign text printable. Never allocates.
 * libc-only.
 */
#include "kit/error.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    [CORDON_OK] = "OK",
    [CORDON_ERR_NOMEM] = "NOMEM",
    [CORDON_ERR_TIMEOUT] = "TIMEOUT",
    [CORDON_ERR_NOTFOUND] = "NOTFOUND",
    [CORDON_ERR_CONFLICT] = "CONFLICT",
    [CORDON_ERR_UNSUPPORTED] = "UNSUPPORTED",
    [CORDON_ERR_PROTOCOL] = "PROTOCOL",
    [CORDON_ERR_REFUSED] = "REFUSED",
    [CORDON_ERR_INDETERMINATE] = "INDETERMINATE",
    [CORDON_ERR_CANCELLED] = "CANCELLED",
    [CORDON_ERR_CONFIG] = "CONFIG",
    [CORDON_ERR_UNREACHABLE] = "UNREACHABLE",
    [CORDON_ERR_SYSTEM] = "SYSTEM",
    [CORDON_ERR_OVERLAP] = "OVERLAP",
    [CORDON_ERR_ENGINE] = "ENGINE",
    [CORDON_ERR_TAMPERED] = "TAMPERED",
    [CORDON_ERR_INVALID] = "INVALID",
    [CORDON_ERR_WARNED] = "WARNED",
};

const char *cordon_code_name(cordon_code code)
{
    /* Through unsigned, so that a negative number from a caller is out of range, too. */
    unsigned index = (unsigned)code;
    return index < sizeof names / sizeof names[0] ? names[index] : "UNKNOWN";
}

/* Marks a cut message, so that nobody takes half a sentence for a whole one. */
static void mark_cut(cordon_err *err)
{
    memcpy(err->message + sizeof err->message - 4, "...", 4);
}

static void append(cordon_err *err, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

static void append(cordon_err *err, const char *format, va_list arguments)
{
    size_t used = strlen(err->message);
    size_t room = sizeof err->message - used;
    int wanted = vsnprintf(err->message + used, room, format, arguments);
    if (wanted < 0)
        err->message[used] = '\0';
    else if ((size_t)wanted >= room)
        mark_cut(err);
}

static void append_text(cordon_err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append_text(cordon_err *err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append(err, format, arguments);
    va_end(arguments);
}

static void start(cordon_err *err, cordon_code code, int http, int errnum)
{
    assert(code != CORDON_OK);
    assert(err->code == CORDON_OK && "the first error wins: this object is already set");
    err->code = code;
    err->http = http;
    err->errnum = errnum;
    err->refusal = 0;
    err->message[0] = '\0';
}

void cordon_err_set(cordon_err *err, cordon_code code, int http, const char *format, ...)
{
    if (!err)
        return;
    start(err, code, http, 0);
    va_list arguments;
    va_start(arguments, format);
    append(err, format, arguments);
    va_end(arguments);
}

static cordon_code code_of_errno(int errnum)
{
    switch (errnum) {
    case ENOENT:
        return CORDON_ERR_NOTFOUND;
    case ENOMEM:
        return CORDON_ERR_NOMEM;
    default:
        return CORDON_ERR_SYSTEM;
    }
}

void cordon_err_set_errno(cordon_err *err, int errnum, const char *format, ...)
{
    if (!err)
        return;
    start(err, code_of_errno(errnum), 0, errnum);
    va_list arguments;
    va_start(arguments, format);
    append(err, format, arguments);
    va_end(arguments);
    /* strerror_r has two incompatible forms; %m is the same in glibc and musl. */
    int saved = errno;
    errno = errnum;
    append_text(err, ": %m");
    errno = saved;
}

void cordon_err_wrap(cordon_err *err, const char *format, ...)
{
    if (!err || err->code == CORDON_OK)
        return;
    char inner[CORDON_ERR_MESSAGE_MAX];
    memcpy(inner, err->message, sizeof inner);
    err->message[0] = '\0';
    va_list arguments;
    va_start(arguments, format);
    append(err, format, arguments);
    va_end(arguments);
    append_text(err, ": %s", inner);
}

void cordon_err_clear(cordon_err *err)
{
    if (!err)
        return;
    err->code = CORDON_OK;
    err->errnum = 0;
    err->http = 0;
    err->message[0] = '\0';
}

const char *cordon_err_printable(char *ret_text, size_t size, const char *foreign, size_t length)
{
    assert(size >= 4);
    if (!foreign)
        length = 0;
    bool cut = length > size - 1;
    size_t keep = cut ? size - 4 : length;
    for (size_t i = 0; i < keep; i++)
        ret_text[i] = (char)(foreign[i] >= ' ' && foreign[i] <= '~' ? foreign[i] : '?');
    memcpy(ret_text + keep, cut ? "..." : "", cut ? 4 : 1);
    return ret_text;
}

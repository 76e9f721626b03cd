/* SPDX-License-Identifier: Apache-2.0 */
/* See allocfail.h. The names are the linker's: __wrap_X is called for X, __real_X is X. */
#include "support/allocfail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_bool active;
static atomic_uint count;
static atomic_uint fail_at;
static atomic_bool failed;
static _Thread_local unsigned paused;

void allocfail_begin(unsigned nth)
{
    atomic_store(&count, 0);
    atomic_store(&failed, false);
    atomic_store(&fail_at, nth);
    atomic_store(&active, true);
}

unsigned allocfail_end(bool *ret_failed)
{
    atomic_store(&active, false);
    *ret_failed = atomic_load(&failed);
    return atomic_load(&count);
}

void allocfail_pause(void)
{
    paused++;
}

void allocfail_resume(void)
{
    paused--;
}

/* True: this one is the one. */
static bool strikes(void)
{
    if (!atomic_load(&active) || paused > 0)
        return false;
    if (atomic_fetch_add(&count, 1) + 1 != atomic_load(&fail_at))
        return false;
    atomic_store(&failed, true);
    errno = ENOMEM;
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t items, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t items, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
int __real_vasprintf(char **ret_text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return strikes() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t items, size_t size);
void *__wrap_calloc(size_t items, size_t size)
{
    return strikes() ? NULL : __real_calloc(items, size);
}

void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
    return strikes() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t items, size_t size);
void *__wrap_reallocarray(void *old, size_t items, size_t size)
{
    return strikes() ? NULL : __real_reallocarray(old, items, size);
}

char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    return strikes() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t size);
char *__wrap_strndup(const char *text, size_t size)
{
    return strikes() ? NULL : __real_strndup(text, size);
}

int __wrap_asprintf(char **ret_text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **ret_text, const char *format, ...)
{
    va_list arguments;
    int length;
    if (strikes())
        return -1; /* *ret_text is undefined then: asprintf(3) */
    va_start(arguments, format);
    length = __real_vasprintf(ret_text, format, arguments);
    va_end(arguments);
    return length;
}

int __wrap_vasprintf(char **ret_text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
int __wrap_vasprintf(char **ret_text, const char *format, va_list arguments)
{
    return strikes() ? -1 : __real_vasprintf(ret_text, format, arguments);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scope-bound ownership. Every owned local is declared with one of these attributes and is
 * initialised where it is declared; CORDON_TAKE hands it over. The only file that uses the GNU
 * cleanup attribute directly. libc-only.
 */
#ifndef CORDON_KIT_CLEANUP_H
#define CORDON_KIT_CLEANUP_H

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Runs fn(&variable) when the variable leaves its scope. */
#define cordon_cleanup(fn) __attribute__((cleanup(fn)))

/* Moves a pointer out of an owned variable, so that its cleanup has nothing left to do. */
#define CORDON_TAKE(pointer)                                                                       \
    __extension__({                                                                                \
        __typeof__(pointer) cordon_taken_ = (pointer);                                             \
        (pointer) = NULL;                                                                          \
        cordon_taken_;                                                                             \
    })

/* The same for a file descriptor. */
static inline int cordon_take_fd(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

static inline void cordon_cleanup_free(void *pointer_to_pointer)
{
    void **slot = pointer_to_pointer;
    free(*slot);
    *slot = NULL;
}

/* Closes and keeps errno, so that a cleanup never hides the error that led to it. */
static inline void cordon_cleanup_close(const int *fd)
{
    if (*fd >= 0) {
        int saved = errno;
        (void)close(*fd);
        errno = saved;
    }
}

#define cordon_autofree  cordon_cleanup(cordon_cleanup_free)
#define cordon_autoclose cordon_cleanup(cordon_cleanup_close)

/* Defines the helper behind `cordon_auto(type)` for a value type with a clear function. */
#define CORDON_DEFINE_AUTO(type, clear_fn)                                                         \
    static inline void type##_auto_clear(type *value)                                              \
    {                                                                                              \
        clear_fn(value);                                                                           \
    }

/* Defines the helper behind `cordon_auto_ptr(type)` for a heap type with a free function. */
#define CORDON_DEFINE_AUTO_PTR(type, free_fn)                                                      \
    static inline void type##_auto_free(type **value)                                              \
    {                                                                                              \
        free_fn(*value);                                                                           \
        *value = NULL;                                                                             \
    }

#define cordon_auto(type)     cordon_cleanup(type##_auto_clear) type
#define cordon_auto_ptr(type) cordon_cleanup(type##_auto_free) type *

#endif

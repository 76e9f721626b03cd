/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table behind errno_name.h.
 */
#include <errno.h>
#include <stddef.h>

#include "errno_name.h"

#define ROW(name)                                                                                  \
    {                                                                                              \
        name, #name                                                                                \
    }

const char *cordon_errno_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } rows[] = {
        ROW(ECONNREFUSED),  ROW(ECONNRESET), ROW(ECONNABORTED), ROW(ETIMEDOUT), ROW(EHOSTUNREACH),
        ROW(ENETUNREACH),   ROW(EHOSTDOWN),  ROW(ENETDOWN),     ROW(EPIPE),     ROW(ENOTCONN),
        ROW(EADDRNOTAVAIL), ROW(EADDRINUSE), ROW(EAFNOSUPPORT), ROW(EACCES),    ROW(EPERM),
        ROW(EPROTO),        ROW(EMFILE),     ROW(ENFILE),       ROW(ENOBUFS),   ROW(ENOMEM),
        ROW(ENOPROTOOPT),   ROW(EINVAL),
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].number == number)
            return rows[i].name;
    }
    return "other";
}

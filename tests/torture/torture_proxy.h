/* SPDX-License-Identifier: Apache-2.0 */
/* One proxy of which a call fails, and the clients that come to it: see test_torture_proxy.c. */
#ifndef CORDON_TESTS_TORTURE_PROXY_H
#define CORDON_TESTS_TORTURE_PROXY_H

#include "support/callfail.h"
#include "support/proxy_rig.h"

/* What became of one client. */
typedef enum outcome {
    FINE,
    CUT,   /* refused or closed, which the one that was struck may be */
    WRONG, /* hung, or got what it must not get */
} outcome;

typedef struct attempt {
    proxy_rig rig;
    callfail_page *page;
    int errors[2];
    char said[512];
    int sockets;
    int descriptors;
    const char *wrong;
} attempt;

typedef outcome operation_fn(attempt *a);

/* Notes the first thing that went wrong. */
outcome wrong(attempt *a, const char *why);

/* An answer and its end; a host that is refused; a half-close; a name with a private address; some
 * megabytes both ways. */
outcome tunnel(attempt *a);
outcome refused(attempt *a);
outcome half_close(attempt *a);
outcome looked_up(attempt *a);
outcome bulk(attempt *a);

#endif

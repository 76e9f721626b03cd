/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a live run of the caller's reaches and is refused, as it happens. Conventions as in
 * cordon/cordon.h.
 */
#ifndef CORDON_EGRESS_PUBLIC_H
#define CORDON_EGRESS_PUBLIC_H

#include "cordon/cordon.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cordon_egress_live cordon_egress_live;

/*
 * Opens the egress events of one of the caller's own runs, from its first: they stand in the state
 * folder while it lasts. Reads only.
 * @param invocation  its id, or the first digits of it; NULL for the one that is live
 * @return 0, or -1 with CONFIG (no state folder, others may write to it or to the file, more than
 *         one run is meant: the message names them), NOTFOUND (no such run is live) or SYSTEM
 */
CORDON_PUBLIC int cordon_egress_open(const cordon_host *host, const char *invocation,
                                     cordon_egress_live **ret_live, cordon_err *err) CORDON_CHECK;
CORDON_PUBLIC void cordon_egress_close(cordon_egress_live *live);

/* Whose events they are: the whole id, as long as `live`. */
CORDON_PUBLIC const char *cordon_egress_invocation(const cordon_egress_live *live);

/*
 * Waits for the next event.
 * @param cancel_fd  readable = give up; -1 for none
 * @param ret_json   one JSON object (README, "Egress events"), valid until the next call; NULL once
 *                   the run has ended and all was told
 * @return 0, or -1 with CANCELLED, SYSTEM, PROTOCOL (what stands there is no event) or NOMEM
 */
CORDON_PUBLIC int cordon_egress_next(cordon_egress_live *live, int cancel_fd, const char **ret_json,
                                     cordon_err *err) CORDON_CHECK;

#ifdef __cplusplus
}
#endif
#endif

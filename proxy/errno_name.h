/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errno(3) as its stable name, for the log: texts of strerror(3) differ between libcs. libc-only,
 * pure.
 */
#ifndef CORDON_PROXY_ERRNO_NAME_H
#define CORDON_PROXY_ERRNO_NAME_H

/* "ECONNRESET"; "other" for what no socket call of the proxy is known to fail with. */
const char *cordon_errno_name(int number);

#endif

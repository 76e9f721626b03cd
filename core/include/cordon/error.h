/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one error object of Cordon: a value on the caller's stack that never allocates, so that
 * even "out of memory" can be reported. Public, because every public call fills one.
 */
#ifndef CORDON_ERROR_H
#define CORDON_ERROR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CORDON_PUBLIC __attribute__((visibility("default")))
#define CORDON_CHECK  __attribute__((warn_unused_result))
#else
#define CORDON_PUBLIC
#define CORDON_CHECK
#endif

/* What a caller can branch on. Stable numbers: new codes are added at the end. */
typedef enum cordon_code {
    CORDON_OK = 0,
    CORDON_ERR_NOMEM = 1,         /* memory ran out */
    CORDON_ERR_TIMEOUT = 2,       /* the deadline passed before the answer was whole */
    CORDON_ERR_NOTFOUND = 3,      /* the engine (or the disk) has no such object */
    CORDON_ERR_CONFLICT = 4,      /* the object exists, is in use, or is in another state */
    CORDON_ERR_UNSUPPORTED = 5,   /* this engine, version or build cannot do it */
    CORDON_ERR_PROTOCOL = 6,      /* an answer that breaks the protocol, or is not believable */
    CORDON_ERR_REFUSED = 7,       /* policy or validation said no; see cordon_refusal */
    CORDON_ERR_INDETERMINATE = 8, /* a change was sent and its answer never came */
    CORDON_ERR_CANCELLED = 9,     /* the caller's cancel descriptor became readable */
    CORDON_ERR_CONFIG = 10,       /* configuration or an argument is wrong */
    CORDON_ERR_UNREACHABLE = 11,  /* nothing answers at the endpoint, or it may not be opened */
    CORDON_ERR_SYSTEM = 12,       /* a system call failed; see sys_errno */
    CORDON_ERR_OVERLAP = 13,      /* the subnet or name is already used by somebody */
    CORDON_ERR_ENGINE = 14,       /* the engine reports a failure of its own */
    CORDON_ERR_TAMPERED = 15,     /* an object of the run was changed by somebody else */
    CORDON_ERR_INVALID = 16,      /* an argument or a handle that the library did not make */
    CORDON_ERR_WARNED = 17,       /* the engine made an object and warned of something */
} cordon_code;

/* Longest message with its final NUL; longer text is cut with "...". */
#define CORDON_ERR_MESSAGE_MAX 640

/*
 * code     CORDON_OK in an unused object
 * errnum   errno of the failed system call, or 0
 * http     HTTP status of the engine's answer, or 0
 * refusal  for CORDON_ERR_REFUSED: which CORDON_REFUSED_ code of the receipt, or 0
 * message  one line: the thing, the reason, the next step. Text that came from outside has been
 *          made printable and is cut, so it may be shown on a terminal.
 */
typedef struct cordon_err {
    cordon_code code;
    int errnum;
    int http;
    int refusal;
    char message[CORDON_ERR_MESSAGE_MAX];
} cordon_err;

/* A fresh error object. */
#define CORDON_ERR_INIT                                                                            \
    {                                                                                              \
        .code = CORDON_OK, .errnum = 0, .http = 0, .refusal = 0, .message = ""                     \
    }

/* The code's stable name, such as "TIMEOUT". Never NULL; "UNKNOWN" for a number that is no code. */
CORDON_PUBLIC const char *cordon_code_name(cordon_code code);

#ifdef __cplusplus
}
#endif
#endif

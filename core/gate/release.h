/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RELEASE frame, read into a value. Pure: bytes in, structure out. Everything in it may be
 * secret (prompts, tokens), so all memory is wiped before it is given back. libc-only.
 */
#ifndef CORDON_GATE_RELEASE_H
#define CORDON_GATE_RELEASE_H

#include <stddef.h>
#include <stdint.h>

#include "gate/protocol.h"
#include "gate/text.h"
#include "kit/buf.h"
#include "kit/cleanup.h"
#include "kit/error.h"

/* Most items of each kind. The kernel's own bound on one argument is 128 KiB (MAX_ARG_STRLEN). */
#define CORDON_RELEASE_ARGV_MAX        4096
#define CORDON_RELEASE_ENV_MAX         1024
#define CORDON_RELEASE_RULES_MAX       256
#define CORDON_RELEASE_FILES_MAX       8
#define CORDON_RELEASE_SECRETS_MAX     16
#define CORDON_RELEASE_SECRET_NAME_MAX 128
#define CORDON_RELEASE_TEXT_BYTES_MAX  ((128U << 10) - 1)
#define CORDON_RELEASE_PATH_BYTES_MAX  4095

typedef enum cordon_rule_kind {
    CORDON_RULE_UNKNOWN = 0,
    CORDON_RULE_EXECUTE,
    CORDON_RULE_READ,
    CORDON_RULE_WRITE,
    CORDON_RULE_CONNECT,
} cordon_rule_kind;

/* One Landlock rule; path is owned and set for all kinds but CONNECT. */
typedef struct cordon_rule {
    cordon_rule_kind kind;
    char *path;
    uint16_t port;
} cordon_rule;

/* A file that the command finds; owned. */
typedef struct cordon_release_file {
    char *path;
    cordon_buf bytes;
} cordon_release_file;

/* A NULL-terminated list of owned, secret texts. */
typedef struct cordon_strings {
    size_t count;
    char **items;
} cordon_strings;

typedef struct cordon_release {
    uint8_t exit_key[CORDON_GATE_NONCE_BYTES];
    cordon_strings argv;
    cordon_strings env;
    cordon_strings secrets; /* values; the n-th is for descriptor CORDON_GATE_SECRET_FD + n */
    char *cwd;
    cordon_buf stdin_bytes;
    size_t rule_count;
    cordon_rule rules[CORDON_RELEASE_RULES_MAX];
    size_t file_count;
    cordon_release_file files[CORDON_RELEASE_FILES_MAX];
    uint64_t landlock_abi_min;
} cordon_release;

/* "execute /path", "read /path", "write /path", "connect 3128". @return -1 with PROTOCOL */
int cordon_rule_parse(cordon_slice text, cordon_rule *ret_rule, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Opens a whole frame and checks it: right version and key; unknown, repeated and missing fields
 * refused; a command; an absolute folder; every environment item NAME=value with its name only
 * once; rules only together with a Landlock ABI.
 *
 * @param ret_release  heap memory of the caller's, to be freed with cordon_release_free
 * @return 0, or -1 with PROTOCOL or NOMEM
 */
int cordon_release_parse(const void *bytes, size_t length,
                         const uint8_t nonce[CORDON_GATE_NONCE_BYTES], cordon_release **ret_release,
                         cordon_err *err) __attribute__((warn_unused_result));

/*
 * Makes the release's files, with the folders that they need, over nothing that is there and
 * through no symbolic link, and wipes their content. @return 0, or -1 with SYSTEM
 */
int cordon_release_place_files(cordon_release *release, cordon_err *err)
    __attribute__((warn_unused_result));

/* Wipes and frees; NULL is fine. */
void cordon_release_free(cordon_release *release);

/* Wipes and frees what the command got at its start, once it has it; the rest stays. */
void cordon_release_wipe_texts(cordon_release *release);

/* The value of NAME in env, borrowed; NULL when it is not there. */
const char *cordon_release_getenv(const cordon_release *release, const char *name);

CORDON_DEFINE_AUTO_PTR(cordon_release, cordon_release_free)

#endif

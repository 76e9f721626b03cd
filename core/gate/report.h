/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The REPORT frame while it is being filled: facts with a bound on their number, length and sum.
 * What does not fit is never cut silently: the fact "truncated=KEY" says so once per key, and core
 * refuses a run on it. libc-only.
 */
#ifndef CORDON_GATE_REPORT_H
#define CORDON_GATE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gate/protocol.h"
#include "gate/text.h"
#include "kit/error.h"
#include "kit/frame.h"

/* Most facts of one key, longest "key=value", and how many different keys there may be. */
#define CORDON_REPORT_KEY_FACTS_MAX  512
#define CORDON_REPORT_FACT_BYTES_MAX 8192
#define CORDON_REPORT_KEYS_MAX       64

typedef struct cordon_report_key {
    const char *name; /* a static text */
    unsigned facts;
    bool truncated;
} cordon_report_key;

typedef struct cordon_report {
    cordon_frame frame;
    size_t bytes_left; /* for facts; room for the truncated ones is set aside */
    size_t key_count;
    cordon_report_key keys[CORDON_REPORT_KEYS_MAX];
} cordon_report;

/* Starts a report with the protocol version and this nonce. */
int cordon_report_init(cordon_report *ret_report, const uint8_t nonce[CORDON_GATE_NONCE_BYTES],
                       cordon_err *err) __attribute__((warn_unused_result));
void cordon_report_clear(cordon_report *report);

/*
 * Adds "key=value", or notes that key is truncated when it does not fit.
 * @param key  a text that lives as long as the report
 */
int cordon_report_add(cordon_report *report, const char *key, cordon_slice value, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_report_add_text(cordon_report *report, const char *key, const char *value,
                           cordon_err *err) __attribute__((warn_unused_result));
int cordon_report_addf(cordon_report *report, cordon_err *err, const char *key, const char *format,
                       ...) __attribute__((format(printf, 4, 5), warn_unused_result));

/* Adds one fact per line of text, without empty lines. */
int cordon_report_add_lines(cordon_report *report, const char *key, cordon_slice text,
                            cordon_err *err) __attribute__((warn_unused_result));

/* For a source that had more than could be read. */
int cordon_report_truncated(cordon_report *report, const char *key, cordon_err *err)
    __attribute__((warn_unused_result));

/* Adds the truncated facts and seals; then report->frame.bytes is what goes out. */
int cordon_report_seal(cordon_report *report, cordon_err *err) __attribute__((warn_unused_result));

CORDON_DEFINE_AUTO(cordon_report, cordon_report_clear)

#endif

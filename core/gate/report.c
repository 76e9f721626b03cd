/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling the REPORT frame within its bounds. libc-only.
 */
#include "gate/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Head, mac, version and nonce fields, and one "truncated" fact per key. */
#define RESERVE_BYTES    (512 + CORDON_REPORT_KEYS_MAX * 64)
#define FIELD_HEAD_BYTES 6
#define KEY_BYTES_MAX    32

int cordon_report_init(cordon_report *ret_report, const uint8_t nonce[CORDON_GATE_NONCE_BYTES],
                       cordon_err *err)
{
    cordon_auto(cordon_report) report = {.bytes_left = CORDON_GATE_REPORT_MAX - RESERVE_BYTES};
    if (cordon_frame_init(&report.frame, CORDON_GATE_MAGIC_REPORT, CORDON_GATE_REPORT_MAX, err) < 0)
        return -1;
    if (cordon_frame_add_u64(&report.frame, CORDON_GATE_REPORT_VERSION, CORDON_GATE_VERSION, err) <
            0 ||
        cordon_frame_add_bytes(&report.frame, CORDON_GATE_REPORT_NONCE, nonce,
                               CORDON_GATE_NONCE_BYTES, err) < 0)
        return -1;
    *ret_report = report;
    report = (cordon_report){0};
    return 0;
}

void cordon_report_clear(cordon_report *report)
{
    cordon_frame_clear(&report->frame);
    report->key_count = 0;
}

static int find_key(cordon_report *report, const char *name, cordon_report_key **ret_key,
                    cordon_err *err)
{
    for (size_t i = report->key_count; i > 0; i--)
        if (strcmp(report->keys[i - 1].name, name) == 0) {
            *ret_key = &report->keys[i - 1];
            return 0;
        }
    if (report->key_count == CORDON_REPORT_KEYS_MAX || strlen(name) > KEY_BYTES_MAX)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "too many or too long keys: %s", name);
    cordon_report_key *key = &report->keys[report->key_count++];
    *key = (cordon_report_key){.name = name};
    *ret_key = key;
    return 0;
}

static int add_field(cordon_report *report, const char *key, cordon_slice value, cordon_err *err)
{
    char fact[CORDON_REPORT_FACT_BYTES_MAX];
    size_t key_length = strlen(key);
    memcpy(fact, key, key_length);
    fact[key_length] = '=';
    if (value.length > 0)
        memcpy(fact + key_length + 1, value.text, value.length);
    return cordon_frame_add_bytes(&report->frame, CORDON_GATE_REPORT_FACT, fact,
                                  key_length + 1 + value.length, err);
}

int cordon_report_add(cordon_report *report, const char *key, cordon_slice value, cordon_err *err)
{
    cordon_report_key *entry = NULL;
    if (find_key(report, key, &entry, err) < 0)
        return -1;
    size_t cost = FIELD_HEAD_BYTES + strlen(key) + 1 + value.length;
    if (entry->facts >= CORDON_REPORT_KEY_FACTS_MAX || cost > report->bytes_left ||
        cost - FIELD_HEAD_BYTES > CORDON_REPORT_FACT_BYTES_MAX) {
        entry->truncated = true;
        return 0;
    }
    if (add_field(report, key, value, err) < 0)
        return -1;
    entry->facts++;
    report->bytes_left -= cost;
    return 0;
}

int cordon_report_add_text(cordon_report *report, const char *key, const char *value,
                           cordon_err *err)
{
    return cordon_report_add(report, key, cordon_slice_make(value, strlen(value)), err);
}

int cordon_report_addf(cordon_report *report, cordon_err *err, const char *key, const char *format,
                       ...)
{
    char value[CORDON_REPORT_FACT_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    if (length < 0)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "a fact for %s cannot be formatted", key);
    if ((size_t)length >= sizeof value)
        return cordon_report_truncated(report, key, err);
    return cordon_report_add(report, key, cordon_slice_make(value, (size_t)length), err);
}

int cordon_report_add_lines(cordon_report *report, const char *key, cordon_slice text,
                            cordon_err *err)
{
    cordon_slice line;
    while (cordon_slice_cut(&text, '\n', &line))
        if (line.length > 0 && cordon_report_add(report, key, line, err) < 0)
            return -1;
    return 0;
}

int cordon_report_truncated(cordon_report *report, const char *key, cordon_err *err)
{
    cordon_report_key *entry = NULL;
    if (find_key(report, key, &entry, err) < 0)
        return -1;
    entry->truncated = true;
    return 0;
}

int cordon_report_seal(cordon_report *report, cordon_err *err)
{
    for (size_t i = 0; i < report->key_count; i++) {
        const char *name = report->keys[i].name;
        if (report->keys[i].truncated &&
            add_field(report, "truncated", cordon_slice_make(name, strlen(name)), err) < 0)
            return -1;
    }
    return cordon_frame_seal(&report->frame, cordon_frame_unkeyed, err);
}

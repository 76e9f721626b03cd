/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of the lines of /proc/self/status that matter, and how each becomes facts. libc-only.
 */
#include "gate/status.h"

#include <stdint.h>
#include <string.h>

#include "kit/num.h"

typedef int emit_fn(cordon_report *report, const char *key, cordon_slice value, cordon_err *err);

static int check_number(cordon_slice word, cordon_err *err)
{
    uint64_t number = 0;
    return cordon_num_u64(word.text, word.length, 0, UINT32_MAX, &number, err);
}

/* "real effective saved filesystem" */
static int emit_ids(cordon_report *report, const char *key, cordon_slice value, cordon_err *err)
{
    char ids[64];
    cordon_slice rest = value;
    cordon_slice word;
    int count = 0;
    while (cordon_slice_word(&rest, &word)) {
        if (check_number(word, err) < 0)
            return -1;
        count++;
    }
    if (count != 4)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "%d ids, expected 4", count);
    if (cordon_slice_squeeze(value, ids, sizeof ids, err) < 0)
        return -1;
    return cordon_report_add_text(report, key, ids, err);
}

static int emit_groups(cordon_report *report, const char *key, cordon_slice value, cordon_err *err)
{
    cordon_slice word;
    while (cordon_slice_word(&value, &word))
        if (check_number(word, err) < 0 || cordon_report_add(report, key, word, err) < 0)
            return -1;
    return 0;
}

static int one_word(cordon_slice value, cordon_slice *ret_word, cordon_err *err)
{
    cordon_slice more;
    if (!cordon_slice_word(&value, ret_word) || cordon_slice_word(&value, &more))
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "not exactly one word");
    return 0;
}

static int emit_mask(cordon_report *report, const char *key, cordon_slice value, cordon_err *err)
{
    cordon_slice word;
    uint64_t mask = 0;
    if (one_word(value, &word, err) < 0 ||
        cordon_num_hex(word.text, word.length, UINT64_MAX, &mask, err) < 0)
        return -1;
    if (word.length != 16)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "a mask of %zu digits", word.length);
    return cordon_report_add(report, key, word, err);
}

static int emit_number(cordon_report *report, const char *key, cordon_slice value, cordon_err *err)
{
    cordon_slice word;
    if (one_word(value, &word, err) < 0 || check_number(word, err) < 0)
        return -1;
    return cordon_report_add(report, key, word, err);
}

typedef struct status_line {
    const char *name;
    const char *key;
    emit_fn *emit;
    bool optional;
} status_line;

static const status_line lines[] = {
    {"Uid", "uid", emit_ids, false},
    {"Gid", "gid", emit_ids, false},
    {"Groups", "group", emit_groups, false},
    {"CapInh", "cap.inheritable", emit_mask, false},
    {"CapPrm", "cap.permitted", emit_mask, false},
    {"CapEff", "cap.effective", emit_mask, false},
    {"CapBnd", "cap.bounding", emit_mask, false},
    {"CapAmb", "cap.ambient", emit_mask, false},
    {"Seccomp", "seccomp.mode", emit_number, false},
    {"Seccomp_filters", "seccomp.filters", emit_number, true},
};

#define LINE_COUNT (sizeof lines / sizeof lines[0])

static size_t find_line(cordon_slice name)
{
    size_t i = 0;
    while (i < LINE_COUNT && !cordon_slice_is(name, lines[i].name))
        i++;
    return i;
}

/* "Name:\tvalue"; lines of no interest pass. */
static int take_line(cordon_slice line, bool seen[LINE_COUNT], cordon_report *report,
                     cordon_err *err)
{
    cordon_slice rest = line;
    cordon_slice name;
    if (!cordon_slice_cut(&rest, ':', &name))
        return 0;
    size_t i = find_line(name);
    if (i == LINE_COUNT)
        return 0;
    if (seen[i])
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "%s stands there twice", lines[i].name);
    seen[i] = true;
    if (lines[i].emit(report, lines[i].key, rest, err) < 0) {
        cordon_err_wrap(err, "%s", lines[i].name);
        return -1;
    }
    return 0;
}

int cordon_status_facts(cordon_slice text, cordon_report *report, cordon_err *err)
{
    bool seen[LINE_COUNT] = {false};
    cordon_slice line;
    while (cordon_slice_cut(&text, '\n', &line))
        if (take_line(line, seen, report, err) < 0)
            return -1;
    for (size_t i = 0; i < LINE_COUNT; i++)
        if (!seen[i] && !lines[i].optional)
            return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "no line %s", lines[i].name);
    return 0;
}

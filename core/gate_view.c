/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the gate's report; see gate_view.h. */
#include "gate_view.h"

#include <stdbool.h>
#include <string.h>

#include "kit/frame.h"

/* Longest single fact: a mount line with two long paths. */
#define REPORT_FACT_MAX 16384

void cordon_gate_view_clear(cordon_gate_view *view)
{
    cordon_fact_list_clear(&view->facts);
}

/* What has been seen, so that "exactly once" can be told. */
typedef struct view_seen {
    bool version;
    bool nonce;
} view_seen;

static int view_version(const cordon_frame_field *field, view_seen *seen, cordon_err *err)
{
    uint64_t version;

    if (seen->version)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "the gate's report names its version twice");
    if (cordon_frame_field_u64(field, &version, err) != 0)
        return -1;
    if (version != CORDON_GATE_VERSION)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "the gate speaks version %llu, this cordon speaks %d",
                           (unsigned long long)version, CORDON_GATE_VERSION);
    seen->version = true;
    return 0;
}

static int view_nonce(const cordon_frame_field *field, view_seen *seen, cordon_gate_view *view,
                      cordon_err *err)
{
    if (seen->nonce || field->length != sizeof(view->nonce))
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "the gate's report has no single nonce of %zu bytes",
                           sizeof(view->nonce));
    memcpy(view->nonce, field->bytes, sizeof(view->nonce));
    seen->nonce = true;
    return 0;
}

static int view_fact(const cordon_frame_field *field, cordon_gate_view *view, cordon_err *err)
{
    cordon_autofree char *text = NULL;

    if (view->facts.count >= CORDON_GATE_VIEW_FACTS_MAX)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "the gate's report has over %d facts",
                           CORDON_GATE_VIEW_FACTS_MAX);
    if (cordon_frame_field_text(field, REPORT_FACT_MAX, &text, err) != 0)
        return -1;
    if (strchr(text, '=') == NULL)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "the gate's report has a fact without '=': %s",
                           CORDON_QUOTE(text));
    return cordon_fact_list_add(&view->facts, text, err);
}

int cordon_gate_view_read(const void *bytes, size_t length, cordon_gate_view *ret_view,
                          cordon_err *err)
{
    cordon_auto(cordon_gate_view) view = {0};
    cordon_frame_reader reader;
    cordon_frame_field field;
    view_seen seen = {false, false};

    if (cordon_frame_open(&reader, CORDON_GATE_MAGIC_REPORT, bytes, length, cordon_frame_unkeyed,
                          err) != 0)
        return -1;
    while (cordon_frame_next(&reader, &field)) {
        int result = field.tag == CORDON_GATE_REPORT_VERSION ? view_version(&field, &seen, err)
                     : field.tag == CORDON_GATE_REPORT_NONCE ? view_nonce(&field, &seen, &view, err)
                     : field.tag == CORDON_GATE_REPORT_FACT
                         ? view_fact(&field, &view, err)
                         : cordon_frame_field_unknown(&field, err);

        if (result != 0)
            return -1;
    }
    if (!seen.version || !seen.nonce)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "the gate's report lacks its version or nonce");
    *ret_view = view;
    view.facts = (cordon_fact_list){0};
    return 0;
}

const char *cordon_gate_view_next(const cordon_gate_view *view, const char *key, size_t *at)
{
    size_t length = strlen(key);

    while (*at < view->facts.count) {
        const char *fact = view->facts.items[(*at)++];

        if (strncmp(fact, key, length) == 0 && fact[length] == '=')
            return fact + length + 1;
    }
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The conversation with the gate; see gate_link.h. */
#include "gate_link.h"

#include <string.h>

#include "kit/random.h"

/* The kernel's own bound, MAX_ERRNO. */
#define LINK_ERRNUM_MAX 4095

int cordon_gate_link_init(cordon_gate_link *ret_link, cordon_link_output_fn *output, void *context,
                          cordon_err *err)
{
    cordon_gate_link link = {
        .state = CORDON_LINK_REPORT,
        .held = cordon_buf_make(CORDON_GATE_REPORT_MAX),
        .output = output,
        .output_context = context,
        .exit_code = -1,
    };

    if (cordon_random_bytes(link.exit_key, sizeof(link.exit_key), err) != 0)
        return -1;
    *ret_link = link;
    return 0;
}

void cordon_gate_link_clear(cordon_gate_link *link)
{
    cordon_buf_clear(&link->held);
    explicit_bzero(link->exit_key, sizeof(link->exit_key));
}

void cordon_gate_link_released(cordon_gate_link *link)
{
    cordon_buf_reset(&link->held);
    link->state = CORDON_LINK_RELEASED;
}

/* Moves as many bytes as the frame at hand still needs. */
static int link_collect(cordon_gate_link *link, const char *magic, size_t max_bytes,
                        const char **bytes, size_t *length, bool *ret_whole, cordon_err *err)
{
    size_t total;
    size_t need;

    *ret_whole = false;
    while (*length > 0) {
        size_t take;

        if (cordon_frame_measure(magic, link->held.data, link->held.length, max_bytes, &total,
                                 &need, err) != 0)
            return -1;
        take = need < *length ? need : *length;
        if (cordon_buf_append(&link->held, *bytes, take, err) != 0)
            return -1;
        *bytes += take;
        *length -= take;
        if (cordon_frame_measure(magic, link->held.data, link->held.length, max_bytes, &total,
                                 &need, err) != 0)
            return -1;
        if (total > 0 && need == 0) {
            *ret_whole = true;
            return 0;
        }
    }
    return 0;
}

static int link_feed_report(cordon_gate_link *link, const char **bytes, size_t *length,
                            cordon_err *err)
{
    bool whole;

    if (link_collect(link, CORDON_GATE_MAGIC_REPORT, CORDON_GATE_REPORT_MAX, bytes, length, &whole,
                     err) != 0) {
        cordon_err_wrap(err, "the step's first bytes are no report of the gate");
        return -1;
    }
    if (whole)
        link->state = CORDON_LINK_WAITING;
    return 0;
}

static int link_feed_started(cordon_gate_link *link, const char **bytes, size_t *length,
                             cordon_err *err)
{
    cordon_frame_reader reader;
    cordon_frame_field field;
    uint64_t errnum = 0;
    bool whole;

    if (link_collect(link, CORDON_GATE_MAGIC_STARTED, CORDON_GATE_REPLY_MAX, bytes, length, &whole,
                     err) != 0)
        return -1;
    if (!whole)
        return 0;
    if (cordon_frame_open(&reader, CORDON_GATE_MAGIC_STARTED, link->held.data, link->held.length,
                          link->exit_key, err) != 0)
        return -1;
    if (!cordon_frame_next(&reader, &field) || field.tag != CORDON_GATE_STARTED_ERRNUM)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "the gate's start note has no errno");
    if (cordon_frame_field_u64(&field, &errnum, err) != 0)
        return -1;
    link->start_errnum = errnum <= LINK_ERRNUM_MAX ? (int)errnum : LINK_ERRNUM_MAX;
    cordon_buf_reset(&link->held);
    link->state = CORDON_LINK_OUTPUT;
    return 0;
}

static int link_output(cordon_gate_link *link, const void *bytes, size_t length, cordon_err *err)
{
    return length > 0 ? link->output(link->output_context, bytes, length, err) : 0;
}

static void link_exit_field(cordon_gate_link *link, const cordon_frame_field *field)
{
    uint64_t value;

    if (cordon_frame_field_u64(field, &value, NULL) != 0 || value > LINK_ERRNUM_MAX)
        return;
    if (field->tag == CORDON_GATE_EXIT_ERRNUM)
        link->start_errnum = (int)value;
    if (value > 255)
        return;
    if (field->tag == CORDON_GATE_EXIT_CODE)
        link->exit_code = (int)value;
    else if (field->tag == CORDON_GATE_EXIT_SIGNAL)
        link->exit_signal = (int)value;
    else if (field->tag == CORDON_GATE_EXIT_OUTSIDE)
        link->outside_signal = (int)value;
    else if (field->tag == CORDON_GATE_EXIT_OOM)
        link->out_of_memory = value > 0;
}

/* Takes the held bytes if they are one authentic exit note; else they are the command's output. */
static int link_take_exit(cordon_gate_link *link, bool *ret_taken, cordon_err *err)
{
    cordon_frame_reader reader;
    cordon_frame_field field;

    *ret_taken = false;
    if (cordon_frame_open(&reader, CORDON_GATE_MAGIC_EXIT, link->held.data, link->held.length,
                          link->exit_key, NULL) != 0)
        return 0;
    while (cordon_frame_next(&reader, &field))
        link_exit_field(link, &field);
    if ((link->exit_code >= 0) + (link->exit_signal > 0) + (link->start_errnum > 0) != 1)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "the gate's exit note has no single way in which the command ended");
    cordon_buf_reset(&link->held);
    link->state = CORDON_LINK_ENDED;
    *ret_taken = true;
    return 0;
}

/* The first held byte is output after all; what follows it may still begin a note. */
static int link_unhold(cordon_gate_link *link, cordon_err *err)
{
    const char *next =
        memchr(link->held.data + 1, CORDON_GATE_MAGIC_EXIT[0], link->held.length - 1);
    size_t count = next != NULL ? (size_t)(next - link->held.data) : link->held.length;

    if (link_output(link, link->held.data, count, err) != 0)
        return -1;
    cordon_buf_consume(&link->held, count);
    return 0;
}

/*
 * SECURITY: the head of a note that the command made up may be held, waiting for bytes that never
 * come, with the gate's own note behind it - and the gate waits for us once it has written that.
 * So every note that becomes whole with the newest byte is looked at, wherever it begins.
 */
static int link_take_behind(cordon_gate_link *link, cordon_err *err)
{
    for (size_t at = 1; at < link->held.length; at++) {
        cordon_frame_reader reader;
        bool taken;

        if (link->held.data[at] != CORDON_GATE_MAGIC_EXIT[0] ||
            cordon_frame_open(&reader, CORDON_GATE_MAGIC_EXIT, link->held.data + at,
                              link->held.length - at, link->exit_key, NULL) != 0)
            continue;
        if (link_output(link, link->held.data, at, err) != 0)
            return -1;
        cordon_buf_consume(&link->held, at);
        return link_take_exit(link, &taken, err);
    }
    return 0;
}

/* Settles what the held bytes are, as far as it can be told yet. */
static int link_settle_held(cordon_gate_link *link, cordon_err *err)
{
    while (link->held.length > 0) {
        size_t total;
        size_t need;
        bool taken;

        if (cordon_frame_measure(CORDON_GATE_MAGIC_EXIT, link->held.data, link->held.length,
                                 CORDON_GATE_REPLY_MAX, &total, &need, NULL) == 0) {
            if (need > 0)
                return link_take_behind(link, err);
            if (link_take_exit(link, &taken, err) != 0)
                return -1;
            if (taken)
                return 0;
        }
        if (link_unhold(link, err) != 0)
            return -1;
    }
    return 0;
}

static int link_feed_output(cordon_gate_link *link, const char **bytes, size_t *length,
                            cordon_err *err)
{
    if (link->held.length == 0) {
        const char *begin = memchr(*bytes, CORDON_GATE_MAGIC_EXIT[0], *length);
        size_t plain = begin != NULL ? (size_t)(begin - *bytes) : *length;

        if (link_output(link, *bytes, plain, err) != 0)
            return -1;
        *bytes += plain;
        *length -= plain;
    }
    if (*length == 0)
        return 0;
    /* One byte at a time while something is held: at most a note's length, so it stays cheap. */
    if (cordon_buf_append(&link->held, *bytes, 1, err) != 0)
        return -1;
    (*bytes)++;
    (*length)--;
    return link_settle_held(link, err);
}

int cordon_gate_link_feed(cordon_gate_link *link, const void *bytes, size_t length, cordon_err *err)
{
    const char *next = bytes;

    while (length > 0) {
        int result;

        switch (link->state) {
        case CORDON_LINK_REPORT:
            result = link_feed_report(link, &next, &length, err);
            break;
        case CORDON_LINK_RELEASED:
            result = link_feed_started(link, &next, &length, err);
            break;
        case CORDON_LINK_OUTPUT:
            result = link_feed_output(link, &next, &length, err);
            break;
        case CORDON_LINK_WAITING:
        case CORDON_LINK_ENDED:
        default:
            result = CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "the step wrote %s",
                                 link->state == CORDON_LINK_WAITING
                                     ? "before it was released"
                                     : "after its gate had said that it ended");
            break;
        }
        if (result != 0)
            return -1;
    }
    return 0;
}

/* The first byte alone is given up at a time, and the rest is looked at again. */
int cordon_gate_link_finish(cordon_gate_link *link, cordon_err *err)
{
    while (link->state == CORDON_LINK_OUTPUT && link->held.length > 0) {
        if (link_unhold(link, err) != 0 || link_settle_held(link, err) != 0)
            return -1;
    }
    return 0;
}

static int release_texts(cordon_frame *frame, uint16_t tag, const char *const *texts, size_t count,
                         cordon_err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (cordon_frame_add_string(frame, tag, texts[i], err) != 0)
            return -1;
    }
    return 0;
}

/* "NAME=value", as a variable or for a descriptor. */
static int release_secret(cordon_frame *frame, const cordon_secret *secret, cordon_err *err)
{
    cordon_auto(cordon_buf) item = cordon_buf_make_secret(CORDON_GATE_RELEASE_MAX);
    uint16_t tag = secret->by_descriptor ? CORDON_GATE_RELEASE_SECRET : CORDON_GATE_RELEASE_ENV;

    if (cordon_buf_append_text(&item, secret->name, err) != 0 ||
        cordon_buf_append_char(&item, '=', err) != 0 ||
        cordon_buf_append(&item, secret->value, secret->length, err) != 0)
        return -1;
    return cordon_frame_add_bytes(frame, tag, item.data, item.length, err);
}

static int release_secrets(cordon_frame *frame, const cordon_secrets *secrets, cordon_err *err)
{
    for (size_t i = 0; secrets != NULL && i < secrets->count; i++) {
        if (release_secret(frame, &secrets->items[i], err) != 0)
            return -1;
    }
    return 0;
}

/* Path, NUL, content. */
static int release_files(cordon_frame *frame, const cordon_release *release, cordon_err *err)
{
    for (size_t i = 0; i < release->file_count; i++) {
        const cordon_release_file *file = &release->files[i];
        cordon_auto(cordon_buf) bytes = cordon_buf_make_secret(CORDON_GATE_RELEASE_MAX);

        if (cordon_buf_append(&bytes, file->path, strlen(file->path) + 1, err) != 0 ||
            cordon_buf_append(&bytes, file->bytes, file->length, err) != 0 ||
            cordon_frame_add_bytes(frame, CORDON_GATE_RELEASE_FILE, bytes.data, bytes.length,
                                   err) != 0)
            return -1;
    }
    return 0;
}

int cordon_gate_link_release(const cordon_gate_link *link, const uint8_t *nonce,
                             const cordon_release *release, cordon_frame *ret_frame,
                             cordon_err *err)
{
    cordon_auto(cordon_frame) frame = {0};

    if (cordon_frame_init(&frame, CORDON_GATE_MAGIC_RELEASE, CORDON_GATE_RELEASE_MAX, err) != 0 ||
        cordon_frame_add_u64(&frame, CORDON_GATE_RELEASE_VERSION, CORDON_GATE_VERSION, err) != 0 ||
        cordon_frame_add_bytes(&frame, CORDON_GATE_RELEASE_EXIT_KEY, link->exit_key,
                               sizeof(link->exit_key), err) != 0 ||
        release_texts(&frame, CORDON_GATE_RELEASE_ARGV, release->argv, release->argc, err) != 0 ||
        release_texts(&frame, CORDON_GATE_RELEASE_ENV, release->environment,
                      release->environment_count, err) != 0 ||
        release_secrets(&frame, release->secrets, err) != 0 ||
        cordon_frame_add_string(&frame, CORDON_GATE_RELEASE_CWD, release->working_dir, err) != 0)
        return -1;
    if (release->input != NULL &&
        cordon_frame_add_bytes(&frame, CORDON_GATE_RELEASE_STDIN, release->input,
                               release->input_length, err) != 0)
        return -1;
    if (release_files(&frame, release, err) != 0 ||
        release_texts(&frame, CORDON_GATE_RELEASE_RULE, release->rules, release->rule_count, err) !=
            0 ||
        cordon_frame_add_u64(&frame, CORDON_GATE_RELEASE_LANDLOCK, release->landlock_abi, err) !=
            0 ||
        cordon_frame_seal(&frame, nonce, err) != 0)
        return -1;
    *ret_frame = frame;
    frame = (cordon_frame){0};
    return 0;
}

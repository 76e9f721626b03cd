/* SPDX-License-Identifier: Apache-2.0 */
/* Hiding secrets in a stream of bytes; see secrets.h. */
#include "secrets.h"

#include <string.h>

/* Of one length for all, so that it tells nothing of the secret's. */
#define MASK "********"

/* At most the longest secret but one byte is held, and one piece comes on top of it. */
#define HELD_MAX ((size_t)CORDON_SECRET_BYTES_MAX + (1U << 20))

void cordon_mask_init(cordon_mask *ret_mask, const cordon_secrets *secrets, cordon_mask_sink *sink,
                      void *context)
{
    *ret_mask = (cordon_mask){
        .secrets = secrets,
        .held = cordon_buf_make_secret(HELD_MAX),
        .sink = sink,
        .context = context,
    };
    for (size_t i = 0; secrets != NULL && i < secrets->count; i++) {
        if (secrets->items[i].length >= CORDON_SECRET_MASKED_MIN)
            ret_mask->begins[(unsigned char)secrets->items[i].value[0]] = true;
    }
}

void cordon_mask_clear(cordon_mask *mask)
{
    cordon_buf_clear(&mask->held);
}

typedef enum mask_match {
    MASK_NONE = 0,
    MASK_PARTLY, /* the bytes end within what may be a secret */
    MASK_WHOLE,
} mask_match;

/*
 * What stands at `bytes`. The longest counts: while a longer one may still come, a shorter one
 * that is there already has to wait - unless the stream has ended.
 */
static mask_match mask_look(const cordon_mask *mask, const char *bytes, size_t length, bool ended,
                            size_t *ret_length)
{
    mask_match found = MASK_NONE;
    size_t longest = 0;

    for (size_t i = 0; i < mask->secrets->count; i++) {
        const cordon_secret *secret = &mask->secrets->items[i];
        size_t common = secret->length < length ? secret->length : length;

        if (secret->length < CORDON_SECRET_MASKED_MIN || secret->length <= longest ||
            memcmp(secret->value, bytes, common) != 0)
            continue;
        if (common < secret->length && ended)
            continue;
        longest = secret->length;
        found = common < secret->length ? MASK_PARTLY : MASK_WHOLE;
    }
    *ret_length = longest;
    return found;
}

static int mask_pass(cordon_mask *mask, const char *bytes, size_t length, cordon_err *err)
{
    return length > 0 ? mask->sink(mask->context, bytes, length, err) : 0;
}

/* Hands on what is settled of the bytes; *ret_left is how many of the last are not. */
static int mask_settle(cordon_mask *mask, const char *bytes, size_t length, bool ended,
                       size_t *ret_left, cordon_err *err)
{
    size_t from = 0;
    size_t at = 0;

    while (at < length) {
        size_t secret_length;
        mask_match match = MASK_NONE;

        if (mask->begins[(unsigned char)bytes[at]])
            match = mask_look(mask, bytes + at, length - at, ended, &secret_length);
        if (match == MASK_PARTLY)
            break;
        if (match == MASK_NONE) {
            at++;
            continue;
        }
        if (mask_pass(mask, bytes + from, at - from, err) != 0 ||
            mask_pass(mask, MASK, strlen(MASK), err) != 0)
            return -1;
        at += secret_length;
        from = at;
    }
    *ret_left = length - at;
    return mask_pass(mask, bytes + from, at - from, err);
}

int cordon_mask_feed(cordon_mask *mask, const void *bytes, size_t length, cordon_err *err)
{
    size_t left = 0;

    if (mask->secrets == NULL || mask->secrets->count == 0)
        return mask_pass(mask, bytes, length, err);
    if (mask->held.length == 0) {
        if (mask_settle(mask, bytes, length, false, &left, err) != 0)
            return -1;
        return cordon_buf_append(&mask->held, (const char *)bytes + (length - left), left, err);
    }
    if (cordon_buf_append(&mask->held, bytes, length, err) != 0 ||
        mask_settle(mask, mask->held.data, mask->held.length, false, &left, err) != 0)
        return -1;
    cordon_buf_consume(&mask->held, mask->held.length - left);
    return 0;
}

int cordon_mask_finish(cordon_mask *mask, cordon_err *err)
{
    size_t left = 0;

    if (mask->held.length == 0)
        return 0;
    if (mask_settle(mask, mask->held.data, mask->held.length, true, &left, err) != 0)
        return -1;
    cordon_buf_reset(&mask->held);
    return 0;
}

static bool hide_at(const cordon_secret *secret, char *text, size_t left)
{
    size_t common = secret->length < left ? secret->length : left;

    if (common < CORDON_SECRET_MASKED_MIN || memcmp(text, secret->value, common) != 0)
        return false;
    memset(text, '*', common);
    return true;
}

void cordon_secrets_hide(const cordon_secrets *secrets, char *text)
{
    size_t length = strlen(text);

    for (size_t at = 0; at < length; at++) {
        for (size_t i = 0; i < secrets->count; i++) {
            if (hide_at(&secrets->items[i], text + at, length - at))
                break;
        }
    }
}

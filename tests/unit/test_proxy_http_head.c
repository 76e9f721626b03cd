/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy's request head parser: tables of good and bad heads, each fed whole, byte by byte and
 * cut at every place, always with the same verdict.
 */
#include <stdlib.h>

#include "proxy/http_head.h"
#include "support/proxy_heads.h"
#include "support/test.h"

static cordon_head_status feed_in_steps(const char *bytes, size_t length, size_t step,
                                        cordon_head *head)
{
    cordon_head_status status = CORDON_HEAD_MORE;
    *head = (cordon_head){0};
    for (size_t have = step; status == CORDON_HEAD_MORE; have += step) {
        size_t window = have < length ? have : length;
        /* An exact copy, so that a sanitizer sees a read past the window. */
        char *copy = malloc(window);
        memcpy(copy, bytes, window);
        status = cordon_head_feed(head, copy, window);
        free(copy);
        if (window == length)
            break;
    }
    return status;
}

static void good_heads_are_taken_however_they_are_cut(void)
{
    for (size_t i = 0; i < PROXY_GOOD_HEADS; i++) {
        const proxy_good_row *row = &proxy_good_heads[i];
        size_t length = strlen(row->head);
        for (size_t step = 1; step <= length; step++) {
            cordon_head head;
            cordon_head_status status = feed_in_steps(row->head, length, step, &head);
            bool right = status == CORDON_HEAD_DONE && head.length == length &&
                         head.port == row->port && head.host_length == row->host_length &&
                         head.target_length == strlen(row->target) &&
                         memcmp(row->head + head.target, row->target, head.target_length) == 0;
            TEST_RECORDF(right, "row %zu step %zu: status %d reason %s length %u", i, step, status,
                         cordon_reason_name((cordon_reason)head.reason), head.length);
        }
    }
}

static void bad_heads_are_refused_for_one_reason(void)
{
    for (size_t i = 0; i < PROXY_BAD_HEADS; i++) {
        const proxy_bad_row *row = &proxy_bad_heads[i];
        size_t length = row->length ? row->length : strlen(row->head);
        for (size_t step = 1; step <= length; step++) {
            cordon_head head;
            cordon_head_status status = feed_in_steps(row->head, length, step, &head);
            TEST_RECORDF(status == CORDON_HEAD_BAD && head.reason == row->reason,
                         "row %zu step %zu \"%.60s\": status %d reason %s, want %s", i, step,
                         row->head, status, cordon_reason_name((cordon_reason)head.reason),
                         cordon_reason_name(row->reason));
        }
    }
}

static void bytes_after_the_head_are_not_the_heads(void)
{
    static const char text[] = HEAD("ok.test:443") "CONNECT evil.test:443 HTTP/1.1\r\n\r\n\0\x16";
    cordon_head head = {0};
    REQUIRE_INT(cordon_head_feed(&head, text, sizeof text - 1), CORDON_HEAD_DONE);
    CHECK_INT(head.length, sizeof HEAD("ok.test:443") - 1);
}

/* A head of exactly `length` bytes, padded in one field; 0 leaves the end away. */
static char *padded_head(size_t length, bool whole)
{
    static const char start[] = OK_LINE "X: ";
    char *text = malloc(length);
    memset(text, 'a', length);
    memcpy(text, start, sizeof start - 1);
    if (whole)
        memcpy(text + length - 4, "\r\n\r\n", 4);
    return text;
}

static void the_head_may_be_8_kib_and_not_a_byte_more(void)
{
    cordon_head head = {0};
    char *text = padded_head(CORDON_HEAD_MAX, true);
    CHECK_INT(cordon_head_feed(&head, text, CORDON_HEAD_MAX), CORDON_HEAD_DONE);
    CHECK_INT(head.length, CORDON_HEAD_MAX);
    free(text);

    head = (cordon_head){0};
    text = padded_head(CORDON_HEAD_MAX + 1, true);
    CHECK_INT(cordon_head_feed(&head, text, CORDON_HEAD_MAX), CORDON_HEAD_BAD);
    CHECK_INT(head.reason, CORDON_REASON_HEAD_TOO_LONG);
    free(text);
}

static void a_line_without_end_meets_the_bound(void)
{
    cordon_head head = {0};
    char *text = padded_head(1 << 20, false);
    CHECK_INT(cordon_head_feed(&head, text, 1 << 20), CORDON_HEAD_BAD);
    CHECK_INT(head.reason, CORDON_REASON_HEAD_TOO_LONG);
    CHECK_INT(head.scan, CORDON_HEAD_MAX);
    free(text);
    /* Also when it is the request line itself. */
    head = (cordon_head){0};
    text = malloc(CORDON_HEAD_MAX);
    memset(text, 'A', CORDON_HEAD_MAX);
    CHECK_INT(cordon_head_feed(&head, text, CORDON_HEAD_MAX), CORDON_HEAD_BAD);
    CHECK_INT(head.reason, CORDON_REASON_HEAD_TOO_LONG);
    free(text);
}

static void the_64th_field_is_taken_and_the_65th_refused(void)
{
    for (int fields = 64; fields <= 65; fields++) {
        char text[1024] = OK_LINE;
        cordon_head head = {0};
        for (int i = 0; i < fields; i++)
            strcat(text, "A: b\r\n");
        strcat(text, "\r\n");
        cordon_head_status status = cordon_head_feed(&head, text, strlen(text));
        CHECK_INT(status, fields == 64 ? CORDON_HEAD_DONE : CORDON_HEAD_BAD);
        CHECK_INT(head.reason, fields == 64 ? CORDON_REASON_NONE : CORDON_REASON_TOO_MANY_FIELDS);
    }
}

CORDON_TEST_MAIN("proxy_http_head", TEST(good_heads_are_taken_however_they_are_cut),
                 TEST(bad_heads_are_refused_for_one_reason),
                 TEST(bytes_after_the_head_are_not_the_heads),
                 TEST(the_head_may_be_8_kib_and_not_a_byte_more),
                 TEST(a_line_without_end_meets_the_bound),
                 TEST(the_64th_field_is_taken_and_the_65th_refused))

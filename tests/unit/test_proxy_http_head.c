/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy's request head parser: a table of good heads and one of bad ones (PP1, PP2, PP3, PP6,
 * HM1, HM2 and the raw-byte classes of other proxies' mistakes), each fed whole, byte by byte and
 * cut at every place, always with the same verdict.
 */
#include <stdlib.h>

#include "proxy/http_head.h"
#include "support/test.h"

typedef struct good_row {
    const char *head;
    const char *target;
    size_t host_length;
    unsigned port;
} good_row;

#define LINE(target) "CONNECT " target " HTTP/1.1\r\n"
#define HEAD(target) LINE(target) "\r\n"
#define OK_LINE      LINE("ok.test:443")

static const good_row good[] = {
    {HEAD("ok.test:443"), "ok.test:443", 7, 443},
    {HEAD("OK.Test:443"), "OK.Test:443", 7, 443},
    {"CONNECT ok.test:443 HTTP/1.0\r\n\r\n", "ok.test:443", 7, 443},
    {OK_LINE "Host: ok.test:443\r\n\r\n", "ok.test:443", 7, 443},
    {OK_LINE "Host: ok.test\r\n\r\n", "ok.test:443", 7, 443},
    {OK_LINE "hOST:\t OK.test:443 \t\r\n\r\n", "ok.test:443", 7, 443},
    {OK_LINE "Connection: connection, proxy-connection\r\n\r\n", "ok.test:443", 7, 443},
    {OK_LINE "Proxy-Connection: keep-alive\r\nUser-Agent: caf\xc3\xa9\r\n\r\n", "ok.test:443", 7,
     443},
    {OK_LINE "X-Empty:\r\nX:\r\n\r\n", "ok.test:443", 7, 443},
    {OK_LINE "X: a\tb: c\r\n\r\n", "ok.test:443", 7, 443},
    {HEAD("a:1"), "a:1", 1, 1},
    {HEAD("xn--bcher-kva.example:65535"), "xn--bcher-kva.example:65535", 21, 65535},
    {HEAD("evil.test:80"), "evil.test:80", 9, 80},
    {HEAD("1.2.3.a:443"), "1.2.3.a:443", 7, 443},
};

typedef struct bad_row {
    const char *head;
    cordon_reason reason;
    size_t length; /* 0: strlen */
} bad_row;

#define BYTES(text) .head = (text), .length = sizeof(text) - 1

static const bad_row bad[] = {
    /* Another method, in any form, is 405 as soon as its line is whole. */
    {"GET http://ok.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", CORDON_REASON_METHOD, 0},
    {"GET / HTTP/1.1\r\n", CORDON_REASON_METHOD, 0},
    {"GET /\r\n", CORDON_REASON_METHOD, 0},
    {"OPTIONS * HTTP/1.1\r\n\r\n", CORDON_REASON_METHOD, 0},
    {"POST ok.test:443 HTTP/1.1\r\n\r\n", CORDON_REASON_METHOD, 0},
    {"connect ok.test:443 HTTP/1.1\r\n\r\n", CORDON_REASON_METHOD, 0},
    {"Connect ok.test:443 HTTP/1.1\r\n\r\n", CORDON_REASON_METHOD, 0},
    {"CONNECTX ok.test:443 HTTP/1.1\r\n\r\n", CORDON_REASON_METHOD, 0},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", CORDON_REASON_METHOD, 0},
    /* The request line. */
    {"\r\nCONNECT ok.test:443 HTTP/1.1\r\n\r\n", CORDON_REASON_MALFORMED, 0},
    {" CONNECT ok.test:443 HTTP/1.1\r\n\r\n", CORDON_REASON_MALFORMED, 0},
    {"CONNECT\tok.test:443 HTTP/1.1\r\n\r\n", CORDON_REASON_MALFORMED, 0},
    {"CONNECT\r\n\r\n", CORDON_REASON_MALFORMED, 0},
    {"CONNECT ok.test:443\r\n\r\n", CORDON_REASON_MALFORMED, 0},
    {"CONNECT  ok.test:443 HTTP/1.1\r\n\r\n", CORDON_REASON_BAD_VERSION, 0},
    {"CONNECT ok.test:443  HTTP/1.1\r\n\r\n", CORDON_REASON_BAD_VERSION, 0},
    {"CONNECT ok.test:443 HTTP/1.1 \r\n\r\n", CORDON_REASON_BAD_VERSION, 0},
    {"CONNECT ok.test:443 HTTP/2.0\r\n\r\n", CORDON_REASON_BAD_VERSION, 0},
    {"CONNECT ok.test:443 HTTP/1.2\r\n\r\n", CORDON_REASON_BAD_VERSION, 0},
    {"CONNECT ok.test:443 HTTP/1.10\r\n\r\n", CORDON_REASON_BAD_VERSION, 0},
    {"CONNECT ok.test:443 http/1.1\r\n\r\n", CORDON_REASON_BAD_VERSION, 0},
    {"CONNECT ok.test:443 HTTP/0.9\r\n\r\n", CORDON_REASON_BAD_VERSION, 0},
    {"\x16\x03\x01\x02", CORDON_REASON_MALFORMED, 0},
    {"\x05\x01", CORDON_REASON_MALFORMED, 0},
    {"\x04\x01", CORDON_REASON_MALFORMED, 0},
    {"\xff\xfe", CORDON_REASON_MALFORMED, 0},
    {"{\"a\":1}\r\n", CORDON_REASON_MALFORMED, 0},
    {BYTES("CONNECT ok\0.test:443 HTTP/1.1\r\n\r\n"), .reason = CORDON_REASON_MALFORMED},
    /* Line ends. */
    {"CONNECT ok.test:443 HTTP/1.1\n\n", CORDON_REASON_BARE_LINE_END, 0},
    {OK_LINE "A: b\n\r\n", CORDON_REASON_BARE_LINE_END, 0},
    {OK_LINE "A: b\rc\r\n\r\n", CORDON_REASON_BARE_LINE_END, 0},
    {OK_LINE "A: b\r\r\n\r\n", CORDON_REASON_BARE_LINE_END, 0},
    {OK_LINE "\n", CORDON_REASON_BARE_LINE_END, 0},
    {"CONNECT ok.test:443\rHTTP/1.1\r\n\r\n", CORDON_REASON_BARE_LINE_END, 0},
    /* The target is host:port and nothing else. */
    {HEAD("https://ok.test:443/"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("ok.test:443/"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("/ok.test:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("ok.test:443#x"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("ok.test:443?x"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("user@ok.test:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("user:pw@ok.test:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("ok.test:443@evil.test:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("[ok.test]:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("[[ok.test]]:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("[::1]:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("[::ffff:127.0.0.1]:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("::1:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("ok.test:443:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD(":443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD(".:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("..:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD(".ok.test:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("ok..test:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("ok.test..:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("*.test:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("*:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("ok%2etest:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("ok_test:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("-ok.test:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("ok-.test:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("ok,test:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("\xc3\xb6k.test:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("ok\xe3\x80\x82test:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("ok.test\t:443"), CORDON_REASON_BAD_TARGET, 0},
    {HEAD("ok.test.:443"), CORDON_REASON_FINAL_DOT, 0},
    {HEAD("ok.test"), CORDON_REASON_BAD_PORT, 0},
    {HEAD("ok.test:"), CORDON_REASON_BAD_PORT, 0},
    {HEAD("ok.test:0"), CORDON_REASON_BAD_PORT, 0},
    {HEAD("ok.test:00443"), CORDON_REASON_BAD_PORT, 0},
    {HEAD("ok.test:0443"), CORDON_REASON_BAD_PORT, 0},
    {HEAD("ok.test:000443"), CORDON_REASON_BAD_PORT, 0},
    {HEAD("ok.test:+443"), CORDON_REASON_BAD_PORT, 0},
    {HEAD("ok.test:-443"), CORDON_REASON_BAD_PORT, 0},
    {HEAD("ok.test:443x"), CORDON_REASON_BAD_PORT, 0},
    {HEAD("ok.test:0x1bb"), CORDON_REASON_BAD_PORT, 0},
    {HEAD("ok.test:https"), CORDON_REASON_BAD_PORT, 0},
    {HEAD("ok.test:65536"), CORDON_REASON_BAD_PORT, 0},
    {HEAD("ok.test:65979"), CORDON_REASON_BAD_PORT, 0},
    {HEAD("ok.test:4294967739"), CORDON_REASON_BAD_PORT, 0},
    {HEAD("127.0.0.1:443"), CORDON_REASON_IP_LITERAL, 0},
    {HEAD("127.1:443"), CORDON_REASON_IP_LITERAL, 0},
    {HEAD("2130706433:443"), CORDON_REASON_IP_LITERAL, 0},
    {HEAD("0x7f000001:443"), CORDON_REASON_IP_LITERAL, 0},
    {HEAD("0X7F.1:443"), CORDON_REASON_IP_LITERAL, 0},
    {HEAD("0177.0.0.01:443"), CORDON_REASON_IP_LITERAL, 0},
    {HEAD("ok.test.0x:443"), CORDON_REASON_IP_LITERAL, 0},
    {HEAD("ok.1:443"), CORDON_REASON_IP_LITERAL, 0},
    /* Fields. */
    {OK_LINE "Host : ok.test\r\n\r\n", CORDON_REASON_BAD_FIELD, 0},
    {OK_LINE "Host\t: ok.test\r\n\r\n", CORDON_REASON_BAD_FIELD, 0},
    {OK_LINE ": x\r\n\r\n", CORDON_REASON_BAD_FIELD, 0},
    {OK_LINE "no colon\r\n\r\n", CORDON_REASON_BAD_FIELD, 0},
    {OK_LINE "A(b): c\r\n\r\n", CORDON_REASON_BAD_FIELD, 0},
    {BYTES(OK_LINE "A: b\0c\r\n\r\n"), .reason = CORDON_REASON_BAD_FIELD},
    {OK_LINE "A: b\x01\r\n\r\n", CORDON_REASON_BAD_FIELD, 0},
    {OK_LINE "A: b\x7f\r\n\r\n", CORDON_REASON_BAD_FIELD, 0},
    {OK_LINE "A: b\r\n c\r\n\r\n", CORDON_REASON_OBS_FOLD, 0},
    {OK_LINE "A: b\r\n\tc\r\n\r\n", CORDON_REASON_OBS_FOLD, 0},
    {OK_LINE " A: b\r\n\r\n", CORDON_REASON_OBS_FOLD, 0},
    {OK_LINE "Host: ok.test:443\r\nHost: ok.test:443\r\n\r\n", CORDON_REASON_REPEATED_HOST, 0},
    {OK_LINE "Host: ok.test\r\nHOST: evil.test\r\n\r\n", CORDON_REASON_REPEATED_HOST, 0},
    {OK_LINE "Host: evil.test:443\r\n\r\n", CORDON_REASON_HOST_MISMATCH, 0},
    {OK_LINE "Host: ok.test:80\r\n\r\n", CORDON_REASON_HOST_MISMATCH, 0},
    {OK_LINE "Host:\r\n\r\n", CORDON_REASON_HOST_MISMATCH, 0},
    {OK_LINE "Host: ok.test.\r\n\r\n", CORDON_REASON_HOST_MISMATCH, 0},
    {LINE("evil.test:80") "Host: evil.test\r\n\r\n", CORDON_REASON_HOST_MISMATCH, 0},
    {OK_LINE "Transfer-Encoding: Chunked\r\n\r\n", CORDON_REASON_BODY, 0},
    {OK_LINE "tRANSFER-eNCODING: identity\r\n\r\n", CORDON_REASON_BODY, 0},
    {OK_LINE "Content-Length: 5\r\n\r\n", CORDON_REASON_BODY, 0},
    {OK_LINE "content-length: 0\r\n\r\n", CORDON_REASON_BODY, 0},
};

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
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const good_row *row = &good[i];
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
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const bad_row *row = &bad[i];
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

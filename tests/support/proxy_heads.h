/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Request heads with their one right verdict: PP1, PP2, PP3, PP6, HM1, HM2 and the raw-byte classes
 * in which other proxies go wrong. The parser's test and the test of the running proxy share them.
 */
#ifndef CORDON_TESTS_SUPPORT_PROXY_HEADS_H
#define CORDON_TESTS_SUPPORT_PROXY_HEADS_H

#include <stddef.h>

#include "proxy/reason.h"

typedef struct proxy_good_row {
    const char *head;
    const char *target;
    size_t host_length;
    unsigned port;
} proxy_good_row;

#define LINE(target) "CONNECT " target " HTTP/1.1\r\n"
#define HEAD(target) LINE(target) "\r\n"
#define OK_LINE      LINE("ok.test:443")

static const proxy_good_row proxy_good_heads[] = {
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

typedef struct proxy_bad_row {
    const char *head;
    cordon_reason reason;
    size_t length;  /* 0: strlen */
    const char *id; /* of the case that the running proxy shows with it, or NULL */
} proxy_bad_row;

#define BYTES(text) .head = (text), .length = sizeof(text) - 1

static const proxy_bad_row proxy_bad_heads[] = {
    /* Another method, in any form, is 405 as soon as its line is whole. */
    {"GET http://ok.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", CORDON_REASON_METHOD, 0, "PP3"},
    {"GET / HTTP/1.1\r\n", CORDON_REASON_METHOD, 0, "PP3"},
    {"GET /\r\n", CORDON_REASON_METHOD, 0, "PP3"},
    {"OPTIONS * HTTP/1.1\r\n\r\n", CORDON_REASON_METHOD, 0, "PP3"},
    {"POST ok.test:443 HTTP/1.1\r\n\r\n", CORDON_REASON_METHOD, 0, "PP3"},
    {"connect ok.test:443 HTTP/1.1\r\n\r\n", CORDON_REASON_METHOD, 0, "PP3"},
    {"Connect ok.test:443 HTTP/1.1\r\n\r\n", CORDON_REASON_METHOD, 0, "PP3"},
    {"CONNECTX ok.test:443 HTTP/1.1\r\n\r\n", CORDON_REASON_METHOD, 0, "PP3"},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", CORDON_REASON_METHOD, 0, "PP3"},
    /* The request line. */
    {"\r\nCONNECT ok.test:443 HTTP/1.1\r\n\r\n", CORDON_REASON_MALFORMED, 0, NULL},
    {" CONNECT ok.test:443 HTTP/1.1\r\n\r\n", CORDON_REASON_MALFORMED, 0, NULL},
    {"CONNECT\tok.test:443 HTTP/1.1\r\n\r\n", CORDON_REASON_MALFORMED, 0, NULL},
    {"CONNECT\r\n\r\n", CORDON_REASON_MALFORMED, 0, NULL},
    {"CONNECT ok.test:443\r\n\r\n", CORDON_REASON_MALFORMED, 0, NULL},
    {"CONNECT  ok.test:443 HTTP/1.1\r\n\r\n", CORDON_REASON_BAD_VERSION, 0, NULL},
    {"CONNECT ok.test:443  HTTP/1.1\r\n\r\n", CORDON_REASON_BAD_VERSION, 0, NULL},
    {"CONNECT ok.test:443 HTTP/1.1 \r\n\r\n", CORDON_REASON_BAD_VERSION, 0, NULL},
    {"CONNECT ok.test:443 HTTP/2.0\r\n\r\n", CORDON_REASON_BAD_VERSION, 0, NULL},
    {"CONNECT ok.test:443 HTTP/1.2\r\n\r\n", CORDON_REASON_BAD_VERSION, 0, NULL},
    {"CONNECT ok.test:443 HTTP/1.10\r\n\r\n", CORDON_REASON_BAD_VERSION, 0, NULL},
    {"CONNECT ok.test:443 http/1.1\r\n\r\n", CORDON_REASON_BAD_VERSION, 0, NULL},
    {"CONNECT ok.test:443 HTTP/0.9\r\n\r\n", CORDON_REASON_BAD_VERSION, 0, NULL},
    {"\x16\x03\x01\x02", CORDON_REASON_MALFORMED, 0, NULL},
    {"\x05\x01", CORDON_REASON_MALFORMED, 0, NULL},
    {"\x04\x01", CORDON_REASON_MALFORMED, 0, NULL},
    {"\xff\xfe", CORDON_REASON_MALFORMED, 0, NULL},
    {"{\"a\":1}\r\n", CORDON_REASON_MALFORMED, 0, NULL},
    {BYTES("CONNECT ok\0.test:443 HTTP/1.1\r\n\r\n"), .reason = CORDON_REASON_MALFORMED},
    /* Line ends. */
    {"CONNECT ok.test:443 HTTP/1.1\n\n", CORDON_REASON_BARE_LINE_END, 0, "PP2"},
    {OK_LINE "A: b\n\r\n", CORDON_REASON_BARE_LINE_END, 0, "PP2"},
    {OK_LINE "A: b\rc\r\n\r\n", CORDON_REASON_BARE_LINE_END, 0, "PP2"},
    {OK_LINE "A: b\r\r\n\r\n", CORDON_REASON_BARE_LINE_END, 0, "PP2"},
    {OK_LINE "\n", CORDON_REASON_BARE_LINE_END, 0, "PP2"},
    {"CONNECT ok.test:443\rHTTP/1.1\r\n\r\n", CORDON_REASON_BARE_LINE_END, 0, "PP2"},
    /* The target is host:port and nothing else. */
    {HEAD("https://ok.test:443/"), CORDON_REASON_BAD_TARGET, 0, "PP3"},
    {HEAD("ok.test:443/"), CORDON_REASON_BAD_TARGET, 0, "PP3"},
    {HEAD("/ok.test:443"), CORDON_REASON_BAD_TARGET, 0, "PP3"},
    {HEAD("ok.test:443#x"), CORDON_REASON_BAD_TARGET, 0, NULL},
    {HEAD("ok.test:443?x"), CORDON_REASON_BAD_TARGET, 0, NULL},
    {HEAD("user@ok.test:443"), CORDON_REASON_BAD_TARGET, 0, "PP3"},
    {HEAD("user:pw@ok.test:443"), CORDON_REASON_BAD_TARGET, 0, NULL},
    {HEAD("ok.test:443@evil.test:443"), CORDON_REASON_BAD_TARGET, 0, "PP3"},
    {HEAD("[ok.test]:443"), CORDON_REASON_BAD_TARGET, 0, "HM1"},
    {HEAD("[[ok.test]]:443"), CORDON_REASON_BAD_TARGET, 0, "HM1"},
    {HEAD("[::1]:443"), CORDON_REASON_BAD_TARGET, 0, "HM1"},
    {HEAD("[::ffff:127.0.0.1]:443"), CORDON_REASON_BAD_TARGET, 0, "HM1"},
    {HEAD("::1:443"), CORDON_REASON_BAD_TARGET, 0, "HM1"},
    {HEAD("ok.test:443:443"), CORDON_REASON_BAD_TARGET, 0, NULL},
    {HEAD(":443"), CORDON_REASON_BAD_TARGET, 0, NULL},
    {HEAD(".:443"), CORDON_REASON_BAD_TARGET, 0, NULL},
    {HEAD("..:443"), CORDON_REASON_BAD_TARGET, 0, NULL},
    {HEAD(".ok.test:443"), CORDON_REASON_BAD_TARGET, 0, "HM2"},
    {HEAD("ok..test:443"), CORDON_REASON_BAD_TARGET, 0, "HM2"},
    {HEAD("ok.test..:443"), CORDON_REASON_BAD_TARGET, 0, "HM2"},
    {HEAD("*.test:443"), CORDON_REASON_BAD_TARGET, 0, NULL},
    {HEAD("*:443"), CORDON_REASON_BAD_TARGET, 0, NULL},
    {HEAD("ok%2etest:443"), CORDON_REASON_BAD_TARGET, 0, NULL},
    {HEAD("ok_test:443"), CORDON_REASON_BAD_TARGET, 0, NULL},
    {HEAD("-ok.test:443"), CORDON_REASON_BAD_TARGET, 0, NULL},
    {HEAD("ok-.test:443"), CORDON_REASON_BAD_TARGET, 0, NULL},
    {HEAD("ok,test:443"), CORDON_REASON_BAD_TARGET, 0, NULL},
    {HEAD("\xc3\xb6k.test:443"), CORDON_REASON_BAD_TARGET, 0, NULL},
    {HEAD("ok\xe3\x80\x82test:443"), CORDON_REASON_BAD_TARGET, 0, NULL},
    {HEAD("ok.test\t:443"), CORDON_REASON_BAD_TARGET, 0, NULL},
    {HEAD("ok.test.:443"), CORDON_REASON_FINAL_DOT, 0, "HM2"},
    {HEAD("ok.test"), CORDON_REASON_BAD_PORT, 0, "PP3"},
    {HEAD("ok.test:"), CORDON_REASON_BAD_PORT, 0, "PP3"},
    {HEAD("ok.test:0"), CORDON_REASON_BAD_PORT, 0, NULL},
    {HEAD("ok.test:00443"), CORDON_REASON_BAD_PORT, 0, NULL},
    {HEAD("ok.test:0443"), CORDON_REASON_BAD_PORT, 0, NULL},
    {HEAD("ok.test:000443"), CORDON_REASON_BAD_PORT, 0, NULL},
    {HEAD("ok.test:+443"), CORDON_REASON_BAD_PORT, 0, NULL},
    {HEAD("ok.test:-443"), CORDON_REASON_BAD_PORT, 0, NULL},
    {HEAD("ok.test:443x"), CORDON_REASON_BAD_PORT, 0, NULL},
    {HEAD("ok.test:0x1bb"), CORDON_REASON_BAD_PORT, 0, NULL},
    {HEAD("ok.test:https"), CORDON_REASON_BAD_PORT, 0, NULL},
    {HEAD("ok.test:65536"), CORDON_REASON_BAD_PORT, 0, NULL},
    {HEAD("ok.test:65979"), CORDON_REASON_BAD_PORT, 0, NULL},
    {HEAD("ok.test:4294967739"), CORDON_REASON_BAD_PORT, 0, NULL},
    {HEAD("127.0.0.1:443"), CORDON_REASON_IP_LITERAL, 0, "HM1"},
    {HEAD("127.1:443"), CORDON_REASON_IP_LITERAL, 0, NULL},
    {HEAD("2130706433:443"), CORDON_REASON_IP_LITERAL, 0, NULL},
    {HEAD("0x7f000001:443"), CORDON_REASON_IP_LITERAL, 0, NULL},
    {HEAD("0X7F.1:443"), CORDON_REASON_IP_LITERAL, 0, NULL},
    {HEAD("0177.0.0.01:443"), CORDON_REASON_IP_LITERAL, 0, NULL},
    {HEAD("ok.test.0x:443"), CORDON_REASON_IP_LITERAL, 0, NULL},
    {HEAD("ok.1:443"), CORDON_REASON_IP_LITERAL, 0, NULL},
    /* Fields. */
    {OK_LINE "Host : ok.test\r\n\r\n", CORDON_REASON_BAD_FIELD, 0, "PP2"},
    {OK_LINE "Host\t: ok.test\r\n\r\n", CORDON_REASON_BAD_FIELD, 0, "PP2"},
    {OK_LINE ": x\r\n\r\n", CORDON_REASON_BAD_FIELD, 0, NULL},
    {OK_LINE "no colon\r\n\r\n", CORDON_REASON_BAD_FIELD, 0, NULL},
    {OK_LINE "A(b): c\r\n\r\n", CORDON_REASON_BAD_FIELD, 0, NULL},
    {BYTES(OK_LINE "A: b\0c\r\n\r\n"), .reason = CORDON_REASON_BAD_FIELD},
    {OK_LINE "A: b\x01\r\n\r\n", CORDON_REASON_BAD_FIELD, 0, NULL},
    {OK_LINE "A: b\x7f\r\n\r\n", CORDON_REASON_BAD_FIELD, 0, NULL},
    {OK_LINE "A: b\r\n c\r\n\r\n", CORDON_REASON_OBS_FOLD, 0, "PP2"},
    {OK_LINE "A: b\r\n\tc\r\n\r\n", CORDON_REASON_OBS_FOLD, 0, "PP2"},
    {OK_LINE " A: b\r\n\r\n", CORDON_REASON_OBS_FOLD, 0, "PP2"},
    {OK_LINE "Host: ok.test:443\r\nHost: ok.test:443\r\n\r\n", CORDON_REASON_REPEATED_HOST, 0,
     "PP2"},
    {OK_LINE "Host: ok.test\r\nHOST: evil.test\r\n\r\n", CORDON_REASON_REPEATED_HOST, 0, "PP2"},
    {OK_LINE "Host: evil.test:443\r\n\r\n", CORDON_REASON_HOST_MISMATCH, 0, "PP3"},
    {OK_LINE "Host: ok.test:80\r\n\r\n", CORDON_REASON_HOST_MISMATCH, 0, "PP3"},
    {OK_LINE "Host:\r\n\r\n", CORDON_REASON_HOST_MISMATCH, 0, NULL},
    {OK_LINE "Host: ok.test.\r\n\r\n", CORDON_REASON_HOST_MISMATCH, 0, NULL},
    {LINE("evil.test:80") "Host: evil.test\r\n\r\n", CORDON_REASON_HOST_MISMATCH, 0, "PP3"},
    {OK_LINE "Transfer-Encoding: Chunked\r\n\r\n", CORDON_REASON_BODY, 0, "PP1"},
    {OK_LINE "tRANSFER-eNCODING: identity\r\n\r\n", CORDON_REASON_BODY, 0, "PP1"},
    {OK_LINE "Content-Length: 5\r\n\r\nhello", CORDON_REASON_BODY, 0, "PP1"},
    {OK_LINE "TRANSFER-ENCODING:chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", CORDON_REASON_BODY, 0,
     "PP1"},
    {OK_LINE "content-length: 0\r\n\r\n", CORDON_REASON_BODY, 0, "PP1"},
};

#define PROXY_GOOD_HEADS (sizeof proxy_good_heads / sizeof proxy_good_heads[0])
#define PROXY_BAD_HEADS  (sizeof proxy_bad_heads / sizeof proxy_bad_heads[0])

#endif

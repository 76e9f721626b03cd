/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classes of raw requests in which CONNECT proxies differ, one row each with the one right
 * outcome: a tunnel that carries every byte after the head, or a refusal for one reason. PP1-PP6,
 * HM1 and HM2 are among them; proxy_heads.h has more spellings of each for the parser alone.
 */
#ifndef CORDON_TESTS_SUPPORT_PROXY_CLASSES_H
#define CORDON_TESTS_SUPPORT_PROXY_CLASSES_H

#include <stddef.h>

#include "proxy/reason.h"

/*
 * head    the request; a class that is about size has `fill` after it, as often as goes into
 *         fill_bytes, and then `tail`
 * length  of head; 0 is strlen
 * reason  NONE: a tunnel. A hello for ok.test follows then, in the same write
 * early   tunnel bytes in the same write as head and hello
 * padding bytes of the hello's padding extension
 */
typedef struct proxy_class {
    const char *name;
    const char *head;
    size_t length;
    cordon_reason reason;
    size_t early;
    size_t padding;
    const char *fill;
    size_t fill_bytes;
    const char *tail;
} proxy_class;

#define CLASS_LINE(target) "CONNECT " target " HTTP/1.1\r\n"
#define CLASS_OK           CLASS_LINE("ok.test:443")
#define CLASS_HEAD(target) CLASS_LINE(target) "\r\n"
#define TUNNEL(text)       .head = (text)
#define REFUSED(text, why) .head = (text), .reason = CORDON_REASON_##why
#define REFUSED_BYTES(text, why)                                                                   \
    .head = (text), .length = sizeof(text) - 1, .reason = CORDON_REASON_##why

static const proxy_class proxy_classes[] = {
    /* What must be let through. */
    {"plain", TUNNEL(CLASS_HEAD("ok.test:443"))},
    {"HTTP/1.0", TUNNEL("CONNECT ok.test:443 HTTP/1.0\r\n\r\n")},
    {"Host equal", TUNNEL(CLASS_OK "Host: ok.test:443\r\n\r\n")},
    {"Host without port", TUNNEL(CLASS_OK "Host: ok.test\r\n\r\n")},
    {"upper case", TUNNEL(CLASS_HEAD("OK.TEST:443"))},
    {"unknown fields", TUNNEL(CLASS_OK "Proxy-Connection: keep-alive\r\nX-Y: z\r\n\r\n")},
    {"empty value", TUNNEL(CLASS_OK "X:\r\n\r\n")},
    {"obs-text value", TUNNEL(CLASS_OK "User-Agent: caf\xc3\xa9\r\n\r\n")},
    {"early bytes, few", TUNNEL(CLASS_HEAD("ok.test:443")), .early = 5},
    {"early bytes, 256 KiB", TUNNEL(CLASS_HEAD("ok.test:443")), .early = 262144},
    {"hello of 15 KiB", TUNNEL(CLASS_HEAD("ok.test:443")), .padding = 15000},
    {"head of 8 KiB", TUNNEL(CLASS_OK "X: "), .fill = "a", .fill_bytes = 8192 - 33 - 4,
     .tail = "\r\n\r\n"},
    {"64 fields", TUNNEL(CLASS_OK), .fill = "A: b\r\n", .fill_bytes = 64 * 6, .tail = "\r\n"},
    /* What follows a refusal is not executed. */
    {"pipelined after refused",
     REFUSED(CLASS_HEAD("no.test:443") CLASS_HEAD("ok.test:443"), NOT_PINNED)},
    {"pipelined after GET", REFUSED("GET / HTTP/1.1\r\n\r\n" CLASS_HEAD("ok.test:443"), METHOD)},
    /* Size. */
    {"head of 8 KiB and a byte", REFUSED(CLASS_OK "X: ", HEAD_TOO_LONG), .fill = "a",
     .fill_bytes = 8193 - 33 - 4, .tail = "\r\n\r\n"},
    {"65 fields", REFUSED(CLASS_OK, TOO_MANY_FIELDS), .fill = "A: b\r\n", .fill_bytes = 65 * 6,
     .tail = "\r\n"},
    {"10,000 fields", REFUSED(CLASS_OK, TOO_MANY_FIELDS), .fill = "Name: val\r\n",
     .fill_bytes = 110000, .tail = "\r\n"},
    {"line of 10 KiB", REFUSED(CLASS_OK "X: ", HEAD_TOO_LONG), .fill = "a", .fill_bytes = 10240,
     .tail = "\r\n\r\n"},
    {"head of 1 MiB", REFUSED(CLASS_OK "X: ", HEAD_TOO_LONG), .fill = "a", .fill_bytes = 1 << 20,
     .tail = "\r\n\r\n"},
    {"1 MiB without line end", REFUSED("CONNECT ", HEAD_TOO_LONG), .fill = "a",
     .fill_bytes = 1 << 20, .tail = ""},
    /* The port. */
    {"port wraps", REFUSED(CLASS_HEAD("ok.test:65979"), BAD_PORT)},
    {"port wraps 32 bits", REFUSED(CLASS_HEAD("ok.test:4294967739"), BAD_PORT)},
    {"port +443", REFUSED(CLASS_HEAD("ok.test:+443"), BAD_PORT)},
    {"port 443x", REFUSED(CLASS_HEAD("ok.test:443x"), BAD_PORT)},
    {"port 000443", REFUSED(CLASS_HEAD("ok.test:000443"), BAD_PORT)},
    {"port missing", REFUSED(CLASS_HEAD("ok.test"), BAD_PORT)},
    {"port empty", REFUSED(CLASS_HEAD("ok.test:"), BAD_PORT)},
    {"port 0", REFUSED(CLASS_HEAD("ok.test:0"), BAD_PORT)},
    {"port 65536", REFUSED(CLASS_HEAD("ok.test:65536"), BAD_PORT)},
    {"another port", REFUSED(CLASS_HEAD("ok.test:80"), PORT_NOT_ALLOWED)},
    /* The authority. */
    {"userinfo", REFUSED(CLASS_HEAD("user:pw@ok.test:443"), BAD_TARGET)},
    {"allowed as userinfo", REFUSED(CLASS_HEAD("ok.test:443@no.test:443"), BAD_TARGET)},
    {"path", REFUSED(CLASS_HEAD("ok.test:443/"), BAD_TARGET)},
    {"fragment", REFUSED(CLASS_HEAD("ok.test:443#x"), BAD_TARGET)},
    {"query", REFUSED(CLASS_HEAD("ok.test:443?x"), BAD_TARGET)},
    {"scheme", REFUSED(CLASS_HEAD("http://ok.test:443"), BAD_TARGET)},
    {"percent", REFUSED(CLASS_HEAD("ok%2etest:443"), BAD_TARGET)},
    {"non-ASCII", REFUSED(CLASS_HEAD("\xc3\xb6k.test:443"), BAD_TARGET)},
    {"no host", REFUSED(CLASS_HEAD(":443"), BAD_TARGET)},
    {"final dot", REFUSED(CLASS_HEAD("ok.test.:443"), FINAL_DOT)},
    {"two final dots", REFUSED(CLASS_HEAD("ok.test..:443"), BAD_TARGET)},
    {"not pinned", REFUSED(CLASS_HEAD("no.test:443"), NOT_PINNED)},
    {"prefix of a pin", REFUSED(CLASS_HEAD("ok.tes:443"), NOT_PINNED)},
    {"pin as prefix", REFUSED(CLASS_HEAD("ok.test.no.test:443"), NOT_PINNED)},
    {"pin as suffix", REFUSED(CLASS_HEAD("notok.test:443"), NOT_PINNED)},
    {"below a pin", REFUSED(CLASS_HEAD("sub.ok.test:443"), NOT_PINNED)},
    {"IPv4", REFUSED(CLASS_HEAD("127.0.0.1:443"), IP_LITERAL)},
    {"IPv4 in octal", REFUSED(CLASS_HEAD("0177.0.0.01:443"), IP_LITERAL)},
    {"IPv4 as one number", REFUSED(CLASS_HEAD("2130706433:443"), IP_LITERAL)},
    {"IPv4 in hex", REFUSED(CLASS_HEAD("0x7f.1:443"), IP_LITERAL)},
    {"IPv6", REFUSED(CLASS_HEAD("[::1]:443"), BAD_TARGET)},
    {"IPv6, mapped", REFUSED(CLASS_HEAD("[::ffff:127.0.0.1]:443"), BAD_TARGET)},
    {"pin in brackets", REFUSED(CLASS_HEAD("[ok.test]:443"), BAD_TARGET)},
    {"NUL in the host", REFUSED_BYTES("CONNECT ok\0.test:443 HTTP/1.1\r\n\r\n", MALFORMED)},
    /* Fields. */
    {"two Hosts",
     REFUSED(CLASS_OK "Host: ok.test:443\r\nHost: ok.test:443\r\n\r\n", REPEATED_HOST)},
    {"another Host", REFUSED(CLASS_OK "Host: no.test:443\r\n\r\n", HOST_MISMATCH)},
    {"allowed Host, other target",
     REFUSED(CLASS_LINE("no.test:443") "Host: ok.test:443\r\n\r\n", HOST_MISMATCH)},
    {"blank before the colon", REFUSED(CLASS_OK "Host : ok.test\r\n\r\n", BAD_FIELD)},
    {"NUL in a value", REFUSED_BYTES(CLASS_OK "A: b\0c\r\n\r\n", BAD_FIELD)},
    {"control in a value", REFUSED(CLASS_OK "A: b\x01\r\n\r\n", BAD_FIELD)},
    {"obs-fold", REFUSED(CLASS_OK "A: b\r\n c\r\n\r\n", OBS_FOLD)},
    {"Content-Length", REFUSED(CLASS_OK "Content-Length: 5\r\n\r\nhello", BODY)},
    {"Transfer-Encoding",
     REFUSED(CLASS_OK "Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", BODY)},
    /* Lines. */
    {"LF alone", REFUSED("CONNECT ok.test:443 HTTP/1.1\n\n", BARE_LINE_END)},
    {"CR in a value", REFUSED(CLASS_OK "A: b\rc\r\n\r\n", BARE_LINE_END)},
    {"empty line first", REFUSED("\r\n" CLASS_HEAD("ok.test:443"), MALFORMED)},
    {"two blanks", REFUSED("CONNECT  ok.test:443 HTTP/1.1\r\n\r\n", BAD_VERSION)},
    {"HTTP/2.0", REFUSED("CONNECT ok.test:443 HTTP/2.0\r\n\r\n", BAD_VERSION)},
    {"no version", REFUSED("CONNECT ok.test:443\r\n\r\n", MALFORMED)},
    /* Methods and other protocols. */
    {"lower-case method", REFUSED("connect ok.test:443 HTTP/1.1\r\n\r\n", METHOD)},
    {"absolute-form GET", REFUSED("GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n", METHOD)},
    {"origin-form GET", REFUSED("GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n", METHOD)},
    {"OPTIONS", REFUSED("OPTIONS * HTTP/1.1\r\nHost: ok.test\r\n\r\n", METHOD)},
    {"HTTP/2 preface", REFUSED("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", METHOD)},
    {"TLS", REFUSED_BYTES("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03", MALFORMED)},
    {"SOCKS5", REFUSED_BYTES("\x05\x01\x00", MALFORMED)},
    {"SOCKS4", REFUSED_BYTES("\x04\x01\x01\xbb\x7f\x00\x00\x01\x00", MALFORMED)},
};

#define PROXY_CLASSES (sizeof proxy_classes / sizeof proxy_classes[0])

#endif

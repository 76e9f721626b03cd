/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ClientHello parser; see client_hello.h. First the handshake message is put together from
 * its records, then read with a cursor that can't pass its end.
 */
#include <stdbool.h>
#include <string.h>

#include "client_hello.h"

enum {
    RECORD_HEADER = 5,
    RECORD_HANDSHAKE = 22,
    /* RFC 8446 section 5.1: a plaintext fragment is at most 2^14 bytes, and never empty here. */
    RECORD_MAX = 16384,
    MESSAGE_HEADER = 4,
    MESSAGE_CLIENT_HELLO = 1,
    RANDOM_BYTES = 32,
    SESSION_ID_MAX = 32,
    EXTENSION_SERVER_NAME = 0,
    EXTENSION_ENCRYPTED_HELLO = 0xfe0d,
    EXTENSION_ENCRYPTED_NAME = 0xffce, /* its forerunner, ESNI */
    NAME_TYPE_HOST = 0,
};

/* What is left to read. A failed read leaves `bad` set; later reads yield nothing. */
typedef struct cursor {
    const uint8_t *at;
    size_t left;
    bool bad;
} cursor;

static uint32_t big_endian(const uint8_t *bytes, size_t width)
{
    uint32_t value = 0;
    for (size_t i = 0; i < width; i++)
        value = value << 8 | bytes[i];
    return value;
}

static cursor cursor_take(cursor *from, size_t length)
{
    if (from->bad || from->left < length) {
        from->bad = true;
        return (cursor){.at = NULL, .left = 0, .bad = true};
    }
    cursor taken = {.at = from->at, .left = length, .bad = false};
    from->at += length;
    from->left -= length;
    return taken;
}

static uint32_t cursor_number(cursor *from, size_t width)
{
    cursor number = cursor_take(from, width);
    return number.bad ? 0 : big_endian(number.at, width);
}

/* A vector: its length in `width` bytes, then as many bytes. */
static cursor cursor_vector(cursor *from, size_t width)
{
    return cursor_take(from, cursor_number(from, width));
}

/* What a hello is made of, gathered from possibly many records. */
typedef struct message {
    uint8_t joined[CORDON_HELLO_MAX];
    const uint8_t *at;
    size_t length;
} message;

static cordon_hello_status hello_bad(cordon_hello *hello, cordon_reason reason)
{
    hello->reason = reason;
    return CORDON_HELLO_BAD;
}

/* One record header, as far as it is there: type 22, version 3.x, a length that can be. */
static cordon_reason check_record_header(const uint8_t *header, size_t have)
{
    if (have > 0 && header[0] != RECORD_HANDSHAKE)
        return CORDON_REASON_NOT_TLS;
    if (have > 1 && header[1] != 3)
        return CORDON_REASON_NOT_TLS;
    if (have > 2 && header[2] > 3)
        return CORDON_REASON_NOT_TLS;
    if (have < RECORD_HEADER)
        return CORDON_REASON_NONE;
    uint32_t length = big_endian(header + 3, 2);
    return length == 0 || length > RECORD_MAX ? CORDON_REASON_HELLO_MALFORMED : CORDON_REASON_NONE;
}

/* The message's own header, as far as it is there; *ret_total is the message's size or 0. */
static cordon_reason check_message_header(const message *whole, size_t *ret_total)
{
    *ret_total = 0;
    if (whole->length > 0 && whole->at[0] != MESSAGE_CLIENT_HELLO)
        return CORDON_REASON_HELLO_MALFORMED;
    if (whole->length < MESSAGE_HEADER)
        return CORDON_REASON_NONE;
    *ret_total = MESSAGE_HEADER + (size_t)big_endian(whole->at + 1, 3);
    return *ret_total > CORDON_HELLO_MAX - RECORD_HEADER ? CORDON_REASON_HELLO_TOO_LONG
                                                         : CORDON_REASON_NONE;
}

/* The first fragment is used where it lies; only a second one makes a copy needed. */
static void message_add(message *whole, const uint8_t *fragment, size_t length)
{
    if (whole->length == 0) {
        whole->at = fragment;
    } else {
        if (whole->at != whole->joined)
            memcpy(whole->joined, whole->at, whole->length);
        memcpy(whole->joined + whole->length, fragment, length);
        whole->at = whole->joined;
    }
    whole->length += length;
}

/*
 * DONE: the whole message stands in `whole`. SECURITY: a peer that never ends its message meets
 * HELLO_TOO_LONG as soon as the window is full, however the pieces are cut.
 */
static cordon_hello_status gather(const uint8_t *window, size_t length, message *whole,
                                  cordon_hello *hello)
{
    size_t at = 0;
    size_t total = 0;
    while (at < length) {
        size_t have = length - at;
        cordon_reason reason = check_record_header(window + at, have);
        if (reason != CORDON_REASON_NONE)
            return hello_bad(hello, at == 0 ? reason : CORDON_REASON_HELLO_MALFORMED);
        if (have < RECORD_HEADER)
            break;
        size_t record = big_endian(window + at + 3, 2);
        size_t part = have - RECORD_HEADER < record ? have - RECORD_HEADER : record;
        message_add(whole, window + at + RECORD_HEADER, part);
        reason = check_message_header(whole, &total);
        if (reason != CORDON_REASON_NONE)
            return hello_bad(hello, reason);
        if (total > 0 && whole->length - part + record > total)
            return hello_bad(hello, CORDON_REASON_HELLO_MALFORMED);
        at += RECORD_HEADER + part;
        if (total > 0 && whole->length == total)
            return CORDON_HELLO_DONE;
    }
    return length >= CORDON_HELLO_MAX ? hello_bad(hello, CORDON_REASON_HELLO_TOO_LONG)
                                      : CORDON_HELLO_MORE;
}

/* RFC 6066 section 3: a list with exactly one entry, of the one type that exists. */
static cordon_reason read_server_name(cursor body, cordon_hello *hello)
{
    cursor list = cursor_vector(&body, 2);
    uint32_t type = cursor_number(&list, 1);
    cursor name = cursor_vector(&list, 2);
    if (list.bad || list.left > 0 || body.left > 0 || name.left == 0 || type != NAME_TYPE_HOST)
        return CORDON_REASON_HELLO_MALFORMED;
    if (name.left > sizeof hello->server_name)
        return CORDON_REASON_SERVER_NAME_MISMATCH;
    memcpy(hello->server_name, name.at, name.left);
    hello->server_name_length = name.left;
    return cordon_host_check(hello->server_name, name.left) == CORDON_REASON_NONE
               ? CORDON_REASON_NONE
               : CORDON_REASON_SERVER_NAME_MISMATCH;
}

/* Every extension is walked, so that a second name, or a hidden one, behind the first is seen. */
static cordon_reason read_extensions(cursor list, cordon_hello *hello)
{
    cordon_reason name = CORDON_REASON_NO_SERVER_NAME;
    bool encrypted = false;
    while (list.left > 0) {
        uint32_t type = cursor_number(&list, 2);
        cursor body = cursor_vector(&list, 2);
        if (list.bad)
            return CORDON_REASON_HELLO_MALFORMED;
        if (type == EXTENSION_ENCRYPTED_HELLO || type == EXTENSION_ENCRYPTED_NAME)
            encrypted = true;
        if (type != EXTENSION_SERVER_NAME)
            continue;
        if (name != CORDON_REASON_NO_SERVER_NAME)
            return CORDON_REASON_HELLO_MALFORMED;
        name = read_server_name(body, hello);
    }
    return encrypted ? CORDON_REASON_ENCRYPTED_HELLO : name;
}

static cordon_reason read_hello(cursor body, cordon_hello *hello)
{
    uint32_t version = cursor_number(&body, 2);
    (void)cursor_take(&body, RANDOM_BYTES);
    cursor session = cursor_vector(&body, 1);
    cursor suites = cursor_vector(&body, 2);
    cursor compression = cursor_vector(&body, 1);
    if (body.bad || version < 0x0301 || version > 0x0303 || session.left > SESSION_ID_MAX)
        return CORDON_REASON_HELLO_MALFORMED;
    if (suites.left < 2 || suites.left % 2 != 0 || compression.left == 0)
        return CORDON_REASON_HELLO_MALFORMED;
    if (body.left == 0)
        return CORDON_REASON_NO_SERVER_NAME;
    cursor extensions = cursor_vector(&body, 2);
    if (body.bad || body.left > 0)
        return CORDON_REASON_HELLO_MALFORMED;
    return read_extensions(extensions, hello);
}

cordon_hello_status cordon_hello_parse(const uint8_t *window, size_t length,
                                       cordon_hello *ret_hello)
{
    message whole;
    whole.at = NULL;
    whole.length = 0;
    ret_hello->reason = CORDON_REASON_NONE;
    ret_hello->server_name_length = 0;
    size_t limit = length < CORDON_HELLO_MAX ? length : CORDON_HELLO_MAX;
    cordon_hello_status status = gather(window, limit, &whole, ret_hello);
    if (status != CORDON_HELLO_DONE)
        return status;
    cursor body = {whole.at + MESSAGE_HEADER, whole.length - MESSAGE_HEADER, false};
    cordon_reason reason = read_hello(body, ret_hello);
    return reason == CORDON_REASON_NONE ? CORDON_HELLO_DONE : hello_bad(ret_hello, reason);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refusals as text; see answer.h.
 */
#include <stdio.h>

#include "answer.h"
#include "kit/error.h"

#define BODY_MAX   640
#define TARGET_MAX 272

typedef struct phrase {
    int status;
    const char *text;
} phrase;

static const char *phrase_of(int status)
{
    static const phrase phrases[] = {
        {400, "Bad Request"},
        {403, "Forbidden"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {431, "Request Header Fields Too Large"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
    };
    for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++) {
        if (phrases[i].status == status)
            return phrases[i].text;
    }
    return "Refused";
}

static size_t write_body(char ret_body[BODY_MAX], cordon_reason reason, const char *target,
                         size_t target_length, const char *detail)
{
    char shown[TARGET_MAX];
    (void)cordon_err_printable(shown, sizeof shown, target, target_length);
    int length = snprintf(ret_body, BODY_MAX, "cordon: %s: %s (%s)%s%s\n",
                          target_length > 0 ? shown : "request", cordon_reason_text(reason),
                          cordon_reason_name(reason), detail ? ": " : "", detail ? detail : "");
    return length < BODY_MAX ? (size_t)length : BODY_MAX - 1;
}

size_t cordon_answer_refusal(char ret_text[CORDON_ANSWER_MAX], cordon_reason reason,
                             const char *target, size_t target_length, const char *detail)
{
    char body[BODY_MAX];
    int status = cordon_reason_status(reason);
    size_t body_length = write_body(body, reason, target, target_length, detail);
    /* RFC 9110 section 15.5.6: a 405 says what is allowed. */
    int length = snprintf(ret_text, CORDON_ANSWER_MAX,
                          "HTTP/1.1 %d %s\r\n%sContent-Type: text/plain\r\n"
                          "Content-Length: %zu\r\nConnection: close\r\n\r\n%.*s",
                          status, phrase_of(status), status == 405 ? "Allow: CONNECT\r\n" : "",
                          body_length, (int)body_length, body);
    return length < CORDON_ANSWER_MAX ? (size_t)length : CORDON_ANSWER_MAX - 1;
}

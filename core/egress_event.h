/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One decision or closed tunnel of the proxy: read from its line (proxy/DESIGN.md), bounded and
 * printable, and written as the event that callers, `--json` and `cordon egress` see (README,
 * "Egress events").
 */
#ifndef CORDON_EGRESS_EVENT_H
#define CORDON_EGRESS_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "kit/buf.h"
#include "kit/jsonr.h"

#define CORDON_EGRESS_TEXT_SIZE    272
#define CORDON_EGRESS_DETAIL_SIZE  160
#define CORDON_EGRESS_REASON_SIZE  48
#define CORDON_EGRESS_WORD_SIZE    32
#define CORDON_EGRESS_ADDRESS_SIZE 64
/* As many addresses as the proxy takes of one answer. */
#define CORDON_EGRESS_ANSWER_MAX 16
/* Most bytes of an event as JSON, its newline included: a pipe takes that at once (PIPE_BUF). */
#define CORDON_EGRESS_EVENT_MAX 4096

typedef enum cordon_egress_what {
    CORDON_EGRESS_UNKNOWN = 0,
    CORDON_EGRESS_DECISION, /* allow or deny */
    CORDON_EGRESS_TUNNEL,   /* an allowed one has closed */
    CORDON_EGRESS_DROPPED,  /* lines that the proxy had no room for */
} cordon_egress_what;

/*
 * What is absent is "", 0 or false, as it is meaningless then. Texts are printable and cut.
 *
 * target   "host:port", as asked for
 * reason   of a decision; for a tunnel why it ended
 * address  dialled, with its port
 * answer   addresses that were considered
 * refused  further addresses of the answer, not public; mixed: besides public ones
 */
typedef struct cordon_egress_event {
    cordon_egress_what what;
    bool allowed;
    bool mixed;
    int64_t time_ms;
    int64_t id;
    int64_t status;
    int64_t port;
    int64_t bytes_up;
    int64_t bytes_down;
    int64_t ms;
    int64_t refused;
    int64_t count;
    char target[CORDON_EGRESS_TEXT_SIZE];
    char host[CORDON_EGRESS_TEXT_SIZE];
    char server_name[CORDON_EGRESS_TEXT_SIZE];
    char detail[CORDON_EGRESS_DETAIL_SIZE];
    char reason[CORDON_EGRESS_REASON_SIZE];
    char address[CORDON_EGRESS_ADDRESS_SIZE];
    char rule[CORDON_EGRESS_WORD_SIZE];
    char by[CORDON_EGRESS_WORD_SIZE];
    char error[CORDON_EGRESS_WORD_SIZE];
    char answer[CORDON_EGRESS_ANSWER_MAX][CORDON_EGRESS_ADDRESS_SIZE];
    size_t answer_count;
} cordon_egress_event;

/*
 * Reads a line of this kind. Every member must be known, of its type, and there if it must be:
 * else PROTOCOL with the member's path.
 */
int cordon_egress_event_read(cordon_json line, cordon_egress_what what,
                             cordon_egress_event *ret_event, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Appends the event as one JSON object without a newline, below CORDON_EGRESS_EVENT_MAX: what would
 * be more loses its addresses.
 */
int cordon_egress_event_json(const cordon_egress_event *event, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));

/* PROTOCOL, naming the first member that nobody read. */
int cordon_egress_no_more(cordon_json line, cordon_err *err) __attribute__((warn_unused_result));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings of `cordon doctor`: a list of lines, each with a state, a fact and the next step.
 */
#ifndef CORDON_CLI_DOCTOR_H
#define CORDON_CLI_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "cordon/cordon.h"
#include "cordon/image.h"
#include "kit/buf.h"
#include "kit/error.h"

typedef enum cordon_cli_state {
    CORDON_CLI_STATE_UNKNOWN = 0,
    CORDON_CLI_STATE_OK,
    CORDON_CLI_STATE_WARN, /* works, but not as well as it could, or only in part */
    CORDON_CLI_STATE_FAIL, /* a run would be refused, or fail */
} cordon_cli_state;

#define CORDON_CLI_FINDINGS_MAX 96
#define CORDON_CLI_FACT_MAX     400

/* check and next are static text; next is "" when there is nothing to do. */
typedef struct cordon_cli_finding {
    cordon_cli_state state;
    const char *check;
    const char *next;
    char fact[CORDON_CLI_FACT_MAX];
} cordon_cli_finding;

/*
 * One engine of the order in which they are looked for. Borrowed.
 * passed  why it is not the one, or NULL: it is
 */
typedef struct cordon_cli_order {
    const cordon_engine_candidate *candidate;
    const char *passed;
} cordon_cli_order;

#define CORDON_CLI_ORDER_MAX 80

typedef struct cordon_cli_doctor {
    size_t order_count;
    cordon_cli_order order[CORDON_CLI_ORDER_MAX];
    size_t count;
    cordon_cli_finding findings[CORDON_CLI_FINDINGS_MAX];
} cordon_cli_doctor;

/* Adds one line; the fact is made printable. One line too many is dropped. */
void cordon_cli_doctor_add(cordon_cli_doctor *doctor, cordon_cli_state state, const char *check,
                           const char *next, const char *fact, ...)
    __attribute__((format(printf, 5, 6)));

/* No finding is FAIL. */
bool cordon_cli_doctor_ok(const cordon_cli_doctor *doctor);

/* Appends the table and a last line with the verdict, or
 * {"doctor":1,"ok":...,"engines":[{"name","kind","endpoint","why","passed_over"}],
 * "findings":[{"check","state","fact","next"}]}. */
int cordon_cli_doctor_table(const cordon_cli_doctor *doctor, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));
int cordon_cli_doctor_json(const cordon_cli_doctor *doctor, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));

/* The next step for an engine that could not be opened; static text. */
const char *cordon_cli_doctor_engine_next(const cordon_err *failure);

/*
 * Whether what the engine's inspect hides can be read here, as every run does (an engine that hides
 * nothing: no line). accepted: allow_unread_runtime, so that a run does without.
 */
void cordon_cli_doctor_runtime(cordon_cli_doctor *doctor, const cordon_engine_info *info,
                               bool accepted);

/* The configuration was not read because of the lock file of images. */
bool cordon_cli_doctor_is_lock(const cordon_err *failure);
/* The next step then; static text. */
const char *cordon_cli_doctor_lock_next(const cordon_err *failure);

/* Whether there is a lock file of images, and has to be. */
void cordon_cli_doctor_lock(cordon_cli_doctor *doctor, const cordon_image_lock_info *info);

/*
 * Where there is one: what it means for the images of this name on the engine that was asked.
 * row     what it pins there; NULL: nothing
 * pinned  the configuration has a pin of that name, too
 */
void cordon_cli_doctor_locked(cordon_cli_doctor *doctor, const char *name, const cordon_image *row,
                              bool pinned);

/* What this kernel and this user can do: Landlock, user namespaces, subordinate ids, journal. */
void cordon_cli_doctor_host(cordon_cli_doctor *doctor, const cordon_host *host);

#endif

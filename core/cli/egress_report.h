/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The egress of receipts, and of a run that goes on, as text: what `cordon egress` prints. What is
 * read was written by whoever wrote the file, so it is checked, bounded and made printable. Pure.
 */
#ifndef CORDON_CLI_EGRESS_REPORT_H
#define CORDON_CLI_EGRESS_REPORT_H

#include <stddef.h>

#include "kit/buf.h"
#include "kit/cleanup.h"
#include "kit/error.h"

/* Most bytes of one receipt. */
#define CORDON_CLI_RECEIPT_MAX (2U << 20)

typedef struct cordon_cli_egress_report cordon_cli_egress_report;

int cordon_cli_egress_report_new(cordon_cli_egress_report **ret_report, cordon_err *err)
    __attribute__((warn_unused_result));
void cordon_cli_egress_report_free(cordon_cli_egress_report *report);
CORDON_DEFINE_AUTO_PTR(cordon_cli_egress_report, cordon_cli_egress_report_free)

/*
 * Takes one receipt: version 1, with whatever a later Cordon adds to it.
 * @param name  of the file, borrowed until the report is freed
 * @return 0, or -1 with CONFIG, naming the file and what is no receipt about it, or NOMEM
 */
int cordon_cli_egress_report_add(cordon_cli_egress_report *report, const char *name,
                                 const cordon_buf *text, cordon_err *err)
    __attribute__((warn_unused_result));

/* A table, a row for each host and for each refused target, and a line with the sums. */
int cordon_cli_egress_report_table(const cordon_cli_egress_report *report, cordon_buf *out,
                                   cordon_err *err) __attribute__((warn_unused_result));

/* The same as one JSON object. */
int cordon_cli_egress_report_json(const cordon_cli_egress_report *report, cordon_buf *out,
                                  cordon_err *err) __attribute__((warn_unused_result));

/* One event of a run that goes on (README, "Egress events") as a line. PROTOCOL: it is none. */
int cordon_cli_egress_line(const char *json, cordon_buf *out, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

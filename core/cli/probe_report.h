/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what the boundary probe wrote: lines of {"name","want","got","ok","detail"}, ended by
 * {"probe":1,"done":true,"checks":N}. SECURITY: the bytes come out of a container and are treated
 * as hostile: bounded, strict, and only a whole report is a report. Pure.
 */
#ifndef CORDON_CLI_PROBE_REPORT_H
#define CORDON_CLI_PROBE_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "kit/cleanup.h"
#include "kit/error.h"

#define CORDON_CLI_PROBE_BYTES_MAX  (1U << 20)
#define CORDON_CLI_PROBE_LINE_MAX   8192
#define CORDON_CLI_PROBE_CHECKS_MAX 512

/* One thing that was tried. Texts are printable; detail may be "". */
typedef struct cordon_cli_check {
    char *name;
    char *want;
    char *got;
    char *detail;
    bool ok;
} cordon_cli_check;

typedef struct cordon_cli_probe_report {
    size_t count;
    cordon_cli_check *checks;
} cordon_cli_probe_report;

/* PROTOCOL with the line's number for anything that is not exactly such a report. */
int cordon_cli_probe_report_parse(const char *bytes, size_t length,
                                  cordon_cli_probe_report *ret_report, cordon_err *err)
    __attribute__((warn_unused_result));
void cordon_cli_probe_report_clear(cordon_cli_probe_report *report);
CORDON_DEFINE_AUTO(cordon_cli_probe_report, cordon_cli_probe_report_clear)

/* How many checks are not ok. */
size_t cordon_cli_probe_report_bad(const cordon_cli_probe_report *report);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a receipt means for the configuration: which limit killed the command or cut its output, and
 * how large that limit is.
 */
#ifndef CORDON_CLI_HINTS_H
#define CORDON_CLI_HINTS_H

#include "cordon/cordon.h"
#include "kit/error.h"

/* A line for each limit that the run has met, on standard error as "cordon VERB: ...". */
void cordon_cli_hints(const char *verb, const cordon_config *config, const cordon_receipt *receipt);

/* "2GiB", "1536MiB", "1000" (bytes): the largest unit that is exact, as the configuration has it.
 */
const char *cordon_cli_hints_size(int64_t bytes, char *ret_text, size_t size);

#endif

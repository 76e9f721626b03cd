/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to config*.c: the table of Cordon's own configuration and the rules over several keys.
 */
#ifndef CORDON_CONFIG_SCHEMA_H
#define CORDON_CONFIG_SCHEMA_H

#include "config.h"
#include "config_read.h"

/* Of a cordon_config. */
extern const cordon_schema cordon_config_schema;

/* Names, endpoints with their TLS files, approved argvs and the network's arithmetic. */
int cordon_config_finish(void *target, void *context, char fault[CORDON_FAULT_MAX], cordon_err *err)
    __attribute__((warn_unused_result));

#endif

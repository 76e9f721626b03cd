/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of engine_names.h share. */
#ifndef CORDON_ENGINE_NAMES_IMPL_H
#define CORDON_ENGINE_NAMES_IMPL_H

#include "engine_names.h"

/* Is what a file said fit to be used? file is filled; -1 with CONFIG or REFUSED names it. */
int cordon_named_engine_check(const cordon_trust *trust, const char *name,
                              const cordon_named_engine *engine, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Finds [engine.service_destinations.NAME] in the text of a containers.conf. TOML is read as far as
 * Podman 4 writes it: a table for each name, with one-line strings. What is written in another way
 * is either not found or CONFIG, never guessed.
 * @param engine     gets endpoint and identity
 * @param ret_found  whether the table is there
 */
int cordon_destinations_read(const char *text, size_t length, const char *name,
                             cordon_named_engine *engine, bool *ret_found, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

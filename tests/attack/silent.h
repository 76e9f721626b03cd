/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of creates that may be left out without anybody's noticing, because the engine does by
 * itself what was asked for; each with its reason.
 */
#ifndef CORDON_TESTS_ATTACK_SILENT_H
#define CORDON_TESTS_ATTACK_SILENT_H

#include "owner.h"

enum { DOCKER = 1, PODMAN = 2, ROOTLESS = 4, LIBPOD = PODMAN | ROOTLESS, ALL = 7 };

/* Which of them is under test. */
unsigned silent_engine(void);

/* The reason, or NULL where a drop must show. path: "$.HostConfig.CapAdd" */
const char *silent_why(cordon_role role, const char *path);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The one file that names the engines. Core sees only the array; see core/engine.h. */
#include "engine.h"

extern const cordon_engine_ops cordon_docker_ops;
extern const cordon_engine_ops cordon_podman_ops;

const cordon_engine_ops *const cordon_engine_registry[] = {
    &cordon_docker_ops,
    &cordon_podman_ops,
    NULL,
};

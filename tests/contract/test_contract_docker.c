/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite over a real Docker: CORDON_TEST_DOCKER, CORDON_TEST_DOCKER_IMAGE. */
#include "contract.h"

extern const cordon_engine_ops cordon_docker_ops;

int main(void)
{
    static const char *const silent[] = {NULL};
    static const char *const adds_env[] = {NULL};
    contract_engine engine = {.ops = &cordon_docker_ops, .silent = silent, .adds_env = adds_env};
    int status =
        contract_from_environment("CORDON_TEST_DOCKER", "CORDON_TEST_DOCKER_IMAGE", &engine);
    return status != 0 ? status : contract_run(&engine);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract suite over a real Podman: "rootful" uses CORDON_TEST_PODMAN and
 * CORDON_TEST_PODMAN_IMAGE, "rootless" CORDON_TEST_ROOTLESS and CORDON_TEST_ROOTLESS_IMAGE.
 */
#include "contract.h"

extern const cordon_engine_ops cordon_podman_ops;

/* What the inspect answer of Podman 4 has no word for; Podman 5 tells of ipc_mode and oom_killed.
 */
static const char *const silent[] = {"masked_paths", "readonly_paths", "sysctls",
                                     "ipc_mode",     "oom_killed",     NULL};
/* HOSTNAME always, HOME once it runs; both only where the specification does not name them. */
static const char *const adds_env[] = {"HOSTNAME=", "HOME=", NULL};

int main(int argc, char **argv)
{
    contract_engine engine = {.ops = &cordon_podman_ops, .silent = silent, .adds_env = adds_env};
    bool rootless = argc == 2 && strcmp(argv[1], "rootless") == 0;
    if (!rootless && (argc != 2 || strcmp(argv[1], "rootful") != 0)) {
        (void)fprintf(stderr, "usage: %s rootful|rootless\n", argv[0]);
        return 2;
    }
    int status = contract_from_environment(
        rootless ? "CORDON_TEST_ROOTLESS" : "CORDON_TEST_PODMAN",
        rootless ? "CORDON_TEST_ROOTLESS_IMAGE" : "CORDON_TEST_PODMAN_IMAGE", &engine);
    return status != 0 ? status : contract_run(&engine);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs, in the order in which help lists them, and the words that completion offers. */
#include <string.h>

#include "cli.h"

const char *const cordon_cli_engine_words[] = {"auto", "docker", "podman", NULL};
const char *const cordon_cli_vendor_words[] = {"claude", "codex", NULL};
const char *const cordon_cli_phase_words[] = {"planning", "questions", "review",
                                              "execute",  "fix",       NULL};

const cordon_cli_verb *const cordon_cli_verbs[] = {
    &cordon_cli_verb_run,
    &cordon_cli_verb_probe,
    &cordon_cli_verb_plan,
    &cordon_cli_verb_image,
    &cordon_cli_verb_doctor,
    &cordon_cli_verb_config,
    &cordon_cli_verb_egress,
    &cordon_cli_verb_gc,
    &cordon_cli_verb_explain,
    &cordon_cli_verb_version,
    NULL,
};

const cordon_cli_verb *cordon_cli_verb_find(const char *name)
{
    for (size_t i = 0; cordon_cli_verbs[i]; i++) {
        if (strcmp(cordon_cli_verbs[i]->name, name) == 0)
            return cordon_cli_verbs[i];
    }
    return NULL;
}

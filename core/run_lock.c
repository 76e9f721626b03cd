/* SPDX-License-Identifier: Apache-2.0 */
/* A run's image against the lock file of images; see run.h and image_lock.h. */
#include <stdio.h>
#include <string.h>

#include "adapter.h"
#include "config.h"
#include "run.h"

/* The name that the run's image is pinned under. */
static const char *lock_name(const cordon_run *run)
{
    if (run->command->kind == CORDON_COMMAND_RUNNER)
        return "runner";
    return run->invocation->policy->vendor->adapter == CORDON_ADAPTER_CLAUDE ? "claude" : "codex";
}

/* A lock that the configuration names counts even while it is not there. */
static bool is_locked(const cordon_run *run)
{
    const cordon_image_lock *lock = &run->invocation->config->lock;

    return run->command->kind != CORDON_COMMAND_PROBE && (lock->present || lock->required);
}

static const cordon_image_entry *lock_entry(const cordon_run *run)
{
    if (!is_locked(run))
        return NULL;
    return cordon_image_lock_find(&run->invocation->config->lock, lock_name(run), run->ops->name,
                                  run->invocation->engine->facts.architecture);
}

const char *cordon_run_locked_id(const cordon_run *run)
{
    const cordon_image_entry *entry = lock_entry(run);

    return entry != NULL ? entry->id : NULL;
}

static int refuse_unlocked(cordon_run *run, cordon_err *err)
{
    const cordon_image_lock *lock = &run->invocation->config->lock;
    const char *name = lock_name(run);
    char fact[48];
    char expected[256];

    (void)snprintf(fact, sizeof fact, "images.lock.%s", name);
    (void)snprintf(expected, sizeof expected, "a pin for %s on %s; cordon image pin %s=IMAGE",
                   run->ops->name, run->invocation->engine->facts.architecture, name);
    return cordon_refuse(&run->receipt->refusal, CORDON_REFUSED_IMAGE, fact, expected,
                         lock->present ? "none in the lock file" : "the lock file is not there",
                         err);
}

static int refuse_pin(cordon_run *run, const cordon_image_entry *entry, const char *actual,
                      cordon_err *err)
{
    char fact[48];

    (void)snprintf(fact, sizeof fact, "images.lock.%s", entry->name);
    (void)cordon_refuse(&run->receipt->refusal, CORDON_REFUSED_IMAGE, fact, entry->id, actual, err);
    cordon_err_wrap(err, "the lock pins another image (cordon image pin %s=IMAGE changes it)",
                    entry->name);
    return -1;
}

/* The version that the command was made for is the one that the lock tells of this image. */
static int check_version(cordon_run *run, const cordon_image_entry *entry, cordon_err *err)
{
    const cordon_agent *agent = run->command->agent;

    if (agent == NULL || agent->version == NULL || entry->version[0] == '\0' ||
        strcmp(agent->claimed, entry->version) == 0)
        return 0;
    return cordon_refuse(&run->receipt->refusal, CORDON_REFUSED_AGENT, "images.lock.version",
                         entry->version, agent->claimed, err);
}

int cordon_run_check_lock(cordon_run *run, cordon_err *err)
{
    const cordon_image_entry *entry = lock_entry(run);
    const char *pin = cordon_run_pin(run);

    if (!is_locked(run))
        return 0;
    if (entry == NULL)
        return refuse_unlocked(run, err);
    /* A digest means an id that only the engine knows: cordon_run_check_locked_id. */
    if (strchr(pin, '@') == NULL && strcmp(pin, entry->id) != 0)
        return refuse_pin(run, entry, pin, err);
    return check_version(run, entry, err);
}

int cordon_run_check_locked_id(cordon_run *run, cordon_err *err)
{
    const cordon_image_entry *entry = lock_entry(run);

    if (entry == NULL)
        return 0;
    if (strcmp(&entry->id[strlen("sha256:")], run->images.base_id) == 0)
        return 0;
    return refuse_pin(run, entry, run->images.base_id, err);
}

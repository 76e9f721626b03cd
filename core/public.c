/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the public API that belong to no object of a run: version and configuration. */
#include "cordon/cordon.h"

#include <stdlib.h>

#include "config.h"
#include "gate/blob.h"
#include "handle.h"
#include "kit/hash.h"
#include "refusal.h"
#include "worktree.h"

/* Where the system's file is unless the caller says otherwise; cordon.h names it, too. */
#define PUBLIC_SYSTEM_CONFIG "/etc/cordon/cordon.conf"

const char *cordon_version(void)
{
    return CORDON_VERSION;
}

void cordon_guard_digest(char ret_digest[CORDON_GUARD_DIGEST_SIZE])
{
    uint8_t digest[CORDON_SHA256_BYTES];

    cordon_sha256_digest(cordon_guard_bytes, cordon_guard_size, digest);
    cordon_hex_encode(digest, sizeof(digest), ret_digest);
}

static void config_destroy(cordon_config *config)
{
    if (config != NULL)
        cordon_config_clear(config);
    free(config);
}
CORDON_DEFINE_AUTO_PTR(cordon_config, config_destroy)

void cordon_config_free(cordon_config *config)
{
    if (cordon_handle_remove(CORDON_HANDLE_CONFIG, config))
        config_destroy(config);
}

int cordon_configure(const cordon_host *host, const char *file, const char *worktree,
                     cordon_config **ret_config, cordon_err *err)
{
    cordon_auto_ptr(cordon_config) config = calloc(1, sizeof(*config));
    cordon_auto(cordon_worktree) resolved = CORDON_WORKTREE_INIT;
    const cordon_config_sources sources = {
        .system_file = host->system_config != NULL ? host->system_config : PUBLIC_SYSTEM_CONFIG,
        .user_file = host->user_config,
        .explicit_file = file,
        .trust = {.uid = host->uid, .worktree = worktree},
    };

    if (config == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    /* What a worktree must not be is told before it is told that a configuration lies in it. */
    if (worktree != NULL && cordon_worktree_resolve(worktree, host->home, &resolved, err) != 0) {
        cordon_refuse_as(err, CORDON_REFUSED_WORKTREE);
        return -1;
    }
    if (cordon_config_load(&sources, config, err) != 0 ||
        cordon_config_load_lock(config, &sources.trust, sources.user_file, err) != 0) {
        cordon_refuse_as(err, CORDON_REFUSED_CONFIG);
        return -1;
    }
    config->uid = host->uid;
    config->worktree = CORDON_TAKE(resolved.path);
    if (cordon_handle_add(CORDON_HANDLE_CONFIG, config, err) != 0)
        return -1;
    *ret_config = CORDON_TAKE(config);
    return 0;
}

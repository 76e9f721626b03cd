/* SPDX-License-Identifier: Apache-2.0 */
/* Making an invocation; see invocation.h and cordon/cordon.h. */
#include "invocation.h"

#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "config.h"
#include "handle.h"
#include "kit/cleanup.h"
#include "worktree_label.h"

/* Who a step is when the caller is root and no worktree says otherwise. */
#define INVOCATION_NOBODY 65532
/* Groups below are the system's: Debian Policy, section 9.2.2. */
#define INVOCATION_FIRST_PERSON 1000

static void invocation_destroy(cordon_invocation *invocation)
{
    if (invocation == NULL)
        return;
    cordon_secrets_clear(&invocation->secrets);
    free(invocation->label);
    cordon_guard_clear(&invocation->guard);
    cordon_worktree_link_clear(&invocation->link);
    cordon_worktree_clear(&invocation->worktree);
    free(invocation->pin);
    free(invocation->state_dir);
    free(invocation);
}
CORDON_DEFINE_AUTO_PTR(cordon_invocation, invocation_destroy)

void cordon_invocation_free(cordon_invocation *invocation)
{
    if (cordon_handle_remove(CORDON_HANDLE_INVOCATION, invocation))
        invocation_destroy(invocation);
}

/* All sockets of engines that we know of: none may be reachable from a worktree. */
static int worktree_sockets(const cordon_invocation *invocation, cordon_fact_list *sockets,
                            cordon_err *err)
{
    static const char scheme[] = "unix://";
    const cordon_engine_configs *engines = &invocation->config->engines;
    const char *own = cordon_session_socket(invocation->engine);

    if (own != NULL && cordon_fact_list_add(sockets, own, err) != 0)
        return -1;
    for (size_t i = 0; i < engines->count; i++) {
        const char *endpoint = engines->items[i].endpoint;

        if (strncmp(endpoint, scheme, strlen(scheme)) == 0 &&
            cordon_fact_list_add(sockets, endpoint + strlen(scheme), err) != 0)
            return -1;
    }
    return 0;
}

static bool invocation_is_confined(const cordon_invocation *invocation)
{
    const cordon_fact_list *security = &invocation->engine->facts.security;

    for (size_t i = 0; i < security->count; i++) {
        if (strcmp(security->items[i], "selinux") == 0 ||
            strcmp(security->items[i], "name=selinux") == 0)
            return true;
    }
    return false;
}

/* Both folders must be usable for a confined container as they are labelled. */
static int invocation_labels(cordon_invocation *invocation, cordon_err *err)
{
    bool confined = invocation_is_confined(invocation);
    bool writable = invocation->policy->phase->writes;
    cordon_autofree char *common = NULL;

    if (cordon_worktree_check_label(&invocation->worktree, confined, writable, &invocation->label,
                                    err) != 0)
        return -1;
    return invocation->link.kind != CORDON_GIT_LINKED
               ? 0
               : cordon_worktree_check_label(&invocation->link.common, confined, writable, &common,
                                             err);
}

/* What comes with a worktree: its repository, and what a writing phase must leave as it is. */
static int invocation_git(cordon_invocation *invocation, const cordon_worktree_rules *rules,
                          cordon_err *err)
{
    const cordon_worktree_config *tree = &invocation->config->tree;

    if (cordon_worktree_link_open(&invocation->worktree, tree->mount, tree->git_data, rules,
                                  invocation->dl, &invocation->link, err) != 0 ||
        invocation_labels(invocation, err) != 0)
        return -1;
    return cordon_guard_plan(&invocation->worktree, &invocation->link, tree->mount,
                             &tree->protected, invocation->policy->phase->writes,
                             rules->max_entries, invocation->dl, &invocation->guard, err);
}

static int invocation_worktree(cordon_invocation *invocation, const cordon_host *host,
                               const char *path, cordon_err *err)
{
    cordon_auto(cordon_fact_list) sockets = {0};
    cordon_worktree_rules rules = {
        .home = host->home,
        .runtime_dir = host->runtime_dir,
        .max_entries = invocation->config->limits.worktree_entries,
    };

    if (path == NULL)
        return 0;
    if (cordon_session_socket(invocation->engine) == NULL)
        return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED,
                           "engine %s is not on a local socket, so it cannot see %s; run without "
                           "--worktree or use a local engine",
                           CORDON_QUOTE(invocation->engine->name), CORDON_QUOTE(path));
    if (worktree_sockets(invocation, &sockets, err) != 0)
        return -1;
    rules.sockets = (const char *const *)sockets.items;
    rules.socket_count = sockets.count;
    if (cordon_worktree_open(path, &rules, invocation->dl, &invocation->worktree, err) != 0)
        return -1;
    return invocation_git(invocation, &rules, err);
}

/* The folder behind the descriptor that was approved, whatever stands at its path by now. */
static int worktree_stat(const cordon_invocation *invocation, struct stat *ret_stat,
                         cordon_err *err)
{
    if (fstatat(invocation->worktree.fd, "", ret_stat, AT_EMPTY_PATH) == 0)
        return 0;
    return CORDON_FAIL_ERRNO(err, errno, "cannot look at %s",
                             CORDON_QUOTE(invocation->worktree.path));
}

/*
 * The user of a rootless engine, in whose name files appear on the host: the owner of its
 * socket when root asks, else the caller. Of an engine elsewhere root does not know it, and has no
 * files there either: nobody.
 */
static int invocation_rootless_user(cordon_invocation *invocation, const cordon_host *host,
                                    cordon_err *err)
{
    const char *socket = cordon_session_socket(invocation->engine);
    struct stat st;

    invocation->uid = host->uid;
    invocation->gid = host->gid;
    if (host->uid != 0)
        return 0;
    invocation->uid = INVOCATION_NOBODY;
    invocation->gid = INVOCATION_NOBODY;
    if (socket == NULL)
        return 0;
    if (stat(socket, &st) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "cannot look at %s", CORDON_QUOTE(socket));
    invocation->uid = st.st_uid;
    invocation->gid = st.st_gid;
    return 0;
}

/* Root is never passed on: the worktree's owner, or nobody. */
static int invocation_rootful_user(cordon_invocation *invocation, const cordon_host *host,
                                   cordon_err *err)
{
    struct stat st;

    invocation->uid = host->uid != 0 ? host->uid : INVOCATION_NOBODY;
    invocation->gid = host->uid != 0 ? host->gid : INVOCATION_NOBODY;
    if (host->uid != 0 || invocation->worktree.path == NULL)
        return 0;
    if (worktree_stat(invocation, &st, err) != 0)
        return -1;
    if (st.st_uid != 0) {
        invocation->uid = st.st_uid;
        invocation->gid = st.st_gid;
    }
    return 0;
}

/* Whoever writes must own what is written, on the host too: else the mix is refused up front. */
static int invocation_check_writer(const cordon_invocation *invocation, cordon_err *err)
{
    const cordon_engine *engine = invocation->engine;
    bool rootless = engine->facts.rootless == CORDON_FACT_YES;
    struct stat st;

    if (invocation->worktree.path == NULL || !invocation->policy->phase->writes)
        return 0;
    if (rootless && !invocation->keep_id)
        return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                           "a rootless engine without keep-id would give "
                           "the files written in %s to another user; use Podman, or a phase that "
                           "does not write",
                           CORDON_QUOTE(invocation->worktree.path));
    if (worktree_stat(invocation, &st, err) != 0)
        return -1;
    if (st.st_uid == invocation->uid)
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                       "%s belongs to uid %u, but the step would write as "
                       "uid %u; give the folder to that user (chown -R %u FOLDER), or use a phase "
                       "that does not write",
                       CORDON_QUOTE(invocation->worktree.path), st.st_uid, invocation->uid,
                       invocation->uid);
}

static int invocation_user(cordon_invocation *invocation, const cordon_host *host, cordon_err *err)
{
    const cordon_engine_facts *facts = &invocation->engine->facts;
    bool rootless = facts->rootless == CORDON_FACT_YES;

    invocation->keep_id = rootless && (facts->can & CORDON_CAN_KEEP_ID) != 0;
    if ((rootless ? invocation_rootless_user(invocation, host, err)
                  : invocation_rootful_user(invocation, host, err)) != 0)
        return -1;
    /* SECURITY: a folder's group must not open what the system keeps for root, docker or disk. */
    if (invocation->gid < INVOCATION_FIRST_PERSON)
        invocation->gid = INVOCATION_NOBODY;
    return invocation_check_writer(invocation, err);
}

static int invocation_pin(cordon_invocation *invocation, const char *option, cordon_err *err)
{
    if (option == NULL)
        return 0;
    if (cordon_config_check_pin(option, err) != 0) {
        cordon_err_wrap(err, "--image takes an id (64 hex digits) or name@sha256:<64 hex digits>");
        return -1;
    }
    return cordon_fact_text_set(&invocation->pin, option, err);
}

/* Only a writing phase changes anything, and a copy needs a place that no agent reaches. */
static int invocation_diff(cordon_invocation *invocation, const cordon_host *host, bool diff,
                           cordon_err *err)
{
    invocation->diff = diff;
    if (!diff)
        return 0;
    if (invocation->worktree.path == NULL)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "a diff shows what changed in a worktree; give one by --worktree");
    if (!invocation->policy->phase->writes)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "a diff shows what a writing phase changed, and %s writes nothing; use "
                           "execute or fix, or leave the diff out",
                           invocation->policy->phase->name);
    if (host->state_dir == NULL)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "a diff needs the state folder for a copy of the worktree, and there is "
                           "none; set HOME or XDG_STATE_HOME");
    return 0;
}

int cordon_invocation_new(cordon_engine *engine, const cordon_config *config,
                          const cordon_host *host, const cordon_policy *policy,
                          const cordon_invocation_options *options,
                          cordon_invocation **ret_invocation, cordon_err *err)
{
    cordon_auto_ptr(cordon_invocation) invocation = NULL;

    if (cordon_handle_check(CORDON_HANDLE_ENGINE, engine, err) != 0 ||
        cordon_handle_check(CORDON_HANDLE_CONFIG, config, err) != 0 ||
        cordon_handle_check(CORDON_HANDLE_POLICY, policy, err) != 0)
        return -1;
    if (policy->config != config)
        return CORDON_FAIL(err, CORDON_ERR_INVALID,
                           "the policy was made from another configuration");
    invocation = calloc(1, sizeof(*invocation));
    if (invocation == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    invocation->worktree = (cordon_worktree)CORDON_WORKTREE_INIT;
    invocation->link = (cordon_worktree_link)CORDON_WORKTREE_LINK_INIT;
    invocation->engine = engine;
    invocation->config = config;
    invocation->policy = policy;
    invocation->deadline_ms =
        options->deadline_ms > 0 ? options->deadline_ms : config->limits.deadline_ms;
    invocation->dl = cordon_deadline_in_ms(invocation->deadline_ms, -1);
    if (host->state_dir != NULL &&
        cordon_fact_text_set(&invocation->state_dir, host->state_dir, err) != 0)
        return -1;
    if (cordon_owner_init(&invocation->owner, host->uid, err) != 0 ||
        invocation_pin(invocation, options->image, err) != 0)
        return -1;
    if (invocation_worktree(invocation, host, options->worktree, err) != 0 ||
        invocation_user(invocation, host, err) != 0) {
        cordon_refuse_as(err, CORDON_REFUSED_WORKTREE);
        return -1;
    }
    if (invocation_diff(invocation, host, options->diff, err) != 0)
        return -1;
    if (cordon_handle_add(CORDON_HANDLE_INVOCATION, invocation, err) != 0)
        return -1;
    *ret_invocation = CORDON_TAKE(invocation);
    return 0;
}

/* A definition's variable and a secret of the same name: nobody could say which one counts. */
static int secret_check_vendor(const cordon_vendor *vendor, const char *name, cordon_err *err)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < vendor->env.count; i++) {
        if (strncmp(vendor->env.items[i], name, length) == 0 && vendor->env.items[i][length] == '=')
            return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                               "secret %s: the definition of vendor %s sets that variable; remove "
                               "one of them",
                               CORDON_QUOTE(name), vendor->name);
    }
    return 0;
}

int cordon_invocation_secret(cordon_invocation *invocation, const char *name, const char *value,
                             size_t length, cordon_err *err)
{
    if (cordon_handle_check(CORDON_HANDLE_INVOCATION, invocation, err) != 0)
        return -1;
    if (invocation->used)
        return CORDON_FAIL(err, CORDON_ERR_INVALID,
                           "this invocation has run already; make a new one");
    if (secret_check_vendor(invocation->policy->vendor, name, err) != 0)
        return -1;
    return cordon_secrets_add(&invocation->secrets, name, value, length, err);
}

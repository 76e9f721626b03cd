/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing what runs have left that ended without cleaning up: cordon_gc of cordon/gc.h. The
 * journal is the proof that something is ours, and that its run has ended.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "config.h"
#include "egress_file.h"
#include "gc_objects.h"
#include "handle.h"
#include "kit/cleanup.h"
#include "state_dir.h"
#include "text_list.h"
#include "worktree_guard.h"

/* A journal without a first line, this old, is of a run that was killed before it made anything. */
#define GC_EMPTY_S 600
/* Most journals that one collection reads. */
#define GC_JOURNALS_MAX 10000

typedef struct gc {
    const cordon_config *config;
    const cordon_host *host;
    const cordon_gc_options *options;
    cordon_deadline dl;
    int dir;
    cordon_gc_report *report;
    /* The engine of the last journal: many have the same. */
    cordon_engine *engine;
    char *engine_of;
} gc;

static void gc_engine_close(gc *g)
{
    if (g->engine != NULL && g->engine != g->options->engine)
        cordon_engine_free(g->engine);
    g->engine = NULL;
    free(g->engine_of);
    g->engine_of = NULL;
}

static void gc_clear(gc *g)
{
    gc_engine_close(g);
    cordon_cleanup_close(&g->dir);
}
CORDON_DEFINE_AUTO(gc, gc_clear)

static void gc_progress(const gc *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void gc_progress(const gc *g, const char *format, ...)
{
    char text[512];
    va_list arguments;

    if (g->options->progress == NULL)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    g->options->progress(g->options->progress_context, "gc", text);
}

/* --- Its engine --- */

/* A service of a run of its own is another one each time, with the same program behind it. */
static const char *engine_key(const cordon_journal_entry *entry)
{
    return entry->service != NULL ? entry->service : entry->engine;
}

static int gc_engine(gc *g, const cordon_journal_entry *entry, cordon_err *err)
{
    if (g->options->engine != NULL) {
        g->engine = g->options->engine;
        return 0;
    }
    if (g->engine != NULL && strcmp(g->engine_of, engine_key(entry)) == 0)
        return 0;
    gc_engine_close(g);
    g->engine_of = strdup(engine_key(entry));
    if (g->engine_of == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    return cordon_session_reopen(g->config, g->host, entry->kind, entry->engine, entry->service,
                                 g->dl, &g->engine, err);
}

/* With an engine given, others' entries are left for another time. */
static bool gc_is_wanted(const gc *g, const cordon_journal_entry *entry)
{
    const cordon_engine *engine = g->options->engine;

    return engine == NULL ||
           (entry->kind != NULL && strcmp(engine->ops->name, entry->kind) == 0 &&
            entry->service == NULL && strcmp(engine->endpoint, entry->engine) == 0);
}

/* --- What it left on this host --- */

/* Placeholders that it made in its worktree (worktree_guard.h): made whole, then taken away. */
static int gc_placeholders(gc *g, const cordon_journal_entry *entry, cordon_err *err)
{
    const cordon_worktree_config *tree = &g->config->tree;
    const cordon_worktree_rules rules = {
        .home = g->host->home,
        .runtime_dir = g->host->runtime_dir,
        .max_entries = g->config->limits.worktree_entries,
    };
    cordon_auto(cordon_worktree) worktree = CORDON_WORKTREE_INIT;
    cordon_auto(cordon_worktree_link) link = CORDON_WORKTREE_LINK_INIT;
    cordon_auto(cordon_guard) guard = {0};

    if (cordon_worktree_open(entry->worktree, &rules, g->dl, &worktree, err) != 0 ||
        cordon_worktree_link_open(&worktree, tree->mount, tree->git_data, &rules, g->dl, &link,
                                  err) != 0 ||
        cordon_guard_plan(&worktree, &link, tree->mount, &tree->protected, true, rules.max_entries,
                          g->dl, &guard, err) != 0 ||
        cordon_guard_make(&guard, err) != 0)
        return -1;
    cordon_guard_unmake(&guard);
    return 0;
}

static int gc_worktree(gc *g, const cordon_journal_entry *entry, cordon_gc_entry *report,
                       cordon_err *err)
{
    cordon_gc_thing *thing = NULL;
    cordon_err failure = CORDON_ERR_INIT;
    struct stat st;

    if (entry->worktree == NULL || (lstat(entry->worktree, &st) != 0 && errno == ENOENT))
        return 0;
    if (cordon_gc_entry_note(report, "worktree", "worktree", entry->worktree, CORDON_GC_FOUND,
                             &thing, err) != 0)
        return -1;
    if (g->options->mode != CORDON_GC_REMOVE)
        return 0;
    if (gc_placeholders(g, entry, &failure) == 0) {
        thing->state = CORDON_GC_REMOVED;
        return 0;
    }
    thing->state = CORDON_GC_LEFT;
    (void)snprintf(thing->why, sizeof(thing->why), "%.250s", failure.message);
    return 0;
}

/* --- One journal --- */

static int gc_list(const cordon_journal_entry *entry, cordon_gc_entry *report, cordon_err *err)
{
    for (int role = 0; role < CORDON_ROLE_COUNT; role++) {
        const cordon_journal_object *object = &entry->objects[role];
        cordon_gc_thing *thing = NULL;

        if (!object->asked || object->gone)
            continue;
        if (cordon_gc_entry_note(report, cordon_role_type_name((cordon_role)role),
                                 cordon_role_name((cordon_role)role), object->id, CORDON_GC_NOTED,
                                 &thing, err) != 0)
            return -1;
    }
    return 0;
}

/* NOMEM alone fails the whole; anything else is why this run's things are left. */
static int gc_dead(gc *g, const cordon_journal_entry *entry, cordon_gc_entry *report,
                   cordon_err *err)
{
    bool remove = g->options->mode == CORDON_GC_REMOVE;
    cordon_err failure = CORDON_ERR_INIT;

    cordon_gc_entry_say(report, CORDON_GC_DEAD, entry->why);
    if (g->options->mode == CORDON_GC_LIST)
        return gc_list(entry, report, err);
    gc_progress(g, "%s what run %.8s left on %s", remove ? "removing" : "looking for",
                entry->owner.invocation, entry->engine);
    if (gc_engine(g, entry, &failure) != 0 ||
        cordon_gc_objects(g->engine, entry, remove, g->dl, report, &failure) != 0) {
        gc_engine_close(g);
        cordon_gc_entry_say(report, CORDON_GC_DEAD, failure.message);
        return 0;
    }
    if (gc_worktree(g, entry, report, err) != 0)
        return -1;
    if (!remove || cordon_gc_entry_is_open(report))
        return 0;
    if (entry->service != NULL)
        cordon_service_forget(entry->engine);
    cordon_egress_file_forget(g->dir, entry->owner.invocation);
    if (unlinkat(g->dir, entry->name, 0) == 0 || errno == ENOENT)
        cordon_gc_entry_say(report, CORDON_GC_CLEARED, entry->why);
    else
        cordon_gc_entry_say(report, CORDON_GC_DEAD, "its journal cannot be removed");
    return 0;
}

/* Killed before its first line: nothing was made. A younger one may be about to be written. */
static void gc_unbegun(const gc *g, const cordon_journal_entry *entry)
{
    if (g->options->mode == CORDON_GC_REMOVE && entry->fate != CORDON_PROCESS_ALIVE &&
        time(NULL) - entry->changed > GC_EMPTY_S)
        (void)unlinkat(g->dir, entry->name, 0);
}

static int gc_describe(const cordon_journal_entry *entry, cordon_gc_entry *report, cordon_err *err)
{
    report->pid = entry->mark.pid;
    report->engine = strdup(entry->engine);
    report->kind = strdup(entry->kind);
    return report->engine != NULL && report->kind != NULL
               ? 0
               : CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
}

static int gc_judge(gc *g, const cordon_journal_entry *entry, cordon_err *err)
{
    cordon_gc_entry *report = NULL;

    if (!entry->begun) {
        gc_unbegun(g, entry);
        return 0;
    }
    if (!gc_is_wanted(g, entry))
        return 0;
    if (cordon_gc_report_add(g->report, entry->owner.invocation, &report, err) != 0 ||
        gc_describe(entry, report, err) != 0)
        return -1;
    if (entry->fate == CORDON_PROCESS_DEAD)
        return gc_dead(g, entry, report, err);
    cordon_gc_entry_say(report,
                        entry->fate == CORDON_PROCESS_ALIVE ? CORDON_GC_ALIVE : CORDON_GC_UNKNOWN,
                        entry->why);
    return g->options->mode == CORDON_GC_LIST ? gc_list(entry, report, err) : 0;
}

static int gc_journal(gc *g, const char *name, cordon_err *err)
{
    cordon_auto(cordon_journal_entry) entry = {.fd = -1};
    cordon_err failure = CORDON_ERR_INIT;
    cordon_gc_entry *report = NULL;

    if (cordon_journal_read(g->dir, name, &entry, &failure) == 0)
        return gc_judge(g, &entry, err);
    if (failure.code == CORDON_ERR_NOTFOUND)
        return 0;
    if (failure.code == CORDON_ERR_NOMEM) {
        *err = failure;
        return -1;
    }
    if (cordon_gc_report_add(g->report, name, &report, err) != 0)
        return -1;
    cordon_gc_entry_say(report, CORDON_GC_UNREADABLE, failure.message);
    return 0;
}

/* --- All of them --- */

/* Names first: a collection takes files away while it goes on. */
static int gc_names(const gc *g, cordon_text_list *names, cordon_err *err)
{
    int copy = fcntl(g->dir, F_DUPFD_CLOEXEC, 0);
    DIR *folder = copy >= 0 ? fdopendir(copy) : NULL;
    int result = 0;

    if (folder == NULL) {
        int why = errno;

        if (copy >= 0)
            (void)close(copy);
        return CORDON_FAIL_ERRNO(err, why, "cannot read the state folder");
    }
    for (struct dirent *item = readdir(folder); item != NULL && result == 0;
         item = readdir(folder)) {
        if (cordon_journal_is_name(item->d_name) && names->count < GC_JOURNALS_MAX)
            result = cordon_text_list_add(names, item->d_name, err);
    }
    (void)closedir(folder);
    cordon_text_list_sort(names);
    return result;
}

static int gc_all(gc *g, cordon_err *err)
{
    cordon_auto(cordon_text_list) names = {0};

    g->dir = cordon_state_open(g->host->state_dir, err);
    if (g->dir < 0)
        return -1;
    if (gc_names(g, &names, err) != 0)
        return -1;
    for (size_t i = 0; i < names.count; i++) {
        if (gc_journal(g, names.items[i], err) != 0)
            return -1;
    }
    return 0;
}

static int gc_check(const cordon_config *config, const cordon_host *host,
                    const cordon_gc_options *options, cordon_err *err)
{
    if (cordon_handle_check(CORDON_HANDLE_CONFIG, config, err) != 0)
        return -1;
    if (options->engine != NULL &&
        cordon_handle_check(CORDON_HANDLE_ENGINE, options->engine, err) != 0)
        return -1;
    if (options->mode < CORDON_GC_LIST || options->mode > CORDON_GC_REMOVE)
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "there is no such mode of a collection");
    if (host->state_dir == NULL)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "there is no state folder, so no journal of any run; set HOME or "
                           "XDG_STATE_HOME");
    return 0;
}

int cordon_gc(const cordon_config *config, const cordon_host *host,
              const cordon_gc_options *options, cordon_gc_report **ret_report, cordon_err *err)
{
    cordon_auto_ptr(cordon_gc_report) report = NULL;
    cordon_auto(gc) g = {.config = config, .host = host, .options = options, .dir = -1};
    bool wanted;

    if (gc_check(config, host, options, err) != 0 ||
        cordon_gc_report_new(options->mode, &report, err) != 0)
        return -1;
    g.dl = cordon_deadline_in_ms(options->budget_ms, options->cancel_fd);
    g.report = report;
    wanted = !options->automatic || config->sweep;
    if ((wanted && gc_all(&g, err) != 0) ||
        cordon_handle_add(CORDON_HANDLE_GC_REPORT, report, err) != 0)
        return -1;
    *ret_report = CORDON_TAKE(report);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases TO5, TO6, EA2, EA6 and issue "changes at every point": what another client of the socket
 * does to a run, at five points of it - before a container's own start, before the step's start
 * with the proxy serving, before the final look, between that and the release's arrival, and while
 * the command runs. One table for all engines: the same attack has the same refusal code, and what
 * an engine cannot show stands in it with the reason. Nothing is left but what the attacker made,
 * and that is left alone.
 */
#include "changes.h"

#include <stdlib.h>
#include <unistd.h>

/* How long a daemon has to tell of a change before the run goes on; Podman polls a file for it. */
#define TELL_US 400000
/* The command outlives every attack, and those that are made side by side with it. */
#define COMMAND_S    "40"
#define HARMLESS_S   "5"
#define SIDE_BY_SIDE 4

typedef enum point { UNSTARTED, CREATED, LOOK, RELEASE, RUNNING, POINTS } point;

static const char *const point_names[] = {"before its own start", "before the start",
                                          "before the final look", "before the release arrives",
                                          "while it runs"};

/* With OLD or NEW: Podman 4 alone, or later ones alone. */
enum {
    DOCKER = 1,
    PODMAN = 2,
    ROOTLESS = 4,
    LIBPOD = PODMAN | ROOTLESS,
    ALL = 7,
    OLD = 8,
    NEW = 16,
    LONG = 32, /* where the test may take long */
};

#ifdef ATTACK_LONG
#define IS_LONG true
#else
#define IS_LONG false
#endif

/*
 * code     of the refusal, without its prefix; NULL: the change has no effect, so the run ends well
 * at       points, as bits
 * engines  for which this row is
 * why      for a row that is not for all engines, or has no code
 */
typedef struct row {
    change_fn *change;
    cordon_role target;
    unsigned at;
    unsigned engines;
    const char *code;
    const char *why;
} row;

#define STEP            CORDON_ROLE_STEP
#define PROXY           CORDON_ROLE_PROXY
#define VENDOR          CORDON_ROLE_VENDOR_NETWORK
#define KEEPER          CORDON_ROLE_KEEPER
#define VOLUME          CORDON_ROLE_SCRATCH
#define EARLY           (1U << CREATED)
#define STARTED         (1U << LOOK | 1U << RUNNING)
#define ALWAYS          (EARLY | STARTED)
#define RELEASE_TOO     (1U << RELEASE)
#define NO_TELLING      "Podman 4 tells nobody of changed limits: no event, no other inspection"
#define NO_NETWORK      "libpod's events name no network: who is there is looked at instead"
#define NO_REMOVAL      "Podman 4 has no event for it, but the id is gone"
#define NO_UPLOAD       "Docker keeps the root read-only for uploads, too; libpod from the start on"
#define NO_NETWORK_MODE "an engine adds no network to a container that has none"
#define SCRATCH         "what is in the scratch is the command's own"

static const row rows[] = {
    {change_memory, STEP, ALWAYS | RELEASE_TOO, DOCKER, "CHANGED", NULL},
    {change_memory, STEP, EARLY, PODMAN | OLD, "KERNEL", "the gate sees its cgroup's limit"},
    {change_memory, STEP, STARTED, PODMAN | OLD, NULL, NO_TELLING},
    {change_memory, STEP, ALWAYS, PODMAN | NEW, "CHANGED", "Podman 5 has an event for it"},
    {change_memory, PROXY, 1U << RUNNING, DOCKER, "CHANGED", NULL},
    {change_restart_policy, STEP, ALWAYS, DOCKER, "CHANGED", NULL},
    {change_restart_policy, STEP, EARLY, PODMAN, NULL, "Podman 4 ignores it"},
    {connect_to_foreign, STEP, ALWAYS | RELEASE_TOO, ALL, "CHANGED", NULL},
    {connect_to_foreign, PROXY, ALWAYS, ALL, "CHANGED", NULL},
    {connect_foreigner, VENDOR, ALWAYS | RELEASE_TOO, DOCKER, "CHANGED", NULL},
    {connect_foreigner, VENDOR, EARLY | 1U << LOOK, LIBPOD, "FOREIGN", NO_NETWORK},
    {connect_foreigner, VENDOR, 1U << RUNNING | RELEASE_TOO, LIBPOD, "CHANGED", NULL},
    {disconnect, STEP, 1U << LOOK, DOCKER, "FOREIGN", "Docker's event may be the step's end"},
    {disconnect, STEP, 1U << RUNNING | RELEASE_TOO, DOCKER, "CHANGED", NULL},
    {disconnect, STEP, STARTED, LIBPOD, "CHANGED", NULL},
    {disconnect, PROXY, STARTED, ALL, "CHANGED", NULL},
    {rename_it, STEP, ALWAYS, ALL, "CHANGED", NULL},
    {rename_it, PROXY, 1U << RUNNING, ALL, "CHANGED", NULL},
    {replace_it, STEP, EARLY, ALL, "FOREIGN", "our start finds nothing"},
    {replace_it, STEP, STARTED, ALL, "CHANGED", NULL},
    {replace_it, PROXY, 1U << RUNNING, ALL, "CHANGED", NULL},
    {replace_network, VENDOR, STARTED, DOCKER, "CHANGED", NULL},
    {replace_network, VENDOR, EARLY | 1U << LOOK, LIBPOD | OLD, "FOREIGN", NO_REMOVAL},
    {replace_network, VENDOR, EARLY | 1U << LOOK, LIBPOD | NEW, "CHANGED", "Podman 5 has one"},
    {replace_network, VENDOR, 1U << RUNNING | RELEASE_TOO, LIBPOD, "CHANGED", NO_REMOVAL},
    {execute, STEP, STARTED | RELEASE_TOO, ALL, "CHANGED", NULL},
    {execute, PROXY, EARLY | 1U << RUNNING, ALL, "CHANGED", NULL},
    {retag, STEP, EARLY | RELEASE_TOO, ALL, NULL, "TO5: everything goes by id"},
    {pause_it, STEP, STARTED, ALL, "CHANGED", NULL},
    {pause_it, PROXY, 1U << RUNNING, ALL, "CHANGED", NULL},
    {start_it, STEP, EARLY, ALL, "CHANGED", NULL},
    {kill_it, STEP, STARTED | RELEASE_TOO, ALL, "CHANGED", NULL},
    {kill_it, PROXY, 1U << RUNNING, ALL, "CHANGED", NULL},
    {stop_it, STEP, 1U << LOOK, DOCKER, "CHANGED", NULL},
    {stop_it, STEP, 1U << LOOK, LIBPOD, "MISMATCH", "libpod tells of a stop as of an end"},
    {stop_it, STEP, 1U << RUNNING, ALL, "CHANGED", NULL},
    {term_it, STEP, 1U << RUNNING, ALL, "CHANGED", "the gate's exit note tells of the signal"},
    {attach_again, STEP, STARTED, ALL, "CHANGED", NULL},
    {attach_again, STEP, RELEASE_TOO, DOCKER, "CHANGED", "libpod ends the gate's input with it"},
    {attach_again, PROXY, EARLY | 1U << RUNNING, ALL, "CHANGED", NULL},
    {commit_it, STEP, EARLY | 1U << RUNNING, ALL, "CHANGED", NULL},
    {upload, STEP, 1U << UNSTARTED | EARLY, LIBPOD, "CHANGED", "the list of changes shows it"},
    {upload, PROXY, 1U << UNSTARTED, LIBPOD, "CHANGED", "the same"},
    {upload, PROXY, 1U << RUNNING, LIBPOD, NULL, NO_UPLOAD},
    {upload, STEP, STARTED | RELEASE_TOO, LIBPOD, NULL, NO_UPLOAD},
    {upload, STEP, ALWAYS | RELEASE_TOO, DOCKER, NULL, NO_UPLOAD},
    {upload, PROXY, 1U << UNSTARTED | 1U << RUNNING, DOCKER, NULL, NO_UPLOAD},
    /* In a run of two steps, at those points of the second one; see has_two_steps. */
    {start_it, KEEPER, 1U << UNSTARTED, ALL, "CHANGED", NULL},
    {replace_scratch, VOLUME, 1U << UNSTARTED, ALL, "CHANGED", "its end is told on every engine"},
    {upload, KEEPER, 1U << UNSTARTED, LIBPOD | LONG, "CHANGED", "the list of changes shows it"},
    {kill_it, KEEPER, EARLY, ALL, "CHANGED", NULL},
    {kill_it, KEEPER, STARTED | RELEASE_TOO, ALL | LONG, "CHANGED", NULL},
    {replace_it, KEEPER, EARLY | STARTED, ALL | LONG, "CHANGED", NULL},
    {execute, KEEPER, 1U << RUNNING, ALL, "CHANGED", NULL},
    {execute, KEEPER, EARLY | 1U << LOOK | RELEASE_TOO, ALL | LONG, "CHANGED", NULL},
    {change_memory, KEEPER, ALWAYS, DOCKER | LONG, "CHANGED", NULL},
    {change_memory, KEEPER, ALWAYS, PODMAN | NEW | LONG, "CHANGED", NULL},
    {rename_it, KEEPER, ALWAYS, ALL | LONG, "CHANGED", NULL},
    {pause_it, KEEPER, ALWAYS, ALL | LONG, "CHANGED", NULL},
    {attach_again, KEEPER, ALWAYS, ALL | LONG, "CHANGED", NULL},
    {commit_it, KEEPER, EARLY | 1U << RUNNING, ALL | LONG, "CHANGED", NULL},
    {connect_to_foreign, KEEPER, 1U << RUNNING, ALL, NULL, NO_NETWORK_MODE},
    {upload_scratch, KEEPER, 1U << RUNNING, LIBPOD | LONG, NULL, SCRATCH},
    {remove_scratch, VOLUME, 1U << RUNNING, ALL, NULL, "a volume that is in use stays"},
    {join_scratch, VOLUME, EARLY | 1U << LOOK, DOCKER, "CHANGED", NULL},
    {join_scratch, VOLUME, EARLY | 1U << LOOK, LIBPOD, "FOREIGN", "no event tells who mounts it"},
    {join_scratch, VOLUME, 1U << RUNNING, ALL, "CHANGED", NULL},
    {upload_scratch, STEP, EARLY, LIBPOD, "CHANGED", "it lies below the mount, and shows"},
    {upload_scratch, STEP, 1U << RUNNING, LIBPOD, NULL, SCRATCH},
};
#define ROWS (sizeof rows / sizeof rows[0])

/* --- One attack ------------------------------------------------------------------------------- */

typedef struct attack {
    const row *row;
    point at;
    stage stage;
    play play;
    play_steps steps;
    pthread_mutex_t lock;
    bool done;
    bool asked;
    bool proxy_speaks;
} attack;

/* Once, by whoever comes first; the others wait for it. */
static void go(attack *a)
{
    (void)pthread_mutex_lock(&a->lock);
    if (!a->done) {
        a->done = true;
        a->asked = a->row->change(&a->stage);
        (void)usleep(TELL_US);
    }
    (void)pthread_mutex_unlock(&a->lock);
}

/* The run has two steps and no network, and no proxy: keeper, `true`, and the step that counts. */
static bool has_two_steps(const attack *a)
{
    return a->row->target == KEEPER || a->row->target == VOLUME;
}

/* Of the step that counts. */
static bool is_its(const attack *a, const play_request *r, play_call which)
{
    return r->call == which && r->role == STEP && (!has_two_steps(a) || r->nth == 2);
}

/* What has no start of its own is at stake before its first user is made. */
static bool is_unstarted(const attack *a, const play_request *r)
{
    if (a->row->target == VOLUME)
        return r->call == PLAY_CREATE && r->role == KEEPER;
    return r->call == PLAY_START && r->role == a->row->target;
}

static void await_proxy(attack *a)
{
    for (int i = 0; i < 1000; i++) {
        (void)pthread_mutex_lock(&a->lock);
        bool speaks = a->proxy_speaks;
        (void)pthread_mutex_unlock(&a->lock);
        if (speaks)
            return;
        (void)usleep(10000);
    }
}

static liar_word on_ask(play *p, const play_request *r, liar_exchange *x)
{
    attack *a = p->hooks.context;
    (void)x;
    if (a->at == UNSTARTED && is_unstarted(a, r))
        go(a);
    if (a->at == CREATED && is_its(a, r, PLAY_START)) {
        if (!has_two_steps(a))
            await_proxy(a);
        go(a);
    }
    /* The final look is the first to be asked once both have started. */
    if (a->at == LOOK && p->starts == (has_two_steps(a) ? 3 : 2) && r->call == PLAY_INSPECT)
        go(a);
    /* The stranger leaves when the containers go, so that this run's leftovers are its own. */
    if (r->call == PLAY_REMOVE)
        stage_leave(&a->stage);
    return LIAR_PASS;
}

static liar_word on_piece(play *p, const play_request *r, bool to_engine, char *bytes,
                          size_t length)
{
    attack *a = p->hooks.context;
    (void)bytes;
    (void)length;
    if (!to_engine && r->call == PLAY_ATTACH && r->role == CORDON_ROLE_PROXY) {
        (void)pthread_mutex_lock(&a->lock);
        a->proxy_speaks = true;
        (void)pthread_mutex_unlock(&a->lock);
    }
    if (a->at == RELEASE && to_engine && is_its(a, r, PLAY_ATTACH))
        go(a);
    return LIAR_PASS;
}

static bool begin(attack *a)
{
    const play_hooks hooks = {.context = a, .ask = on_ask, .piece = on_piece};
    const char *seconds = a->row->code ? COMMAND_S : HARMLESS_S;
    char script[64];
    (void)snprintf(script, sizeof script, "echo ready; sleep %s", seconds);
    a->stage = (stage){.p = &a->play, .target = a->row->target};
    (void)pthread_mutex_init(&a->lock, NULL);
    call what = {.argv = SHELL(script)};
    if (has_two_steps(a) && !play_two_steps(&a->steps, script, "2m", &what))
        return false;
    return play_begin(&a->play, what, &hooks);
}

static const char *shown(const char *text)
{
    return text ? text : "nothing";
}

/*
 * libpod tells of an event when it has polled its log. On a machine that is busy, a look before the
 * release may come first; then the change is refused by what it changed: a fact (MISMATCH), or a
 * name, an id or a member that is no longer the run's (FOREIGN).
 */
static bool is_seen_before_told(const attack *a, const outcome *o)
{
    const char *code = receipt_text(o, "result.refusal.code");
    return !real_is_docker() && a->at < RELEASE && test_same(a->row->code, "CHANGED") &&
           o->process.status == 126 && test_same(receipt_text(o, "result.kind"), "refused") &&
           (test_same(code, "CORDON_REFUSED_MISMATCH") ||
            test_same(code, "CORDON_REFUSED_FOREIGN"));
}

/*
 * Podman 4 cuts its event log when it has grown, and ends the streams that follow it; now and then
 * it cannot set a container up while others are removed; and it loses an event when many runs come
 * and go. The first two end a run before its release, whatever is done to it; the third shows in
 * that the engine, asked for its own record, has no such event. And on a busy machine any engine's
 * runtime may fail to start a container ("cannot start a stopped process"), before there was an
 * attack. Then the attack is made once more.
 */
static bool is_engines_own_failure(const attack *a, const outcome *o)
{
    const char *message = receipt_text(o, "result.message");
    if (!a->asked && test_same(receipt_text(o, "result.kind"), "not_started"))
        return true;
    if (real_is_docker())
        return false;
    if (message &&
        (strstr(message, "ended its event stream") || strstr(message, "preparing container") ||
         strstr(message, "container's attach socket")))
        return true;
    if (is_seen_before_told(a, o))
        return true;
    return a->row->code && test_same(receipt_text(o, "result.kind"), "exited") &&
           stage_event_is_lost(&a->stage, a->row->change);
}

/* last: it was made twice. */
static void judge(const attack *a, const outcome *o, bool last)
{
    const char *code = receipt_text(o, "result.refusal.code");
    const char *fact = receipt_text(o, "result.refusal.fact");
    const char *kind = receipt_text(o, "result.kind");
    char want[64];
    (void)snprintf(want, sizeof want, "CORDON_REFUSED_%s", a->row->code ? a->row->code : "");
    bool good = a->row->code
                    ? o->process.status == 126 && test_same(code, want) && fact && fact[0] &&
                          (test_same(kind, "refused") || test_same(kind, "tampered"))
                    : o->process.status == 0 && test_same(kind, "exited");
    good = good || (last && is_seen_before_told(a, o));
    TEST_RECORDF(a->asked && good, "%s of %s %s: %d %s %s %s (%s), want %s; %s",
                 stage_name(a->row->change), cordon_role_name(a->row->target), point_names[a->at],
                 o->process.status, shown(kind), shown(code), shown(fact),
                 shown(receipt_text(o, "result.message")), a->row->code ? want : "a good end",
                 a->asked ? "" : "the attack was not made");
    if (a->at == RELEASE || a->at == RUNNING)
        TEST_RECORDF(!a->row->code || test_same(kind, "tampered"), "after the release: %s",
                     shown(kind));
}

/* The others come by themselves when the run is where they are made. */
static void strike(attack *a)
{
    if (a->at == RUNNING && child_hear(&a->play.process.process, "ready", REAL_PATIENCE_MS))
        go(a);
}

/* False when it is to be made again. */
static bool finish(attack *a, bool last)
{
    cordon_auto(outcome) o = {0};
    bool done = true;
    if (play_end(&a->play, &o)) {
        done = last || !is_engines_own_failure(a, &o);
        if (done)
            judge(a, &o, last);
    }
    stage_clear(&a->stage);
    (void)pthread_mutex_destroy(&a->lock);
    return done;
}

/* --- All of them ------------------------------------------------------------------------------ */

static unsigned engine_bit(void)
{
    return real_is_docker() ? DOCKER : strcmp(real.word, "podman") == 0 ? PODMAN : ROOTLESS;
}

static bool is_version_4(void)
{
    return real_is_docker() || strncmp(real.facts.version, "4.", 2) == 0;
}

static bool applies(const row *r, point at)
{
    /* What Podman 4 cannot show is not said of Podman 5. */
    bool known = r->code || is_version_4();
    if (((r->engines & LONG) != 0 && !IS_LONG) || !stage_asked_for(r->target))
        return false;
    if ((r->engines & (is_version_4() ? NEW : OLD)) != 0)
        return false;
    return (r->engines & engine_bit()) != 0 && (r->at & 1U << at) != 0 && known;
}

/* Journals of runs whose place was taken stay, and say so; the engine holds nothing more. */
static void check_engine_is_as_before(void)
{
    cordon_auto(cordon_fact_list) now = {0};
    if (!real_objects(&now))
        return;
    for (size_t i = 0; i < now.count; i++) {
        bool known = false;
        for (size_t j = 0; j < real.baseline.count; j++)
            known = known || strcmp(now.items[i], real.baseline.items[j]) == 0;
        TEST_RECORDF(known, "left behind: %s", now.items[i]);
    }
}

static void finish_all(attack *attacks, size_t count)
{
    bool again[SIDE_BY_SIDE] = {false};
    /* All of them before any run is heard to its end: the last one's command must still be there.
     */
    for (size_t i = 0; i < count; i++)
        strike(&attacks[i]);
    for (size_t i = 0; i < count; i++)
        again[i] = !finish(&attacks[i], false);
    for (size_t i = 0; i < count; i++) {
        attacks[i] = (attack){.row = attacks[i].row, .at = attacks[i].at};
        if (!again[i] || !begin(&attacks[i]))
            continue;
        strike(&attacks[i]);
        (void)finish(&attacks[i], true);
    }
}

static void attack_at(point at)
{
    static attack attacks[SIDE_BY_SIDE];
    size_t count = 0;
    for (size_t i = 0; i <= ROWS; i++) {
        if (count == SIDE_BY_SIDE || i == ROWS) {
            finish_all(attacks, count);
            count = 0;
        }
        if (i == ROWS || !applies(&rows[i], at))
            continue;
        attacks[count] = (attack){.row = &rows[i], .at = at};
        if (begin(&attacks[count]))
            count++;
    }
    check_engine_is_as_before();
}

static void changes_before_its_own_start_refuse(void)
{
    attack_at(UNSTARTED);
}

static void changes_before_the_start_refuse(void)
{
    attack_at(CREATED);
}

static void changes_before_the_final_look_refuse(void)
{
    attack_at(LOOK);
}

static void changes_before_the_release_arrives_are_tampering(void)
{
    attack_at(RELEASE);
}

static void changes_while_it_runs_are_tampering(void)
{
    attack_at(RUNNING);
}

REAL_MAIN("attack_changes", TEST(changes_before_its_own_start_refuse),
          TEST(changes_before_the_start_refuse), TEST(changes_before_the_final_look_refuse),
          TEST(changes_before_the_release_arrives_are_tampering),
          TEST(changes_while_it_runs_are_tampering))

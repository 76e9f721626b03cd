/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the release to the end of the command, see run.h: one poll loop over the step's and the
 * proxy's streams, the engine's events, the caller's descriptors and the deadline.
 */
#include "run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "config.h"
#include "kit/httpc.h"

#define STREAM_READ_SIZE 16384
/* Pieces of the step's output that one turn of the loop takes at most. */
#define STREAM_TURN_PIECES 16
/* Longest time for one signal to be delivered, and for the end that must follow a KILL. */
#define STREAM_SIGNAL_MS 10000
#define STREAM_KILL_MS   10000
/* Longest time for a look at a network. */
#define STREAM_LOOK_MS 10000
/* How often it is looked whether the end of a step that left its network has come. */
#define STREAM_LEFT_MS 250
/* How often it is looked, while the command is being asked to end, whether somebody is in a hurry.
 */
#define STREAM_HURRY_MS 50
/* The gate's last words and the end of both streams come by different ways; wait for the latter. */
#define STREAM_DRAIN_MS 5000

/* --- Ending --- */

/* How a command is being ended by us. */
typedef enum stream_stage {
    STREAM_RUNNING = 0,
    STREAM_ASKED,  /* TERM sent; grace runs */
    STREAM_KILLED, /* KILL sent */
} stream_stage;

typedef struct stream_loop {
    cordon_run *run;
    stream_stage stage;
    cordon_deadline until; /* the run's deadline, then the end of the stage */
    cordon_err why;        /* what ended the command; CORDON_OK while nothing did */
    int heard;             /* bytes on the cancel descriptor when the grace began */
    bool draining;         /* the gate has told the end, the engine owes the rest */
    bool taken;            /* the gate knows that we heard the end */
} stream_loop;

static void stream_signal(stream_loop *loop, const char *name)
{
    cordon_run *run = loop->run;
    cordon_err ignored = CORDON_ERR_INIT;

    run->watch.signalled = true;
    /* Whether it arrived shows in the stream; a process that has just ended is no error. */
    (void)run->ops->container_signal(run->impl, run->made[CORDON_ROLE_STEP].id, name,
                                     cordon_deadline_in_ms(STREAM_SIGNAL_MS, -1), &ignored);
}

/* Bytes that wait on the caller's cancel descriptor; 0 where nobody can tell (an eventfd). */
static int stream_cancel_bytes(const stream_loop *loop)
{
    int bytes = 0;
    int fd = loop->run->dl.cancel_fd;

    return fd >= 0 && ioctl(fd, FIONREAD, &bytes) == 0 ? bytes : 0;
}

/* Whoever cancels (again) while the command is being asked to end wants no more grace. */
static void stream_hurry(stream_loop *loop)
{
    if (loop->stage == STREAM_ASKED && stream_cancel_bytes(loop) > loop->heard)
        loop->until = cordon_deadline_in_ms(0, -1);
}

/* TERM first, KILL after the grace; tampering gets no grace. */
static void stream_end(stream_loop *loop, const cordon_err *why)
{
    bool gentle = why->code == CORDON_ERR_TIMEOUT || why->code == CORDON_ERR_CANCELLED;
    int64_t grace_ms = loop->run->invocation->config->limits.grace_ms;

    if (loop->why.code == CORDON_OK)
        loop->why = *why;
    /* A daemon whose stream is not read blocks, and with it the end of the container. */
    loop->run->out.lossy = true;
    loop->run->err_out.lossy = true;
    if (loop->stage == STREAM_RUNNING && gentle) {
        loop->heard = stream_cancel_bytes(loop);
        cordon_run_progress(loop->run, "end", "asking the command to end");
        loop->stage = STREAM_ASKED;
        loop->until = cordon_deadline_in_ms(grace_ms, -1);
        stream_signal(loop, "SIGTERM");
        return;
    }
    if (loop->stage != STREAM_KILLED) {
        loop->stage = STREAM_KILLED;
        loop->until = cordon_deadline_in_ms(STREAM_KILL_MS, -1);
        stream_signal(loop, "SIGKILL");
    }
}

/* --- Reading --- */

static bool stream_has_room(const cordon_run *run)
{
    return cordon_output_has_room(&run->out) && cordon_output_has_room(&run->err_out);
}

/*
 * Before the gate's start note, stderr holds the gate's own words, which belong in an error. (The
 * command's may overtake the note: then they go out with it, or when no more can be held.)
 */
static bool stream_holds_errors(const cordon_run *run)
{
    return run->link.state == CORDON_LINK_RELEASED && cordon_output_has_room(&run->err_out);
}

static void stream_flush(cordon_run *run)
{
    cordon_output_flush(&run->out);
    if (!stream_holds_errors(run))
        cordon_output_flush(&run->err_out);
}

static bool stream_waits(const cordon_run *run, const cordon_output *output)
{
    return cordon_output_is_waiting(output) &&
           !(output == &run->err_out && stream_holds_errors(run));
}

/*
 * SECURITY: a command that prints faster than it is read must not keep the loop from the deadline,
 * the caller's cancel and the engine's events, so a turn ends after some pieces.
 */
static int stream_read_step(cordon_run *run, cordon_err *err)
{
    unsigned pieces = 0;

    run->step_more = false;
    while (!run->step_ended && stream_has_room(run)) {
        char piece[STREAM_READ_SIZE];
        size_t length = 0;
        cordon_stream_state state;

        if (pieces++ == STREAM_TURN_PIECES) {
            run->step_more = true;
            return 0;
        }
        if (cordon_stream_read(run->step_stream, piece, sizeof(piece), &length, &state, err) != 0)
            return -1;
        if (state == CORDON_STREAM_AGAIN)
            return 0;
        if (state == CORDON_STREAM_END) {
            run->step_ended = true;
            if (cordon_stdcopy_finish(&run->step_demux, err) != 0)
                return -1;
            if (cordon_gate_link_finish(&run->link, err) != 0 ||
                cordon_output_finish(&run->out, err) != 0)
                return -1;
            return cordon_output_finish(&run->err_out, err);
        }
        if (cordon_stdcopy_feed(&run->step_demux, piece, length, err) != 0)
            return -1;
        stream_flush(run);
    }
    return 0;
}

/* The step's own end has not been seen, and its stream is read, so it would be. */
static bool stream_step_goes_on(const cordon_run *run)
{
    return !run->step_ended && run->link.state != CORDON_LINK_ENDED && stream_has_room(run);
}

static bool stream_is_ours(const cordon_run *run, const char *id)
{
    return strcmp(id, run->made[CORDON_ROLE_PROXY].id) == 0 ||
           strcmp(id, run->made[CORDON_ROLE_STEP].id) == 0;
}

static int stream_intruded(cordon_run *run, cordon_role role, const char *found, cordon_err *err)
{
    char fact[64];

    (void)snprintf(fact, sizeof(fact), "%s.endpoints", cordon_role_name(role));
    (void)cordon_refuse(&run->receipt->refusal, CORDON_REFUSED_CHANGED, fact,
                        "the proxy and the step alone", found, NULL);
    return CORDON_FAIL(err, CORDON_ERR_TAMPERED,
                       "%s: expected the proxy and the step alone, found "
                       "%s; the run was ended",
                       fact, found);
}

/* Nobody but proxy and step; who of them is still there is told by events. */
static int stream_check_network(cordon_run *run, cordon_role role, cordon_err *err)
{
    cordon_auto(cordon_network_facts) facts = {0};
    cordon_deadline dl = cordon_deadline_clamp_ms(run->dl, STREAM_LOOK_MS);

    if (run->ops->network_inspect(run->impl, run->made[role].id, dl, &facts, err) != 0) {
        if (err->code != CORDON_ERR_NOTFOUND)
            return -1;
        cordon_err_clear(err);
        return stream_intruded(run, role, "no such network", err);
    }
    for (size_t i = 0; i < facts.endpoints.count; i++) {
        if (!stream_is_ours(run, facts.endpoints.items[i]))
            return stream_intruded(run, role, facts.endpoints.items[i], err);
    }
    return 0;
}

/*
 * At the release everything was as planned, so what differs since has changed, and has that code,
 * whichever rule found it and whether or not an event tells of it.
 */
static int stream_changed(cordon_run *run, cordon_err *err)
{
    for (size_t i = 0; i < CORDON_RUN_BRANCHES; i++) {
        cordon_refusal found = run->refusals[i];

        if (found.code == CORDON_REFUSED_NONE)
            continue;
        run->refusals[i] = (cordon_refusal){0};
        cordon_err_clear(err);
        (void)cordon_refuse(&run->receipt->refusal, CORDON_REFUSED_CHANGED, found.fact,
                            found.expected, found.actual, err);
        break;
    }
    err->code = CORDON_ERR_TAMPERED;
    return -1;
}

/* Looks who is on the networks, and who has the scratch, when somebody moved whom the events do not
 * place. */
static int stream_check_others(cordon_run *run, cordon_err *err)
{
    if (!run->watch.others_moved || !stream_step_goes_on(run))
        return 0;
    run->watch.others_moved = false;
    if (cordon_run_is_shared(run) && cordon_run_look_scratch(run, 0, err) != 0)
        return err->code == CORDON_ERR_REFUSED ? stream_changed(run, err) : -1;
    if (!cordon_run_has_networks(run))
        return 0;
    if (stream_check_network(run, CORDON_ROLE_VENDOR_NETWORK, err) != 0)
        return -1;
    return stream_check_network(run, CORDON_ROLE_EGRESS_NETWORK, err);
}

static bool stream_has_proxy(const cordon_run *run)
{
    return cordon_run_has_networks(run) && !run->proxy_ended;
}

/* Its end is an event, too; which of the two comes first must not decide what it is called. */
static int stream_lost_proxy(cordon_run *run, cordon_err *err)
{
    (void)cordon_refuse(&run->receipt->refusal, CORDON_REFUSED_CHANGED, "proxy.state", "running",
                        "ended", NULL);
    return CORDON_FAIL(err, CORDON_ERR_TAMPERED,
                       "the proxy ended while the command ran: it failed, or somebody ended it");
}

/*
 * The event stream had a gap: what it may have told is looked at instead. Found by looking or
 * told by an event, a change by somebody else is the same thing.
 */
static int stream_check_gap(cordon_run *run, cordon_err *err)
{
    if (!run->watch.gap || !stream_step_goes_on(run))
        return 0;
    run->watch.gap = false;
    if (cordon_run_look(run, err) == 0)
        return 0;
    return err->code == CORDON_ERR_REFUSED ? stream_changed(run, err) : -1;
}

/* Everything that has arrived, from everywhere. */
static int stream_turn(cordon_run *run, cordon_err *err)
{
    if (cordon_watch_drain(&run->watch, &run->receipt->refusal, err) != 0)
        return -1;
    if (stream_has_proxy(run) && cordon_run_read_proxy(run, err) != 0)
        return -1;
    if (stream_read_step(run, err) != 0)
        return -1;
    stream_flush(run);
    if (stream_check_gap(run, err) != 0 || stream_check_others(run, err) != 0 ||
        (stream_step_goes_on(run) &&
         cordon_watch_check_left(&run->watch, &run->receipt->refusal, err) != 0))
        return -1;
    if (cordon_run_has_networks(run) && run->proxy_ended && !run->step_ended &&
        run->link.state != CORDON_LINK_ENDED)
        return stream_lost_proxy(run, err);
    if (run->out.closed || run->err_out.closed)
        return CORDON_FAIL(err, CORDON_ERR_CANCELLED, "the reader of the output has gone away");
    return 0;
}

enum { WAIT_STEP = 0, WAIT_PROXY, WAIT_EVENTS, WAIT_CANCEL, WAIT_OUT, WAIT_ERR, WAIT_COUNT };

static void stream_poll_set(const stream_loop *loop, struct pollfd fds[WAIT_COUNT])
{
    const cordon_run *run = loop->run;
    bool read_step = !run->step_ended && stream_has_room(run);
    /* What nobody reads while the command is being ended would wake the loop for nothing. */
    bool running = loop->stage == STREAM_RUNNING;

    fds[WAIT_STEP] =
        (struct pollfd){read_step ? cordon_stream_fd(run->step_stream) : -1, POLLIN, 0};
    fds[WAIT_PROXY] = (struct pollfd){
        running && stream_has_proxy(run) ? cordon_stream_fd(run->proxy_stream) : -1, POLLIN, 0};
    fds[WAIT_EVENTS] =
        (struct pollfd){running ? cordon_stream_fd(run->watch.stream) : -1, POLLIN, 0};
    fds[WAIT_CANCEL] = (struct pollfd){loop->until.cancel_fd, POLLIN, 0};
    fds[WAIT_OUT] = (struct pollfd){stream_waits(run, &run->out) ? run->out.fd : -1, POLLOUT, 0};
    fds[WAIT_ERR] =
        (struct pollfd){stream_waits(run, &run->err_out) ? run->err_out.fd : -1, POLLOUT, 0};
}

/* Once we are ending it, only the step's end matters, and that its output goes out. */
static int stream_step_turn(stream_loop *loop, cordon_err *err)
{
    int result;

    if (loop->stage == STREAM_RUNNING)
        return stream_turn(loop->run, err);
    result = stream_read_step(loop->run, err);
    stream_flush(loop->run);
    return result;
}

static bool stream_is_over(const stream_loop *loop)
{
    const cordon_run *run = loop->run;

    if (run->step_ended)
        return true;
    if (run->link.state == CORDON_LINK_ENDED)
        return cordon_deadline_passed(loop->until);
    return loop->stage == STREAM_KILLED && cordon_deadline_passed(loop->until);
}

/* Says for whom and after how long, in place of the bare "the deadline passed". */
static void stream_explain(const stream_loop *loop, cordon_err *err)
{
    if (err->code != CORDON_ERR_TIMEOUT)
        return;
    cordon_err_clear(err);
    cordon_err_set(err, CORDON_ERR_TIMEOUT, 0,
                   "the command still ran when the deadline of %lld ms passed; --deadline or "
                   "limits.deadline gives it more",
                   (long long)loop->run->invocation->deadline_ms);
}

/*
 * Once the gate has told the end, only the rest of the output is waited for: shortly where the
 * engine owes it, to the run's deadline where our reader holds it up.
 */
static void stream_note_end(stream_loop *loop)
{
    bool room = stream_has_room(loop->run);

    if (loop->run->link.state != CORDON_LINK_ENDED || loop->stage != STREAM_RUNNING)
        return;
    if (!room)
        loop->until = loop->run->dl;
    else if (!loop->draining)
        loop->until = cordon_deadline_in_ms(STREAM_DRAIN_MS, loop->run->dl.cancel_fd);
    loop->draining = room;
}

/* The gate ends only now: see gate/protocol.h. One that has gone needs no word. */
static void stream_say_taken(stream_loop *loop)
{
    cordon_err ignored = CORDON_ERR_INIT;
    int result;

    if (loop->taken || loop->run->link.state != CORDON_LINK_ENDED)
        return;
    loop->taken = true;
    result = cordon_stream_write(loop->run->step_stream, "\n", 1,
                                 cordon_deadline_in_ms(STREAM_SIGNAL_MS, -1), &ignored);
    (void)result;
}

static int stream_poll_ms(const stream_loop *loop)
{
    int left_ms = cordon_deadline_left_ms(loop->until);

    /* What the stream has taken out of its socket already wakes nobody. */
    if (loop->run->step_more && stream_has_room(loop->run))
        return 0;
    if (loop->stage == STREAM_ASKED && left_ms > STREAM_HURRY_MS)
        return STREAM_HURRY_MS;
    return loop->run->watch.step_left_ns != 0 && left_ms > STREAM_LEFT_MS ? STREAM_LEFT_MS
                                                                          : left_ms;
}

static void stream_until_end(stream_loop *loop)
{
    for (;;) {
        struct pollfd fds[WAIT_COUNT];
        cordon_err err = CORDON_ERR_INIT;

        if (stream_step_turn(loop, &err) != 0) {
            /* While ending, a broken stream is as good as an ended one. */
            if (loop->stage == STREAM_KILLED)
                return;
            stream_end(loop, &err);
        }
        stream_say_taken(loop);
        stream_note_end(loop);
        if (stream_is_over(loop))
            return;
        cordon_err_clear(&err);
        stream_hurry(loop);
        if (cordon_deadline_check(loop->until, "the run", &err) != 0) {
            stream_explain(loop, &err);
            stream_end(loop, &err);
            continue;
        }
        stream_poll_set(loop, fds);
        (void)poll(fds, WAIT_COUNT, stream_poll_ms(loop));
    }
}

static bool stream_owes_output(const cordon_run *run)
{
    return (stream_waits(run, &run->out) && !run->out.closed) ||
           (stream_waits(run, &run->err_out) && !run->err_out.closed);
}

/* What the command wrote before its end still goes out, while the run's deadline allows. */
static void stream_flush_rest(stream_loop *loop)
{
    cordon_run *run = loop->run;

    while (loop->stage == STREAM_RUNNING && stream_owes_output(run) &&
           cordon_deadline_check(run->dl, "the output", NULL) == 0) {
        struct pollfd fds[WAIT_COUNT];

        stream_poll_set(loop, fds);
        fds[WAIT_STEP].fd = fds[WAIT_PROXY].fd = fds[WAIT_EVENTS].fd = -1;
        (void)poll(fds, WAIT_COUNT, cordon_deadline_left_ms(run->dl));
        stream_flush(run);
    }
    if (stream_owes_output(run))
        run->quota.truncated = true;
}

int cordon_run_stream(cordon_run *run, cordon_err *err)
{
    stream_loop loop = {.run = run, .until = run->dl, .why = CORDON_ERR_INIT};

    cordon_run_progress(run, "released", "the command runs");
    stream_until_end(&loop);
    /* No more comes, whoever ended it: what was held back was no secret. */
    if (cordon_output_finish(&run->out, NULL) != 0 ||
        cordon_output_finish(&run->err_out, NULL) != 0)
        run->quota.truncated = true;
    stream_flush_rest(&loop);
    if (loop.why.code != CORDON_OK) {
        *err = loop.why;
        return -1;
    }
    return cordon_run_settle(run, err);
}

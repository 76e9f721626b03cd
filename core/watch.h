/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's event stream, held against what the run itself does. Any change to an object of
 * the run that the run did not make is tampering.
 */
#ifndef CORDON_WATCH_H
#define CORDON_WATCH_H

#include "engine.h"
#include "expect.h"
#include "kit/buf.h"
#include "kit/httpc.h"
#include "refusal.h"

/* One event is a small object; a daemon that sends more without an end is not believed. */
#define CORDON_WATCH_BYTES_MAX (256u << 10)

/* More events than a run has of its own. */
#define CORDON_WATCH_SEEN 128

/* As many steps as one invocation may have. */
#define CORDON_WATCH_PAST_MAX 16

/* A daemon that ends its stream again and again is not watched. */
#define CORDON_WATCH_REOPEN_MAX 16

/*
 * A step that has ended and that the run itself has removed, or does so now. libpod tells of things
 * a second after they were: also what the step did before is still counted.
 */
typedef struct cordon_watch_past {
    char id[CORDON_ID_HEX + 1];
    unsigned attaches;
    unsigned starts;
    unsigned connects[2];
    unsigned nowhere;
    bool alone;
} cordon_watch_past;

typedef struct cordon_watch {
    const cordon_engine_ops *ops;
    cordon_stream *stream;
    cordon_buf bytes;
    const char *networks[2]; /* ids by network role; NULL or "" while unknown */
    const char *proxy;
    const char *step;
    const char *keeper;
    const char *scratch;  /* name of the volume that several steps share; NULL: there is none */
    unsigned attaches[3]; /* seen so far: proxy, step, keeper */
    unsigned starts[3];
    unsigned connects[2][3]; /* by network role, then as above */
    bool alone;              /* the step has no network */
    unsigned nowhere[3];     /* Docker tells of joining its network "none", too */
    cordon_watch_past past[CORDON_WATCH_PAST_MAX];
    unsigned past_count;
    bool step_died;
    bool signalled; /* the run itself has sent a signal */
    int step_exit_code;
    /*
     * Somebody else came up, or joined a network that the event does not name (libpod's never do):
     * who is on the run's networks must be looked at. The looker resets it.
     */
    bool others_moved;
    /*
     * The stream ended or broke and was opened again: what happened in between was not seen, so
     * everything must be looked at again. The looker resets it.
     */
    bool gap;
    unsigned reopened;
    int64_t opened_s;  /* when it was opened first, less a margin: from here on it is told again */
    int64_t newest_ns; /* the last event of the run's own that was judged */
    bool behind;       /* what was opened again has not told of that one yet */
    void *impl;
    cordon_deadline dl;
    /* Events of the run's own objects that were judged: a stream that is opened again, or whose
     * file was rotated, may tell them once more. */
    struct {
        int64_t time_ns;
        cordon_event_action action;
        int object;
    } seen[CORDON_WATCH_SEEN];
    unsigned seen_count;  /* in all; the place in the ring is modulo its size */
    int64_t step_left_ns; /* when the step left its network without having died; 0: it did not */
} cordon_watch;

/* Opens the stream of a watch whose ids were set; must come before the first create. */
int cordon_watch_open(cordon_watch *watch, const cordon_engine_ops *ops, void *impl,
                      cordon_deadline dl, cordon_err *err) __attribute__((warn_unused_result));
void cordon_watch_close(cordon_watch *watch);

/*
 * Reads and judges whatever has arrived, without waiting.
 * @return 0, or -1 with TAMPERED and the refusal filled (fact "step.events", "proxy.events" or
 *         the network's); UNREACHABLE, PROTOCOL for a stream that ended and could not be opened
 *         again: it is not watched any more, so nothing may go on. One that could sets `gap`.
 */
int cordon_watch_drain(cordon_watch *watch, cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * For the gap before the release: reads until the stream that was opened again has told everything
 * up to where the old one was lost, and of the step's start at least, which had come by then.
 * @return as cordon_watch_drain; also PROTOCOL when that does not come
 */
int cordon_watch_catch_up(cordon_watch *watch, cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Docker tells that the step left its network before it tells that the step died. TAMPERED when the
 * one has been told for a while and the other has not come: then somebody else took it off. To be
 * asked while the step's own end has not been seen.
 */
int cordon_watch_check_left(const cordon_watch *watch, cordon_refusal *ret_refusal, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * The step has ended and the run removes it: what comes of that is no news. The watch waits for
 * another step, with or without a network. At most CORDON_WATCH_PAST_MAX times.
 */
void cordon_watch_retire(cordon_watch *watch, bool next_is_alone);

/* One event, judged; exposed for the tests of the table. */
int cordon_watch_judge(cordon_watch *watch, const cordon_event *event, cordon_refusal *ret_refusal,
                       cordon_err *err) __attribute__((warn_unused_result));

#endif

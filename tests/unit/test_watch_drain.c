/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the event stream: events in any cut, and every way in which a stream stops being one. An
 * event here is a line "CONTAINER-ID ACTION-NUMBER"; what real daemons write is the engines'
 * affair.
 */
#include "watch.h"

#include <sys/socket.h>
#include <unistd.h>

#include "kit/num.h"
#include "support/sample_plan.h"
#include "support/stream_pair.h"

static int open_nothing(void *impl, int64_t since_s, cordon_deadline dl, cordon_stream **ret_stream,
                        cordon_err *err)
{
    (void)impl;
    (void)since_s;
    (void)dl;
    (void)ret_stream;
    return CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED, "no events here");
}

static int open_given(void *impl, int64_t since_s, cordon_deadline dl, cordon_stream **ret_stream,
                      cordon_err *err)
{
    cordon_stream **given = impl;

    (void)since_s;
    (void)dl;
    if (*given == NULL)
        return CORDON_FAIL(err, CORDON_ERR_UNREACHABLE, "there is no second one");
    *ret_stream = CORDON_TAKE(*given);
    return 0;
}

static int parse_line(const char *bytes, size_t length, size_t *ret_used, cordon_event *ret_event,
                      cordon_err *err)
{
    const char *newline = memchr(bytes, '\n', length);
    const char *blank = memchr(bytes, ' ', length);
    uint64_t action;

    *ret_used = 0;
    if (newline == NULL)
        return 0;
    if (blank == NULL || blank > newline)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "no event");
    if (cordon_num_u64(blank + 1, (size_t)(newline - blank - 1), 0, 100, &action, err) != 0)
        return -1;
    ret_event->type = CORDON_OBJECT_CONTAINER;
    ret_event->action = (cordon_event_action)action;
    ret_event->id = strndup(bytes, (size_t)(blank - bytes));
    ret_event->raw_action = strdup("word");
    *ret_used = (size_t)(newline - bytes) + 1;
    return 0;
}

static const cordon_engine_ops ops = {.events_open = open_given, .events_parse = parse_line};

typedef struct rig {
    stream_pairs *pairs;
    cordon_stream *given; /* what is opened next, once: the watch asks again when a stream ends */
    cordon_watch watch;
    int daemon;
    cordon_refusal refusal;
} rig;

static void rig_clear(rig *value)
{
    cordon_watch_close(&value->watch);
    stream_pairs_free(value->pairs);
    cordon_cleanup_close(&value->daemon);
}
CORDON_DEFINE_AUTO(rig, rig_clear)

static bool rig_open(rig *value)
{
    cordon_err err = CORDON_ERR_INIT;

    value->pairs = stream_pairs_new();
    if (!CHECK(value->pairs != NULL) ||
        !CHECK_OK(stream_pairs_make(value->pairs, &value->given, &value->daemon, &err), err) ||
        !CHECK_OK(cordon_watch_open(&value->watch, &ops, &value->given,
                                    cordon_deadline_in_ms(1000, -1), &err),
                  err))
        return false;
    value->watch.networks[0] = SAMPLE_VENDOR_NET;
    value->watch.networks[1] = SAMPLE_EGRESS_NET;
    value->watch.proxy = SAMPLE_PROXY;
    value->watch.step = SAMPLE_STEP;
    return true;
}

static bool say(const rig *value, const char *bytes, size_t length)
{
    return CHECK_INT(send(value->daemon, bytes, length, MSG_NOSIGNAL), length);
}

static int drain(rig *value, cordon_err *err)
{
    return cordon_watch_drain(&value->watch, &value->refusal, err);
}

#define DIES   SAMPLE_STEP " 6\n"
#define STARTS SAMPLE_STEP " 5\n"
#define EXECED SAMPLE_STEP " 18\n"

static void a_quiet_stream_is_fine(void)
{
    cordon_auto(rig) value = {.daemon = -1};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(rig_open(&value));
    REQUIRE_OK(drain(&value, &err), err);
    CHECK(!value.watch.step_died);
}

static void an_event_counts_once_it_is_whole(void)
{
    static const char text[] = STARTS DIES;

    for (size_t cut = 1; cut < sizeof(text) - 1; cut += 7) {
        cordon_auto(rig) value = {.daemon = -1};
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE(rig_open(&value) && say(&value, text, cut));
        REQUIRE_OK(drain(&value, &err), err);
        CHECK_INT(value.watch.starts[1], cut >= sizeof(STARTS) - 1);
        CHECK(!value.watch.step_died);
        REQUIRE(say(&value, text + cut, sizeof(text) - 1 - cut));
        REQUIRE_OK(drain(&value, &err), err);
        CHECK_INT(value.watch.starts[1], 1);
        CHECK(value.watch.step_died);
    }
}

static void an_attack_among_other_events_is_found(void)
{
    cordon_auto(rig) value = {.daemon = -1};
    cordon_err err = CORDON_ERR_INIT;
    static const char text[] = SAMPLE_FOREIGN " 17\n" STARTS EXECED DIES;

    REQUIRE(rig_open(&value) && say(&value, text, sizeof(text) - 1));
    REQUIRE_FAILS(drain(&value, &err), err, CORDON_ERR_TAMPERED, "step.events");
    CHECK_INT(value.refusal.code, CORDON_REFUSED_CHANGED);
    CHECK_STR(value.refusal.fact, "step.events");
    CHECK_STR(value.refusal.actual, "word");
}

static void a_stream_that_ends_is_an_error(void)
{
    cordon_auto(rig) value = {.daemon = -1};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(rig_open(&value) && say(&value, STARTS, sizeof(STARTS) - 1));
    (void)close(value.daemon);
    value.daemon = -1;
    REQUIRE_FAILS(drain(&value, &err), err, CORDON_ERR_UNREACHABLE,
                  "the engine ended its event stream");
    CHECK_INT(value.watch.starts[1], 1);
    CHECK_INT(value.refusal.code, CORDON_REFUSED_NONE);
}

static void an_attack_before_the_end_of_the_stream_is_still_told(void)
{
    cordon_auto(rig) value = {.daemon = -1};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(rig_open(&value) && say(&value, EXECED, sizeof(EXECED) - 1));
    (void)close(value.daemon);
    value.daemon = -1;
    REQUIRE_FAILS(drain(&value, &err), err, CORDON_ERR_TAMPERED, "step.events");
}

static void what_is_no_event_is_an_error(void)
{
    cordon_auto(rig) value = {.daemon = -1};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(rig_open(&value) && say(&value, "garbage\n", 8));
    REQUIRE_FAILS(drain(&value, &err), err, CORDON_ERR_PROTOCOL, "no event");
}

static void an_event_without_an_end_is_an_error_and_not_memory(void)
{
    cordon_auto(rig) value = {.daemon = -1};
    cordon_err err = CORDON_ERR_INIT;
    char piece[4096];
    int rc = 0;

    memset(piece, 'x', sizeof(piece));
    REQUIRE(rig_open(&value));
    for (size_t sent = 0; rc == 0 && sent <= CORDON_WATCH_BYTES_MAX; sent += sizeof(piece)) {
        REQUIRE(say(&value, piece, sizeof(piece)));
        rc = drain(&value, &err);
    }
    REQUIRE_FAILS(rc, err, CORDON_ERR_PROTOCOL, "");
    CHECK(value.watch.bytes.length <= CORDON_WATCH_BYTES_MAX);
}

static void a_watch_that_could_not_be_opened_is_an_error_and_can_be_closed(void)
{
    static const cordon_engine_ops none = {.events_open = open_nothing};
    cordon_watch watch = {0};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE_FAILS(cordon_watch_open(&watch, &none, NULL, cordon_deadline_in_ms(1000, -1), &err),
                  err, CORDON_ERR_UNSUPPORTED, "no events here");
    cordon_watch_close(&watch);
    cordon_watch_close(&watch);
}

CORDON_TEST_MAIN("watch_drain", TEST(a_quiet_stream_is_fine),
                 TEST(an_event_counts_once_it_is_whole),
                 TEST(an_attack_among_other_events_is_found), TEST(a_stream_that_ends_is_an_error),
                 TEST(an_attack_before_the_end_of_the_stream_is_still_told),
                 TEST(what_is_no_event_is_an_error),
                 TEST(an_event_without_an_end_is_an_error_and_not_memory),
                 TEST(a_watch_that_could_not_be_opened_is_an_error_and_can_be_closed))

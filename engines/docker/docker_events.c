/* SPDX-License-Identifier: Apache-2.0 */
/* The event stream of engine.h: opening it, and cutting it into events. */
#include "docker_internal.h"

#include <string.h>
#include <time.h>

#include "docker_decode.h"

/* SECURITY: an event holds an object's labels; a line without end is no event. */
#define EVENT_MAX_BYTES (1U << 20)

/* How far back the stream begins; see docker_events_open. */
#define OVERLAP_S 2

static const docker_op events_op = {
    .what = "open the event stream",
    .method = "GET",
    .answer_max_bytes = DOCKER_SMALL_MAX_BYTES,
};

/*
 * The daemon sends its status line a moment before it subscribes to its own events, so "from now
 * on" would have a hole. `since` closes it: the daemon replays from its memory, under the same
 * lock that subscribes. A wrong clock costs nothing else: live events come in any case.
 */
int docker_events_open(void *impl, int64_t since_s, cordon_deadline dl, cordon_stream **ret_stream,
                       cordon_err *err)
{
    const docker_engine *engine = impl;
    struct timespec now = {0};
    cordon_auto(cordon_buf) path = cordon_buf_make(DOCKER_PATH_MAX_BYTES);
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return CORDON_FAIL(err, CORDON_ERR_SYSTEM, "the clock cannot be read");
    if (docker_path(engine, &path, err, "/events?since=%lld&",
                    (long long)(since_s != 0 ? since_s : now.tv_sec - OVERLAP_S)) != 0 ||
        docker_path_query(&path, "filters", "{\"type\":[\"container\",\"network\",\"volume\"]}",
                          err) != 0)
        return -1;
    return docker_call_stream(engine, &events_op, &path, NULL, dl, ret_stream, err);
}

int docker_events_parse(const char *bytes, size_t length, size_t *ret_used, cordon_event *ret_event,
                        cordon_err *err)
{
    size_t start = 0;
    while (start < length && (bytes[start] == '\n' || bytes[start] == '\r'))
        start++;
    const char *end = start < length ? memchr(bytes + start, '\n', length - start) : NULL;
    if (!end && length - start > EVENT_MAX_BYTES)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "docker, an event of more than %u bytes",
                           EVENT_MAX_BYTES);
    if (!end) {
        *ret_used = 0;
        return 0;
    }
    size_t line = (size_t)(end - bytes) - start;
    if (docker_decode_event(bytes + start, line, ret_event, err) != 0) {
        cordon_err_wrap(err, "docker, an event");
        return -1;
    }
    *ret_used = start + line + 1;
    return 0;
}

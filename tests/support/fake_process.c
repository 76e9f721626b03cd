/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes inside the fake's containers: a gate that reports, waits, starts and ends, and a
 * proxy that says that it is ready. One thread each; every way of misbehaving is one row of
 * fake_gate_fault.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "gate/protocol.h"
#include "gate/proxy_protocol.h"
#include "kit/buf.h"
#include "kit/frame.h"
#include "kit/random.h"
#include "kit/stdcopy.h"
#include "support/fake_impl.h"

#define PIECE_BYTES       16384
#define STATUS_PROXY_DEAD 71

static void put_raw(const fake_container *c, const void *bytes, size_t length)
{
    const char *next = bytes;
    while (length > 0) {
        ssize_t sent = send(c->peer, next, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return;
        next += sent;
        length -= (size_t)sent;
    }
}

/* One block of the multiplexed stream (kit/stdcopy.h). */
static void put_as(const fake_container *c, uint8_t stream, const void *bytes, size_t length)
{
    uint8_t header[8] = {stream,
                         0,
                         0,
                         0,
                         (uint8_t)(length >> 24),
                         (uint8_t)(length >> 16),
                         (uint8_t)(length >> 8),
                         (uint8_t)length};
    put_raw(c, header, sizeof header);
    put_raw(c, bytes, length);
}

static void put_stdout(const fake_container *c, const void *bytes, size_t length)
{
    put_as(c, CORDON_STDCOPY_STDOUT, bytes, length);
}

static void put_text(const fake_container *c, uint8_t stream, const char *text)
{
    if (text && text[0])
        put_as(c, stream, text, strlen(text));
}

/* The end of the process: streams closed, state and events for whoever waits. */
static void finish(fake_container *c, int code)
{
    fake_engine *fake = c->fake;
    fake_lock(fake);
    if (c->kill)
        code = 128 + SIGKILL;
    if (c->peer >= 0)
        (void)close(c->peer);
    c->peer = -1;
    c->state = CORDON_STATE_EXITED;
    c->exit_code = code;
    fake_network_events(fake, c, CORDON_EVENT_DISCONNECT, "disconnect");
    if (c->oom_killed)
        fake_event(fake, CORDON_OBJECT_CONTAINER, CORDON_EVENT_OOM, c->id, NULL, "oom", 0);
    fake_event(fake, CORDON_OBJECT_CONTAINER, CORDON_EVENT_DIE, c->id, NULL, "die", code);
    (void)pthread_cond_broadcast(&fake->changed);
    fake_unlock(fake);
}

/* Waits for a signal that ends the process; the number of it. */
static int await_signal(fake_container *c, bool ignores_term)
{
    fake_lock(c->fake);
    while (!c->kill && !(c->term && !ignores_term))
        (void)pthread_cond_wait(&c->fake->changed, &c->fake->lock);
    int signal_number = c->kill ? SIGKILL : SIGTERM;
    fake_unlock(c->fake);
    return signal_number;
}

/* --- The gate ------------------------------------------------------------------------------ */

typedef struct gate {
    fake_container *c;
    fake_step script;
    uint8_t nonce[CORDON_FRAME_KEY_BYTES];
    uint8_t exit_key[CORDON_FRAME_KEY_BYTES];
} gate;

static int build_report(const gate *g, cordon_frame *frame, cordon_err *err)
{
    cordon_auto(cordon_fact_list) facts = {0};
    if (fake_report(g->c, &facts, err) != 0)
        return -1;
    if (g->c->fake->lies.report)
        g->c->fake->lies.report(g->c->fake->lies.context, &facts);
    if (cordon_frame_init(frame, CORDON_GATE_MAGIC_REPORT, CORDON_GATE_REPORT_MAX, err) != 0 ||
        cordon_frame_add_u64(frame, CORDON_GATE_REPORT_VERSION, CORDON_GATE_VERSION, err) != 0 ||
        cordon_frame_add_bytes(frame, CORDON_GATE_REPORT_NONCE, g->nonce, sizeof g->nonce, err) !=
            0)
        return -1;
    for (size_t i = 0; i < facts.count; i++) {
        if (cordon_frame_add_string(frame, CORDON_GATE_REPORT_FACT, facts.items[i], err) != 0)
            return -1;
    }
    return cordon_frame_seal(frame, cordon_frame_unkeyed, err);
}

/* False: the process ends here. */
static bool send_report(gate *g)
{
    cordon_auto(cordon_frame) frame = {0};
    cordon_err err = CORDON_ERR_INIT;
    if (build_report(g, &frame, &err) != 0) {
        fake_complain(g->c->fake, "fake gate: %s", err.message);
        return false;
    }
    /* In one piece with the report, so that they are there when the release is about to be sent. */
    if (g->script.fault == FAKE_GATE_TALKS &&
        cordon_buf_append_text(&frame.bytes, "hello\n", &err) != 0)
        return false;
    size_t length = frame.bytes.length;
    if (g->script.fault == FAKE_GATE_REPLAY)
        frame.bytes.data[length / 2] ^= 1;
    if (g->script.fault == FAKE_GATE_CUT)
        length /= 2;
    if (g->script.fault == FAKE_GATE_BAD_STREAM)
        put_as(g->c, 3, frame.bytes.data, length);
    else
        put_stdout(g->c, frame.bytes.data, length);
    return g->script.fault != FAKE_GATE_CUT;
}

/* What the release says, kept for the test to look at. */
static int keep_field(gate *g, const cordon_frame_field *field, cordon_err *err)
{
    fake_engine *fake = g->c->fake;
    cordon_autofree char *text = NULL;
    switch (field->tag) {
    case CORDON_GATE_RELEASE_EXIT_KEY:
        if (field->length != sizeof g->exit_key)
            return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "exit key of %zu bytes", field->length);
        memcpy(g->exit_key, field->bytes, sizeof g->exit_key);
        return 0;
    case CORDON_GATE_RELEASE_STDIN:
        fake->stdin_given = true;
        return 0;
    case CORDON_GATE_RELEASE_FILE: {
        const char *path = (const char *)field->bytes;
        size_t length = strnlen(path, field->length);
        if (length == field->length)
            return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "a file without a path");
        return cordon_fact_list_addf(&fake->files, err, "%s=%.*s", path,
                                     (int)(field->length - length - 1), path + length + 1);
    }
    case CORDON_GATE_RELEASE_VERSION:
    case CORDON_GATE_RELEASE_LANDLOCK:
        return 0;
    default:
        break;
    }
    if (cordon_frame_field_text(field, CORDON_GATE_RELEASE_MAX, &text, err) != 0)
        return -1;
    if (field->tag == CORDON_GATE_RELEASE_ARGV)
        return cordon_fact_list_add(&fake->argv, text, err);
    if (field->tag == CORDON_GATE_RELEASE_ENV)
        return cordon_fact_list_add(&fake->environment, text, err);
    if (field->tag == CORDON_GATE_RELEASE_RULE)
        return cordon_fact_list_add(&fake->rules, text, err);
    if (field->tag == CORDON_GATE_RELEASE_CWD)
        return cordon_fact_text_set(&fake->working_dir, text, err);
    return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "release field %u", field->tag);
}

static int keep_release(gate *g, const cordon_buf *bytes, cordon_err *err)
{
    cordon_frame_reader reader;
    cordon_frame_field field;
    if (cordon_frame_open(&reader, CORDON_GATE_MAGIC_RELEASE, bytes->data, bytes->length, g->nonce,
                          err) != 0)
        return -1;
    fake_lock(g->c->fake);
    int rc = 0;
    while (rc == 0 && cordon_frame_next(&reader, &field))
        rc = keep_field(g, &field, err);
    g->c->fake->released = rc == 0;
    fake_unlock(g->c->fake);
    return rc;
}

/* One frame off stdin. False at the end of it; err is set only when bytes came that are none. */
static bool await_frame(fake_container *c, const char *magic, size_t max_bytes, cordon_buf *bytes,
                        cordon_err *err)
{
    size_t total = 0;
    size_t need = CORDON_FRAME_HEAD_BYTES;
    while (need > 0) {
        char piece[PIECE_BYTES];
        size_t want = need < sizeof piece ? need : sizeof piece;
        ssize_t got = recv(c->peer, piece, want, 0);
        if (got <= 0)
            return false;
        if (cordon_buf_append(bytes, piece, (size_t)got, err) != 0 ||
            cordon_frame_measure(magic, bytes->data, bytes->length, max_bytes, &total, &need,
                                 err) != 0)
            return false;
        if (total == 0)
            need = CORDON_FRAME_HEAD_BYTES - bytes->length;
    }
    return true;
}

/* Takes the release off stdin; false at the end of it, or for anything else. */
static bool await_release(gate *g)
{
    cordon_auto(cordon_buf) bytes = cordon_buf_make(CORDON_GATE_RELEASE_MAX);
    cordon_err err = CORDON_ERR_INIT;
    bool came = await_frame(g->c, CORDON_GATE_MAGIC_RELEASE, CORDON_GATE_RELEASE_MAX, &bytes, &err);
    if (!came && err.code == CORDON_OK)
        return false;
    if (came && keep_release(g, &bytes, &err) == 0)
        return true;
    fake_complain(g->c->fake, "fake gate: release: %s", err.message);
    return false;
}

typedef struct note_field {
    uint16_t tag;
    uint64_t value;
} note_field;

static void send_note(const gate *g, const char *magic, const note_field *fields, size_t count,
                      bool forged)
{
    cordon_auto(cordon_frame) frame = {0};
    cordon_err err = CORDON_ERR_INIT;
    uint8_t key[CORDON_FRAME_KEY_BYTES];
    memcpy(key, g->exit_key, sizeof key);
    if (forged)
        key[0] ^= 1;
    int rc = cordon_frame_init(&frame, magic, CORDON_GATE_REPLY_MAX, &err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = cordon_frame_add_u64(&frame, fields[i].tag, fields[i].value, &err);
    if (rc == 0 && cordon_frame_seal(&frame, key, &err) == 0)
        put_stdout(g->c, frame.bytes.data, frame.bytes.length);
}

static void send_started(const gate *g)
{
    note_field field = {CORDON_GATE_STARTED_ERRNUM, (uint64_t)g->script.start_errnum};
    if (g->script.fault != FAKE_GATE_NO_STARTED)
        send_note(g, CORDON_GATE_MAGIC_STARTED, &field, 1,
                  g->script.fault == FAKE_GATE_FORGED_STARTED);
}

static void send_exit(const gate *g, int code, int signal_number)
{
    note_field fields[] = {
        {signal_number ? CORDON_GATE_EXIT_SIGNAL : CORDON_GATE_EXIT_CODE,
         (uint64_t)(signal_number ? signal_number : code)},
        {0},
        {0},
    };
    size_t count = 1;
    if (g->script.oom)
        fields[count++] = (note_field){CORDON_GATE_EXIT_OOM, 1};
    if (g->script.outside_signal)
        fields[count++] =
            (note_field){CORDON_GATE_EXIT_OUTSIDE, (uint64_t)g->script.outside_signal};
    if (g->script.fault != FAKE_GATE_NO_EXIT)
        send_note(g, CORDON_GATE_MAGIC_EXIT, fields, count,
                  g->script.fault == FAKE_GATE_FORGED_EXIT);
    if (g->script.fault == FAKE_GATE_TALKS_AFTER_EXIT)
        put_text(g->c, CORDON_STDCOPY_STDOUT, "after the end\n");
}

static void send_output(const gate *g)
{
    char piece[PIECE_BYTES];
    memset(piece, 'x', sizeof piece);
    put_text(g->c, CORDON_STDCOPY_STDOUT, g->script.stdout_text);
    put_text(g->c, CORDON_STDCOPY_STDERR, g->script.stderr_text);
    for (size_t left = g->script.output_bytes; left > 0;) {
        size_t length = left < sizeof piece ? left : sizeof piece;
        put_stdout(g->c, piece, length);
        left -= length;
    }
}

/* As the gate does (gate/protocol.h): it stays until core has heard the end. */
static void await_taken(const gate *g)
{
    char byte;
    if (g->script.fault != FAKE_GATE_NO_EXIT && g->script.fault != FAKE_GATE_FORGED_EXIT)
        (void)!recv(g->c->peer, &byte, sizeof byte, 0);
}

/* The command, from its start note to the gate's exit status. */
static int run_command(gate *g)
{
    int code = g->script.exit_code;
    int signal_number = g->script.exit_signal;
    send_started(g);
    if (g->script.start_errnum)
        return g->script.start_errnum == ENOENT ? CORDON_GATE_STATUS_NOT_FOUND
                                                : CORDON_GATE_STATUS_NOT_EXECUTABLE;
    send_output(g);
    if (g->script.stays)
        signal_number = await_signal(g->c, g->script.ignores_term);
    if (g->script.oom) {
        fake_lock(g->c->fake);
        g->c->oom_killed = true;
        fake_unlock(g->c->fake);
        signal_number = SIGKILL;
    }
    send_exit(g, code, signal_number);
    await_taken(g);
    return signal_number ? 128 + signal_number : code;
}

static int run_gate(gate *g)
{
    switch (g->script.fault) {
    case FAKE_GATE_SILENT:
        return 128 + await_signal(g->c, false);
    case FAKE_GATE_ENDS:
        return CORDON_GATE_STATUS_FAILED;
    case FAKE_GATE_GARBAGE:
        put_text(g->c, CORDON_STDCOPY_STDOUT, "exec format error, and some more to read\n");
        return CORDON_GATE_STATUS_FAILED;
    case FAKE_GATE_GOOD:
    case FAKE_GATE_CUT:
    case FAKE_GATE_REPLAY:
    case FAKE_GATE_TALKS:
    case FAKE_GATE_BAD_STREAM:
    case FAKE_GATE_NO_STARTED:
    case FAKE_GATE_FORGED_STARTED:
    case FAKE_GATE_FORGED_EXIT:
    case FAKE_GATE_NO_EXIT:
    case FAKE_GATE_TALKS_AFTER_EXIT:
        break;
    }
    if (!send_report(g))
        return CORDON_GATE_STATUS_FAILED;
    return await_release(g) ? run_command(g) : CORDON_GATE_STATUS_NOT_RELEASED;
}

static void *step_main(void *argument)
{
    fake_container *c = argument;
    fake_outside(true);
    gate g = {.c = c, .script = c->fake->step};
    int code = CORDON_GATE_STATUS_FAILED;
    if (cordon_random_bytes(g.nonce, sizeof g.nonce, NULL) == 0)
        code = run_gate(&g);
    finish(c, code);
    return NULL;
}

/* --- The proxy ----------------------------------------------------------------------------- */

/* The policy's address to listen on, and its code. */
static bool read_policy(const cordon_buf *bytes, char *ret_listen, size_t size, char *ret_code,
                        cordon_err *err)
{
    cordon_frame_reader reader;
    cordon_frame_field field;
    const unsigned char *code =
        (const unsigned char *)bytes->data + bytes->length - CORDON_PROXY_CODE_BYTES;
    if (cordon_frame_open(&reader, CORDON_PROXY_MAGIC_POLICY, bytes->data, bytes->length,
                          cordon_frame_unkeyed, err) != 0)
        return false;
    while (cordon_frame_next(&reader, &field)) {
        if (field.tag == CORDON_PROXY_POLICY_LISTEN)
            (void)snprintf(ret_listen, size, "%.*s", (int)field.length, field.bytes);
    }
    for (size_t i = 0; i < CORDON_PROXY_CODE_BYTES; i++)
        (void)snprintf(ret_code + 2 * i, 3, "%02x", code[i]);
    return true;
}

static void say_ready(fake_container *c)
{
    cordon_auto(cordon_buf) bytes = cordon_buf_make(CORDON_PROXY_POLICY_MAX);
    cordon_err err = CORDON_ERR_INIT;
    const fake_proxy *script = &c->fake->proxy;
    char listen[64] = "";
    char code[2 * CORDON_PROXY_CODE_BYTES + 1] = "";
    char ready[512];
    if (!await_frame(c, CORDON_PROXY_MAGIC_POLICY, CORDON_PROXY_POLICY_MAX, &bytes, &err) ||
        !read_policy(&bytes, listen, sizeof listen, code, &err)) {
        if (err.code != CORDON_OK)
            fake_complain(c->fake, "fake proxy: policy: %s", err.message);
        return;
    }
    (void)snprintf(ready, sizeof ready,
                   "{\"event\":\"ready\",\"listen\":\"%s\",\"policy\":\"%s\",%s}\n",
                   script->listen ? script->listen : listen, script->policy ? script->policy : code,
                   script->locks ? script->locks : FAKE_PROXY_LOCKS);
    put_text(c, CORDON_STDCOPY_STDOUT, ready);
}

static void *proxy_main(void *argument)
{
    fake_container *c = argument;
    const fake_proxy *script = &c->fake->proxy;
    fake_outside(true);
    if (!script->dies && !script->silent)
        say_ready(c);
    put_text(c, CORDON_STDCOPY_STDOUT, script->lines);
    if (script->dies) {
        finish(c, STATUS_PROXY_DEAD);
        return NULL;
    }
    int signal_number = await_signal(c, false);
    finish(c, signal_number == SIGTERM ? 0 : 128 + signal_number);
    return NULL;
}

/* Does nothing until it is told to end. */
static void *keeper_main(void *argument)
{
    fake_container *c = argument;
    fake_outside(true);
    int signal_number = await_signal(c, false);
    finish(c, signal_number == SIGTERM ? 0 : 128 + signal_number);
    return NULL;
}

/* --- Start and stop ------------------------------------------------------------------------ */

int fake_process_start(fake_container *container, cordon_err *err)
{
    bool proxy = strcmp(container->role, "proxy") == 0;
    bool keeper = strcmp(container->role, "keeper") == 0;
    int failed = pthread_create(&container->thread, NULL,
                                proxy    ? proxy_main
                                : keeper ? keeper_main
                                         : step_main,
                                container);
    if (failed != 0)
        return CORDON_FAIL_ERRNO(err, failed, "fake process");
    container->threaded = true;
    return 0;
}

void fake_process_stop(fake_container *container)
{
    fake_lock(container->fake);
    bool threaded = container->threaded;
    container->threaded = false;
    container->kill = container->kill || container->state == CORDON_STATE_RUNNING;
    if (container->peer >= 0)
        (void)shutdown(container->peer, SHUT_RDWR);
    (void)pthread_cond_broadcast(&container->fake->changed);
    fake_unlock(container->fake);
    if (threaded)
        (void)pthread_join(container->thread, NULL);
}

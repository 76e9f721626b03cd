/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core's end of a live gate for tests: starts one on pipes, reads its report, releases it, and
 * takes its output apart. Header-only: one test uses it.
 */
#ifndef CORDON_TESTS_SUPPORT_GATE_RIG_H
#define CORDON_TESTS_SUPPORT_GATE_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate/gate.h"
#include "gate/protocol.h"
#include "kit/buf.h"
#include "kit/deadline.h"
#include "kit/frame.h"
#include "support/test.h"

/* Nothing here takes long; whatever does has gone wrong. */
#define RIG_MS 20000

typedef enum rig_mode {
    RIG_PARTS = 1,     /* cordon_gate_main of this build, under its sanitizers */
    RIG_BINARY = 2,    /* the static cordon-guard */
    RIG_NAMESPACE = 4, /* as PID 1 of a namespace */
    RIG_NOBODY = 8,    /* as another user */
    RIG_LEAK = 16,     /* with descriptor 9 open */
} rig_mode;

typedef struct rig {
    pid_t pid; /* of the gate, or of the process that waits for it in its namespace */
    pid_t gate;
    int to;
    int from;
    int errors;
    cordon_buf out;
    cordon_buf err;
    cordon_buf report;
    uint8_t nonce[CORDON_GATE_NONCE_BYTES];
    uint8_t key[CORDON_GATE_NONCE_BYTES];
    int status; /* exit status of the gate; -1 unknown */
    /* from finish: */
    int64_t started; /* errnum of STARTED; -1 when there was none */
    int64_t code;    /* of EXIT; -1 */
    int64_t signal;  /* of EXIT; -1 */
    int64_t errnum;  /* of EXIT; -1 */
    int64_t outside; /* of EXIT; -1 */
    size_t output;   /* where in out the command's output begins, and its length */
    size_t output_length;
} rig;

static inline void rig_run_gate(int mode, const char *wait_ms)
{
    char *argv[] = {(char[]){"cordon-guard"}, (char[]){"gate"}, (char[]){"--wait-ms"},
                    strdup(wait_ms), NULL};
    if ((mode & RIG_LEAK) && dup2(STDIN_FILENO, 9) < 0)
        _exit(99);
    if ((mode & RIG_NOBODY) && setresuid(65534, 65534, 65534) < 0)
        _exit(99);
    if (mode & RIG_BINARY) {
        (void)execv(CORDON_GUARD_FILE, argv);
        _exit(98);
    }
    /* No exit handlers: a leak checker cannot look into a process that is not dumpable. */
    _exit(cordon_gate_main(3, argv + 1));
}

/* As PID 1: the namespace begins with the next child, which this process waits for. */
static inline void rig_run_in_namespace(int mode, const char *wait_ms, int pid_fd)
{
    int status = 0;
    if (unshare(CLONE_NEWPID) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
        _exit(97);
    pid_t pid = fork();
    if (pid == 0)
        rig_run_gate(mode, wait_ms);
    if (write(pid_fd, &pid, sizeof pid) != (ssize_t)sizeof pid || waitpid(pid, &status, 0) < 0)
        _exit(96);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 95);
}

static inline void rig_child(int mode, const char *wait_ms, int in[2], int out[2], int err[2],
                             int pids[2])
{
    (void)dup2(in[0], 0);
    (void)dup2(out[1], 1);
    (void)dup2(err[1], 2);
    int pid_fd = fcntl(pids[1], F_DUPFD_CLOEXEC, 64);
    for (int fd = 3; fd < 64; fd++)
        (void)close(fd);
    if (mode & RIG_NAMESPACE)
        rig_run_in_namespace(mode, wait_ms, pid_fd);
    (void)close(pid_fd);
    rig_run_gate(mode, wait_ms);
}

static inline bool rig_start(rig *r, int mode, const char *wait_ms)
{
    int in[2];
    int out[2];
    int err[2];
    int pids[2];
    *r = (rig){.out = cordon_buf_make(64 << 20),
               .err = cordon_buf_make(1 << 20),
               .report = cordon_buf_make(CORDON_GATE_REPORT_MAX),
               .key = {1, 2, 3, 4},
               .status = -1,
               .started = -1,
               .code = -1,
               .signal = -1,
               .errnum = -1,
               .outside = -1};
    (void)signal(SIGPIPE, SIG_IGN);
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0 ||
        pipe2(pids, O_CLOEXEC) < 0)
        return false;
    (void)fflush(NULL);
    r->pid = fork();
    if (r->pid == 0)
        rig_child(mode, wait_ms, in, out, err, pids);
    (void)close(in[0]);
    (void)close(out[1]);
    (void)close(err[1]);
    (void)close(pids[1]);
    r->to = in[1];
    r->from = out[0];
    r->errors = err[0];
    r->gate = r->pid;
    if (mode & RIG_NAMESPACE)
        (void)!read(pids[0], &r->gate, sizeof r->gate);
    (void)close(pids[0]);
    return r->pid > 0;
}

/* Reads one piece of stdout; false at its end. */
static inline bool rig_read(rig *r, int fd, cordon_buf *buf)
{
    char *space = NULL;
    short ready = 0;
    cordon_err err = CORDON_ERR_INIT;
    if (!CHECK_OK(cordon_deadline_poll(cordon_deadline_in_ms(RIG_MS, -1), fd, POLLIN, "gate",
                                       &ready, &err),
                  err) ||
        cordon_buf_reserve(buf, 65536, &space, &err) < 0) {
        (void)kill(r->gate, SIGKILL);
        return false;
    }
    ssize_t got = read(fd, space, 65536);
    if (got > 0)
        cordon_buf_commit(buf, (size_t)got);
    return got > 0;
}

/* Reads the report and takes the nonce from it. */
static inline bool rig_report(rig *r)
{
    size_t total = 0;
    size_t need = 1;
    cordon_err err = CORDON_ERR_INIT;
    cordon_frame_reader reader;
    cordon_frame_field field;
    while (need > 0) {
        if (r->out.length > 0 &&
            !CHECK_OK(cordon_frame_measure(CORDON_GATE_MAGIC_REPORT, r->out.data, r->out.length,
                                           CORDON_GATE_REPORT_MAX, &total, &need, &err),
                      err))
            return false;
        if (need > 0 && !rig_read(r, r->from, &r->out))
            return CHECK(!"the gate ended before its report");
    }
    if (!CHECK_OK(cordon_buf_append(&r->report, r->out.data, total, &err), err))
        return false;
    cordon_buf_consume(&r->out, total);
    if (!CHECK_OK(cordon_frame_open(&reader, CORDON_GATE_MAGIC_REPORT, r->report.data,
                                    r->report.length, cordon_frame_unkeyed, &err),
                  err))
        return false;
    bool found = false;
    while (cordon_frame_next(&reader, &field))
        if (field.tag == CORDON_GATE_REPORT_NONCE && field.length == sizeof r->nonce) {
            memcpy(r->nonce, field.bytes, sizeof r->nonce);
            found = true;
        }
    return CHECK(found);
}

/* Does the report hold a fact that begins with this text. */
static inline bool rig_has_fact(const rig *r, const char *start)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_frame_reader reader;
    cordon_frame_field field;
    if (cordon_frame_open(&reader, CORDON_GATE_MAGIC_REPORT, r->report.data, r->report.length,
                          cordon_frame_unkeyed, &err) < 0)
        return false;
    while (cordon_frame_next(&reader, &field))
        if (field.tag == CORDON_GATE_REPORT_FACT && field.length >= strlen(start) &&
            memcmp(field.bytes, start, strlen(start)) == 0)
            return true;
    return false;
}

typedef struct rig_release {
    const char *argv[24];
    const char *env[8];
    const char *secrets[8];
    const char *cwd;
    const void *input;
    size_t input_length;
    const char *rules[8];
    uint64_t landlock;
} rig_release;

static inline bool rig_build(const rig *r, const rig_release *what, cordon_frame *frame)
{
    cordon_err err = CORDON_ERR_INIT;
    bool ok =
        cordon_frame_init(frame, CORDON_GATE_MAGIC_RELEASE, CORDON_GATE_RELEASE_MAX, &err) == 0 &&
        cordon_frame_add_u64(frame, CORDON_GATE_RELEASE_VERSION, CORDON_GATE_VERSION, &err) == 0 &&
        cordon_frame_add_bytes(frame, CORDON_GATE_RELEASE_EXIT_KEY, r->key, sizeof r->key, &err) ==
            0;
    for (size_t i = 0; ok && what->argv[i]; i++)
        ok = cordon_frame_add_string(frame, CORDON_GATE_RELEASE_ARGV, what->argv[i], &err) == 0;
    for (size_t i = 0; ok && what->env[i]; i++)
        ok = cordon_frame_add_string(frame, CORDON_GATE_RELEASE_ENV, what->env[i], &err) == 0;
    for (size_t i = 0; ok && what->secrets[i]; i++)
        ok =
            cordon_frame_add_string(frame, CORDON_GATE_RELEASE_SECRET, what->secrets[i], &err) == 0;
    for (size_t i = 0; ok && what->rules[i]; i++)
        ok = cordon_frame_add_string(frame, CORDON_GATE_RELEASE_RULE, what->rules[i], &err) == 0;
    if (ok && what->input)
        ok = cordon_frame_add_bytes(frame, CORDON_GATE_RELEASE_STDIN, what->input,
                                    what->input_length, &err) == 0;
    ok = ok &&
         cordon_frame_add_string(frame, CORDON_GATE_RELEASE_CWD, what->cwd ? what->cwd : "/",
                                 &err) == 0 &&
         cordon_frame_add_u64(frame, CORDON_GATE_RELEASE_LANDLOCK, what->landlock, &err) == 0 &&
         cordon_frame_seal(frame, r->nonce, &err) == 0;
    return CHECK(ok);
}

static inline bool rig_send(rig *r, const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length > 0) {
        ssize_t sent = write(r->to, at, length);
        if (sent <= 0)
            return false;
        at += sent;
        length -= (size_t)sent;
    }
    return true;
}

static inline void rig_hang_up(rig *r)
{
    if (r->to >= 0)
        (void)close(r->to);
    r->to = -1;
}

static inline bool rig_send_release(rig *r, const rig_release *what)
{
    cordon_auto(cordon_frame) frame = {0};
    return rig_build(r, what, &frame) && CHECK(rig_send(r, frame.bytes.data, frame.bytes.length));
}

/* One frame of the gate's at `bytes`: its fields into code, signal, started. */
static inline bool rig_reply(rig *r, const char *magic, const char *bytes, size_t length)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_frame_reader reader;
    cordon_frame_field field;
    if (cordon_frame_open(&reader, magic, bytes, length, r->key, &err) < 0)
        return false;
    while (cordon_frame_next(&reader, &field)) {
        uint64_t value = 0;
        if (cordon_frame_field_u64(&field, &value, &err) < 0)
            return false;
        if (strcmp(magic, CORDON_GATE_MAGIC_STARTED) == 0)
            r->started = (int64_t)value;
        else if (field.tag == CORDON_GATE_EXIT_CODE)
            r->code = (int64_t)value;
        else if (field.tag == CORDON_GATE_EXIT_SIGNAL)
            r->signal = (int64_t)value;
        else if (field.tag == CORDON_GATE_EXIT_ERRNUM)
            r->errnum = (int64_t)value;
        else if (field.tag == CORDON_GATE_EXIT_OUTSIDE)
            r->outside = (int64_t)value;
    }
    return true;
}

static inline void rig_take_apart(rig *r)
{
    size_t total = 0;
    size_t need = 1;
    cordon_err err = CORDON_ERR_INIT;
    if (r->out.length > 0 &&
        cordon_frame_measure(CORDON_GATE_MAGIC_STARTED, r->out.data, r->out.length,
                             CORDON_GATE_REPLY_MAX, &total, &need, &err) == 0 &&
        need == 0 && rig_reply(r, CORDON_GATE_MAGIC_STARTED, r->out.data, total))
        r->output = total;
    r->output_length = r->out.length - r->output;
    /* The last frame: one field of 8 bytes, or two, or three. */
    static const size_t sizes[] = {CORDON_FRAME_OVERHEAD_BYTES + 14,
                                   CORDON_FRAME_OVERHEAD_BYTES + 28,
                                   CORDON_FRAME_OVERHEAD_BYTES + 42};
    for (size_t i = 0; i < 3; i++)
        if (r->output_length >= sizes[i] &&
            rig_reply(r, CORDON_GATE_MAGIC_EXIT, r->out.data + r->out.length - sizes[i],
                      sizes[i])) {
            r->output_length -= sizes[i];
            return;
        }
}

/* Core's word that the exit note has come; without one the gate would wait for it. */
static inline void rig_say_taken(rig *r)
{
    if (r->out.length > 0 && memmem(r->out.data, r->out.length, CORDON_GATE_MAGIC_EXIT,
                                    strlen(CORDON_GATE_MAGIC_EXIT)) != NULL)
        rig_hang_up(r);
}

/* Reads to the end of both streams, collects the gate, takes the output apart. */
static inline void rig_finish(rig *r)
{
    int status = 0;
    while (rig_read(r, r->from, &r->out))
        rig_say_taken(r);
    while (rig_read(r, r->errors, &r->err))
        ;
    rig_hang_up(r);
    if (waitpid(r->pid, &status, 0) == r->pid && WIFEXITED(status))
        r->status = WEXITSTATUS(status);
    rig_take_apart(r);
}

static inline bool rig_output_is(const rig *r, const char *want)
{
    size_t length = strlen(want);
    return TEST_RECORDF(r->output_length == length &&
                            memcmp(r->out.data + r->output, want, length) == 0,
                        "output \"%.*s\", want \"%s\"; stderr \"%s\"",
                        (int)(r->output_length < 200 ? r->output_length : 200),
                        r->out.data ? r->out.data + r->output : "", want, cordon_buf_text(&r->err));
}

static inline void rig_clear(rig *r)
{
    rig_hang_up(r);
    if (r->pid > 0) {
        (void)close(r->from);
        (void)close(r->errors);
    }
    cordon_buf_clear(&r->out);
    cordon_buf_clear(&r->err);
    cordon_buf_clear(&r->report);
}

CORDON_DEFINE_AUTO(rig, rig_clear)

/* The whole life of one released command. */
static inline bool rig_run(rig *r, int mode, const rig_release *what)
{
    if (!CHECK(rig_start(r, mode, "20000")) || !rig_report(r) || !rig_send_release(r, what))
        return false;
    rig_finish(r);
    return true;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A scripted Docker and an engine opened on it, for the test_script_docker_* programs. */
#ifndef CORDON_TESTS_CONTRACT_SCRIPT_DOCKER_H
#define CORDON_TESTS_CONTRACT_SCRIPT_DOCKER_H

#include "engine.h"
#include "kit/buf.h"
#include "kit/httpc.h"
#include "support/sample_file.h"
#include "support/test.h"
#include "support/udsd.h"

#define HEX          "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER        "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define PING_HEADERS "Api-Version: 1.41\r\nOstype: linux\r\n"
#define VERSION      "{\"Version\":\"20.10.24\",\"Os\":\"linux\",\"Arch\":\"amd64\"}"
#define PING                                                                                       \
    {                                                                                              \
        .method = "GET", .path = "/_ping", .status = 200, .json = "OK", .headers = PING_HEADERS    \
    }
#define ASK                                                                                        \
    {                                                                                              \
        .method = "GET", .path = "/v1.41/version", .status = 200, .json = VERSION                  \
    }

extern const cordon_engine_ops cordon_docker_ops;
static const cordon_engine_ops *const ops = &cordon_docker_ops;

/* A scripted daemon and an engine that was opened on it. */
typedef struct script {
    udsd *server;
    void *impl;
} script;

static inline void script_end(script *s)
{
    if (s->impl)
        ops->close(s->impl);
    udsd_stop(s->server);
}
CORDON_DEFINE_AUTO(script, script_end)

static inline int open_on(const udsd *server, void **ret_impl, cordon_err *err)
{
    char endpoint[256];
    (void)snprintf(endpoint, sizeof endpoint, "unix://%s", udsd_path(server));
    const cordon_engine_address address = {.endpoint = endpoint};
    return ops->open(&address, cordon_deadline_in_ms(30000, -1), ret_impl, err);
}

static inline bool script_begin(script *ret, const udsd_step *steps, size_t count)
{
    cordon_err err = CORDON_ERR_INIT;
    ret->server = udsd_start(steps, count);
    return CHECK(ret->server != NULL) && CHECK_OK(open_on(ret->server, &ret->impl, &err), err);
}

static inline cordon_deadline soon(void)
{
    return cordon_deadline_in_ms(30000, -1);
}

/* One answer to one changing call, and what it means. */
typedef struct answer {
    udsd_step step;
    cordon_code code;
    const char *part;
    bool has_id; /* of creates */
} answer;

typedef int change_fn(void *impl, char **ret_id, cordon_err *err);

/* SECURITY: whatever comes back, a change is asked for exactly once. */
static inline void check_answers(change_fn *call, const answer *answers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const udsd_step steps[] = {PING, ASK, answers[i].step};
        cordon_auto(script) s = {0};
        cordon_autofree char *id = NULL;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(script_begin(&s, steps, sizeof steps / sizeof steps[0]));
        int rc = call(s.impl, &id, &err);
        TEST_RECORDF(err.code == answers[i].code && rc == (err.code == CORDON_OK ? 0 : -1) &&
                         strstr(err.message, answers[i].part),
                     "answer %zu (%d %.80s): %s \"%.200s\", want %s \"%s\"", i,
                     answers[i].step.status, answers[i].step.json ? answers[i].step.json : "",
                     cordon_code_name(err.code), err.message, cordon_code_name(answers[i].code),
                     answers[i].part);
        CHECK((id != NULL) == answers[i].has_id);
        CHECK_INT(udsd_count(s.server), 3);
    }
}

#endif

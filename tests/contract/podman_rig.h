/* SPDX-License-Identifier: Apache-2.0 */
/* A server that plays a script, and the podman engine opened on it. */
#ifndef CORDON_TESTS_CONTRACT_PODMAN_RIG_H
#define CORDON_TESTS_CONTRACT_PODMAN_RIG_H

#include "engine.h"
#include "kit/httpc.h"
#include "support/test.h"
#include "support/udsd.h"

#include <stdlib.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

extern const cordon_engine_ops cordon_podman_ops;

#define API     "/v4.0.0/libpod"
#define ID      "bf37e58d5c016a09ce1447d5ddd7c8cfe56f28b01125c08ba39ecd3fd051847e"
#define NET     "1902b0fbd4b784c2f5511bf5b9987973bb9a542b96b7808391f9659f6de7dd84"
#define ON_ID   API "/containers/" ID
#define ON_NET  API "/networks/" NET
#define PING(v) "Libpod-Api-Version: " v "\r\nApi-Version: 1.41\r\nServer: Libpod/" v " (linux)\r\n"
#define PONG                                                                                       \
    {                                                                                              \
        .method = "GET", .path = "/libpod/_ping", .status = 200, .json = "OK",                     \
        .headers = PING("4.3.1"), .flags = UDSD_REPEAT                                             \
    }
#define FAILURE(cause, message)                                                                    \
    "{\"cause\":\"" cause "\",\"message\":\"" message "\",\"response\":500}"
#define NETWORK_JSON(id)                                                                           \
    "{\"name\":\"n1\",\"id\":\"" id "\",\"driver\":\"bridge\",\"internal\":true,"                  \
    "\"dns_enabled\":false,\"ipv6_enabled\":false,\"subnets\":[{\"subnet\":\"10.0.0.0/29\"}]}"

static const cordon_engine_ops *const ops = &cordon_podman_ops;

static inline cordon_deadline soon(void)
{
    return cordon_deadline_in_ms(20000, -1);
}

/* A scripted server and the engine that was opened on it. */
typedef struct rig {
    udsd *server;
    void *impl;
} rig;

static inline void rig_clear(rig *r)
{
    if (r->impl)
        ops->close(r->impl);
    udsd_stop(r->server);
    *r = (rig){0};
}
CORDON_DEFINE_AUTO(rig, rig_clear)

static inline int open_at(const udsd *server, void **ret_impl, cordon_err *err)
{
    char endpoint[256];
    cordon_engine_address address = {.endpoint = endpoint};
    (void)snprintf(endpoint, sizeof endpoint, "unix://%s", udsd_path(server));
    return ops->open(&address, soon(), ret_impl, err);
}

static inline bool rig_start(rig *r, const udsd_step *steps, size_t count)
{
    cordon_err err = CORDON_ERR_INIT;
    *r = (rig){.server = udsd_start(steps, count)};
    return CHECK(r->server != NULL) && CHECK_OK(open_at(r->server, &r->impl, &err), err);
}

/* One answer, and what it must mean. */
typedef struct answer {
    int status;
    const char *json;
    cordon_code code;
    const char *part;
} answer;

#endif

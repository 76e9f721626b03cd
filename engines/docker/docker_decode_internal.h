/* SPDX-License-Identifier: Apache-2.0 */
/* What the decoder files share with each other and nobody else. */
#ifndef CORDON_DOCKER_DECODE_INTERNAL_H
#define CORDON_DOCKER_DECODE_INTERNAL_H

#include "docker_decode.h"
#include "factread.h"

/* SECURITY: far deeper than any answer (the deepest known value lies at 6). */
#define DOCKER_JSON_DEPTH 32U

#define DOCKER_COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* The members or elements of a place; none when it is absent or null. */
static inline cordon_json_iter docker_items(cordon_json_place place)
{
    return place.has == CORDON_JSON_PRESENT ? cordon_json_iterate(place.value)
                                            : (cordon_json_iter){0};
}

/* Keys that may hold anything, with the reasons; for the tests that measure them, too. */
extern const cordon_factread_harmless docker_container_harmless[];
extern const size_t docker_container_harmless_count;
extern const cordon_factread_harmless docker_network_harmless[];
extern const size_t docker_network_harmless_count;

/* Parses a whole answer and requires an object at its root. */
int docker_parse_object(const void *json, size_t length, cordon_json_doc **ret_doc,
                        cordon_json *ret_root, cordon_err *err) __attribute__((warn_unused_result));

/* A mandatory "<64 hex>" or "sha256:<64 hex>" as bare hex. */
int docker_read_id(cordon_json object, const char *key, cordon_fact_text *ret_id, cordon_err *err)
    __attribute__((warn_unused_result));

/* Bare hex of an id text, or NULL when it is none; borrowed. */
const char *docker_bare_id(const char *text);

/* Mounts and devices of a container inspect (docker_decode_mounts.c). */
int docker_read_mounts(cordon_json root, cordon_json host, cordon_container_facts *facts,
                       cordon_err *err) __attribute__((warn_unused_result));

/* HostConfig but its mounts and ports (docker_decode_host.c). */
int docker_read_host(cordon_json host, cordon_container_facts *facts, cordon_err *err)
    __attribute__((warn_unused_result));

/* Endpoints and ports of a container inspect (docker_decode_endpoints.c). */
int docker_read_endpoints(cordon_json settings, cordon_container_facts *facts, cordon_err *err)
    __attribute__((warn_unused_result));
int docker_read_ports(cordon_json host, cordon_json settings, cordon_container_facts *facts,
                      cordon_err *err) __attribute__((warn_unused_result));

#define DOCKER_CONTAINER_FIELD(key, kind, fact, null)                                              \
    {                                                                                              \
        key, CORDON_READ_##kind, offsetof(cordon_container_facts, fact), CORDON_NULL_##null        \
    }

#endif

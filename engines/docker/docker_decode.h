/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's JSON to facts. Pure: bytes in, facts out, nothing is asked and nothing is judged;
 * tests and fuzzers include this file alone.
 *
 * SECURITY: the world is closed. A key is read into a fact, or listed as harmless with its reason
 * in the table at the head of the decoder, or ends in the facts' unmodelled list. A key that is
 * absent leaves its fact unknown; a value of the wrong type fails the whole answer (PROTOCOL with
 * its path). Outputs are untouched on failure.
 */
#ifndef CORDON_DOCKER_DECODE_H
#define CORDON_DOCKER_DECODE_H

#include "engine.h"

/* Makes a bridge without an address of its own; any other spelling is ignored without a word. */
#define DOCKER_OPTION_NO_ADDRESS "com.docker.network.bridge.inhibit_ipv4"

/* GET /version: what open keeps. Texts are heap strings of the caller. */
typedef struct docker_version {
    char *version;
    char *os;
    char *architecture;
    bool is_podman; /* Podman's compatible API names its components so */
} docker_version;

void docker_version_clear(docker_version *version);
CORDON_DEFINE_AUTO(docker_version, docker_version_clear)

int docker_decode_version(const void *json, size_t length, docker_version *ret_version,
                          cordon_err *err) __attribute__((warn_unused_result));

/*
 * GET /info: the parts of engine facts that it tells (kind, version and api are the caller's).
 * UNSUPPORTED: no seccomp, or a foreign OS.
 */
int docker_decode_info(const void *json, size_t length, cordon_engine_facts *ret_facts,
                       cordon_err *err) __attribute__((warn_unused_result));

/* "1.41" to 41. PROTOCOL when it is no version. */
int docker_decode_api(const char *text, unsigned *ret_minor, cordon_err *err)
    __attribute__((warn_unused_result));

/* The text of an error answer, printable: {"message": "..."} or whatever stands there. */
void docker_decode_error(const char *body, size_t length, char *ret_text, size_t size);

/*
 * Answer to a create: {"Id": ..., "Warnings": [...]} or {"Id": ..., "Warning": "..."}. *ret_id is
 * set as soon as it is known. WARNED: the daemon warned, quoted. INDETERMINATE: it took the
 * request and the answer cannot be read.
 */
int docker_decode_created(const void *json, size_t length, char **ret_id, cordon_err *err)
    __attribute__((warn_unused_result));

int docker_decode_container(const void *json, size_t length, cordon_container_facts *ret_facts,
                            cordon_err *err) __attribute__((warn_unused_result));

/* The body of wait: 0..255, else PROTOCOL, also when it carries an error beside the number. */
int docker_decode_exit(const void *json, size_t length, int *ret_exit_code, cordon_err *err)
    __attribute__((warn_unused_result));

int docker_decode_network(const void *json, size_t length, cordon_network_facts *ret_facts,
                          cordon_err *err) __attribute__((warn_unused_result));

/* GET /volumes/{name}; who uses it stands in another answer. */
int docker_decode_volume(const void *json, size_t length, cordon_volume_facts *ret_facts,
                         cordon_err *err) __attribute__((warn_unused_result));

/*
 * Answer to the create of a volume of that name. INDETERMINATE: it cannot be read, or is about
 * another one.
 */
int docker_decode_volume_created(const void *json, size_t length, const char *name, cordon_err *err)
    __attribute__((warn_unused_result));

/* Answer to the list of containers that name a volume: their ids, sorted. */
int docker_decode_users(const void *json, size_t length, cordon_fact_list *ret_users,
                        cordon_err *err) __attribute__((warn_unused_result));

/* GET /volumes. ENGINE: the daemon warns, so the list may not be whole. */
int docker_decode_volumes(const void *json, size_t length, cordon_list *ret_list, cordon_err *err)
    __attribute__((warn_unused_result));

int docker_decode_image(const void *json, size_t length, cordon_image_facts *ret_facts,
                        cordon_err *err) __attribute__((warn_unused_result));

/* Answer to a list of images. */
int docker_decode_images(const void *json, size_t length, cordon_image_list *ret_list,
                         cordon_err *err) __attribute__((warn_unused_result));

/* The object stream of an image load. ENGINE: one of them is an error. PROTOCOL: none is success.
 */
int docker_decode_load(const char *bytes, size_t length, cordon_err *err)
    __attribute__((warn_unused_result));

/* Answer to a list of containers or networks. */
int docker_decode_list(cordon_object_type type, const void *json, size_t length,
                       cordon_list *ret_list, cordon_err *err) __attribute__((warn_unused_result));

/* One event, without its line end. */
int docker_decode_event(const char *json, size_t length, cordon_event *ret_event, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

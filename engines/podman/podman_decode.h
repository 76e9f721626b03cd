/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libpod's answers -> facts. Pure functions over untrusted bytes, for fuzzing and for tests with
 * recorded answers. Closed-world: what a decoder does not know and what is not empty ends in
 * `unmodelled`; what the engine does not say stays unknown; a value of the wrong type fails the
 * whole answer with PROTOCOL and its path.
 */
#ifndef CORDON_PODMAN_DECODE_H
#define CORDON_PODMAN_DECODE_H

#include "engine.h"

/*
 * GET /containers/{id}/json.
 * @param major  of Podman: 4 says less than it seems to (ipc mode, OOM)
 */
int podman_decode_container(const void *bytes, size_t length, int major,
                            cordon_container_facts *ret_facts, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * The OCI configuration that Podman wrote for a container (OCI runtime specification, config.md and
 * config-linux.md). A key that is absent has the meaning that the specification gives it.
 * @param id  of the container, to know Podman's own files by
 */
int podman_decode_runtime(const void *bytes, size_t length, const char *id,
                          cordon_runtime_facts *ret_facts, cordon_err *err)
    __attribute__((warn_unused_result));

/* GET /networks/{id}/json. endpoints stay unknown: see podman_decode_members. */
int podman_decode_network(const void *bytes, size_t length, cordon_network_facts *ret_facts,
                          cordon_err *err) __attribute__((warn_unused_result));

/* Answer to the create of a volume of that name. PROTOCOL: cannot be read, or about another one. */
int podman_decode_volume_created(const void *bytes, size_t length, const char *name,
                                 cordon_err *err) __attribute__((warn_unused_result));

/* GET /volumes/{name}/json; who uses it stands in another answer. */
int podman_decode_volume(const void *bytes, size_t length, cordon_volume_facts *ret_facts,
                         cordon_err *err) __attribute__((warn_unused_result));

/* GET /containers/json, as the sorted ids. */
int podman_decode_members(const void *bytes, size_t length, cordon_fact_list *ret_ids,
                          cordon_err *err) __attribute__((warn_unused_result));

/* GET /containers/json or /networks/json. */
int podman_decode_list(const void *bytes, size_t length, cordon_object_type type,
                       cordon_list *ret_list, cordon_err *err) __attribute__((warn_unused_result));

/* Answer to a list of images. */
int podman_decode_images(const void *bytes, size_t length, cordon_image_list *ret_list,
                         cordon_err *err) __attribute__((warn_unused_result));

/* GET /images/{id}/json. */
int podman_decode_image(const void *bytes, size_t length, cordon_image_facts *ret_facts,
                        cordon_err *err) __attribute__((warn_unused_result));

/* One line of GET /events. */
int podman_decode_event(const char *line, size_t length, cordon_event *ret_event, cordon_err *err)
    __attribute__((warn_unused_result));

/* GET /info. UNSUPPORTED: not Linux, not netavark, no seccomp. */
int podman_decode_info(const void *bytes, size_t length, int major, cordon_engine_facts *ret_facts,
                       cordon_err *err) __attribute__((warn_unused_result));

#endif

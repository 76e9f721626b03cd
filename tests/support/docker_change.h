/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One change of a recorded answer of Docker's, and the line of its facts that must show it. For
 * the decoder's tests.
 */
#ifndef CORDON_TESTS_SUPPORT_DOCKER_CHANGE_H
#define CORDON_TESTS_SUPPORT_DOCKER_CHANGE_H

#include "docker/docker_decode.h"
#include "support/facts_text.h"
#include "support/sample_file.h"
#include "support/test.h"

typedef enum object { CONTAINER, NETWORK, IMAGE } object;

/* Decodes and writes the facts as text. */
static inline int decode(object what, const char *json, cordon_buf *out, cordon_err *err)
{
    cordon_auto(cordon_container_facts) container = {0};
    cordon_auto(cordon_network_facts) network = {0};
    cordon_auto(cordon_image_facts) image = {0};
    switch (what) {
    case CONTAINER:
        return docker_decode_container(json, strlen(json), &container, err) != 0
                   ? -1
                   : facts_text_container(&container, out);
    case NETWORK:
        return docker_decode_network(json, strlen(json), &network, err) != 0
                   ? -1
                   : facts_text_network(&network, out);
    case IMAGE:
        break;
    }
    return docker_decode_image(json, strlen(json), &image, err) != 0
               ? -1
               : facts_text_image(&image, out);
}

/* One change of a recorded answer, and the line that must then stand among the facts. */
typedef struct change {
    const char *from;
    const char *to;
    const char *line;
} change;

static inline void check_change(object what, const char *sample, const change *made)
{
    cordon_autofree char *mutant = sample_mutate(sample, made->from, made->to);
    cordon_auto(cordon_buf) got = cordon_buf_make(1 << 18);
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(mutant != NULL);
    int rc = decode(what, mutant, &got, &err);
    TEST_RECORDF(rc == 0 && strstr(cordon_buf_text(&got), made->line) != NULL,
                 "%s -> %s: no \"%s\" %.200s", made->from, made->to, made->line, err.message);
}

static inline void check_changes(object what, const char *path, const change *changes, size_t count)
{
    cordon_autofree char *sample = sample_read(path);
    REQUIRE(sample != NULL);
    for (size_t i = 0; i < count; i++)
        check_change(what, sample, &changes[i]);
}

#endif

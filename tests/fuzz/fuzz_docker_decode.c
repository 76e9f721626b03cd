/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every docker decoder over the same bytes. What must hold: no crash, no leak, an answer that was
 * taken has its id, and its unmodelled list is known.
 */
#include "docker_decode.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_facts(const uint8_t *data, size_t size)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_container_facts) container = {0};
    cordon_auto(cordon_network_facts) network = {0};
    cordon_auto(cordon_image_facts) image = {0};
    if (docker_decode_container(data, size, &container, &err) == 0 &&
        (container.id == NULL || container.image_id == NULL || !container.unmodelled.known))
        abort();
    cordon_err_clear(&err);
    if (docker_decode_network(data, size, &network, &err) == 0 &&
        (network.id == NULL || !network.unmodelled.known))
        abort();
    cordon_err_clear(&err);
    if (docker_decode_image(data, size, &image, &err) == 0 &&
        (image.id == NULL || !image.unmodelled.known))
        abort();
}

static void fuzz_daemon(const uint8_t *data, size_t size)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_engine_facts) engine = {0};
    cordon_auto(docker_version) version = {0};
    char text[64];
    (void)!docker_decode_info(data, size, &engine, &err);
    cordon_err_clear(&err);
    (void)!docker_decode_version(data, size, &version, &err);
    docker_decode_error((const char *)data, size, text, sizeof text);
}

static void fuzz_lists(const uint8_t *data, size_t size)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_list) containers = {0};
    cordon_auto(cordon_list) networks = {0};
    cordon_auto(cordon_event) event = {0};
    (void)!docker_decode_list(CORDON_OBJECT_CONTAINER, data, size, &containers, &err);
    cordon_err_clear(&err);
    (void)!docker_decode_list(CORDON_OBJECT_NETWORK, data, size, &networks, &err);
    cordon_err_clear(&err);
    if (docker_decode_event((const char *)data, size, &event, &err) == 0 && event.id == NULL)
        abort();
}

static void fuzz_small(const uint8_t *data, size_t size)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_autofree char *id = NULL;
    int code = -1;
    if (docker_decode_created(data, size, &id, &err) == 0 && id == NULL)
        abort();
    cordon_err_clear(&err);
    if (docker_decode_exit(data, size, &code, &err) == 0 && (code < 0 || code > 255))
        abort();
    cordon_err_clear(&err);
    (void)!docker_decode_load((const char *)data, size, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_facts(data, size);
    fuzz_daemon(data, size);
    fuzz_lists(data, size);
    fuzz_small(data, size);
    return 0;
}

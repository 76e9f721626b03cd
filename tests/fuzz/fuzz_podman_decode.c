/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every podman decoder over the same bytes. What must hold: no crash, no leak, and an answer that
 * was taken has its id.
 */
#include "podman_decode.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_container(const uint8_t *data, size_t size, int major)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_container_facts) facts = {0};
    if (podman_decode_container(data, size, major, &facts, &err) == 0 &&
        (facts.id == NULL || !facts.unmodelled.known))
        abort();
}

static void fuzz_objects(const uint8_t *data, size_t size)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_network_facts) network = {0};
    cordon_auto(cordon_image_facts) image = {0};
    cordon_auto(cordon_engine_facts) engine = {0};
    if (podman_decode_network(data, size, &network, &err) == 0 && network.id == NULL)
        abort();
    cordon_err_clear(&err);
    if (podman_decode_image(data, size, &image, &err) == 0 && image.id == NULL)
        abort();
    cordon_err_clear(&err);
    (void)!podman_decode_info(data, size, 4, &engine, &err);
}

static void fuzz_runtime(const uint8_t *data, size_t size)
{
    static const char id[] = "c4820af1b8627bd04daa8c4aa869da9b456418e860f6cc3298197617b6d1eefa";
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_runtime_facts) facts = {0};
    if (podman_decode_runtime(data, size, id, &facts, &err) == 0 &&
        (facts.seccomp_default == NULL || !facts.unmodelled.known || !facts.mounts.known))
        abort();
}

static void fuzz_changes(const uint8_t *data, size_t size)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_changes) changes = {0};
    if (cordon_changes_read(data, size, &changes, &err) != 0)
        return;
    for (size_t i = 0; i < changes.count; i++) {
        if (changes.items[i].kind == CORDON_CHANGE_UNKNOWN || changes.items[i].path[0] != '/')
            abort();
    }
}

static void fuzz_lists(const uint8_t *data, size_t size)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_auto(cordon_list) containers = {0};
    cordon_auto(cordon_list) networks = {0};
    cordon_auto(cordon_fact_list) members = {0};
    cordon_auto(cordon_event) event = {0};
    (void)!podman_decode_list(data, size, CORDON_OBJECT_CONTAINER, &containers, &err);
    cordon_err_clear(&err);
    (void)!podman_decode_list(data, size, CORDON_OBJECT_NETWORK, &networks, &err);
    cordon_err_clear(&err);
    (void)!podman_decode_members(data, size, &members, &err);
    cordon_err_clear(&err);
    (void)!podman_decode_event((const char *)data, size, &event, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_container(data, size, 4);
    fuzz_container(data, size, 5);
    fuzz_objects(data, size);
    fuzz_lists(data, size);
    fuzz_changes(data, size);
    fuzz_runtime(data, size);
    return 0;
}

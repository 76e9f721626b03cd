/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of specifications, and the id of an image in an archive. */
#include <stdio.h>
#include <string.h>

#include "support/fake_impl.h"

void *fake_keep_bytes(fake_arena *arena, const void *bytes, size_t length)
{
    void *copy = calloc(1, length ? length : 1);
    void **grown = reallocarray(arena->items, arena->count + 1, sizeof *grown);
    if (!copy || !grown)
        abort();
    arena->items = grown;
    arena->items[arena->count++] = copy;
    if (length > 0)
        memcpy(copy, bytes, length);
    return copy;
}

const char *fake_keep(fake_arena *arena, const char *text)
{
    return text ? fake_keep_bytes(arena, text, strlen(text) + 1) : NULL;
}

void fake_arena_clear(fake_arena *arena)
{
    for (size_t i = 0; i < arena->count; i++)
        free(arena->items[i]);
    free(arena->items);
    *arena = (fake_arena){0};
}

static cordon_texts keep_texts(fake_arena *arena, cordon_texts from)
{
    const char **items = fake_keep_bytes(arena, NULL, 0);
    if (from.count > 0)
        items = fake_keep_bytes(arena, from.items, from.count * sizeof *items);
    for (size_t i = 0; i < from.count; i++)
        items[i] = fake_keep(arena, from.items[i]);
    return (cordon_texts){items, from.count};
}

cordon_network_spec fake_keep_network(fake_arena *arena, const cordon_network_spec *spec)
{
    cordon_network_spec kept = *spec;
    kept.name = fake_keep(arena, spec->name);
    kept.subnet = fake_keep(arena, spec->subnet);
    kept.labels = keep_texts(arena, spec->labels);
    return kept;
}

cordon_volume_spec fake_keep_volume(fake_arena *arena, const cordon_volume_spec *spec)
{
    cordon_volume_spec kept = *spec;
    kept.name = fake_keep(arena, spec->name);
    kept.labels = keep_texts(arena, spec->labels);
    return kept;
}

static void keep_mounts(fake_arena *arena, const cordon_container_spec *spec,
                        cordon_container_spec *kept)
{
    size_t count = spec->mount_count;
    if (count == 0)
        return;
    cordon_mount_spec *mounts = fake_keep_bytes(arena, spec->mounts, count * sizeof *mounts);
    for (size_t i = 0; i < count; i++) {
        mounts[i].source = fake_keep(arena, mounts[i].source);
        mounts[i].target = fake_keep(arena, mounts[i].target);
    }
    kept->mounts = mounts;
}

static void keep_endpoints(fake_arena *arena, const cordon_container_spec *spec,
                           cordon_container_spec *kept)
{
    size_t count = spec->endpoint_count;
    if (count == 0)
        return;
    cordon_endpoint_spec *all = fake_keep_bytes(arena, spec->endpoints, count * sizeof *all);
    for (size_t i = 0; i < count; i++) {
        all[i].network_id = fake_keep(arena, all[i].network_id);
        all[i].network_name = fake_keep(arena, all[i].network_name);
        all[i].ipv4 = fake_keep(arena, all[i].ipv4);
        all[i].interface = fake_keep(arena, all[i].interface);
    }
    kept->endpoints = all;
}

cordon_container_spec fake_keep_container(fake_arena *arena, const cordon_container_spec *spec)
{
    cordon_container_spec kept = *spec;
    const struct {
        const char **to;
        const char *from;
    } texts[] = {{&kept.name, spec->name},
                 {&kept.image_id, spec->image_id},
                 {&kept.user, spec->user},
                 {&kept.working_dir, spec->working_dir},
                 {&kept.hostname, spec->hostname}};
    const struct {
        cordon_texts *to;
        cordon_texts from;
    } lists[] = {{&kept.labels, spec->labels},           {&kept.entrypoint, spec->entrypoint},
                 {&kept.command, spec->command},         {&kept.environment, spec->environment},
                 {&kept.dns_servers, spec->dns_servers}, {&kept.sysctls, spec->sysctls}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i].to = fake_keep(arena, texts[i].from);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        *lists[i].to = keep_texts(arena, lists[i].from);
    keep_mounts(arena, spec, &kept);
    keep_endpoints(arena, spec, &kept);
    return kept;
}

#define TAR_BLOCK       512
#define TAR_SIZE_OFFSET 124
#define TAR_SIZE_DIGITS 11

static size_t tar_size(const char *header)
{
    size_t size = 0;
    for (int i = 0; i < TAR_SIZE_DIGITS; i++) {
        char digit = header[TAR_SIZE_OFFSET + i];
        if (digit >= '0' && digit <= '7')
            size = size * 8 + (size_t)(digit - '0');
    }
    return size;
}

static bool is_config(const char *name)
{
    size_t length = strnlen(name, 100);
    static const char suffix[] = ".json";
    return length > strlen(suffix) && strcmp(name, "manifest.json") != 0 &&
           memcmp(name + length - strlen(suffix), suffix, strlen(suffix)) == 0;
}

/* The first text in the manifest's RepoTags. */
static bool read_name(const char *manifest, size_t length, fake_image *image)
{
    static const char key[] = "\"RepoTags\":[\"";
    const char *at = memmem(manifest, length, key, strlen(key));
    const char *end = NULL;
    if (!at)
        return false;
    at += strlen(key);
    end = memchr(at, '"', length - (size_t)(at - manifest));
    if (!end || (size_t)(end - at) >= sizeof image->name)
        return false;
    memcpy(image->name, at, (size_t)(end - at));
    return true;
}

static bool read_config(const char *config, size_t length, fake_image *image)
{
    uint8_t digest[CORDON_SHA256_BYTES];
    if (length >= sizeof image->config)
        return false;
    memcpy(image->config, config, length);
    cordon_sha256_digest(config, length, digest);
    cordon_hex_encode(digest, sizeof digest, image->id);
    return true;
}

bool fake_tar_image(const void *tar, size_t length, fake_image *ret_image)
{
    const char *at = tar;
    fake_image image = {0};
    while (length >= TAR_BLOCK && at[0] != '\0') {
        size_t size = tar_size(at);
        size_t whole = TAR_BLOCK + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
        if (whole > length)
            return false;
        if (is_config(at) && !read_config(at + TAR_BLOCK, size, &image))
            return false;
        if (strcmp(at, "manifest.json") == 0 && !read_name(at + TAR_BLOCK, size, &image))
            return false;
        at += whole;
        length -= whole;
    }
    *ret_image = image;
    return image.id[0] != '\0';
}

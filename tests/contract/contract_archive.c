/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a docker-archive of one image in memory (OCI image spec 1.0; ustar of POSIX.1). */
#include "contract.h"

#include <stdio.h>

#include "kit/buf.h"
#include "kit/hash.h"

#define BLOCK 512U

/* One file, root-owned, from the epoch; the checksum is the sum of the header with blanks in it. */
static bool add_file(cordon_buf *tar, const char *name, const void *bytes, size_t length)
{
    char header[BLOCK] = {0};
    static const char zeros[BLOCK] = {0};
    cordon_err err = CORDON_ERR_INIT;
    unsigned sum = 0;
    (void)snprintf(header, 100, "%s", name);
    (void)snprintf(header + 100, 8, "%07o", 0755U);
    (void)snprintf(header + 108, 8, "%07o", 0U);
    (void)snprintf(header + 116, 8, "%07o", 0U);
    (void)snprintf(header + 124, 12, "%011zo", length);
    (void)snprintf(header + 136, 12, "%011o", 0U);
    memset(header + 148, ' ', 8);
    header[156] = '0';
    memcpy(header + 257, "ustar\00000", 8);
    for (size_t i = 0; i < BLOCK; i++)
        sum += (unsigned char)header[i];
    (void)snprintf(header + 148, 8, "%06o", sum);
    size_t padding = (BLOCK - length % BLOCK) % BLOCK;
    return cordon_buf_append(tar, header, BLOCK, &err) == 0 &&
           cordon_buf_append(tar, bytes, length, &err) == 0 &&
           cordon_buf_append(tar, zeros, padding, &err) == 0;
}

static bool end_tar(cordon_buf *tar)
{
    static const char zeros[2 * BLOCK] = {0};
    cordon_err err = CORDON_ERR_INIT;
    return cordon_buf_append(tar, zeros, sizeof zeros, &err) == 0;
}

static void digest_of(const cordon_buf *buf, char text[CORDON_SHA256_HEX_SIZE])
{
    uint8_t digest[CORDON_SHA256_BYTES];
    cordon_sha256_digest(buf->data, buf->length, digest);
    cordon_hex_encode(digest, sizeof digest, text);
}

static bool write_config(cordon_buf *config, const char *architecture, const char *base_layer,
                         const char *layer)
{
    cordon_err err = CORDON_ERR_INIT;
    return cordon_buf_printf(config, &err,
                             "{\"architecture\":\"%s\",\"os\":\"linux\",\"config\":{\"Labels\":"
                             "{\"cordon.contract\":\"image\"}},\"rootfs\":{\"type\":\"layers\","
                             "\"diff_ids\":[%s%s%s\"sha256:%s\"]}}",
                             architecture, base_layer ? "\"" : "", base_layer ? base_layer : "",
                             base_layer ? "\"," : "", layer) == 0;
}

static bool pack(const cordon_buf *config, const cordon_buf *layer, bool on_base, archive *ret)
{
    cordon_auto(cordon_buf) tar = cordon_buf_make(1 << 20);
    char name[CORDON_SHA256_HEX_SIZE + 8];
    char manifest[256];
    cordon_err err = CORDON_ERR_INIT;
    digest_of(config, ret->image_id);
    (void)snprintf(name, sizeof name, "%s.json", ret->image_id);
    (void)snprintf(manifest, sizeof manifest,
                   "[{\"Config\":\"%s\",\"RepoTags\":null,\"Layers\":[%s\"layer.tar\"]}]", name,
                   on_base ? "\"base.tar\"," : "");
    return add_file(&tar, name, config->data, config->length) &&
           add_file(&tar, "layer.tar", layer->data, layer->length) &&
           add_file(&tar, "manifest.json", manifest, strlen(manifest)) && end_tar(&tar) &&
           cordon_buf_take(&tar, &ret->tar, &ret->length, &err) == 0;
}

bool archive_make(const char *base_layer, const char *architecture, archive *ret_archive)
{
    cordon_auto(cordon_buf) layer = cordon_buf_make(1 << 20);
    cordon_auto(cordon_buf) config = cordon_buf_make(1 << 16);
    char layer_id[CORDON_SHA256_HEX_SIZE];
    char content[33];
    cordon_err err = CORDON_ERR_INIT;
    /* another content each time, so that no earlier run's image answers for this one's */
    if (!CHECK_OK(cordon_random_hex(content, 32, &err), err) ||
        !add_file(&layer, "contract-file", content, 32) || !end_tar(&layer))
        return false;
    digest_of(&layer, layer_id);
    return CHECK(write_config(&config, architecture, base_layer, layer_id)) &&
           CHECK(pack(&config, &layer, base_layer != NULL, ret_archive));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Building docker-archive tars; see archive.h. */
#include "archive.h"

#include <stdio.h>
#include <string.h>

#include "image_config.h"
#include "kit/jsonw.h"

/* POSIX.1-1988 ustar, the subset that one static file needs: pax(1), "ustar Interchange Format". */
#define TAR_BLOCK CORDON_ARCHIVE_BLOCK

typedef struct tar_header {
    char name[100];
    char mode[8];
    char uid[8];
    char gid[8];
    char size[12];
    char mtime[12];
    char checksum[8];
    char type;
    char linkname[100];
    char magic[6];
    char version[2];
    char uname[32];
    char gname[32];
    char devmajor[8];
    char devminor[8];
    char prefix[155];
    char padding[12];
} tar_header;

_Static_assert(sizeof(tar_header) == TAR_BLOCK, "a ustar header is one block");

/* Sum of all header bytes with the checksum field taken as blanks. */
static unsigned tar_checksum(const tar_header *header)
{
    const unsigned char *bytes = (const unsigned char *)header;
    unsigned sum = 0;

    for (size_t i = 0; i < sizeof(*header); i++)
        sum += bytes[i];
    return sum;
}

/* Everything that could differ between two machines - owner, time, names - is zero. */
static void tar_fill_header(tar_header *header, const char *name, char type, uint64_t size)
{
    memset(header, 0, sizeof(*header));
    (void)snprintf(header->name, sizeof(header->name), "%s", name);
    (void)snprintf(header->mode, sizeof(header->mode), "%07o", 0755);
    (void)snprintf(header->uid, sizeof(header->uid), "%07o", 0);
    (void)snprintf(header->gid, sizeof(header->gid), "%07o", 0);
    (void)snprintf(header->size, sizeof(header->size), "%011llo", (unsigned long long)size);
    (void)snprintf(header->mtime, sizeof(header->mtime), "%011o", 0);
    (void)snprintf(header->devmajor, sizeof(header->devmajor), "%07o", 0);
    (void)snprintf(header->devminor, sizeof(header->devminor), "%07o", 0);
    header->type = type;
    memcpy(header->magic, "ustar", sizeof(header->magic));
    memcpy(header->version, "00", sizeof(header->version));
    memset(header->checksum, ' ', sizeof(header->checksum));
    (void)snprintf(header->checksum, sizeof(header->checksum), "%06o", tar_checksum(header));
    header->checksum[7] = ' ';
}

void cordon_archive_header(const char *name, uint64_t size, char ret_block[CORDON_ARCHIVE_BLOCK])
{
    tar_header header;

    tar_fill_header(&header, name, '0', size);
    memcpy(ret_block, &header, sizeof(header));
}

static int tar_pad(cordon_buf *tar, size_t blocks_of, cordon_err *err)
{
    static const char zeros[TAR_BLOCK] = {0};
    size_t over = tar->length % blocks_of;

    if (over == 0)
        return 0;
    return cordon_buf_append(tar, zeros, blocks_of - over, err);
}

static int tar_add(cordon_buf *tar, const char *name, char type, const void *bytes, size_t length,
                   cordon_err *err)
{
    tar_header header;

    tar_fill_header(&header, name, type, length);
    if (cordon_buf_append(tar, &header, sizeof(header), err) != 0 ||
        (length > 0 && cordon_buf_append(tar, bytes, length, err) != 0))
        return -1;
    return tar_pad(tar, TAR_BLOCK, err);
}

static int tar_finish(cordon_buf *tar, cordon_err *err)
{
    static const char end[2 * TAR_BLOCK] = {0};

    return cordon_buf_append(tar, end, sizeof(end), err);
}

static int archive_layer(const cordon_archive_input *input, cordon_buf *layer, cordon_err *err)
{
    char path[64];

    if (input->folder[0] != '\0') {
        (void)snprintf(path, sizeof(path), "%s/", input->folder);
        if (tar_add(layer, path, '5', NULL, 0, err) != 0)
            return -1;
        (void)snprintf(path, sizeof(path), "%s/cordon-guard", input->folder);
    } else {
        (void)snprintf(path, sizeof(path), "cordon-guard");
    }
    if (tar_add(layer, path, '0', input->program, input->program_length, err) != 0)
        return -1;
    return tar_finish(layer, err);
}

static void hex_digest(const cordon_buf *bytes, char ret_hex[CORDON_SHA256_HEX_SIZE])
{
    uint8_t digest[CORDON_SHA256_BYTES];

    cordon_sha256_digest(bytes->data, bytes->length, digest);
    cordon_hex_encode(digest, sizeof(digest), ret_hex);
}

/* All layers, the archive's own last. */
static int archive_config(const cordon_archive_input *input, const char *layer_digest,
                          cordon_buf *config, cordon_err *err)
{
    cordon_auto(cordon_fact_list) layers = {0};

    for (size_t i = 0; i < input->base_layers.count; i++) {
        if (cordon_fact_list_add(&layers, input->base_layers.items[i], err) != 0)
            return -1;
    }
    if (cordon_fact_list_addf(&layers, err, "sha256:%s", layer_digest) != 0)
        return -1;
    return cordon_image_config_write(input->architecture, &layers, NULL, config, err);
}

/* Where a layer's tar would be in the archive; those of the base are not there. */
static void archive_layer_path(const char *digest, char *ret_path, size_t size)
{
    (void)snprintf(ret_path, size, "%s/layer.tar", digest);
}

static int archive_manifest(const cordon_archive_input *input, const char *config_name,
                            const char *layer_digest, cordon_buf *manifest, cordon_err *err)
{
    char path[CORDON_SHA256_HEX_SIZE + 16];
    cordon_jsonw json;

    cordon_jsonw_init(&json, manifest);
    cordon_jsonw_begin_array(&json, NULL);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_string(&json, "Config", config_name);
    cordon_jsonw_begin_array(&json, "RepoTags");
    cordon_jsonw_string(&json, NULL, input->name);
    cordon_jsonw_end_array(&json);
    cordon_jsonw_begin_array(&json, "Layers");
    for (size_t i = 0; i < input->base_layers.count; i++) {
        const char *colon = strchr(input->base_layers.items[i], ':');

        archive_layer_path(colon != NULL ? colon + 1 : "base", path, sizeof(path));
        cordon_jsonw_string(&json, NULL, path);
    }
    archive_layer_path(layer_digest, path, sizeof(path));
    cordon_jsonw_string(&json, NULL, path);
    cordon_jsonw_end_array(&json);
    cordon_jsonw_end_object(&json);
    cordon_jsonw_end_array(&json);
    return cordon_jsonw_finish(&json, err);
}

/* The parts that both the id and the archive need. */
typedef struct archive_parts {
    cordon_buf layer;
    cordon_buf config;
    char layer_digest[CORDON_SHA256_HEX_SIZE];
    char config_digest[CORDON_SHA256_HEX_SIZE];
} archive_parts;

static void archive_parts_clear(archive_parts *parts)
{
    cordon_buf_clear(&parts->layer);
    cordon_buf_clear(&parts->config);
}

static int archive_prepare(const cordon_archive_input *input, archive_parts *parts, cordon_err *err)
{
    parts->layer = cordon_buf_make(CORDON_ARCHIVE_MAX);
    parts->config = cordon_buf_make(CORDON_ARCHIVE_MAX);
    if (archive_layer(input, &parts->layer, err) != 0)
        return -1;
    hex_digest(&parts->layer, parts->layer_digest);
    if (archive_config(input, parts->layer_digest, &parts->config, err) != 0)
        return -1;
    hex_digest(&parts->config, parts->config_digest);
    return 0;
}

int cordon_archive_image_id(const cordon_archive_input *input, char ret_id[CORDON_SHA256_HEX_SIZE],
                            cordon_err *err)
{
    cordon_cleanup(archive_parts_clear) archive_parts parts = {0};

    if (archive_prepare(input, &parts, err) != 0)
        return -1;
    memcpy(ret_id, parts.config_digest, CORDON_SHA256_HEX_SIZE);
    return 0;
}

int cordon_archive_build(const cordon_archive_input *input, cordon_buf *ret_tar, cordon_err *err)
{
    cordon_cleanup(archive_parts_clear) archive_parts parts = {0};
    cordon_auto(cordon_buf) manifest = cordon_buf_make(CORDON_ARCHIVE_MAX);
    char config_name[CORDON_SHA256_HEX_SIZE + 8];
    char layer_path[CORDON_SHA256_HEX_SIZE + 16];

    if (archive_prepare(input, &parts, err) != 0)
        return -1;
    (void)snprintf(config_name, sizeof(config_name), "%s.json", parts.config_digest);
    archive_layer_path(parts.layer_digest, layer_path, sizeof(layer_path));
    if (archive_manifest(input, config_name, parts.layer_digest, &manifest, err) != 0 ||
        tar_add(ret_tar, config_name, '0', parts.config.data, parts.config.length, err) != 0 ||
        tar_add(ret_tar, layer_path, '0', parts.layer.data, parts.layer.length, err) != 0 ||
        tar_add(ret_tar, "manifest.json", '0', manifest.data, manifest.length, err) != 0)
        return -1;
    return tar_finish(ret_tar, err);
}

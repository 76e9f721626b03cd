/* SPDX-License-Identifier: Apache-2.0 */
/* Making the archive of an agent's image; see image_archive.h. */
#include "image_archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive.h"
#include "kit/hash.h"
#include "kit/jsonw.h"

#define COPY_BYTES ((size_t)1 << 20)
#define PART_MAX   ((size_t)256 << 10)
/* POSIX.1-1988 ustar: where "ustar" stands in the first header. */
#define TAR_MAGIC_AT 257

void cordon_image_archive_clear(cordon_image_archive *archive)
{
    if (archive->bytes != NULL)
        (void)munmap(archive->bytes, archive->length);
    *archive = (cordon_image_archive){0};
}

/* What is being written. */
typedef struct archive_file {
    int fd;
    int64_t length;
    char layer[CORDON_SHA256_HEX_SIZE];
} archive_file;

/* SECURITY: without a name from the first moment on that anything stands in it. */
static int open_copy(const char *folder, int *ret_fd, cordon_err *err)
{
    cordon_autofree char *path = NULL;
    int fd = -1;

    if (asprintf(&path, "%s/.cordon-image-XXXXXX", folder) < 0) {
        path = NULL;
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "cannot make a file in %s", CORDON_QUOTE(folder));
    (void)unlink(path);
    *ret_fd = fd;
    return 0;
}

static int append(archive_file *file, const void *bytes, size_t length, cordon_err *err)
{
    const char *at = bytes;

    while (length > 0) {
        ssize_t wrote = write(file->fd, at, length);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return CORDON_FAIL_ERRNO(err, errno, "cannot write the archive of the image");
        at += wrote;
        length -= (size_t)wrote;
        file->length += wrote;
    }
    return 0;
}

static int pad(archive_file *file, cordon_err *err)
{
    static const char zeros[CORDON_ARCHIVE_BLOCK] = {0};
    size_t over = (size_t)(file->length % CORDON_ARCHIVE_BLOCK);

    return over == 0 ? 0 : append(file, zeros, CORDON_ARCHIVE_BLOCK - over, err);
}

/* One small file of the archive. */
static int append_part(archive_file *file, const char *name, const cordon_buf *part,
                       cordon_err *err)
{
    char header[CORDON_ARCHIVE_BLOCK];

    cordon_archive_header(name, part->length, header);
    if (append(file, header, sizeof header, err) != 0 ||
        append(file, part->data, part->length, err) != 0)
        return -1;
    return pad(file, err);
}

/* Whether a first piece looks like a tar: the engine would say it less well. */
static int check_tar(const char *bytes, size_t length, cordon_err *err)
{
    if (length >= CORDON_ARCHIVE_BLOCK && memcmp(bytes + TAR_MAGIC_AT, "ustar", 5) == 0)
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                       "it is no uncompressed tar of a root; etc/images/build makes one");
}

/* One piece of the tar; *ret_got is 0 at its end. */
static int copy_piece(int tar_fd, archive_file *file, char *piece, cordon_sha256 *sha,
                      size_t *ret_got, cordon_err *err)
{
    ssize_t got;

    do {
        got = read(tar_fd, piece, COPY_BYTES);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return CORDON_FAIL_ERRNO(err, errno, "cannot read the tar");
    if (file->length == CORDON_ARCHIVE_BLOCK && check_tar(piece, (size_t)got, err) != 0)
        return -1;
    if (file->length + got > CORDON_IMAGE_TAR_MAX)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "the tar is larger than 4 GiB");
    cordon_sha256_update(sha, piece, (size_t)got);
    *ret_got = (size_t)got;
    return append(file, piece, (size_t)got, err);
}

/* The layer: copied and hashed in one go; its header, which has both results, comes last. */
static int copy_layer(int tar_fd, archive_file *file, cordon_deadline dl, cordon_err *err)
{
    char header[CORDON_ARCHIVE_BLOCK] = {0};
    char name[CORDON_SHA256_HEX_SIZE + 16];
    uint8_t digest[CORDON_SHA256_BYTES];
    cordon_autofree char *piece = malloc(COPY_BYTES);
    cordon_sha256 sha;
    size_t got = 1;

    if (piece == NULL)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    cordon_sha256_init(&sha);
    if (append(file, header, sizeof header, err) != 0)
        return -1;
    while (got > 0) {
        if (cordon_deadline_check(dl, "copying the tar", err) != 0 ||
            copy_piece(tar_fd, file, piece, &sha, &got, err) != 0)
            return -1;
    }
    cordon_sha256_final(&sha, digest);
    cordon_hex_encode(digest, sizeof digest, file->layer);
    (void)snprintf(name, sizeof name, "%s/layer.tar", file->layer);
    cordon_archive_header(name, (uint64_t)file->length - sizeof header, header);
    if (pwrite(file->fd, header, sizeof header, 0) != (ssize_t)sizeof header)
        return CORDON_FAIL_ERRNO(err, errno, "cannot write the archive of the image");
    return pad(file, err);
}

static int write_manifest(const archive_file *file, const cordon_image_archive *archive,
                          const char *config, cordon_buf *out, cordon_err *err)
{
    char layer[CORDON_SHA256_HEX_SIZE + 16];
    cordon_jsonw json;

    (void)snprintf(layer, sizeof layer, "%s/layer.tar", file->layer);
    cordon_jsonw_init(&json, out);
    cordon_jsonw_begin_array(&json, NULL);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_string(&json, "Config", config);
    cordon_jsonw_begin_array(&json, "RepoTags");
    cordon_jsonw_string(&json, NULL, archive->name);
    cordon_jsonw_end_array(&json);
    cordon_jsonw_begin_array(&json, "Layers");
    cordon_jsonw_string(&json, NULL, layer);
    cordon_jsonw_end_array(&json);
    cordon_jsonw_end_object(&json);
    cordon_jsonw_end_array(&json);
    return cordon_jsonw_finish(&json, err);
}

/* Configuration and manifest behind the layer, and the end of the archive. */
static int append_rest(archive_file *file, const char *architecture,
                       const cordon_image_badge *badge, cordon_image_archive *archive,
                       cordon_err *err)
{
    static const char end[2 * CORDON_ARCHIVE_BLOCK] = {0};
    cordon_auto(cordon_buf) config = cordon_buf_make(PART_MAX);
    cordon_auto(cordon_buf) manifest = cordon_buf_make(PART_MAX);
    cordon_auto(cordon_fact_list) layers = {0};
    uint8_t digest[CORDON_SHA256_BYTES];
    char name[CORDON_SHA256_HEX_SIZE + 8];

    if (cordon_fact_list_addf(&layers, err, "sha256:%s", file->layer) != 0 ||
        cordon_image_config_write(architecture, &layers, badge, &config, err) != 0)
        return -1;
    cordon_sha256_digest(config.data, config.length, digest);
    cordon_hex_encode(digest, sizeof digest, archive->id);
    (void)snprintf(archive->name, sizeof archive->name, CORDON_IMAGE_NAME_AGENT "%s:%s", badge->cli,
                   badge->version);
    (void)snprintf(name, sizeof name, "%s.json", archive->id);
    if (write_manifest(file, archive, name, &manifest, err) != 0 ||
        append_part(file, name, &config, err) != 0 ||
        append_part(file, "manifest.json", &manifest, err) != 0)
        return -1;
    return append(file, end, sizeof end, err);
}

int cordon_image_archive_make(int tar_fd, const char *folder, const char *architecture,
                              const cordon_image_badge *badge, cordon_deadline dl,
                              cordon_image_archive *ret_archive, cordon_err *err)
{
    cordon_autoclose int fd = -1;
    cordon_image_archive archive = {0};
    archive_file file = {0};
    void *bytes;

    if (open_copy(folder, &fd, err) != 0)
        return -1;
    file.fd = fd;
    if (copy_layer(tar_fd, &file, dl, err) != 0 ||
        append_rest(&file, architecture, badge, &archive, err) != 0)
        return -1;
    bytes = mmap(NULL, (size_t)file.length, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return CORDON_FAIL_ERRNO(err, errno, "cannot map the archive of the image");
    archive.bytes = bytes;
    archive.length = (size_t)file.length;
    *ret_archive = archive;
    return 0;
}

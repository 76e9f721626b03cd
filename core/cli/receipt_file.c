/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a receipt and of a diff. SECURITY: it may lie in a folder that the command can write
 * to, so the folder is held by descriptor from before the run, the new file is made only after the
 * command is gone, with an unguessable name, and links are never followed.
 */
#include "receipt_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kit/buf.h"
#include "kit/deadline.h"
#include "kit/random.h"
#include "output.h"

#define PATH_LIMIT   4096
#define TOKEN_DIGITS 16
#define TO_STDERR_MS 5000

/* folder is -1 for standard error. */
struct cordon_cli_receipt_file {
    int folder;
    char *path;
    const char *name; /* last part of path */
    const char *option;
};

void cordon_cli_receipt_file_free(cordon_cli_receipt_file *file)
{
    if (!file)
        return;
    if (file->folder >= 0)
        (void)close(file->folder);
    free(file->path);
    free(file);
}

static int open_folder(cordon_cli_receipt_file *file, cordon_err *err)
{
    cordon_auto(cordon_buf) folder = cordon_buf_make(PATH_LIMIT);
    size_t length = (size_t)(file->name - file->path);
    if (cordon_buf_append(&folder, length ? file->path : ".", length ? length : 1, err) != 0)
        return -1;
    file->folder = open(folder.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file->folder < 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "%s: folder %s cannot be opened: %s; make it first", file->option,
                           CORDON_QUOTE(folder.data), strerrordesc_np(errno));
    if (faccessat(file->folder, ".", W_OK | X_OK, AT_EACCESS) != 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "%s: folder %s cannot be written: %s; choose another", file->option,
                           CORDON_QUOTE(folder.data), strerrordesc_np(errno));
    return 0;
}

/* Replacing a device or a link by a file would break more than a receipt is worth. */
static int check_target(const cordon_cli_receipt_file *file, cordon_err *err)
{
    struct stat there;
    if (fstatat(file->folder, file->name, &there, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT)
            return 0;
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s: %s: %s; choose another name", file->option,
                           CORDON_QUOTE(file->path), strerrordesc_np(errno));
    }
    if (!S_ISREG(there.st_mode))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s: %s is no plain file; choose another name",
                           file->option, CORDON_QUOTE(file->path));
    return 0;
}

static int split(cordon_cli_receipt_file *file, const char *path, cordon_err *err)
{
    file->path = strdup(path);
    if (!file->path)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    const char *slash = strrchr(file->path, '/');
    file->name = slash ? slash + 1 : file->path;
    if (file->name[0] == '\0' || strlen(path) >= PATH_LIMIT)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s: %s names no file; give a file name",
                           file->option, CORDON_QUOTE(path));
    return 0;
}

int cordon_cli_receipt_file_open(const char *path, cordon_cli_receipt_file **ret_file,
                                 cordon_err *err)
{
    return cordon_cli_out_file_open(path, "--receipt", ret_file, err);
}

int cordon_cli_out_file_open(const char *path, const char *option,
                             cordon_cli_receipt_file **ret_file, cordon_err *err)
{
    cordon_auto_ptr(cordon_cli_receipt_file) file = calloc(1, sizeof *file);
    if (!file)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    file->folder = -1;
    file->option = option;
    if (strcmp(path, "-") != 0 && (split(file, path, err) != 0 || open_folder(file, err) != 0 ||
                                   check_target(file, err) != 0))
        return -1;
    *ret_file = CORDON_TAKE(file);
    return 0;
}

/* What is written; end is what comes behind it. */
typedef struct out_text {
    const char *bytes;
    size_t length;
    const char *end;
} out_text;

static int write_text(int fd, const out_text *text, int64_t budget_ms, const char *what,
                      cordon_err *err)
{
    cordon_deadline deadline = cordon_deadline_in_ms(budget_ms, -1);
    if (cordon_cli_write(fd, text->bytes, text->length, deadline, what, err) != 0)
        return -1;
    return cordon_cli_write(fd, text->end, strlen(text->end), deadline, what, err);
}

/* Fills the new file, syncs it and gives it its name. */
static int place(const cordon_cli_receipt_file *file, int fd, const char *temporary,
                 const out_text *text, cordon_err *err)
{
    if (write_text(fd, text, INT64_MAX, file->path, err) != 0)
        return -1;
    if (fsync(fd) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "%s", CORDON_QUOTE(file->path));
    if (check_target(file, err) != 0)
        return -1;
    if (renameat(file->folder, temporary, file->folder, file->name) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "%s", CORDON_QUOTE(file->path));
    return 0;
}

static int put_text(const cordon_cli_receipt_file *file, const out_text *text, cordon_err *err)
{
    if (file->folder < 0)
        return write_text(STDERR_FILENO, text, TO_STDERR_MS, "standard error", err);
    char token[TOKEN_DIGITS + 1];
    char temporary[sizeof ".cordon-receipt-" + TOKEN_DIGITS];
    if (cordon_random_hex(token, TOKEN_DIGITS, err) != 0)
        return -1;
    (void)snprintf(temporary, sizeof temporary, ".cordon-receipt-%s", token);
    cordon_autoclose int fd =
        openat(file->folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "%s: %s", file->option, CORDON_QUOTE(file->path));
    if (place(file, fd, temporary, text, err) != 0) {
        (void)unlinkat(file->folder, temporary, 0);
        return -1;
    }
    return 0;
}

int cordon_cli_receipt_file_write(const cordon_cli_receipt_file *file, const char *json,
                                  cordon_err *err)
{
    return put_text(file, &(out_text){json, strlen(json), "\n"}, err);
}

int cordon_cli_out_file_write(const cordon_cli_receipt_file *file, const char *bytes, size_t length,
                              cordon_err *err)
{
    return put_text(file, &(out_text){bytes, length, ""}, err);
}

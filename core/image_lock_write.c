/* SPDX-License-Identifier: Apache-2.0 */
/* Changing the lock file of images: whole, at once, under a lock on its folder; see image_lock.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image_lock.h"
#include "kit/buf.h"
#include "kit/jsonw.h"
#include "kit/random.h"
#include "text_list.h"

#define LOCK_TEXT_MAX ((size_t)256 << 10)
#define TOKEN_DIGITS  16

static bool same_place(const cordon_image_entry *a, const cordon_image_entry *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->engine, b->engine) == 0 &&
           strcmp(a->architecture, b->architecture) == 0;
}

static void write_known(cordon_jsonw *json, const char *key, const char *text)
{
    if (text[0] != '\0')
        cordon_jsonw_string(json, key, text);
}

static void write_entry(cordon_jsonw *json, const cordon_image_entry *entry)
{
    cordon_jsonw_begin_object(json, NULL);
    cordon_jsonw_string(json, "name", entry->name);
    cordon_jsonw_string(json, "engine", entry->engine);
    cordon_jsonw_string(json, "architecture", entry->architecture);
    cordon_jsonw_string(json, "id", entry->id);
    write_known(json, "cli", entry->cli);
    write_known(json, "version", entry->version);
    write_known(json, "recipe", entry->recipe);
    cordon_jsonw_string(json, "pinned", entry->pinned);
    cordon_jsonw_end_object(json);
}

/* One entry a line, for people and their diffs. */
static int write_lock(const cordon_image_lock *lock, cordon_buf *out, cordon_err *err)
{
    if (cordon_buf_append_text(out, "{\"cordon_images\": 1, \"images\": [", err) != 0)
        return -1;
    for (size_t i = 0; i < lock->count; i++) {
        cordon_jsonw json;

        if (cordon_buf_append_text(out, i > 0 ? ",\n  " : "\n  ", err) != 0)
            return -1;
        cordon_jsonw_init(&json, out);
        write_entry(&json, &lock->entries[i]);
        if (cordon_jsonw_finish(&json, err) != 0)
            return -1;
    }
    return cordon_buf_append_text(out, "\n]}\n", err);
}

/* The folder's path and the file's name, borrowed from path, which is cut in two. */
static const char *split(char *path)
{
    char *slash = strrchr(path, '/');

    *slash = '\0';
    return slash + 1;
}

/* Makes what is missing of the folder; who may write what is there is judged when it is opened. */
static int make_folder(const char *folder, cordon_err *err)
{
    cordon_autofree char *path = NULL;

    if (cordon_text_copy(folder, &path, err) != 0)
        return -1;
    for (char *at = path + 1; path[0] != '\0'; at++) {
        bool last = *at == '\0';

        if (*at != '/' && !last)
            continue;
        *at = '\0';
        if (mkdir(path, last ? 0700 : 0755) != 0 && errno != EEXIST)
            return CORDON_FAIL_ERRNO(err, errno, "cannot make %s", CORDON_QUOTE(path));
        if (last)
            break;
        *at = '/';
    }
    return 0;
}

/* Opens the folder and keeps other writers out until the descriptor is closed. */
static int open_folder(const cordon_trust *trust, const char *folder, int *ret_fd, cordon_err *err)
{
    cordon_autoclose int fd = -1;
    const char *path = folder[0] != '\0' ? folder : "/";

    if (make_folder(folder, err) != 0 || cordon_trust_open(trust, path, true, &fd, err) != 0)
        return -1;
    if (flock(fd, LOCK_EX) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "cannot lock %s", CORDON_QUOTE(path));
    *ret_fd = cordon_take_fd(&fd);
    return 0;
}

static int write_all(int fd, const cordon_buf *text, cordon_err *err)
{
    for (size_t done = 0; done < text->length;) {
        ssize_t wrote = write(fd, text->data + done, text->length - done);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return CORDON_FAIL_ERRNO(err, errno, "write");
        done += (size_t)wrote;
    }
    return fsync(fd) == 0 ? 0 : CORDON_FAIL_ERRNO(err, errno, "fsync");
}

/* A new file, on the disk before it gets its name: there is a whole lock at every moment. */
static int replace(int folder, const char *name, const cordon_buf *text, cordon_err *err)
{
    char token[TOKEN_DIGITS + 1];
    char temporary[48];
    cordon_autoclose int fd = -1;

    if (cordon_random_hex(token, TOKEN_DIGITS, err) != 0)
        return -1;
    (void)snprintf(temporary, sizeof temporary, ".cordon-lock-%s", token);
    fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "make a new file");
    if (write_all(fd, text, err) != 0) {
        (void)unlinkat(folder, temporary, 0);
        return -1;
    }
    if (renameat(folder, temporary, folder, name) != 0 || fsync(folder) != 0) {
        int errnum = errno;

        (void)unlinkat(folder, temporary, 0);
        return CORDON_FAIL_ERRNO(err, errnum, "put the new file in place");
    }
    return 0;
}

/* The entry's place in the lock, or where it would stand: entries are sorted. */
static size_t place_of(const cordon_image_lock *lock, const cordon_image_entry *entry)
{
    size_t at = 0;

    while (at < lock->count && !same_place(&lock->entries[at], entry) &&
           (strcmp(lock->entries[at].name, entry->name) < 0 ||
            (strcmp(lock->entries[at].name, entry->name) == 0 &&
             strcmp(lock->entries[at].engine, entry->engine) <= 0)))
        at++;
    for (size_t i = 0; i < lock->count; i++) {
        if (same_place(&lock->entries[i], entry))
            return i;
    }
    return at;
}

static int put(cordon_image_lock *lock, const cordon_image_entry *entry, cordon_err *err)
{
    size_t at = place_of(lock, entry);

    if (at < lock->count && same_place(&lock->entries[at], entry)) {
        lock->entries[at] = *entry;
        return 0;
    }
    if (lock->count == CORDON_IMAGE_LOCK_MAX)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "it has %d entries, which is the most",
                           CORDON_IMAGE_LOCK_MAX);
    memmove(&lock->entries[at + 1], &lock->entries[at],
            (lock->count - at) * sizeof lock->entries[0]);
    lock->entries[at] = *entry;
    lock->count++;
    return 0;
}

static int drop(cordon_image_lock *lock, const cordon_image_entry *entry, cordon_err *err)
{
    size_t at = place_of(lock, entry);

    if (at >= lock->count || !same_place(&lock->entries[at], entry))
        return CORDON_FAIL(err, CORDON_ERR_NOTFOUND, "%s is not pinned for %s on %s", entry->name,
                           entry->engine, entry->architecture);
    lock->count--;
    memmove(&lock->entries[at], &lock->entries[at + 1],
            (lock->count - at) * sizeof lock->entries[0]);
    return 0;
}

typedef int lock_change(cordon_image_lock *lock, const cordon_image_entry *entry, cordon_err *err);

static int change_locked(const cordon_trust *trust, cordon_image_lock *lock,
                         const cordon_image_entry *entry, lock_change *change, cordon_err *err)
{
    cordon_auto(cordon_buf) text = cordon_buf_make(LOCK_TEXT_MAX);
    cordon_autofree char *folder = NULL;
    cordon_autoclose int fd = -1;
    const char *name = NULL;

    if (cordon_text_copy(lock->path, &folder, err) != 0)
        return -1;
    name = split(folder);
    if (open_folder(trust, folder, &fd, err) != 0 ||
        cordon_image_lock_read(trust, lock->path, lock, err) != 0 ||
        change(lock, entry, err) != 0 || write_lock(lock, &text, err) != 0 ||
        replace(fd, name, &text, err) != 0)
        return -1;
    lock->present = true;
    return 0;
}

static int change_lock(const cordon_trust *trust, cordon_image_lock *lock,
                       const cordon_image_entry *entry, lock_change *change, cordon_err *err)
{
    if (lock->path == NULL)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "there is no place for a lock file of images; set images_lock in the "
                           "configuration, or HOME");
    if (change_locked(trust, lock, entry, change, err) == 0)
        return 0;
    cordon_err_wrap(err, "image lock %s", CORDON_QUOTE(lock->path));
    return -1;
}

int cordon_image_lock_put(const cordon_trust *trust, cordon_image_lock *lock,
                          const cordon_image_entry *entry, cordon_err *err)
{
    return change_lock(trust, lock, entry, put, err);
}

int cordon_image_lock_drop(const cordon_trust *trust, cordon_image_lock *lock,
                           const cordon_image_entry *entry, cordon_err *err)
{
    return change_lock(trust, lock, entry, drop, err);
}

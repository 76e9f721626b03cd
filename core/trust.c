/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk from / down and the rules about who may have written a file.
 */
#include "trust.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "kit/buf.h"
#include "text_list.h"

#define LIST_MAX 256

/* --- Paths -------------------------------------------------------------------------------- */

/* Room for everything is made before the first component, so adding one cannot fail. */
typedef struct path_builder {
    char *text;
    size_t length;
} path_builder;

static void push_component(path_builder *path, const char *name, size_t length)
{
    if (length == 0 || (length == 1 && name[0] == '.'))
        return;
    if (length == 2 && name[0] == '.' && name[1] == '.') {
        while (path->length > 0 && path->text[path->length - 1] != '/')
            path->length--;
        path->length -= path->length > 0 ? 1 : 0;
        return;
    }
    path->text[path->length] = '/';
    memcpy(path->text + path->length + 1, name, length);
    path->length += length + 1;
}

static void push_path(path_builder *path, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "/");
        push_component(path, text, length);
        text += length + (text[length] == '/' ? 1 : 0);
    }
}

int cordon_path_absolute(const char *path, char **ret_path, cordon_err *err)
{
    cordon_autofree char *here = NULL;
    cordon_autofree char *text = NULL;
    if (!path || path[0] == '\0')
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "a path is empty");
    if (strlen(path) >= PATH_MAX)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s: the path is longer than %d bytes",
                           CORDON_QUOTE(path), PATH_MAX - 1);
    if (path[0] != '/' && (here = getcwd(NULL, 0)) == NULL)
        return CORDON_FAIL_ERRNO(err, errno, "the current directory has no path");
    text = malloc((here ? strlen(here) : 0) + strlen(path) + 3);
    if (!text)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    path_builder built = {.text = text};
    push_path(&built, here ? here : "");
    push_path(&built, path);
    if (built.length == 0)
        built.text[built.length++] = '/';
    built.text[built.length] = '\0';
    *ret_path = CORDON_TAKE(text);
    return 0;
}

/* --- The walk ------------------------------------------------------------------------------ */

static int fail_component(const char *prefix, int errnum, cordon_err *err)
{
    if (errnum == ELOOP)
        return CORDON_FAIL(err, CORDON_ERR_REFUSED,
                           "%s: is a symlink, and what it points to can be swapped; "
                           "give the real path",
                           CORDON_QUOTE(prefix));
    return CORDON_FAIL_ERRNO(err, errnum, "%s", CORDON_QUOTE(prefix));
}

/*
 * One component, never through a symlink. O_PATH | O_NOFOLLOW opens a symlink itself and
 * O_DIRECTORY turns that into ENOTDIR, so the kind of failure is asked for afterwards.
 */
static int open_component(int parent, const char *name, int flags, const char *prefix, int *ret_fd,
                          cordon_err *err)
{
    int fd = openat(parent, name, flags | O_NOFOLLOW | O_CLOEXEC);
    int errnum = fd < 0 ? errno : 0;
    struct stat facts;
    if (fd < 0 && errnum == ENOTDIR && fstatat(parent, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(facts.st_mode))
        errnum = ELOOP;
    if (fd < 0)
        return fail_component(prefix, errnum, err);
    *ret_fd = fd;
    return 0;
}

typedef struct walk {
    char *path; /* cut at the current component while the walk goes on */
    int fd;
    int flags;
    cordon_path_visit_fn *visit;
    void *context;
} walk;

static int walk_visit(walk *w, const char *prefix, bool last, cordon_err *err)
{
    return w->visit ? w->visit(w->context, w->fd, prefix, last, err) : 0;
}

/* Opens the component that ends at `end` and makes it the current one. */
static int walk_step(walk *w, char *name, char *end, cordon_err *err)
{
    bool last = *end == '\0';
    int next = -1;
    *end = '\0';
    int flags = last ? w->flags : O_PATH | O_DIRECTORY;
    int rc = open_component(w->fd, name, flags, w->path, &next, err);
    if (rc == 0) {
        (void)close(w->fd);
        w->fd = next;
        rc = walk_visit(w, w->path, last, err);
    }
    if (!last)
        *end = '/';
    return rc;
}

static int walk_all(walk *w, cordon_err *err)
{
    char *name = w->path + 1;
    if (walk_visit(w, "/", *name == '\0', err) < 0)
        return -1;
    while (*name) {
        char *end = name + strcspn(name, "/");
        bool last = *end == '\0';
        if (walk_step(w, name, end, err) < 0)
            return -1;
        name = last ? end : end + 1;
    }
    return 0;
}

int cordon_path_walk(const char *path, int flags, cordon_path_visit_fn *visit, void *context,
                     int *ret_fd, cordon_err *err)
{
    cordon_autofree char *copy = NULL;
    cordon_autoclose int fd = -1;
    if (path[0] != '/')
        return CORDON_FAIL(err, CORDON_ERR_INVALID, "%s: not an absolute path", CORDON_QUOTE(path));
    if (cordon_text_copy(path, &copy, err) < 0)
        return -1;
    int root_flags = path[1] == '\0' ? flags : O_PATH | O_DIRECTORY;
    fd = open("/", root_flags | O_CLOEXEC);
    if (fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "/");
    walk w = {.path = copy,
              .fd = cordon_take_fd(&fd),
              .flags = flags,
              .visit = visit,
              .context = context};
    int rc = walk_all(&w, err);
    fd = w.fd;
    if (rc == 0)
        *ret_fd = cordon_take_fd(&fd);
    return rc;
}

/* --- Who may have written it --------------------------------------------------------------- */

/*
 * refused holds the first refusal while the walk goes on to the end: a file that is not there at
 * all is NOTFOUND, whoever may write its folder, so that a home with loose modes is no obstacle
 * to a user who has no configuration.
 */
typedef struct trust_walk {
    const cordon_trust *trust;
    const char *path; /* the file that is asked for */
    bool have_worktree;
    dev_t dev;
    ino_t ino;
    bool folder; /* the last component is a folder to be listed */
    cordon_err refused;
} trust_walk;

/* NULL, or why somebody else could change what stands here. */
static const char *distrust(const cordon_trust *trust, const struct stat *facts, bool last)
{
    bool sticky_folder = !last && S_ISDIR(facts->st_mode) && (facts->st_mode & S_ISVTX);
    if (facts->st_uid != 0 && facts->st_uid != trust->uid)
        return "belongs to another user";
    if ((facts->st_mode & S_IWOTH) && !sticky_folder)
        return "may be written by everybody";
    if ((facts->st_mode & S_IWGRP) && !sticky_folder)
        return "may be written by its group";
    return NULL;
}

static void refuse_component(trust_walk *tw, const char *prefix, bool last, const char *why)
{
    if (last)
        cordon_err_set(&tw->refused, CORDON_ERR_REFUSED, 0,
                       "%s: %s, so it is not trusted; chown it to yourself or root and "
                       "chmod go-w it",
                       CORDON_QUOTE(prefix), why);
    else
        cordon_err_set(&tw->refused, CORDON_ERR_REFUSED, 0,
                       "%s: not trusted, because its folder %s %s; move it, or chown and "
                       "chmod go-w that folder",
                       CORDON_QUOTE(tw->path), CORDON_QUOTE(prefix), why);
}

static bool is_worktree(const trust_walk *tw, const struct stat *facts)
{
    return tw->have_worktree && facts->st_dev == tw->dev && facts->st_ino == tw->ino;
}

static bool is_wanted_kind(const trust_walk *tw, const struct stat *facts)
{
    return tw->folder ? S_ISDIR(facts->st_mode) : S_ISREG(facts->st_mode);
}

static int trust_visit(void *context, int fd, const char *prefix, bool last, cordon_err *err)
{
    trust_walk *tw = context;
    const char *kind = tw->folder ? "folder" : "regular file";
    struct stat facts;
    if (fstat(fd, &facts) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "%s", CORDON_QUOTE(prefix));
    if (tw->refused.code != CORDON_OK)
        return 0;
    const char *why = distrust(tw->trust, &facts, last);
    if (is_worktree(tw, &facts))
        cordon_err_set(&tw->refused, CORDON_ERR_REFUSED, 0,
                       "%s: lies in the worktree %s, where the agent may write; "
                       "keep configuration elsewhere",
                       CORDON_QUOTE(tw->path), CORDON_QUOTE(prefix));
    else if (last && !is_wanted_kind(tw, &facts))
        cordon_err_set(&tw->refused, CORDON_ERR_REFUSED, 0, "%s: is not a %s; give a %s",
                       CORDON_QUOTE(prefix), kind, kind);
    else if (why)
        refuse_component(tw, prefix, last, why);
    return 0;
}

/* The worktree's identity; a missing one is no reason to fail here: its own check says so. */
static void find_worktree(trust_walk *tw)
{
    struct stat facts;
    if (!tw->trust->worktree || stat(tw->trust->worktree, &facts) < 0)
        return;
    tw->have_worktree = true;
    tw->dev = facts.st_dev;
    tw->ino = facts.st_ino;
}

/* O_NONBLOCK: a fifo in the file's place must not hang the open that finds it out. */
static int trust_open(const cordon_trust *trust, const char *path, bool folder, int *ret_fd,
                      cordon_err *err)
{
    trust_walk tw = {.trust = trust, .path = path, .folder = folder, .refused = CORDON_ERR_INIT};
    cordon_autoclose int fd = -1;
    int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | (folder ? O_DIRECTORY : 0);
    find_worktree(&tw);
    if (cordon_path_walk(path, flags, trust_visit, &tw, &fd, err) < 0)
        return -1;
    if (tw.refused.code != CORDON_OK)
        return CORDON_FAIL(err, tw.refused.code, "%s", tw.refused.message);
    *ret_fd = cordon_take_fd(&fd);
    return 0;
}

/* --- Reading ------------------------------------------------------------------------------- */

static int read_all(int fd, const char *path, cordon_buf *content, cordon_err *err)
{
    for (;;) {
        char *space = NULL;
        if (content->length > CORDON_TRUST_MAX_BYTES)
            return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s: is larger than 1 MiB",
                               CORDON_QUOTE(path));
        size_t want = CORDON_TRUST_MAX_BYTES + 1 - content->length;
        want = want > 16384 ? 16384 : want;
        if (cordon_buf_reserve(content, want, &space, err) < 0)
            return -1;
        ssize_t got = read(fd, space, want);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return CORDON_FAIL_ERRNO(err, errno, "%s", CORDON_QUOTE(path));
        if (got == 0)
            return 0;
        cordon_buf_commit(content, (size_t)got);
    }
}

int cordon_trust_read(const cordon_trust *trust, const char *path, char **ret_path, char **ret_text,
                      size_t *ret_length, cordon_err *err)
{
    cordon_autofree char *absolute = NULL;
    cordon_autoclose int fd = -1;
    cordon_auto(cordon_buf) content = cordon_buf_make(CORDON_TRUST_MAX_BYTES + 1);
    if (cordon_path_absolute(path, &absolute, err) < 0 ||
        trust_open(trust, absolute, false, &fd, err) < 0 ||
        read_all(fd, absolute, &content, err) < 0 ||
        cordon_buf_take(&content, ret_text, ret_length, err) < 0)
        return -1;
    if (ret_path)
        *ret_path = CORDON_TAKE(absolute);
    return 0;
}

int cordon_trust_open(const cordon_trust *trust, const char *path, bool folder, int *ret_fd,
                      cordon_err *err)
{
    cordon_autofree char *absolute = NULL;
    if (cordon_path_absolute(path, &absolute, err) < 0)
        return -1;
    return trust_open(trust, absolute, folder, ret_fd, err);
}

int cordon_trust_check(const cordon_trust *trust, const char *path, cordon_err *err)
{
    cordon_autofree char *absolute = NULL;
    cordon_autoclose int fd = -1;
    if (cordon_path_absolute(path, &absolute, err) < 0)
        return -1;
    return trust_open(trust, absolute, false, &fd, err);
}

/* --- Listing ------------------------------------------------------------------------------- */

/* Adds the entry if it is NAME<suffix> with a NAME that does not hide. */
static int list_entry(const struct dirent *entry, const char *suffix, cordon_text_list *names,
                      cordon_err *err)
{
    size_t length = strlen(entry->d_name);
    size_t tail = strlen(suffix);
    bool regular = entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN;
    if (!regular || length <= tail || entry->d_name[0] == '.' || names->count >= LIST_MAX ||
        strcmp(entry->d_name + length - tail, suffix) != 0)
        return 0;
    cordon_autofree char *name = strndup(entry->d_name, length - tail);
    if (!name)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    return cordon_text_list_add(names, name, err);
}

static void close_folder(DIR **folder)
{
    if (*folder)
        (void)closedir(*folder);
}

int cordon_trust_list(const cordon_trust *trust, const char *folder, const char *suffix,
                      cordon_text_list *ret_names, cordon_err *err)
{
    cordon_autofree char *absolute = NULL;
    cordon_autoclose int fd = -1;
    cordon_auto(cordon_text_list) names = {0};
    if (cordon_path_absolute(folder, &absolute, err) < 0 ||
        trust_open(trust, absolute, true, &fd, err) < 0)
        return -1;
    cordon_cleanup(close_folder) DIR *stream = fdopendir(fd);
    if (!stream)
        return CORDON_FAIL_ERRNO(err, errno, "%s", CORDON_QUOTE(absolute));
    (void)cordon_take_fd(&fd); /* the stream owns it now */
    const struct dirent *entry = NULL;
    while ((entry = readdir(stream)) != NULL)
        if (list_entry(entry, suffix, &names, err) < 0)
            return -1;
    cordon_text_list_sort(&names);
    *ret_names = names;
    names = (cordon_text_list){0};
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* --secret NAME, NAME=FILE; see secret_source.h. */
#include "secret_source.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host.h"
#include "input.h"
#include "kit/cleanup.h"

/* As the library has it; one byte more is enough to know that a file is too large. */
#define VALUE_MAX 32768

/* What files are read with. */
typedef struct source {
    const char *worktree;
    cordon_deadline deadline;
} source;

static int take_name(const char *text, size_t length, cordon_cli_secrets *secrets, cordon_err *err)
{
    char *name = secrets->names[secrets->count];
    if (length == 0 || length >= sizeof secrets->names[0])
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "--secret %s: write --secret NAME, or --secret NAME=FILE",
                           CORDON_QUOTE(text));
    memcpy(name, text, length);
    name[length] = '\0';
    return 0;
}

static int read_variable(const char *name, cordon_buf *value, cordon_err *err)
{
    const char *text = cordon_cli_host_variable(name);
    if (!text)
        return CORDON_FAIL(
            err, CORDON_ERR_CONFIG,
            "--secret %s: the environment has no such variable; export it, or name a "
            "file: --secret %s=FILE",
            CORDON_QUOTE(name), CORDON_QUOTE(name));
    return cordon_buf_append_text(value, text, err);
}

/* What lies in the worktree, the command reads anyway, and its history may keep it. */
static int check_place(const char *name, const char *file, const char *worktree, cordon_err *err)
{
    cordon_autofree char *real_file = realpath(file, NULL);
    cordon_autofree char *real_tree = worktree ? realpath(worktree, NULL) : NULL;
    size_t length = real_tree ? strlen(real_tree) : 0;
    if (!real_file || !real_tree || strncmp(real_file, real_tree, length) != 0 ||
        real_file[length] != '/')
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                       "--secret %s: %s lies in the worktree, where the command can read it; keep "
                       "it elsewhere",
                       CORDON_QUOTE(name), CORDON_QUOTE(file));
}

static int check_file(const char *name, const char *file, int fd, cordon_err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "--secret %s: %s", CORDON_QUOTE(name),
                                 CORDON_QUOTE(file));
    if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "--secret %s: %s is neither a plain file nor a pipe; give one of them",
                           CORDON_QUOTE(name), CORDON_QUOTE(file));
    if (S_ISREG(st.st_mode) && (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "--secret %s: others may write %s; chmod go-w it", CORDON_QUOTE(name),
                           CORDON_QUOTE(file));
    return 0;
}

static int read_whole(int fd, cordon_deadline deadline, const char *what, cordon_buf *value,
                      cordon_err *err)
{
    if (cordon_cli_input_read(fd, deadline, what, VALUE_MAX + 1, value, err) != 0)
        return -1;
    if (value->length > VALUE_MAX)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s: over %d bytes; no secret is that long",
                           what, VALUE_MAX);
    return 0;
}

/* An editor ends a file with a line's end; no token does. */
static void drop_line_end(cordon_buf *value)
{
    if (value->length > 0 && value->data[value->length - 1] == '\n')
        value->data[--value->length] = '\0';
}

static int read_file(const char *name, const char *file, const source *from, cordon_buf *value,
                     cordon_err *err)
{
    char what[2 * CORDON_QUOTE_MAX + 16];
    cordon_autoclose int fd = cordon_cli_input_open(file);
    (void)snprintf(what, sizeof what, "--secret %s: %s", CORDON_QUOTE(name), CORDON_QUOTE(file));
    if (fd < 0)
        /* SECURITY: it may be the value, by mistake; no message may hold that. */
        return CORDON_FAIL(
            err, CORDON_ERR_CONFIG,
            "--secret %s: what stands behind the \"=\" is no file that can be opened "
            "(%s); it takes the path of a file, never the value",
            CORDON_QUOTE(name), strerrordesc_np(errno));
    if (check_file(name, file, fd, err) != 0 || check_place(name, file, from->worktree, err) != 0 ||
        read_whole(fd, from->deadline, what, value, err) != 0)
        return -1;
    drop_line_end(value);
    return 0;
}

static int read_one(const char *text, const source *from, cordon_cli_secrets *secrets,
                    cordon_err *err)
{
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    const char *name = secrets->names[secrets->count];
    cordon_buf *value = &secrets->values[secrets->count];
    if (take_name(text, length, secrets, err) != 0)
        return -1;
    *value = cordon_buf_make_secret(VALUE_MAX + 1);
    secrets->count++;
    return equals ? read_file(name, equals + 1, from, value, err) : read_variable(name, value, err);
}

int cordon_cli_secrets_read(const cordon_cli_context *context, const cordon_cli_options *options,
                            cordon_cli_secrets *ret_secrets, cordon_err *err)
{
    const source from = {
        .worktree = options->worktree,
        .deadline = cordon_cli_input_deadline(options->deadline_ms, context->signal_fd),
    };
    if (options->secrets.count > 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        return CORDON_FAIL_ERRNO(err, errno, "PR_SET_DUMPABLE");
    for (size_t i = 0; i < options->secrets.count; i++) {
        if (read_one(options->secrets.items[i], &from, ret_secrets, err) != 0)
            return -1;
    }
    return 0;
}

int cordon_cli_secrets_give(const cordon_cli_secrets *secrets, cordon_invocation *invocation,
                            cordon_err *err)
{
    for (size_t i = 0; i < secrets->count; i++) {
        const cordon_buf *value = &secrets->values[i];
        if (cordon_invocation_secret(invocation, secrets->names[i], cordon_buf_text(value),
                                     value->length, err) != 0)
            return -1;
    }
    return 0;
}

void cordon_cli_secrets_clear(cordon_cli_secrets *secrets)
{
    for (size_t i = 0; i < secrets->count; i++)
        cordon_buf_clear(&secrets->values[i]);
    secrets->count = 0;
}

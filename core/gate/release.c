/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the RELEASE frame: a table of fields, each with its reader. libc-only.
 */
#include "gate/release.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/frame.h"
#include "kit/num.h"

static void wipe_text(char **text)
{
    if (*text) {
        explicit_bzero(*text, strlen(*text));
        free(*text);
    }
    *text = NULL;
}

static void wipe_strings(cordon_strings *list)
{
    for (size_t i = 0; i < list->count; i++)
        wipe_text(&list->items[i]);
    free(list->items);
    *list = (cordon_strings){0};
}

void cordon_release_wipe_texts(cordon_release *release)
{
    wipe_strings(&release->argv);
    wipe_strings(&release->env);
    wipe_strings(&release->secrets);
    wipe_text(&release->cwd);
    for (size_t i = 0; i < release->rule_count; i++)
        wipe_text(&release->rules[i].path);
    release->rule_count = 0;
}

static void wipe_files(cordon_release *release)
{
    for (size_t i = 0; i < release->file_count; i++) {
        wipe_text(&release->files[i].path);
        cordon_buf_clear(&release->files[i].bytes);
    }
    release->file_count = 0;
}

void cordon_release_free(cordon_release *release)
{
    if (!release)
        return;
    cordon_release_wipe_texts(release);
    wipe_files(release);
    cordon_buf_clear(&release->stdin_bytes);
    explicit_bzero(release, sizeof *release);
    free(release);
}

/* Room for `max` items and the final NULL is made once, so that no secret is left by growing. */
static int append_text(cordon_strings *list, size_t max, const cordon_frame_field *field,
                       cordon_err *err)
{
    if (list->count == max)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "field %u occurs over %zu times", field->tag,
                           max);
    if (!list->items)
        list->items = calloc(max + 1, sizeof *list->items);
    if (!list->items)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    if (cordon_frame_field_text(field, CORDON_RELEASE_TEXT_BYTES_MAX, &list->items[list->count],
                                err) < 0)
        return -1;
    list->count++;
    return 0;
}

typedef int read_fn(cordon_release *release, const cordon_frame_field *field, cordon_err *err);

static int read_version(cordon_release *release, const cordon_frame_field *field, cordon_err *err)
{
    (void)release;
    uint64_t version = 0;
    if (cordon_frame_field_u64(field, &version, err) < 0)
        return -1;
    if (version != CORDON_GATE_VERSION)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "release version %llu, expected %d",
                           (unsigned long long)version, CORDON_GATE_VERSION);
    return 0;
}

static int read_exit_key(cordon_release *release, const cordon_frame_field *field, cordon_err *err)
{
    if (field->length != sizeof release->exit_key)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "an exit key of %zu bytes", field->length);
    memcpy(release->exit_key, field->bytes, field->length);
    return 0;
}

static int read_argv(cordon_release *release, const cordon_frame_field *field, cordon_err *err)
{
    if (release->argv.count == 0 && field->length == 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "the command's name is empty");
    return append_text(&release->argv, CORDON_RELEASE_ARGV_MAX, field, err);
}

/* The length of NAME in NAME=value; 0 when it is not of that form. */
static size_t name_length(const char *item)
{
    const char *equals = strchr(item, '=');
    return equals ? (size_t)(equals - item) : 0;
}

static bool has_name(const cordon_strings *env, size_t count, const char *item, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(env->items[i], item, length + 1) == 0)
            return true;
    return false;
}

/* SECURITY: a value may be a secret, so no message quotes any of the newest item. */
static int check_env(const cordon_strings *env, cordon_err *err)
{
    const char *item = env->items[env->count - 1];
    size_t length = name_length(item);
    if (length == 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "environment item %zu is not NAME=value",
                           env->count);
    if (has_name(env, env->count - 1, item, length))
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "environment item %zu repeats a name",
                           env->count);
    return 0;
}

static int read_env(cordon_release *release, const cordon_frame_field *field, cordon_err *err)
{
    if (append_text(&release->env, CORDON_RELEASE_ENV_MAX, field, err) < 0)
        return -1;
    return check_env(&release->env, err);
}

/* The variable of a secret holds its descriptor's number. */
static int read_secret(cordon_release *release, const cordon_frame_field *field, cordon_err *err)
{
    char item[CORDON_RELEASE_SECRET_NAME_MAX + 16];
    if (append_text(&release->secrets, CORDON_RELEASE_SECRETS_MAX, field, err) < 0)
        return -1;
    char *text = release->secrets.items[release->secrets.count - 1];
    size_t length = name_length(text);
    if (length == 0 || length > CORDON_RELEASE_SECRET_NAME_MAX)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "secret %zu is not NAME=value",
                           release->secrets.count);
    int item_length = snprintf(item, sizeof item, "%.*s=%zu", (int)length, text,
                               CORDON_GATE_SECRET_FD + release->secrets.count - 1);
    cordon_frame_field variable = {
        .tag = field->tag, .bytes = (const uint8_t *)item, .length = (size_t)item_length};
    size_t value_length = strlen(text + length + 1);
    memmove(text, text + length + 1, value_length + 1);
    explicit_bzero(text + value_length + 1, length);
    return read_env(release, &variable, err);
}

static int read_cwd(cordon_release *release, const cordon_frame_field *field, cordon_err *err)
{
    if (cordon_frame_field_text(field, CORDON_RELEASE_PATH_BYTES_MAX, &release->cwd, err) < 0)
        return -1;
    if (release->cwd[0] != '/')
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "the working folder is not absolute");
    return 0;
}

static int read_stdin(cordon_release *release, const cordon_frame_field *field, cordon_err *err)
{
    return cordon_buf_append(&release->stdin_bytes, field->bytes, field->length, err);
}

static int read_rule(cordon_release *release, const cordon_frame_field *field, cordon_err *err)
{
    if (release->rule_count == CORDON_RELEASE_RULES_MAX)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "over %d rules", CORDON_RELEASE_RULES_MAX);
    cordon_slice text = cordon_slice_make((const char *)field->bytes, field->length);
    if (cordon_rule_parse(text, &release->rules[release->rule_count], err) < 0)
        return -1;
    release->rule_count++;
    return 0;
}

static int read_landlock(cordon_release *release, const cordon_frame_field *field, cordon_err *err)
{
    return cordon_frame_field_u64(field, &release->landlock_abi_min, err);
}

static int read_file(cordon_release *release, const cordon_frame_field *field, cordon_err *err)
{
    const char *bytes = (const char *)field->bytes;
    const char *end = memchr(bytes, '\0', field->length);
    if (release->file_count == CORDON_RELEASE_FILES_MAX)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "over %d files", CORDON_RELEASE_FILES_MAX);
    if (!end || bytes[0] != '/' || end - bytes > CORDON_RELEASE_PATH_BYTES_MAX)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "a file whose path is not absolute");
    cordon_release_file *file = &release->files[release->file_count];
    file->bytes = cordon_buf_make_secret(CORDON_GATE_RELEASE_MAX);
    file->path = strdup(bytes);
    if (!file->path)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    release->file_count++;
    return cordon_buf_append(&file->bytes, end + 1, field->length - (size_t)(end + 1 - bytes), err);
}

static const struct {
    read_fn *read;
    bool required;
    bool repeated;
} fields[] = {
    [CORDON_GATE_RELEASE_VERSION] = {read_version, true, false},
    [CORDON_GATE_RELEASE_EXIT_KEY] = {read_exit_key, true, false},
    [CORDON_GATE_RELEASE_ARGV] = {read_argv, true, true},
    [CORDON_GATE_RELEASE_ENV] = {read_env, false, true},
    [CORDON_GATE_RELEASE_CWD] = {read_cwd, true, false},
    [CORDON_GATE_RELEASE_STDIN] = {read_stdin, false, false},
    [CORDON_GATE_RELEASE_RULE] = {read_rule, false, true},
    [CORDON_GATE_RELEASE_LANDLOCK] = {read_landlock, true, false},
    [CORDON_GATE_RELEASE_SECRET] = {read_secret, false, true},
    [CORDON_GATE_RELEASE_FILE] = {read_file, false, true},
};

#define FIELD_COUNT (sizeof fields / sizeof fields[0])

static int read_field(cordon_release *release, const cordon_frame_field *field,
                      bool seen[FIELD_COUNT], cordon_err *err)
{
    if (field->tag >= FIELD_COUNT || !fields[field->tag].read)
        return cordon_frame_field_unknown(field, err);
    if (seen[field->tag] && !fields[field->tag].repeated)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "field %u is repeated", field->tag);
    seen[field->tag] = true;
    return fields[field->tag].read(release, field, err);
}

static int check_whole(const cordon_release *release, const bool seen[FIELD_COUNT], cordon_err *err)
{
    for (size_t tag = 0; tag < FIELD_COUNT; tag++)
        if (fields[tag].required && !seen[tag])
            return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "field %zu is missing", tag);
    if (release->rule_count > 0 && release->landlock_abi_min == 0)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL,
                           "rules without a Landlock ABI to enforce them");
    return 0;
}

/* execve(2) wants a list even when it is empty. */
static int finish_env(cordon_release *release, cordon_err *err)
{
    if (!release->env.items)
        release->env.items = calloc(1, sizeof *release->env.items);
    if (!release->env.items)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    return 0;
}

int cordon_release_parse(const void *bytes, size_t length,
                         const uint8_t nonce[CORDON_GATE_NONCE_BYTES], cordon_release **ret_release,
                         cordon_err *err)
{
    bool seen[FIELD_COUNT] = {false};
    cordon_frame_reader reader;
    cordon_frame_field field;
    if (cordon_frame_open(&reader, CORDON_GATE_MAGIC_RELEASE, bytes, length, nonce, err) < 0)
        return -1;
    cordon_auto_ptr(cordon_release) release = calloc(1, sizeof *release);
    if (!release)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    release->stdin_bytes = cordon_buf_make_secret(CORDON_GATE_RELEASE_MAX);
    while (cordon_frame_next(&reader, &field))
        if (read_field(release, &field, seen, err) < 0)
            return -1;
    if (check_whole(release, seen, err) < 0 || finish_env(release, err) < 0)
        return -1;
    *ret_release = CORDON_TAKE(release);
    return 0;
}

static int write_whole(int fd, const cordon_buf *bytes)
{
    size_t at = 0;
    while (at < bytes->length) {
        ssize_t wrote = write(fd, bytes->data + at, bytes->length - at);
        if (wrote < 0 && errno != EINTR)
            return -1;
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

/* One folder down, made if it is not there; a link is none. */
static int enter_folder(int parent, const char *name)
{
    const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(parent, name, flags);
    if (fd >= 0 || errno != ENOENT || mkdirat(parent, name, 0700) < 0)
        return fd;
    return openat(parent, name, flags);
}

/* Walks a path, which it cuts into pieces, down to the folder of its last part. */
static int open_parent(char *path, const char **ret_name)
{
    cordon_autoclose int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char *rest = path;
    char *name = NULL;
    while (at >= 0 && (name = strsep(&rest, "/")) != NULL && rest) {
        int next = *name ? enter_folder(at, name) : at;
        if (next == at)
            continue;
        (void)close(at);
        at = next;
    }
    *ret_name = name;
    return cordon_take_fd(&at);
}

/*
 * SECURITY: over nothing that is there, and through no link, so that what an earlier step has left
 * in a folder that it could write leads nowhere.
 */
static int place_file(const cordon_release_file *file, cordon_err *err)
{
    const char *name = NULL;
    cordon_autofree char *path = strdup(file->path);
    if (!path)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    cordon_autoclose int folder = open_parent(path, &name);
    if (folder < 0)
        return CORDON_FAIL_ERRNO(err, errno, "folder of %s", CORDON_QUOTE(file->path));
    cordon_autoclose int fd =
        openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || write_whole(fd, &file->bytes) < 0)
        return CORDON_FAIL_ERRNO(err, errno, "file %s", CORDON_QUOTE(file->path));
    return 0;
}

int cordon_release_place_files(cordon_release *release, cordon_err *err)
{
    for (size_t i = 0; i < release->file_count; i++)
        if (place_file(&release->files[i], err) < 0)
            return -1;
    wipe_files(release);
    return 0;
}

const char *cordon_release_getenv(const cordon_release *release, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < release->env.count; i++) {
        const char *item = release->env.items[i];
        if (strncmp(item, name, length) == 0 && item[length] == '=')
            return item + length + 1;
    }
    return NULL;
}

static const struct {
    const char *verb;
    cordon_rule_kind kind;
} verbs[] = {
    {"execute", CORDON_RULE_EXECUTE},
    {"read", CORDON_RULE_READ},
    {"write", CORDON_RULE_WRITE},
    {"connect", CORDON_RULE_CONNECT},
};

static cordon_rule_kind find_kind(cordon_slice verb)
{
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (cordon_slice_is(verb, verbs[i].verb))
            return verbs[i].kind;
    return CORDON_RULE_UNKNOWN;
}

static int parse_port(cordon_slice text, uint16_t *ret_port, cordon_err *err)
{
    uint64_t port = 0;
    if (cordon_num_u64(text.text, text.length, 0, 65535, &port, err) < 0) {
        err->code = CORDON_ERR_PROTOCOL;
        cordon_err_wrap(err, "connect rule");
        return -1;
    }
    *ret_port = (uint16_t)port;
    return 0;
}

static int parse_path(cordon_slice text, char **ret_path, cordon_err *err)
{
    if (text.length == 0 || text.text[0] != '/' || text.length > CORDON_RELEASE_PATH_BYTES_MAX ||
        memchr(text.text, '\0', text.length))
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "a rule whose path is not absolute");
    char *path = strndup(text.text, text.length);
    if (!path)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    *ret_path = path;
    return 0;
}

int cordon_rule_parse(cordon_slice text, cordon_rule *ret_rule, cordon_err *err)
{
    cordon_slice rest = text;
    cordon_slice verb = {.text = "", .length = 0};
    char *path = NULL;
    uint16_t port = 0;
    (void)cordon_slice_cut(&rest, ' ', &verb);
    cordon_rule_kind kind = find_kind(verb);
    if (kind == CORDON_RULE_UNKNOWN) {
        char shown[CORDON_QUOTE_MAX];
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "not a rule: \"%s\"",
                           cordon_err_printable(shown, sizeof shown, text.text, text.length));
    }
    int rc =
        kind == CORDON_RULE_CONNECT ? parse_port(rest, &port, err) : parse_path(rest, &path, err);
    if (rc < 0)
        return -1;
    *ret_rule = (cordon_rule){.kind = kind, .path = path, .port = port};
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cordon-pages`, a tool of the build: writes the manual pages and completions.
 *
 *   cordon-pages VERSION DATE OUT CONF TEMPLATE...
 *
 * OUT has the folders man and completions. CONF is the documented configuration file. A template
 * NAME.SECTION becomes the page of that name; VERB.roff has further sections for a verb's page.
 */
#include "pages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PAGE_MAX (1U << 20)

typedef struct tool {
    cordon_cli_pages pages;
    const char *out;
    char **templates;
    int template_count;
} tool;

static int read_file(const char *path, cordon_buf *out, cordon_err *err)
{
    char piece[4096];
    size_t got;
    FILE *file = fopen(path, "re");
    if (!file)
        return CORDON_FAIL_ERRNO(err, errno, "%s: cannot be opened", path);
    int rc = 0;
    while (rc == 0 && (got = fread(piece, 1, sizeof piece, file)) > 0)
        rc = cordon_buf_append(out, piece, got, err);
    if (rc == 0 && ferror(file))
        rc = CORDON_FAIL(err, CORDON_ERR_SYSTEM, "%s: cannot be read", path);
    (void)fclose(file);
    return rc;
}

static int write_file(const tool *t, const char *folder, const char *name, const cordon_buf *text,
                      cordon_err *err)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s/%s", t->out, folder, name);
    FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "we") : NULL;
    if (!file)
        return CORDON_FAIL(err, CORDON_ERR_SYSTEM, "%s/%s: cannot be made", folder, name);
    bool whole = fwrite(text->data, 1, text->length, file) == text->length;
    if (fclose(file) != 0 || !whole)
        return CORDON_FAIL(err, CORDON_ERR_SYSTEM, "%s: cannot be written", path);
    return 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The template VERB.roff, or NULL. */
static const char *find_more(const tool *t, const char *verb)
{
    size_t length = strlen(verb);
    for (int i = 0; i < t->template_count; i++) {
        const char *name = base_name(t->templates[i]);
        if (strncmp(name, verb, length) == 0 && strcmp(name + length, ".roff") == 0)
            return t->templates[i];
    }
    return NULL;
}

static int make_verb(const tool *t, const cordon_cli_verb *verb, cordon_err *err)
{
    cordon_auto(cordon_buf) more = cordon_buf_make(PAGE_MAX);
    cordon_auto(cordon_buf) page = cordon_buf_make(PAGE_MAX);
    const char *file = find_more(t, verb->name);
    char name[128];
    (void)snprintf(name, sizeof name, "cordon-%s.1", verb->name);
    if ((file && read_file(file, &more, err) != 0) ||
        cordon_cli_pages_verb(&t->pages, verb, file ? cordon_buf_text(&more) : NULL, &page, err) !=
            0)
        return -1;
    return write_file(t, "man", name, &page, err);
}

static int make_template(const tool *t, const char *path, cordon_err *err)
{
    cordon_auto(cordon_buf) text = cordon_buf_make(PAGE_MAX);
    cordon_auto(cordon_buf) page = cordon_buf_make(PAGE_MAX);
    const char *name = base_name(path);
    if (strstr(name, ".roff"))
        return 0;
    if (read_file(path, &text, err) != 0 ||
        cordon_cli_pages_template(&t->pages, cordon_buf_text(&text), &page, err) != 0)
        return -1;
    return write_file(t, "man", name, &page, err);
}

static int make_completions(const tool *t, cordon_err *err)
{
    static const struct {
        int (*make)(cordon_buf *out, cordon_err *err);
        const char *name;
    } shells[] = {{cordon_cli_pages_bash, "cordon.bash"},
                  {cordon_cli_pages_zsh, "_cordon"},
                  {cordon_cli_pages_fish, "cordon.fish"}};
    for (size_t i = 0; i < CORDON_CLI_COUNT(shells); i++) {
        cordon_auto(cordon_buf) out = cordon_buf_make(PAGE_MAX);
        if (shells[i].make(&out, err) != 0 ||
            write_file(t, "completions", shells[i].name, &out, err) != 0)
            return -1;
    }
    return 0;
}

static int make_all(const tool *t, cordon_err *err)
{
    for (size_t i = 0; cordon_cli_verbs[i]; i++) {
        if (make_verb(t, cordon_cli_verbs[i], err) != 0)
            return -1;
    }
    for (int i = 0; i < t->template_count; i++) {
        if (make_template(t, t->templates[i], err) != 0)
            return -1;
    }
    return make_completions(t, err);
}

int main(int argc, char **argv)
{
    cordon_err err = CORDON_ERR_INIT;
    if (argc < 5) {
        (void)fputs("usage: cordon-pages VERSION DATE OUT CONF TEMPLATE...\n", stderr);
        return 2;
    }
    cordon_auto(cordon_buf) conf = cordon_buf_make(PAGE_MAX);
    tool t = {.pages = {.version = argv[1], .date = argv[2]},
              .out = argv[3],
              .templates = argv + 5,
              .template_count = argc - 5};
    bool read = read_file(argv[4], &conf, &err) == 0;
    t.pages.conf = cordon_buf_text(&conf);
    if (!read || make_all(&t, &err) != 0) {
        (void)fprintf(stderr, "cordon-pages: %s\n", err.message);
        return 1;
    }
    return 0;
}

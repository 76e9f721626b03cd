/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of keys of a configuration's page, made from the documented file that is installed as
 * its example, so that no key is told twice. That file's form: "# text" above a key tells of it;
 * "#" with another character behind it, or with two blanks, is an example; an empty line ends a
 * text; "name: {" and "};" are a group.
 */
#include <string.h>

#include "pages.h"

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

typedef struct conf {
    cordon_buf text; /* of the comment that is being read */
    cordon_buf *out;
    cordon_err *err;
    const char *key; /* the last one, with its length */
    size_t key_length;
    const char *group; /* the one that is open; its keys are told with its name */
    size_t group_length;
    bool in_value;   /* a value goes on */
    bool in_example; /* lines are shown as they are */
} conf;

static int put(conf *c, const char *text)
{
    return cordon_buf_append_text(c->out, text, c->err);
}

static int put_escaped(conf *c, const char *text, size_t length)
{
    return cordon_cli_pages_escape(text, length, c->out, c->err);
}

static int put_comment(conf *c, const char *before)
{
    if (c->text.length == 0)
        return 0;
    if (put(c, before) != 0 || put_escaped(c, c->text.data, c->text.length) != 0 ||
        put(c, "\n") != 0)
        return -1;
    cordon_buf_reset(&c->text);
    return 0;
}

static int end_example(conf *c)
{
    bool open = c->in_example;
    c->in_example = false;
    return open ? put(c, ".fi\n.RE\n") : 0;
}

/* The value up to its ';', or a comment behind it. */
static int put_value(conf *c, const char *text, size_t length)
{
    size_t end = 0;
    bool quoted = false;
    while (end < length && (quoted || (text[end] != '#' && text[end] != ';'))) {
        quoted = text[end] == '"' ? !quoted : quoted;
        end++;
    }
    c->in_value = end == length || text[end] != ';';
    while (end > 0 && text[end - 1] == ' ')
        end--;
    return put_escaped(c, text, end) != 0 || put(c, c->in_value ? "\n" : "") != 0 ? -1 : 0;
}

/* "\fBgroup.name\fR" as the tag of a list. */
static int put_name(conf *c, const char *name, size_t length)
{
    if (put(c, ".TP\n\\fB") != 0 || put_escaped(c, c->group, c->group_length) != 0 ||
        (c->group_length > 0 && put(c, ".") != 0) || put_escaped(c, name, length) != 0)
        return -1;
    return put(c, "\\fR");
}

static int put_key(conf *c, const char *line, size_t length, size_t name)
{
    c->key = line;
    c->key_length = name;
    if (put_name(c, line, name) != 0 || put_value(c, line + name, length - name) != 0)
        return -1;
    return c->in_value ? 0 : put(c, "\n") != 0 || put_comment(c, "") != 0 ? -1 : 0;
}

/* A key that has no default stands in an example alone. */
static int put_example_key(conf *c, const char *line, size_t length, size_t name)
{
    const char *value = line + name + strspn(line + name, " =");
    size_t size = length - (size_t)(value - line);
    if (put_name(c, line, name) != 0 || put(c, "\n") != 0 || put_comment(c, "") != 0 ||
        put(c, "No default; such as\n") != 0 ||
        put_escaped(c, value, size > 0 && value[size - 1] == ';' ? size - 1 : size) != 0)
        return -1;
    return put(c, "\n");
}

static int put_example(conf *c, const char *line, size_t length)
{
    size_t blanks = strspn(line, " ");
    const char *text = line + blanks;
    size_t name = strspn(text, NAME_LETTERS);
    bool names = !c->in_example && name > 0 && strncmp(text + name, " = ", 3) == 0;
    if (names && !(name == c->key_length && strncmp(text, c->key, name) == 0))
        return put_example_key(c, text, length - blanks, name);
    if (!c->in_example && put(c, ".IP\nFor example:\n.RS\n.nf\n") != 0)
        return -1;
    c->in_example = true;
    return put_escaped(c, line, length) != 0 || put(c, "\n") != 0 ? -1 : 0;
}

static int take_comment(conf *c, const char *line, size_t length)
{
    if (length == 1)
        return put_comment(c, ".PP\n");
    if (length >= 2 && line[1] == ' ' && line[2] != ' ') {
        if (c->text.length > 0 && cordon_buf_append_char(&c->text, '\n', c->err) != 0)
            return -1;
        return cordon_buf_append(&c->text, line + 2, length - 2, c->err);
    }
    return put_example(c, line + 1, length - 1);
}

static int take_setting(conf *c, const char *line, size_t length)
{
    size_t name = strspn(line, NAME_LETTERS);
    if (strncmp(line, "};", 2) == 0) {
        c->group_length = 0;
        return put_comment(c, ".PP\n");
    }
    if (name > 0 && strncmp(line + name, ": {", 3) == 0) {
        int rc = put_comment(c, ".PP\n");
        c->group = line;
        c->group_length = name;
        return rc;
    }
    if (name > 0)
        return put_key(c, line, length, name);
    return CORDON_FAIL(c->err, CORDON_ERR_CONFIG, "%.*s: neither a key nor a comment", (int)length,
                       line);
}

/* One line, without what it is set in by. */
static int take_line(conf *c, const char *line, size_t length)
{
    if (c->in_value) {
        if (put_value(c, line, length) != 0)
            return -1;
        return c->in_value ? 0 : put(c, "\n.br\n") != 0 || put_comment(c, "") != 0 ? -1 : 0;
    }
    if (length <= 1 || line[0] != '#' || (length >= 2 && line[1] == ' ' && line[2] != ' ')) {
        if (end_example(c) != 0)
            return -1;
    }
    if (length == 0)
        return put_comment(c, ".PP\n");
    return line[0] == '#' ? take_comment(c, line, length) : take_setting(c, line, length);
}

int cordon_cli_pages_conf(const char *text, cordon_buf *out, cordon_err *err)
{
    cordon_auto(cordon_buf) comment = cordon_buf_make(65536);
    conf c = {.text = comment, .out = out, .err = err, .key = "", .group = ""};
    int rc = 0;
    while (rc == 0 && *text) {
        size_t whole = strcspn(text, "\n");
        size_t blanks = strspn(text, " ");
        rc = take_line(&c, text + blanks, whole - blanks);
        text += whole + (text[whole] == '\n');
    }
    rc = rc == 0 && end_example(&c) == 0 ? put_comment(&c, ".PP\n") : -1;
    comment = c.text;
    return rc;
}

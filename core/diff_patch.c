/* SPDX-License-Identifier: Apache-2.0 */
/* See diff_patch.h. */
#include "diff_patch.h"

#include <string.h>
#include <sys/stat.h>

static bool is_plain(const char *path)
{
    for (; *path; path++)
        if ((unsigned char)*path < 0x20 || (unsigned char)*path >= 0x7f || *path == '"' ||
            *path == '\\')
            return false;
    return true;
}

static int quote_char(unsigned char c, cordon_buf *out, cordon_err *err)
{
    static const char letters[][2] = {{'\a', 'a'}, {'\b', 'b'}, {'\t', 't'},
                                      {'\n', 'n'}, {'\v', 'v'}, {'\f', 'f'},
                                      {'\r', 'r'}, {'"', '"'},  {'\\', '\\'}};
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (c == (unsigned char)letters[i][0])
            return cordon_buf_printf(out, err, "\\%c", letters[i][1]);
    if (c < 0x20 || c >= 0x7f)
        return cordon_buf_printf(out, err, "\\%03o", c);
    return cordon_buf_append_char(out, (char)c, err);
}

int cordon_diff_name(const char *side, const char *path, cordon_buf *out, cordon_err *err)
{
    if (is_plain(path))
        return cordon_buf_printf(out, err, "%s%s", side, path);
    if (cordon_buf_printf(out, err, "\"%s", side) < 0)
        return -1;
    for (; *path; path++)
        if (quote_char((unsigned char)*path, out, err) < 0)
            return -1;
    return cordon_buf_append_char(out, '"', err);
}

/* A tab ends a name with a blank, for readers that would cut it there. */
static int write_side(const char *mark, const char *side, const char *path, bool there,
                      cordon_buf *out, cordon_err *err)
{
    if (!there)
        return cordon_buf_printf(out, err, "%s /dev/null\n", mark);
    if (cordon_buf_printf(out, err, "%s ", mark) < 0 || cordon_diff_name(side, path, out, err) < 0)
        return -1;
    return cordon_buf_append_text(out, strchr(path, ' ') ? "\t\n" : "\n", err);
}

static int write_modes(const cordon_diff_side *old, const cordon_diff_side *new, cordon_buf *out,
                       cordon_err *err)
{
    if (old->mode == 0)
        return cordon_buf_printf(out, err, "new file mode %06o\n", new->mode);
    if (new->mode == 0)
        return cordon_buf_printf(out, err, "deleted file mode %06o\n", old->mode);
    if (old->mode == new->mode)
        return 0;
    return cordon_buf_printf(out, err, "old mode %06o\nnew mode %06o\n", old->mode, new->mode);
}

static int write_header(const char *path, cordon_buf *out, cordon_err *err)
{
    if (cordon_buf_append_text(out, "diff --git ", err) < 0 ||
        cordon_diff_name("a/", path, out, err) < 0 || cordon_buf_append_char(out, ' ', err) < 0 ||
        cordon_diff_name("b/", path, out, err) < 0)
        return -1;
    return cordon_buf_append_char(out, '\n', err);
}

static int write_change(const char *path, const cordon_diff_side *old, const cordon_diff_side *new,
                        cordon_deadline dl, cordon_buf *out, cordon_err *err)
{
    bool same = old->length == new->length &&
                (old->length == 0 || memcmp(old->text, new->text, old->length) == 0);
    if (write_header(path, out, err) < 0 || write_modes(old, new, out, err) < 0)
        return -1;
    if (same)
        return 0;
    if (write_side("---", "a/", path, old->mode != 0, out, err) < 0 ||
        write_side("+++", "b/", path, new->mode != 0, out, err) < 0)
        return -1;
    return cordon_diff_text(old->text, old->length, new->text, new->length, dl, out, err);
}

int cordon_diff_patch(const char *path, const cordon_diff_side *old, const cordon_diff_side *new,
                      cordon_deadline dl, cordon_buf *out, cordon_err *err)
{
    static const cordon_diff_side none = {.mode = 0, .text = "", .length = 0};
    bool another_kind = old->mode != 0 && new->mode != 0 && (old->mode ^ new->mode) & S_IFMT;
    if (!another_kind)
        return write_change(path, old, new, dl, out, err);
    if (write_change(path, old, &none, dl, out, err) < 0)
        return -1;
    return write_change(path, &none, new, dl, out, err);
}

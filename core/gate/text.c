/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounded reading of kernel texts, and slices of them. libc-only.
 */
#include "gate/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "kit/cleanup.h"

#define READ_STEP_BYTES 4096

cordon_slice cordon_slice_make(const char *text, size_t length)
{
    return (cordon_slice){.text = text, .length = length};
}

bool cordon_slice_is(cordon_slice slice, const char *text)
{
    return slice.length == strlen(text) && memcmp(slice.text, text, slice.length) == 0;
}

bool cordon_slice_cut(cordon_slice *rest, char separator, cordon_slice *ret_piece)
{
    if (rest->length == 0)
        return false;
    const char *end = memchr(rest->text, separator, rest->length);
    size_t length = end ? (size_t)(end - rest->text) : rest->length;
    size_t taken = end ? length + 1 : length;
    *ret_piece = cordon_slice_make(rest->text, length);
    *rest = cordon_slice_make(rest->text + taken, rest->length - taken);
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

bool cordon_slice_word(cordon_slice *rest, cordon_slice *ret_word)
{
    size_t start = 0;
    while (start < rest->length && is_blank(rest->text[start]))
        start++;
    size_t end = start;
    while (end < rest->length && !is_blank(rest->text[end]))
        end++;
    *ret_word = cordon_slice_make(rest->text + start, end - start);
    *rest = cordon_slice_make(rest->text + end, rest->length - end);
    return end > start;
}

int cordon_slice_squeeze(cordon_slice line, char *ret_text, size_t size, cordon_err *err)
{
    size_t used = 0;
    cordon_slice word;
    while (cordon_slice_word(&line, &word)) {
        size_t gap = used > 0 ? 1 : 0;
        if (word.length + gap >= size - used)
            return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "a line of over %zu characters", size - 1);
        if (gap > 0)
            ret_text[used++] = ' ';
        memcpy(ret_text + used, word.text, word.length);
        used += word.length;
    }
    ret_text[used] = '\0';
    return 0;
}

/* One read(2) into the buffer; *ret_got is 0 at the end of the file. */
static int read_step(int fd, cordon_buf *buf, size_t *ret_got, cordon_err *err)
{
    char *space = NULL;
    size_t room = buf->max_bytes - buf->length;
    size_t want = room < READ_STEP_BYTES ? room : READ_STEP_BYTES;
    if (cordon_buf_reserve(buf, want, &space, err) < 0)
        return -1;
    ssize_t got = read(fd, space, want);
    while (got < 0 && errno == EINTR)
        got = read(fd, space, want);
    if (got < 0)
        return CORDON_FAIL_ERRNO(err, errno, "read");
    cordon_buf_commit(buf, (size_t)got);
    *ret_got = (size_t)got;
    return 0;
}

static int read_all(int fd, cordon_buf *buf, bool *ret_whole, cordon_err *err)
{
    size_t got = 1;
    while (got > 0 && buf->length < buf->max_bytes)
        if (read_step(fd, buf, &got, err) < 0)
            return -1;
    /* A full buffer says nothing of what follows: ask for one byte more. */
    char more = 0;
    *ret_whole = got == 0 || read(fd, &more, 1) == 0;
    return 0;
}

int cordon_text_read(const char *path, cordon_buf *buf, bool *ret_whole, cordon_err *err)
{
    cordon_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return CORDON_FAIL_ERRNO(err, errno, "open %s", path);
    if (read_all(fd, buf, ret_whole, err) < 0) {
        cordon_err_wrap(err, "%s", path);
        return -1;
    }
    return 0;
}

int cordon_text_first_line(const char *path, char *ret_text, size_t size, cordon_err *err)
{
    bool whole = false;
    cordon_slice line = {.text = "", .length = 0};
    cordon_auto(cordon_buf) buf = cordon_buf_make(READ_STEP_BYTES);
    if (cordon_text_read(path, &buf, &whole, err) < 0)
        return -1;
    cordon_slice rest = cordon_slice_make(cordon_buf_text(&buf), buf.length);
    (void)cordon_slice_cut(&rest, '\n', &line);
    if (cordon_slice_squeeze(line, ret_text, size, err) < 0) {
        cordon_err_wrap(err, "%s", path);
        return -1;
    }
    return 0;
}

bool cordon_text_is_absent(const cordon_err *err)
{
    return err->errnum == ENOENT || err->errnum == ENOTDIR;
}

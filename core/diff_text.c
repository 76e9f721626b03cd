/* SPDX-License-Identifier: Apache-2.0 */
/* See diff_text.h. */
#include "diff_text.h"

#include <stdint.h>
#include <string.h>

/* Beyond so many inserted and deleted lines a shortest script is not looked for. */
#define SCRIPT_MAX       1024
#define BINARY_LOOK      8000
#define ROUNDS_PER_CHECK 64

typedef struct diff_line {
    const char *text;
    size_t length; /* with its newline, if it has one */
    uint64_t hash;
} diff_line;

typedef struct diff_lines {
    size_t count;
    diff_line *items;
    bool *changed; /* deleted from the old text, inserted into the new one */
} diff_lines;

static void diff_lines_clear(diff_lines *lines)
{
    free(lines->items);
    free(lines->changed);
    *lines = (diff_lines){0};
}
CORDON_DEFINE_AUTO(diff_lines, diff_lines_clear)

/* --- Lines --------------------------------------------------------------------------------- */

/* FNV-1a, a first look alone: equal hashes are compared byte by byte. */
static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return hash;
}

static size_t line_length(const char *text, size_t length)
{
    const char *end = memchr(text, '\n', length);
    return end ? (size_t)(end - text) + 1 : length;
}

static size_t count_lines(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t at = 0; at < length; at += line_length(text + at, length - at))
        count++;
    return count;
}

static int split(const char *text, size_t length, diff_lines *lines, cordon_err *err)
{
    size_t count = count_lines(text, length);
    lines->items = calloc(count + 1, sizeof *lines->items);
    lines->changed = calloc(count + 1, sizeof *lines->changed);
    if (!lines->items || !lines->changed)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    for (size_t at = 0; at < length; lines->count++) {
        size_t line = line_length(text + at, length - at);
        lines->items[lines->count] =
            (diff_line){.text = text + at, .length = line, .hash = hash_of(text + at, line)};
        at += line;
    }
    return 0;
}

static bool same(const diff_line *a, const diff_line *b)
{
    return a->hash == b->hash && a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* --- Myers --------------------------------------------------------------------------------- */

/*
 * The middle of two texts, after the common begin and end. trail holds, for each length d of a
 * script, how far each diagonal -d..d was reached; row d begins at d * d.
 */
typedef struct diff_search {
    const diff_line *old;
    const diff_line *new;
    ptrdiff_t old_count;
    ptrdiff_t new_count;
    ptrdiff_t longest; /* script that is looked for */
    ptrdiff_t *trail;
} diff_search;

static ptrdiff_t *reached(const diff_search *s, ptrdiff_t d, ptrdiff_t diagonal)
{
    return &s->trail[d * d + d + diagonal];
}

/* Whether the furthest way to a diagonal comes by an insertion (from above) or a deletion. */
static bool comes_by_insertion(const diff_search *s, ptrdiff_t d, ptrdiff_t diagonal)
{
    return diagonal == -d ||
           (diagonal != d && *reached(s, d - 1, diagonal - 1) < *reached(s, d - 1, diagonal + 1));
}

static ptrdiff_t step_from(const diff_search *s, ptrdiff_t d, ptrdiff_t diagonal)
{
    if (d == 0)
        return 0;
    return comes_by_insertion(s, d, diagonal) ? *reached(s, d - 1, diagonal + 1)
                                              : *reached(s, d - 1, diagonal - 1) + 1;
}

static ptrdiff_t slide(const diff_search *s, ptrdiff_t x, ptrdiff_t y)
{
    while (x < s->old_count && y < s->new_count && same(&s->old[x], &s->new[y])) {
        x++;
        y++;
    }
    return x;
}

/* One more edit on every diagonal; true when one of them came to the end. */
static bool search_round(const diff_search *s, ptrdiff_t d)
{
    bool found = false;
    for (ptrdiff_t diagonal = -d; diagonal <= d; diagonal += 2) {
        ptrdiff_t x = step_from(s, d, diagonal);
        x = slide(s, x, x - diagonal);
        *reached(s, d, diagonal) = x;
        found = found || (x >= s->old_count && x - diagonal >= s->new_count);
    }
    return found;
}

/* *ret_d is the length of the shortest script, or -1 when it would be too long. */
static int search(const diff_search *s, cordon_deadline dl, ptrdiff_t *ret_d, cordon_err *err)
{
    *ret_d = -1;
    for (ptrdiff_t d = 0; d <= s->longest; d++) {
        if (d % ROUNDS_PER_CHECK == 0 &&
            cordon_deadline_check(dl, "comparing what changed", err) < 0)
            return -1;
        if (search_round(s, d)) {
            *ret_d = d;
            return 0;
        }
    }
    return 0;
}

/* From the end back to the begin, marking each edit. */
static void mark_script(const diff_search *s, ptrdiff_t d, bool *deleted, bool *inserted)
{
    ptrdiff_t diagonal = s->old_count - s->new_count;
    for (; d > 0; d--) {
        if (comes_by_insertion(s, d, diagonal)) {
            ptrdiff_t x = *reached(s, d - 1, diagonal + 1);
            inserted[x - diagonal - 1] = true;
            diagonal++;
        } else {
            deleted[*reached(s, d - 1, diagonal - 1)] = true;
            diagonal--;
        }
    }
}

static int mark_middle(diff_search *s, bool *deleted, bool *inserted, cordon_deadline dl,
                       cordon_err *err)
{
    ptrdiff_t d = -1;
    ptrdiff_t all = s->old_count + s->new_count;
    s->longest = all < SCRIPT_MAX ? all : SCRIPT_MAX;
    size_t cells = (size_t)(s->longest + 1) * (size_t)(s->longest + 1);
    if (s->old_count > 0 && s->new_count > 0) {
        cordon_autofree ptrdiff_t *trail = malloc(cells * sizeof *trail);
        if (!trail)
            return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
        s->trail = trail;
        if (search(s, dl, &d, err) < 0)
            return -1;
        if (d >= 0)
            mark_script(s, d, deleted, inserted);
    }
    for (ptrdiff_t i = 0; d < 0 && i < s->old_count; i++)
        deleted[i] = true;
    for (ptrdiff_t i = 0; d < 0 && i < s->new_count; i++)
        inserted[i] = true;
    return 0;
}

static int mark(diff_lines *old, diff_lines *new, cordon_deadline dl, cordon_err *err)
{
    size_t least = old->count < new->count ? old->count : new->count;
    size_t begin = 0;
    size_t end = 0;
    while (begin < least && same(&old->items[begin], &new->items[begin]))
        begin++;
    while (end < least - begin &&
           same(&old->items[old->count - end - 1], &new->items[new->count - end - 1]))
        end++;
    diff_search s = {.old = old->items + begin,
                     .new = new->items + begin,
                     .old_count = (ptrdiff_t)(old->count - begin - end),
                     .new_count = (ptrdiff_t)(new->count - begin - end)};
    return mark_middle(&s, old->changed + begin, new->changed + begin, dl, err);
}

/* --- Hunks --------------------------------------------------------------------------------- */

/* A place in both texts: the lines before it are the same or have been told. */
typedef struct diff_place {
    size_t old;
    size_t new;
} diff_place;

static bool at_change(const diff_lines *old, const diff_lines *new, diff_place at)
{
    return (at.old < old->count && old->changed[at.old]) ||
           (at.new < new->count &&new->changed[at.new]);
}

static diff_place past_change(const diff_lines *old, const diff_lines *new, diff_place at)
{
    while (at.old < old->count && old->changed[at.old])
        at.old++;
    while (at.new < new->count &&new->changed[at.new])
        at.new ++;
    return at;
}

/* Where a hunk that begins with the change at `at` ends: nearer changes than 6 lines belong to it.
 */
static diff_place hunk_end(const diff_lines *old, const diff_lines *new, diff_place at)
{
    diff_place end = past_change(old, new, at);
    diff_place next = end;
    while (next.old < old->count && next.old - end.old < (size_t)2 * CORDON_DIFF_CONTEXT) {
        next.old++;
        next.new ++;
        if (at_change(old, new, next))
            end = next = past_change(old, new, next);
    }
    size_t rest = old->count - end.old;
    size_t context = rest < CORDON_DIFF_CONTEXT ? rest : CORDON_DIFF_CONTEXT;
    return (diff_place){end.old + context, end.new + context};
}

static int write_line(cordon_buf *out, const char *sign, const diff_line *line, cordon_err *err)
{
    if (cordon_buf_append_text(out, sign, err) < 0 ||
        cordon_buf_append(out, line->text, line->length, err) < 0)
        return -1;
    if (line->text[line->length - 1] == '\n')
        return 0;
    return cordon_buf_append_text(out, "\n\\ No newline at end of file\n", err);
}

/* Deletions first, as diff does, then insertions. */
static int write_lines(const diff_lines *old, const diff_lines *new, diff_place at, diff_place end,
                       cordon_buf *out, cordon_err *err)
{
    while (at.old < end.old || at.new < end.new) {
        bool gone = at.old < end.old && old->changed[at.old];
        bool come = !gone && end.new > at.new &&new->changed[at.new];
        const diff_line *line = come ? &new->items[at.new] : &old->items[at.old];
        if (write_line(out, gone ? "-" : come ? "+" : " ", line, err) < 0)
            return -1;
        at.old += come ? 0 : 1;
        at.new += gone ? 0 : 1;
    }
    return 0;
}

/* An empty side is told by the line before it. */
static int write_hunk(const diff_lines *old, const diff_lines *new, diff_place at, diff_place end,
                      cordon_buf *out, cordon_err *err)
{
    size_t gone = end.old - at.old;
    size_t come = end.new - at.new;
    if (cordon_buf_printf(out, err, "@@ -%zu,%zu +%zu,%zu @@\n", at.old + (gone ? 1 : 0), gone,
                          at.new + (come ? 1 : 0), come) < 0)
        return -1;
    return write_lines(old, new, at, end, out, err);
}

static int write_hunks(const diff_lines *old, const diff_lines *new, cordon_buf *out,
                       cordon_err *err)
{
    diff_place at = {0, 0};
    size_t told = 0; /* of the old text */
    while (at.old < old->count || at.new < new->count) {
        if (!at_change(old, new, at)) {
            at.old++;
            at.new ++;
            continue;
        }
        size_t before = at.old - told;
        before = before < CORDON_DIFF_CONTEXT ? before : CORDON_DIFF_CONTEXT;
        diff_place begin = {at.old - before, at.new - before};
        at = hunk_end(old, new, at);
        if (write_hunk(old, new, begin, at, out, err) < 0)
            return -1;
        told = at.old;
    }
    return 0;
}

int cordon_diff_text(const char *old, size_t old_length, const char *new, size_t new_length,
                     cordon_deadline dl, cordon_buf *out, cordon_err *err)
{
    cordon_auto(diff_lines) a = {0};
    cordon_auto(diff_lines) b = {0};
    if (split(old, old_length, &a, err) < 0 || split(new, new_length, &b, err) < 0 ||
        mark(&a, &b, dl, err) < 0)
        return -1;
    return write_hunks(&a, &b, out, err);
}

bool cordon_diff_is_binary(const char *text, size_t length)
{
    return length > 0 && memchr(text, '\0', length < BINARY_LOOK ? length : BINARY_LOOK) != NULL;
}

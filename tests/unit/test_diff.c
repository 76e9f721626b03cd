/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences of texts: known ones letter by letter, and many by applying what came out. The
 * applier here is as strict as a reader may be: every line of a hunk must be where it says.
 */
#include "diff_patch.h"

#include <stdio.h>
#include <sys/stat.h>

#include "support/test.h"

static cordon_deadline soon(void)
{
    return cordon_deadline_in_ms(60000, -1);
}

static int diff(const char *old, const char *new, cordon_buf *out, cordon_err *err)
{
    return cordon_diff_text(old, strlen(old), new, strlen(new), soon(), out, err);
}

static void known_texts_have_known_differences(void)
{
    static const struct {
        const char *old;
        const char *new;
        const char *want;
    } rows[] = {
        {"", "", ""},
        {"a\n", "a\n", ""},
        {"", "a\n", "@@ -0,0 +1,1 @@\n+a\n"},
        {"a\n", "", "@@ -1,1 +0,0 @@\n-a\n"},
        {"a\nb\n", "a\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
        {"a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
        {"a\nb", "b", "@@ -1,2 +1,1 @@\n-a\n b\n\\ No newline at end of file\n"},
        {"1\n2\n3\n4\n5\n", "1\n2\n3\n4\n5\nx\n", "@@ -3,3 +3,4 @@\n 3\n 4\n 5\n+x\n"},
        {"x\n1\n2\n3\n4\n5\n6\nz\n", "y\n1\n2\n3\n4\n5\n6\nw\n",
         "@@ -1,8 +1,8 @@\n-x\n+y\n 1\n 2\n 3\n 4\n 5\n 6\n-z\n+w\n"},
        {"x\n1\n2\n3\n4\n5\n6\n7\nz\n", "y\n1\n2\n3\n4\n5\n6\n7\nw\n",
         "@@ -1,4 +1,4 @@\n-x\n+y\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-z\n+w\n"},
        {"a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n",
         "@@ -1,7 +1,6 @@\n-a\n-b\n c\n+b\n a\n b\n-b\n a\n+c\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(cordon_buf) out = cordon_buf_make(4096);
        cordon_err err = CORDON_ERR_INIT;
        if (CHECK_OK(diff(rows[i].old, rows[i].new, &out, &err), err))
            CHECK_STR(cordon_buf_text(&out), rows[i].want);
    }
}

/* --- Applying ------------------------------------------------------------------------------ */

/* A text that is read line by line. */
typedef struct reader {
    const char *at;
    const char *end;
    size_t line; /* number of lines that were read */
} reader;

static bool next_line(reader *r, const char **ret_text, size_t *ret_length)
{
    if (r->at == r->end)
        return false;
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    *ret_text = r->at;
    *ret_length = newline ? (size_t)(newline - r->at) + 1 : (size_t)(r->end - r->at);
    r->at += *ret_length;
    r->line++;
    return true;
}

static bool put(cordon_buf *out, const char *text, size_t length)
{
    cordon_err err = CORDON_ERR_INIT;
    return cordon_buf_append(out, text, length, &err) == 0;
}

/* Copies what stands before line number `until` (from 1). */
static bool copy_until(reader *old, size_t until, cordon_buf *out)
{
    const char *text;
    size_t length;
    while (old->line + 1 < until)
        if (!next_line(old, &text, &length) || !put(out, text, length))
            return false;
    return true;
}

static bool has_no_newline_mark(const reader *patch)
{
    static const char mark[] = "\\ No newline at end of file\n";
    return (size_t)(patch->end - patch->at) >= sizeof mark - 1 &&
           memcmp(patch->at, mark, sizeof mark - 1) == 0;
}

/* One line of a hunk; what it says must be there. */
static bool apply_line(reader *patch, reader *old, const char *line, size_t length, cordon_buf *out)
{
    const char *text = NULL;
    size_t old_length = 0;
    const char *ignored;
    size_t body = length - 1;
    if (has_no_newline_mark(patch)) {
        size_t mark = 0;
        (void)next_line(patch, &ignored, &mark);
        body--;
    }
    if (line[0] != '+' && (!next_line(old, &text, &old_length) || old_length != body ||
                           memcmp(text, line + 1, body) != 0))
        return false;
    return line[0] == '-' || put(out, line + 1, body);
}

static bool apply(const char *old_text, size_t old_length, const cordon_buf *hunks, cordon_buf *out)
{
    reader old = {old_text, old_text + old_length, 0};
    reader patch = {cordon_buf_text(hunks), cordon_buf_text(hunks) + hunks->length, 0};
    const char *line;
    size_t length;
    size_t start = 0;
    size_t count = 0;
    while (next_line(&patch, &line, &length)) {
        if (line[0] != '@') {
            if (!apply_line(&patch, &old, line, length, out))
                return false;
            continue;
        }
        char *end = NULL;
        start = strtoul(line + 4, &end, 10);
        count = strtoul(end + 1, NULL, 10);
        if (!copy_until(&old, count > 0 ? start : start + 1, out))
            return false;
    }
    return copy_until(&old, SIZE_MAX, out) || old.at == old.end;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 16;
}

/* Lines of a small alphabet, so that many are the same; now and then no newline at the end. */
static size_t random_text(uint32_t *seed, char *text, size_t lines)
{
    size_t length = 0;
    for (size_t i = 0; i < lines; i++) {
        text[length++] = (char)('a' + next_random(seed) % 5);
        text[length++] = '\n';
    }
    if (length > 0 && next_random(seed) % 4 == 0)
        length--;
    return length;
}

static void what_comes_out_makes_the_new_text_of_the_old(void)
{
    uint32_t seed = 1;
    char old[512];
    char new[512];
    for (int i = 0; i < 4000; i++) {
        cordon_auto(cordon_buf) hunks = cordon_buf_make(65536);
        cordon_auto(cordon_buf) result = cordon_buf_make(65536);
        cordon_err err = CORDON_ERR_INIT;
        size_t old_length = random_text(&seed, old, next_random(&seed) % 40);
        size_t new_length = random_text(&seed, new, next_random(&seed) % 40);
        REQUIRE_OK(cordon_diff_text(old, old_length, new, new_length, soon(), &hunks, &err), err);
        REQUIRE(apply(old, old_length, &hunks, &result));
        REQUIRE(result.length == new_length &&
                (new_length == 0 || memcmp(result.data, new, new_length) == 0));
    }
}

/* Nothing in common, and more of it than a shortest script is looked for. */
static void very_different_texts_are_replaced_as_a_whole(void)
{
    enum { LINES = 4000 };
    cordon_auto(cordon_buf) old = cordon_buf_make(1 << 20);
    cordon_auto(cordon_buf) new = cordon_buf_make(1 << 20);
    cordon_auto(cordon_buf) hunks = cordon_buf_make(1 << 20);
    cordon_auto(cordon_buf) result = cordon_buf_make(1 << 20);
    cordon_err err = CORDON_ERR_INIT;
    for (int i = 0; i < LINES; i++)
        REQUIRE(cordon_buf_printf(&old, &err, "old %d\n", i) == 0 &&
                cordon_buf_printf(&new, &err, "new %d\n", i) == 0);
    REQUIRE_OK(cordon_diff_text(old.data, old.length, new.data, new.length, soon(), &hunks, &err),
               err);
    CHECK_CONTAINS(cordon_buf_text(&hunks), "@@ -1,4000 +1,4000 @@\n");
    REQUIRE(apply(old.data, old.length, &hunks, &result));
    CHECK(result.length == new.length &&memcmp(result.data, new.data, new.length) == 0);
}

static void the_deadline_and_the_ceiling_hold(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(8);
    cordon_err err = CORDON_ERR_INIT;
    CHECK_FAILS(diff("", "a long enough line\n", &out, &err), err, CORDON_ERR_PROTOCOL, "");
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_diff_text("a\n", 2, "b\n", 2, cordon_deadline_in_ms(0, -1), &out, &err), err,
                CORDON_ERR_TIMEOUT, "comparing what changed");
}

/* --- Files --------------------------------------------------------------------------------- */

static void a_file_has_the_header_that_git_reads(void)
{
    static const struct {
        const char *path;
        cordon_diff_side old;
        cordon_diff_side new;
        const char *want;
    } rows[] = {
        {"f",
         {0, "", 0},
         {0100644, "x\n", 2},
         "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1,1 @@\n+x\n"},
        {"f", {0, "", 0}, {0100755, "", 0}, "diff --git a/f b/f\nnew file mode 100755\n"},
        {"f",
         {0100644, "x\n", 2},
         {0, "", 0},
         "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n"
         "@@ -1,1 +0,0 @@\n-x\n"},
        {"f",
         {0100644, "x\n", 2},
         {0100755, "x\n", 2},
         "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n"},
        {"d/with blank",
         {0100644, "x\n", 2},
         {0100644, "y\n", 2},
         "diff --git a/d/with blank b/d/with blank\n--- a/d/with blank\t\n+++ b/d/with blank\t\n"
         "@@ -1,1 +1,1 @@\n-x\n+y\n"},
        {"t\t\"\xc3\xa9",
         {0, "", 0},
         {0100644, "", 0},
         "diff --git \"a/t\\t\\\"\\303\\251\" \"b/t\\t\\\"\\303\\251\"\nnew file mode 100644\n"},
        {"l",
         {0100644, "x\n", 2},
         {0120000, "to", 2},
         "diff --git a/l b/l\ndeleted file mode 100644\n--- a/l\n+++ /dev/null\n"
         "@@ -1,1 +0,0 @@\n-x\ndiff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n"
         "+++ b/l\n@@ -0,0 +1,1 @@\n+to\n\\ No newline at end of file\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(cordon_buf) out = cordon_buf_make(4096);
        cordon_err err = CORDON_ERR_INIT;
        if (CHECK_OK(
                cordon_diff_patch(rows[i].path, &rows[i].old, &rows[i].new, soon(), &out, &err),
                err))
            CHECK_STR(cordon_buf_text(&out), rows[i].want);
    }
}

static void a_nul_early_on_makes_a_file_binary(void)
{
    char late[9000];
    memset(late, 'x', sizeof late);
    late[8500] = '\0';
    CHECK(cordon_diff_is_binary("a\0b", 3));
    CHECK(!cordon_diff_is_binary("ab\n", 3));
    CHECK(!cordon_diff_is_binary("", 0));
    CHECK(!cordon_diff_is_binary(late, sizeof late));
}

CORDON_TEST_MAIN("diff", TEST(known_texts_have_known_differences),
                 TEST(what_comes_out_makes_the_new_text_of_the_old),
                 TEST(very_different_texts_are_replaced_as_a_whole),
                 TEST(the_deadline_and_the_ceiling_hold),
                 TEST(a_file_has_the_header_that_git_reads),
                 TEST(a_nul_early_on_makes_a_file_binary))

/* SPDX-License-Identifier: Apache-2.0 */
/* git's configuration syntax: what git reads is read the same, what it does not read is refused. */
#include "git_config.h"

#include "kit/buf.h"
#include "support/test.h"

static int note(void *context, const char *section, const char *key, const char *value,
                cordon_err *err)
{
    return cordon_buf_printf(context, err, "%s.%s%s%s;", section, key, value ? "=" : "",
                             value ? value : "");
}

static void what_git_reads_is_read(void)
{
    static const struct {
        const char *text;
        const char *want;
    } rows[] = {
        {"", ""},
        {"# comment\n; another\n\n", ""},
        {"[core]\n\tbare = false\n", "core.bare=false;"},
        {"[CORE]\nHooksPath=x", "core.hookspath=x;"},
        {"[a] b = c\n", "a.b=c;"},
        {"[a]b\n", "a.b;"},
        {"[a]\nb # comment\n", "a.b;"},
        {"[a]\nb =\n", "a.b=;"},
        {"[remote \"or]igin \\\" \\\\\"]\nurl = x\n", "remote.url=x;"},
        {"[includeIf \"gitdir:~/x/\"]\n path = y\n", "includeif.path=y;"},
        {"[branch.main]\nx = y\n", "branch.x=y;"},
        {"[a]\nb = two words  # c\n", "a.b=two words;"},
        {"[a]\nb = \" quoted ; \" x\n", "a.b= quoted ;  x;"},
        {"[a]\nb = x\\\n  y\n", "a.b=x  y;"},
        {"[a]\nb = \\\"q\\\" \\\\ \\t\n", "a.b=\"q\" \\ \t;"},
        {"\xef\xbb\xbf[a]\r\nb = c\r\nd = e\r\n", "a.b=c;a.d=e;"},
        {"[a]\nb=1\n[c]\nb=2\n", "a.b=1;c.b=2;"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(cordon_buf) out = cordon_buf_make(4096);
        cordon_err err = CORDON_ERR_INIT;
        if (CHECK_OK(cordon_git_config_read(rows[i].text, strlen(rows[i].text), note, &out, &err),
                     err))
            CHECK_STR(cordon_buf_text(&out), rows[i].want);
    }
}

static void what_git_does_not_read_is_refused_with_its_line(void)
{
    static const struct {
        const char *text;
        const char *why;
    } rows[] = {
        {"[core\n", "line 2: a section's name does not end"},
        {"[a \"b\n\"]\n", "a section's name does not end"},
        {"[a]\nb = \"x\n", "a quote does not end"},
        {"[a]\n\nb = \\x\n", "line 3: a value that git does not read"},
        {"[a]\nb c\n", "line 2: a name that git does not read"},
        {"[a]\n=c\n", "line 2: is no line of git's"},
        {"\x01", "line 1: is no line of git's"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(cordon_buf) out = cordon_buf_make(4096);
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(cordon_git_config_read(rows[i].text, strlen(rows[i].text), note, &out, &err),
                    err, CORDON_ERR_CONFIG, rows[i].why);
    }
}

static void a_nul_and_an_endless_value_are_refused(void)
{
    static char text[CORDON_GIT_CONFIG_TEXT_MAX + 64] = "[a]\nb = ";
    cordon_auto(cordon_buf) out = cordon_buf_make(4096);
    cordon_err err = CORDON_ERR_INIT;
    CHECK_FAILS(cordon_git_config_read("[a]\nb = x\0y\n", 12, note, &out, &err), err,
                CORDON_ERR_CONFIG, "a value that git does not read");
    cordon_err_clear(&err);
    memset(text + 8, 'x', sizeof text - 8);
    CHECK_FAILS(cordon_git_config_read(text, sizeof text, note, &out, &err), err, CORDON_ERR_CONFIG,
                "a value that git does not read");
}

static int stop(void *context, const char *section, const char *key, const char *value,
                cordon_err *err)
{
    (void)context;
    (void)section;
    (void)value;
    return CORDON_FAIL(err, CORDON_ERR_REFUSED, "enough of %s", key);
}

static void the_reader_may_have_enough(void)
{
    cordon_err err = CORDON_ERR_INIT;
    CHECK_FAILS(cordon_git_config_read("[a]\nb=c\nd=e\n", 12, stop, NULL, &err), err,
                CORDON_ERR_REFUSED, "enough of b");
}

CORDON_TEST_MAIN("git_config", TEST(what_git_reads_is_read),
                 TEST(what_git_does_not_read_is_refused_with_its_line),
                 TEST(a_nul_and_an_endless_value_are_refused), TEST(the_reader_may_have_enough))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets are kept whole and apart, refused by name alone, wiped, and hidden in output whatever
 * the cuts - while every other byte stays as it is.
 */
#include "secrets.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "support/test.h"

static bool add(cordon_secrets *secrets, const char *name, const char *value)
{
    cordon_err err = CORDON_ERR_INIT;

    return CHECK_OK(cordon_secrets_add(secrets, name, value, strlen(value), &err), err);
}

static void a_secret_is_kept_byte_for_byte(void)
{
    cordon_auto(cordon_secrets) secrets = {0};

    REQUIRE(add(&secrets, "API_KEY", "sk-1\n=\t\xff"));
    REQUIRE(add(&secrets, "TOKEN_FILE_DESCRIPTOR", "t"));
    REQUIRE_INT(secrets.count, 2);
    CHECK_STR(secrets.items[0].name, "API_KEY");
    CHECK_STR(secrets.items[0].value, "sk-1\n=\t\xff");
    CHECK_INT(secrets.items[0].length, 8);
    CHECK(!secrets.items[0].by_descriptor);
    CHECK(secrets.items[1].by_descriptor);
}

static void the_largest_and_the_most_fit(void)
{
    static char value[CORDON_SECRET_BYTES_MAX + 1];
    cordon_auto(cordon_secrets) secrets = {0};
    cordon_err err = CORDON_ERR_INIT;

    memset(value, 'x', sizeof(value));
    for (int i = 0; i < CORDON_SECRETS_MAX; i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "SECRET_%d", i);
        REQUIRE_OK(cordon_secrets_add(&secrets, name, value, CORDON_SECRET_BYTES_MAX, &err), err);
    }
    CHECK_INT(strlen(secrets.items[CORDON_SECRETS_MAX - 1].value), CORDON_SECRET_BYTES_MAX);
    CHECK_FAILS(cordon_secrets_add(&secrets, "MORE", "x", 1, &err), err, CORDON_ERR_CONFIG,
                "secret MORE: over 16 secrets");
}

static void what_is_no_secret_is_refused_without_a_word_of_its_value(void)
{
    static const struct {
        const char *name;
        size_t length;
        const char *message;
    } bad[] = {
        {"", 6, "its name is the environment variable"},
        {"1KEY", 6, "its name is the environment variable"},
        {"MY-KEY", 6, "its name is the environment variable"},
        {"KEY\n", 6, "its name is the environment variable"},
        {"PATH", 6, "secret PATH: that variable is Cordon's or the system's"},
        {"LANG", 6, "secret LANG: that variable is"},
        {"LD_PRELOAD", 6, "secret LD_PRELOAD: that variable is"},
        {"GIT_CONFIG_COUNT", 6, "secret GIT_CONFIG_COUNT: that variable is"},
        {"https_proxy", 6, "secret https_proxy: that variable is"},
        {"NODE_OPTIONS", 6, "secret NODE_OPTIONS: that variable is"},
        {"TWICE", 6, "secret TWICE: given twice"},
        {"EMPTY", 0, "secret EMPTY: it is empty"},
        {"LONG", CORDON_SECRET_BYTES_MAX + 1, "secret LONG: 32769 bytes, at most 32768 pass"},
        {"NUL", 7, "secret NUL: it holds a NUL byte"},
    };
    static char value[CORDON_SECRET_BYTES_MAX + 1] = "hidden";
    cordon_auto(cordon_secrets) secrets = {0};

    REQUIRE(add(&secrets, "TWICE", "once"));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cordon_err err = CORDON_ERR_INIT;

        CHECK_FAILS(cordon_secrets_add(&secrets, bad[i].name, value, bad[i].length, &err), err,
                    CORDON_ERR_CONFIG, bad[i].message);
        CHECK(strstr(err.message, "hidden") == NULL);
    }
    CHECK_INT(secrets.count, 1);
}

/* "dd" among the flags of the mapping in /proc/self/smaps: not in a core dump (proc(5)). */
static bool is_undumped(const void *address)
{
    char line[512];
    bool inside = false;
    bool result = false;
    FILE *file = fopen("/proc/self/smaps", "re");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        unsigned long long start;
        unsigned long long end;
        char *dash = NULL;
        char *blank = NULL;

        start = strtoull(line, &dash, 16);
        if (dash != line && *dash == '-') {
            end = strtoull(dash + 1, &blank, 16);
            inside = *blank == ' ' && (unsigned long long)(uintptr_t)address >= start &&
                     (unsigned long long)(uintptr_t)address < end;
        }
        if (inside && strncmp(line, "VmFlags:", 8) == 0)
            result = strstr(line, " dd") != NULL;
    }
    if (file != NULL)
        (void)fclose(file);
    return result;
}

static void secrets_are_in_no_core_dump_and_gone_when_cleared(void)
{
    cordon_secrets secrets = {0};

    REQUIRE(add(&secrets, "API_KEY", "sk-1234567"));
    CHECK(is_undumped(secrets.items[0].value));
    void *page = secrets.mapping;
    cordon_secrets_clear(&secrets);
    CHECK_INT(secrets.count, 0);
    CHECK(msync(page, 1, MS_ASYNC) != 0); /* nothing is mapped there any more */
}

/* --- Masking ------------------------------------------------------------------------------------
 */

static int collect(void *context, const void *bytes, size_t length, cordon_err *err)
{
    return cordon_buf_append(context, bytes, length, err);
}

/* Feeds the text in pieces of `cut` bytes. */
static void masked(const cordon_secrets *secrets, const char *text, size_t cut, cordon_buf *out)
{
    cordon_auto(cordon_mask) mask = {0};
    cordon_err err = CORDON_ERR_INIT;
    size_t length = strlen(text);

    cordon_buf_reset(out);
    cordon_mask_init(&mask, secrets, collect, out);
    for (size_t at = 0; at < length; at += cut) {
        size_t piece = length - at < cut ? length - at : cut;

        REQUIRE_OK(cordon_mask_feed(&mask, text + at, piece, &err), err);
    }
    CHECK_OK(cordon_mask_finish(&mask, &err), err);
}

static void a_secret_is_hidden_however_the_output_is_cut(void)
{
    static const struct {
        const char *text;
        const char *want;
    } rows[] = {
        {"key=sk-12345678\n", "key=********\n"},
        {"sk-12345678", "********"},
        {"sk-12345678sk-12345678", "****************"},
        {"sk-sk-12345678", "sk-********"},
        {"ssk-12345678-", "s********-"},
        {"sk-1234567", "sk-1234567"},
        {"sk-123456789", "********9"},
        {"sk-12345678-long", "********"},
        {"sk-12345678-lon", "********-lon"},
        {"sk-12345678-lo sk-12345678-long", "********-lo ********"},
        {"short", "short"},
        {"aaaaaaaaab", "********ab"},
        {"", ""},
        {"nothing here at all", "nothing here at all"},
    };
    cordon_auto(cordon_secrets) secrets = {0};
    cordon_auto(cordon_buf) out = cordon_buf_make(4096);

    REQUIRE(add(&secrets, "A", "sk-12345678"));
    REQUIRE(add(&secrets, "B", "sk-12345678-long"));
    REQUIRE(add(&secrets, "C", "short"));
    REQUIRE(add(&secrets, "D", "aaaaaaaa"));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t cut = 1; cut <= strlen(rows[i].text) + 1; cut++) {
            masked(&secrets, rows[i].text, cut, &out);
            TEST_RECORDF(strcmp(cordon_buf_text(&out), rows[i].want) == 0,
                         "\"%s\" in pieces of %zu: \"%s\"", rows[i].text, cut,
                         cordon_buf_text(&out));
        }
    }
}

static void without_secrets_every_byte_passes_at_once(void)
{
    cordon_auto(cordon_secrets) none = {0};
    cordon_auto(cordon_buf) out = cordon_buf_make(64);
    const cordon_secrets *both[] = {NULL, &none};

    for (size_t i = 0; i < 2; i++) {
        cordon_auto(cordon_mask) mask = {0};
        cordon_err err = CORDON_ERR_INIT;

        cordon_buf_reset(&out);
        cordon_mask_init(&mask, both[i], collect, &out);
        CHECK_OK(cordon_mask_feed(&mask, "a\0b", 3, &err), err);
        CHECK_INT(out.length, 3);
    }
}

/* Also one that the end of our text has cut, from 8 bytes on; no byte is added. */
static void a_secret_in_a_text_of_ours_is_hidden_in_place(void)
{
    static const struct {
        const char *text;
        const char *want;
    } rows[] = {
        {"hook sk-12345678!", "hook ***********!"},
        {"hook sk-12345", "hook ********"},
        {"hook sk-1234", "hook sk-1234"},
        {"nothing", "nothing"},
        {"", ""},
    };
    cordon_auto(cordon_secrets) secrets = {0};

    REQUIRE(add(&secrets, "A", "sk-12345678"));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[64];

        (void)snprintf(text, sizeof(text), "%s", rows[i].text);
        cordon_secrets_hide(&secrets, text);
        CHECK_STR(text, rows[i].want);
    }
}

/* Only what may still become a secret waits: a reader of lines is not held up. */
static void what_cannot_become_a_secret_is_not_held_back(void)
{
    cordon_auto(cordon_secrets) secrets = {0};
    cordon_auto(cordon_buf) out = cordon_buf_make(64);
    cordon_auto(cordon_mask) mask = {0};
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(add(&secrets, "A", "sk-12345678"));
    cordon_mask_init(&mask, &secrets, collect, &out);
    CHECK_OK(cordon_mask_feed(&mask, "line\nsk-1", 9, &err), err);
    CHECK_STR(cordon_buf_text(&out), "line\n");
    CHECK_OK(cordon_mask_feed(&mask, "x", 1, &err), err);
    CHECK_STR(cordon_buf_text(&out), "line\nsk-1x");
}

CORDON_TEST_MAIN("secrets", TEST(a_secret_is_kept_byte_for_byte),
                 TEST(the_largest_and_the_most_fit),
                 TEST(what_is_no_secret_is_refused_without_a_word_of_its_value),
                 TEST(secrets_are_in_no_core_dump_and_gone_when_cleared),
                 TEST(a_secret_is_hidden_however_the_output_is_cut),
                 TEST(without_secrets_every_byte_passes_at_once),
                 TEST(a_secret_in_a_text_of_ours_is_hidden_in_place),
                 TEST(what_cannot_become_a_secret_is_not_held_back))

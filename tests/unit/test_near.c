/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several words was meant: slips are near, other words are not. */
#include "kit/near.h"

#include <stdint.h>

#include "support/test.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void a_distance_counts_letters_and_swaps(void)
{
    static const struct {
        const char *a;
        const char *b;
        size_t letters;
    } rows[] = {
        {"run", "run", 0},  {"run", "rum", 1},     {"run", "rnu", 1},       {"run", "ru", 1},
        {"run", "runn", 1}, {"run", "urn", 1},     {"run", "rust", 2},      {"", "run", 3},
        {"run", "", 3},     {"phase", "phsae", 1}, {"Review", "review", 1}, {"REVIEW", "reviwe", 1},
        {"ca", "abc", 3},   {"", "", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(cordon_near_distance(rows[i].a, rows[i].b), rows[i].letters);
        CHECK_INT(cordon_near_distance(rows[i].b, rows[i].a), rows[i].letters);
    }
}

static void a_word_that_is_too_long_is_near_to_nothing(void)
{
    char longest[CORDON_NEAR_MAX + 2];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    CHECK(cordon_near_distance(longest, "a") == SIZE_MAX);
    CHECK(cordon_near_distance("a", longest) == SIZE_MAX);
    CHECK_INT(cordon_near_distance(longest + 1, longest + 2), 1);
}

static const char *near_to(const char *word)
{
    static const char *const words[] = {"run", "probe", "plan", "--worktree", "--json", "ls", "rm"};
    cordon_near near = {.word = word};
    for (size_t i = 0; i < COUNT(words); i++)
        cordon_near_look(&near, words[i]);
    return near.best ? near.best : "";
}

static void a_slip_of_the_finger_is_near_and_another_word_is_not(void)
{
    static const char *const rows[][2] = {
        {"rum", "run"},      {"rnu", "run"},
        {"ru", "run"},       {"urn", "run"},
        {"RUN", "run"},      {"plna", "plan"},
        {"prob", "probe"},   {"--wroktre", "--worktree"},
        {"--jsn", "--json"}, {"--josn", "--json"},
        {"rust", ""},        {"", ""},
        {"r", ""},           {"fly", ""},
        {"nur", ""},         {"run", ""},
        {"--x", ""},         {"worktree", "--worktree"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        TEST_RECORDF(strcmp(near_to(rows[i][0]), rows[i][1]) == 0, "%s: near to \"%s\"", rows[i][0],
                     near_to(rows[i][0]));
}

static void a_hint_goes_on_with_the_next_words(void)
{
    char text[CORDON_NEAR_HINT_SIZE];
    const cordon_near found = {.word = "rum", .best = "run", .distance = 1};
    const cordon_near none = {.word = "fly"};
    CHECK_STR(cordon_near_hint(&found, "see", text), "; did you mean \"run\"? See");
    CHECK_STR(cordon_near_hint(&none, "see", text), "; see");
}

CORDON_TEST_MAIN("near", TEST(a_distance_counts_letters_and_swaps),
                 TEST(a_word_that_is_too_long_is_near_to_nothing),
                 TEST(a_slip_of_the_finger_is_near_and_another_word_is_not),
                 TEST(a_hint_goes_on_with_the_next_words))

/* SPDX-License-Identifier: Apache-2.0 */
/* Every code and every compared fact has an explanation, under each name that a refusal gives it.
 */
#include "cordon/explain.h"

#include "owner.h"
#include "refusal.h"
#include "support/test.h"
#include "validate.h"

/* True if the word has exactly one explanation, and that is called `name`. */
static bool explained(const char *word, const char *kind, const char *name)
{
    cordon_explanation what;
    size_t index = 0;
    return cordon_explain(word, &index, &what) && strcmp(what.kind, kind) == 0 &&
           strcmp(what.name, name) == 0 && !cordon_explain(word, &index, &what);
}

static void every_code_is_explained_with_and_without_its_prefix(void)
{
    for (int code = CORDON_REFUSED_NONE + 1; code <= CORDON_REFUSED_EXPIRED; code++) {
        const char *name = cordon_refusal_name((cordon_refusal_code)code);
        cordon_explanation what;
        size_t index = 0;
        TEST_RECORDF(explained(name, "code", name), "%s", name);
        CHECK(cordon_explain(name + strlen("CORDON_REFUSED_"), &index, &what));
        CHECK_STR(what.name, name);
    }
    CHECK_STR(cordon_refusal_name((cordon_refusal_code)(CORDON_REFUSED_EXPIRED + 1)), "");
}

typedef struct family {
    const char *objects[3];
    const char *name;
    const cordon_rule *rules;
    size_t count;
} family;

static void check_family(const family *f)
{
    char word[96];
    char name[96];
    for (size_t i = 0; i < f->count; i++) {
        (void)snprintf(name, sizeof name, "%s.%s", f->name, f->rules[i].name);
        TEST_RECORDF(explained(name, "fact", name), "%s", name);
        for (size_t j = 0; j < 3 && f->objects[j]; j++) {
            (void)snprintf(word, sizeof word, "%s.%s", f->objects[j], f->rules[i].name);
            TEST_RECORDF(explained(word, "fact", name), "%s", word);
        }
    }
}

static void every_compared_fact_is_explained_under_each_of_its_names(void)
{
    const family families[] = {
        {{"step", "proxy", "keeper"},
         "container",
         cordon_container_rules,
         cordon_container_rule_count},
        {{"step.runtime", "proxy.runtime", "keeper.runtime"},
         "runtime",
         cordon_runtime_rules,
         cordon_runtime_rule_count},
        {{cordon_role_name(CORDON_ROLE_VENDOR_NETWORK),
          cordon_role_name(CORDON_ROLE_EGRESS_NETWORK), NULL},
         "network",
         cordon_network_rules,
         cordon_network_rule_count},
        {{cordon_role_name(CORDON_ROLE_SCRATCH), NULL, NULL},
         "volume",
         cordon_volume_rules,
         cordon_volume_rule_count},
    };
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        check_family(&families[i]);
}

static void what_follows_a_fact_is_part_of_it(void)
{
    CHECK(explained("step.mounts[/etc/x.y].options", "fact", "container.mounts"));
    CHECK(explained("step.changes[/a]b]", "fact", "container.changes"));
    CHECK(explained("kernel.cap.bounding", "fact", "kernel.cap"));
    CHECK(explained("kernel.cgroup.pids.max", "fact", "kernel.cgroup.pids.max"));
    CHECK(explained("images.lock.claude", "fact", "images.lock"));
    CHECK(explained("step.state:", "fact", "container.state"));
    CHECK(explained("step.runtime", "fact", "container.runtime"));
    CHECK(explained("proxy.landlock", "fact", "proxy.landlock"));
}

static void a_bare_name_tells_of_all_that_have_it(void)
{
    cordon_explanation what;
    size_t index = 0;
    REQUIRE(cordon_explain("hooks", &index, &what));
    CHECK_STR(what.name, "runtime.hooks");
    CHECK(!cordon_explain("hooks", &index, &what));
    index = 0;
    REQUIRE(cordon_explain("config", &index, &what));
    CHECK_STR(what.kind, "code");
    REQUIRE(cordon_explain("config", &index, &what));
    CHECK_STR(what.kind, "error");
}

static void an_unknown_word_has_none(void)
{
    static const char *const words[] = {
        "",        ".",          "step",     "step.", "step.mountz", "stepmounts",
        "proxy.x", "MISMATCHED", "mounts.x", "[",     ":",           "CORDON_REFUSED_"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        cordon_explanation what;
        size_t index = 0;
        TEST_RECORDF(!cordon_explain(words[i], &index, &what), "%s", words[i]);
    }
}

/* A text is sentences on one line, and says something. */
static bool is_text(const char *text)
{
    size_t length = text ? strlen(text) : 0;
    return length > 5 && text[length - 1] == '.' && strchr(text, '\n') == NULL &&
           strstr(text, "  ") == NULL;
}

static void every_text_is_whole(void)
{
    cordon_explanation what;
    size_t index = 0;
    for (; cordon_explanation_at(index, &what); index++)
        TEST_RECORDF(is_text(what.means) && is_text(what.stops) && is_text(what.next), "%s",
                     what.name);
    CHECK(index > 200);
}

static void every_error_and_kind_of_result_is_explained(void)
{
    static const char *const kinds[] = {"exited", "refused",  "deadline",    "cancelled",
                                        "oom",    "tampered", "not_started", "error"};
    cordon_explanation what;
    for (int code = CORDON_ERR_NOMEM; code <= CORDON_ERR_WARNED; code++) {
        size_t index = 0;
        TEST_RECORDF(cordon_explain(cordon_code_name((cordon_code)code), &index, &what), "%s",
                     cordon_code_name((cordon_code)code));
    }
    CHECK_STR(cordon_code_name((cordon_code)(CORDON_ERR_WARNED + 1)), "UNKNOWN");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t index = 0;
        TEST_RECORDF(cordon_explain(kinds[i], &index, &what), "%s", kinds[i]);
    }
}

CORDON_TEST_MAIN("explain", TEST(every_code_is_explained_with_and_without_its_prefix),
                 TEST(every_compared_fact_is_explained_under_each_of_its_names),
                 TEST(what_follows_a_fact_is_part_of_it),
                 TEST(a_bare_name_tells_of_all_that_have_it), TEST(an_unknown_word_has_none),
                 TEST(every_text_is_whole), TEST(every_error_and_kind_of_result_is_explained))

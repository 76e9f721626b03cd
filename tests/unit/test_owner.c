/* SPDX-License-Identifier: Apache-2.0 */
/* Who owns what: fresh names for every invocation, and labels that only the owner can show. */
#include "owner.h"
#include "support/test.h"

static bool is_hex(const char *text, size_t length)
{
    if (strlen(text) != length)
        return false;
    return strspn(text, "0123456789abcdef") == length;
}

static void every_role_has_its_own_name_and_four_labels(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_owner owner;
    static const char *const names[CORDON_ROLE_COUNT] = {
        "vendor-network", "egress-network", "scratch", "keeper", "proxy", "step"};
    static const cordon_object_type types[CORDON_ROLE_COUNT] = {
        CORDON_OBJECT_NETWORK,   CORDON_OBJECT_NETWORK,   CORDON_OBJECT_VOLUME,
        CORDON_OBJECT_CONTAINER, CORDON_OBJECT_CONTAINER, CORDON_OBJECT_CONTAINER};

    REQUIRE_OK(cordon_owner_init(&owner, 1000, &err), err);
    CHECK(is_hex(owner.invocation, 32));
    CHECK(is_hex(owner.token, 32));
    CHECK_STR(owner.owner, "uid-1000");
    for (int role = 0; role < CORDON_ROLE_COUNT; role++) {
        char prefix[64];
        char labels[4][CORDON_LABEL_SIZE];
        cordon_texts texts = cordon_owner_labels(&owner, (cordon_role)role);

        CHECK_STR(cordon_role_name((cordon_role)role), names[role]);
        CHECK_INT(cordon_role_type((cordon_role)role), types[role]);
        (void)snprintf(prefix, sizeof(prefix), "cordon-%s-", names[role]);
        CHECK(strncmp(owner.badges[role].name, prefix, strlen(prefix)) == 0);
        CHECK(is_hex(owner.badges[role].name + strlen(prefix), 32));
        (void)snprintf(labels[0], sizeof(labels[0]), "io.cordon.owner=uid-1000");
        (void)snprintf(labels[1], sizeof(labels[1]), "io.cordon.invocation=%s", owner.invocation);
        (void)snprintf(labels[2], sizeof(labels[2]), "io.cordon.role=%s", names[role]);
        (void)snprintf(labels[3], sizeof(labels[3]), "io.cordon.token=%s", owner.token);
        REQUIRE_INT(texts.count, 4);
        for (size_t i = 0; i < 4; i++)
            CHECK_STR(texts.items[i], labels[i]);
    }
    CHECK_STR(owner.token_label, owner.badges[0].labels[3]);
}

static void the_greatest_uid_fits(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_owner owner;

    REQUIRE_OK(cordon_owner_init(&owner, UINT32_MAX, &err), err);
    CHECK_STR(owner.owner, "uid-4294967295");
    CHECK_STR(owner.badges[0].labels[0], "io.cordon.owner=uid-4294967295");
}

static void nothing_is_drawn_twice(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_owner one;
    cordon_owner two;

    REQUIRE_OK(cordon_owner_init(&one, 1000, &err), err);
    REQUIRE_OK(cordon_owner_init(&two, 1000, &err), err);
    CHECK(strcmp(one.invocation, two.invocation) != 0);
    CHECK(strcmp(one.token, two.token) != 0);
    CHECK(strcmp(one.invocation, one.token) != 0);
    for (int role = 0; role < CORDON_ROLE_COUNT; role++)
        CHECK(strcmp(one.badges[role].name, two.badges[role].name) != 0);
    /* The random parts differ between the roles of one invocation, too. */
    CHECK(strcmp(strrchr(one.badges[0].name, '-'), strrchr(one.badges[1].name, '-')) != 0);
}

/* The labels of a role as an engine shows them. */
static bool shown(const cordon_owner *owner, cordon_role role, cordon_fact_list *list)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_texts labels = cordon_owner_labels(owner, role);

    for (size_t i = 0; i < labels.count; i++) {
        if (!CHECK_OK(cordon_fact_list_add(list, labels.items[i], &err), err))
            return false;
    }
    return true;
}

static void an_object_is_ours_only_with_all_four_labels(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_owner owner;

    REQUIRE_OK(cordon_owner_init(&owner, 1000, &err), err);
    for (size_t missing = 0; missing <= CORDON_LABEL_COUNT; missing++) {
        cordon_auto(cordon_fact_list) list = {0};

        REQUIRE(shown(&owner, CORDON_ROLE_PROXY, &list));
        if (missing < CORDON_LABEL_COUNT)
            list.items[missing][strlen(list.items[missing]) - 1] ^= 1;
        CHECK(cordon_owner_matches(&owner, CORDON_ROLE_PROXY, &list) ==
              (missing == CORDON_LABEL_COUNT));
    }
}

static void order_and_foreign_labels_do_not_matter_repetition_does(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_owner owner;
    cordon_auto(cordon_fact_list) more = {0};
    cordon_auto(cordon_fact_list) repeated = {0};

    REQUIRE_OK(cordon_owner_init(&owner, 1000, &err), err);
    REQUIRE_OK(cordon_fact_list_add(&more, "com.example.owner=somebody", &err), err);
    REQUIRE(shown(&owner, CORDON_ROLE_STEP, &more));
    cordon_fact_list_sort(&more);
    CHECK(cordon_owner_matches(&owner, CORDON_ROLE_STEP, &more));
    for (int i = 0; i < 4; i++)
        REQUIRE_OK(cordon_fact_list_add(&repeated, owner.token_label, &err), err);
    CHECK(!cordon_owner_matches(&owner, CORDON_ROLE_STEP, &repeated));
}

static void labels_of_another_role_or_invocation_are_foreign(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_owner owner;
    cordon_owner other;
    cordon_auto(cordon_fact_list) ours = {0};
    cordon_auto(cordon_fact_list) theirs = {0};
    cordon_auto(cordon_fact_list) untold = {0};
    cordon_auto(cordon_fact_list) none = {.known = true};

    REQUIRE_OK(cordon_owner_init(&owner, 1000, &err), err);
    REQUIRE_OK(cordon_owner_init(&other, 1000, &err), err);
    REQUIRE(shown(&owner, CORDON_ROLE_STEP, &ours));
    REQUIRE(shown(&other, CORDON_ROLE_STEP, &theirs));
    CHECK(!cordon_owner_matches(&owner, CORDON_ROLE_PROXY, &ours));
    CHECK(!cordon_owner_matches(&owner, CORDON_ROLE_STEP, &theirs));
    CHECK(!cordon_owner_matches(&owner, CORDON_ROLE_STEP, &untold));
    CHECK(!cordon_owner_matches(&owner, CORDON_ROLE_STEP, &none));
}

static void labels_that_were_not_told_do_not_count_even_if_they_are_there(void)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_owner owner;
    cordon_auto(cordon_fact_list) list = {0};

    REQUIRE_OK(cordon_owner_init(&owner, 1000, &err), err);
    REQUIRE(shown(&owner, CORDON_ROLE_STEP, &list));
    list.known = false;
    CHECK(!cordon_owner_matches(&owner, CORDON_ROLE_STEP, &list));
}

CORDON_TEST_MAIN("owner", TEST(every_role_has_its_own_name_and_four_labels),
                 TEST(the_greatest_uid_fits), TEST(nothing_is_drawn_twice),
                 TEST(an_object_is_ours_only_with_all_four_labels),
                 TEST(order_and_foreign_labels_do_not_matter_repetition_does),
                 TEST(labels_of_another_role_or_invocation_are_foreign),
                 TEST(labels_that_were_not_told_do_not_count_even_if_they_are_there))

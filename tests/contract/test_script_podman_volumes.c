/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The volume operations of the podman engine against a scripted server. A volume's name is its id,
 * and libpod takes the beginning of one for it as well: what an answer is about decides.
 */
#include "podman_rig.h"

#include <string.h>

#define NAME  "cordon-scratch-0123"
#define AT    API "/volumes/" NAME
#define PLACE "/var/lib/containers/storage/volumes/" NAME "/_data"
#define VOLUME(name, labels)                                                                       \
    "{\"Name\":\"" name "\",\"Driver\":\"local\",\"Scope\":\"local\",\"Mountpoint\":\"" PLACE      \
    "\",\"CreatedAt\":\"2026-11-30T09:46:02Z\",\"Options\":{\"type\":\"tmpfs\"},"                  \
    "\"Labels\":" labels ",\"MountCount\":0}"
#define OURS VOLUME(NAME, "{\"k\":\"v\"}")
#define GONE FAILURE("no such volume", "no volume with name " NAME ": no such volume")
#define SHOWN                                                                                      \
    {                                                                                              \
        .method = "GET", .path = AT "/json", .status = 200, .json = OURS                           \
    }

static const cordon_volume_spec volume = {.name = NAME, .blocks = 4};

static void creates_are_judged_by_their_answer(void)
{
    static const answer rows[] = {
        {201, OURS, CORDON_OK, ""},
        {201, VOLUME("cordon-scratch-0124", "{}"), CORDON_ERR_INDETERMINATE, "cordon-scratch-0124"},
        {201, "{\"Name\":null}", CORDON_ERR_INDETERMINATE, "$.Name"},
        {201, "{}", CORDON_ERR_INDETERMINATE, "$.Name"},
        {201, "<html>", CORDON_ERR_INDETERMINATE, ""},
        {201, "", CORDON_ERR_INDETERMINATE, ""},
        {200, OURS, CORDON_ERR_INDETERMINATE, "unexpected"},
        {304, "", CORDON_ERR_INDETERMINATE, "unexpected"},
        {500, FAILURE("volume already exists", "volume with name " NAME ": volume already exists"),
         CORDON_ERR_CONFLICT, "already exists"},
        {409, FAILURE("x", "busy"), CORDON_ERR_CONFLICT, "busy"},
        {500, FAILURE("no space left on device", "no space left on device"), CORDON_ERR_ENGINE,
         "no space"},
        {500, "text", CORDON_ERR_ENGINE, "text"},
        {404, "Not Found\n", CORDON_ERR_PROTOCOL, "Not Found"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {PONG,
                                   {.method = "POST",
                                    .path = API "/volumes/create",
                                    .body_has = "\"o\":\"nr_blocks=4,nodev,nosuid,noexec\"",
                                    .status = rows[i].status,
                                    .json = rows[i].json}};
        cordon_auto(rig) r = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        int rc = ops->volume_create(r.impl, &volume, soon(), &err);
        if (rows[i].code == CORDON_OK)
            CHECK_OK(rc, err);
        else
            CHECK_FAILS(rc, err, rows[i].code, rows[i].part);
        CHECK_INT(udsd_count(r.server), 2);
    }
}

static void removals_are_judged_by_their_answer(void)
{
    static const answer rows[] = {
        {204, NULL, CORDON_OK, ""},
        {200, "{}", CORDON_ERR_INDETERMINATE, "unexpected"},
        {404, GONE, CORDON_ERR_NOTFOUND, "no such volume"},
        {404, FAILURE("no such container", "no such container"), CORDON_ERR_ENGINE, "container"},
        {404, "Not Found\n", CORDON_ERR_PROTOCOL, "Not Found"},
        {409, FAILURE("volume is being used", "volume " NAME " is being used"), CORDON_ERR_CONFLICT,
         "being used"},
        {500, FAILURE("volume is being used", "volume " NAME " is being used"), CORDON_ERR_CONFLICT,
         "being used"},
        {500, FAILURE("x", "device or resource busy"), CORDON_ERR_ENGINE, "busy"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {
            PONG,
            SHOWN,
            {.method = "DELETE", .path = AT, .status = rows[i].status, .json = rows[i].json}};
        cordon_auto(rig) r = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        int rc = ops->volume_remove(r.impl, NAME, soon(), &err);
        if (rows[i].code == CORDON_OK)
            CHECK_OK(rc, err);
        else
            CHECK_FAILS(rc, err, rows[i].code, rows[i].part);
        CHECK_INT(udsd_count(r.server), 3);
    }
}

static void a_change_without_an_answer_is_sent_once_and_indeterminate(void)
{
    static const udsd_step silent[] = {{.flags = UDSD_CLOSE_UNREAD}, {.flags = UDSD_NEVER_ANSWER}};
    for (size_t i = 0; i < 2 * COUNT(silent); i++) {
        const bool removal = i % 2 == 1;
        udsd_step last = silent[i / 2];
        last.method = removal ? "DELETE" : "POST";
        const udsd_step steps[] = {PONG, SHOWN, last};
        cordon_auto(rig) r = {0};
        cordon_err err = CORDON_ERR_INIT;
        cordon_deadline late = cordon_deadline_in_ms(500, -1);
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        CHECK_FAILS(removal ? ops->volume_remove(r.impl, NAME, late, &err)
                            : ops->volume_create(r.impl, &volume, late, &err),
                    err, CORDON_ERR_INDETERMINATE, "volume");
        CHECK_INT(udsd_count(r.server), removal ? 3 : 2);
    }
}

/* The beginning of a name is taken for the name when nothing has that. */
static void a_volume_whose_name_begins_like_ours_is_neither_shown_nor_deleted(void)
{
    const udsd_step steps[] = {PONG,
                               {.path = AT "/json",
                                .status = 200,
                                .json = VOLUME(NAME "-of-another", "{}"),
                                .flags = UDSD_REPEAT}};
    cordon_auto(rig) r = {0};
    cordon_volume_facts facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(rig_start(&r, steps, COUNT(steps)));
    CHECK_FAILS(ops->volume_inspect(r.impl, NAME, soon(), &facts, &err), err, CORDON_ERR_NOTFOUND,
                NAME);
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(ops->volume_remove(r.impl, NAME, soon(), &err), err, CORDON_ERR_NOTFOUND, NAME);
    CHECK_INT(udsd_count(r.server), 3);
    CHECK(udsd_complaint(r.server) == NULL);
}

static void check_inspect(const udsd_step *about, const udsd_step *users, cordon_code code,
                          const char *part)
{
    const udsd_step steps[] = {PONG, *about, *users};
    cordon_auto(rig) r = {0};
    cordon_volume_facts facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(rig_start(&r, steps, COUNT(steps)));
    CHECK_FAILS(ops->volume_inspect(r.impl, NAME, soon(), &facts, &err), err, code, part);
    CHECK(facts.name == NULL);
}

/* SECURITY: gone is only what libpod says is gone, and only when it speaks of the volume. */
static void an_inspection_is_whole_or_none(void)
{
    static const udsd_step good = SHOWN;
    static const udsd_step none = {
        .path = API "/containers/json?all=true&filters=*", .status = 200, .json = "[]"};
    static const answer abouts[] = {
        {404, GONE, CORDON_ERR_NOTFOUND, "no such volume"},
        {404, FAILURE("no such container", "no such container"), CORDON_ERR_ENGINE, "container"},
        {404, "Not Found\n", CORDON_ERR_PROTOCOL, "404"},
        {200, "[]", CORDON_ERR_PROTOCOL, "$"},
        {200, "{\"Name\":\"" NAME "\"}", CORDON_ERR_PROTOCOL, "$.Mountpoint"},
        {500, FAILURE("x", "trouble"), CORDON_ERR_ENGINE, "trouble"},
    };
    static const answer users[] = {
        {404, GONE, CORDON_ERR_PROTOCOL, "no such volume"},
        {200, "{}", CORDON_ERR_PROTOCOL, "$"},
        {200, "[{\"Id\":\"short\",\"Names\":[\"x\"]}]", CORDON_ERR_PROTOCOL, "id"},
        {200, "[{\"Names\":[\"x\"]}]", CORDON_ERR_PROTOCOL, "Id"},
        {500, FAILURE("x", "trouble"), CORDON_ERR_ENGINE, "trouble"},
    };
    for (size_t i = 0; i < COUNT(abouts); i++) {
        const udsd_step about = {
            .path = AT "/json", .status = abouts[i].status, .json = abouts[i].json};
        check_inspect(&about, &none, abouts[i].code, abouts[i].part);
    }
    for (size_t i = 0; i < COUNT(users); i++) {
        const udsd_step who = {.status = users[i].status, .json = users[i].json};
        check_inspect(&good, &who, users[i].code, users[i].part);
    }
}

static void check_list(const char *json, const char *part)
{
    const udsd_step steps[] = {
        PONG, {.path = API "/volumes/json?filters=*", .status = 200, .json = json}};
    cordon_auto(rig) r = {0};
    cordon_list list = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(rig_start(&r, steps, COUNT(steps)));
    CHECK_FAILS(ops->list_by_label(r.impl, CORDON_OBJECT_VOLUME, "k=v", soon(), &list, &err), err,
                CORDON_ERR_PROTOCOL, part);
    CHECK(list.items == NULL);
}

/* A filter is a hint: what is listed says for itself what it carries. */
static void a_list_tells_each_volumes_own_labels(void)
{
    static const udsd_step steps[] = {
        PONG,
        {.status = 200,
         .json = "[" VOLUME("foreign", "{\"k\":\"w\"}") "," VOLUME(NAME, "null") "]"},
    };
    cordon_auto(rig) r = {0};
    cordon_auto(cordon_list) list = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(rig_start(&r, steps, COUNT(steps)));
    REQUIRE_OK(ops->list_by_label(r.impl, CORDON_OBJECT_VOLUME, "k=v", soon(), &list, &err), err);
    REQUIRE_INT(list.count, 2);
    CHECK_STR(list.items[0].id, "foreign");
    CHECK_STR(list.items[0].labels.items[0], "k=w");
    CHECK_STR(list.items[1].id, NAME);
    CHECK_INT(list.items[1].labels.count, 0);
    check_list("{}", "$");
    check_list("[{\"Labels\":{}}]", "Name");
    check_list("[{\"Name\":\"a\",\"Labels\":\"x\"}]", "Labels");
}

static void only_a_volumes_name_reaches_the_daemon(void)
{
    static const char *const names[] = {"", "../x", "a/b", "-x", "A", ID "0", "x?force=true"};
    static const udsd_step steps[] = {PONG};
    cordon_auto(rig) r = {0};
    cordon_volume_facts facts = {0};
    REQUIRE(rig_start(&r, steps, COUNT(steps)));
    for (size_t i = 0; i < COUNT(names); i++) {
        const cordon_volume_spec spec = {.name = names[i], .blocks = 4};
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(ops->volume_create(r.impl, &spec, soon(), &err), err, CORDON_ERR_INVALID, "");
        err = (cordon_err)CORDON_ERR_INIT;
        CHECK_FAILS(ops->volume_remove(r.impl, names[i], soon(), &err), err, CORDON_ERR_INVALID,
                    "");
        err = (cordon_err)CORDON_ERR_INIT;
        CHECK_FAILS(ops->volume_inspect(r.impl, names[i], soon(), &facts, &err), err,
                    CORDON_ERR_INVALID, "");
    }
    CHECK_INT(udsd_count(r.server), 1);
}

CORDON_TEST_MAIN("script_podman_volumes", TEST(creates_are_judged_by_their_answer),
                 TEST(removals_are_judged_by_their_answer),
                 TEST(a_change_without_an_answer_is_sent_once_and_indeterminate),
                 TEST(a_volume_whose_name_begins_like_ours_is_neither_shown_nor_deleted),
                 TEST(an_inspection_is_whole_or_none), TEST(a_list_tells_each_volumes_own_labels),
                 TEST(only_a_volumes_name_reaches_the_daemon))

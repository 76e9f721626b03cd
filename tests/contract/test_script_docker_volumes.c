/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The volume operations of the Docker engine over a scripted socket. A volume's name is its id, and
 * Docker hands out one that is there already: what is asked for, what an answer is about and who
 * has it are all that tells one from another.
 */
#include "script_docker.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define NAME         "cordon-scratch-0123"
#define AT           "/v1.41/volumes/" NAME
#define PLACE        "/var/lib/docker/volumes/" NAME "/_data"
#define VOLUME(name, labels)                                                                       \
    "{\"Name\":\"" name "\",\"Driver\":\"local\",\"Scope\":\"local\",\"Mountpoint\":\"" PLACE      \
    "\",\"CreatedAt\":\"2026-11-30T09:46:02Z\",\"Options\":{\"type\":\"tmpfs\"},"                  \
    "\"Labels\":" labels "}"
#define OURS VOLUME(NAME, "{\"k\":\"v\"}")

static const cordon_volume_spec volume = {.name = NAME, .blocks = 4};

static int create(void *impl, char **ret_id, cordon_err *err)
{
    (void)ret_id;
    return ops->volume_create(impl, &volume, soon(), err);
}

static int discard(void *impl, char **ret_id, cordon_err *err)
{
    (void)ret_id;
    return ops->volume_remove(impl, NAME, soon(), err);
}

static void creates_are_judged_by_their_answer(void)
{
    static const answer answers[] = {
        {{.method = "POST",
          .path = "/v1.41/volumes/create",
          .body_has = "\"o\":\"nr_blocks=4,nodev,nosuid,noexec\"",
          .status = 201,
          .json = OURS},
         CORDON_OK,
         "",
         false},
        {{.status = 201, .json = VOLUME("cordon-scratch-0124", "{}")},
         CORDON_ERR_INDETERMINATE,
         "cordon-scratch-0124",
         false},
        {{.status = 201, .json = "{\"Name\":null}"}, CORDON_ERR_INDETERMINATE, "$.Name", false},
        {{.status = 201, .json = "{}"}, CORDON_ERR_INDETERMINATE, "$.Name", false},
        {{.status = 201, .json = "<html>"}, CORDON_ERR_INDETERMINATE, "cannot be read", false},
        {{.status = 201}, CORDON_ERR_INDETERMINATE, "cannot be read", false},
        {{.status = 201, .json = OURS, .length_delta = 10, .flags = UDSD_CLOSE},
         CORDON_ERR_INDETERMINATE,
         "",
         false},
        {{.status = 200, .json = OURS}, CORDON_ERR_INDETERMINATE, "HTTP 200", false},
        {{.status = 404, .json = "{\"message\":\"page not found\"}"},
         CORDON_ERR_INDETERMINATE,
         "page not found",
         false},
        {{.flags = UDSD_CLOSE_UNREAD}, CORDON_ERR_INDETERMINATE, "", false},
        {{.status = 409,
          .json = "{\"message\":\"A volume named " NAME " already exists with the nfs driver\"}"},
         CORDON_ERR_CONFLICT,
         "already exists",
         false},
        {{.status = 400, .json = "{\"message\":\"invalid option\"}"},
         CORDON_ERR_ENGINE,
         "invalid option",
         false},
        {{.status = 500, .json = "{\"message\":\"no space left on device\"}"},
         CORDON_ERR_ENGINE,
         "no space",
         false},
        {{.status = 500, .json = "text"}, CORDON_ERR_ENGINE, "text", false},
    };
    check_answers(create, answers, COUNT(answers));
}

static void removals_are_judged_by_their_answer(void)
{
    static const answer answers[] = {
        {{.method = "DELETE", .path = AT, .status = 204}, CORDON_OK, "", false},
        {{.status = 200, .json = "{}"}, CORDON_ERR_INDETERMINATE, "HTTP 200", false},
        {{.status = 404, .json = "{\"message\":\"get " NAME ": no such volume\"}"},
         CORDON_ERR_NOTFOUND,
         "no such volume",
         false},
        {{.status = 404, .json = "{\"message\":\"page not found\"}"},
         CORDON_ERR_INDETERMINATE,
         "page not found",
         false},
        {{.status = 409, .json = "{\"message\":\"remove " NAME ": volume is in use - [" HEX "]\"}"},
         CORDON_ERR_CONFLICT,
         "in use",
         false},
        {{.status = 500, .json = "{\"message\":\"unable to remove volume\"}"},
         CORDON_ERR_ENGINE,
         "unable",
         false},
        {{.flags = UDSD_CLOSE_UNREAD}, CORDON_ERR_INDETERMINATE, "", false},
    };
    check_answers(discard, answers, COUNT(answers));
}

/* Sent once, and nobody says what became of it. */
static void a_late_answer_to_a_change_is_none(void)
{
    static const udsd_step steps[] = {PING, ASK, {.flags = UDSD_NEVER_ANSWER}};
    for (size_t i = 0; i < 2; i++) {
        cordon_auto(script) s = {0};
        cordon_err err = CORDON_ERR_INIT;
        cordon_deadline late = cordon_deadline_in_ms(300, -1);
        REQUIRE(script_begin(&s, steps, COUNT(steps)));
        int rc = i == 0 ? ops->volume_create(s.impl, &volume, late, &err)
                        : ops->volume_remove(s.impl, NAME, late, &err);
        CHECK_FAILS(rc, err, CORDON_ERR_INDETERMINATE, "a volume");
        CHECK_INT(udsd_count(s.server), 3);
    }
}

static void check_inspect(const udsd_step *about, const udsd_step *users, cordon_code code,
                          const char *part)
{
    const udsd_step steps[] = {PING, ASK, *about, *users};
    cordon_auto(script) s = {0};
    cordon_volume_facts facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(script_begin(&s, steps, COUNT(steps)));
    CHECK_FAILS(ops->volume_inspect(s.impl, NAME, soon(), &facts, &err), err, code, part);
    CHECK(facts.name == NULL);
}

/* SECURITY: gone is only what the daemon says is gone, and only when it speaks of the volume. */
static void an_inspection_is_whole_or_none(void)
{
    static const udsd_step good = {.path = AT, .status = 200, .json = OURS};
    static const udsd_step none = {
        .path = "/v1.41/containers/json?all=1&filters=*", .status = 200, .json = "[]"};
    static const struct {
        udsd_step about;
        cordon_code code;
        const char *part;
    } abouts[] = {
        {{.status = 404, .json = "{\"message\":\"get " NAME ": no such volume\"}"},
         CORDON_ERR_NOTFOUND,
         "no such volume"},
        {{.status = 404, .json = "{\"message\":\"page not found\"}"}, CORDON_ERR_PROTOCOL, "404"},
        {{.status = 200, .json = VOLUME("other", "{}")}, CORDON_ERR_NOTFOUND, "other"},
        {{.status = 200, .json = "[]"}, CORDON_ERR_PROTOCOL, "$"},
        {{.status = 200, .json = "{\"Name\":\"" NAME "\"}"}, CORDON_ERR_PROTOCOL, "$.Mountpoint"},
        {{.status = 500, .json = "{\"message\":\"trouble\"}"}, CORDON_ERR_ENGINE, "trouble"},
    };
    static const struct {
        udsd_step users;
        cordon_code code;
        const char *part;
    } users[] = {
        {{.status = 404, .json = "{\"message\":\"no such volume\"}"}, CORDON_ERR_PROTOCOL, "404"},
        {{.status = 200, .json = "null"}, CORDON_ERR_PROTOCOL, "null"},
        {{.status = 200, .json = "{}"}, CORDON_ERR_PROTOCOL, "$"},
        {{.status = 200, .json = "[{\"Id\":\"short\",\"Names\":[]}]"}, CORDON_ERR_PROTOCOL, "id"},
        {{.status = 200, .json = "[{\"Names\":[\"/x\"]}]"}, CORDON_ERR_PROTOCOL, "Id"},
        {{.status = 500, .json = "{\"message\":\"trouble\"}"}, CORDON_ERR_ENGINE, "trouble"},
    };
    for (size_t i = 0; i < COUNT(abouts); i++)
        check_inspect(&abouts[i].about, &none, abouts[i].code, abouts[i].part);
    for (size_t i = 0; i < COUNT(users); i++)
        check_inspect(&good, &users[i].users, users[i].code, users[i].part);
}

/* The one that was there before: it is shown as what it is, so that core refuses it. */
static void a_foreign_volume_of_the_same_name_is_shown_with_its_own_labels(void)
{
    static const udsd_step steps[] = {
        PING,
        ASK,
        {.method = "POST", .status = 201, .json = VOLUME(NAME, "{\"of\":\"another\"}")},
        {.path = AT, .status = 200, .json = VOLUME(NAME, "{\"of\":\"another\"}")},
        {.status = 200, .json = "[{\"Id\":\"" HEX "\",\"Names\":[\"/x\"],\"Labels\":{}}]"},
    };
    cordon_auto(script) s = {0};
    cordon_auto(cordon_volume_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(script_begin(&s, steps, COUNT(steps)));
    REQUIRE_OK(ops->volume_create(s.impl, &volume, soon(), &err), err);
    REQUIRE_OK(ops->volume_inspect(s.impl, NAME, soon(), &facts, &err), err);
    REQUIRE_INT(facts.labels.count, 1);
    CHECK_STR(facts.labels.items[0], "of=another");
    REQUIRE_INT(facts.users.count, 1);
    CHECK_STR(facts.users.items[0], HEX);
    CHECK_STR(udsd_at(s.server, 4)->path,
              "/v1.41/containers/json?all=1&filters=%7B%22volume%22%3A%5B%22" NAME "%22%5D%7D");
}

static void check_list(const char *json, cordon_code code, const char *part)
{
    const udsd_step steps[] = {
        PING, ASK, {.path = "/v1.41/volumes?filters=*", .status = 200, .json = json}};
    cordon_auto(script) s = {0};
    cordon_list list = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(script_begin(&s, steps, COUNT(steps)));
    CHECK_FAILS(ops->list_by_label(s.impl, CORDON_OBJECT_VOLUME, "k=v", soon(), &list, &err), err,
                code, part);
    CHECK(list.items == NULL);
}

/* A filter is a hint: what is listed says for itself what it carries. */
static void a_list_tells_each_volumes_own_labels_and_is_whole(void)
{
    static const udsd_step steps[] = {
        PING,
        ASK,
        {.status = 200,
         .json = "{\"Volumes\":[" VOLUME("foreign", "{\"k\":\"w\"}") "," VOLUME(
             NAME, "null") "],\"Warnings\":[]}"},
    };
    cordon_auto(script) s = {0};
    cordon_auto(cordon_list) list = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(script_begin(&s, steps, COUNT(steps)));
    REQUIRE_OK(ops->list_by_label(s.impl, CORDON_OBJECT_VOLUME, "k=v", soon(), &list, &err), err);
    REQUIRE_INT(list.count, 2);
    CHECK_STR(list.items[0].id, "foreign");
    CHECK_STR(list.items[0].labels.items[0], "k=w");
    CHECK_STR(list.items[1].id, NAME);
    CHECK_INT(list.items[1].labels.count, 0);
    check_list("{\"Volumes\":null,\"Warnings\":[\"driver nfs did not answer\"]}", CORDON_ERR_ENGINE,
               "driver nfs");
    check_list("{\"Volumes\":null,\"Warnings\":\"x\"}", CORDON_ERR_PROTOCOL, "$.Warnings");
    check_list("{\"Warnings\":null}", CORDON_ERR_PROTOCOL, "no list of volumes");
    check_list("[]", CORDON_ERR_PROTOCOL, "$");
    check_list("{\"Volumes\":[{\"Labels\":{}}]}", CORDON_ERR_PROTOCOL, "Name");
    check_list("{\"Volumes\":[{\"Name\":\"a\",\"Labels\":\"x\"}]}", CORDON_ERR_PROTOCOL, "Labels");
}

static void only_a_volumes_name_reaches_the_daemon(void)
{
    static const char *const names[] = {"", "../x", "a/b", "-x", "A", HEX "0", "x?force=1"};
    static const udsd_step steps[] = {PING, ASK};
    cordon_auto(script) s = {0};
    cordon_volume_facts facts = {0};
    REQUIRE(script_begin(&s, steps, COUNT(steps)));
    for (size_t i = 0; i < COUNT(names); i++) {
        const cordon_volume_spec spec = {.name = names[i], .blocks = 4};
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(ops->volume_create(s.impl, &spec, soon(), &err), err, CORDON_ERR_INVALID, "");
        err = (cordon_err)CORDON_ERR_INIT;
        CHECK_FAILS(ops->volume_remove(s.impl, names[i], soon(), &err), err, CORDON_ERR_INVALID,
                    "");
        err = (cordon_err)CORDON_ERR_INIT;
        CHECK_FAILS(ops->volume_inspect(s.impl, names[i], soon(), &facts, &err), err,
                    CORDON_ERR_INVALID, "");
    }
    CHECK_INT(udsd_count(s.server), 2);
}

CORDON_TEST_MAIN("script_docker_volumes", TEST(creates_are_judged_by_their_answer),
                 TEST(removals_are_judged_by_their_answer), TEST(a_late_answer_to_a_change_is_none),
                 TEST(an_inspection_is_whole_or_none),
                 TEST(a_foreign_volume_of_the_same_name_is_shown_with_its_own_labels),
                 TEST(a_list_tells_each_volumes_own_labels_and_is_whole),
                 TEST(only_a_volumes_name_reaches_the_daemon))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The podman engine against a server that plays recorded and mutilated answers: what each of them
 * means, and that nothing but a whole, believable answer ever means "done" or "gone".
 */
#include "podman_rig.h"

/* --- who answers --- */

static void only_a_podman_of_4_3_or_later_is_one(void)
{
    static const struct {
        const char *headers;
        int status;
        cordon_code code;
        const char *part;
    } rows[] = {
        {PING("4.3.1"), 200, CORDON_OK, ""},
        {PING("5.4.2"), 200, CORDON_OK, ""},
        {PING("6.0.0-dev"), 200, CORDON_OK, ""},
        {PING("4.2.9"), 200, CORDON_ERR_UNSUPPORTED, "4.3 or later"},
        {PING("3.4.4"), 200, CORDON_ERR_UNSUPPORTED, "4.3 or later"},
        {PING("x"), 200, CORDON_ERR_PROTOCOL, "no version"},
        {PING("4."), 200, CORDON_ERR_PROTOCOL, "no version"},
        {PING("99999999999999999999.1"), 200, CORDON_ERR_PROTOCOL, "no version"},
        {PING("4.3.1"), 500, CORDON_ERR_PROTOCOL, "HTTP 500"},
        {"Api-Version: 1.41\r\nServer: Docker/20.10\r\n", 404, CORDON_ERR_UNSUPPORTED,
         "kind = docker"},
        {"Server: nginx\r\n", 200, CORDON_ERR_PROTOCOL, "nginx"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step step = {.path = "/libpod/_ping",
                                .status = rows[i].status,
                                .json = "OK",
                                .headers = rows[i].headers};
        cordon_auto(rig) r = {.server = udsd_start(&step, 1)};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(r.server != NULL);
        if (rows[i].code == CORDON_OK)
            CHECK_OK(open_at(r.server, &r.impl, &err), err);
        else
            CHECK_FAILS(open_at(r.server, &r.impl, &err), err, rows[i].code, rows[i].part);
    }
}

/* --- create --- */

static cordon_container_spec small_spec(void)
{
    return (cordon_container_spec){.name = "c",
                                   .image_id = ID,
                                   .user = "1000:1000",
                                   .working_dir = "/",
                                   .hostname = "h",
                                   .userns = CORDON_USERNS_HOST};
}

static void a_create_says_what_failed_and_never_that_it_worked(void)
{
    static const answer rows[] = {
        {500, FAILURE("that name is already in use", "x is in use: that name is already in use"),
         CORDON_ERR_CONFLICT, "already in use"},
        {500, FAILURE("image not known", "0000: image not known"), CORDON_ERR_NOTFOUND, "image"},
        {404, FAILURE("image not known", "0000: image not known"), CORDON_ERR_NOTFOUND, "image"},
        {500, FAILURE("network not found", "unable to find network n1: network not found"),
         CORDON_ERR_NOTFOUND, "n1"},
        {500, FAILURE("no such file or directory", "statfs /srv/x: no such file or directory"),
         CORDON_ERR_NOTFOUND, "/srv/x"},
        {500, FAILURE("no such file or directory", "open /etc/y: no such file or directory"),
         CORDON_ERR_ENGINE, "/etc/y"},
        {500, FAILURE("no such network interface", "netavark: no such network interface"),
         CORDON_ERR_ENGINE, "no such network interface"},
        {500, FAILURE("x", "image not known: is what this is not"), CORDON_ERR_ENGINE, "HTTP 500"},
        {400, "bad \\u001b[31m request", CORDON_ERR_ENGINE, "HTTP 400"},
        {404, "Not Found\n", CORDON_ERR_PROTOCOL, "HTTP 404"},
        {200, "{\"Id\":\"" ID "\"}", CORDON_ERR_INDETERMINATE, "unexpected"},
        {304, "", CORDON_ERR_CONFLICT, "304"},
        {201, "{\"Id\":\"" ID "\",}", CORDON_ERR_INDETERMINATE, ""},
        {201, "{\"Id\":\"" ID "\"} x", CORDON_ERR_INDETERMINATE, ""},
        {201, "{\"Id\":\"c\"}", CORDON_ERR_INDETERMINATE, "not a full id"},
        {201, "{}", CORDON_ERR_INDETERMINATE, "Id"},
        {201, "", CORDON_ERR_INDETERMINATE, ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {PONG,
                                   {.method = "POST",
                                    .path = API "/containers/create",
                                    .status = rows[i].status,
                                    .json = rows[i].json}};
        cordon_auto(rig) r = {0};
        cordon_container_spec spec = small_spec();
        cordon_autofree char *id = NULL;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        CHECK_FAILS(ops->container_create(r.impl, &spec, soon(), &id, &err), err, rows[i].code,
                    rows[i].part);
        CHECK(id == NULL);
        CHECK(strchr(err.message, '\033') == NULL);
    }
}

static void any_warning_refuses_and_the_id_is_known(void)
{
    static const char *const bodies[] = {
        "{\"Id\":\"" ID "\",\"Warnings\":[\"limits are ignored\"]}",
        "{\"Warnings\":[\"limits are ignored\",\"more\"],\"Id\":\"" ID "\"}",
    };
    for (size_t i = 0; i < COUNT(bodies); i++) {
        const udsd_step steps[] = {
            PONG, {.path = API "/containers/create", .status = 201, .json = bodies[i]}};
        cordon_auto(rig) r = {0};
        cordon_container_spec spec = small_spec();
        cordon_autofree char *id = NULL;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        CHECK_FAILS(ops->container_create(r.impl, &spec, soon(), &id, &err), err, CORDON_ERR_WARNED,
                    "limits are ignored");
        CHECK_STR(id, ID);
    }
}

static void no_warnings_may_be_null_empty_or_absent(void)
{
    static const char *const bodies[] = {
        "{\"Id\":\"" ID "\",\"Warnings\":null}",
        "{\"Id\":\"" ID "\",\"Warnings\":[]}",
        "{\"Id\":\"" ID "\"}",
    };
    for (size_t i = 0; i < COUNT(bodies); i++) {
        const udsd_step steps[] = {
            PONG, {.path = API "/containers/create", .status = 201, .json = bodies[i]}};
        cordon_auto(rig) r = {0};
        cordon_container_spec spec = small_spec();
        cordon_autofree char *id = NULL;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        REQUIRE_OK(ops->container_create(r.impl, &spec, soon(), &id, &err), err);
        CHECK_STR(id, ID);
    }
}

static void a_create_without_an_answer_is_sent_once_and_indeterminate(void)
{
    static const udsd_step silent[] = {
        {.path = API "/containers/create", .flags = UDSD_CLOSE_UNREAD},
        {.path = API "/containers/create",
         .status = 201,
         .json = "{\"Id\":",
         .length_delta = 90,
         .flags = UDSD_CLOSE},
    };
    for (size_t i = 0; i < COUNT(silent); i++) {
        const udsd_step steps[] = {PONG, silent[i]};
        cordon_auto(rig) r = {0};
        cordon_container_spec spec = small_spec();
        cordon_autofree char *id = NULL;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        CHECK_FAILS(ops->container_create(r.impl, &spec, soon(), &id, &err), err,
                    CORDON_ERR_INDETERMINATE, "create container");
        CHECK_INT(udsd_count(r.server), 2);
        CHECK(id == NULL);
    }
}

static void an_overlap_is_told_from_a_taken_name(void)
{
    static const answer rows[] = {
        {500,
         FAILURE("subnet 10.0.0.0/29 is already used on the host or by another config",
                 "subnet 10.0.0.0/29 is already used on the host or by another config"),
         CORDON_ERR_OVERLAP, "already used"},
        {409, FAILURE("network already exists", "network name n already used"), CORDON_ERR_CONFLICT,
         "n already used"},
        {500, FAILURE("no such network interface", "route ip+net: no such network interface"),
         CORDON_ERR_OVERLAP, "route ip+net"},
        {500, FAILURE("no such network interface", "no such network interface"), CORDON_ERR_ENGINE,
         "no such network interface"},
        {200, "{\"name\":\"n\"}", CORDON_ERR_INDETERMINATE, "id"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {PONG,
                                   {.method = "POST",
                                    .path = API "/networks/create",
                                    .status = rows[i].status,
                                    .json = rows[i].json}};
        const cordon_network_spec spec = {.name = "n", .subnet = "10.0.0.0/29", .internal = true};
        cordon_auto(rig) r = {0};
        cordon_autofree char *id = NULL;
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        CHECK_FAILS(ops->network_create(r.impl, &spec, soon(), &id, NULL, &err), err, rows[i].code,
                    rows[i].part);
    }
}

/* --- what is gone, what is in the way --- */

static void only_libpods_own_word_makes_a_container_gone(void)
{
    static const answer rows[] = {
        {404, FAILURE("no such container", "no container with ID: no such container"),
         CORDON_ERR_NOTFOUND, "no such container"},
        {404, FAILURE("network not found", "network not found"), CORDON_ERR_ENGINE, "network"},
        {404, "Not Found\n", CORDON_ERR_PROTOCOL, "Not Found"},
        {404, "", CORDON_ERR_PROTOCOL, "404"},
        {500, FAILURE("network not found", "network not found"), CORDON_ERR_ENGINE, "network"},
        {500, FAILURE("x", "could not be stopped: sending SIGKILL"), CORDON_ERR_CONFLICT,
         "could not be stopped"},
        {500, FAILURE("image not known", "cleaning up container x: image not known"),
         CORDON_ERR_CONFLICT, "cleaning up"},
        {500, FAILURE("container state improper", "x: container state improper"),
         CORDON_ERR_CONFLICT, "state improper"},
        {409, "{\"cause\":\"x\",\"message\":\"being removed\",\"response\":409}",
         CORDON_ERR_CONFLICT, "being removed"},
        {204, NULL, CORDON_ERR_INDETERMINATE, "unexpected"},
        {200, "[{\"Id\":\"" ID "\",\"Err\":\"no\"}]", CORDON_ERR_CONFLICT, "failure"},
        {200, "[{\"Id\":\"" NET "\"}]", CORDON_ERR_ENGINE, "not removed"},
        {200, "[]", CORDON_ERR_ENGINE, "not removed"},
        {200, "OK", CORDON_ERR_INDETERMINATE, ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {PONG,
                                   {.method = "DELETE",
                                    .path = ON_ID "?force=true&volumes=true&timeout=0",
                                    .status = rows[i].status,
                                    .json = rows[i].json}};
        cordon_auto(rig) r = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        CHECK_FAILS(ops->container_remove(r.impl, ID, soon(), &err), err, rows[i].code,
                    rows[i].part);
    }
}

static void a_removal_that_libpod_confirms_is_one(void)
{
    static const char *const bodies[] = {
        "[{\"Id\":\"" ID "\",\"RawInput\":\"" ID "\"}]",
        "[{\"Id\":\"" ID "\",\"Err\":null}]",
    };
    for (size_t i = 0; i < COUNT(bodies); i++) {
        const udsd_step steps[] = {
            PONG, {.method = "DELETE", .path = ON_ID "*", .status = 200, .json = bodies[i]}};
        cordon_auto(rig) r = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        CHECK_OK(ops->container_remove(r.impl, ID, soon(), &err), err);
    }
}

static void a_network_in_use_is_not_deleted(void)
{
    const udsd_step steps[] = {
        PONG,
        {.path = ON_NET "/json", .status = 200, .json = NETWORK_JSON(NET)},
        {.path = API "/containers/json*", .status = 200, .json = "[{\"Id\":\"" ID "\"}]"},
    };
    cordon_auto(rig) r = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(rig_start(&r, steps, COUNT(steps)));
    CHECK_FAILS(ops->network_remove(r.impl, NET, soon(), &err), err, CORDON_ERR_CONFLICT, ID);
    CHECK_INT(udsd_count(r.server), 3);
    CHECK_STR(udsd_at(r.server, 2)->path,
              API "/containers/json?all=true&filters=%7B%22network%22%3A%5B%22" NET "%22%5D%7D");
}

/* A network that is named like our id hides it from every lookup. */
static void a_network_of_another_id_is_neither_shown_nor_deleted(void)
{
    const udsd_step steps[] = {
        PONG,
        {.path = ON_NET "/json", .status = 200, .json = NETWORK_JSON(ID), .flags = UDSD_REPEAT}};
    cordon_auto(rig) r = {0};
    cordon_auto(cordon_network_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(rig_start(&r, steps, COUNT(steps)));
    CHECK_FAILS(ops->network_inspect(r.impl, NET, soon(), &facts, &err), err, CORDON_ERR_NOTFOUND,
                NET);
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(ops->network_remove(r.impl, NET, soon(), &err), err, CORDON_ERR_NOTFOUND, NET);
    CHECK_INT(udsd_count(r.server), 3);
}

static void a_failure_inside_a_network_removals_success_is_one(void)
{
    static const answer rows[] = {
        {200, "[{\"Name\":\"" NET "\",\"Err\":null}]", CORDON_OK, ""},
        {200, "[{\"Name\":\"" NET "\",\"Err\":{}}]", CORDON_ERR_ENGINE, "failure"},
        {200, "[{\"Name\":\"n1\",\"Err\":null}]", CORDON_ERR_ENGINE, "failure"},
        {200, "[]", CORDON_ERR_ENGINE, "nothing"},
        {200, "{}", CORDON_ERR_INDETERMINATE, ""},
        {500, FAILURE("network is being used", "network is being used"), CORDON_ERR_CONFLICT,
         "being used"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const udsd_step steps[] = {
            PONG,
            {.path = ON_NET "/json", .status = 200, .json = NETWORK_JSON(NET)},
            {.path = API "/containers/json*", .status = 200, .json = "null"},
            {.method = "DELETE", .path = ON_NET, .status = rows[i].status, .json = rows[i].json},
        };
        cordon_auto(rig) r = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(rig_start(&r, steps, COUNT(steps)));
        if (rows[i].code == CORDON_OK)
            CHECK_OK(ops->network_remove(r.impl, NET, soon(), &err), err);
        else
            CHECK_FAILS(ops->network_remove(r.impl, NET, soon(), &err), err, rows[i].code,
                        rows[i].part);
    }
}

CORDON_TEST_MAIN("script_podman", TEST(only_a_podman_of_4_3_or_later_is_one),
                 TEST(a_create_says_what_failed_and_never_that_it_worked),
                 TEST(any_warning_refuses_and_the_id_is_known),
                 TEST(no_warnings_may_be_null_empty_or_absent),
                 TEST(a_create_without_an_answer_is_sent_once_and_indeterminate),
                 TEST(an_overlap_is_told_from_a_taken_name),
                 TEST(only_libpods_own_word_makes_a_container_gone),
                 TEST(a_removal_that_libpod_confirms_is_one), TEST(a_network_in_use_is_not_deleted),
                 TEST(a_network_of_another_id_is_neither_shown_nor_deleted),
                 TEST(a_failure_inside_a_network_removals_success_is_one))

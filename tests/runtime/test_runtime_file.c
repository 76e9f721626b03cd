/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files are read as the configuration of a container: Podman's own for this id, and nothing
 * that somebody else could have put there.
 */
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "podman_internal.h"
#include "support/folder.h"
#include "support/sample_file.h"
#include "support/test.h"

#define ID       "c4820af1b8627bd04daa8c4aa869da9b456418e860f6cc3298197617b6d1eefa"
#define OTHER_ID "d4820af1b8627bd04daa8c4aa869da9b456418e860f6cc3298197617b6d1eefa"
#define USERDATA ID "/userdata"
#define CONFIG   USERDATA "/config.json"

typedef struct file_rig {
    test_folder folder;
    podman engine;
} file_rig;

static void file_rig_clear(file_rig *r)
{
    test_folder_remove(&r->folder);
}
CORDON_DEFINE_AUTO(file_rig, file_rig_clear)

static bool file_rig_make(file_rig *r)
{
    r->engine.local = true;
    r->engine.owner = geteuid();
    return CHECK(test_folder_make(&r->folder)) &&
           CHECK(mkdir(test_path(&r->folder, ID), 0700) == 0) &&
           CHECK(mkdir(test_path(&r->folder, USERDATA), 0700) == 0);
}

static bool put(file_rig *r, const char *text, size_t length, mode_t mode)
{
    const char *path = test_path(&r->folder, CONFIG);
    FILE *file = fopen(path, "we");
    bool written = file && fwrite(text, 1, length, file) == length;
    return CHECK(file && fclose(file) == 0 && written) && CHECK(chmod(path, mode) == 0);
}

static bool put_sample(file_rig *r, mode_t mode)
{
    cordon_autofree char *text = sample_read("podman/4.3-step-config.json");
    return text && put(r, text, strlen(text), mode);
}

static cordon_code read_at(file_rig *r, const char *place, cordon_runtime_facts *facts)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_deadline dl = cordon_deadline_in_ms(60000, -1);
    return podman_container_runtime(&r->engine, ID, place, dl, facts, &err) == 0 ? CORDON_OK
                                                                                 : err.code;
}

static cordon_code read_it(file_rig *r)
{
    cordon_auto(cordon_runtime_facts) facts = {0};
    return read_at(r, test_path(&r->folder, CONFIG), &facts);
}

static void the_daemons_own_file_is_read(void)
{
    cordon_auto(file_rig) r = {0};
    cordon_auto(cordon_runtime_facts) facts = {0};
    REQUIRE(file_rig_make(&r) && put_sample(&r, 0644));
    REQUIRE_INT(read_at(&r, test_path(&r.folder, CONFIG), &facts), CORDON_OK);
    CHECK_STR(facts.seccomp_default, "errno");
    CHECK_STR(facts.working_dir, "/");
    CHECK_INT(facts.unmodelled.count, 0);
}

static void a_container_that_is_not_set_up_has_none_yet(void)
{
    cordon_auto(file_rig) r = {0};
    REQUIRE(file_rig_make(&r));
    CHECK_INT(read_it(&r), CORDON_ERR_NOTFOUND);
}

static void a_daemon_that_is_not_here_cannot_be_read(void)
{
    cordon_auto(file_rig) r = {0};
    cordon_auto(cordon_runtime_facts) facts = {0};
    REQUIRE(file_rig_make(&r) && put_sample(&r, 0644));
    CHECK_INT(read_at(&r, "/nonexistent/" CONFIG, &facts), CORDON_ERR_UNSUPPORTED);
    r.engine.local = false;
    CHECK_INT(read_it(&r), CORDON_ERR_UNSUPPORTED);
}

/* The next descriptor would be beyond the limit: an error of this process, and no refusal. */
static void too_many_open_files_say_nothing_about_the_file(void)
{
    cordon_auto(file_rig) r = {0};
    struct rlimit kept;
    REQUIRE(file_rig_make(&r) && put_sample(&r, 0644));
    REQUIRE(getrlimit(RLIMIT_NOFILE, &kept) == 0);
    int next = dup(STDOUT_FILENO);
    REQUIRE(next >= 0 && close(next) == 0);
    for (rlim_t more = 0; more < 2; more++) { /* the folder, the file in it */
        const struct rlimit low = {(rlim_t)next + more, kept.rlim_max};
        REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
        cordon_code code = read_it(&r);
        REQUIRE(setrlimit(RLIMIT_NOFILE, &kept) == 0);
        CHECK_INT(code, CORDON_ERR_SYSTEM);
    }
    CHECK_INT(read_it(&r), CORDON_OK);
}

static void only_the_place_where_podman_writes_it_counts(void)
{
    static const char *const places[] = {
        "",
        "config.json",
        "relative/" CONFIG,
        "/x/" OTHER_ID "/userdata/config.json",
        "/x/" USERDATA "/other.json",
        "/x/../" CONFIG,
        "/etc/passwd",
    };
    cordon_auto(file_rig) r = {0};
    REQUIRE(file_rig_make(&r) && put_sample(&r, 0644));
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        cordon_auto(cordon_runtime_facts) facts = {0};
        TEST_RECORDF(read_at(&r, places[i], &facts) == CORDON_ERR_PROTOCOL, "\"%s\"", places[i]);
    }
}

static void what_others_may_write_is_not_believed(void)
{
    cordon_auto(file_rig) r = {0};
    REQUIRE(file_rig_make(&r) && put_sample(&r, 0664));
    CHECK_INT(read_it(&r), CORDON_ERR_PROTOCOL);
    REQUIRE(put_sample(&r, 0646));
    CHECK_INT(read_it(&r), CORDON_ERR_PROTOCOL);
}

static void what_belongs_to_somebody_else_is_not_believed(void)
{
    cordon_auto(file_rig) r = {0};
    REQUIRE(file_rig_make(&r) && put_sample(&r, 0644));
    r.engine.owner = geteuid() + 1;
    if (geteuid() == 0)
        REQUIRE(chown(test_path(&r.folder, CONFIG), 12345, 12345) == 0);
    CHECK_INT(read_it(&r), CORDON_ERR_PROTOCOL);
}

static void what_is_no_regular_file_is_not_opened_for_long(void)
{
    cordon_auto(file_rig) r = {0};
    REQUIRE(file_rig_make(&r) && put_sample(&r, 0644));
    REQUIRE(rename(test_path(&r.folder, CONFIG), test_path(&r.folder, "elsewhere")) == 0);
    REQUIRE(symlink(test_path(&r.folder, "elsewhere"), test_path(&r.folder, CONFIG)) == 0);
    CHECK_INT(read_it(&r), CORDON_ERR_PROTOCOL);
    REQUIRE(unlink(test_path(&r.folder, CONFIG)) == 0);
    REQUIRE(mkfifo(test_path(&r.folder, CONFIG), 0600) == 0);
    CHECK_INT(read_it(&r), CORDON_ERR_PROTOCOL);
    REQUIRE(unlink(test_path(&r.folder, CONFIG)) == 0);
    REQUIRE(mkdir(test_path(&r.folder, CONFIG), 0700) == 0);
    CHECK_INT(read_it(&r), CORDON_ERR_PROTOCOL);
}

static void what_is_no_configuration_is_an_error(void)
{
    static const char *const texts[] = {"",
                                        "{}",
                                        "[]",
                                        "{\"process\": {}, \"linux\": {}}",
                                        "{\"process\": {}, \"process\": {}}",
                                        "{\"linux\": 7}"};
    cordon_auto(file_rig) r = {0};
    REQUIRE(file_rig_make(&r));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        REQUIRE(put(&r, texts[i], strlen(texts[i]), 0644));
        TEST_RECORDF(read_it(&r) == CORDON_ERR_PROTOCOL, "\"%s\"", texts[i]);
    }
}

static void a_file_without_end_is_not_read_to_its_end(void)
{
    cordon_auto(file_rig) r = {0};
    REQUIRE(file_rig_make(&r) && put_sample(&r, 0644));
    REQUIRE(truncate(test_path(&r.folder, CONFIG), (off_t)1 << 30) == 0);
    CHECK_INT(read_it(&r), CORDON_ERR_PROTOCOL);
}

CORDON_TEST_MAIN("runtime_file", TEST(the_daemons_own_file_is_read),
                 TEST(a_container_that_is_not_set_up_has_none_yet),
                 TEST(a_daemon_that_is_not_here_cannot_be_read),
                 TEST(too_many_open_files_say_nothing_about_the_file),
                 TEST(only_the_place_where_podman_writes_it_counts),
                 TEST(what_others_may_write_is_not_believed),
                 TEST(what_belongs_to_somebody_else_is_not_believed),
                 TEST(what_is_no_regular_file_is_not_opened_for_long),
                 TEST(what_is_no_configuration_is_an_error),
                 TEST(a_file_without_end_is_not_read_to_its_end))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building, pinning, listing and removing images over the fake engine, and what the lock file does
 * to a run.
 */
#include <string.h>

#include "cordon/image.h"
#include "image_config.h"
#include "kit/hash.h"
#include "support/fake_run.h"
#include "support/test.h"

#define BUDGET_MS 60000
#define OTHER     "sha256:9999999999999999999999999999999999999999999999999999999999999999"

#define LOCK(name, engine, id, more)                                                               \
    "{\"cordon_images\":1,\"images\":[{\"name\":\"" name "\",\"engine\":\"" engine                 \
    "\",\"architecture\":\"amd64\",\"id\":\"" id "\"" more                                         \
    ",\"pinned\":\"2026-11-30T06:40:00Z\"}]}"

static void reset(fake_run *run)
{
    run->err = (cordon_err)CORDON_ERR_INIT;
}

/* --- Runs ----------------------------------------------------------------------------------- */

static void check_refused(const fake_run_options *options, const char *fact, const char *expected,
                          const char *actual)
{
    cordon_auto(fake_run) run = {0};
    REQUIRE_OK(fake_run_open(&run, options) ? 0 : -1, run.err);
    REQUIRE(fake_run_go(&run));
    CHECK_INT(run.result.kind, CORDON_RESULT_REFUSED);
    CHECK_STR(run.result.refusal_code, "CORDON_REFUSED_IMAGE");
    CHECK_STR(run.result.refusal_fact, fact);
    CHECK(run.result.refusal_expected && strstr(run.result.refusal_expected, expected));
    CHECK(run.result.refusal_actual && strstr(run.result.refusal_actual, actual));
    CHECK_INT(fake_run_first(&run, FAKE_NETWORK_CREATE, NULL), -1);
    CHECK_INT(fake_run_first(&run, FAKE_CONTAINER_CREATE, NULL), -1);
    CHECK_INT(fake_run_first(&run, FAKE_IMAGE_LOAD, NULL), -1);
}

static void a_run_with_another_image_than_the_locks_is_refused_before_anything_is_made(void)
{
    static const char lock[] = LOCK("runner", "docker", OTHER, "");
    check_refused(&(fake_run_options){.lock = lock}, "images.lock.runner", OTHER, FAKE_IMAGE_PIN);
    static const char good[] = LOCK("runner", "docker", FAKE_IMAGE_PIN, "");
    check_refused(&(fake_run_options){.lock = good, .image = OTHER}, "images.lock.runner",
                  FAKE_IMAGE_PIN, OTHER);
}

static void a_digest_that_means_another_id_than_the_locks_is_refused(void)
{
    static const char lock[] = LOCK("runner", "docker", OTHER, "");
    cordon_auto(fake_run) run = {0};
    fake_run_options options = {.lock = lock, .image = FAKE_IMAGE_NAMED};
    REQUIRE(fake_run_open(&run, &options) && fake_run_go(&run));
    CHECK_INT(run.result.kind, CORDON_RESULT_REFUSED);
    CHECK_STR(run.result.refusal_fact, "images.lock.runner");
    CHECK_STR(run.result.refusal_actual, FAKE_IMAGE_ID);
    CHECK_INT(fake_run_first(&run, FAKE_NETWORK_CREATE, NULL), -1);
    CHECK_INT(fake_run_first(&run, FAKE_CONTAINER_CREATE, NULL), -1);
}

static void a_name_that_the_lock_has_not_is_refused(void)
{
    static const char other_name[] = LOCK("codex", "docker", FAKE_IMAGE_PIN, "");
    static const char other_engine[] = LOCK("runner", "podman", FAKE_IMAGE_PIN, "");
    static const char *const locks[] = {other_name, other_engine,
                                        "{\"cordon_images\":1,\"images\":[]}"};
    for (size_t i = 0; i < sizeof locks / sizeof locks[0]; i++)
        check_refused(&(fake_run_options){.lock = locks[i]}, "images.lock.runner",
                      "cordon image pin runner=IMAGE", "none in the lock file");
}

static void a_lock_that_is_named_and_not_there_refuses_every_run(void)
{
    check_refused(&(fake_run_options){.lock = ""}, "images.lock.runner",
                  "a pin for docker on amd64", "the lock file is not there");
}

static void the_locks_image_is_run_without_any_other_pin(void)
{
    static const char docker[] = LOCK("runner", "docker", FAKE_IMAGE_PIN, "");
    static const char podman[] = LOCK("runner", "podman", FAKE_IMAGE_PIN, "");
    for (int i = 0; i < 2; i++) {
        cordon_auto(fake_run) run = {0};
        fake_run_options options = {
            .podman = i == 1, .unpinned = true, .lock = i == 1 ? podman : docker};
        REQUIRE(fake_run_open(&run, &options) && fake_run_go(&run));
        CHECK_INT(run.result.kind, CORDON_RESULT_EXITED);
        cordon_autofree char *json = NULL;
        REQUIRE_OK(cordon_receipt_json(run.receipt, &json, &run.err), run.err);
        CHECK(strstr(json, "\"pin\":\"" FAKE_IMAGE_PIN "\"") != NULL);
    }
}

#define CLAUDE(version)                                                                            \
    LOCK("claude", "docker", FAKE_IMAGE_PIN, ",\"cli\":\"claude\",\"version\":\"" version "\"")

/* Up to an agent's command; its result. */
static int open_agent(fake_run *run, const char *lock, const char *settings)
{
    const cordon_agent_options wanted = {.prompt = "x", .prompt_length = 1};
    const fake_run_options options = {.unpinned = true, .lock = lock, .settings = settings};
    if (!fake_run_prepare(run, &options) || !fake_run_connect(run) ||
        cordon_policy_new(run->config, "claude", "review", &run->policy, &run->err) != 0)
        return -1;
    return cordon_command_agent(run->policy, &wanted, &run->command, &run->err);
}

static void the_version_of_an_agent_comes_from_the_lock(void)
{
    static const char known[] = CLAUDE("2.1.332");
    static const char unknown[] = CLAUDE("9.9.9");
    cordon_auto(fake_run) run = {0};
    cordon_auto(fake_run) other = {0};
    cordon_auto(fake_run) none = {0};
    CHECK_INT(open_agent(&run, known, NULL), 0);
    CHECK_FAILS(open_agent(&other, unknown, NULL), other.err, CORDON_ERR_REFUSED,
                "9.9.9 is not a version");
    CHECK_FAILS(open_agent(&none, LOCK("claude", "docker", FAKE_IMAGE_PIN, ""), NULL), none.err,
                CORDON_ERR_REFUSED, "version of claude is in the image");
}

static void a_version_that_contradicts_the_lock_is_refused_before_anything_is_made(void)
{
    static const char lock[] = CLAUDE("2.1.332");
    cordon_auto(fake_run) run = {0};
    REQUIRE_OK(open_agent(&run, lock, "agents: { claude = \"2.1.197\"; };\n"), run.err);
    cordon_host host = {.uid = getuid(), .gid = getgid()};
    cordon_invocation_options options = {.deadline_ms = BUDGET_MS};
    REQUIRE_OK(cordon_invocation_new(run.engine, run.config, &host, run.policy, &options,
                                     &run.invocation, &run.err),
               run.err);
    REQUIRE(fake_run_go(&run));
    CHECK_INT(run.result.kind, CORDON_RESULT_REFUSED);
    CHECK_STR(run.result.refusal_code, "CORDON_REFUSED_AGENT");
    CHECK_STR(run.result.refusal_fact, "images.lock.version");
    CHECK_STR(run.result.refusal_expected, "2.1.332");
    CHECK_STR(run.result.refusal_actual, "2.1.197");
    CHECK_INT(fake_run_first(&run, FAKE_NETWORK_CREATE, NULL), -1);
    CHECK_INT(fake_run_first(&run, FAKE_CONTAINER_CREATE, NULL), -1);
}

/* --- Verbs ---------------------------------------------------------------------------------- */

/* A tar of one small file, as large as a tar is. */
static bool write_root(fake_run *run)
{
    char block[2560] = "bin/claude";
    (void)snprintf(block + 124, 12, "%011o", 5);
    memcpy(block + 257, "ustar", 6);
    memcpy(block + 512, "hello", 5);
    int fd = open(test_path(&run->folder, "root.tar"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, block, sizeof block) == (ssize_t)sizeof block;
    if (fd >= 0)
        (void)close(fd);
    return ok;
}

static int build(fake_run *run, const char *cli, const char *version, cordon_image *ret_image)
{
    cordon_host host = {.uid = getuid(), .state_dir = test_path(&run->folder, "state")};
    cordon_image_build_options wanted = {.cli = cli,
                                         .version = version,
                                         .from = test_path(&run->folder, "root.tar"),
                                         .log_fd = -1,
                                         .cancel_fd = -1,
                                         .budget_ms = BUDGET_MS};
    reset(run);
    return cordon_image_build(run->engine, run->config, &host, &wanted, ret_image, &run->err);
}

static int pin(fake_run *run, const char *name, const char *image, cordon_image *ret_image)
{
    reset(run);
    return cordon_image_pin(run->engine, run->config, name, image, BUDGET_MS, -1, ret_image,
                            &run->err);
}

static int rm(fake_run *run, const char *what, cordon_image *ret_image)
{
    reset(run);
    return cordon_image_remove(run->engine, run->config, what, BUDGET_MS, -1, ret_image, &run->err);
}

/* The row with this id or kind; false: none. */
static bool listed(fake_run *run, const char *id_or_kind, cordon_image *ret_image)
{
    cordon_image *images = NULL;
    size_t count = 0;
    bool found = false;
    reset(run);
    if (cordon_images_list(run->engine, run->config, BUDGET_MS, -1, &images, &count, &run->err) !=
        0)
        return test_record(false, __LINE__, run->err.message, __FILE__);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(images[i].id, id_or_kind) != 0 && strcmp(images[i].kind, id_or_kind) != 0)
            continue;
        found = true;
        *ret_image = images[i];
    }
    cordon_images_free(images);
    return found;
}

static bool open_verbs(fake_run *run, const fake_run_options *options)
{
    return fake_run_prepare(run, options) && fake_run_connect(run) && write_root(run);
}

static void a_built_image_is_recognized_pinned_and_taken_away_again(void)
{
    cordon_auto(fake_run) run = {0};
    cordon_image image = {0};
    cordon_image row = {0};
    REQUIRE(open_verbs(&run, &(fake_run_options){.unpinned = true, .lock = ""}));
    REQUIRE_OK(build(&run, "claude", "2.1.332", &image), run.err);
    CHECK_STR(image.kind, "agent");
    REQUIRE(listed(&run, image.id, &row));
    CHECK(row.made && row.present);
    CHECK_STR(row.cli, "claude");
    CHECK_STR(row.version, "2.1.332");
    CHECK_STR(row.tag, "localhost/cordon-claude:2.1.332");
    CHECK_STR(row.name, "");
    REQUIRE_OK(pin(&run, "claude", NULL, &row), run.err);
    CHECK_STR(row.id, image.id);
    REQUIRE(listed(&run, image.id, &row));
    CHECK_STR(row.name, "claude");
    CHECK_STR(row.pinned_by, "lock");
    CHECK_FAILS(rm(&run, image.id, &row), run.err, CORDON_ERR_REFUSED, "is pinned as claude");
    REQUIRE_OK(rm(&run, "claude", &row), run.err);
    CHECK(!row.present);
    CHECK(!listed(&run, image.id, &row));
    CHECK_FAILS(rm(&run, "claude", &row), run.err, CORDON_ERR_NOTFOUND, "no image of that name");
}

static void the_same_root_has_the_same_id_on_every_engine(void)
{
    cordon_image images[2];
    memset(images, 0, sizeof images);
    for (int i = 0; i < 2; i++) {
        cordon_auto(fake_run) run = {0};
        REQUIRE(open_verbs(&run, &(fake_run_options){.podman = i == 1, .lock = ""}));
        REQUIRE_OK(build(&run, "codex", "0.171.0", &images[i]), run.err);
    }
    CHECK_STR(images[0].id, images[1].id);
}

static void what_is_no_root_or_no_cli_is_not_built(void)
{
    cordon_auto(fake_run) run = {0};
    cordon_image image = {0};
    REQUIRE(open_verbs(&run, &(fake_run_options){.lock = ""}));
    CHECK_FAILS(build(&run, "bash", "1", &image), run.err, CORDON_ERR_CONFIG,
                "bash: no CLI that Cordon knows");
    CHECK_FAILS(build(&run, "claude", NULL, &image), run.err, CORDON_ERR_CONFIG,
                "which version of claude");
    CHECK_FAILS(build(&run, "claude", "latest", &image), run.err, CORDON_ERR_CONFIG,
                "latest: not a version");
    CHECK_FAILS(build(&run, "claude", "1 2", &image), run.err, CORDON_ERR_CONFIG, "not a version");
    REQUIRE(test_file(&run.folder, "root.tar", "no tar", 0600));
    CHECK_FAILS(build(&run, "claude", "2.1.332", &image), run.err, CORDON_ERR_CONFIG,
                "it is no uncompressed tar");
    REQUIRE(chmod(test_path(&run.folder, "root.tar"), 0666) == 0);
    CHECK_FAILS(build(&run, "claude", "2.1.332", &image), run.err, CORDON_ERR_REFUSED,
                "may be written by everybody");
    CHECK_INT(fake_run_first(&run, FAKE_IMAGE_LOAD, NULL), -1);
}

static void a_foreign_image_is_pinned_and_never_removed(void)
{
    cordon_auto(fake_run) run = {0};
    cordon_image row = {0};
    REQUIRE(open_verbs(&run, &(fake_run_options){.unpinned = true, .lock = ""}));
    REQUIRE_OK(pin(&run, "runner", FAKE_IMAGE_NAMED, &row), run.err);
    CHECK_STR(row.id, FAKE_IMAGE_PIN);
    CHECK_STR(row.kind, "foreign");
    CHECK_FAILS(rm(&run, FAKE_IMAGE_ID, &row), run.err, CORDON_ERR_REFUSED, "is pinned as runner");
    REQUIRE_OK(rm(&run, "runner", &row), run.err);
    CHECK(row.present && !row.made);
    CHECK_FAILS(rm(&run, FAKE_IMAGE_ID, &row), run.err, CORDON_ERR_REFUSED,
                "Cordon did not make this image");
    CHECK_INT(fake_run_first(&run, FAKE_IMAGE_REMOVE, NULL), -1);
}

static void what_cannot_be_pinned_is_said(void)
{
    cordon_auto(fake_run) run = {0};
    cordon_image row = {0};
    cordon_image image = {0};
    REQUIRE(open_verbs(&run, &(fake_run_options){.lock = ""}));
    CHECK_FAILS(pin(&run, "agent", FAKE_IMAGE_PIN, &row), run.err, CORDON_ERR_CONFIG,
                "agent: no image is pinned under that name");
    CHECK_FAILS(pin(&run, "codex", NULL, &row), run.err, CORDON_ERR_NOTFOUND,
                "cordon image build codex");
    CHECK_FAILS(pin(&run, "codex", OTHER, &row), run.err, CORDON_ERR_NOTFOUND,
                "Cordon never pulls");
    REQUIRE_OK(build(&run, "claude", "2.1.332", &image), run.err);
    CHECK_FAILS(pin(&run, "codex", image.id, &row), run.err, CORDON_ERR_REFUSED,
                "is an image of claude, not of codex");
    CHECK_FAILS(pin(&run, "runner", image.id, &row), run.err, CORDON_ERR_REFUSED,
                "images.runner of the configuration pins");
    REQUIRE_OK(build(&run, "claude", "2.1.197", &image), run.err);
    CHECK_FAILS(pin(&run, "claude", NULL, &row), run.err, CORDON_ERR_CONFIG,
                "several images of claude");
}

static void the_guards_of_a_run_are_listed_and_stay_while_they_are_needed(void)
{
    static const char lock[] = LOCK("runner", "docker", FAKE_IMAGE_PIN, "");
    cordon_auto(fake_run) run = {0};
    cordon_image row = {0};
    cordon_image *images = NULL;
    size_t count = 0;
    REQUIRE(fake_run_open(&run, &(fake_run_options){.lock = lock}) && fake_run_go(&run));
    REQUIRE(listed(&run, "guard", &row));
    CHECK(row.made && row.current);
    CHECK_FAILS(pin(&run, "codex", row.id, &row), run.err, CORDON_ERR_REFUSED,
                "pin the image itself");
    REQUIRE(listed(&run, "step", &row));
    CHECK(row.made && row.current);
    reset(&run);
    REQUIRE_OK(cordon_images_remove_unused(run.engine, run.config, BUDGET_MS, -1, &images, &count,
                                           &run.err),
               run.err);
    cordon_images_free(images);
    CHECK_INT(count, 0);
}

static void a_step_image_of_a_pin_that_is_gone_is_unused(void)
{
    cordon_auto(fake_run) run = {0};
    cordon_image row = {0};
    cordon_image *images = NULL;
    size_t count = 0;
    REQUIRE(fake_run_open(&run, &(fake_run_options){.unpinned = true, .image = FAKE_IMAGE_PIN}) &&
            fake_run_go(&run));
    REQUIRE(listed(&run, "step", &row));
    CHECK(!row.current);
    reset(&run);
    REQUIRE_OK(cordon_images_remove_unused(run.engine, run.config, BUDGET_MS, -1, &images, &count,
                                           &run.err),
               run.err);
    CHECK_INT(count, 1);
    CHECK(count == 1 && !images[0].present && strcmp(images[0].id, row.id) == 0);
    cordon_images_free(images);
    CHECK(!listed(&run, "step", &row));
    CHECK(listed(&run, "guard", &row));
}

/* --- Recognizing ---------------------------------------------------------------------------- */

static void an_image_is_ours_only_in_every_byte(void)
{
    cordon_auto(cordon_image_facts) facts = {0};
    cordon_auto(cordon_buf) config = cordon_buf_make(65536);
    cordon_image_badge badge = {"claude", "2.1.332", ""};
    cordon_image_kind kind = CORDON_IMAGE_FOREIGN;
    cordon_err err = CORDON_ERR_INIT;
    uint8_t digest[CORDON_SHA256_BYTES];
    char hex[CORDON_SHA256_HEX_SIZE];
    REQUIRE_OK(cordon_fact_list_add(&facts.layers, OTHER, &err), err);
    REQUIRE_OK(cordon_fact_list_add(&facts.labels, "cordon.image.cli=claude", &err), err);
    REQUIRE_OK(cordon_fact_list_add(&facts.labels, "cordon.image.version=2.1.332", &err), err);
    REQUIRE_OK(cordon_fact_text_set(&facts.architecture, "amd64", &err), err);
    REQUIRE_OK(cordon_image_config_write("amd64", &facts.layers, &badge, &config, &err), err);
    cordon_sha256_digest(config.data, config.length, digest);
    cordon_hex_encode(digest, sizeof digest, hex);
    REQUIRE_OK(cordon_fact_text_set(&facts.id, hex, &err), err);
    REQUIRE_OK(cordon_image_recognize(&facts, &kind, &badge, &err), err);
    CHECK_INT(kind, CORDON_IMAGE_AGENT);
    /* the same labels on another image */
    REQUIRE_OK(cordon_fact_list_add(&facts.layers, OTHER, &err), err);
    REQUIRE_OK(cordon_image_recognize(&facts, &kind, &badge, &err), err);
    CHECK_INT(kind, CORDON_IMAGE_FOREIGN);
}

CORDON_TEST_MAIN("image_verbs",
                 TEST(a_run_with_another_image_than_the_locks_is_refused_before_anything_is_made),
                 TEST(a_digest_that_means_another_id_than_the_locks_is_refused),
                 TEST(a_name_that_the_lock_has_not_is_refused),
                 TEST(a_lock_that_is_named_and_not_there_refuses_every_run),
                 TEST(the_locks_image_is_run_without_any_other_pin),
                 TEST(the_version_of_an_agent_comes_from_the_lock),
                 TEST(a_version_that_contradicts_the_lock_is_refused_before_anything_is_made),
                 TEST(a_built_image_is_recognized_pinned_and_taken_away_again),
                 TEST(the_same_root_has_the_same_id_on_every_engine),
                 TEST(what_is_no_root_or_no_cli_is_not_built),
                 TEST(a_foreign_image_is_pinned_and_never_removed),
                 TEST(what_cannot_be_pinned_is_said),
                 TEST(the_guards_of_a_run_are_listed_and_stay_while_they_are_needed),
                 TEST(a_step_image_of_a_pin_that_is_gone_is_unused),
                 TEST(an_image_is_ours_only_in_every_byte))

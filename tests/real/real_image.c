/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cordon image` over a real engine: an image that is built is the one that runs; the lock holds
 * against a moved tag, another pin and a name that it has not; foreign images are left alone.
 */
#include "real.h"

#include <string.h>
#include <unistd.h>

/* `cordon image WORDS...` with the state and configuration of this test. */
static bool image(const char *const *words, child *ret_child)
{
    static char state[160];
    const char *argv[16] = {CORDON_PROGRAM, "image"};
    const char *const environment[] = {"PATH=/usr/bin:/bin", state, NULL};
    size_t count = 2;
    for (size_t i = 0; words[i] && count < 13; i++)
        argv[count++] = words[i];
    argv[count++] = "--config";
    argv[count++] = real_path("image.conf");
    (void)snprintf(state, sizeof state, "XDG_STATE_HOME=%s", real_path("state"));
    const child_spec spec = {.argv = argv, .environment = environment};
    return child_start(&spec, ret_child) && CHECK(child_finish(ret_child, REAL_PATIENCE_MS));
}

/* The same; its status and a part of what it says on either stream. */
static bool image_says(const char *const *words, int status, const char *part)
{
    cordon_auto(child) c = {0};
    if (!image(words, &c))
        return false;
    bool ok = c.status == status &&
              (strstr(cordon_buf_text(&c.out), part) || strstr(cordon_buf_text(&c.err), part));
    TEST_RECORDF(ok, "cordon image %s: status %d, \"%.200s\" \"%.300s\", want %d \"%s\"", words[0],
                 c.status, cordon_buf_text(&c.out), cordon_buf_text(&c.err), status, part);
    return ok;
}

static const char *lock_line(void)
{
    static char line[160];
    (void)snprintf(line, sizeof line, "images_lock = \"%s\";", real_path("images.lock"));
    return line;
}

static bool configure(void)
{
    char text[512];
    (void)snprintf(
        text, sizeof text,
        "engine = \"it\";\nengines = ( { name = \"it\"; kind = \"%s\"; endpoint = \"%s\"; } "
        ");\n%s\n",
        real.ops->name, real.endpoint, lock_line());
    (void)unlink(real_path("images.lock"));
    return real_file("image.conf", text);
}

/* The root of an image: the busybox of this machine's tests, under the name of a CLI. */
static bool make_root(const char *path)
{
    static const char script[] =
        "mkdir -p r/usr/local/bin r/bin && cp \"$(command -v busybox)\" r/bin/sh && "
        "cp r/bin/sh r/bin/sleep && cp r/bin/sh r/usr/local/bin/claude && "
        "tar -C r --sort=name --mtime=@0 -cf \"$0\" . && rm -r r";
    const char *const argv[] = {"/bin/sh", "-c", script, path, NULL};
    cordon_auto(child) c = {0};
    const child_spec spec = {.argv = argv};
    if (chdir(real.folder) != 0 || !child_start(&spec, &c))
        return CHECK(false);
    bool ok = child_finish(&c, REAL_PATIENCE_MS) && c.status == 0;
    TEST_RECORDF(ok, "no root: %.300s", cordon_buf_text(&c.err));
    return ok;
}

/* The id in the text, "sha256:..."; "" for none. */
static void find_id(const char *text, char ret_id[72])
{
    const char *at = strstr(text, "sha256:");
    (void)snprintf(ret_id, 72, "%.71s", at ? at : "");
}

static bool build(char ret_id[72])
{
    cordon_auto(child) c = {0};
    const char *root = real_path("root.tar");
    if (!make_root(root) || !image(WORDS("build", "claude@2.1.332", "--quiet", "--from", root), &c))
        return false;
    find_id(cordon_buf_text(&c.out), ret_id);
    TEST_RECORDF(c.status == 0 && ret_id[0], "build: %d %.300s", c.status, cordon_buf_text(&c.err));
    return c.status == 0 && ret_id[0];
}

static bool is_there(const char *id)
{
    cordon_auto(cordon_image_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    return real.ops->image_resolve(real.impl, id, real_soon(), &facts, &err) == 0;
}

/* A run of `true` in what the lock says, with this --image ("" for none). */
static void run_with(const char *pin, const char *kind, int status, const char *part)
{
    cordon_auto(outcome) o = {0};
    const call what = {.argv = SHELL("true"), .settings = lock_line(), .image = pin};
    REQUIRE(cordon_call(&what, &o));
    EXPECT_KIND(&o, kind, status);
    TEST_RECORDF(strstr(outcome_err(&o), part) != NULL, "\"%.300s\" lacks \"%s\"", outcome_err(&o),
                 part);
    EXPECT_NOTHING_LEFT(&o);
}

static void an_image_is_built_pinned_run_listed_and_removed(void)
{
    char id[72] = "";
    char pin[96];
    char again[72] = "";
    REQUIRE(configure() && build(id));
    CHECK(build(again));
    CHECK_STR(again, id);
    (void)snprintf(pin, sizeof pin, "runner=%s", id);
    REQUIRE(image_says(WORDS("pin", "claude"), 0, id));
    REQUIRE(image_says(WORDS("pin", pin), 0, "runner is pinned to"));
    run_with("", "exited", 0, "");
    image_says(WORDS("ls"), 0, "claude 2.1.332");
    image_says(WORDS("rm", id), 126, "is pinned as");
    /* the image stays for the other name */
    image_says(WORDS("rm", "runner"), 0, "runner sha256:");
    CHECK(is_there(id));
    run_with("", "refused", 126, "images.lock.runner");
    image_says(WORDS("rm", "claude"), 0, ": removed");
    CHECK(!is_there(id));
    image_says(WORDS("rm", "--unused"), 0, real_is_docker() ? "removed" : "");
    image_says(WORDS("rm", "--unused"), 0, "nothing to remove");
}

static void a_moved_tag_and_another_pin_do_not_get_past_the_lock(void)
{
    char id[72] = "";
    char tag[160];
    REQUIRE(configure() && build(id));
    REQUIRE(image_says(WORDS("pin", "runner=localhost/cordon-claude:2.1.332"), 0, id));
    run_with(real.image, "refused", 126, "images.lock.runner");
    /* the tag now means the foreign image; the id that was pinned is what runs */
    (void)snprintf(tag, sizeof tag, "/images/%s/tag?repo=localhost/cordon-claude&tag=2.1.332",
                   real.image + strlen("sha256:"));
    REQUIRE(rest_ok("POST", tag, NULL));
    run_with("", "exited", 0, "");
    run_with(real.image, "refused", 126, "images.lock.runner");
    image_says(WORDS("rm", "runner"), 0, ": removed");
    CHECK(!is_there(id));
    CHECK(is_there(real.image));
    (void)image_says(WORDS("rm", "--unused"), 0, "");
    CHECK(rest_ok("DELETE",
                  real_is_docker() ? "/images/localhost/cordon-claude:2.1.332?noprune=1"
                                   : "/images/localhost%2Fcordon-claude:2.1.332",
                  NULL));
    CHECK(is_there(real.image));
}

static void a_foreign_image_is_left_and_one_that_is_missing_is_said(void)
{
    char pin[128];
    REQUIRE(configure());
    run_with(real.image, "refused", 126, "the lock file is not there");
    (void)snprintf(pin, sizeof pin, "runner=%s", real.image);
    image_says(WORDS("rm", real.image), 126, "Cordon did not make this image");
    REQUIRE(image_says(WORDS("pin", pin), 0, "runner is pinned to"));
    run_with("", "exited", 0, "");
    image_says(WORDS("ls", "--json"), 0, "\"made\":false");
    image_says(WORDS("rm", "runner"), 0, "is not Cordon's and is left");
    CHECK(is_there(real.image));
    image_says(WORDS("pin", "claude=localhost/nobody:here"), 125, "Cordon never pulls");
    image_says(WORDS("rm", "--unused"), 0, "");
}

static void an_image_of_a_container_is_not_removed(void)
{
    char id[72] = "";
    char container[65] = "";
    REQUIRE(configure() && build(id));
    char create[256];
    (void)snprintf(create, sizeof create, "%s", id);
    const char *const image_before = real.image;
    real.image = create;
    bool made = real_foreign_container("image-user", NULL, "{}", container);
    real.image = image_before;
    REQUIRE(made);
    image_says(WORDS("rm", id), 125, id);
    CHECK(is_there(id));
    real_remove_container(container);
    image_says(WORDS("rm", id), 0, ": removed");
    CHECK(!is_there(id));
}

REAL_MAIN("image", TEST(an_image_is_built_pinned_run_listed_and_removed),
          TEST(a_moved_tag_and_another_pin_do_not_get_past_the_lock),
          TEST(a_foreign_image_is_left_and_one_that_is_missing_is_said),
          TEST(an_image_of_a_container_is_not_removed))

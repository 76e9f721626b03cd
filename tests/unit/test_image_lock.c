/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock file of images: what is no lock is refused as a whole, naming the place; what stands in
 * it is found, changed and kept by the rules of trusted files.
 */
#include "image_lock.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/test.h"

#define ID  "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define ID2 "sha256:2222222222222222222222222222222222222222222222222222222222222222"

#define PLAIN                                                                                      \
    "\"name\":\"claude\",\"engine\":\"docker\",\"architecture\":\"amd64\",\"id\":\"" ID "\","      \
    "\"pinned\":\"2026-11-30T06:40:00Z\""
#define LOCK(entries) "{\"cordon_images\":1,\"images\":[" entries "]}"

typedef struct bad_lock {
    const char *text;
    const char *says;
} bad_lock;

static const bad_lock bad_locks[] = {
    {"", "image lock /x/images.lock: "},
    {"null", "expected object"},
    {"[]", "object"},
    {"{", "image lock /x/images.lock: "},
    {"{}", "$.cordon_images: missing"},
    {"{\"cordon_images\":2,\"images\":[]}", "format 2 is not one"},
    {"{\"cordon_images\":\"1\",\"images\":[]}", "$.cordon_images"},
    {"{\"cordon_images\":1}", "$.images: missing"},
    {"{\"cordon_images\":1,\"images\":{}}", "$.images"},
    {"{\"cordon_images\":1,\"images\":[],\"more\":0}", "$.more: unknown key"},
    {"{\"cordon_images\":1,\"cordon_images\":1,\"images\":[]}", "image lock"},
    {LOCK("null"), "$.images[0]: null"},
    {LOCK("7"), "$.images[0]"},
    {LOCK("{}"), "name: \"\" is not claude, codex or runner"},
    {LOCK("{" PLAIN ",\"tag\":\"x\"}"), "$.images[0].tag: unknown key"},
    {LOCK("{" PLAIN "},{" PLAIN "}"), "claude is pinned twice for docker on amd64"},
    {LOCK("{" PLAIN ",\"cli\":\"claude\"}"), "cli and version stand together"},
    {LOCK("{" PLAIN ",\"version\":\"2\"}"), "cli and version stand together"},
    {LOCK("{" PLAIN ",\"cli\":\"codex\",\"version\":\"2\"}"),
     "an image of codex is pinned as claude"},
    {LOCK("{" PLAIN ",\"cli\":\"bash\",\"version\":\"2\"}"),
     "cli: \"bash\" is not claude or codex"},
    {LOCK("{" PLAIN ",\"cli\":null,\"version\":\"2\"}"), "cli: \"\" is not"},
    {LOCK("{" PLAIN ",\"recipe\":\"sha256:1\"}"), "recipe: \"sha256:1\" is not"},
    {LOCK("{" PLAIN ",\"cli\":\"claude\",\"version\":\"2 3\"}"), "version: \"2 3\" is not"},
    {LOCK("{\"name\":\"other\",\"engine\":\"docker\",\"architecture\":\"amd64\",\"id\":\"" ID
          "\",\"pinned\":\"2026-11-30T06:40:00Z\"}"),
     "name: \"other\" is not claude, codex or runner"},
    {LOCK("{\"name\":\"claude\",\"engine\":\"lxc\",\"architecture\":\"amd64\",\"id\":\"" ID
          "\",\"pinned\":\"2026-11-30T06:40:00Z\"}"),
     "engine: \"lxc\" is not docker or podman"},
    {LOCK("{\"name\":\"claude\",\"engine\":\"docker\",\"architecture\":\"a/b\",\"id\":\"" ID
          "\",\"pinned\":\"2026-11-30T06:40:00Z\"}"),
     "architecture: \"a/b\" is not"},
    {LOCK("{\"name\":\"claude\",\"engine\":\"docker\",\"architecture\":\"amd64\",\"id\":\"latest\","
          "\"pinned\":\"2026-11-30T06:40:00Z\"}"),
     "id: \"latest\" is not sha256:"},
    {LOCK("{\"name\":\"claude\",\"engine\":\"docker\",\"architecture\":\"amd64\",\"id\":1,"
          "\"pinned\":\"2026-11-30T06:40:00Z\"}"),
     "$.images[0].id"},
    {LOCK("{\"name\":\"claude\",\"engine\":\"docker\",\"architecture\":\"amd64\",\"id\":\"" ID
          "\",\"pinned\":\"today\"}"),
     "pinned: \"today\" is not a time"},
    {LOCK("{\"name\":\"claude\",\"engine\":\"docker\",\"architecture\":\"amd64\",\"id\":\"" ID
          "\"}"),
     "pinned: \"\" is not a time"},
};

static void what_is_no_lock_is_refused_and_changes_nothing(void)
{
    static cordon_image_lock lock;
    for (size_t i = 0; i < sizeof bad_locks / sizeof bad_locks[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        const char *text = bad_locks[i].text;
        lock = (cordon_image_lock){.count = 1};
        CHECK_FAILS(cordon_image_lock_parse("/x/images.lock", text, strlen(text), &lock, &err), err,
                    CORDON_ERR_CONFIG, bad_locks[i].says);
        CHECK_INT(lock.count, 1);
        CHECK(!lock.present);
    }
}

static void an_entry_holds_all_that_it_says(void)
{
    static const char text[] =
        LOCK("{" PLAIN ",\"cli\":\"claude\",\"version\":\"2.1.332\",\"recipe\":\"" ID2 "\"}");
    static cordon_image_lock lock;
    cordon_err err = CORDON_ERR_INIT;
    lock = (cordon_image_lock){0};
    REQUIRE_OK(cordon_image_lock_parse("/x", text, strlen(text), &lock, &err), err);
    const cordon_image_entry *entry = cordon_image_lock_find(&lock, "claude", "docker", "amd64");
    REQUIRE(entry != NULL);
    CHECK_STR(entry->id, ID);
    CHECK_STR(entry->version, "2.1.332");
    CHECK_STR(entry->recipe, ID2);
    CHECK(cordon_image_lock_find(&lock, "claude", "podman", "amd64") == NULL);
    CHECK(cordon_image_lock_find(&lock, "claude", "docker", "arm64") == NULL);
    CHECK(cordon_image_lock_find(&lock, "codex", "docker", "amd64") == NULL);
}

static cordon_image_entry entry_of(const char *name, const char *engine, const char *version)
{
    cordon_image_entry entry = {
        .architecture = "amd64", .id = ID, .pinned = "2026-11-30T06:40:00Z"};
    (void)snprintf(entry.name, sizeof entry.name, "%s", name);
    (void)snprintf(entry.engine, sizeof entry.engine, "%s", engine);
    if (version[0]) {
        (void)snprintf(entry.cli, sizeof entry.cli, "%s", name);
        (void)snprintf(entry.version, sizeof entry.version, "%s", version);
    }
    return entry;
}

static void one_version_is_told_and_two_are_refused(void)
{
    static cordon_image_lock lock;
    const char *version = "unset";
    cordon_err err = CORDON_ERR_INIT;
    lock = (cordon_image_lock){0};
    REQUIRE_OK(cordon_image_lock_version(&lock, "claude", &version, &err), err);
    CHECK(version == NULL);
    lock.entries[lock.count++] = entry_of("claude", "docker", "2.1.197");
    lock.entries[lock.count++] = entry_of("claude", "podman", "");
    lock.entries[lock.count++] = entry_of("codex", "podman", "0.171.0");
    REQUIRE_OK(cordon_image_lock_version(&lock, "claude", &version, &err), err);
    CHECK_STR(version, "2.1.197");
    static char path[] = "/x/images.lock";
    lock.path = path;
    lock.entries[1] = entry_of("claude", "podman", "2.1.332");
    CHECK_FAILS(cordon_image_lock_version(&lock, "claude", &version, &err), err, CORDON_ERR_REFUSED,
                "2.1.197 and 2.1.332");
}

/* Reads the file anew. */
static bool reread(const cordon_trust *trust, const char *path, cordon_image_lock *lock)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_image_lock_clear(lock);
    if (cordon_image_lock_read(trust, path, lock, &err) == 0)
        return true;
    test_record(false, __LINE__, err.message, __FILE__);
    return false;
}

static void entries_are_put_replaced_and_dropped_in_a_file_of_the_callers_own(void)
{
    static cordon_image_lock lock;
    static cordon_image_lock other;
    test_auto_folder folder = {0};
    cordon_err err = CORDON_ERR_INIT;
    struct stat st;
    REQUIRE(test_folder_make(&folder));
    cordon_trust trust = {.uid = getuid()};
    char path[256];
    (void)snprintf(path, sizeof path, "%s", test_path(&folder, "new/images.lock"));
    lock = other = (cordon_image_lock){0};
    REQUIRE(reread(&trust, path, &lock) && reread(&trust, path, &other));
    CHECK(!lock.present);
    cordon_image_entry docker = entry_of("claude", "docker", "2.1.332");
    cordon_image_entry podman = entry_of("claude", "podman", "");
    REQUIRE_OK(cordon_image_lock_put(&trust, &lock, &podman, &err), err);
    CHECK(lock.present);
    /* what another writer put meanwhile stays */
    REQUIRE_OK(cordon_image_lock_put(&trust, &other, &docker, &err), err);
    CHECK_INT(other.count, 2);
    REQUIRE(stat(path, &st) == 0);
    CHECK_INT(st.st_mode & 07777, 0600);
    (void)snprintf(docker.id, sizeof docker.id, "%s", ID2);
    REQUIRE_OK(cordon_image_lock_put(&trust, &lock, &docker, &err), err);
    REQUIRE(reread(&trust, path, &other));
    CHECK_INT(other.count, 2);
    CHECK_STR(other.entries[0].engine, "docker");
    CHECK_STR(other.entries[0].id, ID2);
    CHECK_STR(other.entries[0].version, "2.1.332");
    REQUIRE_OK(cordon_image_lock_drop(&trust, &lock, &docker, &err), err);
    CHECK_FAILS(cordon_image_lock_drop(&trust, &lock, &docker, &err), err, CORDON_ERR_NOTFOUND,
                "claude is not pinned for docker on amd64");
    REQUIRE(reread(&trust, path, &other));
    CHECK_INT(other.count, 1);
    cordon_image_lock_clear(&lock);
    cordon_image_lock_clear(&other);
    (void)unlink(path);
    (void)rmdir(test_path(&folder, "new"));
}

static void a_lock_that_others_may_write_or_that_lies_in_the_worktree_is_refused(void)
{
    static cordon_image_lock lock;
    test_auto_folder folder = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_file(&folder, "images.lock", LOCK(""), 0666));
    cordon_trust trust = {.uid = getuid()};
    cordon_image_entry entry = entry_of("claude", "docker", "");
    lock = (cordon_image_lock){0};
    CHECK_FAILS(cordon_image_lock_read(&trust, test_path(&folder, "images.lock"), &lock, &err), err,
                CORDON_ERR_REFUSED, "may be written by everybody");
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(cordon_image_lock_put(&trust, &lock, &entry, &err), err, CORDON_ERR_REFUSED,
                "may be written by everybody");
    REQUIRE(chmod(test_path(&folder, "images.lock"), 0600) == 0);
    trust.worktree = folder.path;
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(cordon_image_lock_put(&trust, &lock, &entry, &err), err, CORDON_ERR_REFUSED,
                "lies in the worktree");
    cordon_image_lock_clear(&lock);
}

static void a_folder_that_others_may_write_gets_no_lock(void)
{
    static cordon_image_lock lock;
    test_auto_folder folder = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_subfolder(&folder, "open", 0777));
    REQUIRE(chmod(test_path(&folder, "open"), 0777) == 0);
    cordon_trust trust = {.uid = getuid()};
    cordon_image_entry entry = entry_of("claude", "docker", "");
    lock = (cordon_image_lock){0};
    char path[256];
    (void)snprintf(path, sizeof path, "%s", test_path(&folder, "open/images.lock"));
    REQUIRE_OK(cordon_image_lock_read(&trust, path, &lock, &err), err);
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(cordon_image_lock_put(&trust, &lock, &entry, &err), err, CORDON_ERR_REFUSED,
                "may be written by everybody");
    CHECK(access(path, F_OK) != 0);
    cordon_image_lock_clear(&lock);
    (void)rmdir(test_path(&folder, "open"));
}

CORDON_TEST_MAIN("image_lock", TEST(what_is_no_lock_is_refused_and_changes_nothing),
                 TEST(an_entry_holds_all_that_it_says),
                 TEST(one_version_is_told_and_two_are_refused),
                 TEST(entries_are_put_replaced_and_dropped_in_a_file_of_the_callers_own),
                 TEST(a_lock_that_others_may_write_or_that_lies_in_the_worktree_is_refused),
                 TEST(a_folder_that_others_may_write_gets_no_lock))

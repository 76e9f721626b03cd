/* SPDX-License-Identifier: Apache-2.0 */
/* Remembering engine facts; see engine_cache.h. */
#include "engine_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kit/cleanup.h"
#include "kit/hash.h"
#include "kit/jsonr.h"
#include "kit/jsonw.h"
#include "state_dir.h"

#define CACHE_FORMAT  3
#define CACHE_MAX     (64u << 10)
#define CACHE_AGE_S   3600
#define CACHE_KEY_MAX 512

/* What the memory is tied to: one life of one daemon on one boot. False: cannot be told. */
static bool cache_key(const char *socket_path, const char *identity, char *ret_key, size_t size)
{
    struct stat st;
    char boot[64];
    int length;

    if (socket_path == NULL || identity == NULL || stat(socket_path, &st) != 0)
        return false;
    cordon_state_boot_id(boot, sizeof(boot));
    length = snprintf(ret_key, size, "%d %s %llu:%llu %lld.%09ld %s %s", CACHE_FORMAT, boot,
                      (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
                      (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec, identity, socket_path);
    return boot[0] != '\0' && length > 0 && (size_t)length < size;
}

static void cache_name(const char *socket_path, char *ret_name, size_t size)
{
    uint8_t digest[CORDON_SHA256_BYTES];
    char hex[CORDON_SHA256_HEX_SIZE];

    cordon_sha256_digest(socket_path, strlen(socket_path), digest);
    cordon_hex_encode(digest, sizeof(digest), hex);
    (void)snprintf(ret_name, size, "engine-%.16s.json", hex);
}

/* --- Reading --- */

typedef struct cache_text {
    const char *key;
    size_t offset;
} cache_text;

static const cache_text cache_texts[] = {
    {"version", offsetof(cordon_engine_facts, version)},
    {"api", offsetof(cordon_engine_facts, api)},
    {"os", offsetof(cordon_engine_facts, os)},
    {"architecture", offsetof(cordon_engine_facts, architecture)},
    {"storage_driver", offsetof(cordon_engine_facts, storage_driver)},
    {"storage_root", offsetof(cordon_engine_facts, storage_root)},
    {"runtime", offsetof(cordon_engine_facts, runtime)},
};

#define CACHE_TEXT_COUNT (sizeof(cache_texts) / sizeof(cache_texts[0]))

static char **cache_slot(cordon_engine_facts *facts, size_t index)
{
    return (char **)(void *)((char *)facts + cache_texts[index].offset);
}

static int cache_read_list(cordon_json root, const char *key, cordon_fact_list *list,
                           cordon_err *err)
{
    cordon_json array;

    if (cordon_json_need_array(root, key, &array, err) != 0)
        return -1;
    cordon_fact_list_known(list);
    for (cordon_json_iter it = cordon_json_iterate(array); cordon_json_next(&it);) {
        cordon_json_string text;

        if (cordon_json_as_string(it.value, &text, err) != 0 || text.has != CORDON_JSON_PRESENT ||
            cordon_fact_list_add(list, text.text, err) != 0)
            return -1;
    }
    return 0;
}

static int cache_read_facts(cordon_json root, cordon_engine_facts *facts, cordon_err *err)
{
    int64_t kind;
    int64_t can;
    bool rootless;

    for (size_t i = 0; i < CACHE_TEXT_COUNT; i++) {
        const char *text;

        if (cordon_json_need_string(root, cache_texts[i].key, &text, err) != 0 ||
            cordon_fact_text_set(cache_slot(facts, i), text, err) != 0)
            return -1;
    }
    if (cordon_json_need_i64(root, "kind", &kind, err) != 0 ||
        cordon_json_need_i64(root, "can", &can, err) != 0 ||
        cordon_json_need_bool(root, "rootless", &rootless, err) != 0 ||
        cordon_json_need_i64(root, "cgroup_version", &facts->cgroup_version.value, err) != 0)
        return -1;
    facts->kind = (cordon_engine_kind)kind;
    facts->can = (unsigned)can;
    facts->rootless = rootless ? CORDON_FACT_YES : CORDON_FACT_NO;
    facts->cgroup_version.known = facts->cgroup_version.value != 0;
    if (cache_read_list(root, "security", &facts->security, err) != 0)
        return -1;
    return cache_read_list(root, "warnings", &facts->warnings, err);
}

/* Kernels stamp files with the fine clock, which may be a second ahead of time(2)'s coarse one. */
static bool cache_is_young(const struct stat *st)
{
    struct timespec now;

    return clock_gettime(CLOCK_REALTIME, &now) == 0 && now.tv_sec >= st->st_mtime &&
           now.tv_sec - st->st_mtime <= CACHE_AGE_S;
}

/* The file's bytes, if it is ours alone and young. 0 length is "no". */
static size_t cache_read_file(const char *folder, const char *name, char *bytes, size_t size)
{
    cordon_autoclose int dir = open(folder, O_DIRECTORY | O_PATH | O_CLOEXEC | O_NOFOLLOW);
    cordon_autoclose int fd =
        dir >= 0 ? openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    struct stat st;
    ssize_t length;

    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
        (st.st_mode & (S_IWGRP | S_IWOTH)) != 0 || !cache_is_young(&st))
        return 0;
    length = read(fd, bytes, size);
    return length > 0 ? (size_t)length : 0;
}

bool cordon_engine_cache_load(const char *folder, const char *socket_path, const char *identity,
                              cordon_engine_facts *ret_facts)
{
    cordon_auto(cordon_engine_facts) facts = {0};
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_autofree char *bytes = NULL;
    cordon_err ignored = CORDON_ERR_INIT;
    char key[CACHE_KEY_MAX];
    char name[48];
    const char *stored;
    size_t length;

    if (folder == NULL || !cache_key(socket_path, identity, key, sizeof(key)) ||
        (bytes = malloc(CACHE_MAX)) == NULL)
        return false;
    cache_name(socket_path, name, sizeof(name));
    length = cache_read_file(folder, name, bytes, CACHE_MAX);
    if (length == 0 || cordon_json_parse(bytes, length, CACHE_MAX, 4, &doc, &ignored) != 0 ||
        cordon_json_need_string(cordon_json_root(doc), "key", &stored, &ignored) != 0 ||
        strcmp(stored, key) != 0 || cache_read_facts(cordon_json_root(doc), &facts, &ignored) != 0)
        return false;
    *ret_facts = facts;
    facts = (cordon_engine_facts){0};
    return true;
}

/* --- Writing --- */

static void cache_write_list(cordon_jsonw *json, const char *key, const cordon_fact_list *list)
{
    cordon_jsonw_begin_array(json, key);
    for (size_t i = 0; i < list->count; i++)
        cordon_jsonw_string(json, NULL, list->items[i]);
    cordon_jsonw_end_array(json);
}

static int cache_write_facts(const char *key, cordon_engine_facts *facts, cordon_buf *text,
                             cordon_err *err)
{
    cordon_jsonw json;

    cordon_jsonw_init(&json, text);
    cordon_jsonw_begin_object(&json, NULL);
    cordon_jsonw_string(&json, "key", key);
    for (size_t i = 0; i < CACHE_TEXT_COUNT; i++) {
        const char *value = *cache_slot(facts, i);

        cordon_jsonw_string(&json, cache_texts[i].key, value != NULL ? value : "");
    }
    cordon_jsonw_i64(&json, "kind", facts->kind);
    cordon_jsonw_i64(&json, "can", facts->can);
    cordon_jsonw_bool(&json, "rootless", facts->rootless == CORDON_FACT_YES);
    cordon_jsonw_i64(&json, "cgroup_version",
                     facts->cgroup_version.known ? facts->cgroup_version.value : 0);
    cache_write_list(&json, "security", &facts->security);
    cache_write_list(&json, "warnings", &facts->warnings);
    cordon_jsonw_end_object(&json);
    return cordon_jsonw_finish(&json, err);
}

void cordon_engine_cache_save(const char *folder, const char *socket_path, const char *identity,
                              const cordon_engine_facts *facts)
{
    cordon_auto(cordon_buf) text = cordon_buf_make(CACHE_MAX);
    cordon_engine_facts borrowed = *facts;
    cordon_err ignored = CORDON_ERR_INIT;
    cordon_autoclose int dir = -1;
    char key[CACHE_KEY_MAX];
    char name[48];

    if (folder == NULL || facts->rootless == CORDON_FACT_UNKNOWN ||
        !cache_key(socket_path, identity, key, sizeof(key)) ||
        cache_write_facts(key, &borrowed, &text, &ignored) != 0)
        return;
    cache_name(socket_path, name, sizeof(name));
    dir = cordon_state_open(folder, &ignored);
    if (dir >= 0)
        cordon_state_replace(dir, name, text.data, text.length);
}

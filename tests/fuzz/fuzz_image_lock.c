/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock files of images from somebody who means harm. No crash, no leak; what is accepted holds
 * entries in their forms, each one of its kind once; an error is CONFIG, names the file, and leaves
 * the entries of before.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "image_lock.h"

#define FILE_NAME "/nonexistent/images.lock"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_entry(const cordon_image_lock *lock, size_t index)
{
    const cordon_image_entry *entry = &lock->entries[index];
    assert(cordon_image_name_is_known(entry->name));
    assert(strcmp(entry->engine, "docker") == 0 || strcmp(entry->engine, "podman") == 0);
    assert(strncmp(entry->id, "sha256:", 7) == 0 && strlen(entry->id) == 71);
    assert((entry->cli[0] == '\0') == (entry->version[0] == '\0'));
    assert(entry->recipe[0] == '\0' || strlen(entry->recipe) == 71);
    assert(strlen(entry->pinned) == 20);
    assert(cordon_image_lock_find(lock, entry->name, entry->engine, entry->architecture) == entry);
}

static void check_version(const cordon_image_lock *lock, const char *name)
{
    const char *version = NULL;
    cordon_err err = CORDON_ERR_INIT;
    if (cordon_image_lock_version(lock, name, &version, &err) == 0)
        assert(!version || version[0] != '\0');
    else
        assert(err.code == CORDON_ERR_REFUSED && !version);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cordon_image_lock lock = {0};
    cordon_err err = CORDON_ERR_INIT;
    if (cordon_image_lock_parse(FILE_NAME, (const char *)data, size, &lock, &err) != 0) {
        assert(err.code == CORDON_ERR_CONFIG && strstr(err.message, "image lock " FILE_NAME ": "));
        assert(lock.count == 0 && !lock.present);
    }
    assert(lock.count <= CORDON_IMAGE_LOCK_MAX);
    for (size_t i = 0; i < lock.count; i++)
        check_entry(&lock, i);
    for (const char *const *name = cordon_image_names; *name; name++)
        check_version(&lock, *name);
    return 0;
}

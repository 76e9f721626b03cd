/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets: keeping them; see secrets.h. Hiding them in output is in secrets_mask.c. */
#include "secrets.h"

#include "vendor_check.h"

#include <string.h>
#include <sys/mman.h>

#define NAME_BYTES_MAX 128

/* Room for all that is allowed; untouched pages cost nothing. */
#define MAPPING_BYTES                                                                              \
    ((size_t)CORDON_SECRETS_MAX * (NAME_BYTES_MAX + 1 + CORDON_SECRET_BYTES_MAX + 1))

static bool has_end(const char *name, const char *end)
{
    size_t length = strlen(name);
    size_t end_length = strlen(end);

    return length > end_length && strcmp(name + length - end_length, end) == 0;
}

static int check_name(const cordon_secrets *secrets, const char *name, cordon_err *err)
{
    size_t length = strlen(name);

    if (length == 0 || length > NAME_BYTES_MAX || !cordon_vendor_env_is_name(name, length))
        return CORDON_FAIL(
            err, CORDON_ERR_CONFIG,
            "secret %s: its name is the environment variable that the command reads: "
            "letters, digits and _, at most %d",
            CORDON_QUOTE(name), NAME_BYTES_MAX);
    if (cordon_vendor_env_is_reserved(name, length))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "secret %s: that variable is Cordon's or the system's to set; give the "
                           "secret the name that the command reads",
                           name);
    for (size_t i = 0; i < secrets->count; i++) {
        if (strcmp(secrets->items[i].name, name) == 0)
            return CORDON_FAIL(err, CORDON_ERR_CONFIG, "secret %s: given twice; keep one", name);
    }
    return 0;
}

static int check_value(const char *name, const char *value, size_t length, cordon_err *err)
{
    if (length == 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "secret %s: it is empty", name);
    if (length > CORDON_SECRET_BYTES_MAX)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "secret %s: %zu bytes, at most %d pass", name,
                           length, CORDON_SECRET_BYTES_MAX);
    if (memchr(value, '\0', length) != NULL)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "secret %s: it holds a NUL byte; no environment variable can", name);
    return 0;
}

/* In a core dump there is nothing of it; that it cannot be locked is the limit's business. */
static int secrets_map(cordon_secrets *secrets, cordon_err *err)
{
    void *mapping;

    if (secrets->mapping != NULL)
        return 0;
    mapping = mmap(NULL, MAPPING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    if (madvise(mapping, MAPPING_BYTES, MADV_DONTDUMP) != 0) {
        (void)munmap(mapping, MAPPING_BYTES);
        return CORDON_FAIL_ERRNO(err, errno, "madvise MADV_DONTDUMP");
    }
    secrets->mapping = mapping;
    secrets->mapping_bytes = MAPPING_BYTES;
    return 0;
}

/* The checks above bound what is copied, and the mapping has room for the most of it. */
static const char *secrets_copy(cordon_secrets *secrets, const char *bytes, size_t length)
{
    char *place = (char *)secrets->mapping + secrets->used_bytes;

    memcpy(place, bytes, length);
    place[length] = '\0';
    (void)mlock(place, length + 1);
    secrets->used_bytes += length + 1;
    return place;
}

int cordon_secrets_add(cordon_secrets *secrets, const char *name, const char *value, size_t length,
                       cordon_err *err)
{
    if (check_name(secrets, name, err) != 0 || check_value(name, value, length, err) != 0)
        return -1;
    if (secrets->count == CORDON_SECRETS_MAX)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "secret %s: over %d secrets", name,
                           CORDON_SECRETS_MAX);
    if (secrets_map(secrets, err) != 0)
        return -1;
    secrets->items[secrets->count] = (cordon_secret){
        .name = secrets_copy(secrets, name, strlen(name)),
        .value = secrets_copy(secrets, value, length),
        .length = length,
        .by_descriptor = has_end(name, CORDON_SECRET_DESCRIPTOR),
    };
    secrets->count++;
    return 0;
}

void cordon_secrets_clear(cordon_secrets *secrets)
{
    if (secrets->mapping != NULL) {
        explicit_bzero(secrets->mapping, secrets->used_bytes);
        (void)munmap(secrets->mapping, secrets->mapping_bytes);
    }
    *secrets = (cordon_secrets){0};
}

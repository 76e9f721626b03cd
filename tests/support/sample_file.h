/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded answers below tests/samples, and mutations of them: a text in it replaced by another.
 * CORDON_TEST_SAMPLES is the folder, from CMake.
 */
#ifndef CORDON_TESTS_SUPPORT_SAMPLE_FILE_H
#define CORDON_TESTS_SUPPORT_SAMPLE_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

/* The whole file as text; a recorded failure and NULL when it cannot be read. Free it. */
static inline char *sample_read(const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", CORDON_TEST_SAMPLES, name);
    FILE *file = fopen(path, "rbe");
    char *text = calloc(1, 1 << 18);
    size_t length = file && text ? fread(text, 1, (1 << 18) - 1, file) : 0;
    if (file)
        (void)fclose(file);
    TEST_RECORDF(length > 0, "no sample %s", path);
    if (length > 0)
        return text;
    free(text);
    return NULL;
}

/* A copy with the first `from` replaced by `to`; a recorded failure and NULL when it is not there.
 */
static inline char *sample_mutate(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    TEST_RECORDF(at != NULL, "the sample lacks %s", from);
    if (!at)
        return NULL;
    size_t before = (size_t)(at - text);
    size_t size = strlen(text) + strlen(to) + 1;
    char *copy = malloc(size);
    if (copy)
        (void)snprintf(copy, size, "%.*s%s%s", (int)before, text, to, at + strlen(from));
    return copy;
}

#endif

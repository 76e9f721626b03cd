/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded answers of Podman (tests/samples/podman), as they are and with one thing changed. */
#ifndef CORDON_TESTS_UNIT_PODMAN_SAMPLES_H
#define CORDON_TESTS_UNIT_PODMAN_SAMPLES_H

#include <stdlib.h>

#include "podman_decode.h"
#include "support/test.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* What is replaced by what, and what must be seen of it. */
typedef struct change {
    const char *sample;
    const char *old;
    const char *new;
    const char *part; /* what unmodelled, or the error's message, must have in it */
} change;

/* A recorded answer as text; free it. */
static inline char *sample(const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/podman/%s", CORDON_TEST_SAMPLES, name);
    FILE *file = fopen(path, "re");
    char *text = calloc(1, 65536);
    size_t length = file && text ? fread(text, 1, 65535, file) : 0;
    if (file)
        (void)fclose(file);
    TEST_RECORDF(length > 0, "no sample %s", path);
    return text;
}

/* The same with the first `old` replaced; a change that finds nothing to change is a failure. */
static inline char *changed(const char *name, const char *old, const char *new)
{
    cordon_autofree char *text = sample(name);
    char *place = text ? strstr(text, old) : NULL;
    if (!TEST_RECORDF(place != NULL, "%s has no %s", name, old))
        return CORDON_TAKE(text);
    size_t head = (size_t)(place - text);
    size_t size = strlen(text) + strlen(new) + 1;
    char *result = calloc(1, size);
    if (result)
        (void)snprintf(result, size, "%.*s%s%s", (int)head, text, new, place + strlen(old));
    return result;
}

static inline const char *joined(const cordon_fact_list *list)
{
    static char text[2048];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list->count && used < sizeof text - 1; i++) {
        int n = snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? " " : "", list->items[i]);
        used += n > 0 ? (size_t)n : 0;
    }
    return list->known ? text : "(unknown)";
}

#endif

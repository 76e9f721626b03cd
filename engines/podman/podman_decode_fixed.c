/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of libpod's container inspect that may hold one value only, or only Podman's own: whatever
 * else they hold is reported. They are how a changed default or a foreign setting shows.
 */
#include "podman_decode_internal.h"

#include <stdio.h>
#include <string.h>

#include "podman_internal.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Keys whose only acceptable value is this one; another is reported, absent or "" is fine. */
typedef struct constant {
    podman_section section;
    const char *key;
    const char *text;
} constant;

static const constant constants[] = {
    {PODMAN_ROOT, "KubeExitCodePropagation", "invalid"}, /* none was asked for */
    {PODMAN_STATE, "CheckpointedAt", PODMAN_NEVER},
    {PODMAN_STATE, "RestoredAt", PODMAN_NEVER},
    {PODMAN_CONFIG, "HealthcheckOnFailureAction", "none"},
    {PODMAN_CONFIG, "HealthLogDestination", "local"},
    {PODMAN_CONFIG, "Umask", "0022"},
    {PODMAN_CONFIG, "sdNotifyMode", "ignore"},
    {PODMAN_HOST, "Runtime", "oci"}, /* always; the real one is OCIRuntime */
    {PODMAN_HOST, "Cgroups", "default"},
};

/* Files that Podman makes for a container, in its own folder ".../<id>/userdata/". */
static const constant own_files[] = {
    {PODMAN_ROOT, "ConmonPidFile", "conmon.pid"},   {PODMAN_ROOT, "PidFile", "pidfile"},
    {PODMAN_ROOT, "ResolvConfPath", "resolv.conf"}, {PODMAN_ROOT, "HostnamePath", "hostname"},
    {PODMAN_ROOT, "OCIConfigPath", "config.json"},
    /* HostsPath is not here: with use_image_hosts there is none, and Podman 4 shows no other sign
       of it */
};

/* Annotations that Podman sets by itself; NULL is any value. Others may steer the OCI runtime. */
static const struct {
    const char *key;
    const char *text;
} annotations[] = {
    {"io.podman.annotations.autoremove", "FALSE"},
    {"io.podman.annotations.init", "FALSE"},
    {"io.podman.annotations.privileged", "FALSE"},
    {"io.podman.annotations.publish-all", "FALSE"},
    {"io.container.manager", "libpod"},
    {"io.kubernetes.cri-o.Created", NULL},
    {"org.systemd.property.KillSignal", "15"}, /* of the scope; the stop signal */
    {"org.systemd.property.TimeoutStopUSec", NULL},
};
/* Metadata that an image brings along (OCI image-spec, annotations.md), and its stop signal. */
#define IMAGE_ANNOTATION "org.opencontainers.image."

/* The text of a key, or "" when it says nothing; ret_at is valid when it does. */
static int text_at(const podman_decoding *d, const constant *c, cordon_json *ret_at,
                   const char **ret_text, cordon_err *err)
{
    cordon_json_place place = {0};
    cordon_json_string text = {0};
    *ret_text = "";
    if (cordon_json_get_any(d->section[c->section], c->key, &place, err) != 0)
        return -1;
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    if (cordon_json_as_string(place.value, &text, err) != 0)
        return -1;
    *ret_at = place.value;
    *ret_text = text.text;
    return 0;
}

static int decode_constants(podman_decoding *d, cordon_err *err)
{
    for (size_t i = 0; i < COUNT(constants); i++) {
        const char *text = NULL;
        cordon_json at = {0};
        if (text_at(d, &constants[i], &at, &text, err) != 0)
            return -1;
        if (*text && strcmp(text, constants[i].text) != 0 &&
            cordon_factread_odd(at, text, &d->facts->unmodelled, err) != 0)
            return -1;
    }
    return 0;
}

/* True for ".../<id>/userdata/<name>". */
static bool is_own_file(const podman_decoding *d, const char *path, const char *name)
{
    char tail[CORDON_ID_HEX + 64];
    int length = snprintf(tail, sizeof tail, "/%s/userdata/%s", d->facts->id, name);
    size_t total = strlen(path);
    return path[0] == '/' && total >= (size_t)length &&
           strcmp(path + total - (size_t)length, tail) == 0;
}

static int decode_own_files(podman_decoding *d, cordon_err *err)
{
    for (size_t i = 0; i < COUNT(own_files); i++) {
        const char *text = NULL;
        cordon_json at = {0};
        if (text_at(d, &own_files[i], &at, &text, err) != 0)
            return -1;
        if (*text && !is_own_file(d, text, own_files[i].text) &&
            cordon_factread_odd(at, text, &d->facts->unmodelled, err) != 0)
            return -1;
    }
    return 0;
}

bool podman_own_annotation(const char *key, const char *text)
{
    if (strncmp(key, IMAGE_ANNOTATION, sizeof IMAGE_ANNOTATION - 1) == 0)
        return true;
    for (size_t i = 0; i < COUNT(annotations); i++) {
        if (strcmp(annotations[i].key, key) == 0)
            return annotations[i].text == NULL || strcmp(annotations[i].text, text) == 0;
    }
    return false;
}

/* Those of Podman's own are read; the others stay behind for the leftovers. */
static int decode_annotations(podman_decoding *d, podman_section section, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_object(d->section[section], "Annotations", &place, err) != 0)
        return -1;
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(place.value); cordon_json_next(&it);) {
        cordon_json_string text = {0};
        if (cordon_json_type_of(it.value) != CORDON_JSON_TYPE_STRING)
            return cordon_json_fail(it.value, err, "expected string");
        if (strcmp(it.key, "io.podman.annotations.init") == 0 && d->facts->init == CORDON_FACT_YES)
            cordon_json_consume(it.value); /* the fact says it */
        else if (cordon_json_as_string(it.value, &text, err) != 0 ||
                 (!podman_own_annotation(it.key, text.text) &&
                  cordon_factread_odd(it.value, text.text, &d->facts->unmodelled, err) != 0))
            return -1;
    }
    return 0;
}

/* Secrets are written only if there are some (omitempty). */
static int decode_secrets(podman_decoding *d, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_array(d->section[PODMAN_CONFIG], "Secrets", &place, err) != 0)
        return -1;
    cordon_fact_list_known(&d->facts->secrets);
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(place.value); cordon_json_next(&it);) {
        const char *name = NULL;
        if (cordon_json_need_string(it.value, "Name", &name, err) != 0 ||
            cordon_fact_list_add(&d->facts->secrets, name, err) != 0)
            return -1;
        cordon_json_consume(it.value);
    }
    cordon_fact_list_sort(&d->facts->secrets);
    return 0;
}

int podman_read_fixed(podman_decoding *d, cordon_err *err)
{
    if (decode_secrets(d, err) != 0 || decode_constants(d, err) != 0 ||
        decode_own_files(d, err) != 0 || decode_annotations(d, PODMAN_CONFIG, err) != 0)
        return -1;
    return decode_annotations(d, PODMAN_HOST, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the container decoder share. One decoding holds the four objects of an
 * inspect answer; each step reads what has another shape than its fact.
 */
#ifndef CORDON_PODMAN_DECODE_INTERNAL_H
#define CORDON_PODMAN_DECODE_INTERNAL_H

#include "factread.h"
#include "podman_decode.h"

typedef enum podman_section {
    PODMAN_ROOT = 0,
    PODMAN_STATE,
    PODMAN_CONFIG,
    PODMAN_HOST,
    PODMAN_NETWORK,
    PODMAN_SECTIONS,
} podman_section;

typedef struct podman_decoding {
    cordon_json section[PODMAN_SECTIONS];
    int major;
    const char *static_dir; /* Podman's own folder for this container, "" when it is not told */
    cordon_container_facts *facts;
} podman_decoding;

/* Reports a value without a normal form: "path = "text"" in unmodelled. */
int podman_odd(podman_decoding *d, const char *path, const char *text, cordon_err *err)
    __attribute__((warn_unused_result));

/* A mandatory full id, bare ("sha256:" is taken off); borrowed from the document. */
int podman_read_id(cordon_json object, const char *key, const char **ret_id, cordon_err *err)
    __attribute__((warn_unused_result));

/* Privileges, namespaces, limits, devices, life cycle. */
int podman_read_host(podman_decoding *d, cordon_err *err) __attribute__((warn_unused_result));

/* Mounts, HostConfig.Tmpfs and HostConfig.Binds as one list of mounts. */
int podman_read_mounts(podman_decoding *d, cordon_err *err) __attribute__((warn_unused_result));

/* Secrets, and the keys that may hold one value only. */
int podman_read_fixed(podman_decoding *d, cordon_err *err) __attribute__((warn_unused_result));

/* True for an annotation that Podman sets by itself, or an image brings along as metadata. */
bool podman_own_annotation(const char *key, const char *text);

/* Endpoints, ports, resolver. */
int podman_read_endpoints(podman_decoding *d, cordon_err *err) __attribute__((warn_unused_result));

/* One reading of an OCI configuration. */
typedef struct podman_spec {
    cordon_json root;
    cordon_json process;
    cordon_json os; /* its part "linux" */
    const char *id; /* of the container */
    cordon_runtime_facts *facts;
} podman_spec;

/* Seccomp, namespaces, resources, devices. */
int podman_spec_read_linux(podman_spec *spec, cordon_err *err) __attribute__((warn_unused_result));

/* The mounts, without those that Podman always makes. */
int podman_spec_read_mounts(podman_spec *spec, cordon_err *err) __attribute__((warn_unused_result));

/* True for a folder of a storage driver's that holds the layers of one image or container. */
bool podman_is_layer(const char *path, size_t length);

/* "CAP_NET_RAW" and "RLIMIT_NOFILE" as "net_raw" and "nofile", with `rest` behind. */
int podman_add_lower(cordon_fact_list *list, const char *prefix, const char *name, const char *rest,
                     cordon_err *err) __attribute__((warn_unused_result));

/* Of a sorted list, each item once. */
void podman_drop_repeats(cordon_fact_list *sorted);

/* Keys that may hold anything, with the reasons; for the tests that measure them, too. */
extern const cordon_factread_harmless podman_container_harmless[];
extern const size_t podman_container_harmless_count;
extern const cordon_factread_harmless podman_network_harmless[];
extern const size_t podman_network_harmless_count;
extern const cordon_factread_harmless podman_volume_harmless[];
extern const size_t podman_volume_harmless_count;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ownership of facts: growing and freeing the lists and texts of facts.h. No engine, no policy,
 * no verdict. Structures are freed by tables of offsets: a new field of facts.h needs one word here
 * (the leak check of tests/unit/test_facts.c finds a forgotten one).
 */
#include "runtime_facts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* SECURITY: no list of an engine's answer may grow without bound. */
#define FACT_ITEMS_MAX 65536U

#define CONTAINER(field) offsetof(cordon_container_facts, field)
#define RUNTIME(field)   offsetof(cordon_runtime_facts, field)
#define NETWORK(field)   offsetof(cordon_network_facts, field)
#define IMAGE(field)     offsetof(cordon_image_facts, field)
#define COUNT(table)     (sizeof(table) / sizeof((table)[0]))

static const size_t container_texts[] = {
    CONTAINER(id),
    CONTAINER(name),
    CONTAINER(image_id),
    CONTAINER(started_at),
    CONTAINER(finished_at),
    CONTAINER(error),
    CONTAINER(user),
    CONTAINER(working_dir),
    CONTAINER(hostname),
    CONTAINER(domainname),
    CONTAINER(stop_signal),
    CONTAINER(apparmor_profile),
    CONTAINER(selinux_label),
    CONTAINER(runtime),
    CONTAINER(runtime_config),
    CONTAINER(pid_mode),
    CONTAINER(ipc_mode),
    CONTAINER(uts_mode),
    CONTAINER(user_mode),
    CONTAINER(cgroup_mode),
    CONTAINER(network_mode),
    CONTAINER(cgroup_parent),
    CONTAINER(restart_policy),
    CONTAINER(log_driver),
};

static const size_t container_lists[] = {
    CONTAINER(labels),
    CONTAINER(exec_ids),
    CONTAINER(entrypoint),
    CONTAINER(command),
    CONTAINER(argv),
    CONTAINER(environment),
    CONTAINER(healthcheck),
    CONTAINER(capabilities),
    CONTAINER(security_options),
    CONTAINER(masked_paths),
    CONTAINER(readonly_paths),
    CONTAINER(extra_groups),
    CONTAINER(volumes_from),
    CONTAINER(image_volumes),
    CONTAINER(devices),
    CONTAINER(secrets),
    CONTAINER(published_ports),
    CONTAINER(exposed_ports),
    CONTAINER(dns_servers),
    CONTAINER(dns_search),
    CONTAINER(dns_options),
    CONTAINER(extra_hosts),
    CONTAINER(links),
    CONTAINER(sysctls),
    CONTAINER(ulimits),
    CONTAINER(unmodelled),
};

static const size_t runtime_texts[] = {
    RUNTIME(working_dir),      RUNTIME(hostname),        RUNTIME(user),
    RUNTIME(selinux_label),    RUNTIME(seccomp_default), RUNTIME(apparmor_profile),
    RUNTIME(root_propagation),
};

static const size_t runtime_lists[] = {
    RUNTIME(argv),           RUNTIME(environment), RUNTIME(extra_groups),    RUNTIME(capabilities),
    RUNTIME(masked_paths),   RUNTIME(namespaces),  RUNTIME(seccomp_allowed), RUNTIME(uid_map),
    RUNTIME(readonly_paths), RUNTIME(gid_map),     RUNTIME(sysctls),         RUNTIME(devices),
    RUNTIME(device_rules),   RUNTIME(ulimits),     RUNTIME(hooks),           RUNTIME(unmodelled),
};

static const size_t network_texts[] = {NETWORK(id), NETWORK(name), NETWORK(driver)};

static const size_t network_lists[] = {
    NETWORK(subnets), NETWORK(gateways),  NETWORK(options),
    NETWORK(labels),  NETWORK(endpoints), NETWORK(unmodelled),
};

static const size_t image_texts[] = {IMAGE(id), IMAGE(os), IMAGE(architecture), IMAGE(user)};

static const size_t image_lists[] = {
    IMAGE(digests),       IMAGE(entrypoint), IMAGE(command), IMAGE(environment), IMAGE(volumes),
    IMAGE(exposed_ports), IMAGE(on_build),   IMAGE(labels),  IMAGE(layers),      IMAGE(unmodelled),
};

static void free_texts(void *object, const size_t *offsets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cordon_fact_text *text = (cordon_fact_text *)(void *)((char *)object + offsets[i]);
        free(*text);
    }
}

static void clear_lists(void *object, const size_t *offsets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cordon_fact_list_clear((cordon_fact_list *)(void *)((char *)object + offsets[i]));
}

void cordon_fact_list_clear(cordon_fact_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (cordon_fact_list){0};
}

void cordon_mount_facts_clear(cordon_mount_facts *mounts)
{
    for (size_t i = 0; i < mounts->count; i++) {
        cordon_mount_fact *mount = &mounts->items[i];
        free(mount->source);
        free(mount->place);
        free(mount->target);
        free(mount->propagation);
        cordon_fact_list_clear(&mount->options);
    }
    free(mounts->items);
    *mounts = (cordon_mount_facts){0};
}

static void clear_endpoint(cordon_endpoint_fact *endpoint)
{
    free(endpoint->network_key);
    free(endpoint->network_id);
    free(endpoint->ipv4);
    free(endpoint->requested_ipv4);
    free(endpoint->gateway);
    free(endpoint->ipv6);
    free(endpoint->mac);
    cordon_fact_list_clear(&endpoint->aliases);
}

void cordon_endpoint_facts_clear(cordon_endpoint_facts *endpoints)
{
    for (size_t i = 0; i < endpoints->count; i++)
        clear_endpoint(&endpoints->items[i]);
    free(endpoints->items);
    *endpoints = (cordon_endpoint_facts){0};
}

void cordon_container_facts_clear(cordon_container_facts *facts)
{
    free_texts(facts, container_texts, COUNT(container_texts));
    clear_lists(facts, container_lists, COUNT(container_lists));
    cordon_mount_facts_clear(&facts->mounts);
    cordon_endpoint_facts_clear(&facts->endpoints);
    *facts = (cordon_container_facts){0};
}

void cordon_runtime_facts_clear(cordon_runtime_facts *facts)
{
    free_texts(facts, runtime_texts, COUNT(runtime_texts));
    clear_lists(facts, runtime_lists, COUNT(runtime_lists));
    cordon_mount_facts_clear(&facts->mounts);
    *facts = (cordon_runtime_facts){0};
}

void cordon_network_facts_clear(cordon_network_facts *facts)
{
    free_texts(facts, network_texts, COUNT(network_texts));
    clear_lists(facts, network_lists, COUNT(network_lists));
    *facts = (cordon_network_facts){0};
}

void cordon_volume_facts_clear(cordon_volume_facts *facts)
{
    free(facts->name);
    free(facts->driver);
    free(facts->scope);
    free(facts->place);
    free(facts->created_at);
    cordon_fact_list_clear(&facts->options);
    cordon_fact_list_clear(&facts->labels);
    cordon_fact_list_clear(&facts->users);
    cordon_fact_list_clear(&facts->unmodelled);
    *facts = (cordon_volume_facts){0};
}

void cordon_image_facts_clear(cordon_image_facts *facts)
{
    free_texts(facts, image_texts, COUNT(image_texts));
    clear_lists(facts, image_lists, COUNT(image_lists));
    *facts = (cordon_image_facts){0};
}

/*
 * Room for one more item of `size` bytes, zeroed: the array to go on with, or NULL with err and the
 * old one untouched. Memory doubles at powers of two, so that the public structures need no
 * capacity field.
 */
static void *grow(void *items, size_t count, size_t size, cordon_err *err)
{
    if (count >= FACT_ITEMS_MAX) {
        cordon_err_set(err, CORDON_ERR_PROTOCOL, 0, "a list of more than %u items", FACT_ITEMS_MAX);
        return NULL;
    }
    void *grown = items;
    if ((count & (count - 1)) == 0)
        grown = realloc(items, (count == 0 ? 1 : 2 * count) * size);
    if (!grown) {
        cordon_err_set(err, CORDON_ERR_NOMEM, 0, "out of memory");
        return NULL;
    }
    memset((char *)grown + count * size, 0, size);
    return grown;
}

/* Takes ownership of text, also on failure. */
static int list_take(cordon_fact_list *list, char *text, cordon_err *err)
{
    cordon_autofree char *owned = text;
    if (!owned)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    char **items = grow(list->items, list->count, sizeof *items, err);
    if (!items)
        return -1;
    list->items = items;
    list->items[list->count++] = CORDON_TAKE(owned);
    list->known = true;
    return 0;
}

int cordon_fact_list_add(cordon_fact_list *list, const char *text, cordon_err *err)
{
    return list_take(list, strdup(text), err);
}

int cordon_fact_list_addf(cordon_fact_list *list, cordon_err *err, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    /* vasprintf leaves the pointer undefined when it fails */
    return list_take(list, length < 0 ? NULL : text, err);
}

void cordon_fact_list_known(cordon_fact_list *list)
{
    list->known = true;
}

static int compare_texts(const void *a, const void *b)
{
    const char *const *left = a;
    const char *const *right = b;
    return strcmp(*left, *right);
}

void cordon_fact_list_sort(cordon_fact_list *list)
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare_texts);
}

int cordon_fact_text_set(cordon_fact_text *slot, const char *text, cordon_err *err)
{
    char *copy = strdup(text);
    if (!copy)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    free(*slot);
    *slot = copy;
    return 0;
}

const char *cordon_fact_map_get(const cordon_fact_list *map, const char *key)
{
    size_t length = strlen(key);
    for (size_t i = 0; i < map->count; i++) {
        if (strncmp(map->items[i], key, length) == 0 && map->items[i][length] == '=')
            return map->items[i] + length + 1;
    }
    return NULL;
}

int cordon_mount_facts_add(cordon_mount_facts *mounts, cordon_mount_fact **ret_item,
                           cordon_err *err)
{
    cordon_mount_fact *items = grow(mounts->items, mounts->count, sizeof *items, err);
    if (!items)
        return -1;
    mounts->items = items;
    mounts->known = true;
    *ret_item = &mounts->items[mounts->count++];
    return 0;
}

int cordon_endpoint_facts_add(cordon_endpoint_facts *endpoints, cordon_endpoint_fact **ret_item,
                              cordon_err *err)
{
    cordon_endpoint_fact *items = grow(endpoints->items, endpoints->count, sizeof *items, err);
    if (!items)
        return -1;
    endpoints->items = items;
    endpoints->known = true;
    *ret_item = &endpoints->items[endpoints->count++];
    return 0;
}

const char *cordon_mount_type_name(cordon_mount_type type)
{
    static const char *const names[] = {NULL, "bind", "tmpfs", "volume", "image", "other"};
    size_t index = (size_t)type;

    return index < sizeof(names) / sizeof(names[0]) ? names[index] : NULL;
}

const char *cordon_run_state_name(cordon_run_state state)
{
    static const char *const names[] = {
        [CORDON_STATE_UNKNOWN] = "unknown",         [CORDON_STATE_CREATED] = "created",
        [CORDON_STATE_INITIALIZED] = "initialized", [CORDON_STATE_RUNNING] = "running",
        [CORDON_STATE_PAUSED] = "paused",           [CORDON_STATE_RESTARTING] = "restarting",
        [CORDON_STATE_STOPPING] = "stopping",       [CORDON_STATE_EXITED] = "exited",
        [CORDON_STATE_REMOVING] = "removing",       [CORDON_STATE_DEAD] = "dead",
    };
    size_t index = (size_t)state;
    return index < COUNT(names) ? names[index] : names[CORDON_STATE_UNKNOWN];
}

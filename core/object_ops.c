/* SPDX-License-Identifier: Apache-2.0 */
/* One table of the types of objects; see object_ops.h. */
#include "object_ops.h"

/* Where an id is looked at and removed. */
typedef struct object_at {
    const cordon_engine_ops *ops;
    void *impl;
    const char *id;
    cordon_deadline dl;
} object_at;

typedef struct object_row {
    int (*inspect)(const object_at *at, cordon_object_facts *facts, cordon_err *err);
    int (*remove)(const object_at *at, cordon_err *err);
} object_row;

void cordon_object_facts_clear(cordon_object_facts *facts)
{
    cordon_fact_list_clear(&facts->labels);
    cordon_fact_list_clear(&facts->users);
    cordon_fact_list_clear(&facts->exec_ids);
}

static void move(cordon_fact_list *to, cordon_fact_list *from)
{
    *to = *from;
    *from = (cordon_fact_list){0};
}

static int container_inspect(const object_at *at, cordon_object_facts *facts, cordon_err *err)
{
    cordon_auto(cordon_container_facts) shown = {0};

    if (at->ops->container_inspect(at->impl, at->id, at->dl, &shown, err) != 0)
        return -1;
    move(&facts->labels, &shown.labels);
    move(&facts->exec_ids, &shown.exec_ids);
    return 0;
}

static int container_remove(const object_at *at, cordon_err *err)
{
    return at->ops->container_remove(at->impl, at->id, at->dl, err);
}

static int network_inspect(const object_at *at, cordon_object_facts *facts, cordon_err *err)
{
    cordon_auto(cordon_network_facts) shown = {0};

    if (at->ops->network_inspect(at->impl, at->id, at->dl, &shown, err) != 0)
        return -1;
    move(&facts->labels, &shown.labels);
    move(&facts->users, &shown.endpoints);
    return 0;
}

static int network_remove(const object_at *at, cordon_err *err)
{
    return at->ops->network_remove(at->impl, at->id, at->dl, err);
}

static int volume_inspect(const object_at *at, cordon_object_facts *facts, cordon_err *err)
{
    cordon_auto(cordon_volume_facts) shown = {0};

    if (at->ops->volume_inspect(at->impl, at->id, at->dl, &shown, err) != 0)
        return -1;
    move(&facts->labels, &shown.labels);
    move(&facts->users, &shown.users);
    return 0;
}

static int volume_remove(const object_at *at, cordon_err *err)
{
    return at->ops->volume_remove(at->impl, at->id, at->dl, err);
}

static const object_row object_rows[] = {
    [CORDON_OBJECT_CONTAINER] = {container_inspect, container_remove},
    [CORDON_OBJECT_NETWORK] = {network_inspect, network_remove},
    [CORDON_OBJECT_VOLUME] = {volume_inspect, volume_remove},
};

/* SECURITY: a type without a row is never handled as another one. */
static const object_row *row_of(cordon_object_type type, cordon_err *err)
{
    size_t index = (size_t)type;

    if (index < sizeof(object_rows) / sizeof(object_rows[0]) && object_rows[index].inspect != NULL)
        return &object_rows[index];
    cordon_err_set(err, CORDON_ERR_INVALID, 0, "a run has no objects of type %u", (unsigned)type);
    return NULL;
}

int cordon_object_inspect(const cordon_engine_ops *ops, void *impl, cordon_object_type type,
                          const char *id, cordon_deadline dl, cordon_object_facts *ret_facts,
                          cordon_err *err)
{
    const object_at at = {.ops = ops, .impl = impl, .id = id, .dl = dl};
    const object_row *row = row_of(type, err);

    return row != NULL ? row->inspect(&at, ret_facts, err) : -1;
}

int cordon_object_remove(const cordon_engine_ops *ops, void *impl, cordon_object_type type,
                         const char *id, cordon_deadline dl, cordon_err *err)
{
    const object_at at = {.ops = ops, .impl = impl, .id = id, .dl = dl};
    const object_row *row = row_of(type, err);

    return row != NULL ? row->remove(&at, err) : -1;
}

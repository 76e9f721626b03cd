/* SPDX-License-Identifier: Apache-2.0 */
/* The fake's images and networks. */
#include <stdio.h>
#include <string.h>

#include "support/fake_impl.h"

/* --- Images -------------------------------------------------------------------------------- */

/* With the lock held: the image that a reference means, or NULL. */
static const fake_image *find_image(const fake_engine *fake, const char *reference)
{
    static const char prefix[] = "sha256:";
    if (strcmp(reference, FAKE_IMAGE_NAMED) == 0)
        reference = FAKE_IMAGE_ID;
    if (strncmp(reference, prefix, strlen(prefix)) == 0)
        reference += strlen(prefix);
    for (size_t i = 0; i < fake->image_count; i++) {
        if (strcmp(fake->images[i].id, reference) == 0)
            return &fake->images[i];
    }
    return NULL;
}

int fake_image_resolve(void *impl, const char *reference, cordon_deadline dl,
                       cordon_image_facts *ret_facts, cordon_err *err)
{
    fake_scope s;
    cordon_auto(cordon_image_facts) facts = {0};
    if (fake_enter(&s, impl, FAKE_IMAGE_RESOLVE, reference, dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    const fake_image *image = find_image(s.fake, reference);
    int rc =
        image ? fake_image_facts(s.fake, image->id, &facts, err) : fake_not_found("image", err);
    fake_unlock(s.fake);
    if (fake_leave(&s, rc, err) != 0)
        return -1;
    if (s.fake->lies.image)
        s.fake->lies.image(s.fake->lies.context, &facts);
    *ret_facts = facts;
    return facts = (cordon_image_facts){0}, 0;
}

int fake_image_load(void *impl, const void *tar, size_t length, cordon_deadline dl, cordon_err *err)
{
    fake_scope s;
    fake_image image = {0};
    int rc = 0;
    if (fake_enter(&s, impl, FAKE_IMAGE_LOAD, "", dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    if (!fake_tar_image(tar, length, &image))
        rc = CORDON_FAIL(err, CORDON_ERR_ENGINE, "fake: no image in the archive");
    else if (s.fake->image_count == FAKE_OBJECTS_MAX)
        rc = CORDON_FAIL(err, CORDON_ERR_ENGINE, "fake: too many images");
    else
        s.fake->images[s.fake->image_count++] = image;
    fake_unlock(s.fake);
    return fake_leave(&s, rc, err);
}

static bool is_used(const fake_engine *fake, const char *id)
{
    for (size_t i = 0; i < fake->container_count; i++) {
        if (fake->containers[i]->there && strcmp(fake->containers[i]->spec.image_id, id) == 0)
            return true;
    }
    return false;
}

int fake_image_remove(void *impl, const char *id, cordon_deadline dl, cordon_err *err)
{
    fake_scope s;
    int rc = 0;
    if (fake_enter_id(&s, impl, FAKE_IMAGE_REMOVE, id, dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    const fake_image *image = find_image(s.fake, id);
    if (image && is_used(s.fake, id))
        rc = CORDON_FAIL(err, CORDON_ERR_CONFLICT, "fake: a container uses image %s", id);
    else if (image)
        s.fake->images[image - s.fake->images] = s.fake->images[--s.fake->image_count];
    else
        rc = fake_not_found("image", err);
    fake_unlock(s.fake);
    return fake_leave(&s, rc, err);
}

static int list_image(const fake_engine *fake, const fake_image *image, cordon_listed_image *item,
                      cordon_err *err)
{
    cordon_auto(cordon_image_facts) facts = {0};
    if (fake_image_facts(fake, image->id, &facts, err) != 0 ||
        cordon_fact_text_set(&item->id, image->id, err) != 0)
        return -1;
    item->labels = facts.labels;
    facts.labels = (cordon_fact_list){0};
    item->size_bytes = (cordon_fact_int){.known = true, .value = 1000000};
    cordon_fact_list_known(&item->names);
    return image->name[0] ? cordon_fact_list_add(&item->names, image->name, err) : 0;
}

int fake_image_list(void *impl, cordon_deadline dl, cordon_image_list *ret_list, cordon_err *err)
{
    fake_scope s;
    cordon_auto(cordon_image_list) list = {0};
    int rc = 0;
    if (fake_enter(&s, impl, FAKE_IMAGE_LIST, "", dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    list.items = calloc(FAKE_OBJECTS_MAX, sizeof *list.items);
    for (size_t i = 0; rc == 0 && i < s.fake->image_count; i++)
        rc = list_image(s.fake, &s.fake->images[i], &list.items[list.count++], err);
    fake_unlock(s.fake);
    if (fake_leave(&s, rc, err) != 0)
        return -1;
    *ret_list = list;
    return list = (cordon_image_list){0}, 0;
}

/* --- Networks ------------------------------------------------------------------------------ */

/* With the lock held. */
static int network_room(fake_engine *fake, const cordon_network_spec *spec, cordon_err *err)
{
    if (fake->overlaps > 0) {
        fake->overlaps--;
        return CORDON_FAIL(err, CORDON_ERR_OVERLAP, "fake: %s is taken", spec->subnet);
    }
    for (size_t i = 0; i < fake->network_count; i++) {
        const fake_network *n = fake->networks[i];
        if (n->there && strcmp(n->spec.subnet, spec->subnet) == 0)
            return CORDON_FAIL(err, CORDON_ERR_OVERLAP, "fake: %s is taken", spec->subnet);
        if (n->there && strcmp(n->spec.name, spec->name) == 0)
            return CORDON_FAIL(err, CORDON_ERR_CONFLICT, "fake: the name is taken");
    }
    if (fake->network_count == FAKE_OBJECTS_MAX)
        return CORDON_FAIL(err, CORDON_ERR_ENGINE, "fake: too many networks");
    return 0;
}

/* With the lock held. */
static int network_add(fake_engine *fake, const cordon_network_spec *spec, char **ret_id,
                       cordon_err *err)
{
    if (network_room(fake, spec, err) != 0)
        return -1;
    fake_network *n = calloc(1, sizeof *n);
    char *id = calloc(1, CORDON_ID_HEX + 1);
    if (!n || !id)
        abort();
    fake_new_id(fake, n->id);
    memcpy(id, n->id, sizeof n->id);
    n->there = true;
    n->spec = fake_keep_network(&n->arena, spec);
    (void)snprintf(n->role, sizeof n->role, "%s", fake_role_of_labels(spec->labels));
    fake->networks[fake->network_count++] = n;
    fake_event(fake, CORDON_OBJECT_NETWORK, CORDON_EVENT_CREATE, n->id, NULL, "create", 0);
    *ret_id = id;
    return 0;
}

/* As libpod does, the network is told with the answer; a lie about it is a lie of a first look. */
static int tell_network(fake_engine *fake, const char *id, cordon_network_facts *ret_facts,
                        cordon_err *err)
{
    fake_network *n = fake_find_network(fake, id);
    if (fake_network_facts(n, fake, ret_facts, err) != 0)
        return -1;
    if (fake->lies.network)
        fake->lies.network(fake->lies.context, n->role, ++n->inspects, ret_facts);
    return 0;
}

int fake_network_create(void *impl, const cordon_network_spec *spec, cordon_deadline dl,
                        char **ret_id, cordon_network_facts *ret_facts, cordon_err *err)
{
    fake_scope s;
    cordon_autofree char *id = NULL;
    if (fake_enter(&s, impl, FAKE_NETWORK_CREATE, fake_role_of_labels(spec->labels), dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    int rc = network_add(s.fake, spec, &id, err);
    if (rc == 0 && ret_facts && s.fake->podman && !s.fault)
        rc = tell_network(s.fake, id, ret_facts, err);
    fake_unlock(s.fake);
    rc = fake_leave(&s, rc, err);
    /* A warning of the daemon is an error that comes with the id; a lost answer has none. */
    if (rc == 0 ||
        (id && s.fault && s.fault->kind == FAKE_FAULT_AFTER && s.fault->code == CORDON_ERR_WARNED))
        *ret_id = CORDON_TAKE(id);
    return rc;
}

int fake_network_inspect(void *impl, const char *id, cordon_deadline dl,
                         cordon_network_facts *ret_facts, cordon_err *err)
{
    fake_scope s;
    cordon_auto(cordon_network_facts) facts = {0};
    unsigned nth = 0;
    if (fake_enter_id(&s, impl, FAKE_NETWORK_INSPECT, id, dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    fake_network *n = fake_find_network(s.fake, id);
    int rc = n ? fake_network_facts(n, s.fake, &facts, err) : fake_not_found("network", err);
    nth = n ? ++n->inspects : 0;
    fake_unlock(s.fake);
    if (fake_leave(&s, rc, err) != 0)
        return -1;
    if (s.fake->lies.network)
        s.fake->lies.network(s.fake->lies.context, n->role, nth, &facts);
    *ret_facts = facts;
    return facts = (cordon_network_facts){0}, 0;
}

int fake_network_connect(void *impl, const char *network_id, const char *container_id,
                         const cordon_endpoint_spec *endpoint, cordon_deadline dl, cordon_err *err)
{
    fake_scope s;
    (void)endpoint, (void)container_id;
    if (fake_enter_id(&s, impl, FAKE_NETWORK_CONNECT, network_id, dl, err) != 0)
        return -1;
    return fake_leave(&s, CORDON_FAIL(err, CORDON_ERR_UNSUPPORTED, "fake: joins at create alone"),
                      err);
}

/* With the lock held. */
static bool in_use(const fake_engine *fake, const fake_network *network)
{
    for (size_t i = 0; i < fake->container_count; i++) {
        const fake_container *c = fake->containers[i];
        for (size_t j = 0; c->there && j < c->spec.endpoint_count; j++) {
            if (strcmp(c->spec.endpoints[j].network_id, network->id) == 0)
                return true;
        }
    }
    return false;
}

int fake_network_remove(void *impl, const char *id, cordon_deadline dl, cordon_err *err)
{
    fake_scope s;
    int rc = 0;
    if (fake_enter_id(&s, impl, FAKE_NETWORK_REMOVE, id, dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    fake_network *n = fake_find_network(s.fake, id);
    if (!n) {
        rc = fake_not_found("network", err);
    } else if (n->intruder || in_use(s.fake, n)) {
        rc = CORDON_FAIL(err, CORDON_ERR_CONFLICT, "fake: the network has active endpoints");
    } else {
        n->there = false;
        fake_event(s.fake, CORDON_OBJECT_NETWORK, CORDON_EVENT_REMOVE, id, NULL, "destroy", 0);
    }
    fake_unlock(s.fake);
    return fake_leave(&s, rc, err);
}

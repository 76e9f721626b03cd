/* SPDX-License-Identifier: Apache-2.0 */
/* The fake's volumes. Their name is their id. */
#include <stdio.h>
#include <string.h>

#include "support/fake_impl.h"

fake_volume *fake_find_volume(fake_engine *fake, const char *name)
{
    for (size_t i = 0; i < fake->volume_count; i++) {
        if (fake->volumes[i]->there && strcmp(fake->volumes[i]->spec.name, name) == 0)
            return fake->volumes[i];
    }
    return NULL;
}

fake_volume *fake_volume_of_role(fake_engine *fake, const char *role)
{
    for (size_t i = 0; i < fake->volume_count; i++) {
        if (fake->volumes[i]->there && strcmp(fake->volumes[i]->role, role) == 0)
            return fake->volumes[i];
    }
    return NULL;
}

/* As an operation on an object, by a name that a volume may have. */
static int enter_name(fake_scope *s, void *impl, fake_op op, const char *name, cordon_deadline dl,
                      cordon_err *err)
{
    if (!cordon_volume_is_name(name))
        fake_complain(impl, "\"%s\" is no volume's name", name ? name : "(null)");
    return fake_enter(s, impl, op, "scratch", dl, err);
}

/* With the lock held. */
static int volume_add(fake_engine *fake, const cordon_volume_spec *spec, cordon_err *err)
{
    if (fake_find_volume(fake, spec->name))
        return CORDON_FAIL(err, CORDON_ERR_CONFLICT, "fake: the name is taken");
    if (fake->volume_count == FAKE_OBJECTS_MAX)
        return CORDON_FAIL(err, CORDON_ERR_ENGINE, "fake: too many volumes");
    fake_volume *v = calloc(1, sizeof *v);
    if (!v)
        abort();
    v->there = true;
    v->spec = fake_keep_volume(&v->arena, spec);
    (void)snprintf(v->role, sizeof v->role, "%s", fake_role_of_labels(spec->labels));
    fake->volumes[fake->volume_count++] = v;
    fake_event(fake, CORDON_OBJECT_VOLUME, CORDON_EVENT_CREATE, spec->name, NULL, "create", 0);
    return 0;
}

int fake_volume_create(void *impl, const cordon_volume_spec *spec, cordon_deadline dl,
                       cordon_err *err)
{
    fake_scope s;
    if (enter_name(&s, impl, FAKE_VOLUME_CREATE, spec->name, dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    int rc = volume_add(s.fake, spec, err);
    fake_unlock(s.fake);
    return fake_leave(&s, rc, err);
}

static bool has_volume(const fake_container *c, const fake_volume *v)
{
    for (size_t i = 0; i < c->spec.mount_count; i++) {
        if (c->spec.mounts[i].type == CORDON_MOUNT_VOLUME &&
            strcmp(c->spec.mounts[i].source, v->spec.name) == 0)
            return true;
    }
    return false;
}

/* With the lock held. */
static int volume_facts(const fake_engine *fake, const fake_volume *v, cordon_volume_facts *f,
                        cordon_err *err)
{
    cordon_fact_list_known(&f->users);
    cordon_fact_list_known(&f->unmodelled);
    if (cordon_fact_text_set(&f->name, v->spec.name, err) != 0 ||
        cordon_fact_text_set(&f->driver, "local", err) != 0 ||
        cordon_fact_text_set(&f->scope, "local", err) != 0 ||
        cordon_fact_text_set(&f->place, FAKE_VOLUME_PLACE, err) != 0 ||
        cordon_fact_text_set(&f->created_at, v->created_at ? v->created_at : "a moment", err) !=
            0 ||
        cordon_fact_list_add(&f->options, "device=tmpfs", err) != 0 ||
        cordon_fact_list_addf(&f->options, err, "o=nr_blocks=%lld,nodev,nosuid,noexec",
                              (long long)v->spec.blocks) != 0 ||
        cordon_fact_list_add(&f->options, "type=tmpfs", err) != 0)
        return -1;
    for (size_t i = 0; i < v->spec.labels.count; i++) {
        if (cordon_fact_list_add(&f->labels, v->spec.labels.items[i], err) != 0)
            return -1;
    }
    for (size_t i = 0; i < fake->container_count; i++) {
        const fake_container *c = fake->containers[i];
        if (c->there && has_volume(c, v) && cordon_fact_list_add(&f->users, c->id, err) != 0)
            return -1;
    }
    if (v->intruder && cordon_fact_list_add(&f->users, FAKE_INTRUDER, err) != 0)
        return -1;
    cordon_fact_list_sort(&f->labels);
    cordon_fact_list_sort(&f->users);
    return 0;
}

int fake_volume_inspect(void *impl, const char *name, cordon_deadline dl,
                        cordon_volume_facts *ret_facts, cordon_err *err)
{
    fake_scope s;
    cordon_auto(cordon_volume_facts) facts = {0};
    if (enter_name(&s, impl, FAKE_VOLUME_INSPECT, name, dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    fake_volume *v = fake_find_volume(s.fake, name);
    int rc = v ? volume_facts(s.fake, v, &facts, err) : fake_not_found("volume", err);
    unsigned nth = v ? ++v->inspects : 0;
    fake_unlock(s.fake);
    if (fake_leave(&s, rc, err) != 0)
        return -1;
    if (s.fake->lies.volume)
        s.fake->lies.volume(s.fake->lies.context, nth, &facts);
    *ret_facts = facts;
    return facts = (cordon_volume_facts){0}, 0;
}

/* With the lock held. */
static bool in_use(const fake_engine *fake, const fake_volume *v)
{
    for (size_t i = 0; i < fake->container_count; i++) {
        if (fake->containers[i]->there && has_volume(fake->containers[i], v))
            return true;
    }
    return v->intruder;
}

int fake_volume_remove(void *impl, const char *name, cordon_deadline dl, cordon_err *err)
{
    fake_scope s;
    int rc = 0;
    if (enter_name(&s, impl, FAKE_VOLUME_REMOVE, name, dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    fake_volume *v = fake_find_volume(s.fake, name);
    if (!v) {
        rc = fake_not_found("volume", err);
    } else if (in_use(s.fake, v)) {
        rc = CORDON_FAIL(err, CORDON_ERR_CONFLICT, "fake: the volume is in use");
    } else {
        v->there = false;
        fake_event(s.fake, CORDON_OBJECT_VOLUME, CORDON_EVENT_REMOVE, name, NULL, "destroy", 0);
    }
    fake_unlock(s.fake);
    return fake_leave(&s, rc, err);
}

void fake_engine_remount(fake_engine *fake)
{
    fake_lock(fake);
    fake->remounts++;
    fake_unlock(fake);
}

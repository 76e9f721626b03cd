/* SPDX-License-Identifier: Apache-2.0 */
/* The fake's outside: making it, scripting it, tampering with it, reading its log. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "support/allocfail.h"
#include "support/fake_impl.h"

#pragma weak allocfail_pause
#pragma weak allocfail_resume

void fake_outside(bool begin)
{
    if (begin && allocfail_pause)
        allocfail_pause();
    if (!begin && allocfail_resume)
        allocfail_resume();
}

void fake_lock(fake_engine *fake)
{
    (void)pthread_mutex_lock(&fake->lock);
}

void fake_unlock(fake_engine *fake)
{
    (void)pthread_mutex_unlock(&fake->lock);
}

/* A lock of its own, because breaches are found with and without the fake's. */
static pthread_mutex_t complaint_lock = PTHREAD_MUTEX_INITIALIZER;

void fake_complain(fake_engine *fake, const char *format, ...)
{
    va_list arguments;
    (void)pthread_mutex_lock(&complaint_lock);
    va_start(arguments, format);
    if (!fake->complaint[0])
        (void)vsnprintf(fake->complaint, sizeof fake->complaint, format, arguments);
    va_end(arguments);
    (void)pthread_mutex_unlock(&complaint_lock);
}

const char *fake_op_name(fake_op op)
{
    static const char *const names[FAKE_OPS] = {
        [FAKE_OPEN] = "open",
        [FAKE_DESCRIBE] = "describe",
        [FAKE_IMAGE_RESOLVE] = "image_resolve",
        [FAKE_IMAGE_LOAD] = "image_load",
        [FAKE_IMAGE_REMOVE] = "image_remove",
        [FAKE_IMAGE_LIST] = "image_list",
        [FAKE_NETWORK_CREATE] = "network_create",
        [FAKE_NETWORK_INSPECT] = "network_inspect",
        [FAKE_NETWORK_CONNECT] = "network_connect",
        [FAKE_NETWORK_REMOVE] = "network_remove",
        [FAKE_VOLUME_CREATE] = "volume_create",
        [FAKE_VOLUME_INSPECT] = "volume_inspect",
        [FAKE_VOLUME_REMOVE] = "volume_remove",
        [FAKE_CONTAINER_CREATE] = "container_create",
        [FAKE_CONTAINER_INSPECT] = "container_inspect",
        [FAKE_CONTAINER_ATTACH] = "container_attach",
        [FAKE_CONTAINER_PREPARE] = "container_prepare",
        [FAKE_CONTAINER_RUNTIME] = "container_runtime",
        [FAKE_CONTAINER_START] = "container_start",
        [FAKE_CONTAINER_SIGNAL] = "container_signal",
        [FAKE_CONTAINER_WAIT] = "container_wait",
        [FAKE_CONTAINER_REMOVE] = "container_remove",
        [FAKE_CONTAINER_LOG] = "container_log",
        [FAKE_CONTAINER_CHANGES] = "container_changes",
        [FAKE_LIST] = "list_by_label",
        [FAKE_EVENTS_OPEN] = "events_open",
    };
    return op > FAKE_NOTHING && op < FAKE_OPS ? names[op] : "?";
}

void fake_engine_fault(fake_engine *fake, const fake_fault *fault)
{
    fake_lock(fake);
    if (fake->fault_count < FAKE_FAULTS_MAX)
        fake->faults[fake->fault_count++] = *fault;
    fake_unlock(fake);
}

void fake_engine_hook(fake_engine *fake, fake_hook *hook, void *context)
{
    fake->hook = hook;
    fake->hook_context = context;
}

void fake_engine_lie(fake_engine *fake, const fake_lies *lies)
{
    fake->lies = *lies;
}

void fake_engine_overlaps(fake_engine *fake, unsigned count)
{
    fake->overlaps = count;
}

void fake_engine_step(fake_engine *fake, const fake_step *step)
{
    fake->step = *step;
}

void fake_engine_proxy(fake_engine *fake, const fake_proxy *proxy)
{
    fake->proxy = *proxy;
}

/* --- Finding ------------------------------------------------------------------------------- */

fake_container *fake_find_container(fake_engine *fake, const char *id)
{
    for (size_t i = 0; i < fake->container_count; i++) {
        fake_container *c = fake->containers[i];
        if (c->there && strcmp(c->id, id) == 0)
            return c;
    }
    return NULL;
}

fake_network *fake_find_network(fake_engine *fake, const char *id)
{
    for (size_t i = 0; i < fake->network_count; i++) {
        fake_network *n = fake->networks[i];
        if (n->there && strcmp(n->id, id) == 0)
            return n;
    }
    return NULL;
}

fake_container *fake_container_of_role(fake_engine *fake, const char *role)
{
    for (size_t i = 0; i < fake->container_count; i++) {
        fake_container *c = fake->containers[i];
        if (c->there && strcmp(c->role, role) == 0)
            return c;
    }
    return NULL;
}

fake_network *fake_network_of_role(fake_engine *fake, const char *role)
{
    for (size_t i = 0; i < fake->network_count; i++) {
        fake_network *n = fake->networks[i];
        if (n->there && strcmp(n->role, role) == 0)
            return n;
    }
    return NULL;
}

/* --- Events -------------------------------------------------------------------------------- */

void fake_event(fake_engine *fake, cordon_object_type type, cordon_event_action action,
                const char *id, const char *container_id, const char *raw, int exit_code)
{
    char line[512];
    int length =
        snprintf(line, sizeof line, "%d %d %s %s %d %zu %s\n", (int)type, (int)action, id,
                 container_id ? container_id : "-", exit_code, fake->event_log.count + 1, raw);
    (void)fake_keep(&fake->event_log, line);
    for (size_t i = 0; i < fake->event_peer_count; i++)
        (void)!send(fake->event_peers[i], line, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void fake_network_events(fake_engine *fake, const fake_container *container,
                         cordon_event_action action, const char *raw)
{
    for (size_t i = 0; i < container->spec.endpoint_count; i++)
        fake_event(fake, CORDON_OBJECT_NETWORK, action, container->spec.endpoints[i].network_id,
                   container->id, raw, 0);
}

void fake_engine_emit(fake_engine *fake, const char *role, cordon_event_action action,
                      const char *raw_action)
{
    fake_lock(fake);
    const fake_container *c = fake_container_of_role(fake, role);
    const fake_network *n = fake_network_of_role(fake, role);
    const fake_volume *v = fake_volume_of_role(fake, role);
    if (v)
        fake_event(fake, CORDON_OBJECT_VOLUME, action, v->spec.name, NULL, raw_action, 0);
    if (c)
        fake_event(fake, CORDON_OBJECT_CONTAINER, action, c->id, NULL, raw_action, 0);
    if (n)
        fake_event(fake, CORDON_OBJECT_NETWORK, action, n->id,
                   "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd", raw_action,
                   0);
    fake_unlock(fake);
}

void fake_engine_end_events(fake_engine *fake)
{
    fake_lock(fake);
    for (size_t i = 0; i < fake->event_peer_count; i++)
        (void)close(fake->event_peers[i]);
    fake->event_peer_count = 0;
    fake_unlock(fake);
}

void fake_engine_intrude(fake_engine *fake, const char *role)
{
    fake_lock(fake);
    fake_network *n = fake_network_of_role(fake, role);
    fake_volume *v = fake_volume_of_role(fake, role);
    if (n)
        n->intruder = true;
    if (v)
        v->intruder = true;
    fake_unlock(fake);
}

void fake_engine_rename(fake_engine *fake, const char *role, const char *name)
{
    fake_lock(fake);
    fake_container *c = fake_container_of_role(fake, role);
    if (c)
        c->spec.name = name;
    fake_unlock(fake);
    fake_engine_emit(fake, role, CORDON_EVENT_RENAME, "rename");
}

void fake_engine_upload(fake_engine *fake, const char *role, const char *path)
{
    fake_lock(fake);
    fake_container *c = fake_container_of_role(fake, role);
    if (c)
        c->uploaded = path;
    fake_unlock(fake);
}

void fake_engine_vanish(fake_engine *fake, const char *role)
{
    fake_lock(fake);
    fake_container *c = fake_container_of_role(fake, role);
    fake_network *n = fake_network_of_role(fake, role);
    fake_volume *v = fake_volume_of_role(fake, role);
    if (n)
        n->there = false;
    if (v)
        v->there = false;
    fake_unlock(fake);
    if (c)
        fake_process_stop(c);
    fake_lock(fake);
    if (c)
        c->there = false;
    fake_unlock(fake);
}

/* --- The log ------------------------------------------------------------------------------- */

size_t fake_engine_call_count(fake_engine *fake)
{
    fake_lock(fake);
    size_t count = fake->call_count;
    fake_unlock(fake);
    return count;
}

fake_call fake_engine_call(fake_engine *fake, size_t index)
{
    fake_call call = {0};
    fake_lock(fake);
    if (index < fake->call_count)
        call = fake->calls[index];
    fake_unlock(fake);
    return call;
}

unsigned fake_engine_count(fake_engine *fake, fake_op op, const char *role)
{
    unsigned count = 0;
    fake_lock(fake);
    for (size_t i = 0; i < fake->call_count; i++)
        count += fake->calls[i].op == op && (!role || strcmp(fake->calls[i].object, role) == 0);
    fake_unlock(fake);
    return count;
}

size_t fake_engine_left(fake_engine *fake)
{
    size_t left = 0;
    fake_lock(fake);
    for (size_t i = 0; i < fake->container_count; i++)
        left += fake->containers[i]->there;
    for (size_t i = 0; i < fake->network_count; i++)
        left += fake->networks[i]->there;
    for (size_t i = 0; i < fake->volume_count; i++)
        left += fake->volumes[i]->there;
    fake_unlock(fake);
    return left;
}

const char *fake_engine_complaint(fake_engine *fake)
{
    (void)pthread_mutex_lock(&complaint_lock);
    const char *complaint = fake->complaint[0] ? fake->complaint : NULL;
    (void)pthread_mutex_unlock(&complaint_lock);
    return complaint;
}

bool fake_engine_released(fake_engine *fake, fake_release *ret_release)
{
    fake_lock(fake);
    *ret_release = (fake_release){
        .argv = &fake->argv,
        .environment = &fake->environment,
        .files = &fake->files,
        .rules = &fake->rules,
        .working_dir = fake->working_dir,
        .stdin_given = fake->stdin_given,
    };
    bool released = fake->released;
    fake_unlock(fake);
    return released;
}

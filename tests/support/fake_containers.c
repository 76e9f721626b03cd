/* SPDX-License-Identifier: Apache-2.0 */
/* The fake's containers, lists and events. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "kit/num.h"
#include "support/fake_impl.h"

/* How often a wait looks for cancel, which a condition variable does not see. */
#define WAIT_SLICE_MS 10

/* With the lock held. */
static int container_room(fake_engine *fake, const cordon_container_spec *spec, cordon_err *err)
{
    bool image = false;
    for (size_t i = 0; i < fake->image_count; i++)
        image = image || strcmp(fake->images[i].id, spec->image_id) == 0;
    if (!image)
        return fake_not_found("image", err);
    for (size_t i = 0; i < spec->endpoint_count; i++) {
        if (!fake_find_network(fake, spec->endpoints[i].network_id))
            return fake_not_found("network", err);
    }
    for (size_t i = 0; i < spec->mount_count; i++) {
        if (spec->mounts[i].type == CORDON_MOUNT_VOLUME &&
            !fake_find_volume(fake, spec->mounts[i].source))
            return fake_not_found("volume", err);
    }
    for (size_t i = 0; i < fake->container_count; i++) {
        const fake_container *c = fake->containers[i];
        if (c->there && strcmp(c->spec.name, spec->name) == 0)
            return CORDON_FAIL(err, CORDON_ERR_CONFLICT, "fake: the name is taken");
    }
    if (fake->container_count == FAKE_OBJECTS_MAX)
        return CORDON_FAIL(err, CORDON_ERR_ENGINE, "fake: too many containers");
    return 0;
}

/* With the lock held. */
static int container_add(fake_engine *fake, const cordon_container_spec *spec, char **ret_id,
                         cordon_err *err)
{
    if (container_room(fake, spec, err) != 0)
        return -1;
    fake_container *c = calloc(1, sizeof *c);
    char *id = calloc(1, CORDON_ID_HEX + 1);
    if (!c || !id)
        abort();
    fake_new_id(fake, c->id);
    memcpy(id, c->id, sizeof c->id);
    c->there = true;
    c->fake = fake;
    c->peer = -1;
    c->state = CORDON_STATE_CREATED;
    c->spec = fake_keep_container(&c->arena, spec);
    (void)snprintf(c->role, sizeof c->role, "%s", fake_role_of_labels(spec->labels));
    fake->containers[fake->container_count++] = c;
    fake_event(fake, CORDON_OBJECT_CONTAINER, CORDON_EVENT_CREATE, c->id, NULL, "create", 0);
    *ret_id = id;
    return 0;
}

int fake_container_create(void *impl, const cordon_container_spec *spec, cordon_deadline dl,
                          char **ret_id, cordon_err *err)
{
    fake_scope s;
    cordon_autofree char *id = NULL;
    if (fake_enter(&s, impl, FAKE_CONTAINER_CREATE, fake_role_of_labels(spec->labels), dl, err) !=
        0)
        return -1;
    fake_lock(s.fake);
    int rc = container_add(s.fake, spec, &id, err);
    fake_unlock(s.fake);
    rc = fake_leave(&s, rc, err);
    /* A warning of the daemon is an error that comes with the id; a lost answer has none. */
    if (rc == 0 ||
        (id && s.fault && s.fault->kind == FAKE_FAULT_AFTER && s.fault->code == CORDON_ERR_WARNED))
        *ret_id = CORDON_TAKE(id);
    return rc;
}

int fake_container_inspect(void *impl, const char *id, cordon_deadline dl,
                           cordon_container_facts *ret_facts, cordon_err *err)
{
    fake_scope s;
    cordon_auto(cordon_container_facts) facts = {0};
    if (fake_enter_id(&s, impl, FAKE_CONTAINER_INSPECT, id, dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    fake_container *c = fake_find_container(s.fake, id);
    int rc = c ? fake_container_facts(c, &facts, err) : fake_not_found("container", err);
    unsigned nth = c ? ++c->inspects : 0;
    fake_unlock(s.fake);
    if (fake_leave(&s, rc, err) != 0)
        return -1;
    if (s.fake->lies.container)
        s.fake->lies.container(s.fake->lies.context, c->role, nth, &facts);
    *ret_facts = facts;
    return facts = (cordon_container_facts){0}, 0;
}

/* With the lock held: gives the container its streams, if it is in the state for it. */
static int take_peer(fake_engine *fake, const char *id, int *peer, cordon_err *err)
{
    fake_container *c = fake_find_container(fake, id);
    if (!c)
        return fake_not_found("container", err);
    if (c->state != CORDON_STATE_CREATED || c->peer >= 0) {
        fake_complain(fake, "%s: attached twice, or after its start", c->role);
        return CORDON_FAIL(err, CORDON_ERR_CONFLICT, "fake: not to be attached now");
    }
    c->peer = cordon_take_fd(peer);
    fake_event(fake, CORDON_OBJECT_CONTAINER, CORDON_EVENT_ATTACH, id, NULL, "attach", 0);
    return 0;
}

int fake_container_attach(void *impl, const char *id, unsigned flags, cordon_deadline dl,
                          cordon_stream **ret_stream, cordon_err *err)
{
    fake_scope s;
    cordon_auto_ptr(cordon_stream) stream = NULL;
    int peer = -1;
    (void)flags;
    if (fake_enter_id(&s, impl, FAKE_CONTAINER_ATTACH, id, dl, err) != 0)
        return -1;
    int rc = stream_pairs_make(s.fake->pairs, &stream, &peer, err);
    fake_lock(s.fake);
    if (rc == 0)
        rc = take_peer(s.fake, id, &peer, err);
    fake_unlock(s.fake);
    cordon_cleanup_close(&peer);
    if (fake_leave(&s, rc, err) != 0)
        return -1;
    *ret_stream = CORDON_TAKE(stream);
    return 0;
}

/* With the lock held. */
static int start(fake_engine *fake, const char *id, cordon_err *err)
{
    fake_container *c = fake_find_container(fake, id);
    if (!c)
        return fake_not_found("container", err);
    if (c->state != CORDON_STATE_CREATED)
        return CORDON_FAIL(err, CORDON_ERR_CONFLICT, "fake: it was started already");
    for (size_t i = 0; i < c->spec.endpoint_count; i++) {
        if (!fake_find_network(fake, c->spec.endpoints[i].network_id))
            return fake_not_found("network", err);
    }
    c->state = CORDON_STATE_RUNNING;
    fake_network_events(fake, c, CORDON_EVENT_CONNECT, "connect");
    fake_event(fake, CORDON_OBJECT_CONTAINER, CORDON_EVENT_START, id, NULL, "start", 0);
    return fake_process_start(c, err);
}

int fake_container_start(void *impl, const char *id, cordon_deadline dl, cordon_err *err)
{
    fake_scope s;
    if (fake_enter_id(&s, impl, FAKE_CONTAINER_START, id, dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    int rc = start(s.fake, id, err);
    fake_unlock(s.fake);
    return fake_leave(&s, rc, err);
}

/* With the lock held. */
static int send_signal(fake_engine *fake, const char *id, const char *name, cordon_err *err)
{
    fake_container *c = fake_find_container(fake, id);
    if (!c)
        return fake_not_found("container", err);
    if (c->state != CORDON_STATE_RUNNING)
        return CORDON_FAIL(err, CORDON_ERR_CONFLICT, "fake: it is not running");
    if (strcmp(name, "SIGKILL") == 0) {
        c->kill = true;
        if (c->peer >= 0)
            (void)shutdown(c->peer, SHUT_RDWR);
    } else if (strcmp(name, "SIGTERM") == 0) {
        c->term = true;
    } else {
        fake_complain(fake, "signal %s", name);
    }
    fake_event(fake, CORDON_OBJECT_CONTAINER, CORDON_EVENT_KILL, id, NULL, "kill", 0);
    (void)pthread_cond_broadcast(&fake->changed);
    return 0;
}

int fake_container_signal(void *impl, const char *id, const char *signal_name, cordon_deadline dl,
                          cordon_err *err)
{
    fake_scope s;
    if (fake_enter_id(&s, impl, FAKE_CONTAINER_SIGNAL, id, dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    int rc = send_signal(s.fake, id, signal_name, err);
    fake_unlock(s.fake);
    return fake_leave(&s, rc, err);
}

/* One look: 1 it has ended, 0 it has not, -1 there is nothing to wait for. */
static int has_ended(fake_engine *fake, const char *id, int *ret_exit_code, cordon_err *err)
{
    fake_lock(fake);
    const fake_container *c = fake_find_container(fake, id);
    int rc = 0;
    if (!c)
        rc = fake_not_found("container", err);
    else if (c->state == CORDON_STATE_CREATED)
        rc = CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "fake: it was never started");
    else if (c->state == CORDON_STATE_EXITED)
        rc = 1;
    if (c && rc == 1)
        *ret_exit_code = c->exit_code;
    fake_unlock(fake);
    return rc;
}

static int await_end(fake_engine *fake, const char *id, cordon_deadline dl, int *ret_exit_code,
                     cordon_err *err)
{
    for (;;) {
        int rc = has_ended(fake, id, ret_exit_code, err);
        if (rc != 0)
            return rc > 0 ? 0 : -1;
        short ignored = 0;
        cordon_err passed = CORDON_ERR_INIT;
        (void)!cordon_deadline_poll(cordon_deadline_clamp_ms(dl, WAIT_SLICE_MS), -1, 0, "wait",
                                    &ignored, &passed);
        if (cordon_deadline_check(dl, "wait", err) != 0)
            return -1;
    }
}

int fake_container_wait(void *impl, const char *id, cordon_deadline dl, int *ret_exit_code,
                        cordon_err *err)
{
    fake_scope s;
    int code = 0;
    if (fake_enter_id(&s, impl, FAKE_CONTAINER_WAIT, id, dl, err) != 0)
        return -1;
    if (fake_leave(&s, await_end(s.fake, id, dl, &code, err), err) != 0)
        return -1;
    *ret_exit_code = code;
    return 0;
}

int fake_container_remove(void *impl, const char *id, cordon_deadline dl, cordon_err *err)
{
    fake_scope s;
    if (fake_enter_id(&s, impl, FAKE_CONTAINER_REMOVE, id, dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    fake_container *c = fake_find_container(s.fake, id);
    if (c && c->state == CORDON_STATE_RUNNING)
        fake_event(s.fake, CORDON_OBJECT_CONTAINER, CORDON_EVENT_KILL, id, NULL, "kill", 0);
    fake_unlock(s.fake);
    if (!c)
        return fake_leave(&s, fake_not_found("container", err), err);
    fake_process_stop(c);
    fake_lock(s.fake);
    c->there = false;
    fake_event(s.fake, CORDON_OBJECT_CONTAINER, CORDON_EVENT_REMOVE, id, NULL, "destroy", 0);
    fake_unlock(s.fake);
    return fake_leave(&s, 0, err);
}

int fake_container_log(void *impl, const char *id, size_t limit, cordon_deadline dl,
                       char **ret_text, cordon_err *err)
{
    static const char text[] = "the last line of the fake's log\n";
    fake_scope s;
    if (fake_enter_id(&s, impl, FAKE_CONTAINER_LOG, id, dl, err) != 0 ||
        fake_leave(&s, 0, err) != 0)
        return -1;
    size_t length = strlen(text);
    *ret_text = strdup(text + (limit < length ? length - limit : 0));
    return *ret_text ? 0 : CORDON_FAIL(err, CORDON_ERR_NOMEM, "fake: no memory");
}

/* With the lock held. Podman writes files of its own into /etc. */
static int changes_of(const fake_container *c, cordon_changes *changes, cordon_err *err)
{
    for (size_t i = 0; i < c->spec.mount_count; i++) {
        if (cordon_changes_add(changes, CORDON_CHANGE_ADDED, c->spec.mounts[i].target, err) != 0)
            return -1;
    }
    if (c->fake->podman && cordon_changes_add(changes, CORDON_CHANGE_MODIFIED, "/etc", err) != 0)
        return -1;
    return c->uploaded ? cordon_changes_add(changes, CORDON_CHANGE_ADDED, c->uploaded, err) : 0;
}

int fake_container_changes(void *impl, const char *id, cordon_deadline dl,
                           cordon_changes *ret_changes, cordon_err *err)
{
    fake_scope s;
    cordon_auto(cordon_changes) changes = {0};
    if (fake_enter_id(&s, impl, FAKE_CONTAINER_CHANGES, id, dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    const fake_container *c = fake_find_container(s.fake, id);
    int rc = c ? changes_of(c, &changes, err) : fake_not_found("container", err);
    fake_unlock(s.fake);
    if (fake_leave(&s, rc, err) != 0)
        return -1;
    *ret_changes = changes;
    return changes = (cordon_changes){0}, 0;
}

/* --- Lists --------------------------------------------------------------------------------- */

static int list_one(cordon_list *list, const char *id, const char *name, cordon_texts labels,
                    const char *label, cordon_err *err)
{
    bool matches = label == NULL;
    for (size_t i = 0; !matches && i < labels.count; i++)
        matches = strcmp(labels.items[i], label) == 0;
    if (!matches)
        return 0;
    cordon_listed *grown = reallocarray(list->items, list->count + 1, sizeof *grown);
    if (!grown)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "fake: no memory");
    list->items = grown;
    cordon_listed *item = &grown[list->count++];
    *item = (cordon_listed){.id = strdup(id), .name = strdup(name)};
    for (size_t i = 0; i < labels.count; i++) {
        if (cordon_fact_list_add(&item->labels, labels.items[i], err) != 0)
            return -1;
    }
    return 0;
}

int fake_list_by_label(void *impl, cordon_object_type type, const char *label, cordon_deadline dl,
                       cordon_list *ret_list, cordon_err *err)
{
    fake_scope s;
    cordon_auto(cordon_list) list = {0};
    int rc = 0;
    if (fake_enter(&s, impl, FAKE_LIST, "", dl, err) != 0)
        return -1;
    fake_lock(s.fake);
    for (size_t i = 0; type == CORDON_OBJECT_CONTAINER && i < s.fake->container_count; i++) {
        const fake_container *c = s.fake->containers[i];
        if (rc == 0 && c->there)
            rc = list_one(&list, c->id, c->spec.name, c->spec.labels, label, err);
    }
    for (size_t i = 0; type == CORDON_OBJECT_NETWORK && i < s.fake->network_count; i++) {
        const fake_network *n = s.fake->networks[i];
        if (rc == 0 && n->there)
            rc = list_one(&list, n->id, n->spec.name, n->spec.labels, label, err);
    }
    for (size_t i = 0; type == CORDON_OBJECT_VOLUME && i < s.fake->volume_count; i++) {
        const fake_volume *v = s.fake->volumes[i];
        if (rc == 0 && v->there)
            rc = list_one(&list, v->spec.name, v->spec.name, v->spec.labels, label, err);
    }
    fake_unlock(s.fake);
    if (fake_leave(&s, rc, err) != 0)
        return -1;
    *ret_list = list;
    return list = (cordon_list){0}, 0;
}

/* --- Events -------------------------------------------------------------------------------- */

int fake_events_open(void *impl, int64_t since_s, cordon_deadline dl, cordon_stream **ret_stream,
                     cordon_err *err)
{
    fake_scope s;
    cordon_auto_ptr(cordon_stream) stream = NULL;
    int peer = -1;
    if (fake_enter(&s, impl, FAKE_EVENTS_OPEN, "", dl, err) != 0)
        return -1;
    int rc = stream_pairs_make(s.fake->pairs, &stream, &peer, err);
    fake_lock(s.fake);
    for (size_t i = 0; rc == 0 && since_s != 0 && i < s.fake->event_log.count; i++) {
        const char *line = s.fake->event_log.items[i];
        (void)!send(peer, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    if (rc == 0 && s.fake->event_peer_count < FAKE_STREAMS_MAX)
        s.fake->event_peers[s.fake->event_peer_count++] = cordon_take_fd(&peer);
    fake_unlock(s.fake);
    cordon_cleanup_close(&peer);
    if (fake_leave(&s, rc, err) != 0)
        return -1;
    *ret_stream = CORDON_TAKE(stream);
    return 0;
}

/* The next blank-separated word of a line; "" at its end. */
static const char *word(char **at)
{
    char *begin = *at;
    size_t length = strcspn(begin, " \n");
    *at = begin + length + (begin[length] != '\0');
    begin[length] = '\0';
    return begin;
}

static int64_t word_number(char **at)
{
    const char *text = word(at);
    int64_t value = 0;
    (void)!cordon_num_i64(text, strlen(text), 0, INT32_MAX, &value, NULL);
    return value;
}

static int parse_line(char *line, cordon_event *ret_event, cordon_err *err)
{
    cordon_auto(cordon_event) event = {0};
    event.type = (cordon_object_type)word_number(&line);
    event.action = (cordon_event_action)word_number(&line);
    const char *id = word(&line);
    const char *container_id = word(&line);
    event.exit_code = (cordon_fact_int){event.action == CORDON_EVENT_DIE, word_number(&line)};
    event.time_ns = (cordon_fact_int){true, word_number(&line)};
    if (cordon_fact_text_set(&event.id, id, err) != 0 ||
        (strcmp(container_id, "-") != 0 &&
         cordon_fact_text_set(&event.container_id, container_id, err) != 0) ||
        cordon_fact_text_set(&event.raw_action, word(&line), err) != 0)
        return -1;
    *ret_event = event;
    return event = (cordon_event){0}, 0;
}

/* The lines of fake_event: "TYPE ACTION ID CONTAINER|- EXIT TIME RAW". */
int fake_events_parse(const char *bytes, size_t length, size_t *ret_used, cordon_event *ret_event,
                      cordon_err *err)
{
    char line[512];
    const char *end = memchr(bytes, '\n', length);
    size_t used = end ? (size_t)(end - bytes) + 1 : 0;
    if (!end) {
        *ret_used = 0;
        return 0;
    }
    if (used >= sizeof line)
        return CORDON_FAIL(err, CORDON_ERR_PROTOCOL, "fake: an event of %zu bytes", used);
    memcpy(line, bytes, used);
    line[used] = '\0';
    if (parse_line(line, ret_event, err) != 0)
        return -1;
    *ret_used = used;
    return 0;
}

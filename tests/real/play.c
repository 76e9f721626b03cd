/* SPDX-License-Identifier: Apache-2.0 */
/* See play.h. */
#include "play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY CORDON_ROLE_COUNT

const char *play_engine_path(void)
{
    return real.endpoint + strlen("unix://");
}

/* --- Which request it is ---------------------------------------------------------------------- */

static bool begins(const char *text, const char *head)
{
    return strncmp(text, head, strlen(head)) == 0;
}

/* "cordon-step-..." somewhere in the text tells the role, and the whole name is kept. */
static cordon_role role_of_name(play *p, const char *text)
{
    const char *name = text ? strstr(text, "cordon-") : NULL;
    for (int role = 0; name && role < CORDON_ROLE_COUNT; role++) {
        const char *word = cordon_role_name((cordon_role)role);
        if (!begins(name + strlen("cordon-"), word))
            continue;
        (void)snprintf(p->names[role], sizeof p->names[role], "%.*s",
                       (int)strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-"), name);
        return (cordon_role)role;
    }
    return NOBODY;
}

static cordon_role role_of_id(const play *p, const char *text)
{
    for (int role = 0; role < CORDON_ROLE_COUNT; role++) {
        if (p->ids[role][0] && begins(text, p->ids[role]))
            return (cordon_role)role;
    }
    return NOBODY;
}

/* What follows the version's prefix. */
static const char *without_prefix(const char *path)
{
    const char *libpod = strstr(path, "/libpod/");
    if (libpod)
        return libpod + strlen("/libpod");
    const char *second = path[0] == '/' && path[1] == 'v' ? strchr(path + 1, '/') : NULL;
    return second ? second : path;
}

/* whole: asking for the object itself is looking at it. */
static play_call call_of(const liar_exchange *x, const char *rest, bool whole)
{
    static const struct {
        const char *word;
        play_call call;
    } words[] = {
        {"/json", PLAY_INSPECT}, {"/attach", PLAY_ATTACH}, {"/start", PLAY_START},
        {"/wait", PLAY_WAIT},    {"/kill", PLAY_SIGNAL},   {"/connect", PLAY_CONNECT},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (begins(rest, words[i].word))
            return words[i].call;
    }
    if (strcmp(x->method, "DELETE") == 0)
        return PLAY_REMOVE;
    return whole && *rest == '\0' ? PLAY_INSPECT : PLAY_OTHER;
}

/* A network is asked for by its id, a volume by its name, in a filter of a list of containers. */
static cordon_role role_of_filter(const play *p, const char *path)
{
    static const char *const filters[] = {"network%22%3A%5B%22", "volume%22%3A%5B%22"};
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        const char *at = strstr(path, filters[i]);
        if (at)
            return role_of_id(p, at + strlen(filters[i]));
    }
    return NOBODY;
}

static void recognise_create(play *p, const char *path, const char *body, play_request *ret)
{
    bool in_path = strstr(path, "name=cordon-") != NULL;
    const char *name = body;
    if (begins(path, "/containers/create"))
        name = in_path ? path : strstr(body, "\"name\":\"cordon-");
    *ret = (play_request){PLAY_CREATE, role_of_name(p, name), 0};
}

static void recognise(play *p, const liar_exchange *x, play_request *ret)
{
    static const char *const kinds[] = {"/containers/", "/networks/", "/volumes/"};
    const char *path = without_prefix(x->path);
    *ret = (play_request){.call = PLAY_OTHER, .role = NOBODY};
    if (begins(path, "/events"))
        ret->call = PLAY_EVENTS;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const char *id = path + strlen(kinds[i]);
        if (!begins(path, kinds[i]))
            continue;
        if (begins(id, "create")) {
            recognise_create(p, path, cordon_buf_text(&x->request), ret);
        } else if (begins(path, "/containers/json")) {
            ret->role = role_of_filter(p, path);
            ret->call = ret->role != NOBODY ? PLAY_MEMBERS : PLAY_OTHER;
        } else {
            ret->role = role_of_id(p, id);
            if (ret->role != NOBODY)
                ret->call = call_of(x, id + strlen(p->ids[ret->role]), i > 0);
        }
    }
}

/* --- Hooks ------------------------------------------------------------------------------------ */

static play_request noted(const liar_exchange *x)
{
    return (play_request){(play_call)x->note[0], (cordon_role)x->note[1], x->note[2]};
}

static liar_word on_ask(void *context, liar_exchange *x)
{
    play *p = context;
    play_request r;
    (void)pthread_mutex_lock(&p->lock);
    recognise(p, x, &r);
    r.nth = ++p->counts[r.call][r.role];
    if (r.call == PLAY_CREATE && r.role != NOBODY) {
        free(p->bodies[r.role]);
        p->bodies[r.role] = strdup(cordon_buf_text(&x->request));
    }
    (void)pthread_mutex_unlock(&p->lock);
    x->note[0] = r.call;
    x->note[1] = r.role;
    x->note[2] = r.nth;
    return p->hooks.ask ? p->hooks.ask(p, &r, x) : LIAR_PASS;
}

/*
 * {"Id":"..."} of Docker's and libpod's containers, {"id":"..."} of libpod's networks; a volume's
 * is its name.
 */
static void note_id(play *p, cordon_role role, const char *answer)
{
    if (cordon_role_type(role) == CORDON_OBJECT_VOLUME)
        (void)snprintf(p->ids[role], sizeof p->ids[role], "%.*s", CORDON_ID_HEX, p->names[role]);
    const char *id = strstr(answer, "\"Id\":\"");
    if (!id)
        id = strstr(answer, "\"id\":\"");
    if (id && strlen(id) > 6 + CORDON_ID_HEX)
        (void)snprintf(p->ids[role], sizeof p->ids[role], "%.*s", CORDON_ID_HEX, id + 6);
}

static liar_word on_answer(void *context, liar_exchange *x)
{
    play *p = context;
    play_request r = noted(x);
    (void)pthread_mutex_lock(&p->lock);
    if (r.call == PLAY_CREATE && r.role != NOBODY && x->status / 100 == 2)
        note_id(p, r.role, cordon_buf_text(&x->answer));
    p->starts += r.call == PLAY_START && r.role != NOBODY;
    (void)pthread_mutex_unlock(&p->lock);
    return p->hooks.answer ? p->hooks.answer(p, &r, x) : LIAR_PASS;
}

static liar_word on_piece(void *context, const liar_exchange *x, bool to_engine, char *bytes,
                          size_t length)
{
    play *p = context;
    play_request r = noted(x);
    return p->hooks.piece ? p->hooks.piece(p, &r, to_engine, bytes, length) : LIAR_PASS;
}

bool play_edit(liar_exchange *x, const char *path, const char *value, const char *insert)
{
    cordon_auto(json_text) json = {0};
    cordon_err err = CORDON_ERR_INIT;
    if (!json_text_read(cordon_buf_text(&x->request), &json))
        return false;
    size_t at = json_text_find(&json, path);
    if (at == JSON_TEXT_NONE)
        return false;
    cordon_autofree char *text = insert  ? json_text_extend(&json, at, insert)
                                 : value ? json_text_replace(&json, at, value)
                                         : json_text_drop(&json, at);
    cordon_buf_reset(&x->request);
    return text && cordon_buf_append_text(&x->request, text, &err) == 0;
}

/* --- Beginning and end ------------------------------------------------------------------------ */

bool play_two_steps(play_steps *s, const char *script, const char *deadline, call *ret_call)
{
    static unsigned number;
    char name[32];
    char text[320];
    (void)snprintf(name, sizeof name, "two-steps-%u.json", ++number);
    (void)snprintf(s->approved, sizeof s->approved, "[\"true\"], [\"sh\", \"-c\", \"%s\"]", script);
    (void)snprintf(text, sizeof text,
                   "[{\"run\": [\"true\"]}, {\"run\": [\"sh\", \"-c\", \"%s\"]}]\n", script);
    const char *const options[] = {"--deadline", deadline, "--steps", real_path(name), NULL};
    memcpy(s->options, options, sizeof options);
    *ret_call = (call){.options = s->options, .approved = s->approved, .network = "none"};
    return real_file(name, text);
}

bool play_begin(play *p, call what, const play_hooks *hooks)
{
    const liar_hooks own = {p, on_ask, on_answer, on_piece};
    *p = (play){.hooks = *hooks};
    (void)pthread_mutex_init(&p->lock, NULL);
    p->liar = liar_start(play_engine_path(), &own);
    if (!CHECK(p->liar != NULL))
        return false;
    what.endpoint = liar_endpoint(p->liar);
    return cordon_start(&what, &p->process);
}

bool play_end(play *p, outcome *ret_outcome)
{
    *ret_outcome = (outcome){.process = {.out_fd = -1, .err_fd = -1}};
    bool ok = p->liar && cordon_end(&p->process, ret_outcome);
    liar_stop(p->liar);
    for (int role = 0; role < CORDON_ROLE_COUNT; role++)
        free(p->bodies[role]);
    running_clear(&p->process);
    (void)pthread_mutex_destroy(&p->lock);
    return ok;
}

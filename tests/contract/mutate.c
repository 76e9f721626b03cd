/* SPDX-License-Identifier: Apache-2.0 */
/* See mutate.h. */
#include "mutate.h"

#include "support/facts_text.h"
#include "support/json_text.h"
#include "support/sample_run_file.h"

#define TEXT_MAX (1U << 18)

/* One recorded answer and everything that its mutants are held against. */
typedef struct subject {
    const mutate_engine *engine;
    const sample_recorded *recorded;
    cordon_role role;
    cordon_round round;
    const char *name; /* of its file */
    char *json;       /* as recorded */
    char *members;    /* as recorded, or NULL */
    char *first;      /* running containers and volumes: the created reading */
    bool in_members;  /* it is the members that are mutated */
    cordon_buf facts; /* of the recording, as text */
} subject;

typedef struct tally {
    unsigned mutants;
    unsigned refused;
    unsigned unread;
    unsigned listed; /* on a list of the decoder, of core's table, or of the excuses */
    unsigned survived;
} tally;

static cordon_object_type type_of(const subject *s)
{
    return cordon_role_type(s->role);
}

/* --- What becomes of one text ----------------------------------------------------------------- */

typedef struct verdict {
    cordon_err err;
    cordon_refusal refusal;
    cordon_buf facts; /* as text, once it could be decoded */
} verdict;

static void judge_unchanged(const subject *s, const cordon_container_facts *actual, verdict *v)
{
    cordon_auto(cordon_container_facts) first = {0};
    cordon_tally ignored = {0};
    if (s->first && s->engine->container(s->first, &first, &v->err) == 0)
        (void)!cordon_validate_unchanged(cordon_role_name(s->role), &first, actual, &ignored,
                                         &v->refusal, &v->err);
}

static void judge_container(const subject *s, const char *json, verdict *v)
{
    cordon_auto(cordon_container_facts) expected = {0};
    cordon_auto(cordon_container_facts) actual = {0};
    cordon_tally ignored = {0};
    const sample_run *run = &s->recorded->run;
    if (cordon_expect_container(&run->plan, s->role, &run->ids, s->round, &expected, &v->err) !=
            0 ||
        s->engine->container(json, &actual, &v->err) != 0)
        return;
    (void)facts_text_container(&actual, &v->facts);
    if (cordon_validate_container(cordon_role_name(s->role), &expected, &actual, s->round, &ignored,
                                  &v->refusal, &v->err) == 0)
        judge_unchanged(s, &actual, v);
}

static void judge_network(const subject *s, const char *json, const char *members, verdict *v)
{
    cordon_auto(cordon_network_facts) expected = {0};
    cordon_auto(cordon_network_facts) actual = {0};
    cordon_tally ignored = {0};
    const sample_run *run = &s->recorded->run;
    if (cordon_expect_network(&run->plan, s->role, &run->ids, s->round, &expected, &v->err) != 0 ||
        s->engine->network(json, members, &actual, &v->err) != 0)
        return;
    (void)facts_text_network(&actual, &v->facts);
    (void)!cordon_validate_network(cordon_role_name(s->role), &expected, &actual, s->round,
                                   &ignored, &v->refusal, &v->err);
}

/* The created reading names the place that a running volume must still have. */
static int expect_volume(const subject *s, cordon_volume_facts *ret_expected, cordon_err *err)
{
    static const cordon_run_ids none;
    const sample_run *run = &s->recorded->run;
    cordon_auto(cordon_volume_facts) first = {0};
    if (!s->first)
        return cordon_expect_volume(&run->plan, &none, NULL, ret_expected, err);
    if (s->engine->volume(s->first, "[]", &first, err) != 0)
        return -1;
    return cordon_expect_volume(&run->plan, &run->ids, &first, ret_expected, err);
}

static void judge_volume(const subject *s, const char *json, const char *members, verdict *v)
{
    cordon_auto(cordon_volume_facts) expected = {0};
    cordon_auto(cordon_volume_facts) actual = {0};
    cordon_tally ignored = {0};
    if (expect_volume(s, &expected, &v->err) != 0 ||
        s->engine->volume(json, members, &actual, &v->err) != 0)
        return;
    (void)facts_text_volume(&actual, &v->facts);
    (void)!cordon_validate_volume(cordon_role_name(s->role), &expected, &actual, s->round, &ignored,
                                  &v->refusal, &v->err);
}

static void judge(const subject *s, const char *text, verdict *v)
{
    const char *json = s->in_members ? s->json : text;
    const char *members = s->in_members ? text : s->members;
    *v = (verdict){.err = CORDON_ERR_INIT, .facts = cordon_buf_make(TEXT_MAX)};
    if (type_of(s) == CORDON_OBJECT_CONTAINER)
        judge_container(s, text, v);
    else if (type_of(s) == CORDON_OBJECT_NETWORK)
        judge_network(s, json, members, v);
    else
        judge_volume(s, json, members, v);
}

/* --- Why a mutant may pass -------------------------------------------------------------------- */

static bool on_decoder_list(const subject *s, const char *path)
{
    const mutate_harmless *list = &s->engine->harmless[type_of(s)];
    for (size_t i = 0; !s->in_members && i < list->count; i++) {
        if (cordon_factread_path_matches(list->items[i].path, path))
            return true;
    }
    return false;
}

static const cordon_rule *rule_of(const subject *s, const char *fact, size_t length)
{
    const struct {
        const cordon_rule *rules;
        size_t count;
    } tables[] = {
        [CORDON_OBJECT_CONTAINER] = {cordon_container_rules, cordon_container_rule_count},
        [CORDON_OBJECT_NETWORK] = {cordon_network_rules, cordon_network_rule_count},
        [CORDON_OBJECT_VOLUME] = {cordon_volume_rules, cordon_volume_rule_count},
    };
    const cordon_rule *rules = tables[type_of(s)].rules;
    for (size_t i = 0; i < tables[type_of(s)].count; i++) {
        if (strlen(rules[i].name) == length && memcmp(rules[i].name, fact, length) == 0)
            return &rules[i];
    }
    return NULL;
}

/*
 * A line of facts that differs from the recording: harmless by core's table, or no longer told and
 * vouched for by another witness.
 */
static bool difference_is_listed(const subject *s, const char *line, size_t length)
{
    const char *equals = memchr(line, '=', length);
    size_t name = equals ? (size_t)(equals - line) : 0;
    const cordon_rule *rule = rule_of(s, line, name);
    if (!rule)
        return false;
    if (rule->kind == CORDON_RULE_HARMLESS)
        return true;
    bool silent = length == name + 2 && equals[1] == '?';
    return silent && rule->witness && (s->role == CORDON_ROLE_STEP || s->engine->runtime_told);
}

/* True when all differing lines are listed, and there is at least one. */
static bool on_core_list(const subject *s, const cordon_buf *now)
{
    const char *a = cordon_buf_text(&s->facts);
    const char *b = cordon_buf_text(now);
    bool any = false;
    while (*a && *b) {
        size_t a_length = strcspn(a, "\n");
        size_t b_length = strcspn(b, "\n");
        if (a_length != b_length || memcmp(a, b, a_length) != 0) {
            if (!difference_is_listed(s, b, b_length))
                return false;
            any = true;
        }
        a += a_length + 1;
        b += b_length + 1;
    }
    return any && *a == *b;
}

static bool excuses(const mutate_excuses *list, const char *path, char kind)
{
    for (size_t i = 0; i < list->count; i++) {
        const mutate_excuse *excuse = &list->items[i];
        if ((excuse->kinds[0] == '*' || strchr(excuse->kinds, kind)) &&
            cordon_factread_path_matches(excuse->path, path))
            return true;
    }
    return false;
}

static bool is_excused(const subject *s, const char *path, char kind)
{
    char whole[400];
    (void)snprintf(whole, sizeof whole, "$%s%s", s->in_members ? ".members" : "", path + 1);
    /* Of members only what tells nothing of who they are. */
    if (s->in_members && cordon_factread_path_matches("$[*].Id", path))
        return false;
    return excuses(&s->engine->excuses, whole, kind) || excuses(&s->engine->placed, whole, kind);
}

static bool is_empty_at(const json_text *json, size_t at)
{
    static const char *const empty[] = {"null", "false", "0", "\"\"", "[]", "{}"};
    const json_text_place *place = &json->places[at];
    size_t length = place->end - place->begin;
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        if (strlen(empty[i]) == length && memcmp(empty[i], json->text + place->begin, length) == 0)
            return true;
    }
    return false;
}

/*
 * What holds nothing - or one thing that does not - and is left out, nulled or emptied: it says
 * what an older engine says by not having the key, if no fact depends on it.
 */
static bool is_empty_and_unread(const subject *s, const json_text *json, size_t at, char kind,
                                const cordon_buf *now)
{
    bool is_empty =
        is_empty_at(json, at) || (json->places[at].count == 1 && is_empty_at(json, at + 1));
    return is_empty && strchr("dne", kind) &&
           strcmp(cordon_buf_text(&s->facts), cordon_buf_text(now)) == 0;
}

/* --- One mutant ------------------------------------------------------------------------------- */

static void count_verdict(const subject *s, const json_text *json, size_t at, char kind,
                          const char *mutant, const verdict *v, tally *t)
{
    const char *path = json->places[at].path;
    t->mutants++;
    if (v->err.code == CORDON_ERR_REFUSED) {
        bool told = v->refusal.code != CORDON_REFUSED_NONE && v->refusal.fact[0] != '\0';
        t->refused++;
        TEST_RECORDF(told, "%s %s %c: refused without a code and a fact", s->name, path, kind);
    } else if (v->err.code == CORDON_ERR_PROTOCOL) {
        t->unread++;
        TEST_RECORDF(strchr(v->err.message, '$') || strstr(v->err.message, "byte"),
                     "%s %s %c: unreadable without a place: %s", s->name, path, kind,
                     v->err.message);
    } else if (v->err.code == CORDON_OK &&
               (on_decoder_list(s, path) || on_core_list(s, &v->facts) ||
                is_excused(s, path, kind) || is_empty_and_unread(s, json, at, kind, &v->facts))) {
        t->listed++;
    } else {
        t->survived++;
        TEST_RECORDF(false, "SURVIVED %s %s %c (%.60s) %s", s->name, path, kind, mutant,
                     v->err.message);
    }
}

/* Takes the text. */
static void try(const subject *s, const json_text *json, size_t at, char kind, char *text,
                const char *what, tally *t)
{
    verdict v;
    if (!text)
        return;
    judge(s, text, &v);
    count_verdict(s, json, at, kind, what, &v, t);
    cordon_buf_clear(&v.facts);
    free(text);
}

static void replace(const subject *s, const json_text *json, size_t at, char kind,
                    const char *value, tally *t)
{
    const json_text_place *place = &json->places[at];
    size_t length = place->end - place->begin;
    if (strlen(value) == length && memcmp(json->text + place->begin, value, length) == 0)
        return;
    try(s, json, at, kind, json_text_replace(json, at, value), value, t);
}

/* Another value of the same type. */
static void flip(const subject *s, const json_text *json, size_t at, tally *t)
{
    const json_text_place *place = &json->places[at];
    const char *text = json->text + place->begin;
    int length = (int)(place->end - place->begin);
    char value[8192];
    (void)snprintf(value, sizeof value, "%.*s1", length, text);
    if (place->type == JSON_TEXT_BOOL)
        replace(s, json, at, 'f', *text == 't' ? "false" : "true", t);
    if (place->type == JSON_TEXT_NUMBER)
        replace(s, json, at, 'f', *text == '0' ? "1" : value, t);
    if (place->type == JSON_TEXT_NULL)
        replace(s, json, at, 'f', "true", t);
    if (place->type != JSON_TEXT_STRING)
        return;
    (void)snprintf(value, sizeof value, "%.*sx\"", length - 1, text);
    replace(s, json, at, 'f', value, t);
    (void)snprintf(value, sizeof value, "\"x%.*s", length - 1, text + 1);
    replace(s, json, at, 'f', value, t);
}

static void retype(const subject *s, const json_text *json, size_t at, tally *t)
{
    static const char *const values[] = {"7", "\"mutant\"", "true", "[7]", "{\"mutant\": 7}"};
    static const json_text_type types[] = {JSON_TEXT_NUMBER, JSON_TEXT_STRING, JSON_TEXT_BOOL,
                                           JSON_TEXT_ARRAY, JSON_TEXT_OBJECT};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (types[i] != json->places[at].type)
            replace(s, json, at, 'r', values[i], t);
    }
}

static void empty(const subject *s, const json_text *json, size_t at, tally *t)
{
    static const char *const values[] = {
        [JSON_TEXT_NULL] = "null",   [JSON_TEXT_BOOL] = "false", [JSON_TEXT_NUMBER] = "0",
        [JSON_TEXT_STRING] = "\"\"", [JSON_TEXT_ARRAY] = "[]",   [JSON_TEXT_OBJECT] = "{}",
    };
    replace(s, json, at, 'e', values[json->places[at].type], t);
}

/* One more element; what is there already, another of its type, and something else. */
static void extend_array(const subject *s, const json_text *json, size_t at, tally *t)
{
    static const char *const more[] = {"\"mutant\"", "7", "{\"mutant\": true}"};
    char first[4096];
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        try(s, json, at, 'x', json_text_extend(json, at, more[i]), more[i], t);
    if (json->places[at].count == 0)
        return;
    const json_text_place *element = &json->places[at + 1];
    (void)snprintf(first, sizeof first, "%.*s", (int)(element->end - element->begin),
                   json->text + element->begin);
    if (strlen(first) < 400)
        try(s, json, at, 'x', json_text_extend(json, at, first), "the first again", t);
}

/* Unknown keys, and a key twice, which no reader may take. */
static void extend_object(const subject *s, const json_text *json, size_t at, tally *t)
{
    static const char *const more[] = {"\"Mutant\": true", "\"Mutant\": \"x\"",
                                       "\"Mutant\": {\"a\": 1}"};
    char first[4096];
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        try(s, json, at, 'x', json_text_extend(json, at, more[i]), more[i], t);
    if (json->places[at].count == 0)
        return;
    const json_text_place *member = &json->places[at + 1];
    (void)snprintf(first, sizeof first, "%.*s", (int)(member->end - member->member),
                   json->text + member->member);
    if (strlen(first) < 400)
        try(s, json, at, 'x', json_text_extend(json, at, first), "the first again", t);
}

static void mutate_place(const subject *s, const json_text *json, size_t at, tally *t)
{
    const json_text_place *place = &json->places[at];
    if (json_text_is_leaf(place))
        flip(s, json, at, t);
    retype(s, json, at, t);
    empty(s, json, at, t);
    replace(s, json, at, 'n', "null", t);
    if (place->parent != JSON_TEXT_NONE)
        try(s, json, at, 'd', json_text_drop(json, at), "dropped", t);
    if (place->type == JSON_TEXT_ARRAY)
        extend_array(s, json, at, t);
    if (place->type == JSON_TEXT_OBJECT)
        extend_object(s, json, at, t);
}

/* --- One recording ---------------------------------------------------------------------------- */

static bool recording_is_as_planned(subject *s)
{
    verdict v;
    judge(s, s->in_members ? s->members : s->json, &v);
    bool good = TEST_RECORDF(v.err.code == CORDON_OK, "%s as recorded: %s", s->name, v.err.message);
    s->facts = v.facts;
    return good;
}

static void mutate_text(subject *s, const char *text, tally *t)
{
    cordon_auto(json_text) json = {0};
    if (recording_is_as_planned(s) && CHECK(json_text_read(text, &json))) {
        for (size_t i = 0; i < json.count; i++)
            mutate_place(s, &json, i, t);
    }
    cordon_buf_clear(&s->facts);
}

static char *recorded_text(const mutate_engine *engine, cordon_role role, const char *round,
                           const char *kind)
{
    char name[160];
    (void)snprintf(name, sizeof name, "%s-%s-%s%s.json", engine->samples, cordon_role_name(role),
                   round, kind);
    return sample_read(name);
}

/* Who is on a network is asked for in the end alone, and on Docker its own inspect tells it. */
static bool has_members(const subject *s)
{
    if (type_of(s) == CORDON_OBJECT_NETWORK)
        return s->round == CORDON_ROUND_RUNNING && s->engine->has_members;
    return type_of(s) == CORDON_OBJECT_VOLUME;
}

static void mutate_object(const mutate_engine *engine, const sample_recorded *recorded,
                          cordon_role role, cordon_round round, tally *t)
{
    char name[160];
    bool running = round == CORDON_ROUND_RUNNING;
    const char *word = running ? "running" : "created";
    subject s = {
        .engine = engine, .recorded = recorded, .role = role, .round = round, .name = name};
    (void)snprintf(name, sizeof name, "%s-%s-%s", engine->samples, cordon_role_name(role), word);
    s.json = recorded_text(engine, role, word, "");
    if (running && type_of(&s) != CORDON_OBJECT_NETWORK)
        s.first = recorded_text(engine, role, "created", "");
    if (has_members(&s))
        s.members = recorded_text(engine, role, word, "-members");
    if (s.json)
        mutate_text(&s, s.json, t);
    s.in_members = true;
    if (s.json && s.members)
        mutate_text(&s, s.members, t);
    free(s.json);
    free(s.first);
    free(s.members);
}

static bool is_recorded(const sample_recorded *recorded, cordon_role role)
{
    bool of_several = role == CORDON_ROLE_SCRATCH || role == CORDON_ROLE_KEEPER;
    if (!recorded->run.input.shared)
        return !of_several;
    return of_several || role == CORDON_ROLE_STEP;
}

/* Where the scratch lies is known to the plan once it was made. */
static bool place_scratch(const mutate_engine *engine, sample_recorded *recorded)
{
    cordon_auto(cordon_volume_facts) facts = {0};
    cordon_err err = CORDON_ERR_INIT;
    if (!recorded->run.input.shared)
        return true;
    cordon_autofree char *json = recorded_text(engine, CORDON_ROLE_SCRATCH, "created", "");
    return json && CHECK_OK(engine->volume(json, "[]", &facts, &err), err) &&
           CHECK_OK(cordon_fact_text_set(&recorded->run.plan.scratch_place, facts.place, &err),
                    err);
}

void mutate_run(const mutate_engine *engine)
{
    static const cordon_round rounds[] = {CORDON_ROUND_CREATED, CORDON_ROUND_RUNNING};
    sample_recorded recorded = {.run = {.owner = {.owner = ""}}};
    tally t = {0};
    if (!sample_recorded_make(engine->samples, &recorded) || !place_scratch(engine, &recorded))
        return;
    for (int role = 0; role < CORDON_ROLE_COUNT; role++) {
        for (size_t i = 0; is_recorded(&recorded, (cordon_role)role) && i < 2; i++)
            mutate_object(engine, &recorded, (cordon_role)role, rounds[i], &t);
    }
    printf("    %s: %u mutants: %u refused, %u unreadable, %u on a list, %u survived\n",
           engine->samples, t.mutants, t.refused, t.unread, t.listed, t.survived);
    CHECK_INT(t.survived, 0);
    CHECK(t.mutants > 1000);
    sample_run_clear(&recorded.run);
}

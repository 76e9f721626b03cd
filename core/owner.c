/* SPDX-License-Identifier: Apache-2.0 */
/* Ids, tokens, names and labels; see owner.h. */
#include "owner.h"

#include <stdio.h>
#include <string.h>

#include "kit/random.h"

#define OWNER_PREFIX "uid-"

static const struct {
    const char *name;
    cordon_object_type type;
} roles[CORDON_ROLE_COUNT] = {
    [CORDON_ROLE_VENDOR_NETWORK] = {"vendor-network", CORDON_OBJECT_NETWORK},
    [CORDON_ROLE_EGRESS_NETWORK] = {"egress-network", CORDON_OBJECT_NETWORK},
    [CORDON_ROLE_SCRATCH] = {"scratch", CORDON_OBJECT_VOLUME},
    [CORDON_ROLE_KEEPER] = {"keeper", CORDON_OBJECT_CONTAINER},
    [CORDON_ROLE_PROXY] = {"proxy", CORDON_OBJECT_CONTAINER},
    [CORDON_ROLE_STEP] = {"step", CORDON_OBJECT_CONTAINER},
};

const char *cordon_role_name(cordon_role role)
{
    return roles[role].name;
}

bool cordon_role_by_name(const char *name, cordon_role *ret_role)
{
    for (int role = 0; role < CORDON_ROLE_COUNT; role++) {
        if (strcmp(roles[role].name, name) == 0) {
            *ret_role = (cordon_role)role;
            return true;
        }
    }
    return false;
}

cordon_object_type cordon_role_type(cordon_role role)
{
    return roles[role].type;
}

const char *cordon_role_type_name(cordon_role role)
{
    switch (cordon_role_type(role)) {
    case CORDON_OBJECT_NETWORK:
        return "network";
    case CORDON_OBJECT_VOLUME:
        return "volume";
    case CORDON_OBJECT_CONTAINER:
    case CORDON_OBJECT_IMAGE:
    case CORDON_OBJECT_UNKNOWN:
    default:
        return "container";
    }
}

typedef struct owner_ids {
    char invocation[CORDON_OWNER_HEX + 1];
    char token[CORDON_OWNER_HEX + 1];
    char owner[32];
} owner_ids;

static int owner_name(cordon_role role, cordon_badge *badge, cordon_err *err)
{
    char unique[CORDON_OWNER_HEX + 1];

    if (cordon_random_hex(unique, CORDON_OWNER_HEX, err) != 0)
        return -1;
    (void)snprintf(badge->name, sizeof(badge->name), "cordon-%s-%s", roles[role].name, unique);
    return 0;
}

int cordon_owner_rename(cordon_owner *owner, cordon_role role, cordon_err *err)
{
    return owner_name(role, &owner->badges[role], err);
}

static void owner_fill_labels(const owner_ids *ids, cordon_role role, cordon_badge *badge)
{
    (void)snprintf(badge->labels[0], CORDON_LABEL_SIZE, CORDON_LABEL_OWNER "=%s", ids->owner);
    (void)snprintf(badge->labels[1], CORDON_LABEL_SIZE, CORDON_LABEL_INVOCATION "=%s",
                   ids->invocation);
    (void)snprintf(badge->labels[2], CORDON_LABEL_SIZE, CORDON_LABEL_ROLE "=%s", roles[role].name);
    (void)snprintf(badge->labels[3], CORDON_LABEL_SIZE, CORDON_LABEL_TOKEN "=%s", ids->token);
    for (size_t i = 0; i < CORDON_LABEL_COUNT; i++)
        badge->label_items[i] = badge->labels[i];
}

/* ids: of ret_owner, as a copy: the compiler fears an overlap otherwise. */
static void owner_fill(const owner_ids *ids, cordon_owner *ret_owner)
{
    memset(ret_owner, 0, sizeof(*ret_owner));
    memcpy(ret_owner->owner, ids->owner, sizeof(ids->owner));
    memcpy(ret_owner->invocation, ids->invocation, sizeof(ids->invocation));
    memcpy(ret_owner->token, ids->token, sizeof(ids->token));
    (void)snprintf(ret_owner->token_label, sizeof(ret_owner->token_label), CORDON_LABEL_TOKEN "=%s",
                   ids->token);
    for (int role = 0; role < CORDON_ROLE_COUNT; role++)
        owner_fill_labels(ids, (cordon_role)role, &ret_owner->badges[role]);
}

int cordon_owner_init(cordon_owner *ret_owner, uint32_t uid, cordon_err *err)
{
    owner_ids ids;

    (void)snprintf(ids.owner, sizeof(ids.owner), OWNER_PREFIX "%u", uid);
    if (cordon_random_hex(ids.invocation, CORDON_OWNER_HEX, err) != 0 ||
        cordon_random_hex(ids.token, CORDON_OWNER_HEX, err) != 0)
        return -1;
    owner_fill(&ids, ret_owner);
    for (int role = 0; role < CORDON_ROLE_COUNT; role++) {
        if (owner_name((cordon_role)role, &ret_owner->badges[role], err) != 0)
            return -1;
    }
    return 0;
}

static bool owner_is_hex(const char *text)
{
    return strlen(text) == CORDON_OWNER_HEX && strspn(text, "0123456789abcdef") == CORDON_OWNER_HEX;
}

int cordon_owner_restore(cordon_owner *ret_owner, const char *owner, const char *invocation,
                         const char *token, cordon_err *err)
{
    owner_ids ids;
    size_t prefix = strlen(OWNER_PREFIX);

    if (strncmp(owner, OWNER_PREFIX, prefix) != 0 || strlen(owner) >= sizeof(ids.owner) ||
        owner[prefix] == '\0' || strspn(owner + prefix, "0123456789") != strlen(owner + prefix) ||
        !owner_is_hex(invocation) || !owner_is_hex(token))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "that is not the owner of an invocation");
    (void)snprintf(ids.owner, sizeof(ids.owner), "%s", owner);
    (void)snprintf(ids.invocation, sizeof(ids.invocation), "%s", invocation);
    (void)snprintf(ids.token, sizeof(ids.token), "%s", token);
    owner_fill(&ids, ret_owner);
    return 0;
}

cordon_texts cordon_owner_labels(const cordon_owner *owner, cordon_role role)
{
    cordon_texts labels = {owner->badges[role].label_items, CORDON_LABEL_COUNT};

    return labels;
}

bool cordon_owner_matches(const cordon_owner *owner, cordon_role role,
                          const cordon_fact_list *labels)
{
    const cordon_badge *badge = &owner->badges[role];
    size_t found = 0;

    if (!labels->known)
        return false;
    for (size_t i = 0; i < labels->count; i++) {
        for (size_t j = 0; j < CORDON_LABEL_COUNT; j++) {
            if (strcmp(labels->items[i], badge->labels[j]) == 0)
                found |= (size_t)1 << j;
        }
    }
    return found == ((size_t)1 << CORDON_LABEL_COUNT) - 1;
}

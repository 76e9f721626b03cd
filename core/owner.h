/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who owns what: an invocation's id and token, the names and labels of its objects. The only
 * place where a label key or a name is spelled.
 *
 * Labels on every object: who made it (owner), for which invocation, in which role, and the
 * token: 128 random bits that only this invocation knows, so that a look-up after a lost answer
 * cannot be met by a stand-in that was prepared beforehand. Names carry 128 random bits of their
 * own.
 */
#ifndef CORDON_OWNER_H
#define CORDON_OWNER_H

#include "engine.h"

#define CORDON_LABEL_PREFIX     "io.cordon."
#define CORDON_LABEL_OWNER      CORDON_LABEL_PREFIX "owner"
#define CORDON_LABEL_INVOCATION CORDON_LABEL_PREFIX "invocation"
#define CORDON_LABEL_ROLE       CORDON_LABEL_PREFIX "role"
#define CORDON_LABEL_TOKEN      CORDON_LABEL_PREFIX "token"

/* Objects of an invocation; also the order in which they are made. */
typedef enum cordon_role {
    CORDON_ROLE_VENDOR_NETWORK = 0,
    CORDON_ROLE_EGRESS_NETWORK,
    CORDON_ROLE_SCRATCH, /* the volume that several steps share */
    CORDON_ROLE_KEEPER,  /* the container that holds it */
    CORDON_ROLE_PROXY,
    CORDON_ROLE_STEP,
} cordon_role;
#define CORDON_ROLE_COUNT 6

#define CORDON_OWNER_HEX   32 /* hex digits of id and token: 128 bits */
#define CORDON_LABEL_COUNT 4
#define CORDON_LABEL_SIZE  96
#define CORDON_NAME_SIZE   64

/* Everything an object is called. */
typedef struct cordon_badge {
    char name[CORDON_NAME_SIZE];
    char labels[CORDON_LABEL_COUNT][CORDON_LABEL_SIZE];
    const char *label_items[CORDON_LABEL_COUNT]; /* points into labels: never copy a badge */
} cordon_badge;

typedef struct cordon_owner {
    char invocation[CORDON_OWNER_HEX + 1];
    char token[CORDON_OWNER_HEX + 1];
    char owner[32];                      /* "uid-1000" */
    char token_label[CORDON_LABEL_SIZE]; /* "io.cordon.token=<token>", for look-ups */
    cordon_badge badges[CORDON_ROLE_COUNT];
} cordon_owner;

/* Draws id, token and names. The object must stay where it is: badges point into it. */
int cordon_owner_init(cordon_owner *ret_owner, uint32_t uid, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * The owner that a journal tells of, for look-ups: id, token and labels, but no names, which are
 * not needed to know an object again. CONFIG: not what cordon_owner_init draws.
 */
int cordon_owner_restore(cordon_owner *ret_owner, const char *owner, const char *invocation,
                         const char *token, cordon_err *err) __attribute__((warn_unused_result));

/* "vendor-network", "egress-network", "scratch", "keeper", "proxy", "step". */
const char *cordon_role_name(cordon_role role);

/* False: no role has this name. */
bool cordon_role_by_name(const char *name, cordon_role *ret_role);

cordon_object_type cordon_role_type(cordon_role role);

/* "container", "network", "volume": of the role's object. */
const char *cordon_role_type_name(cordon_role role);

/* Another name for the object of a role, whose former one is gone. */
int cordon_owner_rename(cordon_owner *owner, cordon_role role, cordon_err *err)
    __attribute__((warn_unused_result));

/* The labels of a role, as a specification wants them; lives as long as owner. */
cordon_texts cordon_owner_labels(const cordon_owner *owner, cordon_role role);

/* True only if labels hold exactly what this owner puts on an object of this role. */
bool cordon_owner_matches(const cordon_owner *owner, cordon_role role,
                          const cordon_fact_list *labels);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of one run: the first of the three witnesses. Pure: from what was decided (owner,
 * policy, limits, image ids, addresses) it makes the specifications that an engine gets, the
 * facts that must come back (expect.h) and the frame that releases the command.
 */
#ifndef CORDON_PLAN_H
#define CORDON_PLAN_H

#include <netinet/in.h>
#include <sys/types.h>

#include "engine.h"
#include "gate/protocol.h"
#include "gate/proxy_protocol.h"
#include "kit/frame.h"
#include "owner.h"
#include "subnet.h"

/* Where things are inside the containers. */
#define CORDON_PLAN_PROXY_PORT 3128

/*
 * The Landlock ABI that a step's fence needs whole (landlock(7)): 3 truncating, 4 TCP ports, 6
 * signals and abstract sockets.
 */
#define CORDON_PLAN_LANDLOCK      6
#define CORDON_PLAN_WORKTREE      CORDON_GATE_WORKTREE
#define CORDON_PLAN_TMP           "/tmp"
#define CORDON_PLAN_GUARD_FOLDER  "/.cordon"
#define CORDON_PLAN_GUARD_IN_STEP CORDON_PLAN_GUARD_FOLDER "/cordon-guard"
#define CORDON_PLAN_GUARD_ALONE   "/cordon-guard"

/*
 * The least Landlock ABI that holds the proxy whole: 4, TCP ports. And how it is bounded where
 * nobody says otherwise (proxy/DESIGN.md).
 */
#define CORDON_PLAN_PROXY_LANDLOCK 4
#define CORDON_PLAN_HEAD_MS        10000
#define CORDON_PLAN_CONNECT_MS     15000
#define CORDON_PLAN_HELLO_MS       15000
#define CORDON_PLAN_TUNNELS        512

/* Who the proxy runs as: nobody that any image or host knows. */
#define CORDON_PLAN_PROXY_USER "65532:65532"

/* Most mounts on behalf of the worktree. */
#define CORDON_PLAN_KEPT_MAX 160

/* How the gate gets into the step container. */
typedef enum cordon_gate_delivery {
    CORDON_GATE_UNDECIDED = 0,
    CORDON_GATE_ALONE, /* the step's image is the guard's (probe) */
    CORDON_GATE_LAYER, /* the step's image is the pinned one and one layer with the guard */
    CORDON_GATE_MOUNT, /* the guard's image is mounted read-only */
} cordon_gate_delivery;

typedef struct cordon_plan_limits {
    int64_t memory_bytes;
    int64_t nano_cpus;
    int64_t pids;
    int64_t open_files;
    int64_t scratch_bytes;
} cordon_plan_limits;

/* Of the proxy, beside those of its container; 0 is no limit. */
typedef struct cordon_egress_limits {
    int64_t tunnels; /* at a time; 0: CORDON_PLAN_TUNNELS */
    int64_t tunnel_bytes;
    int64_t all_bytes;
    int64_t refusals; /* per second */
} cordon_egress_limits;

/* One pinned host and, if the vendor's definition maps it, where it really is. */
typedef struct cordon_plan_host {
    const char *host;
    const char *upstream; /* "ADDR:PORT" or NULL */
} cordon_plan_host;

/* What the plan is made from. Borrowed until cordon_plan_clear. */
typedef struct cordon_plan_input {
    const cordon_owner *owner;
    const cordon_engine_facts *engine;
    const cordon_plan_host *hosts;
    size_t host_count;
    bool networked; /* vendor network and proxy; without, the step has loopback alone */
    cordon_plan_limits limits;
    const char *guard_image_id;
    const char *step_image_id; /* after delivery: what the container is created from */
    /*
     * Labels that the step's image has and an engine copies into its containers; none of them is
     * ours (images.c). NULL for none.
     */
    const cordon_fact_list *step_image_labels;
    cordon_gate_delivery delivery;
    const char *worktree; /* host path or NULL */
    const char *mount;    /* where it lies inside; NULL: CORDON_PLAN_WORKTREE */
    dev_t worktree_dev;   /* of the folder that was approved */
    ino_t worktree_ino;
    bool worktree_writable;
    /* What is mounted besides, on behalf of the worktree (worktree_guard.h); BIND alone. */
    const cordon_mount_spec *kept;
    size_t kept_count;
    uid_t uid; /* of the step's processes, and of what they write */
    gid_t gid;
    bool keep_id;
    bool shared;             /* a volume that several steps share is their home and temp */
    unsigned landlock_least; /* the ABI below which the kernel's fence is refused; 0: none is */
    int64_t connect_ms;  /* how long the proxy may take to reach a pinned host; 0: its default */
    int64_t deadline_ms; /* the run's, so the longest that a tunnel can be quiet; 0: no limit */
    cordon_egress_limits egress;
} cordon_plan_input;

typedef struct cordon_plan {
    cordon_plan_input input;

    char subnets[2][CORDON_SUBNET_SIZE]; /* by network role */
    char proxy_address[INET_ADDRSTRLEN];
    char proxy_egress_address[INET_ADDRSTRLEN];
    char step_address[INET_ADDRSTRLEN];
    char network_ids[2][CORDON_ID_HEX + 1];

    /* Backing store of the specifications. */
    cordon_frame proxy_policy; /* sealed; what the proxy reads from its stdin */
    char proxy_listen[INET_ADDRSTRLEN + 8];
    char proxy_code[2 * CORDON_PROXY_CODE_BYTES + 1]; /* the policy's name in "ready" */
    char user[32];
    cordon_mount_spec mounts[3 + CORDON_PLAN_KEPT_MAX];
    cordon_endpoint_spec proxy_endpoints[2];
    cordon_endpoint_spec step_endpoints[1];
    cordon_mount_spec keeper_mount;

    cordon_network_spec networks[2]; /* by network role */
    cordon_volume_spec scratch;      /* where shared */
    /* Where the engine has put it on its host; NULL while unknown. Owned. */
    char *scratch_place;
    cordon_container_spec keeper; /* where shared */
    cordon_container_spec proxy;
    cordon_container_spec step;
} cordon_plan;

/* Fills everything that does not depend on addresses. The plan must stay where it is. */
void cordon_plan_init(cordon_plan *ret_plan, const cordon_plan_input *input);
void cordon_plan_clear(cordon_plan *plan);
CORDON_DEFINE_AUTO(cordon_plan, cordon_plan_clear)

/* The specification of a role's container. */
const cordon_container_spec *cordon_plan_container(const cordon_plan *plan, cordon_role role);

/* Where the worktree lies inside. */
const char *cordon_plan_mount(const cordon_plan *plan);

/* Makes the proxy's policy; done by cordon_plan_place, when its address is known. plan_proxy.c */
int cordon_plan_policy(cordon_plan *plan, cordon_err *err) __attribute__((warn_unused_result));

/* Puts a network on a block; done again with another block when the engine has no room there. */
int cordon_plan_place(cordon_plan *plan, cordon_role network, const char *subnet, cordon_err *err)
    __attribute__((warn_unused_result));

/* Notes a network's id, which the container specifications name. */
void cordon_plan_network_made(cordon_plan *plan, cordon_role network, const char *id);

/* The networks that a role's container joins: { ids } for validation of a network's members. */
bool cordon_plan_joins(cordon_role container, cordon_role network);

#endif

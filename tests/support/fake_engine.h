/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine in memory, for tests of core: fulfils engine.h, plays the gate and the proxy inside
 * its containers, and does as it is told - fails at the n-th call of an operation, hangs until the
 * deadline, shows other facts than the truth, lets somebody tamper.
 *
 * A test links core without engines/registry.c and defines the array itself:
 *
 *     const cordon_engine_ops *const cordon_engine_registry[] = {
 *         &fake_engine_docker, &fake_engine_podman, NULL};
 *
 * fake_engine_new makes a daemon; its endpoint ("unix:///tmp/.../engine.sock", a real socket) is
 * what open finds it by. Scripts are set before the run; the log is read after it. Complaints are
 * breaches of the contract by core: a call after its deadline, an id that is none, a second start.
 */
#ifndef CORDON_TESTS_SUPPORT_FAKE_ENGINE_H
#define CORDON_TESTS_SUPPORT_FAKE_ENGINE_H

#include "engine.h"

typedef struct fake_engine fake_engine;

/*
 * Both are the same engine, with the capabilities and the silences of their models. Docker: layers
 * on a present base, network ids only while running, members only of running containers. Podman:
 * image mounts, keep-id, members in any state, no network ids.
 */
extern const cordon_engine_ops fake_engine_docker;
extern const cordon_engine_ops fake_engine_podman;

fake_engine *fake_engine_new(void);
/* Everything that was opened on it must be closed before. NULL is fine. */
void fake_engine_free(fake_engine *fake);

const char *fake_engine_endpoint(const fake_engine *fake);
const char *fake_engine_socket(const fake_engine *fake);

/* --- Images -------------------------------------------------------------------------------- */

/* The image that a fresh fake holds, beside those that are loaded: bare hex id. */
#define FAKE_IMAGE_ID     "1111111111111111111111111111111111111111111111111111111111111111"
#define FAKE_IMAGE_PIN    "sha256:" FAKE_IMAGE_ID
#define FAKE_IMAGE_DIGEST "2222222222222222222222222222222222222222222222222222222222222222"
#define FAKE_IMAGE_NAMED  "registry.test/runner@sha256:" FAKE_IMAGE_DIGEST

/* --- Scripts ------------------------------------------------------------------------------- */

typedef enum fake_op {
    FAKE_NOTHING = 0,
    FAKE_OPEN,
    FAKE_DESCRIBE,
    FAKE_IMAGE_RESOLVE,
    FAKE_IMAGE_LOAD,
    FAKE_IMAGE_REMOVE,
    FAKE_IMAGE_LIST,
    FAKE_NETWORK_CREATE,
    FAKE_NETWORK_INSPECT,
    FAKE_NETWORK_CONNECT,
    FAKE_NETWORK_REMOVE,
    FAKE_VOLUME_CREATE,
    FAKE_VOLUME_INSPECT,
    FAKE_VOLUME_REMOVE,
    FAKE_CONTAINER_CREATE,
    FAKE_CONTAINER_INSPECT,
    FAKE_CONTAINER_ATTACH,
    FAKE_CONTAINER_PREPARE,
    FAKE_CONTAINER_RUNTIME,
    FAKE_CONTAINER_START,
    FAKE_CONTAINER_SIGNAL,
    FAKE_CONTAINER_WAIT,
    FAKE_CONTAINER_REMOVE,
    FAKE_CONTAINER_LOG,
    FAKE_CONTAINER_CHANGES,
    FAKE_LIST,
    FAKE_EVENTS_OPEN,
    FAKE_OPS,
} fake_op;

const char *fake_op_name(fake_op op);

typedef enum fake_fault_kind {
    FAKE_FAULT_BEFORE = 1, /* fails and nothing is done */
    FAKE_FAULT_AFTER,      /* it is done, and then the answer is lost: fails with `code` */
    FAKE_FAULT_HANG,       /* nothing is done; TIMEOUT at the deadline, or CANCELLED */
    FAKE_FAULT_HANG_AFTER, /* it is done, and no answer comes: INDETERMINATE at the deadline */
} fake_fault_kind;

/* object: the role ("step", "proxy", "vendor-network", "egress-network") or NULL for any. */
typedef struct fake_fault {
    fake_op op;
    const char *object;
    unsigned nth; /* 1 is the first matching call; 0 is each of them */
    fake_fault_kind kind;
    cordon_code code;
} fake_fault;

/* Adds one; at most 16. The texts are borrowed. */
void fake_engine_fault(fake_engine *fake, const fake_fault *fault);

/*
 * Called before an operation is carried out, with its role and its count so far (1 is the first).
 * May call the functions below, and change what a later inspect will show.
 */
typedef void fake_hook(void *context, fake_engine *fake, fake_op op, const char *role,
                       unsigned nth);
void fake_engine_hook(fake_engine *fake, fake_hook *hook, void *context);

/* Each may change the true facts on their way out. nth counts inspects of that object. */
typedef struct fake_lies {
    void *context;
    void (*engine)(void *context, cordon_engine_facts *facts);
    void (*image)(void *context, cordon_image_facts *facts);
    void (*network)(void *context, const char *role, unsigned nth, cordon_network_facts *facts);
    void (*volume)(void *context, unsigned nth, cordon_volume_facts *facts);
    void (*container)(void *context, const char *role, unsigned nth, cordon_container_facts *facts);
    void (*runtime)(void *context, const char *role, cordon_runtime_facts *facts);
    /* The gate's report: "key=value" items, to be changed in place. */
    void (*report)(void *context, cordon_fact_list *facts);
} fake_lies;
void fake_engine_lie(fake_engine *fake, const fake_lies *lies);

/* Subnets up to this many are answered with OVERLAP first. */
void fake_engine_overlaps(fake_engine *fake, unsigned count);

/* How the gate misbehaves. */
typedef enum fake_gate_fault {
    FAKE_GATE_GOOD = 0,
    FAKE_GATE_SILENT,         /* never reports */
    FAKE_GATE_ENDS,           /* ends without a report */
    FAKE_GATE_GARBAGE,        /* something else than a report */
    FAKE_GATE_CUT,            /* half a report, then the end */
    FAKE_GATE_REPLAY,         /* a report whose bytes were changed on the way */
    FAKE_GATE_TALKS,          /* bytes after the report, before the release */
    FAKE_GATE_BAD_STREAM,     /* a stream header with a bad id */
    FAKE_GATE_NO_STARTED,     /* output without a start note */
    FAKE_GATE_FORGED_STARTED, /* a start note under another key */
    FAKE_GATE_FORGED_EXIT,    /* an exit note under another key, then the end */
    FAKE_GATE_NO_EXIT,        /* ends without an exit note */
    FAKE_GATE_TALKS_AFTER_EXIT,
} fake_gate_fault;

/*
 * What the step's process does. Texts are borrowed.
 * start_errnum  the command is not found (ENOENT) or not executable (EACCES)
 * output_bytes  that many 'x' on stdout after the text
 * stays         runs until a signal comes
 * ignores_term  only KILL ends it
 * oom           the kernel kills it for memory
 * outside_signal  the gate tells that it got this one from outside
 */
typedef struct fake_step {
    fake_gate_fault fault;
    int start_errnum;
    const char *stdout_text;
    const char *stderr_text;
    size_t output_bytes;
    bool stays;
    bool ignores_term;
    bool oom;
    int exit_code;
    int exit_signal;
    int outside_signal;
} fake_step;
void fake_engine_step(fake_engine *fake, const fake_step *step);

/*
 * What the proxy does.
 * dies    exits with 71 instead of getting ready; `lines` is what it says before
 * silent  never says that it is ready
 * listen, policy, locks   what its ready line lies about; NULL is the truth
 * lines   JSON lines after the ready line, each with its newline
 */
typedef struct fake_proxy {
    bool dies;
    bool silent;
    const char *listen;
    const char *policy;
    const char *locks;
    const char *lines;
} fake_proxy;
#define FAKE_PROXY_LOCKS                                                                           \
    "\"seccomp\":1,\"landlock\":7,\"no_new_privs\":1,\"dumpable\":0,\"capabilities\":0"
void fake_engine_proxy(fake_engine *fake, const fake_proxy *proxy);

/* --- Tampering, from a hook or another thread ---------------------------------------------- */

/* An event about the object of this role, by somebody else. */
void fake_engine_emit(fake_engine *fake, const char *role, cordon_event_action action,
                      const char *raw_action);
/* The daemon closes its event streams. */
void fake_engine_end_events(fake_engine *fake);
/* A foreign container joins the network, or has the volume, of this role. */
void fake_engine_intrude(fake_engine *fake, const char *role);
/* The container of this role gets another name, and an event tells of it. name is borrowed. */
void fake_engine_rename(fake_engine *fake, const char *role, const char *name);
/* A file is put into the container of this role, and no event tells of it. path is borrowed. */
void fake_engine_upload(fake_engine *fake, const char *role, const char *path);
/* What lies in the volume's place is another file system from now on, and no event tells of it. */
void fake_engine_remount(fake_engine *fake);
/* The object of this role is removed behind the run's back. */
void fake_engine_vanish(fake_engine *fake, const char *role);

/* --- What happened ------------------------------------------------------------------------- */

/*
 * object   role, image reference or ""; valid until fake_engine_free
 * left_ms  of the call's deadline when it came
 */
typedef struct fake_call {
    fake_op op;
    const char *object;
    int64_t left_ms;
    cordon_code result;
} fake_call;

size_t fake_engine_call_count(fake_engine *fake);
fake_call fake_engine_call(fake_engine *fake, size_t index);
/* Calls of this operation on this role (NULL: any). */
unsigned fake_engine_count(fake_engine *fake, fake_op op, const char *role);

/* Containers, networks and volumes that exist now. */
size_t fake_engine_left(fake_engine *fake);

/* The first breach of the contract, or NULL. */
const char *fake_engine_complaint(fake_engine *fake);

/* What the gates of all steps were released with, one after another; nothing when none was. Valid
 * until fake_engine_free. */
typedef struct fake_release {
    const cordon_fact_list *argv;
    const cordon_fact_list *environment;
    const cordon_fact_list *files; /* "PATH=CONTENT" */
    const cordon_fact_list *rules;
    const char *working_dir;
    bool stdin_given;
} fake_release;
bool fake_engine_released(fake_engine *fake, fake_release *ret_release);

#endif

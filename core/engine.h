/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract that an engine fulfils: typed operations over typed facts.
 *
 * Division of labour. Core owns names, labels, limits, budgets and verdicts. An engine speaks
 * its daemon's protocol and nothing else: it never decides that a value is good, never retries a
 * change, never picks another object than the one named, and lets no raw JSON out.
 *
 * Common rules of all operations, not repeated below:
 *  - `impl` is the cookie from open. Operations may be called from several threads at once.
 *  - Inputs are borrowed for the call. `ret_` outputs are owned by the caller and untouched on
 *    failure. The result is 0, or -1 with err set; err is set if and only if -1 is returned.
 *  - The deadline is absolute: no byte is sent once it has passed, and nothing waits beyond it.
 *    Codes of every operation: TIMEOUT, CANCELLED, UNREACHABLE, PROTOCOL, NOMEM, ENGINE.
 *  - A changing operation sends its request exactly once. When the request may have arrived and
 *    the answer did not come whole, the code is INDETERMINATE: core looks the object up by its
 *    ownership token; it never repeats the request blindly.
 *  - SECURITY: `id` is a full hex id that the engine returned. Implementations refuse anything
 *    else (INVALID), because names and prefixes can be re-pointed.
 *  - SECURITY: everything a daemon says is hostile: bounded in size and depth, strictly parsed.
 *    Daemon text in messages passes cordon_err_printable.
 *
 * No slot is NULL. What an engine cannot do is CORDON_ERR_UNSUPPORTED and missing in
 * cordon_engine_facts.can, which core compares with what a plan needs right after open.
 */
#ifndef CORDON_ENGINE_H
#define CORDON_ENGINE_H

#include "change_facts.h"
#include "engine_facts.h"
#include "event_facts.h"
#include "facts.h"
#include "kit/deadline.h"
#include "runtime_facts.h"
#include "spec.h"

/* Hex characters of a full object id. */
#define CORDON_ID_HEX          64
#define CORDON_VOLUME_NAME_MAX CORDON_ID_HEX

/* A raw byte stream to or from the daemon; see kit/stream.h for what can be done with it. */
typedef struct cordon_stream cordon_stream;

/*
 * Where and how to reach a daemon. Borrowed.
 * endpoint   "unix:///abs/path", "tcp://host:port" (TLS is required unless host is loopback)
 * forwarded  the socket is ours and leads to another machine: neither the daemon's files nor its
 *            owner is to be looked for here
 * tls_*      PEM files for mutual TLS, or NULL
 */
typedef struct cordon_engine_address {
    const char *endpoint;
    bool forwarded;
    const char *tls_ca_file;
    const char *tls_cert_file;
    const char *tls_key_file;
} cordon_engine_address;

/*
 * Connects, tells the daemon's kind and negotiates the API version.
 * UNREACHABLE  nothing usable at the endpoint; message says missing, refused, a directory, ...
 * UNSUPPORTED  the version is too old or too new, or it is another kind of daemon (the message
 *              names the kind to use: Podman's Docker-compatible API is not a Docker)
 */
typedef int cordon_engine_open_fn(const cordon_engine_address *address, cordon_deadline dl,
                                  void **ret_impl, cordon_err *err);
typedef void cordon_engine_close_fn(void *impl);

/* What the daemon said of its version when opened: one daemon, or the next. Borrowed from impl. */
typedef const char *cordon_engine_identity_fn(void *impl);

/* Reads what the daemon is and can do. UNSUPPORTED: CNI networking, a foreign OS, no seccomp. */
typedef int cordon_engine_describe_fn(void *impl, cordon_deadline dl,
                                      cordon_engine_facts *ret_facts, cordon_err *err);

/*
 * Looks an image up by id ("sha256:hex" or bare hex), by "name@sha256:digest", or - for display
 * only - by name. NOTFOUND: no such image here; nothing is ever pulled.
 */
typedef int cordon_image_resolve_fn(void *impl, const char *reference, cordon_deadline dl,
                                    cordon_image_facts *ret_facts, cordon_err *err);

/*
 * Loads a docker-archive tar of one image. Success means that the daemon took the archive; core
 * then resolves the id that it computed itself. ENGINE: the daemon reported a failure inside a
 * 200 answer.
 */
typedef int cordon_image_load_fn(void *impl, const void *tar, size_t length, cordon_deadline dl,
                                 cordon_err *err);

/* Removes an image by id, without pruning parents and without force. NOTFOUND, CONFLICT. */
typedef int cordon_image_remove_fn(void *impl, const char *id, cordon_deadline dl, cordon_err *err);

/* Lists the images that are there, without those that are only steps of a build. */
typedef int cordon_image_list_fn(void *impl, cordon_deadline dl, cordon_image_list *ret_list,
                                 cordon_err *err);

/*
 * Creates a network. OVERLAP: the subnet is taken: choose another. CONFLICT: the name is taken.
 * WARNED: it was made, and the daemon warned: the message quotes that, and ret_id is set, so that
 * core can remove the network.
 * ret_facts (NULL: not wanted): on success what the answer tells, as network_inspect but without
 * who is on it; left as it is, empty, by an engine that answers with the id alone.
 */
typedef int cordon_network_create_fn(void *impl, const cordon_network_spec *spec,
                                     cordon_deadline dl, char **ret_id,
                                     cordon_network_facts *ret_facts, cordon_err *err);

/* NOTFOUND: no network has this id (one of the same name does not count). */
typedef int cordon_network_inspect_fn(void *impl, const char *id, cordon_deadline dl,
                                      cordon_network_facts *ret_facts, cordon_err *err);

/* Attaches a container that is not running yet, with a fixed address. NOTFOUND, CONFLICT. */
typedef int cordon_network_connect_fn(void *impl, const char *network_id, const char *container_id,
                                      const cordon_endpoint_spec *endpoint, cordon_deadline dl,
                                      cordon_err *err);

/*
 * Removes a network by id, never by name or force. NOTFOUND: gone. CONFLICT: still in use; where it
 * would be removed under a container's feet, its users are asked for first.
 */
typedef int cordon_network_remove_fn(void *impl, const char *id, cordon_deadline dl,
                                     cordon_err *err);

/* A name that a volume may have, which is its id, too: 1 to 64 of a-z, 0-9 and "-". */
bool cordon_volume_is_name(const char *name);

/*
 * Where both engines' own driver puts a volume: an absolute path that ends in /NAME/_data (moby
 * volume/local, libpod options WithVolumeName).
 */
bool cordon_volume_is_place(const char *name, const char *place);

/*
 * Creates a volume. CONFLICT: the name is taken. SECURITY: Docker hands out a volume of this name
 * that is there already; only its facts (labels) tell, so core looks at them.
 */
typedef int cordon_volume_create_fn(void *impl, const cordon_volume_spec *spec, cordon_deadline dl,
                                    cordon_err *err);

/* NOTFOUND: no volume has this name; a name that none may have is INVALID. */
typedef int cordon_volume_inspect_fn(void *impl, const char *name, cordon_deadline dl,
                                     cordon_volume_facts *ret_facts, cordon_err *err);

/* Removes a volume, without force. NOTFOUND: gone. CONFLICT: a container has it. */
typedef int cordon_volume_remove_fn(void *impl, const char *name, cordon_deadline dl,
                                    cordon_err *err);

/*
 * Creates a container and, where one request cannot, attaches it to all of spec->endpoints.
 * Success: it exists in state created, and the daemon warned of nothing.
 * NOTFOUND  the image, a bind source or a network (if not, the start says so) is missing, by name
 * CONFLICT  the name is taken
 * WARNED    it was made, and the daemon warned of something; the message quotes it
 * ENGINE    anything else
 * On failure the container may exist: *ret_id is set as soon as the id is known, success or not
 * (the one output that is not untouched), and core removes it.
 */
typedef int cordon_container_create_fn(void *impl, const cordon_container_spec *spec,
                                       cordon_deadline dl, char **ret_id, cordon_err *err);

typedef int cordon_container_inspect_fn(void *impl, const char *id, cordon_deadline dl,
                                        cordon_container_facts *ret_facts, cordon_err *err);

enum {
    CORDON_ATTACH_STDIN = 1U << 0,
};

/*
 * Opens the container's standard streams before its start: stdout and stderr come multiplexed
 * (kit/stdcopy.h), stdin is written raw. Success means that the daemon has switched the
 * connection over. The stream outlives no impl; end of file means the process closed its
 * streams or the daemon went away: ask wait or inspect which.
 */
typedef int cordon_container_attach_fn(void *impl, const char *id, unsigned flags,
                                       cordon_deadline dl, cordon_stream **ret_stream,
                                       cordon_err *err);

/*
 * Starts a created container. Exactly one request. CONFLICT: it had been started already (304):
 * a container that somebody else started is not ours to use. NOTFOUND: it, its network or its
 * bind source is gone. ENGINE: the daemon could not start it; its text is quoted.
 */
typedef int cordon_container_start_fn(void *impl, const char *id, cordon_deadline dl,
                                      cordon_err *err);

/*
 * Sends a signal ("SIGTERM") to the first process. CONFLICT: it is not running, whatever status
 * the daemon gives that.
 */
typedef int cordon_container_signal_fn(void *impl, const char *id, const char *signal_name,
                                       cordon_deadline dl, cordon_err *err);

/*
 * Waits for the end of a container that was started. ret_exit_code is 0..255. SECURITY: an error
 * answer, a hang or a never started container is never turned into a status: PROTOCOL.
 */
typedef int cordon_container_wait_fn(void *impl, const char *id, cordon_deadline dl,
                                     int *ret_exit_code, cordon_err *err);

/*
 * Removes a container by id with its anonymous volumes, killing it if it runs. Success: the
 * daemon says so. NOTFOUND: gone. CONFLICT: a removal is under way or lost a race; ask again.
 */
typedef int cordon_container_remove_fn(void *impl, const char *id, cordon_deadline dl,
                                       cordon_err *err);

/*
 * The last bytes of the container's log, stdout and stderr together, at most limit bytes, for an
 * error message. *ret_text is NUL-terminated and not yet printable.
 */
typedef int cordon_container_log_fn(void *impl, const char *id, size_t limit, cordon_deadline dl,
                                    char **ret_text, cordon_err *err);

/*
 * What the container's own file system has that its image has not, and the other way round
 * (GET /containers/{id}/changes). What lies on mounts is not in it; their mount points are. In any
 * state of the container. PROTOCOL: the answer is no list of changes. NOTFOUND.
 */
typedef int cordon_container_changes_fn(void *impl, const char *id, cordon_deadline dl,
                                        cordon_changes *ret_changes, cordon_err *err);

/*
 * Lists containers (in any state), networks or volumes that carry label "key=value"; without a
 * label (NULL) all there are. A hint only: a daemon may ignore the filter; core checks the labels
 * of each.
 */
typedef int cordon_list_by_label_fn(void *impl, cordon_object_type type, const char *label,
                                    cordon_deadline dl, cordon_list *ret_list, cordon_err *err);

/*
 * Opens the daemon's event stream for containers, networks and volumes, from now on. Success means
 * the daemon has answered: no later event is missed. Not filtered by label (a label filter would
 * hide network events). since_s: seconds since 1970 by the daemon's clock: what happened from then
 * on is told first, as far as the daemon still knows it; 0: nothing of before.
 */
typedef int cordon_events_open_fn(void *impl, int64_t since_s, cordon_deadline dl,
                                  cordon_stream **ret_stream, cordon_err *err);

/*
 * Takes the next whole event out of bytes that core has read from an event stream.
 * @param ret_used  bytes consumed; 0 when no whole event is there yet
 */
typedef int cordon_events_parse_fn(const char *bytes, size_t length, size_t *ret_used,
                                   cordon_event *ret_event, cordon_err *err);

/*
 * The command line, environment and folder for serving a local daemon for the time of one run
 * ("podman system service"); UNSUPPORTED for an engine that has no such thing. argv is a
 * NULL-terminated list owned by the caller (free each, then the list).
 */
typedef int cordon_engine_serve_fn(const char *program, const char *socket_path, char ***ret_argv,
                                   cordon_err *err);

typedef struct cordon_engine_ops {
    cordon_engine_kind kind;
    const char *name; /* "docker", "podman": as in configuration */
    cordon_engine_open_fn *open;
    cordon_engine_close_fn *close;
    cordon_engine_identity_fn *identity;
    cordon_engine_describe_fn *describe;
    cordon_engine_serve_fn *serve;
    cordon_image_resolve_fn *image_resolve;
    cordon_image_load_fn *image_load;
    cordon_image_remove_fn *image_remove;
    cordon_image_list_fn *image_list;
    cordon_network_create_fn *network_create;
    cordon_network_inspect_fn *network_inspect;
    cordon_network_connect_fn *network_connect;
    cordon_network_remove_fn *network_remove;
    cordon_volume_create_fn *volume_create;
    cordon_volume_inspect_fn *volume_inspect;
    cordon_volume_remove_fn *volume_remove;
    cordon_container_create_fn *container_create;
    cordon_container_inspect_fn *container_inspect;
    cordon_container_attach_fn *container_attach;
    cordon_container_prepare_fn *container_prepare;
    cordon_container_runtime_fn *container_runtime;
    cordon_container_start_fn *container_start;
    cordon_container_signal_fn *container_signal;
    cordon_container_wait_fn *container_wait;
    cordon_container_remove_fn *container_remove;
    cordon_container_log_fn *container_log;
    cordon_container_changes_fn *container_changes;
    cordon_list_by_label_fn *list_by_label;
    cordon_events_open_fn *events_open;
    cordon_events_parse_fn *events_parse;
} cordon_engine_ops;

/*
 * All engines, ended by NULL. Defined by engines/registry.c and, in tests, by the test itself:
 * core names no engine.
 */
extern const cordon_engine_ops *const cordon_engine_registry[];

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract suite: what every engine must do, written once, against nothing but engine.h. A test
 * program names one engine and runs all cases over a real daemon. It needs one image that holds
 * a busybox /bin/sh, and leaves nothing behind.
 */
#ifndef CORDON_TESTS_CONTRACT_H
#define CORDON_TESTS_CONTRACT_H

#include "engine.h"
#include "kit/random.h"
#include "support/test.h"

/*
 * image     "sha256:..." of the shell image
 * silent    facts that this engine cannot show in a container's inspect, NULL-terminated; every
 *           other one must be known
 * adds_env  beginnings of the variables that it adds by itself, NULL-terminated
 */
typedef struct contract_engine {
    const cordon_engine_ops *ops;
    cordon_engine_address address;
    const char *image;
    const char *const *silent;
    const char *const *adds_env;
} contract_engine;

/* Runs the whole suite; the result is main's exit status. */
int contract_run(const contract_engine *engine);

/*
 * For a main: fills address and image from the environment variables, or returns the status to
 * exit with: 77 (skipped), or 1 where engines are required (CI=true, CORDON_REQUIRE_ENGINES=1).
 */
int contract_from_environment(const char *endpoint_variable, const char *image_variable,
                              contract_engine *ret_engine);

/* --- For the case files ------------------------------------------------------------------- */

extern const contract_engine *contract_under_test;

#define CONTRACT_NAMES_MAX 16

/* One opened engine, and what a case made there: all of it goes when the session ends. */
typedef struct session {
    const cordon_engine_ops *ops;
    void *impl;
    cordon_engine_facts facts;
    char token[33];
    char label[64]; /* "cordon.contract=<token>" on everything */
    const char *labels[2];
    char image[CORDON_ID_HEX + 1];
    char *containers[CONTRACT_NAMES_MAX];
    char *networks[CONTRACT_NAMES_MAX];
    char names[CONTRACT_NAMES_MAX][64];
    size_t name_count;
    char folder[64]; /* on the host, empty, world-writable; "" until asked for */
} session;

bool session_open(session *s);
void session_close(session *s);
CORDON_DEFINE_AUTO(session, session_close)

/* The deadline that every call of a case gets: generous, so that it never decides a test. */
cordon_deadline soon(void);

/* "contract-<token>-<n>"; lives as long as the session. */
const char *session_name(session *s);

/* A folder that containers can bind. */
bool session_folder(session *s);

/* Creates and remembers for removal. NULL (and a recorded failure) when it did not work. */
const char *make_network(session *s, const cordon_network_spec *spec);
const char *make_container(session *s, const cordon_container_spec *spec);
void remember_container(session *s, char *id);

/* Forgets an object that the case itself removed. */
void forget(session *s, const char *id);

/* A whole network specification on subnet 10.211.<octet>.0/29. */
cordon_network_spec network_spec(session *s, unsigned octet, bool internal);

/* A whole container specification: /bin/sh -c SCRIPT, no network, every limit that can be set. */
typedef struct shell_spec {
    cordon_container_spec spec;
    const char *entrypoint[2];
    const char *command[1];
    const char *environment[2];
    const char *sysctls[1];
    const char *dns[1];
    cordon_mount_spec mounts[3];
    cordon_endpoint_spec endpoints[2];
} shell_spec;

void shell_spec_init(session *s, const char *script, shell_spec *ret_spec);

/* Adds an endpoint on a network with a fixed address. */
void shell_spec_join(shell_spec *shell, const char *network_id, const char *network_name,
                     const char *ipv4);

/* Checks every fact of a container against its specification; records a failure per difference. */
void check_container_facts(const session *s, const cordon_container_spec *spec, const char *id,
                           cordon_run_state state, const cordon_container_facts *facts);

/* Reads an attached stream to its end; stdout and stderr come out as text. */
typedef struct captured {
    char out[8192];
    char err[8192];
    size_t out_length;
    size_t err_length;
} captured;
bool capture(cordon_stream *stream, captured *ret_captured);

/* A docker-archive of one image, made in memory; free it. base_layers may be NULL. */
typedef struct archive {
    char *tar;
    size_t length;
    char image_id[CORDON_ID_HEX + 1];
} archive;
bool archive_make(const char *base_layer, const char *architecture, archive *ret_archive);

extern const test_case contract_session_cases[];
extern const size_t contract_session_case_count;
extern const test_case contract_object_cases[];
extern const size_t contract_object_case_count;
extern const test_case contract_life_cases[];
extern const size_t contract_life_case_count;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Docker's contexts and Podman's JSON connections; see engine_names.h. */
#include "engine_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "engine_names_impl.h"
#include "kit/buf.h"
#include "kit/hash.h"
#include "kit/jsonr.h"
#include "ssh.h"

#define NAME_MAX_BYTES 128
#define DEPTH_MAX      16
#define PATH_BYTES     4096

void cordon_named_engine_clear(cordon_named_engine *engine)
{
    free(engine->endpoint);
    free(engine->tls_ca_file);
    free(engine->tls_cert_file);
    free(engine->tls_key_file);
    free(engine->identity);
    free(engine->file);
    *engine = (cordon_named_engine){0};
}

int cordon_name_check(const char *text, cordon_err *err)
{
    static const char alnum[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    static const char other[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
    const char *name = text;
    size_t prefix = strlen(CORDON_NAME_DOCKER);
    if (strncmp(text, CORDON_NAME_DOCKER, prefix) == 0 ||
        strncmp(text, CORDON_NAME_PODMAN, prefix) == 0)
        name += prefix;
    if (strspn(name, alnum) == 0 || strspn(name, other) != strlen(name) ||
        strlen(name) > NAME_MAX_BYTES)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" is not a name", CORDON_QUOTE(text));
    return 0;
}

/* --- Files ---------------------------------------------------------------------------------- */

static int join(const char *folder, const char *rest, char **ret_path, cordon_err *err)
{
    cordon_auto(cordon_buf) path = cordon_buf_make(PATH_BYTES);
    if (cordon_buf_printf(&path, err, "%s/%s", folder, rest) != 0)
        return -1;
    return cordon_buf_take(&path, ret_path, NULL, err);
}

static int hand_on(const cordon_err *from, cordon_err *err)
{
    if (err)
        *err = *from;
    return -1;
}

static int in_file(const char *file, cordon_err *err)
{
    if (err && err->code == CORDON_ERR_PROTOCOL)
        err->code = CORDON_ERR_CONFIG;
    cordon_err_wrap(err, "%s", CORDON_QUOTE(file));
    return -1;
}

/* SECURITY: Docker's config.json may hold passwords: the text is not left in freed memory. */
static int read_json(const cordon_trust *trust, const char *file, cordon_json_doc **ret_doc,
                     cordon_err *err)
{
    cordon_autofree char *text = NULL;
    size_t length = 0;
    if (cordon_trust_read(trust, file, NULL, &text, &length, err) != 0)
        return -1;
    int rc = cordon_json_parse(text, length, CORDON_TRUST_MAX_BYTES, DEPTH_MAX, ret_doc, err);
    explicit_bzero(text, length);
    return rc == 0 ? 0 : in_file(file, err);
}

/* Only a text that is not empty says anything; both programs write "" for "not set". */
static int get_text(cordon_json object, const char *key, char **ret_text, cordon_err *err)
{
    cordon_json_string text = {0};
    if (cordon_json_get_string(object, key, &text, err) != 0)
        return -1;
    if (text.has != CORDON_JSON_PRESENT || text.length == 0)
        return 0;
    return cordon_text_copy(text.text, ret_text, err);
}

static int fail_leftover(void *context, const cordon_json_leftover *leftover, cordon_err *err)
{
    (void)context;
    if (leftover->empty)
        return 0;
    return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                       "%s says something about the connection that Cordon does not know",
                       CORDON_QUOTE(leftover->path));
}

/* What of this object nobody has read must be of no weight. */
static int no_leftovers(cordon_json object, cordon_err *err)
{
    return cordon_json_leftovers(object, fail_leftover, NULL, err);
}

/* --- What both have in common --------------------------------------------------------------- */

static int check_file(const cordon_trust *trust, const char *file, const char *what,
                      cordon_err *err)
{
    if (!file)
        return 0;
    if (file[0] != '/')
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "%s \"%s\" is no absolute path", what,
                           CORDON_QUOTE(file));
    if (cordon_trust_check(trust, file, err) == 0)
        return 0;
    if (err && err->code == CORDON_ERR_NOTFOUND)
        err->code = CORDON_ERR_CONFIG; /* the name is there; what it needs is not */
    cordon_err_wrap(err, "%s", what);
    return -1;
}

static int check_tls(const cordon_trust *trust, const cordon_named_engine *engine, cordon_err *err)
{
    bool tls = engine->tls_ca_file != NULL;
    if (tls != (engine->tls_cert_file != NULL) || tls != (engine->tls_key_file != NULL))
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "mutual TLS needs all of its files: the authority's, the client's "
                           "certificate, and its key");
    if (tls && strncmp(engine->endpoint, "tcp://", strlen("tcp://")) != 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "has TLS files, but \"%s\" is not tcp://",
                           CORDON_QUOTE(engine->endpoint));
    if (check_file(trust, engine->tls_ca_file, "the TLS authority", err) != 0 ||
        check_file(trust, engine->tls_cert_file, "the TLS certificate", err) != 0)
        return -1;
    return check_file(trust, engine->tls_key_file, "the TLS key", err);
}

int cordon_named_engine_check(const cordon_trust *trust, const char *name,
                              const cordon_named_engine *engine, cordon_err *err)
{
    int rc = -1;
    if (!engine->endpoint)
        (void)CORDON_FAIL(err, CORDON_ERR_CONFIG, "\"%s\" names no host", CORDON_QUOTE(name));
    else if (check_tls(trust, engine, err) == 0 &&
             cordon_address_check(engine->endpoint, engine->tls_ca_file != NULL, err) == 0)
        rc = 0;
    if (rc == 0 && engine->identity && !cordon_ssh_is_endpoint(engine->endpoint))
        rc = CORDON_FAIL(err, CORDON_ERR_CONFIG, "has an identity, but \"%s\" is not ssh://",
                         CORDON_QUOTE(engine->endpoint));
    if (rc == 0)
        rc = check_file(trust, engine->identity, "the identity", err);
    return rc == 0 ? 0 : in_file(engine->file, err);
}

/* --- Docker --------------------------------------------------------------------------------- */

/* contexts/KIND/<sha256 of the name>REST below the folder. */
static int context_path(const char *folder, const char *kind, const char *name, const char *rest,
                        char **ret_path, cordon_err *err)
{
    uint8_t digest[CORDON_SHA256_BYTES];
    char hex[CORDON_SHA256_HEX_SIZE];
    char tail[256];
    cordon_sha256_digest(name, strlen(name), digest);
    cordon_hex_encode(digest, sizeof digest, hex);
    (void)snprintf(tail, sizeof tail, "contexts/%s/%s%s", kind, hex, rest);
    return join(folder, tail, ret_path, err);
}

/*
 * Docker takes TLS for granted where the folder holds one of the files. The folder's entries are
 * not listed: each file is there or is not.
 */
static int context_file(const cordon_trust *trust, const char *folder, const char *name,
                        const char *rest, char **ret_file, cordon_err *err)
{
    cordon_autofree char *path = NULL;
    cordon_err why = CORDON_ERR_INIT;
    if (context_path(folder, "tls", name, rest, &path, err) != 0)
        return -1;
    if (cordon_trust_check(trust, path, &why) == 0) {
        *ret_file = CORDON_TAKE(path);
        return 0;
    }
    return why.code == CORDON_ERR_NOTFOUND ? 0 : hand_on(&why, err);
}

static int read_context(const cordon_trust *trust, const char *folder, const char *name,
                        cordon_json root, cordon_named_engine *engine, cordon_err *err)
{
    const char *said = NULL;
    cordon_json endpoints;
    cordon_json docker;
    cordon_json_bool skip = {0};
    if (cordon_json_need_string(root, "Name", &said, err) != 0)
        return -1;
    if (strcmp(said, name) != 0)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "is of another context, \"%s\"",
                           CORDON_QUOTE(said));
    if (cordon_json_need_object(root, "Endpoints", &endpoints, err) != 0 ||
        cordon_json_need_object(endpoints, "docker", &docker, err) != 0 ||
        get_text(docker, "Host", &engine->endpoint, err) != 0 ||
        cordon_json_get_bool(docker, "SkipTLSVerify", &skip, err) != 0)
        return -1;
    if (skip.has == CORDON_JSON_PRESENT && skip.value)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG,
                           "SkipTLSVerify: whoever answers would be believed; give the context the "
                           "authority's certificate");
    if (no_leftovers(docker, err) != 0 ||
        context_file(trust, folder, name, "/docker/ca.pem", &engine->tls_ca_file, err) != 0 ||
        context_file(trust, folder, name, "/docker/cert.pem", &engine->tls_cert_file, err) != 0)
        return -1;
    return context_file(trust, folder, name, "/docker/key.pem", &engine->tls_key_file, err);
}

int cordon_name_docker(const cordon_trust *trust, const char *folder, const char *name,
                       cordon_named_engine *ret_engine, cordon_err *err)
{
    cordon_auto(cordon_named_engine) engine = {0};
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    if (context_path(folder, "meta", name, "/meta.json", &engine.file, err) != 0)
        return -1;
    if (read_json(trust, engine.file, &doc, err) != 0) {
        cordon_err_wrap(err, "Docker context \"%s\"", CORDON_QUOTE(name));
        return -1;
    }
    if (read_context(trust, folder, name, cordon_json_root(doc), &engine, err) != 0)
        return in_file(engine.file, err);
    if (cordon_named_engine_check(trust, name, &engine, err) != 0)
        return -1;
    *ret_engine = engine;
    engine = (cordon_named_engine){0};
    return 0;
}

int cordon_name_docker_current(const cordon_trust *trust, const char *folder, char **ret_name,
                               cordon_err *err)
{
    cordon_autofree char *file = NULL;
    cordon_autofree char *name = NULL;
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_err why = CORDON_ERR_INIT;
    if (join(folder, "config.json", &file, err) != 0)
        return -1;
    if (read_json(trust, file, &doc, &why) != 0)
        return why.code == CORDON_ERR_NOTFOUND ? 0 : hand_on(&why, err);
    if (get_text(cordon_json_root(doc), "currentContext", &name, err) != 0 ||
        (name && cordon_name_check(name, err) != 0))
        return in_file(file, err);
    if (name && strcmp(name, CORDON_DOCKER_DEFAULT) != 0)
        *ret_name = CORDON_TAKE(name);
    return 0;
}

/* --- Podman --------------------------------------------------------------------------------- */

static int no_connection(const char *file, const char *name, cordon_err *err)
{
    return CORDON_FAIL(err, CORDON_ERR_NOTFOUND,
                       "Podman connection \"%s\": %s has none of that name", CORDON_QUOTE(name),
                       CORDON_QUOTE(file));
}

static int read_connection(cordon_json at, cordon_named_engine *engine, cordon_err *err)
{
    cordon_json_bool machine = {0};
    if (get_text(at, "URI", &engine->endpoint, err) != 0 ||
        get_text(at, "Identity", &engine->identity, err) != 0 ||
        get_text(at, "TLSCA", &engine->tls_ca_file, err) != 0 ||
        get_text(at, "TLSCert", &engine->tls_cert_file, err) != 0 ||
        get_text(at, "TLSKey", &engine->tls_key_file, err) != 0 ||
        cordon_json_get_bool(at, "IsMachine", &machine, err) != 0)
        return -1;
    return no_leftovers(at, err);
}

static int find_connection(cordon_json root, const char *name, cordon_json_place *ret_place,
                           cordon_err *err)
{
    cordon_json_place outer = {0};
    cordon_json_place inner = {0};
    if (cordon_json_get_object(root, "Connection", &outer, err) != 0)
        return -1;
    if (outer.has == CORDON_JSON_PRESENT &&
        cordon_json_get_object(outer.value, "Connections", &inner, err) != 0)
        return -1;
    if (inner.has != CORDON_JSON_PRESENT)
        return 0;
    return cordon_json_get_object(inner.value, name, ret_place, err);
}

/* Of podman-connections.json; NOTFOUND also where the file is not there. */
static int from_json(const cordon_trust *trust, const char *folder, const char *name,
                     cordon_named_engine *engine, cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_json_place place = {0};
    if (join(folder, "podman-connections.json", &engine->file, err) != 0 ||
        read_json(trust, engine->file, &doc, err) != 0)
        return -1;
    if (find_connection(cordon_json_root(doc), name, &place, err) != 0)
        return in_file(engine->file, err);
    if (place.has != CORDON_JSON_PRESENT)
        return no_connection(engine->file, name, err);
    if (read_connection(place.value, engine, err) != 0)
        return in_file(engine->file, err);
    return 0;
}

/* Of Podman 4's file. */
static int from_conf(const cordon_trust *trust, const char *folder, const char *name,
                     cordon_named_engine *engine, cordon_err *err)
{
    cordon_autofree char *text = NULL;
    size_t length = 0;
    bool found = false;
    if (join(folder, "containers.conf", &engine->file, err) != 0)
        return -1;
    if (cordon_trust_read(trust, engine->file, NULL, &text, &length, err) != 0)
        return -1;
    if (cordon_destinations_read(text, length, name, engine, &found, err) != 0)
        return in_file(engine->file, err);
    return found ? 0 : no_connection(engine->file, name, err);
}

int cordon_name_podman(const cordon_trust *trust, const char *folder, const char *name,
                       cordon_named_engine *ret_engine, cordon_err *err)
{
    cordon_auto(cordon_named_engine) engine = {0};
    cordon_err why = CORDON_ERR_INIT;
    int rc = from_json(trust, folder, name, &engine, &why);
    if (rc != 0 && why.code == CORDON_ERR_NOTFOUND) {
        cordon_err older = CORDON_ERR_INIT;
        cordon_named_engine_clear(&engine);
        rc = from_conf(trust, folder, name, &engine, &older);
        /* Podman 5's file is the one to name, where neither has it. */
        why = rc != 0 && older.code != CORDON_ERR_NOTFOUND ? older : why;
    }
    if (rc != 0)
        return hand_on(&why, err);
    if (cordon_named_engine_check(trust, name, &engine, err) != 0)
        return -1;
    *ret_engine = engine;
    engine = (cordon_named_engine){0};
    return 0;
}

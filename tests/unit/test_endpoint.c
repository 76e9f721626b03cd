/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint texts: what becomes a client, and what is refused with a reason. */
#include "kit/endpoint.h"

#include "support/test.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void good_endpoints_become_clients_of_their_name(void)
{
    static const struct {
        const char *endpoint;
        const char *name;
    } good[] = {
        {"unix:///run/docker.sock", "unix:///run/docker.sock"},
        {"tcp://localhost:2375", "tcp://localhost:2375"},
        {"tcp://127.0.0.1:1", "tcp://127.0.0.1:1"},
        {"tcp://127.255.0.9:65535", "tcp://127.255.0.9:65535"},
        {"tcp://[::1]:2375", "2375"},
    };
    for (size_t i = 0; i < COUNT(good); i++) {
        cordon_auto_ptr(cordon_httpc) client = NULL;
        cordon_err err = CORDON_ERR_INIT;
        if (CHECK_OK(cordon_endpoint_client(good[i].endpoint, NULL, NULL, NULL, &client, &err),
                     err))
            CHECK_CONTAINS(cordon_httpc_name(client), good[i].name);
    }
}

static void bad_endpoints_are_refused_by_name(void)
{
    static const struct {
        const char *endpoint;
        const char *reason;
    } bad[] = {
        {"", "expected unix:///path or tcp://host:port"},
        {"/run/docker.sock", "expected unix:///path"},
        {"http://localhost:2375", "expected unix:///path"},
        {"unix://run/docker.sock", "absolute"},
        {"unix://", "absolute"},
        {"tcp://localhost", "host:port"},
        {"tcp://:2375", "host:port"},
        {"tcp://localhost:0", "port"},
        {"tcp://localhost:65536", "port"},
        {"tcp://localhost:23x", "port"},
        {"tcp://localhost:+1", "port"},
        {"tcp://localhost:2375/path", "port"},
        {"tcp://user@localhost:2375", "host:port"},
        {"tcp://local host:2375", "host:port"},
        {"tcp://[::1:2375", "host:port"},
        {"tcp://[localhost]:2375", "host:port"},
        {"tcp://-x:2375", "host:port"},
        {"tcp://10.0.0.1:2375", "needs TLS"},
        {"tcp://docker.example:2375", "needs TLS"},
        {"tcp://localhost.example:2375", "needs TLS"},
        {"tcp://128.0.0.1:2375", "needs TLS"},
        {"tcp://[::2]:2375", "needs TLS"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        cordon_httpc *client = NULL;
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(cordon_endpoint_client(bad[i].endpoint, NULL, NULL, NULL, &client, &err), err,
                    CORDON_ERR_CONFIG, bad[i].reason);
        CHECK_CONTAINS(err.message, bad[i].endpoint);
        CHECK(client == NULL);
    }
}

static void tls_files_belong_to_tcp(void)
{
    cordon_httpc *client = NULL;
    cordon_err err = CORDON_ERR_INIT;
    CHECK_FAILS(
        cordon_endpoint_client("unix:///run/docker.sock", "/ca.pem", NULL, NULL, &client, &err),
        err, CORDON_ERR_CONFIG, "unix socket");
    CHECK(client == NULL);
}

CORDON_TEST_MAIN("endpoint", TEST(good_endpoints_become_clients_of_their_name),
                 TEST(bad_endpoints_are_refused_by_name), TEST(tls_files_belong_to_tcp))

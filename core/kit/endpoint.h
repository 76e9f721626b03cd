/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an endpoint text to an HTTP client: "unix:///abs/path", "tcp://host:port",
 * "tcp://[v6]:port". Parsing only; nothing is opened or looked up.
 */
#ifndef CORDON_KIT_ENDPOINT_H
#define CORDON_KIT_ENDPOINT_H

#include "kit/httpc.h"

/*
 * PEM files for mutual TLS, or NULL. SECURITY: whoever can talk to an engine owns its host, so TCP
 * without a CA file is refused unless the host is loopback ("localhost", 127.0.0.0/8, ::1).
 * @return 0, or -1 with CONFIG naming the endpoint and what is wrong with it, or NOMEM
 */
int cordon_endpoint_client(const char *endpoint, const char *ca_file, const char *cert_file,
                           const char *key_file, cordon_httpc **ret_client, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

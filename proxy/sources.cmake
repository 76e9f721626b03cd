# SPDX-License-Identifier: Apache-2.0
#
# The proxy's sources, relative to the root of the repository: one list for the library that the
# tests link and for the guard, which is built by another compiler. Besides these the guard needs
# kit's buf, deadline, error, frame, hash and num.
set(CORDON_PROXY_SOURCES
    proxy/address.c
    proxy/answer.c
    proxy/calls.c
    proxy/client_hello.c
    proxy/conn.c
    proxy/descriptors.c
    proxy/dial.c
    proxy/errno_name.c
    proxy/hello.c
    proxy/host.c
    proxy/http_head.c
    proxy/listen.c
    proxy/log.c
    proxy/lockdown.c
    proxy/main.c
    proxy/options.c
    proxy/pipes.c
    proxy/policy.c
    proxy/race.c
    proxy/reason.c
    proxy/relay.c
    proxy/request.c
    proxy/resolve.c
    proxy/resolver.c
    proxy/serve.c
    proxy/setup.c
    proxy/start.c
    proxy/timer.c)

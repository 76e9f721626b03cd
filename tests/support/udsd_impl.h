/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the scripted server's two files share.
 */
#ifndef CORDON_TESTS_SUPPORT_UDSD_IMPL_H
#define CORDON_TESTS_SUPPORT_UDSD_IMPL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "support/udsd.h"

#define REQUESTS_MAX    4096
#define CONNECTIONS_MAX 4096
struct udsd {
    const udsd_step *steps;
    size_t step_count;
    bool ordered;
    bool *used;
    udsd_handler *handler;
    void *context;
    char folder[64];
    char path[96];
    int listener;
    int stop_pipe[2]; /* readable when everything must end */
    pthread_t acceptor;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t request_count;
    udsd_request *requests[REQUESTS_MAX];
    size_t thread_count;
    pthread_t threads[CONNECTIONS_MAX];
    char complaint[512];
};

typedef struct connection {
    udsd *server;
    int fd;
} connection;

/* Aborts when not ok. */
void udsd_need(bool ok, const char *what);
/* Zeroed. */
void *udsd_alloc(size_t size);

/* Sends the step's reply; false when the connection is over. */
bool udsd_reply(connection *c, const udsd_step *step);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where relayed bytes wait when the reader is slower than the writer: kernel pipes from a small
 * pool, so that bulk data is spliced and an idle tunnel holds none, and plain memory where no
 * descriptor is left. libc-only.
 */
#ifndef CORDON_PROXY_PIPES_H
#define CORDON_PROXY_PIPES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A read that fills this much is the sign of bulk data. */
#define CORDON_PIPES_CHUNK 16384
/*
 * What a pipe can hold; a smaller one (the kernel's limit per user) is not used. The first ones are
 * larger, since fewer and longer moves nearly halve the cost of bulk; but only so many, so that
 * slow readers of many tunnels can't have the kernel hold much.
 */
#define CORDON_PIPES_BYTES     65536
#define CORDON_PIPES_BYTES_BIG 262144
#define CORDON_PIPES_BIG       64

/*
 * ends     read and write end, or -1 for the kind that is memory
 * pending  bytes inside
 * offset   of the first pending byte in `memory`
 * next     of the free list
 */
typedef struct cordon_pipe {
    int ends[2];
    uint32_t pending;
    uint32_t offset;
    struct cordon_pipe *next;
    unsigned char memory[];
} cordon_pipe;

/* Zero it, then set max_open: how many pipes may exist at a time. */
typedef struct cordon_pipes {
    cordon_pipe *free;
    uint32_t free_count;
    uint32_t open_count;
    uint32_t max_open;
} cordon_pipes;

/* An empty kernel pipe, or NULL. */
cordon_pipe *cordon_pipes_take(cordon_pipes *pool);

/* The same, or CORDON_PIPES_CHUNK bytes of memory instead; NULL only when memory ran out. */
cordon_pipe *cordon_pipes_take_any(cordon_pipes *pool);

/* Gives it back, pending bytes included. NULL is fine. */
void cordon_pipes_give(cordon_pipes *pool, cordon_pipe *pipe);

/* Closes every pipe that waits in the pool. */
void cordon_pipes_clear(cordon_pipes *pool);

/* Puts at most CORDON_PIPES_CHUNK bytes into an empty pipe: all of them (0), or fails (-1). */
int cordon_pipe_put(cordon_pipe *pipe, const void *bytes, size_t length);

/*
 * Moves bytes socket -> kernel pipe, or pipe -> socket, as many as go without blocking.
 *
 * @return as splice(2) and send(2): the count, 0 at end of file, -1 with errno
 */
ssize_t cordon_pipe_fill(cordon_pipe *pipe, int socket);
ssize_t cordon_pipe_drain(cordon_pipe *pipe, int socket);

#endif

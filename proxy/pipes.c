/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pipe pool; see pipes.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pipes.h"

/* Enough for the tunnels that are busy at one moment; more are made and closed as needed. */
#define PIPES_KEPT 32

static void pipe_free(cordon_pipes *pool, cordon_pipe *pipe)
{
    if (pipe->ends[0] >= 0) {
        (void)close(pipe->ends[0]);
        (void)close(pipe->ends[1]);
        pool->open_count--;
    }
    free(pipe);
}

static cordon_pipe *pipe_new(size_t memory_bytes)
{
    cordon_pipe *pipe = malloc(sizeof *pipe + memory_bytes);
    if (pipe)
        *pipe = (cordon_pipe){.ends = {-1, -1}};
    return pipe;
}

static cordon_pipe *pipe_open(cordon_pipes *pool)
{
    if (pool->open_count >= pool->max_open)
        return NULL;
    cordon_pipe *pipe = pipe_new(0);
    if (!pipe)
        return NULL;
    if (pipe2(pipe->ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        free(pipe);
        return NULL;
    }
    pool->open_count++;
    /* Refused over the limit per user (pipe(7)): then it stays as it is. */
    if (pool->open_count <= CORDON_PIPES_BIG)
        (void)fcntl(pipe->ends[1], F_SETPIPE_SZ, CORDON_PIPES_BYTES_BIG);
    if (fcntl(pipe->ends[0], F_GETPIPE_SZ) < CORDON_PIPES_BYTES) {
        pipe_free(pool, pipe);
        return NULL;
    }
    return pipe;
}

cordon_pipe *cordon_pipes_take(cordon_pipes *pool)
{
    cordon_pipe *pipe = pool->free;
    if (!pipe)
        return pipe_open(pool);
    pool->free = pipe->next;
    pool->free_count--;
    pipe->next = NULL;
    return pipe;
}

cordon_pipe *cordon_pipes_take_any(cordon_pipes *pool)
{
    cordon_pipe *pipe = cordon_pipes_take(pool);
    return pipe ? pipe : pipe_new(CORDON_PIPES_CHUNK);
}

void cordon_pipes_give(cordon_pipes *pool, cordon_pipe *pipe)
{
    if (!pipe)
        return;
    /* SECURITY: a pipe with one tunnel's bytes in it never reaches another tunnel. */
    if (pipe->ends[0] < 0 || pipe->pending > 0 || pool->free_count >= PIPES_KEPT) {
        pipe_free(pool, pipe);
        return;
    }
    pipe->next = pool->free;
    pool->free = pipe;
    pool->free_count++;
}

void cordon_pipes_clear(cordon_pipes *pool)
{
    while (pool->free) {
        cordon_pipe *pipe = pool->free;
        pool->free = pipe->next;
        pool->free_count--;
        pipe_free(pool, pipe);
    }
}

int cordon_pipe_put(cordon_pipe *pipe, const void *bytes, size_t length)
{
    if (pipe->ends[1] < 0) {
        memcpy(pipe->memory, bytes, length);
        pipe->offset = 0;
    } else {
        ssize_t written = write(pipe->ends[1], bytes, length);
        if (written > 0)
            pipe->pending = (uint32_t)written;
        if (written != (ssize_t)length)
            return -1;
    }
    pipe->pending = (uint32_t)length;
    return 0;
}

ssize_t cordon_pipe_fill(cordon_pipe *pipe, int socket)
{
    ssize_t moved = splice(socket, NULL, pipe->ends[1], NULL, CORDON_PIPES_BYTES_BIG,
                           SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (moved > 0)
        pipe->pending += (uint32_t)moved;
    return moved;
}

ssize_t cordon_pipe_drain(cordon_pipe *pipe, int socket)
{
    ssize_t moved;
    if (pipe->ends[0] < 0)
        moved =
            send(socket, pipe->memory + pipe->offset, pipe->pending, MSG_NOSIGNAL | MSG_DONTWAIT);
    else
        moved = splice(pipe->ends[0], NULL, socket, NULL, pipe->pending,
                       SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (moved > 0) {
        pipe->pending -= (uint32_t)moved;
        pipe->offset += (uint32_t)moved;
    }
    return moved;
}

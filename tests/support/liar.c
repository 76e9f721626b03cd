/* SPDX-License-Identifier: Apache-2.0 */
/* See liar.h. */
#include "support/liar.h"

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define HEAD_MAX        32768
#define BODY_MAX        (64U << 20)
#define CONNECTIONS_MAX 4096

struct liar {
    liar_hooks hooks;
    char engine[96];
    char folder[64];
    char path[96];
    char endpoint[112];
    int listener;
    pthread_t acceptor;
    pthread_mutex_t lock;
    bool stopping;
    size_t count;
    int fds[CONNECTIONS_MAX][2]; /* -1 once closed */
    pthread_t threads[CONNECTIONS_MAX];
};

/* One client and its own connection to the engine. */
typedef struct link {
    liar *owner;
    size_t slot;
    int client;
    int engine;
} link_t;

/* A head as received, with its blank line. */
typedef struct head {
    char text[HEAD_MAX];
    size_t length;
} head;

/* --- Bytes ------------------------------------------------------------------------------------ */

static bool send_all(int fd, const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length > 0) {
        ssize_t sent = send(fd, at, length, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        at += sent;
        length -= (size_t)sent;
    }
    return true;
}

/* Byte by byte, so that nothing of what follows is taken. */
static bool read_head(int fd, head *h)
{
    h->length = 0;
    while (h->length < HEAD_MAX - 1 && recv(fd, h->text + h->length, 1, 0) == 1) {
        h->length++;
        h->text[h->length] = '\0';
        if (h->length >= 4 && memcmp(h->text + h->length - 4, "\r\n\r\n", 4) == 0)
            return true;
    }
    return false;
}

/* The value of a header, or NULL; ends at CR. */
static const char *header(const head *h, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = h->text; (line = strstr(line, "\r\n"));) {
        line += 2;
        if (strncasecmp(line, name, length) == 0 && line[length] == ':')
            return line + length + 1 + strspn(line + length + 1, " ");
    }
    return NULL;
}

static bool header_says(const head *h, const char *name, const char *word)
{
    const char *value = header(h, name);
    return value && strncasecmp(value, word, strlen(word)) == 0;
}

static bool number(const char *text, size_t length, unsigned base, uint64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < length; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = strchr(digits, text[i] | 0x20);
        if (!digit || (unsigned)(digit - digits) >= base)
            return false;
        *ret = *ret * base + (unsigned)(digit - digits);
    }
    return length > 0;
}

static bool read_counted(int fd, uint64_t length, cordon_buf *into)
{
    char piece[65536];
    cordon_err ignored = CORDON_ERR_INIT;
    while (length > 0) {
        ssize_t got = recv(fd, piece, length < sizeof piece ? (size_t)length : sizeof piece, 0);
        if (got <= 0 || cordon_buf_append(into, piece, (size_t)got, &ignored) != 0)
            return false;
        length -= (uint64_t)got;
    }
    return true;
}

static bool read_line(int fd, char line[64])
{
    size_t length = 0;
    while (length < 63 && recv(fd, line + length, 1, 0) == 1) {
        if (line[length++] == '\n') {
            line[length] = '\0';
            return true;
        }
    }
    return false;
}

static bool read_chunks(int fd, cordon_buf *into)
{
    char line[64];
    uint64_t size = 1;
    while (size > 0) {
        if (!read_line(fd, line) ||
            !number(line, strspn(line, "0123456789abcdefABCDEF"), 16, &size))
            return false;
        if ((size > 0 && !read_counted(fd, size, into)) || !read_line(fd, line))
            return false;
    }
    return true;
}

static bool read_to_end(int fd, cordon_buf *into)
{
    char piece[65536];
    cordon_err ignored = CORDON_ERR_INIT;
    for (;;) {
        ssize_t got = recv(fd, piece, sizeof piece, 0);
        if (got <= 0)
            return got == 0;
        if (cordon_buf_append(into, piece, (size_t)got, &ignored) != 0)
            return false;
    }
}

/* *ret_last: nothing comes after it on this connection. */
static bool read_body(int fd, const head *h, bool request, int status, cordon_buf *into,
                      bool *ret_last)
{
    const char *length = header(h, "Content-Length");
    uint64_t bytes = 0;
    *ret_last = header_says(h, "Connection", "close");
    if (status == 204 || status == 304)
        return true;
    if (header_says(h, "Transfer-Encoding", "chunked"))
        return read_chunks(fd, into);
    if (length)
        return number(length, strspn(length, "0123456789"), 10, &bytes) &&
               read_counted(fd, bytes, into);
    *ret_last = !request;
    return request || read_to_end(fd, into);
}

/* --- One exchange ----------------------------------------------------------------------------- */

/* The head without framing headers, and with the length of this body. */
static bool send_message(int fd, const head *h, const cordon_buf *body, size_t limit)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(BODY_MAX + HEAD_MAX);
    cordon_err err = CORDON_ERR_INIT;
    static const char *const framing[] = {"Content-Length:", "Transfer-Encoding:", "Expect:"};
    for (const char *line = h->text; line[0] != '\r';) {
        const char *next = strstr(line, "\r\n") + 2;
        bool skip = false;
        for (size_t i = 0; i < sizeof framing / sizeof framing[0]; i++)
            skip = skip || strncasecmp(line, framing[i], strlen(framing[i])) == 0;
        if (!skip && cordon_buf_append(&out, line, (size_t)(next - line), &err) != 0)
            return false;
        line = next;
    }
    if (cordon_buf_printf(&out, &err, "Content-Length: %zu\r\n\r\n", body->length) != 0 ||
        cordon_buf_append(&out, body->data ? body->data : "", body->length, &err) != 0)
        return false;
    return send_all(fd, out.data, limit > 0 && limit < out.length ? limit : out.length);
}

static bool has_no_body(int status)
{
    return status == 204 || status == 304;
}

/* An answer that the hook made up, or changed. */
static bool send_answer(const link_t *link, const head *h, const liar_exchange *x, liar_word word)
{
    head own = {.length = 0};
    const char *rest = h ? strstr(h->text, "\r\n") : NULL;
    (void)snprintf(own.text, sizeof own.text, "HTTP/1.1 %d Status%s", x->status,
                   rest ? rest : "\r\nContent-Type: application/json\r\n\r\n");
    if (has_no_body(x->status))
        return send_all(link->client, own.text, strlen(own.text));
    if (word == LIAR_HALF) {
        (void)send_message(link->client, &own, &x->answer, strlen(own.text) + x->answer.length / 2);
        return false;
    }
    return send_message(link->client, &own, &x->answer, 0);
}

/* False: nothing more comes after it. */
static bool send_noise(const link_t *link)
{
    static const char noise[] = "\x16\x03\x01\x02 this is no answer\r\n\r\n";
    (void)send_all(link->client, noise, sizeof noise - 1);
    return false;
}

/* True when what follows the head is no body of known end. */
static bool streams(const liar_exchange *x, int status)
{
    return status == 101 ||
           (status == 200 && (strstr(x->path, "/events") || strstr(x->path, "/attach?")));
}

static bool pump(const link_t *link, const liar_exchange *x, bool to_engine)
{
    char piece[65536];
    const liar_hooks *hooks = &link->owner->hooks;
    ssize_t got = recv(to_engine ? link->client : link->engine, piece, sizeof piece, 0);
    if (got <= 0)
        return false;
    if (hooks->piece && hooks->piece(hooks->context, x, to_engine, piece, (size_t)got) == LIAR_CUT)
        return false;
    return send_all(to_engine ? link->engine : link->client, piece, (size_t)got);
}

/* Both ways until the engine ends; the client's own end is passed on. */
static void relay(const link_t *link, const liar_exchange *x)
{
    struct pollfd fds[] = {{link->client, POLLIN, 0}, {link->engine, POLLIN, 0}};
    while (poll(fds, 2, -1) > 0) {
        if (fds[1].revents != 0 && !pump(link, x, false))
            return;
        if (fds[0].revents != 0 && !pump(link, x, true)) {
            (void)shutdown(link->engine, SHUT_WR);
            fds[0].fd = -1;
            if (strstr(x->path, "/events"))
                return;
        }
    }
}

static bool answer(const link_t *link, liar_exchange *x)
{
    head h;
    uint64_t status = 0;
    bool last = false;
    const liar_hooks *hooks = &link->owner->hooks;
    do {
        if (!read_head(link->engine, &h) || strlen(h.text) < 12 ||
            !number(h.text + 9, 3, 10, &status))
            return false;
    } while (status == 100);
    x->status = (int)status;
    if (streams(x, x->status)) {
        liar_word word = hooks->answer ? hooks->answer(hooks->context, x) : LIAR_PASS;
        if (word == LIAR_PASS && send_all(link->client, h.text, h.length))
            relay(link, x);
        else if (word == LIAR_ANSWER)
            (void)send_answer(link, NULL, x, word);
        return word == LIAR_NOISE && send_noise(link);
    }
    if (!read_body(link->engine, &h, false, x->status, &x->answer, &last))
        return false;
    liar_word word = hooks->answer ? hooks->answer(hooks->context, x) : LIAR_PASS;
    if (word == LIAR_CUT || word == LIAR_NOISE)
        return word == LIAR_NOISE && send_noise(link);
    return send_answer(link, word == LIAR_ANSWER ? NULL : &h, x, word) && !last;
}

static bool ask(const link_t *link, const head *h, liar_exchange *x)
{
    const liar_hooks *hooks = &link->owner->hooks;
    liar_word word = hooks->ask ? hooks->ask(hooks->context, x) : LIAR_PASS;
    if (word == LIAR_CUT || word == LIAR_NOISE)
        return word == LIAR_NOISE && send_noise(link);
    if (word == LIAR_ANSWER)
        return send_answer(link, NULL, x, word);
    bool bare = !header(h, "Content-Length") && !header(h, "Transfer-Encoding");
    if (bare ? !send_all(link->engine, h->text, h->length)
             : !send_message(link->engine, h, &x->request, 0))
        return false;
    return answer(link, x);
}

/* False when the connection is over. */
static bool exchange(const link_t *link)
{
    head h;
    bool last = false;
    static const char proceed[] = "HTTP/1.1 100 Continue\r\n\r\n";
    liar_exchange x = {
        .request = cordon_buf_make(BODY_MAX),
        .answer = cordon_buf_make(BODY_MAX),
        .client = link->client,
    };
    bool ok = read_head(link->client, &h);
    const char *space = ok ? strchr(h.text, ' ') : NULL;
    if (space) {
        (void)snprintf(x.method, sizeof x.method, "%.*s", (int)(space - h.text), h.text);
        (void)snprintf(x.path, sizeof x.path, "%.*s", (int)strcspn(space + 1, " "), space + 1);
    }
    if (ok && header(&h, "Expect"))
        ok = send_all(link->client, proceed, strlen(proceed));
    ok =
        ok && space && read_body(link->client, &h, true, 0, &x.request, &last) && ask(link, &h, &x);
    cordon_buf_clear(&x.request);
    cordon_buf_clear(&x.answer);
    return ok;
}

/* --- Connections ------------------------------------------------------------------------------ */

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

static void *serve(void *context)
{
    link_t *link = context;
    liar *l = link->owner;
    while (link->engine >= 0 && exchange(link))
        ;
    (void)pthread_mutex_lock(&l->lock);
    l->fds[link->slot][0] = l->fds[link->slot][1] = -1;
    (void)close(link->client);
    if (link->engine >= 0)
        (void)close(link->engine);
    (void)pthread_mutex_unlock(&l->lock);
    free(link);
    return NULL;
}

static bool take(liar *l, int client)
{
    link_t *link = calloc(1, sizeof *link);
    bool ok = false;
    if (!link)
        return false;
    *link = (link_t){.owner = l, .client = client, .engine = connect_to(l->engine)};
    (void)pthread_mutex_lock(&l->lock);
    if (!l->stopping && l->count < CONNECTIONS_MAX) {
        link->slot = l->count;
        l->fds[l->count][0] = link->client;
        l->fds[l->count][1] = link->engine;
        ok = pthread_create(&l->threads[l->count], NULL, serve, link) == 0;
        l->count += ok;
    }
    (void)pthread_mutex_unlock(&l->lock);
    if (ok)
        return true;
    if (link->engine >= 0)
        (void)close(link->engine);
    free(link);
    return false;
}

static void *accept_all(void *context)
{
    liar *l = context;
    for (;;) {
        int client = accept4(l->listener, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0)
            return NULL;
        if (!take(l, client))
            (void)close(client);
    }
}

/* The same owner as the engine's: clients may ask whose daemon it is. */
static bool take_owner(const liar *l)
{
    struct stat facts;
    return stat(l->engine, &facts) == 0 && chown(l->path, facts.st_uid, facts.st_gid) == 0;
}

static bool listen_at(liar *l)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(l->folder, sizeof l->folder, "/var/tmp/liar-XXXXXX");
    if (!mkdtemp(l->folder))
        return false;
    (void)snprintf(l->path, sizeof l->path, "%s/sock", l->folder);
    (void)snprintf(l->endpoint, sizeof l->endpoint, "unix://%s", l->path);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", l->path);
    l->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return l->listener >= 0 &&
           bind(l->listener, (const struct sockaddr *)&address, sizeof address) == 0 &&
           take_owner(l) && listen(l->listener, 64) == 0;
}

liar *liar_start(const char *engine_path, const liar_hooks *hooks)
{
    liar *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->hooks = *hooks;
    l->listener = -1;
    (void)snprintf(l->engine, sizeof l->engine, "%s", engine_path);
    if (listen_at(l) && pthread_mutex_init(&l->lock, NULL) == 0 &&
        pthread_create(&l->acceptor, NULL, accept_all, l) == 0)
        return l;
    if (l->listener >= 0)
        (void)close(l->listener);
    free(l);
    return NULL;
}

void liar_stop(liar *l)
{
    if (!l)
        return;
    (void)pthread_mutex_lock(&l->lock);
    l->stopping = true;
    for (size_t i = 0; i < l->count; i++) {
        for (size_t side = 0; side < 2; side++) {
            if (l->fds[i][side] >= 0)
                (void)shutdown(l->fds[i][side], SHUT_RDWR);
        }
    }
    (void)pthread_mutex_unlock(&l->lock);
    (void)shutdown(l->listener, SHUT_RDWR);
    (void)pthread_join(l->acceptor, NULL);
    for (size_t i = 0; i < l->count; i++)
        (void)pthread_join(l->threads[i], NULL);
    (void)close(l->listener);
    (void)unlink(l->path);
    (void)rmdir(l->folder);
    (void)pthread_mutex_destroy(&l->lock);
    free(l);
}

bool liar_client_left(const liar_exchange *x, int ms)
{
    struct pollfd fd = {x->client, POLLRDHUP, 0};
    return poll(&fd, 1, ms) > 0;
}

const char *liar_endpoint(const liar *l)
{
    return l->endpoint;
}

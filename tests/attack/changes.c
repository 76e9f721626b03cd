/* SPDX-License-Identifier: Apache-2.0 */
/* See changes.h. */
#include "changes.h"

#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FOREIGN_NETWORK "cordon-attack-foreign"
#define FOREIGN_SUBNET  "10.220.%u.%u/29"

static const char *target(const stage *s)
{
    return s->p->ids[s->target];
}

/* Random digits of the run; one of several steps has a scratch, and here no network. */
static const char *own_mark(const stage *s)
{
    const char *scratch = strrchr(s->p->ids[CORDON_ROLE_SCRATCH], '-');
    return scratch ? scratch + 1 : s->p->ids[CORDON_ROLE_VENDOR_NETWORK];
}

bool stage_asked_for(cordon_role role)
{
    const char *only = getenv("CORDON_ATTACK_TARGET");
    return !only || strstr(only, cordon_role_name(role)) != NULL;
}

void stage_own_name(const stage *s, const char *head, char ret_name[64])
{
    (void)snprintf(ret_name, 64, "%s-%.12s", head, own_mark(s));
}

/* Attacks are made side by side: no two of this process share a subnet. */
static unsigned own_number(void)
{
    static atomic_uint count;
    return (unsigned)getpid() * 61 + atomic_fetch_add(&count, 1);
}

/* "/containers/<id><rest>" */
static bool on_target(stage *s, const char *method, const char *rest, const char *body)
{
    char path[256];
    int status = 0;
    (void)snprintf(path, sizeof path, "/containers/%s%s", target(s), rest);
    if (!rest_call(method, path, body, &status, NULL))
        return false;
    s->refused = status / 100 != 2;
    return true;
}

bool change_memory(stage *s)
{
    /* Podman 5 finds fault with the health check of a container that has none, unless told so. */
    const char *body = real_is_docker() ? "{\"Memory\":104857600,\"MemorySwap\":104857600}"
                                        : "{\"memory\":{\"limit\":104857600,\"swap\":104857600},"
                                          "\"no_healthcheck\":true}";
    return on_target(s, "POST", "/update", body);
}

bool change_restart_policy(stage *s)
{
    if (real_is_docker())
        return on_target(s, "POST", "/update", "{\"RestartPolicy\":{\"Name\":\"always\"}}");
    return on_target(s, "POST", "/update?restartPolicy=always", "{}");
}

/* --- Networks --------------------------------------------------------------------------------- */

/* address: NULL is the engine's choice */
static bool on_network(stage *s, const char *network, const char *what, const char *container,
                       const char *address)
{
    char path[160];
    char body[512];
    char wanted[128] = "";
    int status = 0;
    (void)snprintf(path, sizeof path, "/networks/%s/%s", network, what);
    if (address && real_is_docker())
        (void)snprintf(wanted, sizeof wanted,
                       ",\"EndpointConfig\":{\"IPAMConfig\":{\"IPv4Address\":\"%s\"}}", address);
    else if (address)
        (void)snprintf(wanted, sizeof wanted, ",\"static_ips\":[\"%s\"]", address);
    (void)snprintf(body, sizeof body, "{\"Container\":\"%s\",\"Force\":true%s}", container, wanted);
    if (!rest_call("POST", path, body, &status, NULL))
        return false;
    s->refused = status / 100 != 2;
    return true;
}

/* The fifth address of the vendor network: neither proxy nor step has it. */
static bool spare_address(const stage *s, char ret_address[INET_ADDRSTRLEN])
{
    const char *body = s->p->bodies[CORDON_ROLE_VENDOR_NETWORK];
    const char *at = body ? strcasestr(body, "\"subnet\":\"") : NULL;
    struct in_addr address;
    char text[INET_ADDRSTRLEN];
    if (!CHECK(at != NULL))
        return false;
    at += strlen("\"subnet\":\"");
    (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(at, "/"), at);
    if (!CHECK(inet_pton(AF_INET, text, &address) == 1))
        return false;
    address.s_addr = htonl(ntohl(address.s_addr) + 5);
    return inet_ntop(AF_INET, &address, ret_address, INET_ADDRSTRLEN) != NULL;
}

bool connect_to_foreign(stage *s)
{
    char name[64];
    char subnet[32];
    stage_own_name(s, FOREIGN_NETWORK, name);
    unsigned number = own_number();
    (void)snprintf(subnet, sizeof subnet, FOREIGN_SUBNET, number % 256, number / 256 % 32 * 8);
    return real_foreign_network(name, subnet, s->foreign_network) &&
           on_network(s, s->foreign_network, "connect", target(s), NULL);
}

bool connect_foreigner(stage *s)
{
    char address[INET_ADDRSTRLEN];
    char name[64];
    stage_own_name(s, STAGE_FOREIGNER, name);
    return spare_address(s, address) &&
           real_foreign_container(name, NULL, NULL, s->foreign_container) &&
           on_network(s, s->p->ids[CORDON_ROLE_VENDOR_NETWORK], "connect", s->foreign_container,
                      address);
}

bool disconnect(stage *s)
{
    return on_network(s, s->p->ids[CORDON_ROLE_VENDOR_NETWORK], "disconnect", target(s), NULL);
}

/* --- Stand-ins -------------------------------------------------------------------------------- */

bool rename_it(stage *s)
{
    char name[64];
    char path[96];
    stage_own_name(s, "cordon-attack-renamed", name);
    (void)snprintf(path, sizeof path, "/rename?name=%s", name);
    return on_target(s, "POST", path, NULL);
}

static bool post_again(const char *path, const char *body, char ret_id[CORDON_ID_HEX + 1])
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    int status = 0;
    const char *id = NULL;
    cordon_err err = CORDON_ERR_INIT;
    if (!rest_call("POST", path, body, &status, &doc) || !CHECK(status / 100 == 2))
        return false;
    if (cordon_json_need_string(cordon_json_root(doc), "Id", &id, &err) != 0) {
        cordon_err_clear(&err);
        if (cordon_json_need_string(cordon_json_root(doc), "id", &id, &err) != 0)
            return false;
    }
    (void)snprintf(ret_id, CORDON_ID_HEX + 1, "%s", id);
    return true;
}

bool replace_it(stage *s)
{
    char path[192];
    const char *removal = real_is_docker() ? "?force=true&v=true" : "?force=true&timeout=0";
    if (!on_target(s, "DELETE", removal, NULL) || s->refused)
        return false;
    (void)snprintf(path, sizeof path, "/containers/create%s%s", real_is_docker() ? "?name=" : "",
                   real_is_docker() ? s->p->names[s->target] : "");
    return post_again(path, s->p->bodies[s->target], s->stand_in);
}

/* Docker keeps a network that a running container is on, so it is thrown off before. */
bool replace_network(stage *s)
{
    char path[160];
    int status = 0;
    const char *id = s->p->ids[CORDON_ROLE_VENDOR_NETWORK];
    if (real_is_docker()) {
        (void)on_network(s, id, "disconnect", s->p->ids[CORDON_ROLE_PROXY], NULL);
        (void)on_network(s, id, "disconnect", s->p->ids[CORDON_ROLE_STEP], NULL);
    }
    (void)snprintf(path, sizeof path, "/networks/%s", id);
    if (!rest_call("DELETE", path, NULL, &status, NULL) || !CHECK(status / 100 == 2))
        return false;
    s->refused = false;
    return post_again("/networks/create", s->p->bodies[CORDON_ROLE_VENDOR_NETWORK],
                      s->stand_in_network);
}

/* --- Inside ----------------------------------------------------------------------------------- */

bool execute(stage *s)
{
    char path[160];
    char id[CORDON_ID_HEX + 1];
    const char *body = s->target == CORDON_ROLE_STEP
                           ? "{\"Cmd\":[\"/.cordon/cordon-guard\",\"gate\"],\"AttachStdout\":true}"
                           : "{\"Cmd\":[\"/cordon-guard\",\"gate\"],\"AttachStdout\":true}";
    (void)snprintf(path, sizeof path, "/containers/%s/exec", target(s));
    int status = 0;
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    if (!rest_call("POST", path, body, &status, &doc))
        return false;
    s->refused = status / 100 != 2;
    if (s->refused)
        return true;
    const char *text = NULL;
    cordon_err err = CORDON_ERR_INIT;
    if (cordon_json_need_string(cordon_json_root(doc), "Id", &text, &err) != 0)
        return false;
    (void)snprintf(id, sizeof id, "%s", text);
    (void)snprintf(path, sizeof path, "/exec/%s/start", id);
    return rest_call("POST", path, "{\"Detach\":true}", &status, NULL);
}

/* One empty file "x" (POSIX ustar). */
static void tar_of_one_file(char ret_tar[1536])
{
    unsigned sum = 0;
    memset(ret_tar, 0, 1536);
    (void)snprintf(ret_tar, 100, "x");
    (void)snprintf(ret_tar + 100, 8, "%07o", 0644U);
    (void)snprintf(ret_tar + 108, 8, "%07o", 0U);
    (void)snprintf(ret_tar + 116, 8, "%07o", 0U);
    (void)snprintf(ret_tar + 124, 12, "%011o", 0U);
    (void)snprintf(ret_tar + 136, 12, "%011o", 0U);
    memset(ret_tar + 148, ' ', 8);
    ret_tar[156] = '0';
    (void)snprintf(ret_tar + 257, 6, "ustar");
    memcpy(ret_tar + 263, "00", 2);
    for (size_t i = 0; i < 512; i++)
        sum += (unsigned char)ret_tar[i];
    (void)snprintf(ret_tar + 148, 8, "%06o", sum);
}

static bool archive(stage *s, const char *method, const char *where, const void *body,
                    size_t length)
{
    static const char *const headers[] = {"Content-Type: application/x-tar", NULL};
    char path[256];
    cordon_auto(cordon_httpc_response) answer = {0};
    cordon_err err = CORDON_ERR_INIT;
    (void)snprintf(path, sizeof path, "%s/containers/%s/archive?path=%s",
                   real_is_docker() ? "/v1.41" : "/v4.0.0/libpod", target(s), where);
    const cordon_httpc_request request = {
        .method = method,
        .path = path,
        .headers = headers,
        .body = body,
        .body_length = length,
        .response_max_bytes = 1U << 20,
    };
    if (!CHECK_OK(cordon_httpc_call(real.rest, &request, real_soon(), &answer, &err), err))
        return false;
    s->refused = answer.status / 100 != 2;
    if (s->refused)
        printf("    %s archive: %d %.200s\n", method, answer.status, cordon_buf_text(&answer.body));
    return true;
}

bool upload(stage *s)
{
    char tar[1536];
    tar_of_one_file(tar);
    return archive(s, "PUT", "/", tar, sizeof tar);
}

bool upload_scratch(stage *s)
{
    char tar[1536];
    tar_of_one_file(tar);
    return archive(s, "PUT", "/tmp", tar, sizeof tar);
}

bool download(stage *s)
{
    return archive(s, "GET", "/tmp", NULL, 0);
}

/* --- State ------------------------------------------------------------------------------------ */

/* The base image gets a name more; a run goes by ids, so that names may move as they like. */
static bool tag(const char *id)
{
    char path[256];
    (void)snprintf(path, sizeof path, "/images/%s/tag?repo=localhost/cordon-attack&tag=moved", id);
    return rest_ok("POST", path, NULL);
}

bool retag(stage *s)
{
    s->refused = false;
    return tag(real.image);
}

bool pause_it(stage *s)
{
    return on_target(s, "POST", "/pause", NULL);
}

bool start_it(stage *s)
{
    return on_target(s, "POST", "/start", NULL);
}

bool kill_it(stage *s)
{
    return on_target(s, "POST", "/kill?signal=SIGKILL", NULL);
}

bool stop_it(stage *s)
{
    return on_target(s, "POST", real_is_docker() ? "/stop?t=0" : "/stop?timeout=0", NULL);
}

/* TERM, and time to end by it. */
bool term_it(stage *s)
{
    return on_target(s, "POST", real_is_docker() ? "/stop?t=5" : "/stop?timeout=5", NULL);
}

bool commit_it(stage *s)
{
    char path[160];
    int status = 0;
    (void)snprintf(path, sizeof path, "/commit?container=%s&repo=localhost/cordon-attack&tag=c",
                   target(s));
    if (!rest_call("POST", path, real_is_docker() ? "{}" : NULL, &status, NULL))
        return false;
    s->refused = status / 100 != 2;
    return true;
}

/* A connection that is taken over and then left alone for the time of the test. */
bool attach_again(stage *s)
{
    char request[512];
    char answer[256];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", play_engine_path());
    (void)snprintf(request, sizeof request,
                   "POST %s/containers/%s/attach?stream=1&stdin=1&stdout=1&stderr=1 HTTP/1.1\r\n"
                   "Host: d\r\nConnection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: 0\r\n\r\n",
                   real_is_docker() ? "/v1.41" : "/v4.0.0/libpod", target(s));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
              send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request);
    ssize_t got = ok ? recv(fd, answer, sizeof answer - 1, 0) : -1;
    answer[got > 0 ? got : 0] = '\0';
    s->refused = got < 12 || memcmp(answer, "HTTP/1.1 101", 12) != 0;
    if (fd >= 0)
        (void)close(fd);
    return ok;
}

/* --- Afterwards ------------------------------------------------------------------------------- */

/* event: libpod's word for it in the events of the target, if it has one */
static const struct change_name {
    change_fn *change;
    const char *name;
    const char *event;
} change_names[] = {
    {change_memory, "change of memory", NULL},
    {change_restart_policy, "change of the restart policy", NULL},
    {connect_to_foreign, "connection to a foreign network", NULL},
    {connect_foreigner, "a foreign container's joining", NULL},
    {disconnect, "disconnection", NULL},
    {rename_it, "renaming", "rename"},
    {replace_it, "replacement", NULL},
    {replace_network, "replacement of the network", NULL},
    {remove_scratch, "removal of the scratch", NULL},
    {replace_scratch, "replacement of the scratch", NULL},
    {join_scratch, "a foreign container's sharing", NULL},
    {execute, "exec", "exec"},
    {upload, "upload", NULL},
    {upload_scratch, "upload to the scratch", NULL},
    {retag, "retag", NULL},
    {pause_it, "pause", "pause"},
    {start_it, "start by another", NULL},
    {kill_it, "kill", "kill"},
    {stop_it, "stop", NULL},
    {term_it, "stop with TERM", NULL},
    {attach_again, "second attach", NULL},
    {commit_it, "commit", "commit"},
};

static const struct change_name *name_of(change_fn *change)
{
    static const struct change_name unnamed = {NULL, "change", NULL};
    for (size_t i = 0; i < sizeof change_names / sizeof change_names[0]; i++) {
        if (change_names[i].change == change)
            return &change_names[i];
    }
    return &unnamed;
}

const char *stage_name(change_fn *change)
{
    return name_of(change)->name;
}

bool stage_event_is_lost(const stage *s, change_fn *change)
{
    const char *event = name_of(change)->event;
    char path[256];
    char wanted[64];
    cordon_auto(cordon_httpc_response) answer = {0};
    cordon_err err = CORDON_ERR_INIT;
    if (!event)
        return false;
    (void)snprintf(path, sizeof path,
                   "/v4.0.0/libpod/events?stream=false&since=5m"
                   "&filters=%%7B%%22container%%22%%3A%%5B%%22%s%%22%%5D%%7D",
                   target(s));
    (void)snprintf(wanted, sizeof wanted, "\"Action\":\"%s\"", event);
    const cordon_httpc_request request = {
        .method = "GET",
        .path = path,
        .response_max_bytes = 1U << 22,
    };
    if (!CHECK_OK(cordon_httpc_call(real.rest, &request, real_soon(), &answer, &err), err) ||
        !CHECK(answer.status == 200))
        return false;
    bool lost = !strstr(cordon_buf_text(&answer.body), wanted);
    if (lost)
        printf("    the engine lost its event: %s\n", event);
    return lost;
}

void stage_leave(stage *s)
{
    char id[CORDON_ID_HEX + 1];
    (void)snprintf(id, sizeof id, "%s", s->foreign_container);
    s->foreign_container[0] = '\0';
    real_remove_container(id);
}

/* A network that only the stand-in kept from going. */
static void remove_kept_network(const stage *s)
{
    char path[160];
    int status = 0;
    (void)snprintf(path, sizeof path, "/networks/%s", s->p->ids[CORDON_ROLE_VENDOR_NETWORK]);
    (void)rest_call("DELETE", path, NULL, &status, NULL);
    (void)snprintf(path, sizeof path, "/networks/%s", s->p->ids[CORDON_ROLE_EGRESS_NETWORK]);
    (void)rest_call("DELETE", path, NULL, &status, NULL);
}

void stage_clear(stage *s)
{
    stage_leave(s);
    real_remove_container(s->stand_in);
    if (s->stand_in[0])
        remove_kept_network(s);
    real_remove_network(s->stand_in_network);
    real_remove_network(s->foreign_network);
}

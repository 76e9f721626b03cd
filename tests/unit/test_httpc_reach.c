/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoints that cannot be reached, or cannot be: each says the thing, the reason and the next
 * step. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "kit/httpc.h"
#include "support/test.h"

static cordon_deadline soon(void)
{
    return cordon_deadline_in_ms(20000, -1);
}

static const cordon_httpc_request change = {
    .method = "POST", .path = "/x", .response_max_bytes = 10000, .mutating = true};

typedef struct place {
    char folder[64];
    char path[96];
} place;

static void make_place(place *p)
{
    (void)snprintf(p->folder, sizeof p->folder, "/tmp/httpc.XXXXXX");
    CHECK(mkdtemp(p->folder) != NULL);
    (void)snprintf(p->path, sizeof p->path, "%s/x", p->folder);
}

static void remove_place(place *p)
{
    (void)chmod(p->folder, 0700);
    (void)unlink(p->path);
    (void)rmdir(p->path);
    (void)rmdir(p->folder);
}

static void check_unreachable(const char *path, const char *why)
{
    cordon_httpc_endpoint endpoint = {.unix_path = path};
    cordon_auto_ptr(cordon_httpc) client = NULL;
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_httpc_new(&endpoint, &client, &err), err);
    CHECK_FAILS(cordon_httpc_call(client, &change, soon(), &response, &err), err,
                CORDON_ERR_UNREACHABLE, why);
    CHECK_CONTAINS(err.message, path);
    CHECK_CONTAINS(err.message, "unix:///");
}

static void a_missing_socket_says_so(void)
{
    cordon_cleanup(remove_place) place p;
    make_place(&p);
    check_unreachable(p.path, "no such socket; start the engine");
    check_unreachable("/dev/null/x", "no such socket");
}

static void a_directory_or_a_file_in_its_place_says_so(void)
{
    cordon_cleanup(remove_place) place p;
    make_place(&p);
    REQUIRE_INT(mkdir(p.path, 0700), 0);
    check_unreachable(p.path, "is a directory, not a socket");
    REQUIRE_INT(rmdir(p.path), 0);
    cordon_autoclose int fd = open(p.path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    REQUIRE(fd >= 0);
    check_unreachable(p.path, "is a file, not a socket");
}

static void a_socket_that_nobody_listens_on_says_so(void)
{
    cordon_cleanup(remove_place) place p;
    make_place(&p);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", p.path);
    cordon_autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE_INT(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    check_unreachable(p.path, "nothing listens on this socket; start the engine");
}

/* Root opens everything, so it steps down for the call. */
static void a_socket_that_may_not_be_opened_says_so(void)
{
    cordon_cleanup(remove_place) place p;
    make_place(&p);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", p.path);
    cordon_autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE_INT(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    REQUIRE_INT(listen(fd, 1), 0);
    REQUIRE_INT(chmod(p.path, 0), 0);
    REQUIRE_INT(chmod(p.folder, 0711), 0);
    bool root = geteuid() == 0;
    if (root)
        REQUIRE_INT(seteuid(65534), 0);
    check_unreachable(p.path, "permission denied; use an account that may open this socket");
    if (root)
        REQUIRE_INT(seteuid(0), 0);
}

static void a_closed_tcp_port_says_so(void)
{
    cordon_httpc_endpoint endpoint = {.host = "127.0.0.1", .port = 1};
    cordon_auto_ptr(cordon_httpc) client = NULL;
    cordon_auto(cordon_httpc_response) response = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_httpc_new(&endpoint, &client, &err), err);
    CHECK_FAILS(cordon_httpc_call(client, &change, soon(), &response, &err), err,
                CORDON_ERR_UNREACHABLE, "tcp://127.0.0.1:1: ");
    CHECK_CONTAINS(err.message, "start the engine, or correct the endpoint");
}

static void impossible_endpoints_are_config_errors(void)
{
    char longer[200] = "/";
    memset(longer + 1, 'a', sizeof longer - 2);
    const cordon_httpc_endpoint bad[] = {
        {.unix_path = NULL},
        {.unix_path = "/x", .host = "h"},
        {.unix_path = "relative"},
        {.unix_path = longer},
        {.unix_path = "/x", .ca_file = "/ca"},
        {.host = "h"},
        {.host = "", .port = 1},
        {.host = "user@h", .port = 1},
        {.host = "h/x", .port = 1},
        {.host = "h", .port = 1, .ca_file = "/ca", .cert_file = "/c"},
        {.host = "h", .port = 1, .cert_file = "/c", .key_file = "/k"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_httpc *client = NULL;
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(cordon_httpc_new(&bad[i], &client, &err), err, CORDON_ERR_CONFIG, "endpoint");
        CHECK(client == NULL);
    }
}

CORDON_TEST_MAIN("httpc_reach", TEST(a_missing_socket_says_so),
                 TEST(a_directory_or_a_file_in_its_place_says_so),
                 TEST(a_socket_that_nobody_listens_on_says_so),
                 TEST(a_socket_that_may_not_be_opened_says_so), TEST(a_closed_tcp_port_says_so),
                 TEST(impossible_endpoints_are_config_errors))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which engine is chosen, in which order, and in which words a wrong choice is refused.
 */
#include "select.h"

#include "address.h"
#include "support/folder.h"
#include "support/select_machine.h"
#include "support/test.h"

#define TWO_ENGINES                                                                                \
    "engines = ( { name = \"laptop\"; kind = \"docker\"; endpoint = \"unix:///l.sock\"; },\n"      \
    "{ name = \"ci\"; kind = \"podman\"; endpoint = \"tcp://h.example:1\"; tls_ca = \"/a\";\n"     \
    "tls_cert = \"/c\"; tls_key = \"/k\"; } );"

typedef struct row {
    const char *config;
    cordon_select_env env;
    machine machine;
    const char *want; /* one "name kind endpoint|serve:program origin: why" a line; or the error */
    cordon_code code;
} row;

/* What runs for a candidate: nothing, the service, or ssh. */
static const char *by_program(const cordon_candidate *c, char out[256])
{
    const char *program = c->program ? c->program : "none";
    bool ssh = c->endpoint && strncmp(c->endpoint, "ssh:", 4) == 0;
    (void)snprintf(out, 256, "%s%s", ssh ? " by " : "", c->endpoint && !ssh ? "" : program);
    return out;
}

/* The candidates as text, so that a row shows all of them. */
static void describe(const cordon_candidates *candidates, char *out, size_t size)
{
    size_t length = 0;
    char program[256];
    out[0] = '\0';
    for (size_t i = 0; i < candidates->count && length < size; i++) {
        const cordon_candidate *c = &candidates->items[i];
        if (c->passed)
            continue;
        int added = snprintf(out + length, size - length, "%s%s %s %s%s%s %s: %s",
                             length > 0 ? "\n" : "", c->name, cordon_engine_kind_name(c->kind),
                             c->endpoint ? c->endpoint : "serve:", by_program(c, program),
                             c->tls_key_file ? "+tls" : "",
                             c->origin == CORDON_ORIGIN_EXPLICIT ? "explicit" : "auto", c->why);
        length += added > 0 ? (size_t)added : 0;
    }
}

static void check_row(const row *r)
{
    cordon_auto(cordon_config) config = {0};
    cordon_auto(cordon_candidates) candidates = {0};
    cordon_err err = CORDON_ERR_INIT;
    char got[2048];
    machine m = r->machine;
    const char *text = r->config ? r->config : "";
    REQUIRE_OK(cordon_config_init(&config, "/etc/cordon.conf", &err), err);
    REQUIRE_OK(cordon_config_apply(&config, "/etc/cordon.conf", text, strlen(text), &err), err);
    if (r->code != CORDON_OK) {
        CHECK_FAILS(cordon_select(&config, &r->env, machine_probe, &m, &candidates, &err), err,
                    r->code, r->want);
        CHECK_INT(candidates.count, 0);
        return;
    }
    if (!CHECK_OK(cordon_select(&config, &r->env, machine_probe, &m, &candidates, &err), err))
        return;
    describe(&candidates, got, sizeof got);
    CHECK_STR(got, r->want);
}

static void check_rows(const row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_row(&rows[i]);
}

#define CHECK_ROWS(rows) check_rows((rows), sizeof(rows) / sizeof((rows)[0]))

#define EVERYTHING                                                                                 \
    {                                                                                              \
        .sockets = {"/run/user/7/podman/podman.sock", "/run/podman/podman.sock",                   \
                    "/var/run/docker.sock", "/run/user/7/docker.sock"},                            \
        .programs = {                                                                              \
            "/usr/bin/podman"                                                                      \
        }                                                                                          \
    }

static void explicit_names_win_in_the_documented_order(void)
{
    static const row rows[] = {
        {TWO_ENGINES,
         {.option = "ci",
          .cordon_engine = "laptop",
          .container_host = "unix:///c",
          .docker_host = "unix:///d",
          .uid = 7},
         EVERYTHING,
         "ci podman tcp://h.example:1+tls explicit: --engine is \"ci\"",
         CORDON_OK},
        {TWO_ENGINES " engine = \"ci\";",
         {.cordon_engine = "laptop", .container_host = "unix:///c", .docker_host = "unix:///d"},
         EVERYTHING,
         "laptop docker unix:///l.sock explicit: CORDON_ENGINE is \"laptop\"",
         CORDON_OK},
        {TWO_ENGINES " engine = \"ci\";",
         {.cordon_engine = "", .container_host = "unix:///c", .docker_host = "unix:///d"},
         EVERYTHING,
         "ci podman tcp://h.example:1+tls explicit: engine in the configuration is \"ci\"",
         CORDON_OK},
        {TWO_ENGINES,
         {.container_host = "unix:///c", .docker_host = "unix:///d"},
         EVERYTHING,
         "podman podman unix:///c explicit: CONTAINER_HOST=unix:///c",
         CORDON_OK},
        {TWO_ENGINES,
         {.container_host = "", .docker_host = "unix:///d", .docker_tls = "1"},
         EVERYTHING,
         "docker docker unix:///d explicit: DOCKER_HOST=unix:///d",
         CORDON_OK},
        {TWO_ENGINES " engine = \"ci\";",
         {.option = "auto", .cordon_engine = "laptop", .docker_host = "unix:///d"},
         EVERYTHING,
         "docker docker unix:///d explicit: DOCKER_HOST=unix:///d",
         CORDON_OK},
        {NULL,
         {.docker_host = "tcp://h.example:2376", .docker_tls = "1", .docker_certs = "/certs"},
         {.sockets = {NULL}},
         "docker docker tcp://h.example:2376+tls explicit: DOCKER_HOST=tcp://h.example:2376",
         CORDON_OK},
        {NULL,
         {.docker_host = "tcp://127.0.0.1:2375"},
         {.sockets = {NULL}},
         "docker docker tcp://127.0.0.1:2375 explicit: DOCKER_HOST=tcp://127.0.0.1:2375",
         CORDON_OK},
    };
    CHECK_ROWS(rows);
}

static void ssh_is_searched_where_an_endpoint_needs_it(void)
{
    static const row rows[] = {
        {NULL,
         {.docker_host = "ssh://me@h", .docker_tls = "1", .path = "/usr/bin"},
         {.programs = {"/usr/bin/ssh"}},
         "docker docker ssh://me@h by /usr/bin/ssh explicit: DOCKER_HOST=ssh://me@h",
         CORDON_OK},
        {NULL,
         {.container_host = "ssh://h/run/x.sock", .path = ":.:bin"},
         {.programs = {"bin/ssh"}},
         "podman podman ssh://h/run/x.sock by none explicit: CONTAINER_HOST=ssh://h/run/x.sock",
         CORDON_OK},
        {"ssh_program = \"/opt/ssh\"; engines = ( { name = \"far\"; kind = \"podman\"; endpoint = "
         "\"ssh://h\"; } );",
         {.option = "far", .path = "/usr/bin"},
         {.programs = {"/usr/bin/ssh", "/opt/ssh"}},
         "far podman ssh://h by /opt/ssh explicit: --engine is \"far\"",
         CORDON_OK},
    };
    CHECK_ROWS(rows);
}

static void automatic_choice_lists_all_in_order(void)
{
    static const row rows[] = {
        {TWO_ENGINES,
         {.runtime_dir = "/run/user/7", .path = "/bin:/usr/bin", .uid = 0},
         EVERYTHING,
         "laptop docker unix:///l.sock auto: \"laptop\" is in the configured list of engines\n"
         "ci podman tcp://h.example:1+tls auto: \"ci\" is in the configured list of engines\n"
         "podman podman unix:///run/user/7/podman/podman.sock auto: "
         "/run/user/7/podman/podman.sock exists\n"
         "podman podman unix:///run/podman/podman.sock auto: /run/podman/podman.sock exists\n"
         "docker docker unix:///var/run/docker.sock auto: /var/run/docker.sock exists\n"
         "docker docker unix:///run/user/7/docker.sock auto: /run/user/7/docker.sock exists\n"
         "podman podman serve:/usr/bin/podman auto: /usr/bin/podman is installed and can serve "
         "this run",
         CORDON_OK},
        {NULL, /* an unprivileged user cannot open root's Podman; its folder has a default */
         {.uid = 7},
         EVERYTHING,
         "podman podman unix:///run/user/7/podman/podman.sock auto: "
         "/run/user/7/podman/podman.sock exists\n"
         "docker docker unix:///var/run/docker.sock auto: /var/run/docker.sock exists\n"
         "docker docker unix:///run/user/7/docker.sock auto: /run/user/7/docker.sock exists",
         CORDON_OK},
        {"podman_service = \"never\";",
         {.uid = 7, .path = "/usr/bin"},
         {.sockets = {"/var/run/docker.sock"}, .programs = {"/usr/bin/podman"}},
         "docker docker unix:///var/run/docker.sock auto: /var/run/docker.sock exists",
         CORDON_OK},
        {"podman_program = \"/opt/podman\";",
         {.uid = 7},
         {.programs = {"/opt/podman"}},
         "podman podman serve:/opt/podman auto: /opt/podman is installed and can serve this run",
         CORDON_OK},
        {NULL, /* neither the current folder nor a relative one is searched */
         {.uid = 7, .path = ":.:bin::/usr/bin"},
         {.programs = {"/usr/bin/podman", "bin/podman"}},
         "podman podman serve:/usr/bin/podman auto: /usr/bin/podman is installed and can serve "
         "this run",
         CORDON_OK},
        {"engines = ( { name = \"d\"; kind = \"docker\"; endpoint = "
         "\"unix:///var/run/docker.sock\"; } );",
         {.uid = 7},
         {.sockets = {"/var/run/docker.sock"}},
         "d docker unix:///var/run/docker.sock auto: \"d\" is in the configured list of engines",
         CORDON_OK},
        {NULL, /* a relative runtime folder is no folder */
         {.uid = 7, .runtime_dir = "run"},
         {.sockets = {"run/docker.sock", "/var/run/docker.sock"}},
         "docker docker unix:///var/run/docker.sock auto: /var/run/docker.sock exists",
         CORDON_OK},
    };
    CHECK_ROWS(rows);
}

static void a_kind_is_a_name_too(void)
{
    static const row rows[] = {
        {NULL,
         {.option = "docker", .uid = 7},
         EVERYTHING,
         "docker docker unix:///var/run/docker.sock explicit: /var/run/docker.sock exists",
         CORDON_OK},
        {TWO_ENGINES,
         {.option = "podman", .uid = 7},
         EVERYTHING,
         "ci podman tcp://h.example:1+tls explicit: \"ci\" is in the configured list of engines",
         CORDON_OK},
        {NULL,
         {.cordon_engine = "docker", .docker_host = "unix:///d", .container_host = "unix:///c"},
         EVERYTHING,
         "docker docker unix:///d explicit: DOCKER_HOST=unix:///d",
         CORDON_OK},
        {NULL,
         {.option = "podman", .docker_host = "unix:///d", .container_host = "unix:///c"},
         EVERYTHING,
         "podman podman unix:///c explicit: CONTAINER_HOST=unix:///c",
         CORDON_OK},
        {NULL,
         {.option = "podman", .docker_host = "unix:///d", .path = "/usr/bin", .uid = 7},
         {.sockets = {"/var/run/docker.sock"}, .programs = {"/usr/bin/podman"}},
         "podman podman serve:/usr/bin/podman explicit: /usr/bin/podman is installed and can serve "
         "this run",
         CORDON_OK},
        {NULL,
         {.option = "podman", .uid = 7},
         {.sockets = {"/var/run/docker.sock"}},
         "podman podman unix:///run/user/7/podman/podman.sock explicit: --engine, default socket",
         CORDON_OK},
        {NULL,
         {.option = "podman", .uid = 0},
         {.sockets = {NULL}},
         "podman podman unix:///run/podman/podman.sock explicit: --engine, default socket",
         CORDON_OK},
        {"engine = \"docker\";",
         {.uid = 7},
         {.sockets = {NULL}},
         "docker docker unix:///var/run/docker.sock explicit: engine in the configuration, default "
         "socket",
         CORDON_OK},
        {"engines = ( { name = \"docker\"; kind = \"podman\"; endpoint = \"unix:///x\"; } );",
         {.option = "docker", .docker_host = "unix:///d"},
         EVERYTHING,
         "docker podman unix:///x explicit: --engine is \"docker\"",
         CORDON_OK},
    };
    CHECK_ROWS(rows);
}

static void wrong_choices_are_refused_in_words(void)
{
    static const row rows[] = {
        {TWO_ENGINES,
         {.option = "latpop"},
         EVERYTHING,
         "--engine: there is no engine \"latpop\"; did you mean \"laptop\"? Known are laptop, ci, "
         "auto, docker, podman",
         CORDON_ERR_CONFIG},
        {NULL,
         {.cordon_engine = "x"},
         EVERYTHING,
         "CORDON_ENGINE: there is no engine \"x\"; known are auto, docker, podman",
         CORDON_ERR_CONFIG},
        {"engine = \"x\";",
         {.uid = 7},
         EVERYTHING,
         "engine in the configuration: there is no engine \"x\"; known are auto, docker, podman",
         CORDON_ERR_CONFIG},
        {NULL, {.option = ""}, EVERYTHING, "--engine needs a name, or auto", CORDON_ERR_CONFIG},
        {NULL,
         {.docker_host = "ssh://-oProxyCommand=x"},
         EVERYTHING,
         "DOCKER_HOST: endpoint \"ssh://-oProxyCommand=x\": the host's name has letters",
         CORDON_ERR_CONFIG},
        {NULL,
         {.container_host = "ssh://me:secret@host"},
         EVERYTHING,
         "CONTAINER_HOST: an ssh:// endpoint has a password in it",
         CORDON_ERR_CONFIG},
        {NULL,
         {.container_host = "fd://3"},
         EVERYTHING,
         "CONTAINER_HOST: endpoint \"fd://3\": that is how a daemon listens",
         CORDON_ERR_CONFIG},
        {NULL,
         {.docker_host = "tcp://h.example:2375"},
         EVERYTHING,
         "DOCKER_HOST: endpoint \"tcp://h.example:2375\": without TLS everybody on the way",
         CORDON_ERR_CONFIG},
        {NULL,
         {.docker_host = "tcp://h.example:2376", .docker_tls = "1"},
         EVERYTHING,
         "DOCKER_TLS_VERIFY is set, but DOCKER_CERT_PATH is not the absolute path of the folder",
         CORDON_ERR_CONFIG},
        {NULL,
         {.uid = 7, .runtime_dir = "/rt", .path = "/usr/bin"},
         {.sockets = {"/run/podman/podman.sock"}}, /* root's alone */
         "no engine found; looked for /rt/podman/podman.sock, /var/run/docker.sock, "
         "/rt/docker.sock, podman; install and start Docker or Podman, or name one with --engine, "
         "CONTAINER_HOST or DOCKER_HOST",
         CORDON_ERR_UNREACHABLE},
    };
    CHECK_ROWS(rows);
}

static void endpoints_have_three_forms(void)
{
    static const struct {
        const char *endpoint;
        bool tls;
        const char *why; /* NULL: good */
        cordon_code code;
    } rows[] = {
        {"unix:///run/x.sock", false, NULL, CORDON_OK},
        {"tcp://127.0.0.1:2375", false, NULL, CORDON_OK},
        {"tcp://127.9.9.9:2375", false, NULL, CORDON_OK},
        {"tcp://localhost:1", false, NULL, CORDON_OK},
        {"tcp://[::1]:65535", false, NULL, CORDON_OK},
        {"tcp://h.example:2376", true, NULL, CORDON_OK},
        {"tcp://[2001:db8::1]:2376", true, NULL, CORDON_OK},
        {"unix://run/x.sock", false, "needs the absolute path of a socket", CORDON_ERR_CONFIG},
        {"unix:/run/x.sock", false, "is none of unix:///absolute/path, tcp", CORDON_ERR_CONFIG},
        {"unix://", false, "needs the absolute path of a socket", CORDON_ERR_CONFIG},
        {"unix:///", false, "needs the absolute path of a socket", CORDON_ERR_CONFIG},
        {"unix:///run/", false, "needs the absolute path of a socket", CORDON_ERR_CONFIG},
        {"unix:///run/a\nb", false, "holds control characters", CORDON_ERR_CONFIG},
        {"/run/x.sock", false, "write unix:// before the path", CORDON_ERR_CONFIG},
        {"http://localhost:1", false, "write tcp://host:port", CORDON_ERR_CONFIG},
        {"https://h:1", true, "write tcp://host:port and the TLS files", CORDON_ERR_CONFIG},
        {"npipe:////./pipe/docker", false, "Windows pipes do not exist", CORDON_ERR_UNSUPPORTED},
        {"ssh://h", false, NULL, CORDON_OK},
        {"ssh://-h", false, "the host's name has letters", CORDON_ERR_CONFIG},
        {"tcp://localhost", false, "is not tcp://HOST:PORT", CORDON_ERR_CONFIG},
        {"tcp://:1", false, "is not tcp://HOST:PORT", CORDON_ERR_CONFIG},
        {"tcp://::1:1", false, "is not tcp://HOST:PORT", CORDON_ERR_CONFIG},
        {"tcp://[::1]", false, "is not tcp://HOST:PORT", CORDON_ERR_CONFIG},
        {"tcp://[localhost]:1", false, "is not tcp://HOST:PORT", CORDON_ERR_CONFIG},
        {"tcp://u@localhost:1", false, "is not tcp://HOST:PORT", CORDON_ERR_CONFIG},
        {"tcp://localhost:0", false, "the port is not a number from 1", CORDON_ERR_CONFIG},
        {"tcp://localhost:1/", false, "the port is not a number from 1", CORDON_ERR_CONFIG},
        {"tcp://localhost:65536", false, "the port is not a number from 1", CORDON_ERR_CONFIG},
        {"tcp://10.0.0.1:2375", false, "without TLS everybody on the way", CORDON_ERR_CONFIG},
        {"tcp://0.0.0.0:2375", false, "without TLS everybody on the way", CORDON_ERR_CONFIG},
        {"tcp://127.0.0.1.evil.test:1", false, "without TLS everybody", CORDON_ERR_CONFIG},
        {"tcp://localhost.evil.test:1", false, "without TLS everybody", CORDON_ERR_CONFIG},
        {"", false, "is none of unix:///absolute/path, tcp://host:port and ssh", CORDON_ERR_CONFIG},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        if (rows[i].why)
            CHECK_FAILS(cordon_address_check(rows[i].endpoint, rows[i].tls, &err), err,
                        rows[i].code, rows[i].why);
        else
            CHECK_OK(cordon_address_check(rows[i].endpoint, rows[i].tls, &err), err);
    }
    CHECK_STR(cordon_address_socket_path("unix:///run/x"), "/run/x");
    CHECK(cordon_address_socket_path("tcp://localhost:1") == NULL);
    CHECK_STR(cordon_engine_kind_name(CORDON_ENGINE_UNKNOWN), "unknown");
}

static void a_socket_path_fits_the_kernel_or_is_refused(void)
{
    char endpoint[256] = "unix:///";
    cordon_err err = CORDON_ERR_INIT;
    memset(endpoint + 8, 'a', 106);
    CHECK_OK(cordon_address_check(endpoint, false, &err), err);
    endpoint[8 + 106] = 'a';
    CHECK_FAILS(cordon_address_check(endpoint, false, &err), err, CORDON_ERR_CONFIG,
                "the socket path is longer than the 107 bytes that unix(7) allows");
}

static void the_real_probe_tells_sockets_and_programs(void)
{
    test_auto_folder folder = {0};
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_socket(&folder, "s"));
    REQUIRE(test_file(&folder, "f", "", 0644));
    REQUIRE(test_file(&folder, "x", "", 0755));
    CHECK(cordon_select_probe(NULL, CORDON_PROBE_SOCKET, test_path(&folder, "s")));
    CHECK(!cordon_select_probe(NULL, CORDON_PROBE_SOCKET, test_path(&folder, "f")));
    CHECK(!cordon_select_probe(NULL, CORDON_PROBE_SOCKET, test_path(&folder, "none")));
    CHECK(cordon_select_probe(NULL, CORDON_PROBE_PROGRAM, test_path(&folder, "x")));
    CHECK(!cordon_select_probe(NULL, CORDON_PROBE_PROGRAM, test_path(&folder, "f")));
    CHECK(!cordon_select_probe(NULL, CORDON_PROBE_PROGRAM, folder.path));
}

CORDON_TEST_MAIN("select", TEST(explicit_names_win_in_the_documented_order),
                 TEST(ssh_is_searched_where_an_endpoint_needs_it),
                 TEST(automatic_choice_lists_all_in_order), TEST(a_kind_is_a_name_too),
                 TEST(wrong_choices_are_refused_in_words), TEST(endpoints_have_three_forms),
                 TEST(a_socket_path_fits_the_kernel_or_is_refused),
                 TEST(the_real_probe_tells_sockets_and_programs))

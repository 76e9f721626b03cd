/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real clients through the proxy of a run, on the vendor network of that run: curl, OpenSSL, node
 * and Python, events that trickle, files both ways, a half-close; and case UX4. The clients are the
 * host's programs in the step's network namespace, so that no image has to hold them.
 */
#include "real.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "upstream.h"

/* The whole of it takes minutes and a gigabyte. */
#ifdef CLIENTS_LONG
#define EVENTS    "180"
#define KIBIBYTES 1048576
#else
#define EVENTS    "15"
#define KIBIBYTES 8192
#endif
#define PASTA_KIBIBYTES 256
#define CLIENTS_MS      600000

#define SERVER_PORT 8450

static bool start_server(child *ret_server)
{
    cordon_auto(upstream) certificate = {.server = {.out_fd = -1, .err_fd = -1}};
    char port[16];
    (void)snprintf(port, sizeof port, "%d", SERVER_PORT);
    /* It leaves its key and certificate behind. */
    if (!upstream_start(&certificate))
        return false;
    const child_spec spec = {
        .argv = WORDS("node", CORDON_TEST_CLIENTS "/server.js",
                      real_variable("CORDON_TEST_UPSTREAM_ADDR"), port, real_path("upstream.key"),
                      real_path("upstream.pem")),
        .netns = real_variable("CORDON_TEST_NETNS"),
    };
    return child_start(&spec, ret_server) &&
           TEST_RECORDF(child_hear(ret_server, "ready", REAL_PATIENCE_MS), "server.js: %.300s",
                        cordon_buf_text(&ret_server->err));
}

static bool define_vendor(void)
{
    char text[1024];
    const char *address = real_variable("CORDON_TEST_UPSTREAM_ADDR");
    (void)snprintf(text, sizeof text,
                   "name = \"clients\"; adapter = \"claude\";\n"
                   "hosts = [ \"one.corp.test\", \"two.corp.test\", \"down.corp.test\" ];\n"
                   "upstream = ( { host = \"one.corp.test\"; address = \"%s:%d\"; },\n"
                   "             { host = \"two.corp.test\"; address = \"%s:%d\"; },\n"
                   "             { host = \"down.corp.test\"; address = \"%s:1\"; } );\n",
                   address, SERVER_PORT, address, SERVER_PORT + 1, address);
    return real_file("vendors.d/clients.conf", text);
}

static bool reads_as(const char *pid, const char *line, size_t length)
{
    char path[64];
    char got[128];
    (void)snprintf(path, sizeof path, "/proc/%.20s/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = fd >= 0 ? read(fd, got, sizeof got) : -1;
    if (fd >= 0)
        (void)close(fd);
    return count == (ssize_t)length && memcmp(got, line, length) == 0;
}

static bool look_for_step(const char *line, size_t length, char *ret_netns, size_t size)
{
    bool found = false;
    DIR *proc = opendir("/proc");
    for (struct dirent *one = proc ? readdir(proc) : NULL; one && !found; one = readdir(proc)) {
        found = isdigit((unsigned char)one->d_name[0]) && reads_as(one->d_name, line, length);
        if (found)
            (void)snprintf(ret_netns, size, "/proc/%.20s/ns/net", one->d_name);
    }
    if (proc)
        (void)closedir(proc);
    return found;
}

/*
 * The step's command, "sleep MARKER", as the host sees it: its network is the step's. The shell has
 * said something before it becomes that.
 */
static bool find_step(char *ret_netns, size_t size)
{
    char line[64] = "sleep";
    size_t length = 6 + (size_t)snprintf(line + 6, sizeof line - 6, "%s", real_marker()) + 1;
    cordon_deadline until = cordon_deadline_in_ms(REAL_PATIENCE_MS, -1);
    while (!look_for_step(line, length, ret_netns, size)) {
        if (!CHECK(!cordon_deadline_passed(until)))
            return false;
        (void)usleep(10000);
    }
    return true;
}

/* "http://ADDRESS:PORT" of the step's environment, cut in two. */
static bool read_proxy(const running *r, char address[64], char port[8])
{
    char url[128] = "";
    const char *text = strstr(cordon_buf_text(&r->process.out), "http://");
    (void)snprintf(url, sizeof url, "%s", text ? text + 7 : "");
    url[strcspn(url, "\n")] = '\0';
    char *colon = strrchr(url, ':');
    if (!CHECK(colon != NULL && strlen(colon + 1) < 8))
        return false;
    *colon = '\0';
    (void)snprintf(address, 64, "%.60s", url);
    (void)snprintf(port, 8, "%.7s", colon + 1);
    return true;
}

/*
 * Rootless Podman 5 carries everything through pasta, which drops what comes faster than it can
 * pass on and knows no selective acknowledgement: an upload of some MiB may take minutes there,
 * with and without a proxy. And now and then it resets a connection whose one side was shut while
 * MiB were under way from the other. What is small is whole all the same, and that is asked.
 */
static int kibibytes(void)
{
    bool is_pasta = strcmp(real.word, "rootless") == 0 && strncmp(real.facts.version, "4.", 2) != 0;
    return is_pasta ? PASTA_KIBIBYTES : KIBIBYTES;
}

static void check_output(const child *clients)
{
    char want[512];
    (void)snprintf(want, sizeof want,
                   "ok curl, HTTP/1.1\nok curl, HTTP/2\nok openssl s_client\nok node\n"
                   "ok node, WebSocket\nok python\nok half-close\nok not pinned\nok down\n"
                   "ok upload of %d KiB\nok download of %d KiB\nok server-sent events\n",
                   kibibytes(), kibibytes());
    CHECK_STR(cordon_buf_text(&clients->out), want);
    CHECK_STR(cordon_buf_text(&clients->err), "");
}

static void run_clients(const running *r)
{
    char size[16];
    char netns[64];
    char address[64];
    char port[8];
    cordon_auto(child) clients = {.out_fd = -1, .err_fd = -1};
    if (!read_proxy(r, address, port) || !find_step(netns, sizeof netns))
        return;
    (void)snprintf(size, sizeof size, "%d", kibibytes());
    const child_spec spec = {
        .argv = WORDS(CORDON_TEST_CLIENTS "/all", address, port, real_path("home"), EVENTS, size),
        .netns = netns,
    };
    if (!child_start(&spec, &clients) || !CHECK(child_finish(&clients, CLIENTS_MS)))
        return;
    check_output(&clients);
}

/* An entry of egress.LIST that names `name`, and the number in it that must be there. */
static void check_egress(const outcome *o, const char *list, const char *by, const char *name,
                         const char *key, int64_t at_least)
{
    cordon_json entries;
    cordon_err ignored = CORDON_ERR_INIT;
    int64_t got = -1;
    if (!CHECK(json_find(o->receipt, list, &entries)))
        return;
    for (cordon_json_iter it = cordon_json_iterate(entries); cordon_json_next(&it);) {
        const char *has = NULL;
        if (cordon_json_need_string(it.value, by, &has, &ignored) == 0 && strcmp(has, name) == 0 &&
            cordon_json_need_i64(it.value, key, &got, &ignored) == 0)
            break;
    }
    TEST_RECORDF(got >= at_least, "%s of %s in %s: %lld", key, name, list, (long long)got);
}

/* The rule of an entry of egress.LIST, and its first address where `address` is not NULL. */
static void check_rule(const outcome *o, const char *list, const char *by, const char *name,
                       const char *rule, const char *address)
{
    cordon_json entries;
    cordon_json addresses;
    cordon_err ignored = CORDON_ERR_INIT;
    const char *got = "";
    const char *first = "";
    if (!CHECK(json_find(o->receipt, list, &entries)))
        return;
    for (cordon_json_iter it = cordon_json_iterate(entries); cordon_json_next(&it);) {
        const char *has = NULL;
        cordon_json_string text = {0};
        if (cordon_json_need_string(it.value, by, &has, &ignored) != 0 || strcmp(has, name) != 0 ||
            cordon_json_need_string(it.value, "rule", &got, &ignored) != 0 ||
            cordon_json_need_array(it.value, "addresses", &addresses, &ignored) != 0)
            continue;
        cordon_json_iter at = cordon_json_iterate(addresses);
        if (cordon_json_next(&at) && cordon_json_as_string(at.value, &text, &ignored) == 0)
            first = text.text;
    }
    CHECK_STR(got, rule);
    if (address)
        CHECK_STR(first, address);
}

/* `cordon egress` of the same person. */
static bool start_egress(const char *const *words, child *ret_child)
{
    char state[256];
    char home[256];
    (void)snprintf(state, sizeof state, "XDG_STATE_HOME=%s", real_path("state-0"));
    (void)snprintf(home, sizeof home, "HOME=%s", real_path("home"));
    const char *const environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", home, state, "TZ=UTC",
                                       NULL};
    return child_start(&(child_spec){.argv = words, .environment = environment}, ret_child);
}

/* Whoever follows sees every kind of event, and the end of the run as the end. */
static void check_followed(child *follower)
{
    if (!CHECK(child_finish(follower, REAL_PATIENCE_MS)))
        return;
    const char *text = cordon_buf_text(&follower->out);
    CHECK_INT(follower->status, 0);
    CHECK_STR(cordon_buf_text(&follower->err), "");
    CHECK_CONTAINS(text, " allowed  one.corp.test:443  upstream pinned  ");
    CHECK_CONTAINS(text, " denied   other.test:443  host not_pinned\n");
    CHECK_CONTAINS(text, " denied   down.corp.test:443  upstream connect_failed  ");
    CHECK_CONTAINS(text, " closed   one.corp.test:443  upstream  ");
    CHECK_CONTAINS(text, "client_closed by client");
}

static void check_table(const char *receipt)
{
    cordon_auto(child) table = {.out_fd = -1, .err_fd = -1};
    if (!start_egress(WORDS(CORDON_PROGRAM, "egress", receipt), &table) ||
        !CHECK(child_finish(&table, REAL_PATIENCE_MS)))
        return;
    const char *text = cordon_buf_text(&table.out);
    CHECK_INT(table.status, 0);
    CHECK_CONTAINS(text, "RUN       VERDICT  TARGET");
    CHECK_CONTAINS(text, "  allowed  one.corp.test:443   upstream  ");
    CHECK_CONTAINS(text, "  denied   other.test:443      host      ");
    CHECK_CONTAINS(text, "1 receipt: ");
}

static void UX4_real_clients_go_through_and_the_receipt_counts_them_and_what_was_refused(void)
{
    char command[128];
    cordon_auto(child) server = {.out_fd = -1, .err_fd = -1};
    cordon_auto(running) r = {.process = {.out_fd = -1, .err_fd = -1}};
    cordon_auto(outcome) o = {.process = {.out_fd = -1, .err_fd = -1}};
    cordon_auto(child) follower = {.out_fd = -1, .err_fd = -1};
    char dialled[64];
    int64_t bytes = (int64_t)kibibytes() << 10;
    (void)snprintf(command, sizeof command, "echo $HTTPS_PROXY; exec sleep %s", real_marker());
    if (!start_server(&server) || !define_vendor() ||
        !cordon_start(&(call){.argv = SHELL(command), .options = WORDS("--vendor", "clients")}, &r))
        return;
    if (CHECK(child_hear(&r.process, "http://", REAL_PATIENCE_MS)) &&
        start_egress(WORDS(CORDON_PROGRAM, "egress", "--follow"), &follower))
        run_clients(&r);
    (void)kill(r.process.pid, SIGINT);
    if (!cordon_end(&r, &o))
        return;
    EXPECT_KIND(&o, "cancelled", 130);
    check_egress(&o, "egress.allowed", "host", "one.corp.test", "tunnels", 7);
    check_egress(&o, "egress.allowed", "host", "one.corp.test", "bytes_up", bytes);
    check_egress(&o, "egress.allowed", "host", "one.corp.test", "bytes_down", bytes);
    check_egress(&o, "egress.allowed", "host", "two.corp.test", "tunnels", 1);
    check_egress(&o, "egress.denied", "target", "other.test:443", "count", 1);
    check_egress(&o, "egress.denied", "target", "down.corp.test:443", "count", 1);
    (void)snprintf(dialled, sizeof dialled, "%s:%d", real_variable("CORDON_TEST_UPSTREAM_ADDR"),
                   SERVER_PORT);
    check_rule(&o, "egress.allowed", "host", "one.corp.test", "upstream", dialled);
    check_rule(&o, "egress.denied", "target", "other.test:443", "host", NULL);
    check_rule(&o, "egress.denied", "target", "down.corp.test:443", "upstream", NULL);
    check_followed(&follower);
    check_table(r.receipt_path);
    EXPECT_NOTHING_LEFT(&o);
}

REAL_MAIN("real_clients",
          TEST(UX4_real_clients_go_through_and_the_receipt_counts_them_and_what_was_refused))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the configuration reads, exactly, from which files and in which order; that the shipped file
 * tells the truth. What is refused stands in test_config_refused.c.
 */
#include "config.h"

#include <stdlib.h>

#include "config_read.h"
#include "config_schema.h"
#include "support/folder.h"
#include "support/test.h"

#define FILE_NAME "/etc/cordon/cordon.conf"
#define HEX64     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Applies a text to fresh defaults. */
static int apply(const char *text, cordon_config *ret_config, cordon_err *err)
{
    cordon_auto(cordon_config) config = {0};
    if (cordon_config_init(&config, FILE_NAME, err) < 0 ||
        cordon_config_apply(&config, FILE_NAME, text, strlen(text), err) < 0)
        return -1;
    *ret_config = config;
    config = (cordon_config){0};
    return 0;
}

static void a_machine_without_files_works(void)
{
    cordon_auto(cordon_config) config = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_config_sources sources = {.system_file = "/nonexistent/cordon.conf",
                                     .user_file = "/nonexistent/user.conf",
                                     .trust = {.uid = getuid()}};
    REQUIRE_OK(cordon_config_load(&sources, &config, &err), err);
    CHECK_STR(config.engine, "auto");
    CHECK_INT(config.engines.count, 0);
    CHECK(config.images.claude == NULL && config.images.codex == NULL &&
          config.images.runner == NULL);
    CHECK_INT(config.runner.approved.count, 0);
    CHECK_INT(config.runner.network, CORDON_RUNNER_NETWORK_NONE);
    CHECK_INT(config.limits.deadline_ms, 600000);
    CHECK_INT(config.limits.grace_ms, 10000);
    CHECK_INT(config.limits.memory_bytes, 2147483648LL);
    CHECK_INT(config.limits.nano_cpus, 2000000000LL);
    CHECK_INT(config.limits.pids, 256);
    CHECK_INT(config.limits.open_files, 1024);
    CHECK_INT(config.limits.scratch_bytes, 268435456);
    CHECK_INT(config.limits.output_bytes, 67108864);
    CHECK_INT(config.limits.worktree_entries, 1000000);
    CHECK_INT(config.limits.tunnels, 512);
    CHECK_INT(config.limits.tunnel_bytes, 0);
    CHECK_INT(config.limits.egress_bytes, 0);
    CHECK_INT(config.limits.refusals, 0);
    CHECK_INT(config.network.range_address, 0x0ad50000);
    CHECK_INT(config.network.range_prefix, 16);
    CHECK_INT(config.network.prefix, 29);
    CHECK_STR(config.vendors_dir, "/nonexistent/vendors.d");
    CHECK_INT(config.podman_service, CORDON_PODMAN_SERVICE_AUTO);
    CHECK_STR(config.podman_program, "podman");
    CHECK_STR(config.ssh_program, "ssh");
    CHECK(!config.allow_unenforced_limits);
    CHECK(!config.allow_unread_runtime);
    CHECK(!config.allow_weak_landlock);
    CHECK(config.sweep);
    CHECK(config.mask_secrets);
    CHECK(!config.allow_unknown_agent);
    CHECK(config.agents.claude == NULL && config.agents.codex == NULL);
    CHECK_INT(config.files.count, 0);
}

static const char whole[] =
    "engine = \"ci\";\n"
    "engines = ( { name = \"laptop\"; kind = \"docker\"; endpoint = "
    "\"unix:///var/run/docker.sock\"; },\n"
    "            { name = \"ci\"; kind = \"podman\"; endpoint = \"tcp://h.example:1\";\n"
    "              tls_ca = \"tls/ca.pem\"; tls_cert = \"/c.pem\"; tls_key = \"../k.pem\"; } );\n"
    "images: { claude = \"sha256:" HEX64 "\"; codex = \"r.example:5000/a/b@sha256:" HEX64 "\"; };\n"
    "runner: { approved = ( [\"make\", \"check\"], (\"npm\", \"test\", \"\") ); network = "
    "\"none\"; };\n"
    "limits: { deadline = \"90s\"; memory = 10737418240; cpus = 1.5; pids = 8; scratch = \"1TiB\"; "
    "\n"
    "  output = 0x100000000; grace = \"0s\"; open_files = 64; worktree_entries = 5L; };\n"
    "network: { range = \"192.168.4.0/24\"; prefix = 28; };\n"
    "vendors_dir = \"./v\"; podman_service = \"never\"; podman_program = \"/opt/bin/podman\";\n"
    "ssh_program = \"myssh\";\n"
    "allow_unenforced_limits = true;\n"
    "allow_unread_runtime = true;\n"
    "allow_weak_landlock = true;\n"
    "sweep = false;\n"
    "mask_secrets = false;\n"
    "agents: { claude = \"2.1.332\"; };\n"
    "allow_unknown_agent = true;\n";

static void every_key_is_read_exactly(void)
{
    cordon_auto(cordon_config) config = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(apply(whole, &config, &err), err);
    CHECK_STR(config.engine, "ci");
    REQUIRE_INT(config.engines.count, 2);
    CHECK_INT(config.engines.items[0].kind, CORDON_ENGINE_DOCKER);
    CHECK(config.engines.items[0].tls_ca_file == NULL);
    CHECK_INT(config.engines.items[1].kind, CORDON_ENGINE_PODMAN);
    CHECK_STR(config.engines.items[1].tls_ca_file, "/etc/cordon/tls/ca.pem");
    CHECK_STR(config.engines.items[1].tls_cert_file, "/c.pem");
    CHECK_STR(config.engines.items[1].tls_key_file, "/etc/k.pem");
    CHECK_STR(config.images.claude, "sha256:" HEX64);
    CHECK(config.images.runner == NULL);
    REQUIRE_INT(config.runner.approved.count, 2);
    REQUIRE_INT(config.runner.approved.items[1].count, 3);
    CHECK_STR(config.runner.approved.items[1].items[2], "");
    CHECK_INT(config.limits.deadline_ms, 90000);
    CHECK_INT(config.limits.grace_ms, 0);
    CHECK_INT(config.limits.memory_bytes, 10737418240LL);
    CHECK_INT(config.limits.output_bytes, 4294967296LL);
    CHECK_INT(config.limits.nano_cpus, 1500000000);
    CHECK_INT(config.limits.scratch_bytes, 1LL << 40);
    CHECK_INT(config.limits.worktree_entries, 5);
    CHECK_INT(config.network.range_address, 0xc0a80400);
    CHECK_INT(config.network.range_prefix, 24);
    CHECK_INT(config.network.prefix, 28);
    CHECK_STR(config.vendors_dir, "/etc/cordon/v");
    CHECK_INT(config.podman_service, CORDON_PODMAN_SERVICE_NEVER);
    CHECK_STR(config.podman_program, "/opt/bin/podman");
    CHECK_STR(config.ssh_program, "myssh");
    CHECK(config.allow_unenforced_limits);
    CHECK(config.allow_unread_runtime);
    CHECK(config.allow_weak_landlock);
    CHECK(!config.sweep);
    CHECK(!config.mask_secrets);
    CHECK(config.allow_unknown_agent);
    CHECK_STR(config.agents.claude, "2.1.332");
    CHECK(config.agents.codex == NULL);
    CHECK(cordon_config_engine(&config, "laptop") == &config.engines.items[0]);
    CHECK(cordon_config_engine(&config, "Laptop") == NULL);
}

/* Good single values: text of the limits group, and what memory, cpus and deadline become. */
static void CP1_sizes_times_and_cpus_are_exact(void)
{
    static const struct {
        const char *text;
        long long memory, cpus, deadline;
    } good[] = {
        {"memory = 16777216;", 16777216, 2000000000, 600000},
        {"memory = \"16777216\";", 16777216, 2000000000, 600000},
        {"memory = \"16384KiB\";", 16777216, 2000000000, 600000},
        {"memory = 17592186044416;", 17592186044416, 2000000000, 600000},
        {"memory = 0x40000000LL;", 1073741824, 2000000000, 600000},
        {"cpus = 3;", 2147483648LL, 3000000000, 600000},
        {"cpus = 0.1;", 2147483648LL, 100000000, 600000},
        {"cpus = 0.01;", 2147483648LL, 10000000, 600000},
        {"cpus = 1023.999;", 2147483648LL, 1023999000000, 600000},
        {"cpus = 1024;", 2147483648LL, 1024000000000, 600000},
        {"deadline = \"1000ms\";", 2147483648LL, 2000000000, 1000},
        {"deadline = \"168h\";", 2147483648LL, 2000000000, 604800000},
        {"/* a */ deadline /* b\n*/ = // c\n \"2h\" # d\n", 2147483648LL, 2000000000, 7200000},
        {"", 2147483648LL, 2000000000, 600000},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        cordon_auto(cordon_config) config = {0};
        cordon_err err = CORDON_ERR_INIT;
        char text[256];
        (void)snprintf(text, sizeof text, "limits: { %s };", good[i].text);
        if (!CHECK_OK(apply(text, &config, &err), err))
            continue;
        CHECK_INT(config.limits.memory_bytes, good[i].memory);
        CHECK_INT(config.limits.nano_cpus, good[i].cpus);
        CHECK_INT(config.limits.deadline_ms, good[i].deadline);
    }
}

static void a_long_argument_is_taken_and_a_longer_one_refused(void)
{
    static const struct {
        size_t length;
        bool good;
    } rows[] = {{131071, true}, {131072, false}};
    for (size_t i = 0; i < 2; i++) {
        cordon_auto(cordon_config) config = {0};
        cordon_err err = CORDON_ERR_INIT;
        char *text = NULL;
        char *argument = calloc(1, rows[i].length + 1);
        REQUIRE(argument != NULL);
        memset(argument, 'a', rows[i].length);
        REQUIRE(asprintf(&text, "runner: { approved = ( [\"echo\", \"%s\"] ); };", argument) > 0);
        if (rows[i].good)
            CHECK_OK(apply(text, &config, &err), err);
        else
            CHECK_FAILS(apply(text, &config, &err), err, CORDON_ERR_CONFIG,
                        "runner.approved[0][1]: \"aaaa");
        free(text);
        free(argument);
    }
}

/* --- Files and precedence ------------------------------------------------------------------ */

static void later_files_override_key_by_key_and_lists_as_a_whole(void)
{
    cordon_auto(cordon_config) config = {0};
    cordon_err err = CORDON_ERR_INIT;
    test_auto_folder folder = {0};
    REQUIRE(test_folder_make(&folder));
    REQUIRE(
        test_file(&folder, "system.conf",
                  "limits: { pids = 100; memory = \"1GiB\"; deadline = \"1m\"; };\n"
                  "engines = ( { name = \"a\"; kind = \"docker\"; endpoint = \"unix:///a\"; },\n"
                  "{ name = \"b\"; kind = \"docker\"; endpoint = \"unix:///b\"; } );\n"
                  "runner: { approved = ( [\"make\"] ); };",
                  0644));
    REQUIRE(
        test_file(&folder, "user.conf",
                  "limits: { pids = 200; memory = \"3GiB\"; };\n"
                  "engines = ( { name = \"c\"; kind = \"podman\"; endpoint = \"unix:///c\"; } );",
                  0600));
    REQUIRE(test_file(&folder, "mine.conf", "limits: { pids = 300; }; engine = \"c\";", 0600));
    cordon_config_sources sources = {.system_file = test_path(&folder, "system.conf"),
                                     .user_file = test_path(&folder, "user.conf"),
                                     .explicit_file = test_path(&folder, "mine.conf"),
                                     .trust = {.uid = getuid()}};
    if (CHECK_OK(cordon_config_load(&sources, &config, &err), err)) {
        CHECK_INT(config.limits.pids, 300);
        CHECK_INT(config.limits.memory_bytes, 3LL << 30);
        CHECK_INT(config.limits.deadline_ms, 60000);
        CHECK_INT(config.engines.count, 1);
        CHECK_STR(config.engines.items[0].name, "c");
        CHECK_STR(config.engine, "c");
        CHECK_INT(config.runner.approved.count, 1);
        CHECK_INT(config.files.count, 3);
        CHECK_STR(config.files.items[2], test_path(&folder, "mine.conf"));
    }
}

static void a_missing_explicit_file_is_an_error(void)
{
    cordon_config config = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_config_sources sources = {.system_file = "/nonexistent/a.conf",
                                     .explicit_file = "/nonexistent/b.conf",
                                     .trust = {.uid = getuid()}};
    CHECK_FAILS(cordon_config_load(&sources, &config, &err), err, CORDON_ERR_CONFIG,
                "/nonexistent/b.conf: the configuration file does not exist; check --config");
}

static void a_file_that_others_may_write_is_refused(void)
{
    cordon_config config = {0};
    cordon_err err = CORDON_ERR_INIT;
    test_auto_folder folder = {0};
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_file(&folder, "user.conf", "", 0620));
    cordon_config_sources sources = {.system_file = "/nonexistent/a.conf",
                                     .user_file = test_path(&folder, "user.conf"),
                                     .trust = {.uid = getuid()}};
    CHECK_FAILS(cordon_config_load(&sources, &config, &err), err, CORDON_ERR_REFUSED,
                "user.conf: may be written by its group, so it is not trusted");
    CHECK(strncmp(err.message, "configuration /tmp/", 19) == 0);
}

static void a_file_in_the_worktree_is_refused(void)
{
    cordon_config config = {0};
    cordon_err err = CORDON_ERR_INIT;
    test_auto_folder folder = {0};
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_file(&folder, "mine.conf", "", 0600));
    cordon_config_sources sources = {.system_file = "/nonexistent/a.conf",
                                     .explicit_file = test_path(&folder, "mine.conf"),
                                     .trust = {.uid = getuid(), .worktree = folder.path}};
    CHECK_FAILS(cordon_config_load(&sources, &config, &err), err, CORDON_ERR_REFUSED,
                "lies in the worktree");
}

/* --- The shipped file ---------------------------------------------------------------------- */

static char *read_shipped(void)
{
    char *text = calloc(1, 65536);
    FILE *file = fopen(CORDON_SOURCE_DIR "/etc/cordon.conf", "re");
    if (!text || !file || fread(text, 1, 65535, file) == 0)
        test_record(false, __LINE__, "cannot read etc/cordon.conf", __FILE__);
    if (file)
        (void)fclose(file);
    return text;
}

static bool same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static void the_shipped_file_says_the_defaults(void)
{
    cordon_auto(cordon_config) config = {0};
    cordon_auto(cordon_config) defaults = {0};
    cordon_err err = CORDON_ERR_INIT;
    char *text = read_shipped();
    REQUIRE(text != NULL);
    CHECK_OK(cordon_config_init(&defaults, FILE_NAME, &err), err);
    CHECK_OK(apply(text, &config, &err), err);
    free(text);
    CHECK(same_text(config.engine, defaults.engine));
    CHECK_INT(config.engines.count, defaults.engines.count);
    CHECK(same_text(config.images.claude, defaults.images.claude));
    CHECK(same_text(config.images.codex, defaults.images.codex));
    CHECK(same_text(config.images.runner, defaults.images.runner));
    CHECK_INT(config.runner.approved.count, defaults.runner.approved.count);
    CHECK_INT(config.runner.network, defaults.runner.network);
    CHECK(memcmp(&config.limits, &defaults.limits, sizeof config.limits) == 0);
    CHECK(same_text(config.network.range, defaults.network.range));
    CHECK_INT(config.network.prefix, defaults.network.prefix);
    CHECK(same_text(config.vendors_dir, defaults.vendors_dir));
    CHECK_INT(config.podman_service, defaults.podman_service);
    CHECK(same_text(config.podman_program, defaults.podman_program));
    CHECK(same_text(config.ssh_program, defaults.ssh_program));
    CHECK_INT(config.allow_unenforced_limits, defaults.allow_unenforced_limits);
    CHECK_INT(config.allow_unread_runtime, defaults.allow_unread_runtime);
    CHECK_INT(config.allow_weak_landlock, defaults.allow_weak_landlock);
    CHECK_INT(config.sweep, defaults.sweep);
    CHECK_INT(config.mask_secrets, defaults.mask_secrets);
}

/* Its examples: lines that start with "#" and a name or a continuation, not "# ". */
static void the_shipped_examples_are_valid(void)
{
    cordon_auto(cordon_config) config = {0};
    cordon_err err = CORDON_ERR_INIT;
    char *text = read_shipped();
    REQUIRE(text != NULL);
    char *empty_list = strstr(text, "engines = ();");
    if (CHECK(empty_list != NULL))
        memset(empty_list, ' ', strlen("engines = ();"));
    bool in_example = false;
    for (char *line = text; line && *line; line = strchr(line, '\n'), line += line ? 1 : 0) {
        bool starts = line[0] == '#' && line[1] >= 'a' && line[1] <= 'z';
        bool pin = strncmp(line, "#  c", 4) == 0 || strncmp(line, "#  r", 4) == 0;
        bool ends = in_example && strncmp(line, "#);", 3) == 0;
        if (starts || pin || in_example)
            line[0] = ' ';
        in_example = (starts || in_example) && !ends;
    }
    CHECK_OK(apply(text, &config, &err), err);
    free(text);
    CHECK_INT(config.engines.count, 3);
    CHECK(config.images.claude && config.images.codex && config.images.runner);
}

static void check_documented(const char *text, const cordon_schema *schema)
{
    for (size_t i = 0; i < schema->count; i++) {
        char wanted[64];
        const cordon_key *key = &schema->keys[i];
        (void)snprintf(wanted, sizeof wanted,
                       key->type == CORDON_KEY_GROUP ? "\n%s: {" : "%s = ", key->name);
        TEST_RECORDF(strstr(text, wanted) != NULL, "etc/cordon.conf lacks \"%s\"", key->name);
        if (key->sub)
            check_documented(text, key->sub);
    }
}

static void the_shipped_file_documents_every_key(void)
{
    char *text = read_shipped();
    REQUIRE(text != NULL);
    check_documented(text, &cordon_config_schema);
    free(text);
}

CORDON_TEST_MAIN("config", TEST(a_machine_without_files_works), TEST(every_key_is_read_exactly),
                 TEST(CP1_sizes_times_and_cpus_are_exact),
                 TEST(a_long_argument_is_taken_and_a_longer_one_refused),
                 TEST(later_files_override_key_by_key_and_lists_as_a_whole),
                 TEST(a_missing_explicit_file_is_an_error),
                 TEST(a_file_that_others_may_write_is_refused),
                 TEST(a_file_in_the_worktree_is_refused), TEST(the_shipped_file_says_the_defaults),
                 TEST(the_shipped_examples_are_valid), TEST(the_shipped_file_documents_every_key))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Docker's contexts and Podman's connections: what is read, and every form that is refused, in
 * words that name the file.
 */
#include "engine_names.h"

#include "kit/hash.h"
#include "support/folder.h"
#include "support/test.h"

#define NAME "far"

static cordon_trust own_trust(void)
{
    return (cordon_trust){.uid = getuid()};
}

/* --- Docker --------------------------------------------------------------------------------- */

/* "contexts/KIND/<sha256>" of the name. */
static const char *context_folder(const char *kind, const char *name)
{
    static char text[128];
    uint8_t digest[CORDON_SHA256_BYTES];
    char hex[CORDON_SHA256_HEX_SIZE];
    cordon_sha256_digest(name, strlen(name), digest);
    cordon_hex_encode(digest, sizeof digest, hex);
    (void)snprintf(text, sizeof text, "contexts/%s/%s", kind, hex);
    return text;
}

static bool docker_folder(test_folder *folder)
{
    char docker[160];
    if (!test_folder_make(folder) || !test_subfolder(folder, "contexts", 0755) ||
        !test_subfolder(folder, "contexts/meta", 0755) ||
        !test_subfolder(folder, "contexts/tls", 0755) ||
        !test_subfolder(folder, context_folder("meta", NAME), 0755) ||
        !test_subfolder(folder, context_folder("tls", NAME), 0755))
        return false;
    (void)snprintf(docker, sizeof docker, "%s/docker", context_folder("tls", NAME));
    return test_subfolder(folder, docker, 0755);
}

static bool write_meta(test_folder *folder, const char *text, mode_t mode)
{
    char file[160];
    (void)snprintf(file, sizeof file, "%s/meta.json", context_folder("meta", NAME));
    return test_file(folder, file, text, mode);
}

static bool write_tls(test_folder *folder, const char *name)
{
    char file[160];
    (void)snprintf(file, sizeof file, "%s/docker/%s", context_folder("tls", NAME), name);
    return test_file(folder, file, "pem", 0600);
}

static int read_context(test_folder *folder, const char *name, cordon_named_engine *engine,
                        cordon_err *err)
{
    cordon_trust trust = own_trust();
    return cordon_name_docker(&trust, folder->path, name, engine, err);
}

#define META(docker_)                                                                              \
    "{\"Name\":\"far\",\"Metadata\":{\"Description\":\"x\",\"y\":[1]},\"Endpoints\":{"             \
    "\"docker\":" docker_ ",\"kubernetes\":{\"Host\":\"z\"}}}"

static void a_context_is_read(void)
{
    static const char *const hosts[] = {"unix:///run/x.sock", "ssh://me@h", "ssh://h:22/run/x.sock",
                                        "tcp://127.0.0.1:2375"};
    test_auto_folder folder = {0};
    REQUIRE(docker_folder(&folder));
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        cordon_auto(cordon_named_engine) engine = {0};
        char text[512];
        cordon_err err = CORDON_ERR_INIT;
        (void)snprintf(text, sizeof text, META("{\"Host\":\"%s\",\"SkipTLSVerify\":false}"),
                       hosts[i]);
        REQUIRE(write_meta(&folder, text, 0644));
        REQUIRE_OK(read_context(&folder, NAME, &engine, &err), err);
        CHECK_STR(engine.endpoint, hosts[i]);
        CHECK(engine.tls_ca_file == NULL && engine.identity == NULL);
        CHECK_CONTAINS(engine.file, "/meta.json");
    }
}

static void a_context_has_its_tls_files(void)
{
    test_auto_folder folder = {0};
    cordon_auto(cordon_named_engine) engine = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(docker_folder(&folder));
    REQUIRE(write_meta(&folder, META("{\"Host\":\"tcp://farm.example:2376\"}"), 0644));
    REQUIRE(write_tls(&folder, "ca.pem") && write_tls(&folder, "cert.pem"));
    CHECK_FAILS(read_context(&folder, NAME, &engine, &err), err, CORDON_ERR_CONFIG,
                "mutual TLS needs all of its files");
    cordon_err_clear(&err);
    REQUIRE(write_tls(&folder, "key.pem"));
    REQUIRE_OK(read_context(&folder, NAME, &engine, &err), err);
    CHECK_CONTAINS(engine.tls_ca_file, "/docker/ca.pem");
    CHECK_CONTAINS(engine.tls_cert_file, "/docker/cert.pem");
    CHECK_CONTAINS(engine.tls_key_file, "/docker/key.pem");
}

static void a_bad_context_is_refused_by_its_file(void)
{
    static const struct {
        const char *text;
        const char *why;
    } rows[] = {
        {"", "meta.json"},
        {"{", "meta.json"},
        {"[]", "meta.json"},
        {"{}", "$.Name"},
        {"{\"Name\":\"near\",\"Endpoints\":{}}", "is of another context, \"near\""},
        {"{\"Name\":\"far\"}", "$.Endpoints"},
        {"{\"Name\":\"far\",\"Endpoints\":{}}", "$.Endpoints.docker"},
        {META("{}"), "\"far\" names no host"},
        {META("{\"Host\":\"\"}"), "\"far\" names no host"},
        {META("{\"Host\":7}"), "$.Endpoints.docker.Host"},
        {META("{\"Host\":\"fd://3\"}"), "that is how a daemon listens"},
        {META("{\"Host\":\"tcp://farm.example:2375\"}"), "without TLS everybody on the way"},
        {META("{\"Host\":\"ssh://-oProxyCommand=x\"}"), "the host's name has letters"},
        {META("{\"Host\":\"unix:///run/x\",\"SkipTLSVerify\":true}"), "SkipTLSVerify"},
        {META("{\"Host\":\"unix:///run/x\",\"SkipTLSVerify\":\"no\"}"), "SkipTLSVerify"},
        {META("{\"Host\":\"unix:///run/x\",\"Proxy\":\"socks5://h\"}"), "Proxy"},
        {META("{\"Host\":\"unix:///run/x\",\"Host\":\"unix:///run/y\"}"), "meta.json"},
    };
    test_auto_folder folder = {0};
    REQUIRE(docker_folder(&folder));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(cordon_named_engine) engine = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(write_meta(&folder, rows[i].text, 0644));
        CHECK_FAILS(read_context(&folder, NAME, &engine, &err), err, CORDON_ERR_CONFIG,
                    rows[i].why);
        CHECK_CONTAINS(err.message, "/contexts/meta/");
        CHECK(engine.endpoint == NULL);
    }
}

static void a_context_that_is_not_there_or_not_trusted_says_so(void)
{
    test_auto_folder folder = {0};
    cordon_auto(cordon_named_engine) engine = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(docker_folder(&folder));
    CHECK_FAILS(read_context(&folder, "nowhere", &engine, &err), err, CORDON_ERR_NOTFOUND,
                "Docker context \"nowhere\": ");
    CHECK_CONTAINS(err.message, "/contexts/meta/");
    cordon_err_clear(&err);
    REQUIRE(write_meta(&folder, META("{\"Host\":\"unix:///run/x\"}"), 0666));
    CHECK_FAILS(read_context(&folder, NAME, &engine, &err), err, CORDON_ERR_REFUSED,
                "may be written by everybody");
}

static void the_current_context_is_dockers(void)
{
    static const struct {
        const char *text;
        const char *want; /* NULL: none */
    } rows[] = {
        {"{\"auths\":{\"r\":{\"auth\":\"eA==\"}},\"currentContext\":\"far\"}", "far"},
        {"{\"currentContext\":\"default\"}", NULL},
        {"{\"currentContext\":\"\"}", NULL},
        {"{}", NULL},
    };
    test_auto_folder folder = {0};
    cordon_trust trust = own_trust();
    cordon_err err = CORDON_ERR_INIT;
    char *name = NULL;
    REQUIRE(test_folder_make(&folder));
    CHECK_OK(cordon_name_docker_current(&trust, folder.path, &name, &err), err);
    CHECK(name == NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_autofree char *found = NULL;
        REQUIRE(test_file(&folder, "config.json", rows[i].text, 0600));
        REQUIRE_OK(cordon_name_docker_current(&trust, folder.path, &found, &err), err);
        CHECK(rows[i].want ? found && strcmp(found, rows[i].want) == 0 : found == NULL);
    }
    REQUIRE(test_file(&folder, "config.json", "{\"currentContext\":\"../x\"}", 0600));
    CHECK_FAILS(cordon_name_docker_current(&trust, folder.path, &name, &err), err,
                CORDON_ERR_CONFIG, "/config.json: \"../x\" is not a name");
    cordon_err_clear(&err);
    REQUIRE(test_file(&folder, "config.json", "{} x", 0600));
    CHECK_FAILS(cordon_name_docker_current(&trust, folder.path, &name, &err), err,
                CORDON_ERR_CONFIG, "/config.json: ");
    cordon_err_clear(&err);
    REQUIRE(test_file(&folder, "config.json", "{}", 0622));
    CHECK_FAILS(cordon_name_docker_current(&trust, folder.path, &name, &err), err,
                CORDON_ERR_REFUSED, "may be written");
}

/* --- Podman --------------------------------------------------------------------------------- */

static int read_connection(test_folder *folder, const char *name, cordon_named_engine *engine,
                           cordon_err *err)
{
    cordon_trust trust = own_trust();
    return cordon_name_podman(&trust, folder->path, name, engine, err);
}

#define CONNECTION(inside_)                                                                        \
    "{\"Connection\":{\"Default\":\"other\",\"Connections\":{\"other\":{\"URI\":\"x\"},"           \
    "\"far\":" inside_ "}},\"Farm\":{\"List\":{}}}"

static void a_connection_is_read(void)
{
    test_auto_folder folder = {0};
    cordon_auto(cordon_named_engine) engine = {0};
    cordon_err err = CORDON_ERR_INIT;
    char text[1024];
    REQUIRE(test_folder_make(&folder) && test_file(&folder, "key", "pem", 0600));
    (void)snprintf(text, sizeof text,
                   CONNECTION("{\"URI\":\"ssh://me@h:22/run/x.sock\",\"Identity\":\"%s\","
                              "\"IsMachine\":true}"),
                   test_path(&folder, "key"));
    REQUIRE(test_file(&folder, "podman-connections.json", text, 0600));
    REQUIRE_OK(read_connection(&folder, NAME, &engine, &err), err);
    CHECK_STR(engine.endpoint, "ssh://me@h:22/run/x.sock");
    CHECK_STR(engine.identity, test_path(&folder, "key"));
    CHECK_CONTAINS(engine.file, "/podman-connections.json");
}

static void a_bad_connection_is_refused_by_its_file(void)
{
    static const struct {
        const char *text;
        const char *why;
        cordon_code code;
    } rows[] = {
        {"", "podman-connections.json", CORDON_ERR_CONFIG},
        {"[]", "podman-connections.json", CORDON_ERR_CONFIG},
        {"{}", "has none of that name", CORDON_ERR_NOTFOUND},
        {"{\"Connection\":{}}", "has none of that name", CORDON_ERR_NOTFOUND},
        {"{\"Connection\":{\"Connections\":null}}", "has none of that name", CORDON_ERR_NOTFOUND},
        {"{\"Connection\":{\"Connections\":[]}}", "podman-connections.json", CORDON_ERR_CONFIG},
        {CONNECTION("null"), "has none of that name", CORDON_ERR_NOTFOUND},
        {CONNECTION("{}"), "\"far\" names no host", CORDON_ERR_CONFIG},
        {CONNECTION("{\"URI\":\"ssh://u:p@h\"}"), "has a password in it", CORDON_ERR_CONFIG},
        {CONNECTION("{\"URI\":\"ssh://h\",\"Identity\":\"key\"}"),
         "the identity \"key\" is no absolute path", CORDON_ERR_CONFIG},
        {CONNECTION("{\"URI\":\"ssh://h\",\"Identity\":\"/nonexistent/key\"}"),
         "the identity: ", CORDON_ERR_CONFIG},
        {CONNECTION("{\"URI\":\"unix:///x\",\"Identity\":\"/key\"}"), "has an identity, but",
         CORDON_ERR_CONFIG},
        {CONNECTION("{\"URI\":\"unix:///x\",\"Sudo\":true}"), "Sudo", CORDON_ERR_CONFIG},
        {CONNECTION("{\"URI\":\"tcp://h:1\"}"), "without TLS everybody", CORDON_ERR_CONFIG},
        {CONNECTION("{\"URI\":\"tcp://h:1\",\"TLSCA\":\"/a\"}"), "mutual TLS needs all",
         CORDON_ERR_CONFIG},
    };
    test_auto_folder folder = {0};
    REQUIRE(test_folder_make(&folder));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(cordon_named_engine) engine = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(test_file(&folder, "podman-connections.json", rows[i].text, 0600));
        CHECK_FAILS(read_connection(&folder, NAME, &engine, &err), err, rows[i].code, rows[i].why);
        CHECK_CONTAINS(err.message, "/podman-connections.json");
    }
}

/* --- Podman 4 -------------------------------------------------------------------------------- */

#define TABLE "[engine.service_destinations.far]\n"

static void a_table_of_podman_4_is_read(void)
{
    static const char *const texts[] = {
        TABLE "uri = \"ssh://h/run/x.sock\"\n",
        "# c\n[containers]\nenv = [\n  \"[engine.service_destinations.far]\",\n]\n[engine]\n"
        "  [engine.service_destinations]\n    [engine.service_destinations.other]\n uri=\"x\"\n"
        "    [engine.service_destinations.\"far\"] # here\n      uri = 'ssh://h/run/x.sock' # it\n"
        "      is_machine = true\n\n[network]\nuri = 7\n",
        TABLE "identity=\"\"\r\nuri=\"ssh://h/run/x.sock\"",
    };
    test_auto_folder folder = {0};
    REQUIRE(test_folder_make(&folder));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cordon_auto(cordon_named_engine) engine = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(test_file(&folder, "containers.conf", texts[i], 0600));
        if (!CHECK_OK(read_connection(&folder, NAME, &engine, &err), err))
            continue;
        CHECK_STR(engine.endpoint, "ssh://h/run/x.sock");
        CHECK(engine.identity == NULL);
        CHECK_CONTAINS(engine.file, "/containers.conf");
    }
}

static void another_form_of_that_table_is_refused(void)
{
    static const struct {
        const char *text;
        const char *why;
    } rows[] = {
        {TABLE "uri = \"a\\u0062\"\n", "line 2: is not KEY = \"VALUE\" without escapes"},
        {TABLE "uri = \"\"\"\nx\"\"\"\n", "holds strings of several lines"},
        {"x = '''\n" TABLE "'''\n", "holds strings of several lines"},
        {TABLE "uri = 7\n", "line 2: is not KEY = \"VALUE\""},
        {TABLE "uri = \"a\" b\n", "line 2: is not KEY = \"VALUE\""},
        {TABLE "uri = \"a\n", "line 2: is not KEY = \"VALUE\""},
        {TABLE "\"uri\" = \"a\"\n", "line 2: is not KEY = VALUE"},
        {TABLE "uri \"a\"\n", "line 2: is not KEY = VALUE"},
        {TABLE "uri = \"a\"\nuri = \"b\"\n", "line 3: says it for a second time"},
        {TABLE "sudo = \"a\"\n", "line 2: says something about the connection"},
        {TABLE "uri = \"ssh://h\"\n" TABLE, "line 3: is the second table"},
        {"[engine.service_destinations.far\n", "line 1: is no table of a connection"},
        {"[engine.service_destinations.far.x]\n", "line 1: is no table of a connection"},
        {"[engine.service_destinations.]\n", "line 1: is no table of a connection"},
        {"[engine.service_destinations.\"f\\u0061r\"]\n", "line 1: is no table of a connection"},
        {TABLE, "\"far\" names no host"},
        {TABLE "uri = \"ssh://-h\"\n", "the host's name has letters"},
    };
    test_auto_folder folder = {0};
    REQUIRE(test_folder_make(&folder));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cordon_auto(cordon_named_engine) engine = {0};
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(test_file(&folder, "containers.conf", rows[i].text, 0600));
        CHECK_FAILS(read_connection(&folder, NAME, &engine, &err), err, CORDON_ERR_CONFIG,
                    rows[i].why);
        CHECK_CONTAINS(err.message, "/containers.conf: ");
    }
}

static void names_are_plain(void)
{
    static const char *const good[] = {"a", "A1", "my-box_1.x+y", "docker:far", "podman:far"};
    static const char *const bad[] = {
        "", "-a", ".a", "a b", "a/b", "a\n", "a:b", "docker:", "docker:docker:a", "\xc3\xa4"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        CHECK_OK(cordon_name_check(good[i], &err), err);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(cordon_name_check(bad[i], &err), err, CORDON_ERR_CONFIG, "is not a name");
    }
}

CORDON_TEST_MAIN("engine_names", TEST(a_context_is_read), TEST(a_context_has_its_tls_files),
                 TEST(a_bad_context_is_refused_by_its_file),
                 TEST(a_context_that_is_not_there_or_not_trusted_says_so),
                 TEST(the_current_context_is_dockers), TEST(a_connection_is_read),
                 TEST(a_bad_connection_is_refused_by_its_file), TEST(a_table_of_podman_4_is_read),
                 TEST(another_form_of_that_table_is_refused), TEST(names_are_plain))

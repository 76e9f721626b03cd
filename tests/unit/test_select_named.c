/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines by the names of Docker's contexts and Podman's connections, by option, variable and
 * automatically; and the whole order with why each is passed over.
 */
#include "address.h"
#include "kit/hash.h"
#include "select.h"
#include "support/folder.h"
#include "support/select_machine.h"
#include "support/test.h"

static bool write_context(test_folder *folder, const char *name, const char *host)
{
    uint8_t digest[CORDON_SHA256_BYTES];
    char hex[CORDON_SHA256_HEX_SIZE];
    char path[160];
    char text[512];
    cordon_sha256_digest(name, strlen(name), digest);
    cordon_hex_encode(digest, sizeof digest, hex);
    (void)snprintf(path, sizeof path, ".docker/contexts/meta/%s", hex);
    if (!test_subfolder(folder, path, 0755))
        return false;
    (void)snprintf(path, sizeof path, ".docker/contexts/meta/%s/meta.json", hex);
    (void)snprintf(text, sizeof text,
                   "{\"Name\":\"%s\",\"Endpoints\":{\"docker\":{\"Host\":\"%s\"}}}", name, host);
    return test_file(folder, path, text, 0644);
}

/* A home with the contexts "far" and "both", and the connections "pod" and "both". */
static bool make_home(test_folder *folder, const char *current)
{
    char config[128];
    (void)snprintf(config, sizeof config, "{\"currentContext\":\"%s\"}", current);
    return test_folder_make(folder) && test_subfolder(folder, ".docker", 0700) &&
           test_subfolder(folder, ".docker/contexts", 0755) &&
           test_subfolder(folder, ".docker/contexts/meta", 0755) &&
           test_file(folder, ".docker/config.json", config, 0600) &&
           write_context(folder, "far", "ssh://me@h") &&
           write_context(folder, "both", "unix:///b.sock") &&
           test_subfolder(folder, ".config", 0755) &&
           test_subfolder(folder, ".config/containers", 0755) &&
           test_file(folder, ".config/containers/podman-connections.json",
                     "{\"Connection\":{\"Default\":\"pod\",\"Connections\":{\"pod\":{\"URI\":"
                     "\"ssh://p@h/run/p.sock\"},\"both\":{\"URI\":\"unix:///p.sock\"}}}}",
                     0600);
}

typedef struct named_row {
    const char *current;
    cordon_select_env env;
    const char *want; /* name, endpoint and origin; or, with a code, a part of the message */
    cordon_code code;
} named_row;

static void check_named(const named_row *r)
{
    test_auto_folder folder = {0};
    cordon_auto(cordon_config) config = {0};
    cordon_auto(cordon_candidates) candidates = {0};
    cordon_err err = CORDON_ERR_INIT;
    machine m = {.sockets = {"/var/run/docker.sock"}, .programs = {"/usr/bin/ssh"}};
    cordon_select_env env = r->env;
    char got[512] = "";
    REQUIRE(make_home(&folder, r->current ? r->current : ""));
    REQUIRE_OK(cordon_config_init(&config, "/etc/cordon.conf", &err), err);
    env.home = folder.path;
    env.path = "/usr/bin";
    env.uid = getuid();
    int rc = cordon_select(&config, &env, machine_probe, &m, &candidates, &err);
    if (r->code != CORDON_OK) {
        CHECK_FAILS(rc, err, r->code, r->want);
        return;
    }
    if (!CHECK_OK(rc, err))
        return;
    for (size_t i = 0; i < candidates.count; i++) {
        const cordon_candidate *c = &candidates.items[i];
        size_t length = strlen(got);
        if (!c->passed)
            (void)snprintf(got + length, sizeof got - length, "%s%s %s %s %s", length ? "; " : "",
                           c->name, cordon_engine_kind_name(c->kind), c->endpoint,
                           c->origin == CORDON_ORIGIN_EXPLICIT ? "explicit" : "auto");
    }
    CHECK_STR(got, r->want);
}

static void names_of_contexts_and_connections_are_engines(void)
{
    static const named_row rows[] = {
        {NULL, {.option = "far"}, "far docker ssh://me@h explicit", CORDON_OK},
        {NULL, {.cordon_engine = "pod"}, "pod podman ssh://p@h/run/p.sock explicit", CORDON_OK},
        {NULL, {.option = "docker:both"}, "both docker unix:///b.sock explicit", CORDON_OK},
        {NULL, {.option = "podman:both"}, "both podman unix:///p.sock explicit", CORDON_OK},
        {NULL,
         {.option = "both"},
         "--engine: \"both\" is a context of Docker's and a connection of Podman's; say "
         "docker:both",
         CORDON_ERR_CONFIG},
        {NULL, {.option = "podman:far"}, "podman-connections.json has none of", CORDON_ERR_CONFIG},
        {NULL,
         {.option = "docker:nowhere"},
         "--engine: Docker context \"nowhere\": /",
         CORDON_ERR_CONFIG},
        {NULL, {.option = "nowhere"}, "there is no engine \"nowhere\"", CORDON_ERR_CONFIG},
        {NULL, {.option = "../x"}, "there is no engine \"../x\"", CORDON_ERR_CONFIG},
        {"far",
         {.option = "docker:default"},
         "docker docker unix:///var/run/docker.sock explicit",
         CORDON_OK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_named(&rows[i]);
}

static void variables_that_name_them_are_explicit(void)
{
    static const named_row rows[] = {
        {NULL, {.docker_context = "far"}, "docker docker ssh://me@h explicit", CORDON_OK},
        {NULL,
         {.docker_context = "far", .docker_host = "unix:///d"},
         "docker docker unix:///d explicit",
         CORDON_OK},
        {NULL,
         {.container_connection = "pod", .container_host = "unix:///c", .docker_host = "unix:///d"},
         "podman podman ssh://p@h/run/p.sock explicit",
         CORDON_OK},
        {"far", {.docker_context = "both"}, "docker docker unix:///b.sock explicit", CORDON_OK},
        {NULL,
         {.docker_context = "nowhere"},
         "DOCKER_CONTEXT: Docker context \"nowhere\": /",
         CORDON_ERR_CONFIG},
        {NULL,
         {.container_connection = "nowhere"},
         "CONTAINER_CONNECTION: Podman connection",
         CORDON_ERR_CONFIG},
        {NULL,
         {.docker_context = "a/b"},
         "DOCKER_CONTEXT: \"a/b\" is not a name",
         CORDON_ERR_CONFIG},
        {NULL,
         {.docker_context = "far", .docker_config = "rel"},
         "DOCKER_CONTEXT: DOCKER_CONFIG is not an absolute path",
         CORDON_ERR_CONFIG},
        {NULL,
         {.docker_context = "far", .docker_config = "/nonexistent"},
         "DOCKER_CONTEXT: Docker context \"far\": /nonexistent",
         CORDON_ERR_CONFIG},
        {NULL,
         {.container_host = "ssh://h", .container_sshkey = "key"},
         "CONTAINER_SSHKEY is not an absolute path",
         CORDON_ERR_CONFIG},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_named(&rows[i]);
}

static void dockers_current_context_takes_the_place_of_its_sockets(void)
{
    static const named_row rows[] = {
        {NULL, {.uid = 0}, "docker docker unix:///var/run/docker.sock auto", CORDON_OK},
        {"default", {.uid = 0}, "docker docker unix:///var/run/docker.sock auto", CORDON_OK},
        {"far", {.uid = 0}, "docker docker ssh://me@h auto", CORDON_OK},
        {"far",
         {.docker_context = "default"},
         "docker docker unix:///var/run/docker.sock auto",
         CORDON_OK},
        {"far", {.option = "docker"}, "docker docker ssh://me@h explicit", CORDON_OK},
        {"nowhere",
         {.uid = 0},
         "Docker's current context: Docker context \"nowhere\": /",
         CORDON_ERR_CONFIG},
        {"nowhere",
         {.option = "docker"},
         "Docker's current context: Docker context \"nowhere\": /",
         CORDON_ERR_CONFIG},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_named(&rows[i]);
}

static void the_whole_order_tells_why_each_is_passed_over(void)
{
    static const char *const want[] = {
        "there is no such socket",
        NULL,
        "Docker context \"nowhere\": ",
        "Docker is set to its current context",
        "Docker is set to its current context",
        "podman_service is \"never\"",
    };
    static const char text[] = "podman_service = \"never\";";
    test_auto_folder folder = {0};
    cordon_auto(cordon_config) config = {0};
    cordon_auto(cordon_candidates) candidates = {0};
    cordon_err err = CORDON_ERR_INIT;
    cordon_err none = CORDON_ERR_INIT;
    machine m = {.sockets = {"/run/podman/podman.sock", "/var/run/docker.sock"}};
    REQUIRE(make_home(&folder, "nowhere"));
    REQUIRE_OK(cordon_config_init(&config, "/etc/cordon.conf", &err), err);
    REQUIRE_OK(cordon_config_apply(&config, "/c", text, strlen(text), &err), err);
    cordon_select_env env = {.home = folder.path, .uid = getuid(), .runtime_dir = "/rt"};
    REQUIRE_OK(cordon_select_order(&config, &env, machine_probe, &m, &candidates, &none, &err),
               err);
    CHECK_INT(none.code, CORDON_OK);
    REQUIRE_INT(candidates.count, sizeof want / sizeof want[0]);
    for (size_t i = 0; i < candidates.count; i++) {
        const char *passed = candidates.items[i].passed;
        TEST_RECORDF(want[i] ? passed && strstr(passed, want[i]) : !passed, "row %zu: %s", i,
                     passed ? passed : "is to be tried");
    }
}

CORDON_TEST_MAIN("select_named", TEST(names_of_contexts_and_connections_are_engines),
                 TEST(variables_that_name_them_are_explicit),
                 TEST(dockers_current_context_takes_the_place_of_its_sockets),
                 TEST(the_whole_order_tells_why_each_is_passed_over))

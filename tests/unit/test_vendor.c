/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vendors: the built-in ones stay what they are, definitions are exact or refused by name.
 */
#include "vendor.h"

#include "support/folder.h"
#include "support/test.h"

#define FILE_NAME "/etc/cordon/vendors.d/gw.conf"
#define HEAD      "name = \"gw\"; adapter = \"claude\";\n"

static int parse(const char *text, cordon_vendor **ret_vendor, cordon_err *err)
{
    cordon_trust trust = {.uid = getuid()};
    return cordon_vendor_parse(FILE_NAME, text, strlen(text), &trust, ret_vendor, err);
}

static void the_built_in_vendors_are_frozen(void)
{
    cordon_auto_ptr(cordon_vendor) claude = NULL;
    cordon_auto_ptr(cordon_vendor) codex = NULL;
    cordon_err err = CORDON_ERR_INIT;
    cordon_trust trust = {.uid = getuid()};
    REQUIRE_OK(cordon_vendor_load("claude", "/nonexistent", &trust, &claude, &err), err);
    REQUIRE_OK(cordon_vendor_load("codex", "/nonexistent", &trust, &codex, &err), err);
    CHECK_STR(claude->name, "claude");
    CHECK_INT(claude->adapter, CORDON_ADAPTER_CLAUDE);
    CHECK(claude->built_in && !claude->file && !claude->ca_pem);
    REQUIRE_INT(claude->hosts.count, 1);
    CHECK_STR(claude->hosts.items[0], "api.anthropic.com");
    CHECK_INT(claude->upstream.count, 0);
    CHECK_INT(claude->env.count, 0);
    CHECK_INT(codex->adapter, CORDON_ADAPTER_CODEX);
    REQUIRE_INT(codex->hosts.count, 2);
    CHECK_STR(codex->hosts.items[0], "api.openai.com");
    CHECK_STR(codex->hosts.items[1], "chatgpt.com");
    CHECK_STR(cordon_adapter_name(CORDON_ADAPTER_CODEX), "codex");
    CHECK_STR(cordon_adapter_name(77), "unknown");
}

static void a_definition_is_read_exactly(void)
{
    cordon_auto_ptr(cordon_vendor) vendor = NULL;
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(
        parse(HEAD "hosts = [ \"LLM.Corp.Example\", \"b-2.example\" ];\n"
                   "upstream = ( { host = \"llm.CORP.example\"; address = \"10.0.8.4:8443\"; } );\n"
                   "env = ( \"ANTHROPIC_BASE_URL=https://llm.corp.example\", \"EMPTY=\" );",
              &vendor, &err),
        err);
    CHECK_STR(vendor->name, "gw");
    CHECK(!vendor->built_in);
    CHECK_STR(vendor->file, FILE_NAME);
    REQUIRE_INT(vendor->hosts.count, 2);
    CHECK_STR(vendor->hosts.items[0], "llm.corp.example");
    CHECK_STR(cordon_vendor_upstream(vendor, "llm.corp.example"), "10.0.8.4:8443");
    CHECK(cordon_vendor_upstream(vendor, "b-2.example") == NULL);
    CHECK_INT(vendor->env.count, 2);
}

static const char *const good_hosts[] = {
    "a.b",
    "api.anthropic.com",
    "xn--bcher-kva.example",
    "1.a",
    "a1-b.c-d.e3",
    "A.B",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.test",
    "256.example",
};

static const struct {
    const char *host;
    const char *why;
} bad_hosts[] = {
    {"", "a host is empty"},
    {"*", "\"*\" is a wildcard; name every host in full"},
    {"*.", "\"*.\" is a wildcard"},
    {"*.test", "\"*.test\" is a wildcard"},
    {"a.*.test", "is a wildcard"},
    {".", "\".\" has an empty label (a dot too many)"},
    {".test", "has an empty label"},
    {"ok.test.", "has an empty label"},
    {"ok..test", "has an empty label"},
    {"ok .test", "\"ok .test\" has blanks in it"},
    {" ok.test", "has blanks in it"},
    {"ok.test\\n", "has blanks in it"},
    {"ok.test:443", "has a port or a scheme"},
    {"https://ok.test", "has a port or a scheme"},
    {"ok.test/x", "has a character that no host name has"},
    {"ok_x.test", "has a character that no host name has"},
    {"b\xc3\xbc"
     "cher.test",
     "\"b??cher.test\" has a character that no host name has"},
    {"-a.test", "has a label that starts or ends with '-'"},
    {"a-.test", "has a label that starts or ends with '-'"},
    {"localhost", "is a single label; give the full host name"},
    {"127.0.0.1", "is an IP address or a number; give a host name"},
    {"127.1", "is an IP address or a number"},
    {"2130706433", "is an IP address or a number"},
    {"example.1", "is an IP address or a number"},
    {"[::1]", "is an IP address or a number"},
    {"::1", "is an IP address or a number"},
    {"fd00::1", "is an IP address or a number"},
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.test",
     "has a label longer than 63 bytes"},
    {"claude.ai", "is a login host; log in outside of a run and give the token"},
    {"Auth.OpenAI.com", "is a login host"},
    {"platform.claude.com", "is a login host"},
};

static void HM4_only_exact_host_names_are_pinned(void)
{
    for (size_t i = 0; i < sizeof good_hosts / sizeof good_hosts[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        CHECK_OK(cordon_vendor_check_host(good_hosts[i], &err), err);
    }
    for (size_t i = 0; i < sizeof bad_hosts / sizeof bad_hosts[0]; i++) {
        char text[512];
        cordon_vendor *vendor = NULL;
        cordon_err err = CORDON_ERR_INIT;
        (void)snprintf(text, sizeof text, HEAD "\nhosts = [ \"ok.test\", \"%s\" ];",
                       bad_hosts[i].host);
        if (!CHECK_FAILS(parse(text, &vendor, &err), err, CORDON_ERR_CONFIG, bad_hosts[i].why))
            continue;
        CHECK_CONTAINS(err.message, FILE_NAME ":3: hosts[1]: ");
        CHECK_CONTAINS(err.message,
                       "; it takes exact host names, such as [ \"llm.corp.example\" ]");
    }
}

static void a_name_of_more_than_253_bytes_is_refused(void)
{
    char host[260] = "";
    cordon_err err = CORDON_ERR_INIT;
    for (size_t i = 0; i < 254; i++)
        host[i] = i % 2 ? '.' : 'a';
    host[253] = 'a';
    CHECK_FAILS(cordon_vendor_check_host(host, &err), err, CORDON_ERR_CONFIG,
                "is longer than 253 bytes");
    cordon_err_clear(&err);
    host[253] = '\0';
    CHECK_OK(cordon_vendor_check_host(host, &err), err);
}

static const char *const good_addresses[] = {"10.0.8.4:8443", "93.184.216.34:443", "[fd00::1]:1",
                                             "192.168.0.1:65535", "[2001:db8::1]:443"};

static const struct {
    const char *address;
    const char *why;
} bad_addresses[] = {
    {"10.0.8.4", "is not of the form 10.0.8.4:8443 or [fd00::1]:8443"},
    {"[fd00::1]", "is not of the form"},
    {"[fd00::1", "is not of the form"},
    {"fd00::1:443", "is not an IP address with a port"},
    {"host.example:443", "is not an IP address with a port"},
    {":443", "is not an IP address with a port"},
    {"10.0.8:443", "is not an IP address with a port"},
    {"010.0.8.4:443", "is not an IP address with a port"},
    {"[10.0.8.4]:443", "is not an IP address with a port"},
    {"[fe80::1%eth0]:443", "is not an IP address with a port"},
    {"10.0.8.4:0", "does not end with a port from 1 to 65535"},
    {"10.0.8.4:65536", "does not end with a port from 1 to 65535"},
    {"10.0.8.4:", "does not end with a port from 1 to 65535"},
    {"10.0.8.4:443 ", "does not end with a port from 1 to 65535"},
    {"10.0.8.4:0443", "does not end with a port from 1 to 65535"},
    {"127.0.0.1:443", "is loopback, which is the proxy's own container"},
    {"[::1]:443", "is loopback, which is the proxy's own container"},
    {"0.0.0.0:443", "is the unspecified address"},
    {"[::]:443", "is the unspecified address"},
    {"224.0.0.1:443", "is a multicast, reserved or broadcast address"},
    {"255.255.255.255:443", "is a multicast, reserved or broadcast address"},
    {"[ff02::1]:443", "is a multicast address"},
    {"[::ffff:10.0.0.1]:443", "wraps an IPv4 address; write that"},
    {"[fe80::1]:443", "is a link-local address, which needs an interface"},
};

static void upstream_addresses_are_exact_and_dialable(void)
{
    for (size_t i = 0; i < sizeof good_addresses / sizeof good_addresses[0]; i++) {
        cordon_err err = CORDON_ERR_INIT;
        CHECK_OK(cordon_vendor_check_address(good_addresses[i], &err), err);
    }
    for (size_t i = 0; i < sizeof bad_addresses / sizeof bad_addresses[0]; i++) {
        char text[512];
        cordon_vendor *vendor = NULL;
        cordon_err err = CORDON_ERR_INIT;
        (void)snprintf(text, sizeof text,
                       HEAD "hosts = [ \"ok.test\" ];\n"
                            "upstream = ( { host = \"ok.test\"; address = \"%s\"; } );",
                       bad_addresses[i].address);
        if (CHECK_FAILS(parse(text, &vendor, &err), err, CORDON_ERR_CONFIG, bad_addresses[i].why))
            CHECK_CONTAINS(err.message, FILE_NAME ":3: upstream[0].address: \"");
    }
}

static const struct {
    const char *text;
    const char *message;
} bad_definitions[] = {
    {"adapter = \"claude\"; hosts = [ \"a.b\" ];",
     ": name is missing; it takes the file's own name without \".conf\""},
    {"name = \"gw\"; hosts = [ \"a.b\" ];",
     ": adapter is missing; it takes one of \"claude\", \"codex\""},
    {HEAD, ": hosts is missing; it takes exact host names"},
    {HEAD "hosts = [];", ":2: hosts: is empty; name at least one host"},
    {HEAD "hosts = \"a.b\";", ":2: hosts: is a text; it takes exact host names"},
    {HEAD "hosts = [ 1 ];", ":2: hosts[0]: is a whole number; it takes exact host names"},
    {HEAD "hosts = [ \"a.b\", \"A.B\" ];", ":2: hosts[1]: \"a.b\" is in the list already"},
    {HEAD "hosts = [ \"a.b\" ];\nhosts = [ \"c.d\" ];",
     ":3: hosts: is given twice, first in line 2; keep one of them"},
    {HEAD "hosts = [ \"a.b\" ];\nports = [ 80 ];",
     ":3: ports: unknown key; known here: name, adapter, hosts, upstream, ca_file, argv, env"},
    {"name = \"claude\";\nadapter = \"claude\"; hosts = [ \"a.b\" ];",
     ":1: name: \"claude\" is built in and cannot be changed; another host set is another vendor"},
    {"name = \"codex\"; adapter = \"claude\"; hosts = [ \"a.b\" ];",
     ":1: name: \"codex\" is built in and cannot be changed"},
    {"name = \"other\"; adapter = \"claude\"; hosts = [ \"a.b\" ];",
     ":1: name: \"other\" does not match the file's name; the file must be other.conf"},
    {"name = \"g\"; adapter = \"claude\"; hosts = [ \"a.b\" ];",
     ":1: name: \"g\" does not match the file's name"},
    {"name = \"../gw\"; adapter = \"claude\"; hosts = [ \"a.b\" ];",
     ":1: name: \"../gw\" is not a vendor's name"},
    {"name = \"gw\"; adapter = \"gemini\"; hosts = [ \"a.b\" ];",
     ":1: adapter: unknown value \"gemini\"; it takes one of \"claude\", \"codex\""},
    {HEAD "hosts = [ \"a.b\" ];\nupstream = ( { host = \"c.d\"; address = \"10.0.0.1:1\"; } );",
     ":3: upstream[0].host: \"c.d\" is not one of this vendor's hosts; add it there or drop it"},
    {HEAD "hosts = [ \"a.b\" ];\nupstream = ( { host = \"a.b\"; address = \"10.0.0.1:1\"; },\n"
          "{ host = \"A.b\"; address = \"10.0.0.2:1\"; } );",
     ":4: upstream[1].host: \"a.b\" has an address already"},
    {HEAD "hosts = [ \"a.b\" ];\nupstream = ( { host = \"a.b\"; } );",
     ":3: upstream[0]: address is missing; it takes \"10.0.8.4:8443\" or \"[fd00::1]:8443\""},
    {HEAD "hosts = [ \"a.b\" ]; env = ( \"NOEQUALS\" );",
     ":2: env[0]: a text without \"=\"; it takes texts \"NAME=value\""},
    {HEAD "hosts = [ \"a.b\" ]; env = ( \"=x\" );", ": \"\" is not the name of a variable"},
    {HEAD "hosts = [ \"a.b\" ]; env = ( \"1A=x\" );", ": \"1A\" is not the name of a variable"},
    {HEAD "hosts = [ \"a.b\" ]; env = ( \"A-B=x\" );", ": \"A-B\" is not the name of a variable"},
    {HEAD "hosts = [ \"a.b\" ]; env = ( \"https_proxy=http://x\" );",
     ": \"https_proxy\" is a variable that is Cordon's or the system's to set"},
    {HEAD "hosts = [ \"a.b\" ]; env = ( \"NO_PROXY=*\" );", "is Cordon's or the system's to set"},
    {HEAD "hosts = [ \"a.b\" ]; env = ( \"LD_PRELOAD=/x\" );",
     "is Cordon's or the system's to set"},
    {HEAD "hosts = [ \"a.b\" ]; env = ( \"NODE_OPTIONS=-r x\" );",
     "is Cordon's or the system's to set"},
    {HEAD "hosts = [ \"a.b\" ]; env = ( \"PATH=/x\" );", "is Cordon's or the system's to set"},
    {HEAD "hosts = [ \"a.b\" ];\nenv = ( \"A=1\",\n\"A=2\" );",
     ":4: env[1]: A is set a second time"},
    {HEAD "hosts = [ \"a.b\" ];\nca_file = \"/nonexistent/ca.pem\";", ":3: ca_file: /nonexistent"},
    {"@include \"x\"", ":1: @include is not supported"},
};

static void wrong_definitions_name_file_line_and_key(void)
{
    for (size_t i = 0; i < sizeof bad_definitions / sizeof bad_definitions[0]; i++) {
        cordon_vendor *vendor = NULL;
        cordon_err err = CORDON_ERR_INIT;
        if (CHECK_FAILS(parse(bad_definitions[i].text, &vendor, &err), err, CORDON_ERR_CONFIG,
                        bad_definitions[i].message))
            CHECK(strncmp(err.message, FILE_NAME ":", sizeof FILE_NAME) == 0);
    }
}

static void the_authority_is_read_once_and_trusted(void)
{
    test_auto_folder folder = {0};
    cordon_auto_ptr(cordon_vendor) vendor = NULL;
    cordon_err err = CORDON_ERR_INIT;
    cordon_trust trust = {.uid = getuid()};
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_file(&folder, "gw.conf", HEAD "hosts = [ \"a.b\" ]; ca_file = \"ca.pem\";", 0600));
    REQUIRE(test_file(&folder, "ca.pem", "-----BEGIN CERTIFICATE-----\n", 0644));
    REQUIRE_OK(cordon_vendor_load("gw", folder.path, &trust, &vendor, &err), err);
    CHECK_STR(vendor->ca_file, test_path(&folder, "ca.pem"));
    CHECK_STR(vendor->ca_pem, "-----BEGIN CERTIFICATE-----\n");
    CHECK_STR(vendor->file, test_path(&folder, "gw.conf"));
    cordon_vendor *none = NULL;
    REQUIRE(test_file(&folder, "ca.pem", "rubbish", 0644));
    CHECK_FAILS(cordon_vendor_load("gw", folder.path, &trust, &none, &err), err, CORDON_ERR_CONFIG,
                "ca.pem holds no PEM certificate");
    cordon_err_clear(&err);
    REQUIRE(test_file(&folder, "ca.pem", "-----BEGIN CERTIFICATE-----\n", 0666));
    CHECK_FAILS(cordon_vendor_load("gw", folder.path, &trust, &none, &err), err, CORDON_ERR_REFUSED,
                "ca.pem: may be written by everybody");
}

static void an_unknown_vendor_lists_the_known_ones(void)
{
    test_auto_folder folder = {0};
    cordon_vendor *vendor = NULL;
    cordon_err err = CORDON_ERR_INIT;
    cordon_trust trust = {.uid = getuid()};
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_file(&folder, "mine.conf", "", 0600));
    CHECK_FAILS(cordon_vendor_load("clade", folder.path, &trust, &vendor, &err), err,
                CORDON_ERR_CONFIG,
                "unknown vendor \"clade\"; did you mean \"claude\"? Known are claude, codex, mine; "
                "define another in ");
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_vendor_load("../mine", folder.path, &trust, &vendor, &err), err,
                CORDON_ERR_CONFIG, "unknown vendor \"../mine\"; known are claude, codex, mine");
    cordon_err_clear(&err);
    CHECK_FAILS(cordon_vendor_load("x", "/nonexistent", &trust, &vendor, &err), err,
                CORDON_ERR_CONFIG, "unknown vendor \"x\"; known are claude, codex; define");
    cordon_err_clear(&err);
    REQUIRE(test_file(&folder, "open.conf", "", 0666));
    CHECK_FAILS(cordon_vendor_load("open", folder.path, &trust, &vendor, &err), err,
                CORDON_ERR_REFUSED, "vendor \"open\": ");
}

/* Another file by the name of a built-in vendor changes nothing. */
static void a_file_cannot_shadow_a_built_in_vendor(void)
{
    test_auto_folder folder = {0};
    cordon_auto_ptr(cordon_vendor) vendor = NULL;
    cordon_err err = CORDON_ERR_INIT;
    cordon_trust trust = {.uid = getuid()};
    REQUIRE(test_folder_make(&folder));
    REQUIRE(test_file(&folder, "claude.conf",
                      "name = \"claude\"; adapter = \"claude\"; hosts = [ \"evil.test\" ];", 0600));
    REQUIRE_OK(cordon_vendor_load("claude", folder.path, &trust, &vendor, &err), err);
    REQUIRE_INT(vendor->hosts.count, 1);
    CHECK_STR(vendor->hosts.items[0], "api.anthropic.com");
}

static void the_shipped_examples_are_valid(void)
{
    static const char *const names[] = {"claude-gateway", "codex-gateway"};
    for (size_t i = 0; i < 2; i++) {
        cordon_auto_ptr(cordon_vendor) vendor = NULL;
        cordon_err err = CORDON_ERR_INIT;
        cordon_trust trust = {.uid = getuid()};
        char text[8192] = "";
        char path[PATH_MAX];
        (void)snprintf(path, sizeof path, CORDON_SOURCE_DIR "/etc/vendors.d/%s.conf", names[i]);
        FILE *file = fopen(path, "re");
        REQUIRE(file != NULL);
        CHECK(fread(text, 1, sizeof text - 1, file) > 0);
        (void)fclose(file);
        if (CHECK_OK(cordon_vendor_parse(path, text, strlen(text), &trust, &vendor, &err), err))
            CHECK_STR(vendor->name, names[i]);
    }
}

CORDON_TEST_MAIN("vendor", TEST(the_built_in_vendors_are_frozen),
                 TEST(a_definition_is_read_exactly), TEST(HM4_only_exact_host_names_are_pinned),
                 TEST(a_name_of_more_than_253_bytes_is_refused),
                 TEST(upstream_addresses_are_exact_and_dialable),
                 TEST(wrong_definitions_name_file_line_and_key),
                 TEST(the_authority_is_read_once_and_trusted),
                 TEST(an_unknown_vendor_lists_the_known_ones),
                 TEST(a_file_cannot_shadow_a_built_in_vendor), TEST(the_shipped_examples_are_valid))

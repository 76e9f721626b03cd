/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the configuration refuses, and in which words: file, line, key, reason and form.
 */
#include "config.h"

#include <stdlib.h>

#include "config_scan.h"
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

typedef struct bad_text {
    const char *text;
    const char *message; /* behind "FILE:" */
    cordon_code code;    /* 0: CONFIG */
} bad_text;

#define SIZE_FORM     "; it takes a size from 16MiB to 16TiB, such as \"512MiB\""
#define DEADLINE_FORM "; it takes a time with its unit from 1s to 168h, such as \"30s\" or \"10m\""
#define CPUS_FORM     "; it takes a number from 0.01 to 1024 in steps of 0.001"
#define PIN_FORM      "; it takes \"sha256:<64 hex digits>\" or \"name@sha256:<64 hex digits>\""
#define NUMBER_FORM                                                                                \
    "; write a plain number such as 12 or 1.5, or in quotes a value with a unit such as "          \
    "\"512MiB\" or \"10m\""
#define FRACTION_FORM NUMBER_FORM
#define ESCAPES                                                                                    \
    "a string has an unknown escape; known are \\n \\r \\t \\f \\\\ \\\" and \\xHH except \\x00"
#define ENGINE(body) "engines = (\n{ " body " } );"

static const bad_text bad_values[] = {
    /* CP1 */
    {"limits: { memory = 1; };", "1: limits.memory: 1 is out of range" SIZE_FORM, 0},
    {"limits: {\n memory = -1;\n};", "2: limits.memory: -1 is out of range" SIZE_FORM, 0},
    {"limits: { memory = 0; };", "1: limits.memory: 0 is out of range" SIZE_FORM, 0},
    {"limits: { memory = 17592186044417; };",
     "1: limits.memory: 17592186044417 is out of range" SIZE_FORM, 0},
    {"limits: { pids = 0x100000000; };",
     "1: limits.pids: 4294967296 is out of range; it takes a whole number from 8 to 4194304", 0},
    {"limits: { pids = 18446744073709551872; };",
     "1: limits.pids: \"18446744073709551872\" is too large" NUMBER_FORM, 0},
    {"limits: { pids = 9223372036854775808; };",
     "1: limits.pids: \"9223372036854775808\" is too large" NUMBER_FORM, 0},
    {"limits: { pids = 0x8000000000000000; };",
     "1: limits.pids: \"8000000000000000\" is more than 0x7fffffffffffffff" NUMBER_FORM, 0},
    {"limits: { pids = 010; };", "1: limits.pids: \"010\" has a leading zero" NUMBER_FORM, 0},
    {"limits: { pids = +9; };", "1: limits.pids: \"+9\" is not a whole decimal number" NUMBER_FORM,
     0},
    {"limits: { pids = -0; };", "1: limits.pids: \"-0\" is a negative zero" NUMBER_FORM, 0},
    {"limits: { cpus = 1e3; };",
     "1: limits.cpus: \"1e3\" is not a whole decimal number" NUMBER_FORM, 0},
    {"limits: { cpus = .5; };", "1: limits.cpus: \".5\" is not a whole decimal number" NUMBER_FORM,
     0},
    {"limits: { cpus = 1.; };", "1: limits.cpus: \"1.\" is not a whole decimal number" NUMBER_FORM,
     0},
    {"limits: { cpus = 0.0; };", "1: limits.cpus: 0 is out of range" CPUS_FORM, 0},
    {"limits: { cpus = -2.0; };", "1: limits.cpus: -2 is out of range" CPUS_FORM, 0},
    {"limits: { cpus = 0.0005; };", "1: limits.cpus: 0.0005 is finer than a thousandth" CPUS_FORM,
     0},
    {"limits: { cpus = 1024.001; };", "1: limits.cpus: 1024 is out of range" CPUS_FORM, 0},
    {"limits: { cpus = 99999999999; };", "1: limits.cpus: 99999999999 is out of range" CPUS_FORM,
     0},
    {"limits: { memory = \"2GB\"; };", "1: limits.memory: \"2GB\"", 0},
    {"limits: { memory = \"99999999TiB\"; };", "1: limits.memory: \"99999999TiB\"", 0},
    {"limits: { memory = \"8388608TiB\"; };", "1: limits.memory: \"8388608TiB\"", 0},
    {"limits: { memory = 2.0; };", "1: limits.memory: is a fraction" SIZE_FORM, 0},
    /* CP2 */
    {"limits: { deadline = \"30\"; };", "1: limits.deadline: \"30\"", 0},
    {"limits: { deadline = 30; };", "1: limits.deadline: is a whole number" DEADLINE_FORM, 0},
    {"limits: { deadline = 30.5; };", "1: limits.deadline: is a fraction" DEADLINE_FORM, 0},
    {"limits: { deadline = [30]; };", "1: limits.deadline: is an array" DEADLINE_FORM, 0},
    {"limits: { deadline = (); };", "1: limits.deadline: is a list" DEADLINE_FORM, 0},
    {"limits: { deadline = {}; };", "1: limits.deadline: is a group" DEADLINE_FORM, 0},
    {"limits: { deadline = true; };", "1: limits.deadline: is true or false" DEADLINE_FORM, 0},
    {"limits: { deadline = 10m; };",
     "1: limits.deadline: \"10m\" is not a whole decimal number" NUMBER_FORM, 0},
    {"limits: { deadline = \"0s\"; };", "1: limits.deadline: \"0s\" is out of range" DEADLINE_FORM,
     0},
    {"limits: { deadline = \"169h\"; };",
     "1: limits.deadline: \"169h\" is out of range" DEADLINE_FORM, 0},
    {"limits: { pids = \"256\"; };",
     "1: limits.pids: is a text; it takes a whole number from 8 to 4194304", 0},
    {"allow_unenforced_limits = 1;",
     "1: allow_unenforced_limits: is a whole number; it takes true or false, without quotes", 0},
    {"allow_unenforced_limits = \"true\";",
     "1: allow_unenforced_limits: is a text; it takes true or false, without quotes", 0},
    {"allow_unread_runtime = 1;",
     "1: allow_unread_runtime: is a whole number; it takes true or false, without quotes", 0},
    {"engine = 1;", "1: engine: is a whole number; it takes \"auto\", or the name of an engine", 0},
    {"limits = 5;", "1: limits: is a whole number; it takes a group: { ... }", 0},
    {"limits = (); ", "1: limits: is a list; it takes a group: { ... }", 0},
};

static const bad_text bad_keys[] = {
    {"\n\nlimts: { };",
     "3: limts: unknown key; did you mean \"limits\"? Known here: engine, engines, images, agents, "
     "runner, limits, network, "
     "worktree, vendors_dir, images_lock, recipes_dir, podman_service, podman_program, "
     "ssh_program, "
     "allow_unenforced_limits, allow_unread_runtime, allow_weak_landlock, sweep, mask_secrets, "
     "allow_unknown_agent",
     0},
    {"limits: {\n\nmemry = 1;\n};",
     "3: limits.memry: unknown key; did you mean \"memory\"? Known here: deadline, grace, memory, "
     "cpus, pids, open_files, "
     "scratch, output, diff, tunnels, tunnel_bytes, egress_bytes, refusals, worktree_entries",
     0},
    {"Engine = \"auto\";", "1: Engine: unknown key; did you mean \"engine\"? Known here: engine, ",
     0},
    {"images: { gemini = \"x\"; };",
     "1: images.gemini: unknown key; known here: claude, codex, runner", 0},
    {"engine = \"auto\";\nlimits: { };\nengine = \"auto\";",
     "3: engine: is given twice, first in line 1; keep one of them", 0},
    {"limits: { pids = 9;\n pids = 9; };",
     "2: limits.pids: is given twice, first in line 1; keep one of them", 0},
    {"limits: { pids = 9; };\nlimits: { pids = 9; };",
     "2: limits: is given twice, first in line 1; keep one of them", 0},
    {ENGINE("name = \"a\"; name = \"b\";"),
     "2: engines.name: is given twice, first in line 2; keep one of them", 0},
    {"@include \"/etc/passwd\"\n", "1: @include is not supported; put the settings into this file",
     0},
    {"limits: {\n@include \"x\"\n};",
     "2: @include is not supported; put the settings into this file", 0},
};

static const bad_text bad_engines[] = {
    {ENGINE("name = \"a\"; endpoint = \"unix:///x\";"),
     "2: engines[0]: kind is missing; it takes one of \"docker\", \"podman\"", 0},
    {ENGINE("name = \"a\"; kind = \"docker\";"),
     "2: engines[0]: endpoint is missing; it takes \"unix:///absolute/path\", "
     "\"tcp://host:port\" or \"ssh://user@host/path/of/socket\"",
     0},
    {ENGINE("name = \"a\"; kind = \"lxc\"; endpoint = \"unix:///x\";"),
     "2: engines[0].kind: unknown value \"lxc\"; it takes one of \"docker\", \"podman\"", 0},
    {ENGINE("name = \"a\"; kind = \"docker\"; kind = \"podman\"; endpoint = \"unix:///x\";"),
     "2: engines.kind: is given twice, first in line 2; keep one of them", 0},
    {ENGINE("name = \"auto\"; kind = \"docker\"; endpoint = \"unix:///x\";"),
     "2: engines[0].name: \"auto\" means automatic choice; give the engine another name", 0},
    {ENGINE("name = \"A b\"; kind = \"docker\"; endpoint = \"unix:///x\";"),
     "2: engines[0].name: \"A b\" is not a name; it takes a name of lower-case letters", 0},
    {ENGINE("name = \"\"; kind = \"docker\"; endpoint = \"unix:///x\";"),
     "2: engines[0].name: is empty; it takes a name of lower-case letters", 0},
    {"engines = ( { name = \"a\"; kind = \"docker\"; endpoint = \"unix:///x\"; },\n"
     "{ name = \"a\"; kind = \"podman\"; endpoint = \"unix:///y\"; } );",
     "2: engines[1].name: \"a\" is the name of another engine in the list already; give each its "
     "own",
     0},
    {ENGINE("name = \"a\"; kind = \"docker\"; endpoint = \"/var/run/docker.sock\";"),
     "2: engines[0].endpoint: endpoint \"/var/run/docker.sock\": write unix:// before the path", 0},
    {ENGINE("name = \"a\"; kind = \"podman\"; endpoint = \"ssh://u@h/run/podman.sock?x=1\";"),
     "2: engines[0].endpoint: endpoint \"ssh://u@h/run/podman.sock?x=1\": the socket's path has at "
     "most 107",
     0},
    {ENGINE("name = \"a\"; kind = \"docker\"; endpoint = \"ssh://h\"; tls_ca = \"/a\"; tls_cert "
            "= \"/c\"; tls_key = \"/k\";"),
     "2: engines[0].endpoint: only tcp:// has TLS of its own; remove the tls_ keys", 0},
    {ENGINE("name = \"a\"; kind = \"docker\"; endpoint = \"tcp://h:1\";"),
     "2: engines[0].endpoint: endpoint \"tcp://h:1\": without TLS everybody on the way controls "
     "the engine",
     0},
    {ENGINE("name = \"a\"; kind = \"docker\"; endpoint = \"tcp://h:1\"; tls_ca = \"/a\";"),
     "2: engines[0].endpoint: mutual TLS needs all of tls_ca, tls_cert and tls_key", 0},
    {ENGINE("name = \"a\"; kind = \"docker\"; endpoint = \"unix:///x\"; tls_ca = \"/a\"; tls_cert "
            "= \"/a\"; tls_key = \"/a\";"),
     "2: engines[0].endpoint: only tcp:// has TLS of its own; remove the tls_ keys", 0},
    {"engines = { };", "1: engines: is a group; it takes a list of groups: ( { name", 0},
    {"engines = ( 1 );", "1: engines[0]: is a whole number; it takes a list of groups", 0},
    {"engine = \"a/b\";", "1: engine: \"a/b\" is not a name; it takes \"auto\", or the name", 0},
};

static const bad_text bad_others[] = {
    {"images: { claude = \"claude:latest\"; };",
     "1: images.claude: \"claude:latest\" is not pinned: a name or tag can be moved to another "
     "image; docker (or podman) image inspect -f '{{.Id}}' NAME tells its id" PIN_FORM,
     0},
    {"images: { claude = \"sha256:0123\"; };", "1: images.claude: \"sha256:0123\" is not pinned",
     0},
    {"images: { claude = \"" HEX64 "\"; };", "1: images.claude: \"" HEX64 "\" is not pinned", 0},
    {"images: { codex = "
     "\"sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef\"; "
     "};",
     "1: images.codex: \"sha256:0123456789ABCDEF", 0},
    {"images: { codex = \"a@b@sha256:" HEX64 "\"; };",
     "does not have a plain image name (no tag) before the @" PIN_FORM, 0},
    {"images: { codex = \"a:latest@sha256:" HEX64 "\"; };", "does not have a plain image name", 0},
    {"images: { codex = \"@sha256:" HEX64 "\"; };", "does not have a plain image name", 0},
    {"images: { codex = \"A/b@sha256:" HEX64 "\"; };", "does not have a plain image name", 0},
    {"images: { runner = \"\"; };", "1: images.runner: is empty" PIN_FORM, 0},
    {"images: { runner = \"sha512:" HEX64 "\"; };", "is not pinned", 0},
    {"runner: { approved = ( [] ); };",
     "1: runner.approved[0]: is empty; it takes a program and its arguments", 0},
    {"runner: { approved = ( [\"\"] ); };", "1: runner.approved[0]: the program's name is empty",
     0},
    {"runner: { approved = ( \"make\" ); };",
     "1: runner.approved[0]: is a text; it takes a list of argument vectors", 0},
    {"runner: { approved = [ \"make\" ]; };",
     "1: runner.approved[0]: is a text; it takes a list of argument vectors", 0},
    {"runner: { approved = ( [ 1 ] ); };",
     "1: runner.approved[0][0]: is a whole number; it takes a list of argument vectors", 0},
    {"runner: { network = \"host\"; };",
     "1: runner.network: unknown value \"host\"; it takes one of \"none\"", 0},
    {"network: { range = \"10.213.0.1/16\"; };",
     "1: network.range: \"10.213.0.1/16\" has bits set behind its prefix; write the first address",
     0},
    {"network: { range = \"8.8.0.0/16\"; };",
     "1: network.range: \"8.8.0.0/16\" is not within 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16",
     0},
    {"network: { range = \"172.0.0.0/8\"; };", "1: network.range: \"172.0.0.0/8\" is not within",
     0},
    {"network: { range = \"10.213.0.0\"; };",
     "1: network.range: \"10.213.0.0\" is not of the form ADDRESS/PREFIX", 0},
    {"network: { range = \"10.213.0.0/29\"; };",
     "1: network.range: \"10.213.0.0/29\" is not an IPv4 address with a prefix from 8 to 28", 0},
    {"network: { range = \"10.1/16\"; };", "1: network.range: \"10.1/16\" is not an IPv4 address",
     0},
    {"network: { range = \"fd00::/64\"; };", "1: network.range: \"fd00::/64\" is not an IPv4", 0},
    {"network: { prefix = 30; };",
     "1: network.prefix: 30 is out of range; it takes a whole number from 16 to 29", 0},
    {"network: { prefix = 16; };",
     "1: network.prefix: /16 blocks do not fit into the range 10.213.0.0/16; use a larger prefix, "
     "up to 29, or a larger range",
     0},
    {"vendors_dir = \"\";", "1: vendors_dir: is empty; it takes the path of a folder", 0},
    {"vendors_dir = \"a\\x01b\";", "1: vendors_dir: \"a?b\" holds control characters", 0},
    {"podman_service = \"always\";",
     "1: podman_service: unknown value \"always\"; it takes one of \"auto\", \"never\"", 0},
    {"podman_program = \"bin/podman\";",
     "1: podman_program: \"bin/podman\" is neither an absolute path nor a bare name; it takes", 0},
};

static const bad_text bad_syntax[] = {
    {"engine = \"auto\"", "", CORDON_OK}, /* the last ';' is optional */
    {"engine \"auto\";", "1: \"\"\" stands where \"=\" must stand", 0},
    {"limits: {\n pids = 9;\n\n", "1: limits: is not closed with }", 0},
    {"limits: { pids = 9; );", "1: a ) closes nothing that is open here", 0},
    {"}", "1: a } closes nothing that is open here", 0},
    {"engine = \"auto;\nlimits: { };",
     "1: a string is not closed with \" on its line, or holds a control character", 0},
    {"engine = \"auto", "1: a string is not closed with \"", 0},
    {"engine = \"au\\x00to\";", "1: " ESCAPES, 0},
    {"engine = \"au\\qto\";", "1: " ESCAPES, 0},
    {"engine = \"au\\", "1: " ESCAPES, 0},
    {"\n/* never\n\nclosed", "2: a comment is not closed with */", 0},
    {"engine = 'auto';", "1: unexpected character \"'\"", 0},
    {"engine = \xff;", "1: unexpected character \"?\"", 0},
    {"engine = ((((((((( ))))))))) ;", "1: more than 8 groups or lists within each other", 0},
    {"limits: { pids = 5 6; };", "1: limits.pids: \"6\" stands where \";\" must stand", 0},
    {"limits: { pids = 5;; };", "1: limits: \";\" stands where the name of a setting must stand",
     0},
    {"engine = auto;",
     "1: engine: \"auto\" stands where a value: a number, true, false, a text "
     "in quotes, or { }, ( ), [ ] must stand",
     0},
    {"engine = ;", "1: engine: \";\" stands where a value", 0},
    {"engine =\n", "2: engine: the text ends where a value", 0},
    {"engine", "1: the text ends where \"=\" must stand", 0},
    {"true = 1;", "1: \"true\" stands where the name of a setting must stand", 0},
    {"= 1;", "1: \"=\" stands where the name of a setting must stand", 0},
    {"limits = { 5 };", "1: limits: \"5\" stands where the name of a setting must stand", 0},
    {"runner: { approved = ( [\"a\"], ); };", "1: runner.approved: \")\" stands where a value", 0},
    {"runner: { approved = ( [\"a\" 5] ); };",
     "1: runner.approved: \"5\" stands where \",\" or the closing bracket must stand", 0},
    {"runner: { approved = ( [\"a\", 5] ); };",
     "1: an array [ ] holds values of one kind; use a list ( )", 0},
    {"runner: { approved = [ [\"a\"] ]; };", "1: an array [ ] holds plain values; use a list ( )",
     0},
    {"runner: { approved = ( , ); };", "1: runner.approved: \",\" stands where a value", 0},
    {"limits: { deadline = \"1\" \"0m\"; }", "", CORDON_OK}, /* adjacent strings are one */
};

static void check_bad(const bad_text *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cordon_auto(cordon_config) config = {0};
        cordon_err err = CORDON_ERR_INIT;
        bool good = table[i].message[0] == '\0';
        cordon_code code = table[i].code ? table[i].code : CORDON_ERR_CONFIG;
        if (good)
            CHECK_OK(apply(table[i].text, &config, &err), err);
        else if (CHECK_FAILS(apply(table[i].text, &config, &err), err, code, table[i].message))
            CHECK(strncmp(err.message, FILE_NAME ":", sizeof FILE_NAME) == 0);
    }
}

#define CHECK_BAD(table) check_bad((table), sizeof(table) / sizeof((table)[0]))

static void CP1_CP2_wrong_values_name_line_key_and_form(void)
{
    CHECK_BAD(bad_values);
}

static void CP2_unknown_and_repeated_keys_are_named(void)
{
    CHECK_BAD(bad_keys);
}

static void wrong_engines_are_named(void)
{
    CHECK_BAD(bad_engines);
}

static void wrong_pins_runners_and_networks_are_named(void)
{
    CHECK_BAD(bad_others);
}

static void wrong_syntax_names_its_line(void)
{
    CHECK_BAD(bad_syntax);
}

static void a_nul_in_the_text_is_refused(void)
{
    static const char text[] = "engine = \"auto\";\0limits: { pids = 9; };";
    cordon_auto(cordon_config) config = {0};
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(cordon_config_init(&config, FILE_NAME, &err), err);
    CHECK_FAILS(cordon_config_apply(&config, FILE_NAME, text, sizeof text - 1, &err), err,
                CORDON_ERR_CONFIG, FILE_NAME ":1: unexpected character \"?\"");
}

static void too_many_settings_or_items_are_refused(void)
{
    char *text = calloc(1, 65536);
    REQUIRE(text != NULL);
    size_t length = 0;
    for (int i = 0; i < 257; i++)
        length += (size_t)snprintf(text + length, 65536 - length, "k%d = 1;\n", i);
    cordon_config config = {0};
    cordon_err err = CORDON_ERR_INIT;
    CHECK_FAILS(apply(text, &config, &err), err, CORDON_ERR_CONFIG,
                FILE_NAME ":257: more than 256 settings in one group");
    length = (size_t)snprintf(text, 65536, "engines = (");
    for (int i = 0; i < 65; i++)
        length += (size_t)snprintf(text + length, 65536 - length, "%s{}", i > 0 ? "," : "");
    (void)snprintf(text + length, 65536 - length, ");");
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(apply(text, &config, &err), err, CORDON_ERR_CONFIG,
                FILE_NAME ":1: engines: has more than 64 items");
    free(text);
}

CORDON_TEST_MAIN("config_refused", TEST(CP1_CP2_wrong_values_name_line_key_and_form),
                 TEST(CP2_unknown_and_repeated_keys_are_named), TEST(wrong_engines_are_named),
                 TEST(wrong_pins_runners_and_networks_are_named), TEST(wrong_syntax_names_its_line),
                 TEST(a_nul_in_the_text_is_refused), TEST(too_many_settings_or_items_are_refused))

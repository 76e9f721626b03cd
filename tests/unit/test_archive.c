/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The images that Cordon makes: read back with an independent little tar reader and the strict JSON
 * reader, and the id demanded of an engine is the one the engine will compute.
 */
#include "archive.h"

#include "kit/jsonr.h"
#include "support/test.h"

static const char program[] = "\x7f"
                              "ELF, or whatever a program is made of";

static const char *const base[] = {
    "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
};

static cordon_archive_input alone(void)
{
    return (cordon_archive_input){
        .program = program,
        .program_length = sizeof(program),
        .folder = "",
        .architecture = "amd64",
        .name = "cordon-guard:test",
    };
}

static cordon_archive_input layered(void)
{
    cordon_archive_input input = alone();

    input.folder = ".cordon";
    input.base_layers = (cordon_texts){base, 2};
    return input;
}

/* --- An independent reader of tars --------------------------------------------------------------
 */

typedef struct tar_file {
    char name[101];
    char type;
    unsigned mode;
    const char *bytes;
    size_t length;
} tar_file;

static bool octal(const char *text, size_t size, size_t *ret_value)
{
    size_t value = 0;
    size_t i = 0;

    for (; i < size && text[i] >= '0' && text[i] <= '7'; i++)
        value = value * 8 + (size_t)(text[i] - '0');
    *ret_value = value;
    return i > 0 && i < size && (text[i] == '\0' || text[i] == ' ');
}

static bool all_zero(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

/* POSIX: the sum of the header's bytes with its own field taken as blanks. */
static bool checksum_is_right(const char *header)
{
    size_t told = 0;
    size_t sum = 0;

    for (size_t i = 0; i < 512; i++)
        sum += i >= 148 && i < 156 ? (unsigned char)' ' : (unsigned char)header[i];
    return octal(header + 148, 8, &told) && told == sum;
}

/* The header at *at; false at the two zero blocks of the end, or at a fault (which is recorded). */
static bool tar_next(const char *tar, size_t length, size_t *at, tar_file *file)
{
    const char *header = tar + *at;
    size_t mode = 0;
    size_t other = 1;

    if (!CHECK(*at + 1024 <= length))
        return false;
    if (all_zero(header, 512)) {
        CHECK(all_zero(header, 1024));
        CHECK_INT(*at + 1024, length);
        return false;
    }
    memcpy(file->name, header, 100);
    file->name[100] = '\0';
    file->type = header[156];
    file->bytes = header + 512;
    if (!CHECK(checksum_is_right(header)) ||
        !CHECK(memcmp(header + 257,
                      "ustar\0"
                      "00",
                      8) == 0) ||
        !CHECK(octal(header + 124, 12, &file->length)) || !CHECK(octal(header + 100, 8, &mode)) ||
        !CHECK(octal(header + 108, 8, &other) && other == 0) ||
        !CHECK(octal(header + 116, 8, &other) && other == 0) ||
        !CHECK(octal(header + 136, 12, &other) && other == 0) ||
        !CHECK(all_zero(header + 157, 100)) || !CHECK(all_zero(header + 265, 64)) ||
        !CHECK(*at + 512 + file->length <= length))
        return false;
    file->mode = (unsigned)mode;
    CHECK(all_zero(file->bytes + file->length, (512 - file->length % 512) % 512));
    *at += 512 + (file->length + 511) / 512 * 512;
    return true;
}

/* The archive's members: configuration, layer, manifest, in this order. */
typedef struct archive {
    cordon_buf tar;
    tar_file files[3];
} archive;

static void archive_clear(archive *value)
{
    cordon_buf_clear(&value->tar);
}
CORDON_DEFINE_AUTO(archive, archive_clear)

static bool archive_open(const cordon_archive_input *input, archive *value)
{
    cordon_err err = CORDON_ERR_INIT;
    tar_file extra;
    size_t at = 0;

    value->tar = cordon_buf_make(CORDON_ARCHIVE_MAX);
    if (!CHECK_OK(cordon_archive_build(input, &value->tar, &err), err))
        return false;
    for (int i = 0; i < 3; i++) {
        if (!CHECK(tar_next(value->tar.data, value->tar.length, &at, &value->files[i])) ||
            !CHECK_INT(value->files[i].type, '0'))
            return false;
    }
    return CHECK(!tar_next(value->tar.data, value->tar.length, &at, &extra));
}

static void sha256(const void *bytes, size_t length, char ret_hex[CORDON_SHA256_HEX_SIZE])
{
    uint8_t digest[CORDON_SHA256_BYTES];

    cordon_sha256_digest(bytes, length, digest);
    cordon_hex_encode(digest, sizeof(digest), ret_hex);
}

/* --- Stories ------------------------------------------------------------------------------------
 */

static void the_archive_holds_a_configuration_one_layer_and_a_manifest(void)
{
    cordon_auto(archive) value = {0};
    cordon_archive_input input = layered();
    char config[CORDON_SHA256_HEX_SIZE];
    char layer[CORDON_SHA256_HEX_SIZE];
    char name[101];

    REQUIRE(archive_open(&input, &value));
    sha256(value.files[0].bytes, value.files[0].length, config);
    sha256(value.files[1].bytes, value.files[1].length, layer);
    (void)snprintf(name, sizeof(name), "%s.json", config);
    CHECK_STR(value.files[0].name, name);
    (void)snprintf(name, sizeof(name), "%s/layer.tar", layer);
    CHECK_STR(value.files[1].name, name);
    CHECK_STR(value.files[2].name, "manifest.json");
}

static void the_id_is_the_digest_of_the_configuration(void)
{
    for (int i = 0; i < 2; i++) {
        cordon_auto(archive) value = {0};
        cordon_archive_input input = i == 0 ? alone() : layered();
        cordon_err err = CORDON_ERR_INIT;
        char id[CORDON_SHA256_HEX_SIZE];
        char digest[CORDON_SHA256_HEX_SIZE];

        REQUIRE(archive_open(&input, &value));
        REQUIRE_OK(cordon_archive_image_id(&input, id, &err), err);
        sha256(value.files[0].bytes, value.files[0].length, digest);
        CHECK_STR(id, digest);
    }
}

/* Written down, so that an accidental change of the format cannot pass as the same image. */
static void the_id_for_a_fixed_input_never_changes(void)
{
    cordon_archive_input one = alone();
    cordon_archive_input two = layered();
    cordon_err err = CORDON_ERR_INIT;
    char id[CORDON_SHA256_HEX_SIZE];

    REQUIRE_OK(cordon_archive_image_id(&one, id, &err), err);
    CHECK_STR(id, "ab5cb0b89af61e94f3075e7f92742be4fd924419b2f95495b3efe0f8f30ea467");
    REQUIRE_OK(cordon_archive_image_id(&two, id, &err), err);
    CHECK_STR(id, "7480bda5b0e1aa2a3ea655914fbed39db17e92c95f264f007f7702ee7357d350");
}

static void the_same_input_gives_the_same_bytes(void)
{
    cordon_auto(archive) one = {0};
    cordon_auto(archive) two = {0};
    cordon_archive_input input = layered();

    REQUIRE(archive_open(&input, &one) && archive_open(&input, &two));
    REQUIRE_INT(one.tar.length, two.tar.length);
    CHECK(memcmp(one.tar.data, two.tar.data, one.tar.length) == 0);
}

static void another_program_place_base_or_machine_is_another_image(void)
{
    static const char other[] = "another program";
    cordon_archive_input inputs[6];
    char ids[6][CORDON_SHA256_HEX_SIZE];

    for (int i = 0; i < 6; i++)
        inputs[i] = layered();
    inputs[1].program = other;
    inputs[1].program_length = sizeof(other);
    inputs[2].folder = "";
    inputs[3].base_layers.count = 1;
    inputs[4].architecture = "arm64";
    inputs[5].program_length--;
    for (int i = 0; i < 6; i++) {
        cordon_err err = CORDON_ERR_INIT;

        REQUIRE_OK(cordon_archive_image_id(&inputs[i], ids[i], &err), err);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(ids[i], ids[j]) != 0);
    }
}

static void the_name_is_for_people_and_does_not_make_the_image(void)
{
    cordon_archive_input one = alone();
    cordon_archive_input two = alone();
    cordon_err err = CORDON_ERR_INIT;
    char ids[2][CORDON_SHA256_HEX_SIZE];

    two.name = "somebody/else:latest";
    REQUIRE_OK(cordon_archive_image_id(&one, ids[0], &err), err);
    REQUIRE_OK(cordon_archive_image_id(&two, ids[1], &err), err);
    CHECK_STR(ids[0], ids[1]);
}

static void the_guard_alone_lies_in_the_root(void)
{
    cordon_auto(archive) value = {0};
    cordon_archive_input input = alone();
    tar_file file;
    size_t at = 0;

    REQUIRE(archive_open(&input, &value));
    REQUIRE(tar_next(value.files[1].bytes, value.files[1].length, &at, &file));
    CHECK_STR(file.name, "cordon-guard");
    CHECK_INT(file.type, '0');
    CHECK_INT(file.mode, 0755);
    REQUIRE_INT(file.length, sizeof(program));
    CHECK(memcmp(file.bytes, program, sizeof(program)) == 0);
    CHECK(!tar_next(value.files[1].bytes, value.files[1].length, &at, &file));
}

static void the_guard_on_a_base_lies_in_its_folder(void)
{
    cordon_auto(archive) value = {0};
    cordon_archive_input input = layered();
    tar_file file;
    size_t at = 0;

    REQUIRE(archive_open(&input, &value));
    REQUIRE(tar_next(value.files[1].bytes, value.files[1].length, &at, &file));
    CHECK_STR(file.name, ".cordon/");
    CHECK_INT(file.type, '5');
    CHECK_INT(file.mode, 0755);
    CHECK_INT(file.length, 0);
    REQUIRE(tar_next(value.files[1].bytes, value.files[1].length, &at, &file));
    CHECK_STR(file.name, ".cordon/cordon-guard");
    CHECK_INT(file.mode, 0755);
    CHECK_INT(file.length, sizeof(program));
    CHECK(!tar_next(value.files[1].bytes, value.files[1].length, &at, &file));
}

static bool parse(const tar_file *file, cordon_json_doc **ret_doc)
{
    cordon_err err = CORDON_ERR_INIT;

    return CHECK_OK(cordon_json_parse(file->bytes, file->length, 65536, 0, ret_doc, &err), err);
}

/* Joins an array of strings with blanks. */
static bool strings_of(cordon_json array, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (cordon_json_iter it = cordon_json_iterate(array); cordon_json_next(&it);) {
        cordon_json_string string = {0};
        cordon_err err = CORDON_ERR_INIT;

        if (!CHECK_OK(cordon_json_as_string(it.value, &string, &err), err) || !CHECK(used < size))
            return false;
        used += (size_t)snprintf(text + used, size - used, "%s ", string.text);
    }
    return true;
}

static void the_manifest_names_base_layers_that_are_not_there(void)
{
    cordon_auto(archive) value = {0};
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_archive_input input = layered();
    cordon_json_iter it;
    cordon_json layers;
    cordon_json tags;
    cordon_err err = CORDON_ERR_INIT;
    const char *config;
    char text[512];
    char want[512];

    REQUIRE(archive_open(&input, &value) && parse(&value.files[2], &doc));
    REQUIRE_INT(cordon_json_count(cordon_json_root(doc)), 1);
    it = cordon_json_iterate(cordon_json_root(doc));
    REQUIRE(cordon_json_next(&it));
    REQUIRE_OK(cordon_json_need_string(it.value, "Config", &config, &err), err);
    CHECK_STR(config, value.files[0].name);
    REQUIRE_OK(cordon_json_need_array(it.value, "RepoTags", &tags, &err), err);
    REQUIRE(strings_of(tags, text, sizeof(text)));
    CHECK_STR(text, "cordon-guard:test ");
    REQUIRE_OK(cordon_json_need_array(it.value, "Layers", &layers, &err), err);
    REQUIRE(strings_of(layers, text, sizeof(text)));
    (void)snprintf(want, sizeof(want), "%s/layer.tar %s/layer.tar %s ", base[0] + 7, base[1] + 7,
                   value.files[1].name);
    CHECK_STR(text, want);
}

static void the_configuration_sets_nothing(void)
{
    cordon_auto(archive) value = {0};
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_archive_input input = layered();
    char layer[CORDON_SHA256_HEX_SIZE];
    char want[2048];

    REQUIRE(archive_open(&input, &value) && parse(&value.files[0], &doc));
    sha256(value.files[1].bytes, value.files[1].length, layer);
    (void)snprintf(want, sizeof(want),
                   "{\"architecture\":\"amd64\",\"config\":{},\"created\":\"1970-01-01T00:00:00Z\","
                   "\"history\":[{\"created\":\"1970-01-01T00:00:00Z\",\"created_by\":\"cordon\"},"
                   "{\"created\":\"1970-01-01T00:00:00Z\",\"created_by\":\"cordon\"},"
                   "{\"created\":\"1970-01-01T00:00:00Z\",\"created_by\":\"cordon\"}],"
                   "\"os\":\"linux\",\"rootfs\":{\"diff_ids\":[\"%s\",\"%s\",\"sha256:%s\"],"
                   "\"type\":\"layers\"}}",
                   base[0], base[1], layer);
    REQUIRE_INT(value.files[0].length, strlen(want));
    CHECK(memcmp(value.files[0].bytes, want, strlen(want)) == 0);
}

static void a_program_of_any_length_keeps_the_blocks_whole(void)
{
    static const size_t lengths[] = {0, 1, 511, 512, 513, 1024, 100000};
    cordon_autofree char *bytes = malloc(100000);

    REQUIRE(bytes != NULL);
    memset(bytes, 'p', 100000);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        cordon_auto(archive) value = {0};
        cordon_archive_input input = alone();
        tar_file file;
        size_t at = 0;

        input.program = bytes;
        input.program_length = lengths[i];
        REQUIRE(archive_open(&input, &value));
        REQUIRE(tar_next(value.files[1].bytes, value.files[1].length, &at, &file));
        REQUIRE_INT(file.length, lengths[i]);
        CHECK(memcmp(file.bytes, bytes, lengths[i]) == 0);
    }
}

static void a_program_that_is_too_large_is_an_error(void)
{
    cordon_auto(cordon_buf) tar = cordon_buf_make(CORDON_ARCHIVE_MAX);
    cordon_autofree char *bytes = calloc(1, CORDON_ARCHIVE_MAX);
    cordon_archive_input input = alone();
    cordon_err err = CORDON_ERR_INIT;

    REQUIRE(bytes != NULL);
    input.program = bytes;
    input.program_length = CORDON_ARCHIVE_MAX;
    CHECK_FAILS(cordon_archive_build(&input, &tar, &err), err, CORDON_ERR_PROTOCOL, "");
    CHECK_INT(tar.length, 0);
}

CORDON_TEST_MAIN("archive", TEST(the_archive_holds_a_configuration_one_layer_and_a_manifest),
                 TEST(the_id_is_the_digest_of_the_configuration),
                 TEST(the_id_for_a_fixed_input_never_changes),
                 TEST(the_same_input_gives_the_same_bytes),
                 TEST(another_program_place_base_or_machine_is_another_image),
                 TEST(the_name_is_for_people_and_does_not_make_the_image),
                 TEST(the_guard_alone_lies_in_the_root),
                 TEST(the_guard_on_a_base_lies_in_its_folder),
                 TEST(the_manifest_names_base_layers_that_are_not_there),
                 TEST(the_configuration_sets_nothing),
                 TEST(a_program_of_any_length_keeps_the_blocks_whole),
                 TEST(a_program_that_is_too_large_is_an_error))

/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 and HMAC against the published vectors; hex; comparison. */
#include "kit/hash.h"
#include "support/test.h"

static const char *hex_of(const uint8_t *digest)
{
    static char text[CORDON_SHA256_HEX_SIZE];
    cordon_hex_encode(digest, CORDON_SHA256_BYTES, text);
    return text;
}

static const char *sha_of(const char *text)
{
    uint8_t digest[CORDON_SHA256_BYTES];
    cordon_sha256_digest(text, strlen(text), digest);
    return hex_of(digest);
}

/* FIPS 180-4 examples (NIST, "SHA256.pdf"), and the empty message. */
static void published_messages_have_their_published_digests(void)
{
    CHECK_STR(sha_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK_STR(sha_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK_STR(sha_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK_STR(sha_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                     "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
              "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

static void a_million_letters(void)
{
    cordon_sha256 sha;
    uint8_t digest[CORDON_SHA256_BYTES];
    char block[1000];
    memset(block, 'a', sizeof block);
    cordon_sha256_init(&sha);
    for (int i = 0; i < 1000; i++)
        cordon_sha256_update(&sha, block, sizeof block);
    cordon_sha256_final(&sha, digest);
    CHECK_STR(hex_of(digest), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void every_cut_of_a_message_gives_the_same_digest(void)
{
    uint8_t message[200];
    uint8_t whole[CORDON_SHA256_BYTES];
    uint8_t parts[CORDON_SHA256_BYTES];
    for (size_t i = 0; i < sizeof message; i++)
        message[i] = (uint8_t)(i * 7);
    for (size_t length = 0; length <= sizeof message; length++) {
        cordon_sha256_digest(message, length, whole);
        for (size_t cut = 0; cut <= length; cut += 13) {
            cordon_sha256 sha;
            cordon_sha256_init(&sha);
            cordon_sha256_update(&sha, message, cut);
            cordon_sha256_update(&sha, message + cut, length - cut);
            cordon_sha256_final(&sha, parts);
            REQUIRE(memcmp(whole, parts, sizeof whole) == 0);
        }
    }
}

/* RFC 4231 section 4, cases 1, 2, 3, 6 and 7. */
static void published_hmacs(void)
{
    static const struct {
        const char *key;
        size_t key_length;
        const char *text;
        const char *mac;
    } rows[] = {
        {"\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b", 20,
         "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        {"Jefe", 4, "what do ya want for nothing?",
         "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
        {NULL, 131, "Test Using Larger Than Block-Size Key - Hash Key First",
         "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
        {NULL, 131,
         "This is a test using a larger than block-size key and a larger than block-size data. The "
         "key needs to be hashed before being used by the HMAC algorithm.",
         "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
    };
    char long_key[131];
    memset(long_key, 0xaa, sizeof long_key);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t mac[CORDON_SHA256_BYTES];
        cordon_hmac_sha256(rows[i].key ? rows[i].key : long_key, rows[i].key_length, rows[i].text,
                           strlen(rows[i].text), mac);
        CHECK_STR(hex_of(mac), rows[i].mac);
    }
    uint8_t mac[CORDON_SHA256_BYTES];
    char data[50];
    memset(data, 0xdd, sizeof data);
    cordon_hmac_sha256(long_key, 20, data, sizeof data, mac);
    CHECK_STR(hex_of(mac), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
}

static void equality_sees_every_byte(void)
{
    uint8_t a[32] = {0};
    uint8_t b[32] = {0};
    CHECK(cordon_equal_ct(a, b, sizeof a));
    for (size_t i = 0; i < sizeof a; i++) {
        b[i] = 0x80;
        CHECK(!cordon_equal_ct(a, b, sizeof a));
        b[i] = 0;
    }
    CHECK(cordon_equal_ct(a, b, 0));
}

static void hex_goes_there_and_back(void)
{
    uint8_t bytes[3] = {0};
    char text[7];
    cordon_err err = CORDON_ERR_INIT;
    CHECK_OK(cordon_hex_decode("00ff7a", 6, bytes, sizeof bytes, &err), err);
    cordon_hex_encode(bytes, sizeof bytes, text);
    CHECK_STR(text, "00ff7a");
    CHECK(cordon_hex_is_lower("0a", 2));
    CHECK(!cordon_hex_is_lower("", 0));
    CHECK(!cordon_hex_is_lower("0A", 2));
}

static void odd_hex_is_refused(void)
{
    static const char *const bad[] = {"",       "00ff7",  "00ff7a00", "00FF7a",
                                      "00ff7g", "0x0ff7", " 0ff7a"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint8_t bytes[3] = {1, 2, 3};
        cordon_err err = CORDON_ERR_INIT;
        CHECK_FAILS(cordon_hex_decode(bad[i], strlen(bad[i]), bytes, sizeof bytes, &err), err,
                    CORDON_ERR_PROTOCOL, "is not 6 lower-case hex digits");
        CHECK(bytes[0] == 1 && bytes[2] == 3);
    }
}

CORDON_TEST_MAIN("hash", TEST(published_messages_have_their_published_digests),
                 TEST(a_million_letters), TEST(every_cut_of_a_message_gives_the_same_digest),
                 TEST(published_hmacs), TEST(equality_sees_every_byte),
                 TEST(hex_goes_there_and_back), TEST(odd_hex_is_refused))

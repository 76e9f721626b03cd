/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy's reader of POLICY: the input is a frame's body, sealed so that the fields are reached,
 * whole and from a stream that ends early; and once more as raw bytes. What is accepted has every
 * field once, pins only whole host names, and says the same when it is written again.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/frame.h"
#include "kit/hash.h"
#include "proxy/options.h"
#include "proxy/start.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TAGS (CORDON_PROXY_POLICY_REFUSALS + 1)

/* Written without the reader: how often each tag stands in a body that is known to be well-formed.
 */
static void count_tags(const uint8_t *body, size_t size, unsigned counts[TAGS])
{
    for (size_t at = 0; at < size;) {
        unsigned tag = body[at] * 256U + body[at + 1];
        size_t length = 0;
        for (size_t i = 2; i < 6; i++)
            length = length * 256 + body[at + i];
        assert(tag > 0 && tag < TAGS);
        counts[tag]++;
        at += 6 + length;
    }
}

static void check_fields(const cordon_proxy_options *options, const uint8_t *body, size_t size)
{
    unsigned counts[TAGS] = {0};
    size_t mapped = 0;
    count_tags(body, size, counts);
    for (size_t i = 0; i < options->policy.count; i++)
        mapped += options->policy.hosts[i].upstream.family != 0;
    for (unsigned tag = 1; tag < TAGS; tag++) {
        if (tag == CORDON_PROXY_POLICY_HOST)
            assert(counts[tag] == options->policy.count);
        else if (tag == CORDON_PROXY_POLICY_UPSTREAM)
            assert(counts[tag] == mapped);
        else
            assert(counts[tag] == 1);
    }
}

static void check_hosts(const cordon_policy *policy)
{
    assert(policy->count > 0 && policy->count <= CORDON_POLICY_HOSTS_MAX);
    for (size_t i = 0; i < policy->count; i++) {
        const cordon_policy_host *host = &policy->hosts[i];
        assert(strlen(host->name) == host->name_length);
        assert(cordon_host_check(host->name, host->name_length) == CORDON_REASON_NONE);
        assert(cordon_policy_find(policy, host->name, host->name_length) == i);
        for (const char *at = host->name; *at; at++)
            assert(*at < 'A' || *at > 'Z');
        assert(host->upstream.family == 0 ||
               (host->upstream.port > 0 && cordon_address_is_unicast(&host->upstream)));
    }
}

static void check_numbers(const cordon_proxy_options *options)
{
    assert(options->listen.family != 0 && cordon_address_is_unicast(&options->listen));
    assert(options->head_ms > 0 && options->connect_ms > 0 && options->hello_ms > 0);
    assert(options->idle_ms >= 0 && options->max_tunnels > 0 && options->max_tunnels <= 65536);
    assert(options->max_tunnel_bytes >= 0 && options->max_all_bytes >= 0);
    assert(options->max_refusals >= 0 && options->max_refusals <= UINT32_MAX);
    assert(strlen(options->code) == (size_t)2 * CORDON_PROXY_CODE_BYTES);
}

static bool same(const cordon_proxy_options *a, const cordon_proxy_options *b)
{
    return strcmp(a->code, b->code) == 0 && memcmp(&a->listen, &b->listen, sizeof a->listen) == 0 &&
           a->policy.count == b->policy.count &&
           memcmp(a->policy.hosts, b->policy.hosts, a->policy.count * sizeof a->policy.hosts[0]) ==
               0 &&
           a->head_ms == b->head_ms && a->connect_ms == b->connect_ms &&
           a->hello_ms == b->hello_ms && a->idle_ms == b->idle_ms &&
           a->max_tunnels == b->max_tunnels && a->max_tunnel_bytes == b->max_tunnel_bytes &&
           a->max_all_bytes == b->max_all_bytes && a->max_refusals == b->max_refusals;
}

/* The first `length` bytes on a stream that ends there; it never waits, since a pipe takes all. */
static int read_stream(const uint8_t *bytes, size_t length, cordon_proxy_options *ret,
                       cordon_err *err)
{
    int ends[2];
    int rc = pipe2(ends, O_CLOEXEC);
    assert(rc == 0 && length < 65536);
    ssize_t written = write(ends[1], bytes, length);
    assert(written == (ssize_t)length);
    (void)close(ends[1]);
    rc = cordon_start_read(ends[0], 60000, ret, err);
    (void)close(ends[0]);
    return rc;
}

static bool parse(const uint8_t *bytes, size_t length, cordon_proxy_options *ret)
{
    cordon_err err = CORDON_ERR_INIT;
    int rc = cordon_proxy_options_read(bytes, length, ret, &err);
    assert((rc == 0) == (err.code == CORDON_OK));
    assert(rc == 0 || err.code == CORDON_ERR_CONFIG || err.code == CORDON_ERR_PROTOCOL);
    return rc == 0;
}

static void check_stream(const uint8_t *frame, size_t total, const cordon_proxy_options *options)
{
    static cordon_proxy_options again;
    cordon_err err = CORDON_ERR_INIT;
    assert(read_stream(frame, total, &again, &err) == 0 && same(options, &again));
    size_t cut = (frame[total - 1] * 256U + frame[total - 2]) % total;
    assert(read_stream(frame, cut, &again, &err) == -1 && err.code == CORDON_ERR_PROTOCOL);
}

static uint8_t *seal(const uint8_t *data, size_t size)
{
    size_t total = size + CORDON_FRAME_OVERHEAD_BYTES;
    uint8_t *frame = malloc(total);
    assert(frame);
    memcpy(frame, CORDON_PROXY_MAGIC_POLICY, CORDON_FRAME_MAGIC_BYTES);
    for (unsigned i = 0; i < 4; i++)
        frame[8 + i] = (uint8_t)(size >> (8 * (3 - i)));
    if (size > 0)
        memcpy(frame + CORDON_FRAME_HEAD_BYTES, data, size);
    cordon_hmac_sha256(cordon_frame_unkeyed, sizeof cordon_frame_unkeyed, frame, total - 32,
                       frame + total - 32);
    return frame;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Static, since its padding is compared, too. */
    static cordon_proxy_options options;
    size_t total = size + CORDON_FRAME_OVERHEAD_BYTES;
    uint8_t *frame = seal(data, size);
    if (parse(frame, total, &options)) {
        assert(total <= CORDON_PROXY_POLICY_MAX);
        check_fields(&options, data, size);
        check_hosts(&options.policy);
        check_numbers(&options);
        check_stream(frame, total, &options);
    }
    free(frame);
    (void)parse(data, size, &options);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libpod's network inspect (containers/common libnetwork/types.Network) -> facts.
 */
#include "podman_decode_internal.h"

#include <string.h>

#include "podman_internal.h"

#define AT(member)    offsetof(cordon_network_facts, member)
#define FIELDS(table) (table), sizeof(table) / sizeof((table)[0])

#define ISOLATE "isolate=true"

static const cordon_factread_field network_fields[] = {
    {"name", CORDON_READ_TEXT, AT(name), CORDON_NULL_UNKNOWN},
    {"driver", CORDON_READ_TEXT, AT(driver), CORDON_NULL_UNKNOWN},
    {"internal", CORDON_READ_BOOL, AT(internal), CORDON_NULL_UNKNOWN},
    {"ipv6_enabled", CORDON_READ_BOOL, AT(ipv6), CORDON_NULL_UNKNOWN},
    {"dns_enabled", CORDON_READ_BOOL, AT(dns), CORDON_NULL_UNKNOWN},
    {"labels", CORDON_READ_MAP, AT(labels), CORDON_NULL_EMPTY},
    {"options", CORDON_READ_MAP, AT(options), CORDON_NULL_EMPTY},
    /* Podman 5: those that run; podman_network.c adds the others */
    {"containers", CORDON_READ_KEYS, AT(endpoints), CORDON_NULL_EMPTY},
};

const cordon_factread_harmless podman_network_harmless[] = {
    {"$.created", "when it was made"},
    {"$.network_interface", "the bridge's name on the host"},
    {"$.containers.*.name", "the container's name; its id is the fact"},
    {"$.containers.*.interfaces**", "facts of the container's own inspect, and the gate's to see"},
};
const size_t podman_network_harmless_count =
    sizeof podman_network_harmless / sizeof podman_network_harmless[0];

static int decode_subnets(cordon_json root, cordon_network_facts *facts, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_array(root, "subnets", &place, err) != 0)
        return -1;
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    cordon_fact_list_known(&facts->subnets);
    cordon_fact_list_known(&facts->gateways);
    for (cordon_json_iter it = cordon_json_iterate(place.value); cordon_json_next(&it);) {
        const char *subnet = NULL;
        cordon_json_string gateway = {0};
        if (cordon_json_need_string(it.value, "subnet", &subnet, err) != 0 ||
            cordon_json_get_string(it.value, "gateway", &gateway, err) != 0 ||
            cordon_fact_list_add(&facts->subnets, subnet, err) != 0)
            return -1;
        if (gateway.has == CORDON_JSON_PRESENT && gateway.length > 0 &&
            cordon_fact_list_add(&facts->gateways, gateway.text, err) != 0)
            return -1;
    }
    return 0;
}

/* Podman's own allocation; another driver (dhcp) would take addresses from elsewhere. */
static int decode_ipam(cordon_json root, cordon_network_facts *facts, cordon_err *err)
{
    cordon_json_place place = {0};
    cordon_json_string driver = {0};
    if (cordon_json_get_object(root, "ipam_options", &place, err) != 0)
        return -1;
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    if (cordon_json_get_string(place.value, "driver", &driver, err) != 0)
        return -1;
    if (driver.has != CORDON_JSON_PRESENT || strcmp(driver.text, "host-local") == 0)
        return 0;
    return cordon_factread_odd(place.value, driver.text, &facts->unmodelled, err);
}

/*
 * Where the bridge has a gateway's address, it has an address. Without one it has none only
 * because the network is internal and has no name service (libnetwork/netavark/config.go).
 */
static cordon_fact_bool host_address_of(const cordon_network_facts *facts)
{
    if (!facts->gateways.known)
        return CORDON_FACT_UNKNOWN;
    if (facts->gateways.count > 0)
        return CORDON_FACT_YES;
    bool none = facts->internal == CORDON_FACT_YES && facts->dns == CORDON_FACT_NO;
    return none ? CORDON_FACT_NO : CORDON_FACT_UNKNOWN;
}

/* The option behind the fact "isolated" is not repeated among the options. */
static int take_isolation(cordon_network_facts *facts, cordon_err *err)
{
    cordon_auto(cordon_fact_list) others = {0};
    facts->isolated = CORDON_FACT_NO;
    for (size_t i = 0; i < facts->options.count; i++) {
        if (strcmp(facts->options.items[i], ISOLATE) == 0)
            facts->isolated = CORDON_FACT_YES;
        else if (cordon_fact_list_add(&others, facts->options.items[i], err) != 0)
            return -1;
    }
    cordon_fact_list_known(&others);
    cordon_fact_list_clear(&facts->options);
    facts->options = others;
    others = (cordon_fact_list){0};
    return 0;
}

/* Both maps are left out when they are empty (omitempty): that is how "none" is written. */
static int decode_network(cordon_json root, cordon_network_facts *facts, cordon_err *err)
{
    const char *id = NULL;
    if (podman_read_id(root, "id", &id, err) != 0 ||
        cordon_fact_text_set(&facts->id, id, err) != 0 ||
        cordon_factread_fields(root, FIELDS(network_fields), facts, err) != 0 ||
        decode_subnets(root, facts, err) != 0 || decode_ipam(root, facts, err) != 0)
        return -1;
    cordon_fact_list_known(&facts->labels);
    if (take_isolation(facts, err) != 0)
        return -1;
    facts->host_address = host_address_of(facts);
    /* properties of Docker's swarm; no network of libpod has them */
    facts->attachable = CORDON_FACT_NO;
    facts->ingress = CORDON_FACT_NO;
    return cordon_factread_leftovers(root, podman_network_harmless, podman_network_harmless_count,
                                     &facts->unmodelled, err);
}

int podman_decode_network(const void *bytes, size_t length, cordon_network_facts *ret_facts,
                          cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_network_facts) facts = {0};
    if (cordon_json_parse(bytes, length, PODMAN_ANSWER_MAX, 0, &doc, err) != 0 ||
        decode_network(cordon_json_root(doc), &facts, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_network_facts){0};
    return 0;
}

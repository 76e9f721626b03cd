/* SPDX-License-Identifier: Apache-2.0 */
/* GET /networks/{id} to facts, and the events of networks and containers. */
#include "docker_decode_internal.h"

#include <string.h>

#include "kit/num.h"

#define FIELD(key, kind, fact, null)                                                               \
    {                                                                                              \
        key, CORDON_READ_##kind, offsetof(cordon_network_facts, fact), CORDON_NULL_##null          \
    }

static const cordon_factread_field network_fields[] = {
    FIELD("Name", TEXT, name, UNKNOWN),
    FIELD("Driver", TEXT, driver, UNKNOWN),
    FIELD("Internal", BOOL, internal, UNKNOWN),
    FIELD("EnableIPv6", BOOL, ipv6, UNKNOWN),
    FIELD("Attachable", BOOL, attachable, UNKNOWN),
    FIELD("Ingress", BOOL, ingress, UNKNOWN),
    FIELD("Labels", MAP, labels, EMPTY),
    /* only those of running containers; Docker keeps no other record */
    FIELD("Containers", KEYS, endpoints, EMPTY),
};

const cordon_factread_harmless docker_network_harmless[] = {
    {"$.Created", "time of day of the daemon's host"},
    {"$.Containers.*.Name", "the container's name again; its id is the fact"},
    {"$.Containers.*.EndpointID", "libnetwork's own id of the attachment"},
    {"$.Containers.*.MacAddress", "a fact of the container's own inspect"},
    {"$.Containers.*.IPv4Address", "a fact of the container's own inspect"},
    {"$.Status**", "counts of used addresses, from API 1.52 on"},
};
const size_t docker_network_harmless_count = DOCKER_COUNT(docker_network_harmless);

/* A key that must hold one word; any other value is unmodelled. */
static int check_word(cordon_json object, const char *key, const char *word,
                      cordon_fact_list *unmodelled, cordon_err *err)
{
    const char *text = NULL;
    if (cordon_json_need_string(object, key, &text, err) != 0)
        return -1;
    return strcmp(text, word) == 0 ? 0 : cordon_factread_odd(object, text, unmodelled, err);
}

/* IPv4 can be off from API 1.47 on; true, or absent before, is what a subnet means. */
static int check_ipv4(cordon_json root, cordon_fact_list *unmodelled, cordon_err *err)
{
    cordon_json_bool on = {0};
    if (cordon_json_get_bool(root, "EnableIPv4", &on, err) != 0)
        return -1;
    if (on.has != CORDON_JSON_PRESENT || on.value)
        return 0;
    return cordon_factread_odd(root, "EnableIPv4 off", unmodelled, err);
}

/*
 * The bridge's own address: Docker gives it one unless inhibit_ipv4 says no, whatever the
 * configuration shows. Bridges are kept apart by Docker's own rules, always.
 */
static int read_options(cordon_json root, cordon_network_facts *facts, cordon_err *err)
{
    static const cordon_factread_field field = {"Options", CORDON_READ_MAP, 0, CORDON_NULL_EMPTY};
    cordon_auto(cordon_fact_list) options = {0};
    if (cordon_factread_fields(root, &field, 1, &options, err) != 0)
        return -1;
    if (!options.known)
        return 0;
    cordon_fact_list_known(&facts->options);
    facts->host_address = CORDON_FACT_YES;
    for (size_t i = 0; i < options.count; i++) {
        if (strcmp(options.items[i], DOCKER_OPTION_NO_ADDRESS "=true") == 0)
            facts->host_address = CORDON_FACT_NO;
        else if (cordon_fact_list_add(&facts->options, options.items[i], err) != 0)
            return -1;
    }
    return 0;
}

static int read_subnet(cordon_json at, cordon_network_facts *facts, bool *all_shown,
                       cordon_err *err)
{
    const char *subnet = NULL;
    cordon_json_string gateway = {0};
    if (cordon_json_need_string(at, "Subnet", &subnet, err) != 0 ||
        cordon_fact_list_add(&facts->subnets, subnet, err) != 0 ||
        cordon_json_get_string(at, "Gateway", &gateway, err) != 0)
        return -1;
    /* inhibit_ipv4: the address that newer daemons show here is on no interface */
    if (facts->host_address == CORDON_FACT_NO)
        return 0;
    if (gateway.has == CORDON_JSON_PRESENT && gateway.length > 0)
        return cordon_fact_list_add(&facts->gateways, gateway.text, err);
    *all_shown = false;
    return 0;
}

static int read_ipam(cordon_json root, cordon_network_facts *facts, cordon_err *err)
{
    cordon_json ipam = {0};
    cordon_json_place config = {0};
    bool all_shown = true;
    if (cordon_json_need_object(root, "IPAM", &ipam, err) != 0 ||
        check_word(ipam, "Driver", "default", &facts->unmodelled, err) != 0 ||
        cordon_json_get_array(ipam, "Config", &config, err) != 0)
        return -1;
    if (config.has == CORDON_JSON_ABSENT)
        return 0;
    cordon_fact_list_known(&facts->subnets);
    cordon_json_iter it = docker_items(config);
    while (cordon_json_next(&it)) {
        if (read_subnet(it.value, facts, &all_shown, err) != 0)
            return -1;
    }
    /* Docker 20.10 does not show the gateway that it chose: then none is not known */
    facts->gateways.known = all_shown;
    cordon_fact_list_sort(&facts->subnets);
    return 0;
}

static int read_network(cordon_json root, cordon_network_facts *facts, cordon_err *err)
{
    if (docker_read_id(root, "Id", &facts->id, err) != 0 ||
        cordon_factread_fields(root, network_fields, DOCKER_COUNT(network_fields), facts, err) !=
            0 ||
        check_word(root, "Scope", "local", &facts->unmodelled, err) != 0 ||
        check_ipv4(root, &facts->unmodelled, err) != 0 || read_options(root, facts, err) != 0 ||
        read_ipam(root, facts, err) != 0)
        return -1;
    if (facts->driver && strcmp(facts->driver, "bridge") == 0)
        facts->isolated = CORDON_FACT_YES;
    return cordon_factread_leftovers(root, docker_network_harmless, docker_network_harmless_count,
                                     &facts->unmodelled, err);
}

int docker_decode_network(const void *json, size_t length, cordon_network_facts *ret_facts,
                          cordon_err *err)
{
    cordon_auto_ptr(cordon_json_doc) doc = NULL;
    cordon_auto(cordon_network_facts) facts = {0};
    cordon_json root = {0};
    if (docker_parse_object(json, length, &doc, &root, err) != 0 ||
        read_network(root, &facts, err) != 0)
        return -1;
    *ret_facts = facts;
    facts = (cordon_network_facts){0};
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The attachments and ports of a container inspect. */
#include "docker_decode_internal.h"

#include <string.h>

#define FIELD(key, kind, fact, null)                                                               \
    {                                                                                              \
        key, CORDON_READ_##kind, offsetof(cordon_endpoint_fact, fact), CORDON_NULL_##null          \
    }

static const cordon_factread_field endpoint_fields[] = {
    FIELD("NetworkID", TEXT, network_id, UNKNOWN), FIELD("IPAddress", TEXT, ipv4, UNKNOWN),
    FIELD("Gateway", TEXT, gateway, UNKNOWN),      FIELD("GlobalIPv6Address", TEXT, ipv6, UNKNOWN),
    FIELD("MacAddress", TEXT, mac, UNKNOWN),       FIELD("Aliases", SET, aliases, EMPTY),
};

/* Null until an address was asked for; absent stays unknown. */
static int read_request(cordon_json at, cordon_endpoint_fact *endpoint, cordon_err *err)
{
    cordon_json_place config = {0};
    cordon_json_string address = {0};
    if (cordon_json_get_object(at, "IPAMConfig", &config, err) != 0)
        return -1;
    if (config.has == CORDON_JSON_ABSENT)
        return 0;
    if (config.has == CORDON_JSON_PRESENT &&
        cordon_json_get_string(config.value, "IPv4Address", &address, err) != 0)
        return -1;
    return cordon_fact_text_set(&endpoint->requested_ipv4,
                                address.has == CORDON_JSON_PRESENT ? address.text : "", err);
}

static int read_endpoint(cordon_json at, const char *key, cordon_endpoint_fact *endpoint,
                         cordon_err *err)
{
    if (cordon_fact_text_set(&endpoint->network_key, key, err) != 0 ||
        cordon_factread_fields(at, endpoint_fields, DOCKER_COUNT(endpoint_fields), endpoint, err) !=
            0)
        return -1;
    if (endpoint->network_id && endpoint->network_id[0] == '\0') {
        /* before the start there is none yet */
        free(endpoint->network_id);
        endpoint->network_id = NULL;
    }
    return read_request(at, endpoint, err);
}

/*
 * Mode "none" shows an entry "none": the engine's own empty network, with no address and no
 * interface. It is no attachment.
 */
static int is_none_entry(cordon_json at, const char *key, const cordon_container_facts *facts,
                         bool *ret_none, cordon_err *err)
{
    cordon_json_string address = {0};
    cordon_json_string ignored = {0};
    if (!facts->network_mode || strcmp(facts->network_mode, "none") != 0 ||
        strcmp(key, "none") != 0)
        return 0;
    if (cordon_json_get_string(at, "IPAddress", &address, err) != 0)
        return -1;
    *ret_none = address.has == CORDON_JSON_PRESENT && address.length == 0;
    return *ret_none ? cordon_json_get_string(at, "NetworkID", &ignored, err) : 0;
}

static int add_endpoint(cordon_json at, const char *key, cordon_container_facts *facts,
                        cordon_err *err)
{
    bool none = false;
    cordon_endpoint_fact *endpoint = NULL;
    if (is_none_entry(at, key, facts, &none, err) != 0)
        return -1;
    if (none)
        return 0;
    if (cordon_endpoint_facts_add(&facts->endpoints, &endpoint, err) != 0)
        return -1;
    return read_endpoint(at, key, endpoint, err);
}

static int by_key(const void *a, const void *b)
{
    const cordon_endpoint_fact *left = a;
    const cordon_endpoint_fact *right = b;
    return strcmp(left->network_key, right->network_key);
}

int docker_read_endpoints(cordon_json settings, cordon_container_facts *facts, cordon_err *err)
{
    cordon_json_place networks = {0};
    cordon_endpoint_facts *endpoints = &facts->endpoints;
    if (cordon_json_get_object(settings, "Networks", &networks, err) != 0)
        return -1;
    endpoints->known = networks.has != CORDON_JSON_ABSENT;
    cordon_json_iter it = docker_items(networks);
    while (cordon_json_next(&it)) {
        if (add_endpoint(it.value, it.key, facts, err) != 0)
            return -1;
    }
    if (endpoints->count > 1) /* a map's order means nothing */
        qsort(endpoints->items, endpoints->count, sizeof *endpoints->items, by_key);
    return 0;
}

/* [{"HostIp", "HostPort"}] behind "80/tcp"; null behind it is a port that is merely exposed. */
static int add_bindings(cordon_json at, const char *port, cordon_fact_list *ports, cordon_err *err)
{
    cordon_json_place bindings = {0};
    if (cordon_json_as_array(at, &bindings, err) != 0)
        return -1;
    cordon_json_iter it = docker_items(bindings);
    while (cordon_json_next(&it)) {
        cordon_json_string ip = {0};
        cordon_json_string host_port = {0};
        if (cordon_json_get_string(it.value, "HostIp", &ip, err) != 0 ||
            cordon_json_get_string(it.value, "HostPort", &host_port, err) != 0 ||
            cordon_fact_list_addf(ports, err, "%s=%s:%s", port,
                                  ip.has == CORDON_JSON_PRESENT ? ip.text : "",
                                  host_port.has == CORDON_JSON_PRESENT ? host_port.text : "") != 0)
            return -1;
    }
    return 0;
}

static int read_port_map(cordon_json object, const char *key, cordon_fact_list *ports, bool *known,
                         cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_object(object, key, &place, err) != 0)
        return -1;
    if (place.has == CORDON_JSON_ABSENT)
        *known = false;
    cordon_json_iter it = docker_items(place);
    while (cordon_json_next(&it)) {
        if (add_bindings(it.value, it.key, ports, err) != 0)
            return -1;
    }
    return 0;
}

int docker_read_ports(cordon_json host, cordon_json settings, cordon_container_facts *facts,
                      cordon_err *err)
{
    bool known = true;
    cordon_fact_list *ports = &facts->published_ports;
    if (read_port_map(host, "PortBindings", ports, &known, err) != 0 ||
        read_port_map(settings, "Ports", ports, &known, err) != 0)
        return -1;
    /* SECURITY: none is known only when both, the asked and the resolved, said so */
    if (known)
        cordon_fact_list_known(ports);
    cordon_fact_list_sort(ports);
    return 0;
}

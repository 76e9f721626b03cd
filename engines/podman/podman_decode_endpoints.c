/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of libpod's container inspect that says what a container is connected to: networks,
 * ports, resolver, hosts file.
 */
#include "podman_decode_internal.h"

#include <string.h>

#include "kit/hash.h"
#include "podman_internal.h"

#define AT(member)    offsetof(cordon_endpoint_fact, member)
#define FIELDS(table) (table), sizeof(table) / sizeof((table)[0])

#define SHORT_ID_HEX 12

static const cordon_factread_field endpoint_fields[] = {
    {"IPAddress", CORDON_READ_TEXT, AT(ipv4), CORDON_NULL_UNKNOWN},
    {"Gateway", CORDON_READ_TEXT, AT(gateway), CORDON_NULL_UNKNOWN},
    {"GlobalIPv6Address", CORDON_READ_TEXT, AT(ipv6), CORDON_NULL_UNKNOWN},
    {"MacAddress", CORDON_READ_TEXT, AT(mac), CORDON_NULL_UNKNOWN},
};

/*
 * Podman 4 writes the network's name into NetworkID; Podman 5 the id that the name has now. Only
 * something that is an id becomes one.
 */
static int decode_network_id(podman_decoding *d, cordon_json at, const char *key,
                             cordon_endpoint_fact *fact, cordon_err *err)
{
    cordon_json_string id = {0};
    if (cordon_json_get_string(at, "NetworkID", &id, err) != 0)
        return -1;
    if (id.has != CORDON_JSON_PRESENT || id.length == 0 || strcmp(id.text, key) == 0)
        return 0;
    if (id.length == CORDON_ID_HEX && cordon_hex_is_lower(id.text, id.length))
        return cordon_fact_text_set(&fact->network_id, id.text, err);
    return podman_odd(d, "$.NetworkSettings.Networks.*.NetworkID", id.text, err);
}

/* Podman adds the container's own short id to every endpoint, Podman 5 its host name, too. */
static bool is_own_alias(const podman_decoding *d, const char *alias)
{
    if (d->facts->hostname && strcmp(alias, d->facts->hostname) == 0)
        return true;
    return strlen(alias) == SHORT_ID_HEX && strncmp(alias, d->facts->id, SHORT_ID_HEX) == 0;
}

static int decode_aliases(podman_decoding *d, cordon_json at, cordon_endpoint_fact *fact,
                          cordon_err *err)
{
    cordon_auto(cordon_fact_list) all = {0};
    cordon_json_place place = {0};
    if (cordon_json_get_array(at, "Aliases", &place, err) != 0)
        return -1;
    if (place.has == CORDON_JSON_ABSENT)
        return 0;
    cordon_fact_list_known(&fact->aliases);
    if (place.has == CORDON_JSON_PRESENT && cordon_factread_texts(place.value, &all, err) != 0)
        return -1;
    for (size_t i = 0; i < all.count; i++) {
        if (!is_own_alias(d, all.items[i]) &&
            cordon_fact_list_add(&fact->aliases, all.items[i], err) != 0)
            return -1;
    }
    cordon_fact_list_sort(&fact->aliases);
    return 0;
}

/*
 * Podman 5 shows mode "none" as an entry "none" without an address: the absence of a network, no
 * attachment.
 */
static int is_none_entry(podman_decoding *d, const char *key, cordon_json at, bool *ret,
                         cordon_err *err)
{
    cordon_json_string address = {0};
    const char *mode = d->facts->network_mode;
    if (!mode || strcmp(mode, "none") != 0 || strcmp(key, "none") != 0)
        return 0;
    if (cordon_json_get_string(at, "IPAddress", &address, err) != 0)
        return -1;
    *ret = address.has == CORDON_JSON_PRESENT && address.length == 0;
    if (*ret)
        cordon_json_consume_key(at, "NetworkID");
    return 0;
}

static int decode_endpoint(podman_decoding *d, const char *key, cordon_json at, cordon_err *err)
{
    bool none = false;
    cordon_endpoint_fact *fact = NULL;
    cordon_json_place object = {0};
    if (cordon_json_as_object(at, &object, err) != 0)
        return -1;
    if (object.has != CORDON_JSON_PRESENT)
        return cordon_json_fail(at, err, "null, expected object");
    if (is_none_entry(d, key, at, &none, err) != 0)
        return -1;
    if (none)
        return 0;
    if (cordon_endpoint_facts_add(&d->facts->endpoints, &fact, err) != 0 ||
        cordon_fact_text_set(&fact->network_key, key, err) != 0 ||
        cordon_factread_fields(at, FIELDS(endpoint_fields), fact, err) != 0)
        return -1;
    /* Go's way to print an address that is not there */
    if (fact->gateway && strcmp(fact->gateway, "<nil>") == 0 &&
        cordon_fact_text_set(&fact->gateway, "", err) != 0)
        return -1;
    if (decode_network_id(d, at, key, fact, err) != 0)
        return -1;
    return decode_aliases(d, at, fact, err);
}

static int by_key(const void *a, const void *b)
{
    const cordon_endpoint_fact *left = a;
    const cordon_endpoint_fact *right = b;
    return strcmp(left->network_key, right->network_key);
}

/*
 * Networks is left out (omitempty) when there are none, which is so without a bridge; with one,
 * its absence says nothing.
 */
static int decode_endpoints(podman_decoding *d, cordon_err *err)
{
    cordon_json_place place = {0};
    const char *mode = d->facts->network_mode;
    if (cordon_json_get_object(d->section[PODMAN_NETWORK], "Networks", &place, err) != 0)
        return -1;
    d->facts->endpoints.known =
        place.has == CORDON_JSON_PRESENT || (mode && strcmp(mode, "none") == 0);
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(place.value); cordon_json_next(&it);) {
        if (decode_endpoint(d, it.key, it.value, err) != 0)
            return -1;
    }
    if (d->facts->endpoints.count > 1) /* a map's order means nothing */
        qsort(d->facts->endpoints.items, d->facts->endpoints.count,
              sizeof *d->facts->endpoints.items, by_key);
    return 0;
}

/* One port's bindings: [{"HostIp", "HostPort"}], or null for a port that is exposed only. */
static int decode_bindings(podman_decoding *d, const char *port, cordon_json at, cordon_err *err)
{
    cordon_json_place array = {0};
    cordon_fact_list *list = &d->facts->published_ports;
    if (cordon_json_as_array(at, &array, err) != 0)
        return -1;
    if (array.has != CORDON_JSON_PRESENT || cordon_json_count(array.value) == 0)
        return cordon_fact_list_add(&d->facts->exposed_ports, port, err);
    for (cordon_json_iter it = cordon_json_iterate(array.value); cordon_json_next(&it);) {
        cordon_json_string ip = {0};
        cordon_json_string host = {0};
        if (cordon_json_get_string(it.value, "HostIp", &ip, err) != 0 ||
            cordon_json_get_string(it.value, "HostPort", &host, err) != 0)
            return -1;
        if (cordon_fact_list_addf(list, err, "%s=%s:%s", port,
                                  ip.has == CORDON_JSON_PRESENT ? ip.text : "",
                                  host.has == CORDON_JSON_PRESENT ? host.text : "") != 0)
            return -1;
    }
    return 0;
}

static int decode_port_map(podman_decoding *d, podman_section section, const char *key,
                           bool *ret_told, cordon_err *err)
{
    cordon_json_place place = {0};
    if (cordon_json_get_object(d->section[section], key, &place, err) != 0)
        return -1;
    *ret_told = *ret_told && place.has != CORDON_JSON_ABSENT;
    if (place.has != CORDON_JSON_PRESENT)
        return 0;
    for (cordon_json_iter it = cordon_json_iterate(place.value); cordon_json_next(&it);) {
        if (decode_bindings(d, it.key, it.value, err) != 0)
            return -1;
    }
    return 0;
}

/* What was asked for, and what is in force. */
static int decode_ports(podman_decoding *d, cordon_err *err)
{
    bool told = true;
    cordon_fact_list *ports = &d->facts->published_ports;
    if (decode_port_map(d, PODMAN_HOST, "PortBindings", &told, err) != 0 ||
        decode_port_map(d, PODMAN_NETWORK, "Ports", &told, err) != 0)
        return -1;
    cordon_fact_list_sort(ports);
    ports->known = told;
    /* a port that is exposed stands among them, also where Podman 4 has no ExposedPorts */
    if (told)
        cordon_fact_list_known(&d->facts->exposed_ports);
    return 0;
}

/*
 * "." is resolv.conf(5) for "no search list". SECURITY: nothing asked for is the host's own list,
 * which Podman does not tell.
 */
static void decode_search(podman_decoding *d)
{
    cordon_fact_list *search = &d->facts->dns_search;
    bool asked = search->count > 0;
    if (search->count > 1 || (asked && strcmp(search->items[0], ".") != 0))
        return;
    cordon_fact_list_clear(search);
    if (asked)
        cordon_fact_list_known(search);
}

/*
 * Podman 5 tells whether /etc/hosts is the image's own, which was asked for; Podman 4 only by
 * a HostsPath once the container runs, which the leftovers report.
 */
static int decode_hosts_file(podman_decoding *d, cordon_err *err)
{
    cordon_json_bool image = {0};
    if (cordon_json_get_bool(d->section[PODMAN_ROOT], "UseImageHosts", &image, err) != 0)
        return -1;
    if (image.has == CORDON_JSON_PRESENT && !image.value)
        return podman_odd(d, "$.UseImageHosts", "false", err);
    return 0;
}

int podman_read_endpoints(podman_decoding *d, cordon_err *err)
{
    decode_search(d);
    if (decode_endpoints(d, err) != 0 || decode_ports(d, err) != 0)
        return -1;
    return decode_hosts_file(d, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vendors: frozen sets of exact hosts on port 443, each with the adapter that builds its CLI's
 * argv. "claude" and "codex" are compiled in and can be neither changed nor shadowed; every
 * other vendor is a file NAME.conf in the vendors folder, read under the rules of trust.h and
 * with a closed schema. Nothing changes a vendor after it was loaded: users hold const pointers.
 */
#ifndef CORDON_VENDOR_H
#define CORDON_VENDOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kit/cleanup.h"
#include "text_list.h"
#include "trust.h"

/* The only port of every host. */
#define CORDON_VENDOR_PORT 443

/* Most hosts that one vendor may have. */
#define CORDON_VENDOR_HOSTS_MAX 16

typedef enum cordon_adapter {
    CORDON_ADAPTER_UNKNOWN = 0,
    CORDON_ADAPTER_CLAUDE,
    CORDON_ADAPTER_CODEX,
} cordon_adapter;

/*
 * One host is dialed at a fixed address instead of through DNS.
 * host     one of the vendor's hosts
 * address  "10.0.8.4:8443" or "[fd00::1]:8443", as cordon_vendor_check_address accepts it
 */
typedef struct cordon_upstream {
    char *host;
    char *address;
} cordon_upstream;

typedef struct cordon_upstreams {
    size_t count;
    cordon_upstream *items;
} cordon_upstreams;

typedef struct cordon_vendor {
    char *name;
    int adapter; /* cordon_adapter */
    bool built_in;
    cordon_text_list hosts; /* lower case, exact, no duplicates, at least one */
    cordon_upstreams upstream;
    cordon_text_list argv; /* the agent's whole command line in place of the adapter's, or empty */
    cordon_text_list env;  /* "NAME=value" for the agent; no name that Cordon sets itself */
    char *ca_file;         /* absolute path, or NULL */
    char *ca_pem;          /* its content, read when the vendor was loaded; NULL without ca_file */
    char *file;            /* the definition's absolute path; NULL for a built-in */
} cordon_vendor;

/*
 * Finds a vendor by name: a built-in one without touching the disk, else vendors_dir/NAME.conf.
 *
 * @return 0, or -1 with CONFIG (unknown name: the message lists the known ones; or a wrong
 *         definition: "FILE:LINE: KEY: ..."), REFUSED (trust.h), SYSTEM, NOMEM
 */
int cordon_vendor_load(const char *name, const char *vendors_dir, const cordon_trust *trust,
                       cordon_vendor **ret_vendor, cordon_err *err)
    __attribute__((warn_unused_result));

/* Reads one definition from text; `file` names it and gives the name that it must have. */
int cordon_vendor_parse(const char *file, const char *text, size_t length,
                        const cordon_trust *trust, cordon_vendor **ret_vendor, cordon_err *err)
    __attribute__((warn_unused_result));

void cordon_vendor_free(cordon_vendor *vendor);
CORDON_DEFINE_AUTO_PTR(cordon_vendor, cordon_vendor_free)

/* The fixed address for a host, borrowed, or NULL for DNS. */
const char *cordon_vendor_upstream(const cordon_vendor *vendor, const char *host);

/*
 * 0 for a host name that may be pinned: two or more labels of letters, digits and inner hyphens
 * (RFC 952, RFC 1123 section 2.1), at most 63 bytes each and 253 in all, the last one not all
 * digits, so that no IP literal passes. CONFIG with the reason otherwise; no wildcard, no final
 * dot. Letter case is free; the vendor holds it lower-cased.
 */
int cordon_vendor_check_host(const char *text, cordon_err *err) __attribute__((warn_unused_result));

/*
 * 0 for "IPv4:PORT" or "[IPv6]:PORT" that a proxy container can dial: not unspecified, not
 * loopback (that is the proxy itself), not multicast or broadcast. Also for --upstream.
 */
int cordon_vendor_check_address(const char *text, cordon_err *err)
    __attribute__((warn_unused_result));

/* "claude", "codex"; "unknown". */
const char *cordon_adapter_name(int adapter);

#endif

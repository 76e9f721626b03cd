/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host names, addresses and environment entries of vendor definitions.
 */
#include "vendor_check.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kit/cleanup.h"
#include "kit/num.h"
#include "vendor.h"

#define HOST_MAX  253
#define LABEL_MAX 63

#define DIGITS "0123456789"
#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

#define FAIL(err, text, why)                                                                       \
    CORDON_FAIL((err), CORDON_ERR_CONFIG, "\"%s\" %s", CORDON_QUOTE(text), (why))

/* --- Hosts --------------------------------------------------------------------------------- */

/*
 * Where people log in. An agent that reaches one could sign in as somebody else or obtain new
 * tokens; logging in happens outside, before a run.
 */
static const char *const login_hosts[] = {
    "claude.ai",       "platform.claude.com", "console.anthropic.com",
    "auth.openai.com", "auth0.openai.com",    "login.openai.com",
};

static bool is_login_host(const char *text)
{
    for (size_t i = 0; i < sizeof login_hosts / sizeof login_hosts[0]; i++)
        if (strcasecmp(login_hosts[i], text) == 0)
            return true;
    return false;
}

/* NULL, or what is wrong with one label. */
static const char *label_fault(const char *label, size_t length)
{
    if (length == 0)
        return "has an empty label (a dot too many)";
    if (length > LABEL_MAX)
        return "has a label longer than 63 bytes";
    if (strspn(label, LOWER UPPER DIGITS "-") < length)
        return "has a character that no host name has (letters, digits, '-' and '.')";
    if (label[0] == '-' || label[length - 1] == '-')
        return "has a label that starts or ends with '-'";
    return NULL;
}

/* NULL, or what is wrong with the name. Labels in order; the last one tells names from numbers. */
static const char *host_fault(const char *text)
{
    const char *label = text;
    size_t labels = 0;
    for (;;) {
        size_t length = strcspn(label, ".");
        const char *fault = label_fault(label, length);
        if (fault)
            return fault;
        labels++;
        if (label[length] == '\0')
            break;
        label += length + 1;
    }
    if (strspn(label, DIGITS) == strlen(label))
        return "is an IP address or a number; give a host name";
    return labels < 2 ? "is a single label; give the full host name" : NULL;
}

/* NULL, or what people write who do not mean a bare name. */
static const char *habit_fault(const char *text)
{
    struct in6_addr address;
    if (strchr(text, '*'))
        return "is a wildcard; name every host in full";
    if (strpbrk(text, " \t\r\n"))
        return "has blanks in it";
    if (text[0] == '[' || inet_pton(AF_INET6, text, &address) == 1)
        return "is an IP address or a number; give a host name";
    if (strchr(text, ':'))
        return "has a port or a scheme; give the bare host name, the port is 443";
    return strlen(text) > HOST_MAX ? "is longer than 253 bytes" : NULL;
}

int cordon_vendor_check_host(const char *text, cordon_err *err)
{
    if (text[0] == '\0')
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "a host is empty");
    const char *fault = habit_fault(text);
    if (!fault)
        fault = host_fault(text);
    if (!fault && is_login_host(text))
        fault = "is a login host; log in outside of a run and give the token";
    return fault ? FAIL(err, text, fault) : 0;
}

/* --- Addresses ----------------------------------------------------------------------------- */

static const char *ipv4_fault(uint32_t address)
{
    if (address >> 24 == 0)
        return "is the unspecified address";
    if (address >> 24 == 127)
        return "is loopback, which is the proxy's own container; give an address it can reach";
    if (address >> 28 >= 14)
        return "is a multicast, reserved or broadcast address";
    return NULL;
}

static const char *ipv6_fault(const struct in6_addr *address)
{
    if (IN6_IS_ADDR_UNSPECIFIED(address))
        return "is the unspecified address";
    if (IN6_IS_ADDR_LOOPBACK(address))
        return "is loopback, which is the proxy's own container; give an address it can reach";
    if (IN6_IS_ADDR_MULTICAST(address))
        return "is a multicast address";
    if (IN6_IS_ADDR_V4MAPPED(address) || IN6_IS_ADDR_V4COMPAT(address))
        return "wraps an IPv4 address; write that";
    if (IN6_IS_ADDR_LINKLOCAL(address))
        return "is a link-local address, which needs an interface";
    return NULL;
}

/* NULL, or what is wrong with the address part. */
static const char *address_fault(const char *text, size_t length, bool v6)
{
    char copy[INET6_ADDRSTRLEN] = "";
    struct in_addr address;
    struct in6_addr address6;
    if (length >= sizeof copy)
        return "is not an IP address with a port";
    memcpy(copy, text, length);
    if (v6)
        return inet_pton(AF_INET6, copy, &address6) == 1 ? ipv6_fault(&address6)
                                                         : "is not an IP address with a port";
    if (inet_pton(AF_INET, copy, &address) == 1)
        return ipv4_fault(ntohl(address.s_addr));
    return "is not an IP address with a port";
}

int cordon_vendor_check_address(const char *text, cordon_err *err)
{
    bool v6 = text[0] == '[';
    const char *start = v6 ? text + 1 : text;
    const char *end = strchr(start, v6 ? ']' : ':');
    cordon_err ignored = CORDON_ERR_INIT;
    uint64_t port = 0;
    const char *colon = end && v6 ? end + 1 : end;
    if (!colon || *colon != ':')
        return FAIL(err, text, "is not of the form 10.0.8.4:8443 or [fd00::1]:8443");
    const char *fault = address_fault(start, (size_t)(end - start), v6);
    if (fault)
        return FAIL(err, text, fault);
    if (cordon_num_u64(colon + 1, strlen(colon + 1), 1, 65535, &port, &ignored) < 0)
        return FAIL(err, text, "does not end with a port from 1 to 65535");
    return 0;
}

/* --- Names and environment ----------------------------------------------------------------- */

int cordon_vendor_check_name(const char *text, cordon_err *err)
{
    size_t length = strlen(text);
    if (length == 0 || length > 63 || strspn(text, LOWER DIGITS "-_") < length ||
        strspn(text, LOWER DIGITS) == 0)
        return FAIL(err, text,
                    "is not a vendor's name: lower-case letters, digits, '-' and '_', at most 63");
    return 0;
}

/* Set by Cordon itself, or read by the loader or the CLI's runtime before the agent starts. */
static const char *const reserved_names[] = {
    "PATH",     "HOME",       "USER",         "SHELL",          "IFS",
    "ENV",      "BASH_ENV",   "NODE_OPTIONS", "GLIBC_TUNABLES", "NODE_TLS_REJECT_UNAUTHORIZED",
    "TMPDIR",   "LANG",       "PS4",          "PROMPT_COMMAND", "GCONV_PATH",
    "PERL5OPT", "PYTHONPATH", "RUBYOPT",      "CODEX_HOME",     "CLAUDE_CONFIG_DIR",
};

/* Whole families of such names, by their beginning. */
static const char *const reserved_beginnings[] = {"LD_", "CORDON_", "GIT_", "BASH_FUNC_"};

bool cordon_vendor_env_is_name(const char *name, size_t length)
{
    return length > 0 && strspn(name, LOWER UPPER DIGITS "_") >= length && !strchr(DIGITS, name[0]);
}

bool cordon_vendor_env_is_reserved(const char *name, size_t length)
{
    static const char proxy[] = "_proxy";
    size_t tail = sizeof proxy - 1;
    if (length >= tail && strncasecmp(name + length - tail, proxy, tail) == 0)
        return true;
    for (size_t i = 0; i < sizeof reserved_beginnings / sizeof reserved_beginnings[0]; i++)
        if (strncmp(name, reserved_beginnings[i], strlen(reserved_beginnings[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof reserved_names / sizeof reserved_names[0]; i++)
        if (strlen(reserved_names[i]) == length && memcmp(reserved_names[i], name, length) == 0)
            return true;
    return false;
}

/* SECURITY: the value may be a key, and without "=" all of it may be; no message may hold that. */
int cordon_vendor_check_env(const char *text, cordon_err *err)
{
    const char *equals = strchr(text, '=');
    cordon_autofree char *name = strndup(text, equals ? (size_t)(equals - text) : 0);
    if (!name)
        return CORDON_FAIL(err, CORDON_ERR_NOMEM, "out of memory");
    if (!equals)
        return CORDON_FAIL(err, CORDON_ERR_CONFIG, "a text without \"=\"");
    if (!cordon_vendor_env_is_name(name, strlen(name)))
        return FAIL(err, name, "is not the name of a variable");
    if (cordon_vendor_env_is_reserved(name, strlen(name)))
        return FAIL(err, name, "is a variable that is Cordon's or the system's to set");
    return 0;
}

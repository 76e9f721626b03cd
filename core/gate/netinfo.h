/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interfaces, addresses and routes of this network namespace as rtnetlink(7) dumps them, turned
 * into facts. Asking needs no capability. The decoding is pure. libc-only.
 */
#ifndef CORDON_GATE_NETINFO_H
#define CORDON_GATE_NETINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gate/report.h"
#include "kit/error.h"

/*
 * Decodes the messages of whole dumps: adds facts "interface", "address" and "route"; links must
 * come first. Routes of the kernel's own local table (to this host, broadcast, multicast) are
 * left out; anything unusual in a route (other type, other table, several next hops) is appended
 * to its text, so that it cannot equal a planned route.
 * @return 0, or -1 with PROTOCOL for a malformed message, SYSTEM for an error the kernel reports
 */
int cordon_netinfo_decode(const void *bytes, size_t length, cordon_report *report, cordon_err *err)
    __attribute__((warn_unused_result));

/*
 * Looks over the heads of what one recvmsg(2) gave.
 * @param ret_done   set when the dump's last message is among them
 * @param ret_again  set when the kernel says that things changed under the dump
 * @return 0, or -1 with PROTOCOL for malformed messages or those of another sequence
 */
int cordon_netinfo_scan(const void *bytes, size_t length, uint32_t sequence, bool *ret_done,
                        bool *ret_again, cordon_err *err) __attribute__((warn_unused_result));

/* Asks the kernel for links, addresses and routes of both families, and adds the facts. */
int cordon_netinfo_facts(cordon_report *report, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

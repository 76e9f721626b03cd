/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What core tells the proxy: one POLICY frame of kit/frame.h on its stdin, keyed with 32 zero
 * bytes, and nothing else, neither arguments nor environment. Whole or nothing: the proxy serves
 * nobody before it has it, and ends when one byte follows it or when the stream ends, because then
 * nobody watches it any more. Its `ready` line repeats the frame's code, which core compares, so
 * what is in force is the policy that core made and no other. libc-only: the proxy includes it.
 */
#ifndef CORDON_GATE_PROXY_PROTOCOL_H
#define CORDON_GATE_PROXY_PROTOCOL_H

#define CORDON_PROXY_VERSION 1

/* 8 bytes. */
#define CORDON_PROXY_MAGIC_POLICY "CRDNpol1"

/* Ceiling of the whole frame: 32 hosts of 253 bytes, each mapped, fit. */
#define CORDON_PROXY_POLICY_MAX (32U << 10)

/* The frame's code, its last bytes; as 64 hex digits it is the policy's name in `ready`. */
#define CORDON_PROXY_CODE_BYTES 32

/*
 * POLICY fields. Every one but HOST and UPSTREAM stands exactly once; unknown, repeated or missing
 * ones are refused. Times are milliseconds; 0 turns a limit off.
 */
enum {
    CORDON_PROXY_POLICY_VERSION = 1,       /* u64 */
    CORDON_PROXY_POLICY_LISTEN = 2,        /* "ADDR:PORT", one specific unicast address */
    CORDON_PROXY_POLICY_HOST = 3,          /* a pinned host; repeated, 1 to 32 */
    CORDON_PROXY_POLICY_UPSTREAM = 4,      /* "HOST=ADDR:PORT" of a HOST before it; repeated */
    CORDON_PROXY_POLICY_HEAD_MS = 5,       /* u64: from accept to the end of the head, in all */
    CORDON_PROXY_POLICY_CONNECT_MS = 6,    /* u64: look-up and dialling, in all */
    CORDON_PROXY_POLICY_HELLO_MS = 7,      /* u64: from 200 to the end of the ClientHello */
    CORDON_PROXY_POLICY_IDLE_MS = 8,       /* u64: both directions quiet */
    CORDON_PROXY_POLICY_TUNNELS = 9,       /* u64: accepted CONNECTs at a time */
    CORDON_PROXY_POLICY_TUNNEL_BYTES = 10, /* u64: both directions of one tunnel */
    CORDON_PROXY_POLICY_ALL_BYTES = 11,    /* u64: of all tunnels */
    CORDON_PROXY_POLICY_REFUSALS = 12,     /* u64: refused attempts per second */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the gate's report is made from: the first byte chooses mountinfo, status, netlink messages
 * or lines. Whatever comes in, a report that was filled seals and opens again.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gate/kernel.h"
#include "gate/mountinfo.h"
#include "gate/netinfo.h"
#include "gate/report.h"
#include "gate/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t nonce[CORDON_GATE_NONCE_BYTES] = {1};

static int fill(uint8_t kind, const char *bytes, size_t length, cordon_report *report,
                cordon_err *err)
{
    cordon_slice text = cordon_slice_make(bytes, length);
    bool done = false;
    bool again = false;
    switch (kind % 5) {
    case 0:
        return cordon_mountinfo_facts(text, report, err);
    case 1:
        return cordon_status_facts(text, report, err);
    case 2:
        return cordon_netinfo_decode(bytes, length, report, err);
    case 3:
        return cordon_netinfo_scan(bytes, length, 0, &done, &again, err);
    default:
        (void)cordon_kernel_parse_oom_kills(text);
        return cordon_report_add_lines(report, "hosts", text, err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cordon_err err = CORDON_ERR_INIT;
    cordon_frame_reader reader;
    if (size == 0)
        return 0;
    /* A copy of its own: aligned as netlink's are, and bounded exactly. */
    char *bytes = malloc(size);
    cordon_auto(cordon_report) report = {0};
    if (!bytes || cordon_report_init(&report, nonce, &err) < 0)
        abort();
    memcpy(bytes, data + 1, size - 1);
    int rc = fill(data[0], bytes, size - 1, &report, &err);
    assert((rc == 0) == (err.code == CORDON_OK));
    err = (cordon_err)CORDON_ERR_INIT;
    assert(cordon_report_seal(&report, &err) == 0);
    assert(report.frame.bytes.length <= CORDON_GATE_REPORT_MAX);
    assert(cordon_frame_open(&reader, CORDON_GATE_MAGIC_REPORT, report.frame.bytes.data,
                             report.frame.bytes.length, cordon_frame_unkeyed, &err) == 0);
    free(bytes);
    return 0;
}

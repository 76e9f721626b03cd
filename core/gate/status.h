/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /proc/self/status (proc(5)) says of credentials, capabilities and seccomp, as facts. Pure.
 * libc-only.
 */
#ifndef CORDON_GATE_STATUS_H
#define CORDON_GATE_STATUS_H

#include "gate/report.h"
#include "gate/text.h"
#include "kit/error.h"

/*
 * Adds the facts uid, gid, group, cap.*, seccomp.mode and seccomp.filters of protocol.h.
 * @return 0, or -1 with PROTOCOL when a line that every supported kernel has is missing, repeated
 *         or not of its form (seccomp.filters may be missing: kernels before 5.9)
 */
int cordon_status_facts(cordon_slice text, cordon_report *report, cordon_err *err)
    __attribute__((warn_unused_result));

#endif

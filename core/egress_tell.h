/* SPDX-License-Identifier: Apache-2.0 */
/* A run's egress events on their way to the caller and to the run's own file. */
#ifndef CORDON_EGRESS_TELL_H
#define CORDON_EGRESS_TELL_H

#include "run.h"

/* Has every event of the run told from now on, without secrets of its command. */
void cordon_run_tell_egress(cordon_run *run);

#endif

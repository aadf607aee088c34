/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages between two ranks whose buffers the host can't touch.
 */
#ifndef MUSTER_LIB_BATCH_STAGED_H
#define MUSTER_LIB_BATCH_STAGED_H

#include "collective/batch.h"
#include "collective/message.h"

/* How many messages a transfer is cut into, which both sides do alike; and message number piece. */
size_t batch_num_pieces(const muster_group *group, const muster_transfer *t);
void batch_prepare(const muster_group *group, const numbered *one, size_t piece, message *out);

/* Carries the batch out with copies in host memory of all that is away. */
muster_status batch_run_staged(muster_group *group, const batch *all,
                               muster_status (*carry)(muster_group *group, const batch *all));

#endif

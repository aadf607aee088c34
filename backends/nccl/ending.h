/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How NCCL's communicator ends, and what it leaves. The calling thread owns it, has its device set,
 * and may never come back.
 */
#ifndef MUSTER_BACKENDS_NCCL_ENDING_H
#define MUSTER_BACKENDS_NCCL_ENDING_H

#include "comm.h"

/* In the orderly way where it is healthy, else by an abort; then frees what was used with it. */
void ending_run(muster_comm *comm);

/* By an abort. */
void ending_abort(muster_comm *comm);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The keeper of a communicator: a thread that sleeps while all is well. When the communicator has
 * broken, or is closed, it takes it away from the device's thread and ends it: NCCL may take its
 * time for that, or never come back, and then it is this thread alone that waits.
 */
#ifndef MUSTER_BACKENDS_NCCL_KEEPER_H
#define MUSTER_BACKENDS_NCCL_KEEPER_H

#include "comm.h"

/* Starts it; it has a reference to the communicator. */
muster_status keeper_start(muster_comm *comm);

/* The member's late: ends a communicator on the thread that was given up in a call of NCCL. */
void keeper_late(owner_member *member);

#endif

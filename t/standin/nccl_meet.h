/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: how the ranks of a new
 * communicator meet.
 */
#ifndef MUSTER_T_STANDIN_NCCL_MEET_H
#define MUSTER_T_STANDIN_NCCL_MEET_H

#include "nccl_comm.h"
#include "nccl_wire.h"

/* The sockets of a communicator, for operations or for all else. */
nccl_wire meet_wire(const nccl_comm *comm, int *sockets, bool patient);

/* Says at the root of the unique id that this rank is there. */
nccl_result meet_root(nccl_comm *comm, const nccl_unique_id *id);

/* Connects the ranks that have the communicator's key, and lets them check each other: versions,
 * and that no two have one device. */
nccl_result meet_all(nccl_comm *comm);

#endif

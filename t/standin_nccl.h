/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicators of the stand-in's NCCL for tests whose ranks are those of ranks.h.
 */
#ifndef MUSTER_T_STANDIN_NCCL_H
#define MUSTER_T_STANDIN_NCCL_H

#include "standin_api.h"

/* As the version of the library that is loaded wants it, all unset but for blocking. */
nccl_config standin_config(int blocking);

/* The unique id of rank 0, on all ranks: collective. */
nccl_unique_id standin_share_id(int rank);

/* Polls until the communicator is no longer in progress; NCCL_IN_PROGRESS after ms. */
nccl_result standin_settle(nccl_comm *comm, long long ms);

/* A communicator of all ranks, each on the device of its rank; NULL where that failed. */
nccl_comm *standin_open(int rank, int size, int blocking);

/* Finalizes and destroys; whether both went well. */
bool standin_close(nccl_comm *comm);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How NCCL's communicator comes to be: anew from a unique id, or out of the parent group's.
 */
#ifndef MUSTER_BACKENDS_NCCL_BIRTH_H
#define MUSTER_BACKENDS_NCCL_BIRTH_H

#include "comm.h"

/* NCCL's name for a communicator to be. NCCL then waits, with a socket and a thread, until all of
 * its ranks have come. */
muster_status birth_id(muster_comm *comm, nccl_unique_id *id, deadline end);

/* Both wait until it is there, end or the core's giving up; the comm breaks where it does not come.
 * The config is copied. */
muster_status birth_anew(muster_comm *comm, nccl_unique_id id, const nccl_config *config,
                         deadline end);

/* Every rank of the parent does it. The parent breaks where that does not come off. */
muster_status birth_by_split(muster_comm *comm, muster_comm *parent, int color,
                             const nccl_config *config, deadline end);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whole operations, which the hall carries out. The functions are the backend's slots.
 */
#ifndef MUSTER_LOCAL_WHOLE_H
#define MUSTER_LOCAL_WHOLE_H

#include "comm.h"

bool whole_can(muster_comm *comm, const muster_call *call);
muster_status whole_run(muster_comm *comm, const muster_call *call);
/* A hall_place's, of a muster_comm. */
void whole_waits(void *waiter);

bool whole_has_come(muster_comm *comm, int peer);
void whole_traffic(muster_comm *comm, uint64_t *operations, uint64_t *given, uint64_t *taken);

#endif

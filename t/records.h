/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Records of ranks whose processes live, or have ended.
 */
#ifndef MUSTER_T_RECORDS_H
#define MUSTER_T_RECORDS_H

#include "group/roster.h"
#include "net/host_identity.h"

/* The record that a process of this host would write of itself. */
rank_record record_of(const host_identity *who, int rank, int size);

/* A process that has been and is no more. */
host_identity record_dead_one(void);

/* Whether a rank is named: "13" names 1 and 3; NULL names none. */
bool records_has(const char *ranks, int rank);

/* A roster of size ranks, of this host and alive but for the dead ones, whose processes have ended,
 * and those of another host. */
void records_roster(roster *ranks, int size, const char *dead, const char *far);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The operations of the failure matrix: everything in which a rank may wait for others.
 */
#ifndef MUSTER_T_FAILURE_ROWS_H
#define MUSTER_T_FAILURE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "muster.h"

enum { FAILURE_RANKS = 4, FAILURE_VICTIM = 2 };

enum {
    FAILURE_MAKES = 1,  /* it makes groups, and is not a collective of the group itself */
    FAILURE_UNMET = 2,  /* it has no group yet: only the time-out tells that a rank is missing */
    FAILURE_ROOTED = 4, /* ranks that only send may be through with it before the root fails */
    FAILURE_STORED = 8  /* ranks meet in the store, where they look for each other now and then */
};

struct failure_row {
    const char *name;
    const char *function; /* that its sentence names */
    int traits;
    /* All but the victim make the call; what it makes is freed. group is NULL where there is none
     * yet, then it is made with that time-out. */
    muster_status (*call)(muster_group *group, int rank, int64_t timeout_ms);
};

extern const struct failure_row failure_rows[];
extern const size_t failure_num_rows;

#endif

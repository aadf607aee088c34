/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that may have the same cores: a crew. Each crew gets cores of its own domain, so many for
 * each of its ranks as the others have, and shares them out among its ranks.
 */
#ifndef MUSTER_LIB_CREWS_H
#define MUSTER_LIB_CREWS_H

#include "machine/cpu_set.h"

/* Sets are of cores here, not of CPUs. */
typedef struct crew {
    cpu_set domain;
    cpu_set own; /* what it has of it */
    int size;    /* ranks */
    int num_own;
    int served; /* ranks that have their share */
} crew;

/* Begins as zeros. */
typedef struct crews {
    int count;
    crew *crews;
} crews;

/* One rank more for the crew of that domain, which is not empty, a new one where there is none.
 * limited: the crew takes no more ranks than it has cores; *place is -1 then. */
muster_status crews_join(crews *all, const cpu_set *domain, bool limited, int *place);

/* Deals out cores 0 to num_cores - 1, once all have joined: a core that is in one domain alone to
 * its crew, others to the crew that has the least for each of its ranks, with neighbours. A crew
 * that is left with nothing shares all of its domain with the others. */
muster_status crews_share_out(crews *all, int num_cores);

/* The part of the next rank of the crew, in the order of joining: neighbours, and nobody else's as
 * long as there are as many cores as ranks. */
cpu_set crews_next_share(crews *all, int place);

void crews_clear(crews *all);

#endif

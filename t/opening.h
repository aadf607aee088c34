/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Openings of a backend that fail, for its tests: what each has to leave, and the ranks that do not
 * come, die or hang, which are the same for all backends.
 */
#ifndef MUSTER_T_OPENING_H
#define MUSTER_T_OPENING_H

#include "backend_ranks.h"

/* The test says which words name rank 2 of 3 as lost, and checks that nothing is left of a comm
 * beside so many descriptors and threads. */
extern const char opening_lost[];
void opening_nothing_left(rank *me, int fds, int threads);

/* What this process has now. */
int count_fds(void);
int count_threads(void);

/* Opens, which must fail in time with one of two statuses and leave nothing; part is in the
 * sentence. */
void expect_failure(rank *me, muster_status one, muster_status other, const char *part);

/* For after_exchange: does not return. */
void hang(rank *me);

/* Bodies of 3 ranks. */
void never_comes(rank *me);
void dies_half_way(rank *me);
void hangs_half_way(rank *me);

#endif

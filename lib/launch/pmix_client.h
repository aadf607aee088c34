/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client of PMIx, by which Open MPI's and PRRTE's launchers (and srun --mpi=pmix) let the ranks
 * of a job exchange values. libpmix is opened at run time, and only where such a launcher is.
 *
 * PMIx counts its users in a process, so MPI may use it besides. But what has been ended by its
 * last user does not begin again with all it knew: MPI_Init after a visit of ours fails.
 */
#ifndef MUSTER_LIB_PMIX_CLIENT_H
#define MUSTER_LIB_PMIX_CLIENT_H

#include "muster.h"

enum { PMIX_CLIENT_MAX_VALUE = 512 };

/* Whether libpmix can be opened; words says which one, or why not. */
bool pmix_client_is_there(char *words, size_t size);

/*
 * Collective over the job: rank 0 passes mine, the others NULL; all receive it, and in *size,
 * where that is not NULL, how many ranks the job has. Calls of libpmix can't be broken off, so they
 * are made on a thread of their own, which is left behind where they take too long.
 */
muster_status pmix_client_exchange(const char *key, const char *mine, int64_t timeout_ms,
                                   char value[PMIX_CLIENT_MAX_VALUE], int *size);

#endif

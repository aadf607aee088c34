/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client of PMI-1: the text protocol that launchers of the MPICH family speak on the socket whose
 * number is in PMI_FD (Hydra, srun --mpi=pmi2, Flux).
 *
 * A process has one such session, which begins and ends once: after it MPI_Init of MPICH finds
 * none.
 */
#ifndef MUSTER_LIB_PMI1_H
#define MUSTER_LIB_PMI1_H

#include "base/deadline.h"
#include "muster.h"

enum { PMI1_MAX_LINE = 4096, PMI1_MAX_NAME = 256 };

typedef struct pmi1 {
    int fd;
    deadline end; /* of everything */
    int64_t timeout_ms;
    int max_value; /* the longest value, its end included */
    char space[PMI1_MAX_NAME + 1];
    char line[PMI1_MAX_LINE + 1]; /* the answer */
} pmi1;

/* Begins the session on PMI_FD; rank is for the sentences. Every answer is waited for until end. */
muster_status pmi1_open(pmi1 *session, int64_t timeout_ms);

/* Key and value are words: no blanks, no '='. */
muster_status pmi1_put(pmi1 *session, const char *key, const char *value);

/* Waits for all ranks of the job; what was put before is seen by all after it. */
muster_status pmi1_barrier(pmi1 *session);

muster_status pmi1_get(pmi1 *session, const char *key, char *value, size_t size);

/* Ends the session; the launcher takes a process that ends without for one that crashed. */
muster_status pmi1_close(pmi1 *session);

#endif

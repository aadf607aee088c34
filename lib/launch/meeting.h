/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the ranks of a launcher meet: the address of rank 0, which most launchers do not give.
 *
 *   1. MUSTER_MASTER_ADDR and MUSTER_MASTER_PORT, else MASTER_ADDR and MASTER_PORT.
 *   2. PMI-1 on PMI_FD: rank 0 listens on a free port and publishes it.
 *   3. PMIx: the same.
 *   4. Loopback where all ranks are on one host, and a port made of the job's id.
 *   5. The first pod of the Kubernetes Indexed Job, port 29500.
 *   6. The first host of the Slurm step's node list, and a port made of the job's id.
 *
 * 2 and 3 are left out with MUSTER_PMI=off, and where the process is linked to MPI, which could not
 * begin its own session any more; but 3 is in use once MPI itself is, for PMIx counts its users.
 * MUSTER_PMI=on has them all the same. In 2 and 3
 * MUSTER_MASTER_ADDR alone says where rank 0 listens; MUSTER_MASTER_PORT alone is the port in all
 * of them.
 *
 * A process has one session of PMI, so its ranks agree on an address once: rank 0's server stays
 * until the process ends, and every world that is made later meets there too. This is the one thing
 * that muster keeps for the process.
 */
#ifndef MUSTER_LIB_MEETING_H
#define MUSTER_LIB_MEETING_H

#include "launch/launcher.h"

typedef enum meeting_way {
    MEETING_NOWHERE,
    MEETING_GIVEN, /* by variables */
    MEETING_PMI1,
    MEETING_PMIX,
    MEETING_SLURM_NODES,
    MEETING_FIRST_POD,
    MEETING_ONE_HOST
} meeting_way;

/* Derived ports are of this range, below those that Linux gives to connections. */
enum { MEETING_FIRST_PORT = 20480, MEETING_NUM_PORTS = 8192, MEETING_POD_PORT = 29500 };

typedef struct meeting {
    meeting_way way;
    char host[256];            /* where rank 0 listens; "" is to be agreed on */
    int port;                  /* 0: to be agreed on */
    bool derived;              /* host is a name that the user did not give */
    bool served_here;          /* agreed on: this process has rank 0's server */
    const char *host_variable; /* MEETING_GIVEN: where host and port stand */
    const char *port_variable;
    char how[320];     /* in words */
    char others[1400]; /* why not the ways before it, or any where there is none */
} meeting;

/* Refuses what the environment says of the ways in general, which a world of one does not need. */
muster_status meeting_check(void);

/* Which way the environment leaves for the ranks of this launcher. Opens nothing but libpmix. */
muster_status meeting_choose(const launcher *found, meeting *chosen);

/* A port for a job, always the same: for "JOB.STEP" in numbers 20480 + (16 JOB + STEP) mod 8192,
 * for other ids 20480 + (FNV-1a of the id) mod 8192. */
int meeting_port(const char *job);

/* "<job>-0.<rest>" for a pod called "<job>-<index>" whose full name is "<job>-<index>.<rest>".
 * False where these are not of that form. */
bool meeting_first_pod(const char *name, const char *full_name, int index, char *pod, size_t size);

/*
 * For the ways 2 and 3, on all ranks of the launcher: host and port become those of rank 0's
 * server, and *size the number of ranks where it was -1. Later calls in the same process find what
 * the first one found, its failure too.
 */
muster_status meeting_agree(meeting *chosen, const launcher *found, int64_t timeout_ms, int *size);

#endif

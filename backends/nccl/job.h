/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Jobs of a communicator: calls of NCCL that are made on the thread of its device, one job after
 * the other. NCCL's calls return before they are done; a job is done when NCCL says so, and nothing
 * else may be asked of the communicator before.
 */
#ifndef MUSTER_BACKENDS_NCCL_JOB_H
#define MUSTER_BACKENDS_NCCL_JOB_H

#include "comm.h"

typedef enum job_state { JOB_WAITS, JOB_STARTED, JOB_DONE } job_state;

typedef struct job {
    const char *what; /* for sentences: "all_reduce", "making the communicator" */

    /* Makes the calls, on the thread. */
    nccl_result (*start)(muster_comm *comm, struct job *job);

    /* What is left to do once NCCL is done, on the thread; NULL: nothing. */
    nccl_result (*finish)(muster_comm *comm, struct job *job);

    /* Frees the job, when nobody has it any more; comm's lock is not held. */
    void (*release)(muster_comm *comm, struct job *job);

    /* Where start or finish return NCCL_UNHANDLED_CUDA_ERROR of their own: which. */
    cuda_error cuda;

    int64_t started_ns; /* the thread's own */

    /* Of job.c; comm's lock guards them. */
    job_state state;
    nccl_result result; /* once done */
    int refs;
    struct job *next;
} job;

/* How waiting for a job has ended. */
typedef enum job_end { JOB_END_DONE, JOB_END_BROKEN, JOB_END_LATE, JOB_END_CANCELLED } job_end;

/*
 * Hands the job over and waits until it is done, the communicator is broken, the time is over or
 * the core has given up the open of opening (NULL: that is not asked). The caller keeps the job and
 * lets go of it with job_unref; where it is not done the thread may still be at it.
 */
job_end job_run(muster_comm *comm, job *handed, deadline end, const muster_comm_owner *opening);
void job_unref(muster_comm *comm, job *let_go);

/* Lets go of all jobs that are left. No thread is at one any more. */
void job_drop_all(muster_comm *comm);

/* The steps of a communicator on its device's thread: its jobs, and in between a look at whether
 * NCCL has found an error. */
int64_t job_step(owner_member *member);

/* The sentence of a job that NCCL has refused, with the status that it stands for. fatal tells
 * whether the communicator is of no use any more. */
muster_status job_error(muster_comm *comm, const job *refused, bool *fatal);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A communicator on NCCL: the slots of the backend's table, and what they have in common.
 *
 * NCCL's communicator belongs to one thread at a time: to that of the device (owner.h), which makes
 * it and starts all operations, then to the communicator's keeper (keeper.h), which ends it.
 */
#ifndef MUSTER_BACKENDS_NCCL_COMM_H
#define MUSTER_BACKENDS_NCCL_COMM_H

#include <pthread.h>

#include "base/deadline.h"
#include "cuda_api.h"
#include "identity.h"
#include "muster/backend.h"
#include "nccl_api.h"
#include "owner.h"

struct job;

/* Memory of the device for operations that need some. */
typedef struct scratch {
    struct scratch *next; /* smaller ones that operations may still use */
    void *memory;
    size_t size;
} scratch;

/* As many events are kept as operations may well run at once. */
enum { COMM_EVENTS = 16 };

struct muster_comm {
    owner_member member; /* of the device's thread */
    owner *thread;
    muster_comm_owner *core; /* not after close */
    const nccl_api *nccl;
    const cuda_api *cuda;
    int rank, size;
    int device;
    int compute; /* 90 is 9.0: the least of all ranks */
    int64_t timeout_ms;
    char *label; /* what NCCL was told as the communicator's name, or NULL */
    char description[256];

    /* Of whichever thread NCCL's communicator belongs to. */
    nccl_comm *handle; /* NULL: none */
    scratch *scratch;
    cuda_event scratch_used; /* NULL: not used yet */

    pthread_t keeper;

    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    struct job *jobs;               /* the first is under way, or will be next */
    muster_request *requests;       /* that the core has and has not waited for */
    cuda_event events[COMM_EVENTS]; /* to use again */
    size_t num_events, room_for_events;
    int refs; /* of the core, the keeper and a thread that was given up */
    bool closing;
    bool reporting; /* a call of host->broken runs */
    bool ended;     /* NCCL's communicator is gone, or given up */
    bool stuck;     /* the latter */
    bool tidy;      /* so is what it used on the device */
    /* The first cause, where broken. */
    bool broken;
    bool report;     /* the core is to be told of it */
    deadline end_by; /* how long calls wait for the end */
    muster_status cause;
    char cause_text[1024];
};

muster_status comm_open(muster_comm_owner *core, const muster_open_args *args, muster_comm **comm);
bool comm_can(muster_comm *comm, const muster_call *call);
muster_status comm_call(muster_comm *comm, const muster_call *call, muster_request **request);
bool comm_test(muster_comm *comm, muster_request *request);
muster_status comm_wait(muster_comm *comm, muster_request *request, int64_t timeout_ms);
void comm_abort(muster_comm *comm);
void comm_close(muster_comm *comm);
void comm_forget(muster_comm *comm);
const char *comm_describe(muster_comm *comm);

/* A communicator without NCCL's, whose keeper runs and which is a member of its device's thread.
 * comm_close ends it. */
muster_status comm_new(muster_comm_owner *core, const muster_open_args *args, const nccl_api *nccl,
                       const cuda_api *cuda, muster_comm **comm);

/* Counts one user less; the last one frees the memory. */
void comm_unref(muster_comm *comm);

#endif

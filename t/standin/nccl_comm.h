/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: a communicator of its
 * NCCL, and what every call does with one.
 */
#ifndef MUSTER_T_STANDIN_NCCL_COMM_H
#define MUSTER_T_STANDIN_NCCL_COMM_H

#include <pthread.h>
#include <stdatomic.h>

#include "driver.h"
#include "fault.h"
#include "nccl_abi.h"

/* 22809 and so on: each library that is built has one. */
extern const int nccl_version;

/* A reduction that a program has made. */
typedef struct nccl_own_op {
    bool in_use;
    nccl_type type;
    double scalar;
    const void *place; /* of the scalar, on the device */
} nccl_own_op;

enum { COMM_OWN_OPS = 64, COMM_KEY = 80, COMM_NAME = 1024 };

struct nccl_comm {
    int rank;
    int size;
    int device;
    char key[COMM_KEY]; /* of its sockets' names */
    nccl_config config; /* nothing in it is unset */
    int *data;          /* sockets to the others: for operations */
    int *control;       /* and for all else */
    standin_mark last;  /* its last operation */

    atomic_int state;     /* a nccl_result; an error stays */
    atomic_bool ended;    /* aborted: nothing waits any more */
    atomic_bool *watched; /* its own, or its parent's while it is made */
    atomic_bool stopped;  /* operations that run are given up */
    atomic_bool revoked;
    bool finalized;
    unsigned calls; /* counted without a lock, so that a race detector sees two threads in one */
    int children;
    nccl_own_op own_ops[COMM_OWN_OPS];

    pthread_mutex_t lock;
    pthread_cond_t job_ended;
    int jobs; /* threads that work for it */

    nccl_comm *next; /* of all that were not freed */
};

/* A new one, which nothing is connected to; its state is NCCL_IN_PROGRESS. NULL: no memory. */
nccl_comm *comm_make(int rank, int size, int device, const nccl_config *config);
void comm_free(nccl_comm *comm);

nccl_result comm_state(nccl_comm *comm);

/* From in progress to a result; an error that is there stays. */
void comm_settle(nccl_comm *comm, nccl_result result);

/* From anything but an error to this one. */
void comm_break(nccl_comm *comm, nccl_result error);

/* Waits until it is aborted; the second, until its operations are given up. */
void comm_wait_ended(nccl_comm *comm);
void comm_wait_stopped(nccl_comm *comm);

/* Gives up the operations that run, and waits until none does; and for its other threads. */
void comm_stop(nccl_comm *comm);
void comm_wait_for_work(nccl_comm *comm);

/* Begins a call: NCCL_SUCCESS, or what it is to answer. The second takes only those that may be
 * worked with. */
nccl_result comm_enter(const char *function, const nccl_comm *comm);
nccl_result comm_enter_ready(const char *function, nccl_comm *comm);

/* Sets the sentence of ncclGetLastError and returns the result. */
nccl_result comm_fail(nccl_result result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif

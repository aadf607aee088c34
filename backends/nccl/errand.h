/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Errands: calls of CUDA that are made for somebody on another thread, since any of them may never
 * come back where a driver is stuck. Whoever waits gives the thread up then. Threads that have come
 * back are used again, and end soon when there is nothing to do.
 */
#ifndef MUSTER_BACKENDS_NCCL_ERRAND_H
#define MUSTER_BACKENDS_NCCL_ERRAND_H

#include <pthread.h>

#include "base/deadline.h"
#include "cuda_api.h"
#include "muster/backend.h"

typedef struct errand {
    /* Set before it is run. */
    const cuda_api *cuda;
    int device;
    bool outside;                         /* the thread is not to enter the device */
    const char *what;                     /* for sentences: "can't make a stream" */
    cuda_error (*run)(struct errand *me); /* on the thread, which has entered the device */
    void (*late)(struct errand *me);      /* there too, after run, where it was given up; or NULL */
    void (*release)(struct errand *me);   /* frees it, when nobody has it any more */

    /* Once it is done. */
    cuda_error error;
    const char *entering; /* what came of it before run was called; NULL: run was called */

    /* Of errand.c. */
    bool done, given_up;
    int refs;
    pthread_cond_t changed;
    struct errand *next;
} errand;

/*
 * Has it run and waits until it is done, or until the end; then it is given up. The caller lets go
 * of it with errand_unref in every case. A failure sets the sentence; what run has returned is
 * looked at as well.
 */
muster_status errand_run(errand *me, deadline end);

/* The same, for a caller that has its own sentences: MUSTER_OK whatever run has returned, and
 * MUSTER_ERR_TIMEOUT without a sentence where it was given up. */
muster_status errand_await(errand *me, deadline end);

/* Has it run, and lets go of it. Nobody learns how it ends. */
void errand_send(errand *me);

void errand_unref(errand *me);

/* Whether one was given up and has not come back: the driver may hang for others too. */
bool errand_some_hang(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Jobs of a communicator.
 */
#include "config.h"

#include "job.h"

#include <sched.h>

#include "base/thread.h"
#include "failure.h"

enum {
    AT_ONCE_NS = 100000,  /* how long NCCL is asked again and again; most jobs are done by then */
    SHORTEST_NS = 20000,  /* from one question to the next after that, */
    LONGEST_NS = 1000000, /* the more the longer it takes */
    WATCH_NS = 100000000, /* how often NCCL is asked whether it has found an error */
    CANCELLED_MS = 50     /* how often the core is asked whether an open is to be given up */
};

/* ---- on the device's thread ---- */

static void job_end_with(muster_comm *comm, job *done, nccl_result result)
{
    pthread_mutex_lock(&comm->lock);
    done->state = JOB_DONE;
    done->result = result;
    comm->jobs = done->next;
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&comm->lock);
    job_unref(comm, done);
}

/* What NCCL says of the communicator now; NCCL_IN_PROGRESS for what is not there yet. */
static nccl_result ask(muster_comm *comm)
{
    nccl_result state = NCCL_SUCCESS;
    nccl_result asked = comm->nccl->comm_get_async_error(comm->handle, &state);
    return asked == NCCL_SUCCESS ? state : asked;
}

/* Whether a job is done that NCCL has taken. */
static nccl_result ask_about(muster_comm *comm, const job *now)
{
    if (comm->handle == NULL)
        return NCCL_SUCCESS;
    nccl_result state = ask(comm);
    while (state == NCCL_IN_PROGRESS && deadline_now_ns() - now->started_ns < AT_ONCE_NS) {
        sched_yield();
        state = ask(comm);
    }
    return state;
}

static int64_t pause_before_asking_again(const job *now)
{
    int64_t pause_ns = (deadline_now_ns() - now->started_ns) / 4;
    return pause_ns < SHORTEST_NS ? SHORTEST_NS : pause_ns > LONGEST_NS ? LONGEST_NS : pause_ns;
}

static int64_t watch(muster_comm *comm)
{
    nccl_result state = comm->handle != NULL ? ask(comm) : NCCL_SUCCESS;
    if (state != NCCL_SUCCESS && state != NCCL_IN_PROGRESS)
        failure_break_for_result(comm, state, "NCCL has found an error");
    return WATCH_NS;
}

int64_t job_step(owner_member *member)
{
    muster_comm *comm = (muster_comm *)member;
    pthread_mutex_lock(&comm->lock);
    job *now = comm->jobs;
    bool broken = comm->broken;
    bool fresh = now != NULL && now->state == JOB_WAITS;
    if (fresh && !broken)
        now->state = JOB_STARTED;
    pthread_mutex_unlock(&comm->lock);
    if (broken)
        return WATCH_NS;
    if (now == NULL)
        return watch(comm);
    nccl_result result = NCCL_SUCCESS;
    if (fresh) {
        now->started_ns = deadline_now_ns();
        result = now->start(comm, now);
    }
    if (result == NCCL_SUCCESS || result == NCCL_IN_PROGRESS)
        result = ask_about(comm, now);
    if (result == NCCL_IN_PROGRESS)
        return pause_before_asking_again(now);
    if (result == NCCL_SUCCESS && now->finish != NULL)
        result = now->finish(comm, now);
    job_end_with(comm, now, result);
    return 0;
}

/* ---- elsewhere ---- */

static void hand_over(muster_comm *comm, job *handed)
{
    job **end = &comm->jobs;
    while (*end != NULL)
        end = &(*end)->next;
    handed->next = NULL;
    handed->state = JOB_WAITS;
    handed->refs = 2;
    *end = handed;
}

/* The lock is held. */
static job_end await_job(muster_comm *comm, const job *handed, deadline end,
                         const muster_comm_owner *opening)
{
    while (handed->state != JOB_DONE) {
        deadline look = deadline_in(CANCELLED_MS);
        if (comm->broken)
            return JOB_END_BROKEN;
        if (deadline_left_ms(end) == 0)
            return JOB_END_LATE;
        if (opening == NULL || look.at_ns > end.at_ns)
            look = end;
        if (thread_wait(&comm->changed, &comm->lock, look) || opening == NULL)
            continue;
        pthread_mutex_unlock(&comm->lock);
        bool cancelled = nccl_host->cancelled(opening);
        pthread_mutex_lock(&comm->lock);
        if (cancelled && handed->state != JOB_DONE)
            return JOB_END_CANCELLED;
    }
    return JOB_END_DONE;
}

job_end job_run(muster_comm *comm, job *handed, deadline end, const muster_comm_owner *opening)
{
    pthread_mutex_lock(&comm->lock);
    if (comm->broken) {
        handed->refs = 1;
        pthread_mutex_unlock(&comm->lock);
        return JOB_END_BROKEN;
    }
    hand_over(comm, handed);
    pthread_mutex_unlock(&comm->lock);
    owner_poke(&comm->member);
    pthread_mutex_lock(&comm->lock);
    job_end ended = await_job(comm, handed, end, opening);
    pthread_mutex_unlock(&comm->lock);
    return ended;
}

void job_unref(muster_comm *comm, job *let_go)
{
    pthread_mutex_lock(&comm->lock);
    bool last = --let_go->refs == 0;
    pthread_mutex_unlock(&comm->lock);
    if (last)
        let_go->release(comm, let_go);
}

void job_drop_all(muster_comm *comm)
{
    for (;;) {
        pthread_mutex_lock(&comm->lock);
        job *left = comm->jobs;
        if (left != NULL)
            comm->jobs = left->next;
        pthread_mutex_unlock(&comm->lock);
        if (left == NULL)
            return;
        job_unref(comm, left);
    }
}

muster_status job_error(muster_comm *comm, const job *refused, bool *fatal)
{
    *fatal = refused->result != NCCL_INVALID_ARGUMENT;
    if (refused->cuda != CUDA_OK)
        return failure_cuda_error(comm, refused->cuda, refused->what);
    return failure_result_error(comm, refused->result, refused->what);
}

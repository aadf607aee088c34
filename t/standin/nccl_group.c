/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: groups of calls, and the
 * threads that carry them out.
 */
#include "config.h"

#include "nccl_group.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* The tasks of one communicator in one group. */
typedef struct group_job {
    nccl_comm *comm;
    nccl_task *first;
    nccl_task **end;
    pthread_t thread;
    bool started;
    nccl_result result;
    struct group_job *next;
} group_job;

static _Thread_local int depth;
static _Thread_local nccl_result spoiled;
static _Thread_local nccl_task *first_task;
static _Thread_local nccl_task *last_task;

void group_open(void)
{
    depth++;
}

nccl_result group_spoil(nccl_result error)
{
    if (depth > 0 && error != NCCL_SUCCESS && error != NCCL_IN_PROGRESS)
        spoiled = error;
    return error;
}

nccl_result group_add(nccl_task *task)
{
    if (task == NULL)
        return group_spoil(comm_fail(NCCL_SYSTEM_ERROR, "no memory"));
    task->next = NULL;
    if (first_task == NULL)
        first_task = task;
    else
        last_task->next = task;
    last_task = task;
    return NCCL_SUCCESS;
}

/* ---- jobs ---- */

static void group_free_tasks(nccl_task *task)
{
    while (task != NULL) {
        nccl_task *next = task->next;
        free(task);
        task = next;
    }
}

static void group_run(group_job *job)
{
    nccl_result result = NCCL_SUCCESS;
    const standin_driver *driver = driver_find();
    int before = driver->current();
    driver->set_current(job->comm->device);
    for (nccl_task *task = job->first; task != NULL; task = task->next)
        if (result == NCCL_SUCCESS && !task->taken)
            result = task->run(task);
    group_free_tasks(job->first);
    if (before >= 0)
        driver->set_current(before);
    job->result = result;
}

static void group_end_job(nccl_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    comm->jobs--;
    pthread_cond_broadcast(&comm->job_ended);
    pthread_mutex_unlock(&comm->lock);
}

static void *group_run_blocking(void *argument)
{
    group_run(argument);
    return NULL;
}

/* A little later, so that who doesn't wait for it finds nothing done. */
static void *group_run_later(void *argument)
{
    group_job *job = argument;
    nccl_comm *comm = job->comm;
    struct timespec pause = {0, 200000};
    nanosleep(&pause, NULL);
    group_run(job);
    comm_settle(comm, job->result);
    free(job);
    group_end_job(comm);
    return NULL;
}

static bool group_start(group_job *job, pthread_t *thread, void *(*run)(void *argument))
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(thread, NULL, run, job) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* ---- the end of a group ---- */

static void group_discard(nccl_result error)
{
    for (nccl_task *task = first_task; task != NULL; task = task->next)
        if (!task->comm->config.blocking)
            comm_settle(task->comm, error);
    group_free_tasks(first_task);
    first_task = NULL;
}

static group_job *group_job_of(group_job **jobs, nccl_comm *comm)
{
    while (*jobs != NULL && (*jobs)->comm != comm)
        jobs = &(*jobs)->next;
    if (*jobs == NULL) {
        *jobs = calloc(1, sizeof(**jobs));
        if (*jobs != NULL) {
            (*jobs)->comm = comm;
            (*jobs)->end = &(*jobs)->first;
        }
    }
    return *jobs;
}

/* Moves the tasks of the thread into jobs. */
static group_job *group_sort(void)
{
    group_job *jobs = NULL;
    while (first_task != NULL) {
        nccl_task *task = first_task;
        group_job *job = group_job_of(&jobs, task->comm);
        if (job == NULL)
            break;
        first_task = task->next;
        task->next = NULL;
        *job->end = task;
        job->end = &task->next;
    }
    return jobs;
}

static nccl_result group_launch_blocking(group_job *jobs)
{
    nccl_result result = NCCL_SUCCESS;
    for (group_job *job = jobs; job != NULL; job = job->next) {
        job->started = job->next != NULL && group_start(job, &job->thread, group_run_blocking);
        if (!job->started)
            group_run(job);
    }
    for (group_job *job = jobs, *next; job != NULL; job = next) {
        next = job->next;
        if (job->started)
            pthread_join(job->thread, NULL);
        comm_settle(job->comm, job->result);
        result = result == NCCL_SUCCESS ? job->result : result;
        free(job);
    }
    return result;
}

static nccl_result group_launch_later(group_job *jobs)
{
    for (group_job *job = jobs, *next; job != NULL; job = next) {
        nccl_comm *comm = job->comm;
        pthread_t thread;
        next = job->next;
        int success = NCCL_SUCCESS;
        atomic_compare_exchange_strong(&comm->state, &success, NCCL_IN_PROGRESS);
        pthread_mutex_lock(&comm->lock);
        comm->jobs++;
        if (group_start(job, &thread, group_run_later)) { /* which frees it */
            pthread_detach(thread);
        } else {
            comm->jobs--;
            comm_settle(comm, NCCL_SYSTEM_ERROR);
            group_free_tasks(job->first);
            free(job);
        }
        pthread_mutex_unlock(&comm->lock);
    }
    return NCCL_IN_PROGRESS;
}

static nccl_result group_launch(void)
{
    if (first_task == NULL)
        return NCCL_SUCCESS;
    bool blocking = first_task->comm->config.blocking != 0;
    for (nccl_task *task = first_task; task != NULL; task = task->next)
        if ((task->comm->config.blocking != 0) != blocking) {
            group_discard(NCCL_INVALID_ARGUMENT);
            return comm_fail(NCCL_INVALID_ARGUMENT,
                             "Blocking and nonblocking communicators are not allowed in the same "
                             "group.");
        }
    group_job *jobs = group_sort();
    if (first_task != NULL)
        group_discard(NCCL_SYSTEM_ERROR);
    return blocking ? group_launch_blocking(jobs) : group_launch_later(jobs);
}

nccl_result group_close(void)
{
    if (depth == 0)
        return comm_fail(NCCL_INVALID_USAGE, "ncclGroupEnd: not in a group call.");
    if (--depth > 0)
        return NCCL_SUCCESS;
    nccl_result error = spoiled;
    spoiled = NCCL_SUCCESS;
    if (error == NCCL_SUCCESS)
        return group_launch();
    group_discard(error);
    return error;
}

nccl_result group_leave(nccl_comm *comm, nccl_result result)
{
    group_spoil(result);
    nccl_result closed = group_close();
    if (result != NCCL_SUCCESS || comm == NULL || comm->config.blocking)
        return result != NCCL_SUCCESS ? result : closed;
    return closed != NCCL_SUCCESS ? closed : comm_state(comm);
}

EXPORT(nccl_result, ncclGroupStart, void)
{
    int fault = fault_enter("ncclGroupStart");
    if (fault == FAULT_NONE)
        group_open();
    return (nccl_result)fault;
}

EXPORT(nccl_result, ncclGroupEnd, void)
{
    int fault = fault_enter("ncclGroupEnd");
    return fault == FAULT_NONE ? group_close() : (nccl_result)fault;
}

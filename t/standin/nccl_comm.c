/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: communicators of its
 * NCCL, their state, and errors in words.
 */
#include "config.h"

#include "nccl_comm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- errors in words: never freed, since a caller may still read an older one ---- */

typedef struct comm_sentence {
    struct comm_sentence *before;
    char text[256];
} comm_sentence;

static _Atomic(comm_sentence *) last_sentence;

nccl_result comm_fail(nccl_result result, const char *format, ...)
{
    comm_sentence *sentence = calloc(1, sizeof(*sentence));
    if (sentence == NULL)
        return result;
    va_list values;
    va_start(values, format);
    vsnprintf(sentence->text, sizeof(sentence->text), format, values);
    va_end(values);
    sentence->before = atomic_load(&last_sentence);
    while (!atomic_compare_exchange_weak(&last_sentence, &sentence->before, sentence))
        continue;
    return result;
}

EXPORT(const char *, ncclGetLastError, const nccl_comm *comm)
{
    (void)comm;
    comm_sentence *sentence = atomic_load(&last_sentence);
    return sentence != NULL ? sentence->text : "";
}

EXPORT(const char *, ncclGetErrorString, nccl_result result)
{
    static const char *const texts[] = {
        "no error",
        "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        "unhandled system error (run with NCCL_DEBUG=INFO for details)",
        "internal error - please report this issue to the NCCL developers",
        "invalid argument (run with NCCL_DEBUG=WARN for details)",
        "invalid usage (run with NCCL_DEBUG=WARN for details)",
        "remote process exited or there was a network error",
        "NCCL operation in progress"};
    return (int)result >= 0 && result <= NCCL_IN_PROGRESS ? texts[result] : "unknown result code";
}

EXPORT(nccl_result, ncclGetVersion, int *version)
{
    if (version == NULL)
        return NCCL_INVALID_ARGUMENT;
    *version = nccl_version;
    return NCCL_SUCCESS;
}

/* ---- communicators ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static nccl_comm *comms; /* also those that nobody will free, so that they count as in use */

static int *comm_make_sockets(int size)
{
    int *sockets = malloc((size_t)size * sizeof(*sockets));
    for (int i = 0; sockets != NULL && i < size; i++)
        sockets[i] = -1;
    return sockets;
}

static void comm_free_sockets(int *sockets, int size)
{
    for (int i = 0; sockets != NULL && i < size; i++)
        if (sockets[i] >= 0)
            close(sockets[i]);
    free(sockets);
}

nccl_comm *comm_make(int rank, int size, int device, const nccl_config *config)
{
    nccl_comm *comm = calloc(1, sizeof(*comm));
    if (comm == NULL)
        return NULL;
    comm->rank = rank;
    comm->size = size;
    comm->device = device;
    comm->watched = &comm->ended;
    comm->config = *config;
    comm->data = comm_make_sockets(size);
    comm->control = comm_make_sockets(size);
    atomic_init(&comm->state, NCCL_IN_PROGRESS);
    pthread_mutex_init(&comm->lock, NULL);
    pthread_cond_init(&comm->job_ended, NULL);
    if (comm->data == NULL || comm->control == NULL) {
        free(comm->data);
        free(comm->control);
        free(comm);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    comm->next = comms;
    comms = comm;
    pthread_mutex_unlock(&lock);
    return comm;
}

void comm_free(nccl_comm *comm)
{
    pthread_mutex_lock(&lock);
    nccl_comm **at = &comms;
    while (*at != comm)
        at = &(*at)->next;
    *at = comm->next;
    pthread_mutex_unlock(&lock);
    comm_free_sockets(comm->data, comm->size);
    comm_free_sockets(comm->control, comm->size);
    pthread_cond_destroy(&comm->job_ended);
    pthread_mutex_destroy(&comm->lock);
    free(comm);
}

nccl_result comm_state(nccl_comm *comm)
{
    return (nccl_result)atomic_load(&comm->state);
}

void comm_settle(nccl_comm *comm, nccl_result result)
{
    int before = NCCL_IN_PROGRESS;
    if (!atomic_compare_exchange_strong(&comm->state, &before, (int)result))
        comm_break(comm, result);
}

void comm_break(nccl_comm *comm, nccl_result error)
{
    int before = atomic_load(&comm->state);
    while (error != NCCL_SUCCESS && (before == NCCL_SUCCESS || before == NCCL_IN_PROGRESS))
        if (atomic_compare_exchange_weak(&comm->state, &before, (int)error))
            return;
}

static void comm_wait_for(const atomic_bool *flag)
{
    struct timespec pause = {0, 2000000};
    while (!atomic_load(flag))
        nanosleep(&pause, NULL);
}

void comm_wait_ended(nccl_comm *comm)
{
    comm_wait_for(comm->watched);
}

void comm_wait_stopped(nccl_comm *comm)
{
    comm_wait_for(&comm->stopped);
}

void comm_wait_for_work(nccl_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    while (comm->jobs > 0)
        pthread_cond_wait(&comm->job_ended, &comm->lock);
    standin_mark last = comm->last;
    pthread_mutex_unlock(&comm->lock);
    driver_find()->mark_wait(last);
}

void comm_stop(nccl_comm *comm)
{
    atomic_store(&comm->stopped, true);
    comm_wait_for_work(comm);
}

/* ---- what calls begin with ---- */

nccl_result comm_enter(const char *function, const nccl_comm *comm)
{
    int fault = fault_enter_at(function, comm != NULL ? comm->rank : FAULT_ANY_RANK);
    if (fault != FAULT_NONE)
        return comm_fail((nccl_result)fault, "%s : a fault on demand", function);
    if (comm == NULL)
        return comm_fail(NCCL_INVALID_ARGUMENT, "%s : comm argument is NULL", function);
    return NCCL_SUCCESS;
}

nccl_result comm_enter_ready(const char *function, nccl_comm *comm)
{
    nccl_result entered = comm_enter(function, comm);
    if (entered != NCCL_SUCCESS)
        return entered;
    comm->calls++;
    nccl_result state = comm_state(comm);
    if (state == NCCL_IN_PROGRESS)
        return comm_fail(NCCL_INVALID_ARGUMENT,
                         "Attempt to use communicator before the previous operation returned "
                         "ncclSuccess");
    return state;
}

EXPORT(nccl_result, ncclCommGetAsyncError, nccl_comm *comm, nccl_result *result)
{
    nccl_result entered = comm_enter("ncclCommGetAsyncError", comm);
    if (entered == NCCL_SUCCESS && result == NULL)
        return NCCL_INVALID_ARGUMENT;
    if (entered != NCCL_SUCCESS)
        return entered;
    comm->calls++;
    *result = comm_state(comm);
    return NCCL_SUCCESS;
}

static nccl_result comm_tell(const char *function, const nccl_comm *comm, int value, int *told)
{
    nccl_result entered = comm_enter_ready(function, (nccl_comm *)(uintptr_t)comm);
    if (entered == NCCL_SUCCESS && told == NULL)
        return NCCL_INVALID_ARGUMENT;
    if (entered == NCCL_SUCCESS)
        *told = value;
    return entered;
}

EXPORT(nccl_result, ncclCommCount, const nccl_comm *comm, int *count)
{
    return comm_tell("ncclCommCount", comm, comm != NULL ? comm->size : 0, count);
}

EXPORT(nccl_result, ncclCommUserRank, const nccl_comm *comm, int *rank)
{
    return comm_tell("ncclCommUserRank", comm, comm != NULL ? comm->rank : 0, rank);
}

EXPORT(nccl_result, ncclCommCuDevice, const nccl_comm *comm, int *device)
{
    return comm_tell("ncclCommCuDevice", comm, comm != NULL ? comm->device : 0, device);
}

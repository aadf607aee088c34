/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: how operations of its
 * NCCL come to a stream, and what becomes of one that fails there: it stays on the stream until
 * the communicator is aborted, as a kernel does.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "nccl_operation.h"
#include "nccl_reduce.h"

/* What runs as one on a stream: a collective, or all messages of a group. */
typedef struct launch_batch {
    nccl_comm *comm;
    size_t count;
    nccl_operation operations[];
} launch_batch;

/* Puts the addresses at which the device finds the bytes in the place of the caller's. */
static bool launch_reach(const nccl_comm *comm, nccl_operation *operation)
{
    const standin_driver *driver = driver_find();
    size_t size = operation->count * reduce_type_size(operation->type);
    size_t sends = operation_sends(comm, operation), receives = operation_receives(comm, operation);
    const void *place = operation->own.place;
    operation->send = sends > 0 ? driver->memory_reach(operation->send, sends * size) : NULL;
    operation->receive =
        receives > 0 ? driver->memory_reach(operation->receive, receives * size) : NULL;
    if (place != NULL)
        operation->own.place = driver->memory_reach(place, 1);
    return (sends == 0 || operation->send != NULL) &&
           (receives == 0 || operation->receive != NULL) &&
           (place == NULL || operation->own.place != NULL);
}

static nccl_result launch_fault(nccl_comm *comm)
{
    int fault = fault_at("operation", comm->rank);
    return fault == FAULT_HANG ? NCCL_IN_PROGRESS : (nccl_result)fault;
}

/* On the thread of a stream. */
static void launch_run(void *what)
{
    launch_batch *batch = what;
    nccl_comm *comm = batch->comm;
    bool reached = true;
    nccl_result result = launch_fault(comm);
    for (size_t i = 0; i < batch->count; i++)
        reached = launch_reach(comm, &batch->operations[i]) && reached;
    if (!reached) {
        driver_find()->poison((cu_result)STANDIN_ILLEGAL_ADDRESS);
        comm_break(comm, NCCL_UNHANDLED_CUDA_ERROR);
    } else {
        if (result == NCCL_SUCCESS)
            result = operation_run(comm, batch->operations, batch->count);
        if (result == NCCL_REMOTE_ERROR)
            comm_fail(result, "a rank has gone");
        if (result != NCCL_IN_PROGRESS && !atomic_load(&comm->stopped))
            comm_break(comm, result);
        if (result != NCCL_SUCCESS)
            comm_wait_stopped(comm);
    }
    free(batch);
}

static bool launch_is_message(const nccl_operation *operation)
{
    return operation->kind == OPERATION_SEND || operation->kind == OPERATION_RECV;
}

static nccl_result launch_push(launch_batch *batch, standin_stream *stream)
{
    if (driver_find()->stream_push(stream, launch_run, batch) == CUDA_OK)
        return NCCL_SUCCESS;
    free(batch);
    return comm_fail(NCCL_UNHANDLED_CUDA_ERROR, "the stream takes no work");
}

static launch_batch *launch_make_batch(nccl_comm *comm, size_t most)
{
    launch_batch *batch = malloc(sizeof(*batch) + most * sizeof(batch->operations[0]));
    if (batch != NULL) {
        batch->comm = comm;
        batch->count = 0;
    }
    return batch;
}

/* The collectives in their order, then all messages. Frees them in every case. */
static nccl_result launch_push_all(launch_batch *all, standin_stream *stream)
{
    nccl_result result = NCCL_SUCCESS;
    size_t messages = 0;
    for (size_t i = 0; i < all->count && result == NCCL_SUCCESS; i++) {
        if (launch_is_message(&all->operations[i])) {
            all->operations[messages++] = all->operations[i];
            continue;
        }
        launch_batch *one = launch_make_batch(all->comm, 1);
        if (one == NULL)
            result = NCCL_SYSTEM_ERROR;
        else {
            one->operations[one->count++] = all->operations[i];
            result = launch_push(one, stream);
        }
    }
    all->count = messages;
    if (result == NCCL_SUCCESS && messages > 0)
        return launch_push(all, stream);
    free(all);
    return result;
}

/* Takes this operation and those behind it. */
static launch_batch *launch_take(nccl_task *task)
{
    size_t most = 0;
    for (nccl_task *one = task; one != NULL; one = one->next)
        most++;
    launch_batch *all = launch_make_batch(task->comm, most);
    for (nccl_task *one = task; all != NULL && one != NULL; one = one->next) {
        if (one->run != operation_launch)
            continue;
        one->taken = true;
        all->operations[all->count++] = ((operation_task *)one)->operation;
    }
    return all;
}

/* NCCL reads a name that it has not copied, and connects ranks when they first have to do with each
 * other. */
static nccl_result launch_begin(nccl_comm *comm)
{
    const char *name = nccl_version < 23000 ? comm->config.comm_name : NULL;
    if (name != NULL && strnlen(name, COMM_NAME) == COMM_NAME)
        return comm_fail(NCCL_INTERNAL_ERROR, "the name is no text any more");
    int fault = fault_at("launch", comm->rank);
    if (fault == FAULT_HANG)
        comm_wait_stopped(comm);
    if (fault == FAULT_NONE)
        return NCCL_SUCCESS;
    return comm_fail(fault == FAULT_HANG ? NCCL_INTERNAL_ERROR : (nccl_result)fault,
                     "launch : a fault on demand");
}

/* The first one's stream comes behind the others' and behind the communicator's last operation;
 * then they come behind it. */
nccl_result operation_launch(nccl_task *task)
{
    const standin_driver *driver = driver_find();
    nccl_comm *comm = task->comm;
    standin_stream *stream = ((operation_task *)task)->operation.stream;
    nccl_result result = launch_begin(comm);
    if (result != NCCL_SUCCESS)
        return result;
    launch_batch *all = launch_take(task);
    if (all == NULL)
        return comm_fail(NCCL_SYSTEM_ERROR, "no memory");
    for (nccl_task *one = task; one != NULL; one = one->next)
        if (one->taken)
            driver->stream_await(stream,
                                 driver->stream_mark(((operation_task *)one)->operation.stream));
    pthread_mutex_lock(&comm->lock);
    driver->stream_await(stream, comm->last);
    result = launch_push_all(all, stream);
    comm->last = driver->stream_mark(stream);
    pthread_mutex_unlock(&comm->lock);
    for (nccl_task *one = task; one != NULL; one = one->next)
        if (one->taken)
            driver->stream_await(((operation_task *)one)->operation.stream, comm->last);
    return result;
}

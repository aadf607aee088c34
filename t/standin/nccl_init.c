/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: how communicators of its
 * NCCL come to be from a unique id.
 */
#include "config.h"

#include <stdlib.h>

#include "nccl_config.h"
#include "nccl_group.h"
#include "nccl_init.h"
#include "nccl_meet.h"

nccl_result init_fault(nccl_comm *comm, const char *step)
{
    int fault = fault_at(step, comm->rank);
    if (fault == FAULT_HANG)
        comm_wait_ended(comm);
    if (fault == FAULT_HANG)
        return NCCL_INTERNAL_ERROR;
    return fault == FAULT_NONE ? NCCL_SUCCESS
                               : comm_fail((nccl_result)fault, "%s : a fault on demand", step);
}

nccl_result init_check_device(void)
{
    const standin_driver *driver = driver_find();
    cuda_error ready = driver != NULL ? driver->ready() : CUDA_ERROR_DRIVER_TOO_OLD;
    if (ready != CUDA_OK)
        return comm_fail(NCCL_UNHANDLED_CUDA_ERROR, "Cuda failure %d", (int)ready);
    driver->set_current(driver->current() < 0 ? 0 : driver->current());
    return NCCL_SUCCESS;
}

/* ---- from a unique id ---- */

typedef struct init_task {
    nccl_task task;
    nccl_unique_id id;
} init_task;

static nccl_result init_run(nccl_task *task)
{
    nccl_comm *comm = task->comm;
    nccl_result result = init_fault(comm, "init");
    if (result == NCCL_SUCCESS)
        result = meet_root(comm, &((init_task *)task)->id);
    if (result == NCCL_SUCCESS)
        result = meet_all(comm);
    return result;
}

static nccl_result init_add(nccl_comm **made, int size, const nccl_unique_id *id, int rank,
                            const nccl_config *given)
{
    nccl_config config;
    if (made == NULL || size < 1 || rank < 0 || rank >= size)
        return comm_fail(NCCL_INVALID_ARGUMENT, "Invalid rank requested : %d/%d", rank, size);
    nccl_result result = config_read(given, NULL, &config);
    if (result != NCCL_SUCCESS)
        return result;
    init_task *task = calloc(1, sizeof(*task));
    int device = driver_find()->current();
    nccl_comm *comm = task != NULL ? comm_make(rank, size, device, &config) : NULL;
    if (comm == NULL) {
        free(task);
        return comm_fail(NCCL_SYSTEM_ERROR, "no memory");
    }
    task->task = (nccl_task){.comm = comm, .run = init_run};
    task->id = *id;
    *made = comm;
    return group_add(&task->task);
}

static nccl_result init_config(nccl_comm **made, int size, const nccl_unique_id *id, int rank,
                               const nccl_config *config)
{
    if (nccl_version < 22300 && init_check_device() != NCCL_SUCCESS)
        return NCCL_UNHANDLED_CUDA_ERROR;
    group_open();
    /* From 2.23 on the group stays open here, and the thread is inside it from now on. */
    if (init_check_device() != NCCL_SUCCESS)
        return NCCL_UNHANDLED_CUDA_ERROR;
    nccl_result result = init_add(made, size, id, rank, config);
    return group_leave(result == NCCL_SUCCESS ? *made : NULL, result);
}

EXPORT(nccl_result, ncclCommInitRankConfig, nccl_comm **comm, int size, nccl_unique_id id, int rank,
       nccl_config *config)
{
    int fault = fault_enter_at("ncclCommInitRankConfig", rank);
    return fault == FAULT_NONE ? init_config(comm, size, &id, rank, config) : (nccl_result)fault;
}

EXPORT(nccl_result, ncclCommInitRankScalable, nccl_comm **comm, int size, int rank, int num_ids,
       nccl_unique_id *ids, nccl_config *config)
{
    int fault = fault_enter_at("ncclCommInitRankScalable", rank);
    if (fault != FAULT_NONE)
        return (nccl_result)fault;
    if (num_ids < 1 || num_ids > size || ids == NULL)
        return comm_fail(NCCL_INVALID_ARGUMENT, "ncclCommInitRankScalable : nId %d", num_ids);
    return init_config(comm, size, &ids[0], rank, config);
}

EXPORT(nccl_result, ncclCommInitRank, nccl_comm **comm, int size, nccl_unique_id id, int rank)
{
    int fault = fault_enter_at("ncclCommInitRank", rank);
    if (fault != FAULT_NONE)
        return (nccl_result)fault;
    return init_check_device() == NCCL_SUCCESS ? init_config(comm, size, &id, rank, NULL)
                                               : NCCL_UNHANDLED_CUDA_ERROR;
}

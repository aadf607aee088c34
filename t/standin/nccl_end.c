/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: how communicators of its
 * NCCL end.
 */
#include "config.h"

#include <stdlib.h>

#include "nccl_group.h"
#include "nccl_meet.h"

/* ---- finalize: all ranks, when their operations have run ---- */

static nccl_result end_finalize(nccl_comm *comm)
{
    nccl_wire wire = meet_wire(comm, comm->control, false);
    char mine = 0, *all = malloc((size_t)comm->size);
    int fault = fault_at("finalize", comm->rank);
    if (fault == FAULT_HANG)
        comm_wait_ended(comm);
    nccl_result result = fault > 0 ? (nccl_result)fault : NCCL_SUCCESS;
    if (all == NULL)
        result = NCCL_SYSTEM_ERROR;
    if (result == NCCL_SUCCESS) {
        driver_find()->mark_wait(comm->last);
        result = wire_all_gather(&wire, &mine, sizeof(mine), all);
    }
    free(all);
    return result;
}

static nccl_result end_finalize_task(nccl_task *task)
{
    return end_finalize(task->comm);
}

EXPORT(nccl_result, ncclCommFinalize, nccl_comm *comm)
{
    if (comm == NULL)
        return NCCL_SUCCESS;
    group_open();
    nccl_result result = comm_enter_ready("ncclCommFinalize", comm);
    if (result == NCCL_SUCCESS && atomic_load(&comm->revoked))
        result = comm_fail(NCCL_INVALID_ARGUMENT, "ncclCommFinalize : it was revoked");
    if (result == NCCL_SUCCESS && comm->finalized)
        result = comm_fail(NCCL_INVALID_ARGUMENT, "ncclCommFinalize : it was finalized before");
    if (result == NCCL_SUCCESS) {
        nccl_task *task = calloc(1, sizeof(*task));
        if (task != NULL)
            *task = (nccl_task){.comm = comm, .run = end_finalize_task};
        comm->finalized = true;
        result = group_add(task);
    }
    return group_leave(result == NCCL_SUCCESS ? comm : NULL, result);
}

/* ---- destroy and abort ---- */

/* One that has failed or is busy stays as it is; from 2.24 on the thread is then left inside a
 * group. */
EXPORT(nccl_result, ncclCommDestroy, nccl_comm *comm)
{
    if (comm == NULL)
        return NCCL_SUCCESS;
    nccl_result result = comm_enter_ready("ncclCommDestroy", comm);
    if (result != NCCL_SUCCESS) {
        if (nccl_version >= 22400)
            group_open();
        return result;
    }
    if (!comm->finalized && !atomic_load(&comm->revoked))
        end_finalize(comm);
    comm_wait_for_work(comm);
    comm_free(comm);
    return NCCL_SUCCESS;
}

/* What runs is given up; then it can only be destroyed, or others be made out of it. */
EXPORT(nccl_result, ncclCommRevoke, nccl_comm *comm, int flags)
{
    nccl_result result = comm_enter("ncclCommRevoke", comm);
    if (result == NCCL_SUCCESS && flags != 0)
        result = comm_fail(NCCL_INVALID_ARGUMENT, "ncclCommRevoke : flags %d", flags);
    if (result != NCCL_SUCCESS)
        return result;
    atomic_store(&comm->revoked, true);
    comm_stop(comm);
    return NCCL_SUCCESS;
}

/* Blocks, whatever the communicator is, until nothing of it runs any more. */
EXPORT(nccl_result, ncclCommAbort, nccl_comm *comm)
{
    if (comm == NULL)
        return NCCL_SUCCESS;
    nccl_result result = comm_enter("ncclCommAbort", comm);
    if (result != NCCL_SUCCESS)
        return result;
    atomic_store(&comm->ended, true);
    comm_stop(comm);
    comm_free(comm);
    return NCCL_SUCCESS;
}

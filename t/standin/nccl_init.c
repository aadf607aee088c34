/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: how communicators of its
 * NCCL come to be, from a unique id or out of others.
 */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nccl_config.h"
#include "nccl_group.h"
#include "nccl_meet.h"

/* A step that may fail on demand. */
static nccl_result init_fault(nccl_comm *comm, const char *step)
{
    int fault = fault_at(step, comm->rank);
    if (fault == FAULT_HANG)
        comm_wait_ended(comm);
    if (fault == FAULT_HANG)
        return NCCL_INTERNAL_ERROR;
    return fault == FAULT_NONE ? NCCL_SUCCESS
                               : comm_fail((nccl_result)fault, "%s : a fault on demand", step);
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

/* What a communicator can't do without. It makes use of the thread's device. */
static nccl_result init_check_device(void)
{
    const standin_driver *driver = driver_find();
    cuda_error ready = driver != NULL ? driver->ready() : CUDA_ERROR_DRIVER_TOO_OLD;
    if (ready != CUDA_OK)
        return comm_fail(NCCL_UNHANDLED_CUDA_ERROR, "Cuda failure %d", (int)ready);
    driver->set_current(driver->current() < 0 ? 0 : driver->current());
    return NCCL_SUCCESS;
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
    int fault = fault_enter("ncclCommInitRankConfig");
    return fault == FAULT_NONE ? init_config(comm, size, &id, rank, config) : (nccl_result)fault;
}

EXPORT(nccl_result, ncclCommInitRankScalable, nccl_comm **comm, int size, int rank, int num_ids,
       nccl_unique_id *ids, nccl_config *config)
{
    int fault = fault_enter("ncclCommInitRankScalable");
    if (fault != FAULT_NONE)
        return (nccl_result)fault;
    if (num_ids < 1 || num_ids > size || ids == NULL)
        return comm_fail(NCCL_INVALID_ARGUMENT, "ncclCommInitRankScalable : nId %d", num_ids);
    return init_config(comm, size, &ids[0], rank, config);
}

EXPORT(nccl_result, ncclCommInitRank, nccl_comm **comm, int size, nccl_unique_id id, int rank)
{
    int fault = fault_enter("ncclCommInitRank");
    if (fault != FAULT_NONE)
        return (nccl_result)fault;
    return init_check_device() == NCCL_SUCCESS ? init_config(comm, size, &id, rank, NULL)
                                               : NCCL_UNHANDLED_CUDA_ERROR;
}

/* ---- out of another one ---- */

typedef struct split_card {
    int color;
    int key;
} split_card;

typedef struct split_task {
    nccl_task task;
    nccl_comm **made;
    nccl_config config;
    split_card card;
    int number; /* of the parent's children */
} split_task;

/* The rank among those of its color, by key and then by the parent's rank, and how many they are.
 */
static int split_place(const split_card *cards, int rank, int all, int *size)
{
    int before = 0;
    *size = 0;
    for (int i = 0; i < all; i++) {
        if (cards[i].color != cards[rank].color)
            continue;
        *size += 1;
        before += cards[i].key < cards[rank].key || (cards[i].key == cards[rank].key && i < rank);
    }
    return before;
}

static nccl_result split_make(split_task *split, const split_card *cards)
{
    nccl_comm *parent = split->task.comm;
    int size = 0, rank = split_place(cards, parent->rank, parent->size, &size);
    if (split->card.color == NCCL_SPLIT_NO_COLOR)
        return NCCL_SUCCESS;
    nccl_comm *child = comm_make(rank, size, parent->device, &split->config);
    if (child == NULL)
        return comm_fail(NCCL_SYSTEM_ERROR, "no memory");
    snprintf(child->key, sizeof(child->key), "%.56s.%d.%d", parent->key, split->number,
             split->card.color);
    child->watched = &parent->ended;
    nccl_result result = meet_all(child);
    child->watched = &child->ended;
    comm_settle(child, result);
    __atomic_store_n(split->made, child, __ATOMIC_RELEASE);
    return result;
}

static nccl_result split_run(nccl_task *task)
{
    split_task *split = (split_task *)task;
    nccl_comm *parent = task->comm;
    nccl_wire wire = meet_wire(parent, parent->control, false);
    split_card *cards = calloc((size_t)parent->size, sizeof(*cards));
    nccl_result result = init_fault(parent, "split");
    if (result == NCCL_SUCCESS && cards == NULL)
        result = NCCL_SYSTEM_ERROR;
    if (result == NCCL_SUCCESS)
        result = wire_all_gather(&wire, &split->card, sizeof(split->card), cards);
    if (result == NCCL_SUCCESS)
        result = split_make(split, cards);
    free(cards);
    return result;
}

static nccl_result split_add(nccl_comm *parent, split_card card, nccl_comm **made,
                             const nccl_config *given)
{
    split_task *task = calloc(1, sizeof(*task));
    if (task == NULL)
        return comm_fail(NCCL_SYSTEM_ERROR, "no memory");
    nccl_result result = config_read(given, &parent->config, &task->config);
    if (result != NCCL_SUCCESS) {
        free(task);
        return result;
    }
    task->task = (nccl_task){.comm = parent, .run = split_run};
    task->card = card;
    task->made = made;
    task->number = parent->children++;
    return group_add(&task->task);
}

EXPORT(nccl_result, ncclCommSplit, nccl_comm *parent, int color, int key, nccl_comm **made,
       nccl_config *config)
{
    group_open();
    nccl_result result = comm_enter_ready("ncclCommSplit", parent);
    if (result == NCCL_SUCCESS && (made == NULL || color < NCCL_SPLIT_NO_COLOR))
        result = comm_fail(NCCL_INVALID_ARGUMENT, "ncclCommSplit : color %d", color);
    if (result == NCCL_SUCCESS) {
        *made = NULL;
        result = split_add(parent, (split_card){color, key}, made, config);
    }
    return group_leave(result == NCCL_SUCCESS ? parent : NULL, result);
}

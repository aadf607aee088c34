/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: how communicators of its
 * NCCL come to be out of others. NCCL writes the new one when it is done, which may be late.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/fnv.h"
#include "nccl_config.h"
#include "nccl_group.h"
#include "nccl_init.h"
#include "nccl_meet.h"

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
    int rank;   /* of a shrunk one, which has no cards */
    int size;
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

/* It is the caller's when all is done, also if that has failed. */
static nccl_result split_make(split_task *split, int rank, int size)
{
    nccl_comm *parent = split->task.comm;
    nccl_comm *child = comm_make(rank, size, parent->device, &split->config);
    if (child == NULL)
        return comm_fail(NCCL_SYSTEM_ERROR, "no memory");
    uint64_t hash = fnv_add(fnv_add_text(FNV_START, parent->key), (uint64_t)split->number);
    snprintf(child->key, sizeof(child->key), "muster-standin-%016llx",
             (unsigned long long)fnv_add(hash, (uint64_t)split->card.color));
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
    int rank = 0, size = 0;
    nccl_result result = init_fault(parent, "split");
    if (result == NCCL_SUCCESS && cards == NULL)
        result = NCCL_SYSTEM_ERROR;
    if (result == NCCL_SUCCESS)
        result = wire_all_gather(&wire, &split->card, sizeof(split->card), cards);
    if (result == NCCL_SUCCESS)
        rank = split_place(cards, parent->rank, parent->size, &size);
    if (result == NCCL_SUCCESS && split->card.color != NCCL_SPLIT_NO_COLOR)
        result = split_make(split, rank, size);
    free(cards);
    return result;
}

static nccl_result split_add(split_task split, const nccl_config *given)
{
    split_task *task = malloc(sizeof(*task));
    if (task == NULL)
        return comm_fail(NCCL_SYSTEM_ERROR, "no memory");
    nccl_comm *parent = split.task.comm;
    nccl_result result = config_read(given, &parent->config, &split.config);
    if (result != NCCL_SUCCESS) {
        free(task);
        return result;
    }
    *split.made = NULL;
    *task = split;
    task->number = parent->children++;
    return group_add(&task->task);
}

EXPORT(nccl_result, ncclCommSplit, nccl_comm *parent, int color, int key, nccl_comm **made,
       nccl_config *config)
{
    group_open();
    nccl_result result = init_check_device();
    if (result == NCCL_SUCCESS)
        result = comm_enter_ready("ncclCommSplit", parent);
    if (result == NCCL_SUCCESS && (made == NULL || color < NCCL_SPLIT_NO_COLOR))
        result = comm_fail(NCCL_INVALID_ARGUMENT, "ncclCommSplit : color %d", color);
    if (result == NCCL_SUCCESS)
        result = split_add((split_task){.task = {.comm = parent, .run = split_run},
                                        .made = made,
                                        .card = {color, key}},
                           config);
    return group_leave(result == NCCL_SUCCESS ? parent : NULL, result);
}

/* ---- without some of its ranks, which take no part ---- */

static nccl_result shrink_run(nccl_task *task)
{
    split_task *split = (split_task *)task;
    nccl_result result = init_fault(task->comm, "shrink");
    return result == NCCL_SUCCESS ? split_make(split, split->rank, split->size) : result;
}

static nccl_result shrink_add(split_task split, const int *excluded, int count,
                              const nccl_config *config)
{
    int parent_rank = split.task.comm->rank;
    split.rank = parent_rank;
    split.size = split.task.comm->size - count;
    for (int i = 0; i < count; i++) {
        if (excluded[i] == parent_rank || excluded[i] < 0 || excluded[i] >= split.task.comm->size)
            return comm_fail(NCCL_INVALID_ARGUMENT, "ncclCommShrink : rank %d", excluded[i]);
        split.rank -= excluded[i] < parent_rank;
    }
    return split_add(split, config);
}

/* Of one that has failed only with the flag that gives up what it does. */
EXPORT(nccl_result, ncclCommShrink, nccl_comm *parent, int *excluded, int count, nccl_comm **made,
       nccl_config *config, int flags)
{
    group_open();
    bool stop = (flags & NCCL_SHRINK_ABORT) != 0;
    nccl_result result =
        stop ? comm_enter("ncclCommShrink", parent) : comm_enter_ready("ncclCommShrink", parent);
    if (result == NCCL_SUCCESS && (made == NULL || excluded == NULL || count < 1))
        result = comm_fail(NCCL_INVALID_ARGUMENT, "ncclCommShrink : %d ranks to leave out", count);
    if (result == NCCL_SUCCESS && stop)
        comm_stop(parent);
    if (result == NCCL_SUCCESS)
        result = shrink_add((split_task){.task = {.comm = parent, .run = shrink_run}, .made = made},
                            excluded, count, config);
    return group_leave(result == NCCL_SUCCESS ? parent : NULL, result);
}

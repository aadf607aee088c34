/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The weight-sync group.
 */
#include "sync.h"

#include <stdio.h>
#include <stdlib.h>

muster_status sync_meet(const char *url, int rank, int engines, muster_group **group)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.init_method = url;
    args.rank = rank;
    args.world_size = 1 + engines * RANKS_EACH;
    args.group_name = "weight sync";
    args.timeout_ms = 20000;
    return muster_init_process_group(group, &args);
}

int sync_engines(const muster_group *group)
{
    return (muster_group_size(group) - 1) / RANKS_EACH;
}

int sync_place(const muster_group *group)
{
    return (muster_group_rank(group) - 1) / RANKS_EACH;
}

/* What every rank makes of the weights comes to the trainer. */
static muster_status compare(muster_group *group, uint64_t mine)
{
    int size = muster_group_size(group);
    uint64_t *all = calloc((size_t)size, sizeof(*all));
    if (all == NULL)
        return MUSTER_ERR_NO_MEMORY;
    muster_status status = muster_gather(group, &mine, all, 1, MUSTER_UINT64, TRAINER, NULL);
    if (status == MUSTER_OK && muster_group_rank(group) == TRAINER)
        for (int r = 0; r < size; r++)
            if (all[r] != mine) {
                fprintf(stderr, "rank %d of the weight-sync group has other weights\n", r);
                status = MUSTER_ERR_MISMATCH;
            }
    free(all);
    return status;
}

muster_status sync_weights(muster_group *group, model *model, order *order)
{
    tensor tensors[NUM_TENSORS];
    model_tensors(model, tensors);
    muster_status status =
        muster_broadcast(group, order, sizeof(*order), MUSTER_UINT8, TRAINER, NULL);
    if (status != MUSTER_OK || order->version == 0)
        return status;
    for (int t = 0; t < NUM_TENSORS && status == MUSTER_OK; t++)
        status = muster_broadcast(group, tensors[t].data, tensors[t].count, tensors[t].type,
                                  TRAINER, NULL);
    model->version = order->version;
    return status == MUSTER_OK ? compare(group, model_checksum(model)) : status;
}

/* All ranks of the engines of which one is lost; the number of them. */
static size_t whole_engines(const muster_group *group, const int *lost, size_t num_lost, int *gone)
{
    size_t num_gone = 0;
    for (int r = 1; r < muster_group_size(group); r++)
        for (size_t i = 0; i < num_lost; i++)
            if ((lost[i] - 1) / RANKS_EACH == (r - 1) / RANKS_EACH) {
                gone[num_gone++] = r;
                break;
            }
    return num_gone;
}

/* An engine keeps its number, whatever ranks of the group it has now. */
static void name_engines(const muster_group *group, const int *gone, size_t num_gone)
{
    int first = 0;
    for (size_t i = 0; i < num_gone; i += RANKS_EACH)
        if (muster_group_rank_to_world(group, gone[i], &first) == MUSTER_OK)
            printf("trainer: engine %d is lost; going on without it\n", (first - 1) / RANKS_EACH);
}

static muster_status leave_out(muster_group **group, const int *lost, size_t num_lost)
{
    muster_group *rest = NULL;
    int *gone = calloc((size_t)muster_group_size(*group), sizeof(*gone));
    if (gone == NULL)
        return MUSTER_ERR_NO_MEMORY;
    size_t num_gone = whole_engines(*group, lost, num_lost, gone);
    muster_status status = muster_group_shrink(*group, gone, num_gone, NULL, &rest);
    if (status == MUSTER_OK) {
        if (muster_group_rank(rest) == TRAINER)
            name_engines(*group, gone, num_gone);
        muster_group_free(*group);
        *group = rest;
    }
    free(gone);
    return status;
}

/* Again where another one is lost meanwhile. */
muster_status sync_recover(muster_group **group)
{
    muster_status status;
    do {
        int *lost;
        size_t num_lost;
        status = muster_group_lost_ranks(*group, &lost, &num_lost);
        if (status != MUSTER_OK)
            return status;
        bool trainer = num_lost > 0 && lost[0] == TRAINER;
        status = trainer ? MUSTER_ERR_PEER_LOST : leave_out(group, lost, num_lost);
        muster_free(lost);
        if (trainer)
            return status;
    } while (status == MUSTER_ERR_PEER_LOST || status == MUSTER_ERR_MISMATCH);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster_group_shrink: the ranks that are left form a group.
 *
 * The parent may have failed, so nothing is asked of it but what does not change: its roster and
 * its store. The survivors meet under the number of the call, not under their list, so that those
 * who name different ranks find each other and say so.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/rank_set.h"
#include "group/lookout.h"
#include "group/making.h"

/* The ranks that are not failed, in their order. */
static muster_status list_survivors(const muster_group *parent, const bool *failed, membership *in)
{
    in->ranks = calloc((size_t)parent->size, sizeof(int));
    if (in->ranks == NULL)
        return error_no_memory((size_t)parent->size * sizeof(int), "a list of ranks");
    for (int r = 0; r < parent->size; r++)
        if (!failed[r])
            in->ranks[in->size++] = r;
    return MUSTER_OK;
}

static muster_status take_failed(const muster_group *parent, const int *ranks, size_t count,
                                 muster_group **group, membership *in)
{
    if (count > (size_t)parent->size)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "num_failed is %zu, more than the %d ranks that the group has", count,
                         parent->size);
    if (ranks == NULL && count > 0)
        return error_set(MUSTER_ERR_ARGUMENT, "failed_ranks is NULL, but num_failed is %zu", count);
    bool *failed = calloc((size_t)parent->size, sizeof(bool));
    muster_status status =
        failed == NULL ? error_no_memory((size_t)parent->size, "a set of ranks") : MUSTER_OK;
    if (status == MUSTER_OK && count > 0)
        status = making_check_list(parent, ranks, count, failed);
    if (status == MUSTER_OK && failed[parent->rank]) {
        *group = NULL;
        status = error_set(MUSTER_ERR_NOT_MEMBER, "this rank is among those that have failed");
    }
    if (status == MUSTER_OK)
        status = list_survivors(parent, failed, in);
    free(failed);
    return status;
}

static int position(const membership *in, int rank)
{
    int index = 0;
    while (in->ranks[index] != rank)
        index++;
    return index;
}

static muster_status meet_survivors(making *call, membership *in, muster_group **group)
{
    char list[1024], plan[1200];
    muster_group *parent = call->parent;
    lookout_some survivors = {&parent->ranks, in->ranks, in->size};
    call->participants = in->ranks;
    muster_status status = making_begin(call, "/shrink", position(in, parent->rank), in->size);
    if (status != MUSTER_OK)
        return status;
    call->meeting.lookout = lookout_those;
    call->meeting.lookout_user = &survivors;
    snprintf(plan, sizeof(plan), "the survivors %s",
             rank_list_text(in->ranks, (size_t)in->size, list, sizeof(list)));
    status = making_agree(call, plan);
    if (status == MUSTER_OK)
        status = making_form(call, in, 1, group);
    call->meeting.lookout = NULL;
    return status;
}

muster_status muster_group_shrink(muster_group *parent, const int *failed_ranks, size_t num_failed,
                                  const muster_group_args *args, muster_group **group)
{
    making call;
    membership in = {.label = ""};
    muster_group *made = NULL;
    muster_status status = making_start_on_any(&call, parent, "muster_group_shrink");
    if (status != MUSTER_OK)
        return status;
    if (group == NULL)
        status = error_set(MUSTER_ERR_ARGUMENT, "the place for the group is NULL");
    if (status == MUSTER_OK)
        status = take_failed(parent, failed_ranks, num_failed, group, &in);
    if (status == MUSTER_OK)
        status = making_take_arguments(&call, args);
    if (status == MUSTER_OK)
        status = meet_survivors(&call, &in, &made);
    status = making_finish(&call, status, &made, 1);
    free(in.ranks);
    if (status == MUSTER_OK)
        *group = made;
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster_new_group: the members meet alone.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fnv.h"
#include "group/making.h"
#include "group/namesake.h"
#include "base/rank_set.h"

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* What members that meet alone have in common: their list in ascending order, and the name given.
 * Others may use the same name among themselves. */
static char *meeting_key(const making *call, const int *sorted, int count)
{
    char *key = NULL;
    uint64_t hash = FNV_START;
    for (int i = 0; i < count; i++)
        hash = fnv_add(hash, (uint64_t)sorted[i]);
    const char *name = call->args.group_name != NULL ? call->args.group_name : "";
    int length = asprintf(&key, "/members/%s/%016llx", name, (unsigned long long)hash);
    return length < 0 ? NULL : key;
}

static muster_status meet_members(making *call, membership *in, const int *sorted,
                                  muster_group **group)
{
    char list[1024], plan[1200];
    char *key = meeting_key(call, sorted, in->size);
    if (key == NULL)
        return error_no_memory(64, "a key");
    int index = 0;
    while (sorted[index] != call->parent->rank)
        index++;
    call->participants = sorted;
    muster_status status = making_begin(call, key, index, in->size);
    free(key);
    if (status != MUSTER_OK)
        return status;
    snprintf(plan, sizeof(plan), "the members %s",
             rank_list_text(in->ranks, (size_t)in->size, list, sizeof(list)));
    status = making_agree(call, plan);
    if (status != MUSTER_OK)
        return status;
    namesake same_name;
    status = namesake_begin(&same_name, call, sorted, in);
    status = status == MUSTER_OK ? making_form(call, in, 1, group)
                                 : exchange_settle(&call->meeting, status);
    namesake_end(&same_name);
    call->meeting.lookout = NULL;
    return status;
}

muster_status muster_new_group(muster_group *parent, const int *ranks, size_t num_ranks,
                               const muster_group_args *args, muster_group **group)
{
    making call;
    membership in = {.label = ""};
    int *sorted = NULL;
    muster_group *made = NULL;
    muster_status status = making_start(&call, parent, "muster_new_group");
    if (status != MUSTER_OK)
        return status;
    bool *seen = calloc((size_t)parent->size, sizeof(bool));
    if (group == NULL)
        status = error_set(MUSTER_ERR_ARGUMENT, "the place for the group is NULL");
    else if (seen == NULL)
        status = error_no_memory((size_t)parent->size, "a set of ranks");
    if (status == MUSTER_OK)
        status = making_check_list(parent, ranks, num_ranks, seen);
    if (status == MUSTER_OK)
        status = making_take_arguments(&call, args);
    if (status == MUSTER_OK && !seen[parent->rank]) {
        *group = NULL;
        status = error_set(MUSTER_ERR_NOT_MEMBER, "this rank is not among the members");
    }
    free(seen);
    if (status == MUSTER_OK)
        status = making_copy_list(ranks, num_ranks, &in.ranks);
    if (status == MUSTER_OK)
        status = making_copy_list(ranks, num_ranks, &sorted);
    if (status == MUSTER_OK) {
        in.size = (int)num_ranks;
        qsort(sorted, num_ranks, sizeof(int), ascending);
        status = meet_members(&call, &in, sorted, &made);
    }
    status = making_finish(&call, status, &made, 1);
    free(sorted);
    free(in.ranks);
    if (status == MUSTER_OK)
        *group = made;
    return status;
}

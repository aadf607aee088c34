/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sub-groups of a group, all ranks of which take part: by enumeration, and the regular and
 * orthogonal ones.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fnv.h"
#include "group/making.h"
#include "base/rank_set.h"

/* All lists in words, as far as they fit, and a hash over all of them. */
static void enumeration_text(const int *const *lists, const size_t *sizes, size_t count, char *text,
                             size_t size)
{
    uint64_t hash = FNV_START;
    size_t used = (size_t)snprintf(text, size, "the lists");
    for (size_t i = 0; i < count; i++) {
        char list[256];
        rank_list_text(lists[i], lists[i] == NULL ? 0 : sizes[i], list, sizeof(list));
        if (used + strlen(list) + 32 < size)
            used += (size_t)snprintf(text + used, size - used, " %s", list);
        for (size_t r = 0; lists[i] != NULL && r <= sizes[i]; r++)
            hash = fnv_add(hash, r < sizes[i] ? (uint64_t)lists[i][r] + 1 : 0);
    }
    if (used + 32 < size && used > size / 2)
        snprintf(text + used, size - used, " (%016llx)", (unsigned long long)hash);
}

/* Finds the list that the caller is in and copies it; *in stays empty where it is in none. */
static muster_status find_membership(const muster_group *parent, const int *const *lists,
                                     const size_t *sizes, size_t num_lists, membership *in)
{
    bool *seen = calloc((size_t)parent->size, sizeof(bool));
    muster_status status =
        seen == NULL ? error_no_memory((size_t)parent->size, "a set of ranks") : MUSTER_OK;
    for (size_t i = 0; status == MUSTER_OK && i < num_lists; i++) {
        bool before = seen[parent->rank];
        status = making_check_list(parent, lists[i], sizes[i], seen);
        if (status != MUSTER_OK)
            error_prefix(status, "rank %d gave list %zu: ", parent->rank, i);
        if (status == MUSTER_OK && !before && seen[parent->rank]) {
            in->size = (int)sizes[i];
            status = making_copy_list(lists[i], sizes[i], &in->ranks);
        }
    }
    free(seen);
    return status;
}

/* Whether the lists divide the parent into groups of two or more, each in the parent's order; color
 * is the number of this rank's list. */
static bool lists_split(const muster_group *parent, const int *const *lists, const size_t *sizes,
                        size_t num_lists, int *color)
{
    size_t members = 0;
    bool splits = true;
    for (size_t i = 0; i < num_lists; i++) {
        members += sizes[i];
        splits = splits && sizes[i] > 1;
        for (size_t r = 0; r < sizes[i]; r++) {
            splits = splits && (r == 0 || lists[i][r] > lists[i][r - 1]);
            if (lists[i][r] == parent->rank)
                *color = (int)i;
        }
    }
    return splits && members == (size_t)parent->size;
}

muster_status muster_new_subgroups_by_enumeration(muster_group *parent, const int *const *lists,
                                                  const size_t *sizes, size_t num_lists,
                                                  const muster_group_args *args,
                                                  muster_group **group)
{
    making call;
    membership in = {.label = ""};
    char plan[1024];
    muster_status status = making_start(&call, parent, "muster_new_subgroups_by_enumeration");
    if (status != MUSTER_OK)
        return status;
    status = making_begin_with_all(&call, args);
    if (call.meeting.store == NULL)
        return making_finish(&call, status, NULL, 0);
    if (status == MUSTER_OK && (lists == NULL || sizes == NULL || num_lists == 0 || group == NULL))
        status = error_set(MUSTER_ERR_ARGUMENT, "rank %d: %s", parent->rank,
                           group == NULL    ? "the place for the group is NULL"
                           : num_lists == 0 ? "there is no list of ranks; give at least one"
                                            : "lists or sizes is NULL");
    if (status == MUSTER_OK) {
        enumeration_text(lists, sizes, num_lists, plan, sizeof(plan));
        status = making_agree(&call, plan);
    }
    if (status == MUSTER_OK)
        status = find_membership(parent, lists, sizes, num_lists, &in);
    if (status == MUSTER_OK)
        in.splits = lists_split(parent, lists, sizes, num_lists, &in.color);
    return making_form_one(&call, status, &in, group);
}

static muster_status check_sub_group(const muster_group *world, size_t size, muster_group **regular,
                                     muster_group **orthogonal)
{
    if (regular == NULL || orthogonal == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "rank %d: the place for the %s group is NULL",
                         world->rank, regular == NULL ? "regular" : "orthogonal");
    if (size < 1 || size > (size_t)world->size)
        return error_set(
            MUSTER_ERR_ARGUMENT,
            "sub-groups of %zu ranks can't be made of a group of %d; take a size from 1 "
            "to %d that divides it",
            size, world->size, world->size);
    if ((size_t)world->size % size != 0)
        return error_set(
            MUSTER_ERR_ARGUMENT,
            "the group's %d ranks can't be divided into sub-groups of %zu, %d would be "
            "left over; take a size that divides %d",
            world->size, size, (int)((size_t)world->size % size), world->size);
    return MUSTER_OK;
}

/* count ranks from first on, step apart. */
static muster_status stride(membership *in, const char *label, int first, int step, int count,
                            int color)
{
    in->label = label;
    in->splits = count > 1;
    in->color = color;
    in->size = count;
    in->ranks = calloc((size_t)count, sizeof(int));
    if (in->ranks == NULL)
        return error_no_memory((size_t)count * sizeof(int), "a list of ranks");
    for (int i = 0; i < count; i++)
        in->ranks[i] = first + i * step;
    return MUSTER_OK;
}

muster_status muster_create_sub_group(muster_group *world, size_t size, const char *asked,
                                      muster_group **regular, muster_group **orthogonal)
{
    making call;
    membership in[2] = {{0}};
    muster_group *made[2] = {NULL, NULL};
    char plan[96];
    muster_group_args args = MUSTER_GROUP_ARGS_INIT;
    args.backend = asked;
    muster_status status = making_start(&call, world, "muster_create_sub_group");
    if (status != MUSTER_OK)
        return status;
    status = making_begin_with_all(&call, &args);
    if (call.meeting.store == NULL)
        return making_finish(&call, status, NULL, 0);
    snprintf(plan, sizeof(plan), "sub-groups of %zu", size);
    if (status == MUSTER_OK)
        status = making_agree(&call, plan);
    if (status == MUSTER_OK)
        status = check_sub_group(world, size, regular, orthogonal);
    if (status == MUSTER_OK)
        status = stride(&in[0], "regular ", world->rank / (int)size * (int)size, 1, (int)size,
                        world->rank / (int)size);
    if (status == MUSTER_OK)
        status = stride(&in[1], "orthogonal ", world->rank % (int)size, (int)size,
                        world->size / (int)size, world->rank % (int)size);
    status = status == MUSTER_OK ? making_form(&call, in, 2, made)
                                 : exchange_settle(&call.meeting, status);
    status = making_finish(&call, status, made, 2);
    free(in[0].ranks);
    free(in[1].ranks);
    if (status == MUSTER_OK) {
        *regular = made[0];
        *orthogonal = made[1];
    }
    return status;
}

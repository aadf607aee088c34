/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gathering objects, which are byte strings. On the wire: the sizes of a rank's objects in the
 * narrowest integers that hold those of all ranks, then their bytes. The result's objects point
 * into what was received.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collective/gather.h"
#include "collective/narrow.h"

/* The struct that the caller sees, and what it points to. */
typedef struct object_result {
    muster_objects seen;
    size_t *rank_offsets;
    muster_blob *objects;
    unsigned char *payload;
} object_result;

static muster_status measure(const void *argument, gather_share *share)
{
    const muster_object_list *mine = argument;
    *share = (gather_share){.low = INT64_MAX, .high = INT64_MIN};
    if (mine == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "its objects are NULL");
    if (mine->num_objects > 0 && mine->objects == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "it has %zu objects, but the array is NULL",
                         mine->num_objects);
    for (size_t i = 0; i < mine->num_objects; i++) {
        muster_blob object = mine->objects[i];
        if (object.size > 0 && object.data == NULL)
            return error_set(MUSTER_ERR_ARGUMENT, "object %zu of %zu bytes is NULL", i,
                             object.size);
        if (object.size > SIZE_MAX / 16 - share->elements)
            return error_set(MUSTER_ERR_ARGUMENT,
                             "object %zu of %zu bytes is more than memory can hold", i,
                             object.size);
        share->elements += object.size;
        if (object.size > share->longest)
            share->longest = object.size;
    }
    share->items = mine->num_objects;
    return MUSTER_OK;
}

static void free_result(void *freed)
{
    object_result *result = freed;
    if (result == NULL)
        return;
    free(result->rank_offsets);
    free(result->objects);
    free(result->payload);
    free(result);
}

static muster_status new_result(const gather *g, object_result **result)
{
    size_t n = (size_t)g->group->size;
    object_result *made = calloc(1, sizeof(*made));
    if (made != NULL) {
        made->rank_offsets = calloc(n + 1, sizeof(size_t));
        made->objects = calloc(g->items + 1, sizeof(muster_blob));
    }
    if (made == NULL || made->rank_offsets == NULL || made->objects == NULL) {
        free_result(made);
        return error_no_memory((g->items + 1) * sizeof(muster_blob), "the objects of all ranks");
    }
    made->seen = (muster_objects){.num_ranks = n,
                                  .num_objects = g->items,
                                  .num_bytes = g->elements,
                                  .rank_offsets = made->rank_offsets,
                                  .objects = made->objects};
    *result = made;
    return MUSTER_OK;
}

static void write_mine(const gather *g, const muster_object_list *mine, int width)
{
    int me = g->group->rank;
    unsigned char *sizes = gather_items(g, me);
    unsigned char *bytes = gather_elements(g, me, (size_t)width);
    for (size_t i = 0; i < mine->num_objects; i++) {
        muster_blob object = mine->objects[i];
        narrow_write_unsigned(sizes + i * (size_t)width, width, &object.size, 1);
        if (object.size > 0)
            memcpy(bytes, object.data, object.size);
        bytes += object.size;
    }
}

static muster_status odd_sizes(int rank, const gather_share *share)
{
    return error_set(MUSTER_ERR_PROTOCOL,
                     "the sizes that rank %d sent do not add up to its %llu bytes", rank,
                     (unsigned long long)share->elements);
}

/* Sizes come from the wire, so they must add up to what the rank had announced. */
static muster_status read_objects(const gather *g, int rank, int width, object_result *result)
{
    const gather_share *share = &g->shares[rank];
    const unsigned char *bytes = gather_elements(g, rank, (size_t)width);
    muster_blob *objects = result->objects + result->rank_offsets[rank];
    uint64_t left = share->elements;
    for (size_t i = 0; i < share->items; i++) {
        uint64_t size;
        narrow_read_unsigned(gather_items(g, rank) + i * (size_t)width, width, &size, 1);
        if (size > left)
            return odd_sizes(rank, share);
        objects[i] = (muster_blob){bytes, (size_t)size};
        bytes += size;
        left -= size;
    }
    result->rank_offsets[rank + 1] = result->rank_offsets[rank] + (size_t)share->items;
    return left == 0 ? MUSTER_OK : odd_sizes(rank, share);
}

static muster_status collect(gather *g, const void *argument, void **result)
{
    int width = narrow_width_unsigned(g->longest);
    object_result *made = NULL;
    muster_status status = g->receives ? new_result(g, &made) : MUSTER_OK;
    *result = made;
    status = gather_prepare(g, (size_t)width, 1, status);
    if (status != MUSTER_OK)
        return status;
    write_mine(g, argument, width);
    status = gather_carry(g);
    for (int r = 0; status == MUSTER_OK && g->receives && r < g->group->size; r++)
        status = read_objects(g, r, width, made);
    if (status == MUSTER_OK && g->receives) {
        made->payload = g->payload;
        g->payload = NULL;
    }
    return status;
}

static const gather_kind objects = {MESSAGE_GATHER_OBJECTS, measure, collect, free_result};

muster_status muster_all_gather_objects(muster_group *group, const muster_object_list *mine,
                                        muster_objects **all)
{
    void *result = NULL;
    muster_status status = gather_call(group, &objects, "muster_all_gather_objects", mine,
                                       GATHER_TO_ALL, all != NULL, &result);
    if (status == MUSTER_OK)
        *all = result;
    return status;
}

muster_status muster_gather_objects(muster_group *group, const muster_object_list *mine, int root,
                                    muster_objects **all)
{
    void *result = NULL;
    muster_status status =
        gather_call(group, &objects, "muster_gather_objects", mine, root, all != NULL, &result);
    if (status == MUSTER_OK)
        *all = result;
    return status;
}

void muster_objects_free(muster_objects *gathered)
{
    free_result(gathered);
}

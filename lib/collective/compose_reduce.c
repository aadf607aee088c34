/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives made of messages: the reductions.
 */
#include "config.h"

#include "collective/compose.h"

#include <stdlib.h>

#include "reduce/reduce.h"

/* Up to so many bytes of all ranks together a reduction takes one step instead of two, at the price
 * of n times the bytes. Ranks of one host wait for each other's turn on its cores in each step. */
enum { ONE_STEP_BYTES = 1 << 16, ONE_STEP_BYTES_ON_ONE_HOST = 1 << 20 };

/* The blocks of all ranks that one rank reduces, but not its own, which stays where it is. */
typedef struct heap {
    char *blocks;
    layout places;
    reduce_input *inputs;
    double *scalars;
} heap;

static void heap_free(heap *all)
{
    free(all->blocks);
    free(all->inputs);
    free(all->scalars);
    layout_free(&all->places);
}

/* Blocks of count elements, called told ones in messages. */
static muster_status heap_new(heap *all, muster_group *group, const message_label *label,
                              size_t count, size_t told)
{
    size_t n = (size_t)group->size, size = muster_type_size(label->type);
    bool fits = count <= (SIZE_MAX - 1) / size / n;
    size_t bytes = fits ? n * count * size + 1 : SIZE_MAX;
    bool has_layout = layout_equal(&all->places, n, fits ? count : 0, size);
    all->blocks = fits ? malloc(bytes) : NULL;
    all->inputs = calloc(n, sizeof(*all->inputs));
    all->scalars = calloc(n, sizeof(*all->scalars));
    if (!has_layout || all->blocks == NULL || all->inputs == NULL || all->scalars == NULL) {
        heap_free(all);
        return compose_no_memory(group, bytes, "what is reduced");
    }
    for (size_t r = 0; r < n; r++)
        all->places.counts[r] = told;
    return MUSTER_OK;
}

/* Reduces it with this rank's own block into out. */
static void heap_reduce(heap *all, const muster_group *group, const message_label *label,
                        const void *own, void *out)
{
    size_t n = (size_t)group->size, me = (size_t)group->rank;
    for (size_t r = 0; r < n; r++)
        all->inputs[r] = (reduce_input){all->blocks + all->places.offsets[r], all->scalars[r]};
    all->inputs[me] = (reduce_input){own, label->scalar};
    reduce_arrays(out, all->inputs, n, all->places.bytes[me] / muster_type_size(label->type),
                  label->type, label->redop);
}

/* Every rank gets its block, or where slices is NULL the whole array, of every other rank's array,
 * and reduces it into out. */
static muster_status reduce_mine(muster_group *group, const message_label *label, const char *send,
                                 const layout *slices, void *out, deadline end)
{
    size_t me = (size_t)group->rank, count = label->count, told = label->count, offset = 0;
    if (slices != NULL) {
        count = slices->bytes[me] / muster_type_size(label->type);
        told = slices->counts[me];
        offset = slices->offsets[me];
    }
    heap all;
    muster_status status = heap_new(&all, group, label, count, told);
    if (status != MUSTER_OK)
        return status;
    const compose_blocks blocks = {send, slices, all.blocks, &all.places, all.scalars};
    status = compose_exchange(group, label, &blocks, end);
    if (status == MUSTER_OK)
        heap_reduce(&all, group, label, send + offset, out);
    heap_free(&all);
    return status;
}

static bool is_small(const muster_group *group, const message_label *label)
{
    size_t n = (size_t)group->size;
    size_t most = (group->one_host ? ONE_STEP_BYTES_ON_ONE_HOST : ONE_STEP_BYTES) / n;
    return label->count <= most / muster_type_size(label->type) || label->count < n;
}

muster_status compose_reduce_scatter(muster_group *group, const message_label *label,
                                     const void *send, void *receive, const layout *blocks,
                                     deadline end)
{
    return reduce_mine(group, label, send, blocks, receive, end);
}

static muster_status new_slices(layout *slices, muster_group *group, const message_label *label)
{
    size_t n = (size_t)group->size;
    if (layout_slices(slices, n, label->count, muster_type_size(label->type)))
        return MUSTER_OK;
    return compose_no_memory(group, 3 * n * sizeof(size_t), "a layout");
}

muster_status compose_all_reduce(muster_group *group, const message_label *label, const void *send,
                                 void *receive, deadline end)
{
    if (is_small(group, label))
        return reduce_mine(group, label, send, NULL, receive, end);
    layout slices;
    muster_status status = new_slices(&slices, group, label);
    if (status != MUSTER_OK)
        return status;
    status = reduce_mine(group, label, send, &slices, (char *)receive + slices.offsets[group->rank],
                         end);
    if (status == MUSTER_OK)
        status = compose_all_gather(group, label, receive, &slices, end);
    layout_free(&slices);
    return status;
}

static muster_status reduce_at_root(muster_group *group, const message_label *label,
                                    const void *send, void *receive, deadline end)
{
    heap all;
    bool here = group->rank == label->root;
    muster_status status = heap_new(&all, group, label, label->count, label->count);
    if (status != MUSTER_OK)
        return status;
    status = compose_gather(group, label, all.blocks, send, &all.places, all.scalars, end);
    if (status == MUSTER_OK && here)
        heap_reduce(&all, group, label, send, receive);
    heap_free(&all);
    return status;
}

/* Where this rank is not root its slice is reduced into mine. */
static muster_status reduce_by_slices(muster_group *group, const message_label *label,
                                      const void *send, void *receive, const layout *slices,
                                      deadline end)
{
    size_t bytes = slices->bytes[group->rank];
    bool here = group->rank == label->root;
    char *mine = here ? (char *)receive + slices->offsets[group->rank] : malloc(bytes + 1);
    if (mine == NULL)
        return compose_no_memory(group, bytes, "a slice");
    muster_status status = reduce_mine(group, label, send, slices, mine, end);
    if (status == MUSTER_OK)
        status = compose_gather(group, label, receive, mine, slices, NULL, end);
    if (!here)
        free(mine);
    return status;
}

muster_status compose_reduce(muster_group *group, const message_label *label, const void *send,
                             void *receive, deadline end)
{
    if (is_small(group, label))
        return reduce_at_root(group, label, send, receive, end);
    layout slices;
    muster_status status = new_slices(&slices, group, label);
    if (status != MUSTER_OK)
        return status;
    status = reduce_by_slices(group, label, send, receive, &slices, end);
    layout_free(&slices);
    return status;
}

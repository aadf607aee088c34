/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives made of messages: barrier and broadcast.
 */
#include "config.h"

#include "collective/compose.h"

/* From here on a broadcast to more than one other rank is a scatter and an all_gather: each rank
 * sends the buffer once and a bit, where the tree's root sends it once for each level. Ranks of one
 * host share its memory and its cores, so that more messages gain nothing for long. */
enum { SLICES_BYTES = 65536, SLICES_BYTES_ON_ONE_HOST = 32 << 20 };

muster_status compose_barrier(muster_group *group, const message_label *label, deadline end)
{
    int n = group->size, me = group->rank;
    for (int step = 1; step < n; step *= 2) {
        message pair[2];
        message_to(&pair[0], (me + step) % n, label, NULL, 0);
        message_from(&pair[1], (me - step + n) % n, label, NULL, 0);
        muster_status status = messages_carry(group, pair, 2, end);
        if (status != MUSTER_OK)
            return status;
    }
    return MUSTER_OK;
}

static muster_status broadcast_by_tree(muster_group *group, const message_label *label,
                                       void *buffer, size_t bytes, deadline end)
{
    int n = group->size;
    int place = (group->rank - label->root + n) % n; /* root is at place 0 */
    int reach = 1;
    while (reach < n && !(place & reach))
        reach *= 2;
    muster_status status = MUSTER_OK;
    if (place != 0) {
        message from;
        message_from(&from, (group->rank - reach + n) % n, label, buffer, bytes);
        status = messages_carry(group, &from, 1, end);
    }
    message children[32];
    size_t count = 0;
    for (int step = reach / 2; status == MUSTER_OK && step >= 1; step /= 2)
        if (place + step < n)
            message_to(&children[count++], (group->rank + step) % n, label, buffer, bytes);
    return status == MUSTER_OK ? messages_carry(group, children, count, end) : status;
}

static muster_status broadcast_by_slices(muster_group *group, const message_label *label,
                                         char *buffer, deadline end)
{
    size_t n = (size_t)group->size;
    layout slices;
    if (!layout_slices(&slices, n, label->count, muster_type_size(label->type)))
        return compose_no_memory(group, 3 * n * sizeof(size_t), "a layout");
    muster_status status =
        compose_scatter(group, label, buffer, buffer + slices.offsets[group->rank], &slices, end);
    if (status == MUSTER_OK)
        status = compose_all_gather(group, label, buffer, &slices, end);
    layout_free(&slices);
    return status;
}

muster_status compose_broadcast(muster_group *group, const message_label *label, void *buffer,
                                deadline end)
{
    size_t bytes = label->count * muster_type_size(label->type);
    size_t long_from = group->one_host ? SLICES_BYTES_ON_ONE_HOST : SLICES_BYTES;
    if (group->size > 2 && bytes >= long_from)
        return broadcast_by_slices(group, label, buffer, end);
    return broadcast_by_tree(group, label, buffer, bytes, end);
}

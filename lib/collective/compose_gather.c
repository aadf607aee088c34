/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives made of messages: those that only move blocks. Every block goes straight from the
 * rank that has it to the one that needs it.
 */
#include "config.h"

#include "collective/compose.h"

/* Messages to or from a root at a time. */
enum { ROOT_MESSAGES = 32 };

muster_status compose_all_gather(muster_group *group, const message_label *label, void *receive,
                                 const layout *blocks, deadline end)
{
    const compose_blocks all = {
        .send = (char *)receive + blocks->offsets[group->rank], .receive = receive, .in = blocks};
    return compose_exchange(group, label, &all, end);
}

muster_status compose_all_gather_equal(muster_group *group, const message_label *label,
                                       void *receive, size_t bytes, deadline end)
{
    size_t n = (size_t)group->size;
    layout blocks;
    if (!layout_equal(&blocks, n, bytes, 1))
        return compose_no_memory(group, 3 * n * sizeof(size_t), "a layout");
    for (size_t r = 0; r < n; r++)
        blocks.counts[r] = label->count;
    muster_status status = compose_all_gather(group, label, receive, &blocks, end);
    layout_free(&blocks);
    return status;
}

/* The label of what travels between root and a rank. */
static message_label label_of(const message_label *label, const layout *blocks, int rank)
{
    message_label one = *label;
    one.count = blocks->counts[rank];
    return one;
}

muster_status compose_gather(muster_group *group, const message_label *label, void *receive,
                             const void *mine, const layout *blocks, double *scalars, deadline end)
{
    int n = group->size, me = group->rank;
    message messages[ROOT_MESSAGES];
    muster_status status = MUSTER_OK;
    if (me != label->root) {
        message_label one = label_of(label, blocks, me);
        message_to(messages, label->root, &one, mine, blocks->bytes[me]);
        return messages_carry(group, messages, 1, end);
    }
    for (int first = 1; status == MUSTER_OK && first < n; first += ROOT_MESSAGES) {
        size_t count = 0;
        for (int step = first; step < n && step < first + ROOT_MESSAGES; step++) {
            int from = (me + step) % n;
            message_label one = label_of(label, blocks, from);
            message_from(&messages[count++], from, &one, (char *)receive + blocks->offsets[from],
                         blocks->bytes[from]);
        }
        status = messages_carry(group, messages, count, end);
        for (size_t i = 0; scalars != NULL && i < count; i++)
            scalars[messages[i].peer] = messages[i].label.scalar;
    }
    return status;
}

muster_status compose_scatter(muster_group *group, const message_label *label, const void *send,
                              void *mine, const layout *blocks, deadline end)
{
    int n = group->size, me = group->rank;
    message messages[ROOT_MESSAGES];
    muster_status status = MUSTER_OK;
    if (me != label->root) {
        message_label one = label_of(label, blocks, me);
        message_from(messages, label->root, &one, mine, blocks->bytes[me]);
        return messages_carry(group, messages, 1, end);
    }
    for (int first = 1; status == MUSTER_OK && first < n; first += ROOT_MESSAGES) {
        size_t count = 0;
        for (int step = first; step < n && step < first + ROOT_MESSAGES; step++) {
            int to = (me + step) % n;
            message_label one = label_of(label, blocks, to);
            message_to(&messages[count++], to, &one, (const char *)send + blocks->offsets[to],
                       blocks->bytes[to]);
        }
        status = messages_carry(group, messages, count, end);
    }
    return status;
}

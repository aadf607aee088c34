/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives made of messages: the algorithms.
 */
#include "config.h"

#include "collective/compose.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "group/failure.h"
#include "collective/reduce.h"

/* Up to here all_reduce takes one step instead of two, at the price of n times the bytes. */
enum { ALL_REDUCE_ONE_STEP_BYTES = 16384 };

message_label compose_label(muster_group *group, message_kind kind)
{
    message_label label = {.kind = kind,
                           .type = MUSTER_UINT8,
                           .redop = MUSTER_SUM,
                           .root = -1,
                           .sequence = ++group->sequence};
    atomic_store(&group->running, label.sequence);
    return label;
}

deadline compose_deadline(const muster_group *group)
{
    return deadline_in(atomic_load(&group->timeout_ms));
}

/* A group that can't go on for lack of memory has failed: its ranks are out of step. */
static muster_status no_memory(muster_group *group, size_t bytes, const char *what)
{
    error_no_memory(bytes, what);
    return failure_raise(group, MUSTER_ERR_NO_MEMORY);
}

static message *new_messages(size_t count)
{
    return count <= SIZE_MAX / sizeof(message) ? malloc(count * sizeof(message)) : NULL;
}

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

muster_status compose_broadcast(muster_group *group, const message_label *label, void *buffer,
                                size_t bytes, deadline end)
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

muster_status compose_all_gather(muster_group *group, const message_label *label, void *receive,
                                 const size_t *bytes, const size_t *offsets, const size_t *counts,
                                 deadline end)
{
    int n = group->size, me = group->rank;
    if (n == 1)
        return MUSTER_OK;
    size_t num_messages = 2 * ((size_t)n - 1);
    message *messages = new_messages(num_messages);
    if (messages == NULL)
        return no_memory(group, num_messages * sizeof(message), "messages");
    message_label mine = *label;
    mine.count = counts[me];
    /* Each rank begins with its neighbour, so that not all of them fall upon rank 0 at once. */
    for (int step = 1; step < n; step++) {
        int to = (me + step) % n, from = (me - step + n) % n;
        message_label theirs = *label;
        theirs.count = counts[from];
        message_to(&messages[2 * step - 2], to, &mine, (char *)receive + offsets[me], bytes[me]);
        message_from(&messages[2 * step - 1], from, &theirs, (char *)receive + offsets[from],
                     bytes[from]);
    }
    muster_status status = messages_carry(group, messages, num_messages, end);
    free(messages);
    return status;
}

muster_status compose_gather(muster_group *group, const message_label *label, void *receive,
                             const void *mine, const size_t *bytes, const size_t *offsets,
                             deadline end)
{
    int n = group->size, me = group->rank;
    message_label from_me = *label;
    from_me.count = bytes[me];
    if (me != label->root) {
        message to;
        message_to(&to, label->root, &from_me, mine, bytes[me]);
        return messages_carry(group, &to, 1, end);
    }
    message *messages = new_messages((size_t)n);
    if (messages == NULL)
        return no_memory(group, (size_t)n * sizeof(message), "messages");
    size_t count = 0;
    for (int step = 1; step < n; step++) {
        int from = (me + step) % n;
        message_label theirs = *label;
        theirs.count = bytes[from];
        message_from(&messages[count++], from, &theirs, (char *)receive + offsets[from],
                     bytes[from]);
    }
    muster_status status = messages_carry(group, messages, count, end);
    free(messages);
    return status;
}

/* bytes, offsets and counts of blocks whose sizes only differ by rank, in one block of memory. */
static size_t *new_layout(int n)
{
    return calloc(3 * (size_t)n, sizeof(size_t));
}

muster_status compose_all_gather_equal(muster_group *group, const message_label *label,
                                       void *receive, size_t bytes, deadline end)
{
    size_t n = (size_t)group->size;
    size_t *layout = new_layout(group->size);
    if (layout == NULL)
        return no_memory(group, 3 * n * sizeof(size_t), "a layout");
    for (size_t r = 0; r < n; r++) {
        layout[r] = bytes;
        layout[n + r] = r * bytes;
        layout[2 * n + r] = label->count;
    }
    muster_status status =
        compose_all_gather(group, label, receive, layout, layout + n, layout + 2 * n, end);
    free(layout);
    return status;
}

/* Folds n arrays of count elements that lie one behind the other into the first. */
static void fold_all(char *blocks, size_t n, size_t count, const message_label *label)
{
    size_t bytes = count * muster_type_size(label->type);
    for (size_t r = 1; r < n; r++)
        reduce_fold(blocks, blocks + r * bytes, count, label->type, label->redop);
}

static muster_status all_reduce_in_one_step(muster_group *group, const message_label *label,
                                            const void *send, void *receive, size_t bytes,
                                            deadline end)
{
    size_t n = (size_t)group->size;
    char *blocks = malloc(n * bytes);
    if (blocks == NULL)
        return no_memory(group, n * bytes, "scratch");
    memcpy(blocks + (size_t)group->rank * bytes, send, bytes);
    muster_status status = compose_all_gather_equal(group, label, blocks, bytes, end);
    if (status == MUSTER_OK) {
        fold_all(blocks, n, label->count, label);
        memcpy(receive, blocks, bytes);
    }
    free(blocks);
    return status;
}

/* Slice r of count elements: as even as can be, the first ones one longer. */
static void slice_of(size_t count, size_t n, size_t r, size_t size, size_t *offset, size_t *bytes)
{
    size_t base = count / n, longer = count % n;
    *offset = (r * base + (r < longer ? r : longer)) * size;
    *bytes = (base + (r < longer)) * size;
}

/* Every rank gets its slice of every other rank's array: blocks has one place a rank. */
static muster_status scatter_slices(muster_group *group, const message_label *label,
                                    const char *send, char *blocks, deadline end)
{
    size_t n = (size_t)group->size, me = (size_t)group->rank, size = muster_type_size(label->type);
    size_t my_offset, my_bytes, count = 0;
    slice_of(label->count, n, me, size, &my_offset, &my_bytes);
    message *messages = new_messages(2 * n);
    if (messages == NULL)
        return no_memory(group, 2 * n * sizeof(message), "messages");
    memcpy(blocks + me * my_bytes, send + my_offset, my_bytes);
    for (size_t step = 1; step < n; step++) {
        size_t to = (me + step) % n, from = (me + n - step) % n, offset, bytes;
        slice_of(label->count, n, to, size, &offset, &bytes);
        message_to(&messages[count++], (int)to, label, send + offset, bytes);
        message_from(&messages[count++], (int)from, label, blocks + from * my_bytes, my_bytes);
    }
    muster_status status = messages_carry(group, messages, count, end);
    free(messages);
    return status;
}

static muster_status gather_slices(muster_group *group, const message_label *label, void *receive,
                                   deadline end)
{
    size_t n = (size_t)group->size;
    size_t *layout = new_layout(group->size);
    if (layout == NULL)
        return no_memory(group, 3 * n * sizeof(size_t), "a layout");
    for (size_t r = 0; r < n; r++) {
        slice_of(label->count, n, r, muster_type_size(label->type), &layout[n + r], &layout[r]);
        layout[2 * n + r] = label->count;
    }
    muster_status status =
        compose_all_gather(group, label, receive, layout, layout + n, layout + 2 * n, end);
    free(layout);
    return status;
}

static muster_status all_reduce_by_slices(muster_group *group, const message_label *label,
                                          const void *send, void *receive, deadline end)
{
    size_t n = (size_t)group->size, size = muster_type_size(label->type), offset, bytes;
    slice_of(label->count, n, (size_t)group->rank, size, &offset, &bytes);
    char *blocks = malloc(n * bytes + 1);
    if (blocks == NULL)
        return no_memory(group, n * bytes, "scratch");
    muster_status status = scatter_slices(group, label, send, blocks, end);
    if (status == MUSTER_OK) {
        fold_all(blocks, n, bytes / size, label);
        memcpy((char *)receive + offset, blocks, bytes);
        status = gather_slices(group, label, receive, end);
    }
    free(blocks);
    return status;
}

muster_status compose_all_reduce(muster_group *group, const message_label *label, const void *send,
                                 void *receive, deadline end)
{
    size_t bytes = label->count * muster_type_size(label->type);
    if (group->size == 1) {
        if (send != receive && bytes > 0)
            memcpy(receive, send, bytes);
        return MUSTER_OK;
    }
    if (bytes == 0)
        return compose_all_gather_equal(group, label, NULL, 0, end);
    if (bytes <= ALL_REDUCE_ONE_STEP_BYTES || label->count < (uint64_t)group->size)
        return all_reduce_in_one_step(group, label, send, receive, bytes, end);
    return all_reduce_by_slices(group, label, send, receive, end);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What all collectives begin with, and the exchange that most are made of.
 */
#include "config.h"

#include "collective/compose.h"

#include "base/error.h"
#include "group/failure.h"

/* Ranks that are sent to and received from at a time: enough to keep the network busy, few enough
 * that nobody is flooded. */
enum { EXCHANGE_STEPS = 16 };

uint64_t compose_number(muster_group *group)
{
    if (group->queue == NULL)
        return ++group->sequence;
    /* One operation at a time. */
    uint64_t number = atomic_load_explicit(&group->sequence, memory_order_relaxed) + 1;
    atomic_store_explicit(&group->sequence, number, memory_order_relaxed);
    return number;
}

message_label compose_label(muster_group *group, message_kind kind)
{
    message_label label = {.kind = kind,
                           .type = MUSTER_UINT8,
                           .redop = MUSTER_SUM,
                           .root = -1,
                           .sequence = compose_number(group)};
    return label;
}

deadline compose_deadline(muster_group *group)
{
    deadline end = deadline_in_about(atomic_load(&group->timeout_ms));
    atomic_store_explicit(&group->due_ns, end.at_ns, memory_order_relaxed);
    return end;
}

muster_status compose_no_memory(muster_group *group, size_t bytes, const char *what)
{
    error_no_memory(bytes, what);
    return group->size > 1 ? failure_raise(group, MUSTER_ERR_NO_MEMORY) : MUSTER_ERR_NO_MEMORY;
}

static void message_to_rank(message *out, int to, int me, const message_label *label,
                            const compose_blocks *blocks)
{
    message_label mine = *label;
    const layout *place = blocks->out != NULL ? blocks->out : blocks->in;
    int block = blocks->out != NULL ? to : me;
    size_t offset = blocks->out != NULL ? place->offsets[block] : 0;
    mine.count = place->counts[block];
    message_to(out, to, &mine, (const char *)blocks->send + offset, place->bytes[block]);
}

static void message_from_rank(message *in, int from, const message_label *label,
                              const compose_blocks *blocks)
{
    message_label theirs = *label;
    theirs.count = blocks->in->counts[from];
    message_from(in, from, &theirs, (char *)blocks->receive + blocks->in->offsets[from],
                 blocks->in->bytes[from]);
}

muster_status compose_exchange(muster_group *group, const message_label *label,
                               const compose_blocks *blocks, deadline end)
{
    int n = group->size, me = group->rank;
    muster_status status = MUSTER_OK;
    /* Each rank begins with its neighbour, so that not all of them fall upon rank 0 at once. */
    for (int first = 1; status == MUSTER_OK && first < n; first += EXCHANGE_STEPS) {
        message messages[2 * EXCHANGE_STEPS];
        size_t count = 0;
        for (int step = first; step < n && step < first + EXCHANGE_STEPS; step++) {
            message_to_rank(&messages[count++], (me + step) % n, me, label, blocks);
            message_from_rank(&messages[count++], (me - step + n) % n, label, blocks);
        }
        status = messages_carry(group, messages, count, end);
        for (size_t i = 1; blocks->scalars != NULL && i < count; i += 2)
            blocks->scalars[messages[i].peer] = messages[i].label.scalar;
    }
    return status;
}

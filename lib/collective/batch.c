/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Carrying out messages between two ranks.
 *
 * All sends, and the envelopes of all receives, are posted before anything is waited for. What
 * follows an envelope can only be received once that has come, and ranks need not send in the order
 * in which they are listed here: so each source but the first has a thread that waits for it.
 */
#include "config.h"

#include "collective/batch.h"

#include <stdlib.h>
#include <string.h>

#include "collective/batch_staged.h"
#include "collective/compose.h"
#include "collective/native.h"
#include "group/failure.h"
#include "collective/work.h"

bool batch_sends(const muster_transfer *t)
{
    return t->direction == MUSTER_SENDS;
}

static size_t bytes_of(const muster_transfer *t)
{
    return t->count * muster_type_size(t->type);
}

/* Appends the receives from peer, or all sends where that is -1; returns how many. */
static size_t append(message *messages, const muster_group *group, const batch *all, int peer)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        const muster_transfer *t = &all->list[i].transfer;
        bool wanted = peer < 0 ? batch_sends(t) : !batch_sends(t) && t->peer == peer;
        size_t pieces = wanted && t->peer != group->rank ? batch_num_pieces(group, t) : 0;
        for (size_t piece = 0; piece < pieces; piece++)
            batch_prepare(group, &all->list[i], piece, &messages[count++]);
    }
    return count;
}

/* What goes from this rank to itself: the first send to the first receive, and so on. */
static void copy_own(const muster_group *group, const batch *all)
{
    size_t r = 0;
    for (size_t s = 0; s < all->count; s++) {
        const muster_transfer *from = &all->list[s].transfer;
        if (from->peer != group->rank || !batch_sends(from))
            continue;
        while (all->list[r].transfer.peer != group->rank || batch_sends(&all->list[r].transfer))
            r++;
        const muster_transfer *to = &all->list[r++].transfer;
        if (bytes_of(from) > 0)
            memmove(to->receive, from->send, bytes_of(from));
    }
}

/* Some of the messages of a batch. */
typedef struct part {
    message *messages;
    size_t count;
} part;

static muster_status run_part(muster_group *group, void *arguments)
{
    const part *mine = arguments;
    return messages_carry(group, mine->messages, mine->count, compose_deadline(group));
}

/* The parts beside the first, each on its own thread. */
static muster_status carry_parts(muster_group *group, const part *parts, size_t count,
                                 muster_work **works)
{
    muster_status status = MUSTER_OK;
    for (size_t i = 1; status == MUSTER_OK && i < count; i++) {
        status = work_issue_apart(group, run_part, &parts[i], sizeof(parts[i]), &works[i]);
        if (status != MUSTER_OK)
            status = failure_raise(group, status);
    }
    if (status == MUSTER_OK)
        status = messages_carry(group, parts[0].messages, parts[0].count, compose_deadline(group));
    for (size_t i = 1; i < count && works[i] != NULL; i++) {
        muster_status other = muster_work_wait(works[i], MUSTER_TIMEOUT_DEFAULT);
        status = status == MUSTER_OK ? other : status;
        muster_work_free(works[i]);
    }
    return status;
}

/* The first part has the sends too, and is there even without a source. */
static size_t divide(message *messages, const muster_group *group, const batch *all, part *parts)
{
    size_t count = 0;
    for (int step = 1; step < group->size; step++) {
        int source = (group->rank + step) % group->size;
        size_t received = append(messages, group, all, source);
        size_t sent = received > 0 && count == 0 ? append(messages + received, group, all, -1) : 0;
        if (received > 0)
            parts[count++] = (part){messages, received + sent};
        messages += received + sent;
    }
    if (count == 0)
        parts[count++] = (part){messages, append(messages, group, all, -1)};
    return count;
}

static size_t count_messages(const muster_group *group, const batch *all)
{
    size_t count = 1;
    for (size_t i = 0; i < all->count; i++)
        count += batch_num_pieces(group, &all->list[i].transfer);
    return count;
}

static muster_status carry_messages(muster_group *group, const batch *all)
{
    size_t n = (size_t)group->size, count = count_messages(group, all);
    message *messages = calloc(count, sizeof(*messages));
    part *parts = calloc(n, sizeof(*parts));
    muster_work **works = calloc(n, sizeof(muster_work *));
    muster_status status;
    if (messages == NULL || parts == NULL || works == NULL)
        status = compose_no_memory(group, count * sizeof(*messages), "messages");
    else
        status = carry_parts(group, parts, divide(messages, group, all, parts), works);
    free(messages);
    free(parts);
    free(works);
    return status;
}

/* A batch in host memory. */
static muster_status carry(muster_group *group, const batch *all)
{
    copy_own(group, all);
    return native_alone(group) ? native_transfers(group, all, compose_deadline(group))
                               : carry_messages(group, all);
}

muster_status batch_run(muster_group *group, void *arguments)
{
    const batch *all = arguments;
    muster_status status = failure_check(group);
    if (status == MUSTER_OK)
        status = all->way.native          ? native_transfers(group, all, compose_deadline(group))
                 : all->way.table != NULL ? batch_run_staged(group, all, carry)
                                          : carry(group, all);
    return status == MUSTER_OK ? MUSTER_OK : group_error(group, all->function, status);
}

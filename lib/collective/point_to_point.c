/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages between two ranks as callers see them: send, recv and batches of both.
 *
 * They do not wait for the group's collectives, since what the other rank does first is its own
 * affair. What a blocking call posts its own thread waits for; with a handle a thread is made. What
 * goes by a device's communicator is different: there all operations are in one order.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "collective/batch.h"
#include "collective/native.h"
#include "collective/route.h"
#include "base/error.h"
#include "collective/work.h"
#include "collective/work_handle.h"

static muster_status check_transfer(const muster_group *group, const muster_transfer *t,
                                    const char *buffer_name, const char *peer_name)
{
    const void *buffer = batch_sends(t) ? t->send : t->receive;
    muster_status status = collective_check_type(t->type);
    if (status == MUSTER_OK)
        status = collective_check_elements(buffer, buffer_name, t->count, t->type);
    return status == MUSTER_OK ? collective_check_rank(group, t->peer, peer_name) : status;
}

static void take_numbers(muster_group *group, batch *all)
{
    for (size_t i = 0; i < all->count; i++) {
        const muster_transfer *t = &all->list[i].transfer;
        _Atomic uint64_t *numbers = batch_sends(t) ? group->sends : group->receives;
        if (t->peer != group->rank)
            all->list[i].number = atomic_fetch_add(&numbers[t->peer], 1) + 1; /* as collectives */
    }
}

static muster_status issue(muster_group *group, batch *all, muster_work **work)
{
    muster_status status = work == NULL ? work_handle_may_wait() : MUSTER_OK;
    if (status == MUSTER_OK)
        status = route_find_transfers(group, all->list, all->count, &all->way);
    if (status != MUSTER_OK)
        return group_error(group, all->function, status);
    take_numbers(group, all);
    all->way.handle = work != NULL;
    bool ordered = all->way.native || native_alone(group);
    if (work == NULL && !ordered)
        return work_call_beside(group, batch_run, all);
    size_t bytes = sizeof(*all) + all->count * sizeof(numbered);
    return ordered || group->queue == NULL ? work_issue(group, batch_run, all, bytes, work)
                                           : work_issue_apart(group, batch_run, all, bytes, work);
}

static muster_status issue_one(muster_group *group, const char *function,
                               const muster_transfer *transfer, const char *peer_name,
                               muster_work **work)
{
    union {
        batch all;
        char room[sizeof(batch) + sizeof(numbered)];
    } one = {.all = {.function = function, .count = 1}};
    muster_status status = group_ready(group, function);
    if (status != MUSTER_OK)
        return status;
    status = check_transfer(group, transfer, "buffer", peer_name);
    if (status == MUSTER_OK && transfer->peer == group->rank)
        status = error_set(MUSTER_ERR_ARGUMENT,
                           "%s is the calling rank itself; copy the buffer instead", peer_name);
    if (status != MUSTER_OK)
        return group_error(group, function, status);
    one.all.list[0].transfer = *transfer;
    return issue(group, &one.all, work);
}

muster_status muster_send(muster_group *group, const void *buffer, size_t count, muster_type type,
                          int destination, muster_work **work)
{
    muster_transfer transfer = {.direction = MUSTER_SENDS,
                                .peer = destination,
                                .type = type,
                                .count = count,
                                .send = buffer};
    return issue_one(group, "muster_send", &transfer, "destination", work);
}

muster_status muster_recv(muster_group *group, void *buffer, size_t count, muster_type type,
                          int source, muster_work **work)
{
    muster_transfer transfer = {.direction = MUSTER_RECEIVES,
                                .peer = source,
                                .type = type,
                                .count = count,
                                .receive = buffer};
    return issue_one(group, "muster_recv", &transfer, "source", work);
}

/* The next of this rank's transfers with itself in that direction, from i on. */
static size_t next_own(const muster_group *group, const muster_transfer *transfers, size_t count,
                       size_t i, muster_direction direction)
{
    while (i < count && (transfers[i].peer != group->rank || transfers[i].direction != direction))
        i++;
    return i;
}

static muster_status check_own(const muster_group *group, const muster_transfer *transfers,
                               size_t count)
{
    size_t s = next_own(group, transfers, count, 0, MUSTER_SENDS);
    size_t r = next_own(group, transfers, count, 0, MUSTER_RECEIVES);
    while (s < count && r < count) {
        if (transfers[s].count != transfers[r].count || transfers[s].type != transfers[r].type)
            return error_set(MUSTER_ERR_ARGUMENT,
                             "this rank sends itself %zu %s in transfers[%zu], but receives %zu %s "
                             "in transfers[%zu]",
                             transfers[s].count, muster_type_name(transfers[s].type), s,
                             transfers[r].count, muster_type_name(transfers[r].type), r);
        s = next_own(group, transfers, count, s + 1, MUSTER_SENDS);
        r = next_own(group, transfers, count, r + 1, MUSTER_RECEIVES);
    }
    if (s == count && r == count)
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT,
                     "transfers[%zu] is with the calling rank itself and has no counterpart in the "
                     "batch",
                     s < count ? s : r);
}

static muster_status check_batch(const muster_group *group, const muster_transfer *transfers,
                                 size_t count)
{
    if (transfers == NULL && count > 0)
        return error_set(MUSTER_ERR_ARGUMENT, "transfers is NULL, but there are %zu", count);
    if (count > SIZE_MAX / 2 / (sizeof(numbered) + sizeof(message)))
        return error_set(MUSTER_ERR_ARGUMENT, "%zu transfers are more than memory can hold", count);
    for (size_t i = 0; i < count; i++) {
        char buffer[64], peer[64];
        snprintf(buffer, sizeof(buffer), "the buffer of transfers[%zu]", i);
        snprintf(peer, sizeof(peer), "the peer of transfers[%zu],", i);
        muster_direction direction = transfers[i].direction;
        if (direction != MUSTER_SENDS && direction != MUSTER_RECEIVES)
            return error_set(MUSTER_ERR_ARGUMENT,
                             "the direction of transfers[%zu] is %d; take MUSTER_SENDS or "
                             "MUSTER_RECEIVES",
                             i, (int)direction);
        muster_status status = check_transfer(group, &transfers[i], buffer, peer);
        if (status != MUSTER_OK)
            return status;
    }
    return check_own(group, transfers, count);
}

muster_status muster_batch_send_recv(muster_group *group, const muster_transfer *transfers,
                                     size_t num_transfers, muster_work **work)
{
    static const char *const name = "muster_batch_send_recv";
    muster_status status = group_ready(group, name);
    if (status != MUSTER_OK)
        return status;
    status = check_batch(group, transfers, num_transfers);
    if (status != MUSTER_OK)
        return group_error(group, name, status);
    size_t bytes = sizeof(batch) + num_transfers * sizeof(numbered);
    batch *all = calloc(1, bytes);
    if (all == NULL)
        return error_no_memory(bytes, "a batch");
    *all = (batch){.function = name, .count = num_transfers};
    for (size_t i = 0; i < num_transfers; i++)
        all->list[i].transfer = transfers[i];
    status = issue(group, all, work);
    free(all);
    return status;
}

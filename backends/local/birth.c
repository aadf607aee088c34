/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a communicator of several ranks comes to be.
 *
 * Rank 0 makes the memory, then all exchange cards. Each maps the memory and proves it by writing
 * its own number there, and tries to read every other's number where it lies with that one, which
 * shows whether messages can be copied in one go. Nothing listens meanwhile, so there is nothing
 * that a stranger could connect to. A rank that fails tells the core, which has the others give up.
 */
#include "config.h"

#include "birth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bell.h"
#include "breach.h"
#include "watch.h"
#include "whole.h"

/* One that is being born. */
typedef struct labour {
    muster_comm *comm;
    const muster_open_args *args;
    deadline end;
    card mine;
    card *cards; /* everybody's, or NULL */
} labour;

static segment_head *head_of(const labour *it)
{
    return segment_at_head(&it->comm->memory);
}

static muster_status make_memory(labour *it)
{
    segment *memory = &it->comm->memory;
    *memory = segment_measure(it->comm->size);
    if (it->comm->rank != 0)
        return MUSTER_OK;
    muster_status status = segment_make(memory, &it->mine.segment);
    if (status != MUSTER_OK)
        return status;
    memcpy(head_of(it)->nonce, it->mine.nonce, CARD_NONCE);
    it->mine.bytes = memory->bytes;
    return MUSTER_OK;
}

static muster_status exchange_cards(labour *it)
{
    const muster_blob *all = NULL;
    muster_comm *comm = it->comm;
    memcpy(comm->nonce, it->mine.nonce, CARD_NONCE);
    it->mine.nonce_at = (uint64_t)(uintptr_t)comm->nonce;
    muster_status status =
        local_host->exchange(comm->owner, (muster_blob){&it->mine, sizeof(it->mine)}, &all);
    if (status == MUSTER_OK)
        status = card_read_all(all, comm->size, &it->cards);
    if (status != MUSTER_OK)
        return status;
    /* Ranks that are bound to other CPUs leave it those that it has. */
    int rivals = card_ranks_on_cpus(it->cards, comm->size, comm->rank);
    comm->cores_for_all = rivals <= it->args->cores_here;
    for (int r = 0; r < comm->size; r++) {
        comm->peers[r].process = it->cards[r].process;
        memcpy(comm->peers[r].ear, it->cards[r].ear, sizeof(comm->peers[r].ear));
    }
    return status;
}

/* Whether it is wanted that messages are copied in one go. */
static bool wants_direct(const muster_comm *comm)
{
    const char *asked = local_host->option(comm->owner, "local.single_copy");
    return asked == NULL || strcmp(asked, "0") != 0;
}

/* Tries it, since what the kernel allows depends on much. */
static void try_reading(const labour *it)
{
    muster_comm *comm = it->comm;
    bool wanted = wants_direct(comm);
    for (int r = 0; r < comm->size && wanted; r++) {
        const card *other = &it->cards[r];
        uint8_t nonce[CARD_NONCE];
        comm->peers[r].direct = process_read(other->process, other->nonce_at, nonce, CARD_NONCE) &&
                                memcmp(nonce, other->nonce, CARD_NONCE) == 0;
    }
}

static void arrive(const labour *it)
{
    segment_cell *mine = comm_cell(it->comm, it->comm->rank);
    memcpy(mine->proof, it->mine.nonce, CARD_NONCE);
    atomic_store(&mine->state, SEGMENT_PRESENT);
    if (atomic_fetch_add(&head_of(it)->arrived, 1) + 1 == (uint32_t)it->comm->size)
        bell_wake_all(&head_of(it)->arrived);
}

/* The ranks that have not come, and what to say of them. */
static muster_status missing(const labour *it)
{
    int first = -1, count = 0;
    for (int r = it->comm->size - 1; r >= 0; r--)
        if (atomic_load(&comm_cell(it->comm, r)->state) == SEGMENT_ABSENT)
            first = r, count++;
    return local_host->error(MUSTER_ERR_TIMEOUT,
                             "timed out after %lld ms waiting for rank %d%s to map the memory that "
                             "the ranks share",
                             (long long)it->args->timeout_ms, first,
                             count > 1 ? " and others" : "");
}

static muster_status await_all(const labour *it)
{
    enum { SLICE_MS = 50 };
    _Atomic uint32_t *arrived = &head_of(it)->arrived;
    uint32_t all = (uint32_t)it->comm->size, now;
    while ((now = atomic_load(arrived)) < all) {
        if (local_host->cancelled(it->comm->owner))
            return local_host->error(MUSTER_ERR_FAILED, "another rank has failed");
        if (deadline_left_ms(it->end) == 0)
            return missing(it);
        bell_sleep_on(arrived, now, deadline_in(SLICE_MS));
    }
    for (int r = 0; r < it->comm->size; r++)
        if (memcmp(comm_cell(it->comm, r)->proof, it->cards[r].nonce, CARD_NONCE) != 0)
            return local_host->error(MUSTER_ERR_PROTOCOL,
                                     "the memory that the ranks share is not the one that rank %d "
                                     "has mapped",
                                     r);
    return MUSTER_OK;
}

static muster_status open_hall(labour *it)
{
    muster_comm *comm = it->comm;
    hall_place place = {
        .host = local_host,
        .rank = comm->rank,
        .size = comm->size,
        .base = segment_at_hall(&comm->memory),
        .cores_for_all = comm->cores_for_all,
        .waits = whole_waits,
        .waiter = comm,
    };
    return hall_open(&comm->hall, &place);
}

static void describe(muster_comm *comm)
{
    int direct = 0;
    for (int r = 0; r < comm->size; r++)
        direct += r != comm->rank && comm->peers[r].direct;
    snprintf(comm->description, sizeof(comm->description),
             "shared memory of %zu KiB, large messages copied %s", comm->memory.bytes / 1024,
             direct == comm->size - 1 ? "once"
             : direct == 0            ? "twice"
                                      : "once where the kernel allows it, else twice");
}

static muster_status meet(labour *it)
{
    muster_comm *comm = it->comm;
    muster_status status = exchange_cards(it);
    if (status == MUSTER_OK && comm->rank != 0)
        status = segment_find(&comm->memory, &it->cards[0], comm->rank);
    if (status == MUSTER_OK)
        status = watch_peers(comm);
    if (status != MUSTER_OK)
        return status;
    for (int r = 0; r < comm->size; r++) {
        comm->peers[r].out = ring_of(&comm->memory, comm->rank, r);
        comm->peers[r].in = ring_of(&comm->memory, r, comm->rank);
    }
    try_reading(it);
    arrive(it);
    status = await_all(it);
    return status == MUSTER_OK ? open_hall(it) : status;
}

muster_status birth(muster_comm *comm, const muster_open_args *args)
{
    labour it = {.comm = comm, .args = args, .end = deadline_in(args->timeout_ms)};
    muster_status status = card_fill(&it.mine, comm->rank, comm->size);
    comm->self = it.mine.process;
    if (status == MUSTER_OK)
        status = watch_enter(it.mine.ear);
    if (status != MUSTER_OK)
        return status;
    status = make_memory(&it);
    if (status == MUSTER_OK)
        status = meet(&it);
    if (it.mine.segment >= 0)
        close(it.mine.segment);
    free(it.cards);
    describe(comm);
    if (status == MUSTER_OK)
        watch_begin(comm);
    else
        watch_leave(comm);
    return status;
}

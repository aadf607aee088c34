/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages between two ranks whose buffers the host can't touch. One large message goes piece by
 * piece, so that one piece is copied while another travels; of several each is copied as a whole.
 */
#include "config.h"

#include "collective/batch_staged.h"

#include <stdlib.h>
#include <string.h>

#include "collective/native.h"
#include "collective/route.h"
#include "collective/staging.h"

static size_t bytes_of(const muster_transfer *t)
{
    return t->count * muster_type_size(t->type);
}

size_t batch_num_pieces(const muster_group *group, const muster_transfer *t)
{
    if (!staged_in_pieces(group, bytes_of(t)))
        return 1;
    return (bytes_of(t) + STAGING_PIECE - 1) / STAGING_PIECE;
}

static size_t bytes_of_piece(const muster_group *group, const muster_transfer *t, size_t piece)
{
    size_t offset = piece * STAGING_PIECE, left = bytes_of(t) - offset;
    return staged_in_pieces(group, bytes_of(t)) && left > STAGING_PIECE ? STAGING_PIECE : left;
}

/* A message of the piece that is at data. */
static void prepare_at(const muster_group *group, const numbered *one, size_t piece, char *data,
                       message *out)
{
    const muster_transfer *t = &one->transfer;
    message_label label = {.kind = MESSAGE_SEND,
                           .type = t->type,
                           .root = -1,
                           .sequence = one->number,
                           .count = t->count,
                           .receiving = !batch_sends(t)};
    size_t bytes = bytes_of_piece(group, t, piece);
    if (batch_sends(t))
        message_to(out, t->peer, &label, data, bytes);
    else
        message_from(out, t->peer, &label, data, bytes);
}

void batch_prepare(const muster_group *group, const numbered *one, size_t piece, message *out)
{
    const muster_transfer *t = &one->transfer;
    char *buffer = batch_sends(t) ? (char *)(uintptr_t)t->send : t->receive;
    prepare_at(group, one, piece, piece > 0 ? buffer + piece * STAGING_PIECE : buffer, out);
}

/* ---- one message, piece by piece ---- */

static muster_status start_copy(const muster_group *group, const batch *all, staging_bench *bench,
                                size_t piece)
{
    const muster_transfer *t = &all->list[0].transfer;
    int slot = (int)(piece % STAGING_SLOTS);
    size_t bytes = bytes_of_piece(group, t, piece), offset = piece * STAGING_PIECE;
    if (batch_sends(t))
        return staging_start(bench, slot, all->way.stream, bench->slots[slot],
                             (const char *)t->send + offset, bytes);
    return staging_start(bench, slot, all->way.stream, (char *)t->receive + offset,
                         bench->slots[slot], bytes);
}

/* The piece travels; one that is sent has been copied before, one that has come is copied after. */
static muster_status carry_piece(muster_group *group, const batch *all, staging_bench *bench,
                                 size_t piece, deadline end)
{
    message one;
    int slot = (int)(piece % STAGING_SLOTS);
    muster_status status = staged_outcome(group, staging_wait(bench, slot, end));
    if (status != MUSTER_OK)
        return status;
    prepare_at(group, &all->list[0], piece, bench->slots[slot], &one);
    return messages_carry(group, &one, 1, end);
}

static muster_status carry_by_pieces(muster_group *group, const batch *all, staging_bench *bench)
{
    const muster_transfer *t = &all->list[0].transfer;
    size_t count = batch_num_pieces(group, t);
    deadline end = compose_deadline(group);
    bool sends = batch_sends(t);
    muster_status status =
        sends ? staged_outcome(group, start_copy(group, all, bench, 0)) : MUSTER_OK;
    for (size_t i = 0; status == MUSTER_OK && i < count; i++) {
        if (sends && i + 1 < count)
            status = staged_outcome(group, start_copy(group, all, bench, i + 1));
        if (status == MUSTER_OK)
            status = carry_piece(group, all, bench, i, end);
        if (status == MUSTER_OK && !sends)
            status = staged_outcome(group, start_copy(group, all, bench, i));
    }
    for (int slot = 0; status == MUSTER_OK && slot < STAGING_SLOTS; slot++)
        status = staged_outcome(group, staging_wait(bench, slot, end));
    return status;
}

/* ---- several, as wholes ---- */

static muster_status copy_sent(muster_group *group, const batch *all, batch *here,
                               staging_bench *bench, char *memory, deadline end)
{
    muster_status status = MUSTER_OK;
    for (size_t i = 0; status == MUSTER_OK && i < all->count; i++) {
        muster_transfer *t = &here->list[i].transfer;
        size_t bytes = bytes_of(t);
        if (!all->list[i].away || bytes == 0)
            continue;
        if (batch_sends(t)) {
            status = staging_fetch(bench, all->way.stream, memory, t->send, bytes, end);
            t->send = memory;
        } else {
            t->receive = memory;
        }
        memory += (bytes + 15) / 16 * 16;
    }
    return staged_outcome(group, status);
}

static muster_status copy_received(muster_group *group, const batch *all, const batch *here,
                                   staging_bench *bench, deadline end)
{
    muster_status status = MUSTER_OK;
    for (size_t i = 0; status == MUSTER_OK && i < all->count; i++) {
        const muster_transfer *t = &all->list[i].transfer;
        if (all->list[i].away && !batch_sends(t) && bytes_of(t) > 0)
            status = staging_store(bench, all->way.stream, t->receive,
                                   here->list[i].transfer.receive, bytes_of(t), end);
    }
    return staged_outcome(group, status);
}

static muster_status carry_copies(muster_group *group, const batch *all, staging_bench *bench,
                                  muster_status (*carry)(muster_group *, const batch *))
{
    size_t size = sizeof(*all) + all->count * sizeof(numbered), bytes = 1;
    for (size_t i = 0; i < all->count; i++)
        bytes += all->list[i].away ? (bytes_of(&all->list[i].transfer) + 15) / 16 * 16 : 0;
    batch *here = malloc(size);
    char *memory = malloc(bytes);
    muster_status status = MUSTER_OK;
    if (here == NULL || memory == NULL)
        status = compose_no_memory(group, size + bytes, "staging");
    deadline end = compose_deadline(group);
    if (status == MUSTER_OK) {
        memcpy(here, all, size);
        status = copy_sent(group, all, here, bench, memory, end);
    }
    if (status == MUSTER_OK)
        status = carry(group, here);
    if (status == MUSTER_OK)
        status = copy_received(group, all, here, bench, end);
    free(here);
    free(memory);
    return status;
}

muster_status batch_run_staged(muster_group *group, const batch *all,
                               muster_status (*carry)(muster_group *group, const batch *all))
{
    staging_bench *bench = NULL;
    muster_status status =
        staged_outcome(group, staging_take(group, all->way.table, all->way.device,
                                           compose_deadline(group), &bench));
    bool one = all->count == 1 && !native_alone(group) &&
               batch_num_pieces(group, &all->list[0].transfer) > 1;
    if (status == MUSTER_OK)
        status = one ? carry_by_pieces(group, all, bench) : carry_copies(group, all, bench, carry);
    staging_give_back(group, bench);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives whose buffers the host can't touch, by messages of host memory: what is sent is
 * copied to the host first, what is received back in the end. Broadcast and all_reduce of large
 * buffers go piece by piece, so that one piece is copied while another travels.
 */
#include "config.h"

#include "collective/route.h"

#include <stdlib.h>

#include "collective/staging.h"
#include "collective/bulk.h"
#include "base/error.h"
#include "group/failure.h"

muster_status staged_outcome(muster_group *group, muster_status status)
{
    return status == MUSTER_OK || group->size == 1 ? status : failure_raise(group, status);
}

/* ---- piece by piece ---- */

bool staged_in_pieces(const muster_group *group, size_t bytes)
{
    return group->in_pieces && bytes > STAGING_PIECE;
}

/* A call of pieces. Of a buffer that is in host memory the pieces stay where they are. */
typedef struct pieces {
    muster_group *group;
    const collective_call *call;
    const message_label *label;
    const route *way;
    staging_bench *bench; /* NULL: both buffers are in host memory */
    size_t total;         /* bytes */
    deadline end;
} pieces;

static size_t bytes_of_piece(const pieces *p, size_t number)
{
    size_t offset = number * STAGING_PIECE;
    return p->total - offset < STAGING_PIECE ? p->total - offset : STAGING_PIECE;
}

static const char *source_of(const pieces *p)
{
    return p->call->kind == MESSAGE_BROADCAST ? p->call->receive : p->call->send;
}

static bool is_source_away(const pieces *p)
{
    return p->call->kind == MESSAGE_BROADCAST ? p->way->receive_away : p->way->send_away;
}

static bool has_source(const pieces *p)
{
    return p->call->kind != MESSAGE_BROADCAST || p->group->rank == p->call->root;
}

static bool has_target(const pieces *p)
{
    return p->call->kind != MESSAGE_BROADCAST || p->group->rank != p->call->root;
}

/* The slot was last used by a piece that is copied out: that has to end first. */
static muster_status piece_in(pieces *p, size_t number)
{
    int slot = (int)(number % STAGING_SLOTS);
    muster_status status = MUSTER_OK;
    if (p->bench != NULL)
        status = staging_wait(p->bench, slot, p->end);
    if (status == MUSTER_OK && has_source(p) && is_source_away(p))
        status = staging_start(p->bench, slot, p->way->stream, p->bench->slots[slot],
                               source_of(p) + number * STAGING_PIECE, bytes_of_piece(p, number));
    return staged_outcome(p->group, status);
}

static muster_status piece_exchange(pieces *p, size_t number)
{
    size_t offset = number * STAGING_PIECE, bytes = bytes_of_piece(p, number);
    char *slot = p->bench != NULL ? p->bench->slots[number % STAGING_SLOTS] : NULL;
    char *target = p->way->receive_away ? slot : (char *)p->call->receive + offset;
    const char *source = is_source_away(p) ? slot : source_of(p) + offset;
    message_label label = *p->label;
    label.count = bytes / muster_type_size(p->call->type);
    collective_call piece = *p->call;
    piece.count = (size_t)label.count;
    piece.send = source;
    piece.receive = target;
    return bulk_carry(p->group, &piece, &label, NULL, NULL, p->end);
}

static muster_status piece_out(pieces *p, size_t number)
{
    int slot = (int)(number % STAGING_SLOTS);
    if (!has_target(p) || !p->way->receive_away)
        return MUSTER_OK;
    return staged_outcome(p->group,
                          staging_start(p->bench, slot, p->way->stream,
                                        (char *)p->call->receive + number * STAGING_PIECE,
                                        p->bench->slots[slot], bytes_of_piece(p, number)));
}

static muster_status run_pieces(pieces *p)
{
    size_t count = (p->total + STAGING_PIECE - 1) / STAGING_PIECE;
    muster_status status = piece_in(p, 0);
    for (size_t i = 0; status == MUSTER_OK && i < count; i++) {
        int slot = (int)(i % STAGING_SLOTS);
        if (i + 1 < count)
            status = piece_in(p, i + 1);
        if (status == MUSTER_OK && p->bench != NULL)
            status = staged_outcome(p->group, staging_wait(p->bench, slot, p->end));
        if (status == MUSTER_OK)
            status = piece_exchange(p, i);
        if (status == MUSTER_OK)
            status = piece_out(p, i);
    }
    for (int slot = 0; status == MUSTER_OK && p->bench != NULL && slot < STAGING_SLOTS; slot++)
        status = staged_outcome(p->group, staging_wait(p->bench, slot, p->end));
    return status;
}

/* ---- as a whole ---- */

/* How many bytes the buffer has. blocks is its layout where it is made of blocks. */
static size_t bytes_of(const muster_group *group, const collective_call *call,
                       collective_amount amount, const layout *blocks)
{
    size_t size = muster_type_size(call->type), last = (size_t)group->size - 1;
    if (amount == AMOUNT_NONE)
        return 0;
    if (blocks->bytes != NULL)
        return blocks->offsets[last] + blocks->bytes[last];
    return size * (amount == AMOUNT_MINE ? call->counts[group->rank] : call->count);
}

/* The buffers in host memory: the caller's own, or copies. */
typedef struct copies {
    const char *send;
    char *receive;
    size_t sent;
    size_t received;
    char *memory;
} copies;

/* Copies lie to each other as what they are copies of. */
static muster_status place_copies(muster_group *group, const route *way, copies *c)
{
    const char *send = c->send, *receive = c->receive;
    bool both = way->send_away && way->receive_away && c->sent > 0 && c->received > 0;
    bool send_within = both && send >= receive && send - receive < (ptrdiff_t)c->received &&
                       c->sent <= c->received;
    bool receive_within =
        both && !send_within && receive >= send && receive - send < (ptrdiff_t)c->sent;
    size_t first = way->send_away && !send_within ? (c->sent + 63) / 64 * 64 : 0;
    size_t second = way->receive_away && !receive_within ? c->received : 0;
    c->memory = malloc(first + second + 1);
    if (c->memory == NULL)
        return compose_no_memory(group, first + second, "staging");
    if (way->send_away)
        c->send = c->memory;
    if (way->receive_away)
        c->receive = c->memory + first;
    if (send_within)
        c->send = c->receive + (send - receive);
    if (receive_within)
        c->receive = c->memory + (receive - send);
    return MUSTER_OK;
}

static muster_status run_copies(muster_group *group, const collective_call *call,
                                const message_label *label, const layout *out, const layout *in,
                                const route *way, staging_bench *bench, const copies *c,
                                deadline end)
{
    collective_call here = *call;
    here.send = c->send;
    here.receive = c->receive;
    bool broadcasts = call->kind == MESSAGE_BROADCAST;
    bool root = group->rank == call->root;
    muster_status status = MUSTER_OK;
    if (way->send_away)
        status =
            staging_fetch(bench, way->stream, (char *)(uintptr_t)c->send, call->send, c->sent, end);
    if (status == MUSTER_OK && broadcasts && root && way->receive_away)
        status = staging_fetch(bench, way->stream, c->receive, call->receive, c->received, end);
    status = staged_outcome(group, status);
    if (status == MUSTER_OK)
        status = bulk_carry(group, &here, label, out, in, end);
    if (status == MUSTER_OK && way->receive_away && !(broadcasts && root))
        status = staged_outcome(
            group, staging_store(bench, way->stream, call->receive, c->receive, c->received, end));
    return status;
}

static muster_status run_whole(muster_group *group, const collective_call *call,
                               const message_label *label, const layout *out, const layout *in,
                               const route *way, staging_bench *bench, deadline end)
{
    const collective *what = collective_of(call->kind);
    copies c = {.send = call->send, .receive = call->receive};
    if (collective_sends(group, call))
        c.sent = bytes_of(group, call, what->send, out);
    if (collective_receives(group, call))
        c.received = bytes_of(group, call, what->receive, in);
    muster_status status = place_copies(group, way, &c);
    if (status == MUSTER_OK)
        status = run_copies(group, call, label, out, in, way, bench, &c, end);
    free(c.memory);
    return status;
}

muster_status staged_run(muster_group *group, const collective_call *call,
                         const message_label *label, const layout *out, const layout *in,
                         const route *way, deadline end)
{
    bool divides = call->kind == MESSAGE_BROADCAST || call->kind == MESSAGE_ALL_REDUCE;
    size_t total = divides ? call->count * muster_type_size(call->type) : 0;
    staging_bench *bench = NULL;
    if (way->table == NULL && !staged_in_pieces(group, total))
        return bulk_carry(group, call, label, out, in, end);
    muster_status status = MUSTER_OK;
    if (way->table != NULL)
        status = staged_outcome(group, staging_take(group, way->table, way->device, end, &bench));
    pieces p = {group, call, label, way, bench, total, end};
    if (status == MUSTER_OK)
        status = staged_in_pieces(group, total)
                     ? run_pieces(&p)
                     : run_whole(group, call, label, out, in, way, bench, end);
    staging_give_back(group, bench);
    return status;
}

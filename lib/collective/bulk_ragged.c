/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whole collectives whose blocks differ in size.
 *
 * Two operations of the communicator: first each rank tells each other how much it has for it, then
 * that moves. So a rank that expects something else is found before it does, and all know the
 * largest block. Where that is empty nothing moves.
 */
#include "config.h"

#include "collective/bulk_ragged.h"

#include <stdlib.h>
#include <string.h>

#include "collective/bulk.h"
#include "collective/native.h"

/* What a rank tells another. */
typedef struct tale {
    uint64_t count;   /* of what it has for it, in elements */
    uint64_t largest; /* of all that it has for others and for itself */
} tale;

/* A call under way; what is said of ranks is one a rank. */
typedef struct ragged {
    muster_group *group;
    const collective_call *call;
    const message_label *label;
    deadline end;
    tale *told, *heard;
    size_t *out_counts, *out_offsets, *in_counts, *in_offsets; /* in elements */
    void *memory;                                              /* of all these */
} ragged;

bool bulk_ragged_serves(const muster_group *group, muster_operation operation)
{
    if (!bulk_serves(group) || group->device.backend != NULL)
        return false;
    muster_comm *comm = atomic_load(&group->host.comm);
    muster_call tell = {.size = sizeof(tell),
                        .operation = MUSTER_OPERATION_ALL_TO_ALL,
                        .type = MUSTER_UINT64,
                        .uniform = true};
    muster_call move = {.size = sizeof(move), .operation = operation, .type = MUSTER_UINT8};
    return group->host.backend->ops->can(comm, &tell) && group->host.backend->ops->can(comm, &move);
}

static bool new_ragged(ragged *it)
{
    size_t n = (size_t)it->group->size;
    it->memory = calloc(n, 2 * sizeof(tale) + 4 * sizeof(size_t));
    if (it->memory == NULL)
        return false;
    it->told = it->memory;
    it->heard = it->told + n;
    it->out_counts = (size_t *)(it->heard + n);
    it->out_offsets = it->out_counts + n;
    it->in_counts = it->out_offsets + n;
    it->in_offsets = it->in_counts + n;
    return true;
}

/* What this rank has for each other, and expects. */
static size_t has_for(const ragged *it, int rank)
{
    const collective_call *call = it->call;
    int me = it->group->rank;
    switch (call->kind) {
    case MESSAGE_GATHER_V:
        return rank == call->root || rank == me ? call->count : 0;
    case MESSAGE_SCATTER_V:
        return me == call->root ? call->counts[rank] : 0;
    case MESSAGE_ALL_GATHER_V:
        return call->counts[me];
    default:
        return call->counts[rank];
    }
}

static size_t expects_from(const ragged *it, int rank)
{
    const collective_call *call = it->call;
    int me = it->group->rank;
    switch (call->kind) {
    case MESSAGE_GATHER_V:
        return me == call->root ? call->counts[rank] : 0;
    case MESSAGE_SCATTER_V:
        return rank == call->root || rank == me ? call->count : 0;
    case MESSAGE_ALL_GATHER_V:
        return call->counts[rank];
    case MESSAGE_REDUCE_SCATTER_V:
        return call->counts[me];
    default:
        return call->from_counts[rank];
    }
}

static void lay_out(ragged *it, const layout *out, const layout *in)
{
    size_t size = muster_type_size(it->call->type), largest = 0;
    for (int r = 0; r < it->group->size; r++) {
        it->out_counts[r] = has_for(it, r);
        it->in_counts[r] = expects_from(it, r);
        it->out_offsets[r] = out->bytes != NULL ? out->offsets[r] / size : 0;
        it->in_offsets[r] = in->bytes != NULL ? in->offsets[r] / size : 0;
        largest = it->out_counts[r] > largest ? it->out_counts[r] : largest;
    }
    for (int r = 0; r < it->group->size; r++)
        it->told[r] = (tale){it->out_counts[r], largest};
}

static muster_status run_one(ragged *it, muster_call *call)
{
    call->size = sizeof(*call);
    return bulk_run(it->group, &it->group->host, call, it->label, it->end);
}

/* *largest: of the blocks of all ranks. */
static muster_status tell(ragged *it, size_t *largest)
{
    muster_call call = {.operation = MUSTER_OPERATION_ALL_TO_ALL,
                        .type = MUSTER_UINT64,
                        .root = -1,
                        .count = sizeof(tale) / sizeof(uint64_t),
                        .send = it->told,
                        .receive = it->heard,
                        .uniform = true};
    muster_status status = run_one(it, &call);
    *largest = 0;
    for (int r = 0; status == MUSTER_OK && r < it->group->size; r++) {
        message_label ours = *it->label, theirs = ours;
        ours.count = it->in_counts[r];
        theirs.count = it->heard[r].count;
        if (r != it->group->rank && ours.count != theirs.count)
            status = message_disagreement(it->group, r, &ours, &theirs);
        if (it->heard[r].largest > *largest)
            *largest = (size_t)it->heard[r].largest;
    }
    return status;
}

/* What is sent, which in place is put aside first: what comes may be of other sizes. */
static muster_status set_aside(const ragged *it, const muster_call *call, void **aside)
{
    size_t last = (size_t)it->group->size - 1, size = muster_type_size(call->type);
    size_t bytes = (it->out_offsets[last] + it->out_counts[last]) * size;
    if (call->operation != MUSTER_OPERATION_ALL_TO_ALL || call->send != call->receive || bytes == 0)
        return MUSTER_OK;
    *aside = malloc(bytes);
    if (*aside == NULL)
        return compose_no_memory(it->group, bytes, "what is sent");
    memcpy(*aside, call->send, bytes);
    return MUSTER_OK;
}

static muster_status move(ragged *it, size_t largest)
{
    void *aside = NULL;
    muster_call call = native_plain_call(it->group, it->call);
    call.count = largest;
    call.send_counts = it->out_counts;
    call.send_offsets = it->out_offsets;
    call.receive_counts = it->in_counts;
    call.receive_offsets = it->in_offsets;
    muster_status status = set_aside(it, &call, &aside);
    if (aside != NULL)
        call.send = aside;
    if (status == MUSTER_OK)
        status = run_one(it, &call);
    free(aside);
    return status;
}

muster_status bulk_ragged_carry(muster_group *group, const collective_call *call,
                                const message_label *label, const layout *out, const layout *in,
                                deadline end)
{
    ragged it = {.group = group, .call = call, .label = label, .end = end};
    size_t n = (size_t)group->size, largest;
    if (!new_ragged(&it))
        return compose_no_memory(group, n * (2 * sizeof(tale) + 4 * sizeof(size_t)), "counts");
    lay_out(&it, out, in);
    muster_status status = tell(&it, &largest);
    if (status == MUSTER_OK && largest > 0)
        status = move(&it, largest);
    free(it.memory);
    return status;
}

muster_status bulk_ragged_gather(muster_group *group, const message_label *label, const void *mine,
                                 void *receive, const layout *blocks, deadline end)
{
    bool all = label->root < 0;
    muster_call call = {.size = sizeof(call),
                        .operation = all ? MUSTER_OPERATION_ALL_GATHER : MUSTER_OPERATION_GATHER,
                        .type = MUSTER_UINT8,
                        .root = label->root,
                        .send = mine,
                        .receive = all || label->root == group->rank ? receive : NULL,
                        .send_counts = blocks->bytes,
                        .send_offsets = blocks->offsets,
                        .receive_counts = blocks->bytes,
                        .receive_offsets = blocks->offsets};
    for (int r = 0; r < group->size; r++)
        call.count = blocks->bytes[r] > call.count ? blocks->bytes[r] : call.count;
    messages_note(group, label);
    return call.count == 0 ? MUSTER_OK : bulk_run(group, &group->host, &call, label, end);
}

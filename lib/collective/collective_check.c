/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The arguments of collectives: one check for each kind of argument, by the row of the table.
 *
 * A wrong argument is refused before anything moves, and the group goes on working. Ranks that pass
 * different arguments which are each right by themselves find that out from each other's envelopes.
 */
#include "config.h"

#include "collective/collective.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "collective/premul.h"
#include "reduce/reduce.h"
#include "reduce/types.h"

/* Half of what there are addresses for, so that sums of offsets do not wrap. */
static size_t most_elements(muster_type type)
{
    return SIZE_MAX / 2 / type_size(type);
}

/* Dividing takes longer than all else that is checked of a short call. */
static bool is_too_much(size_t count, muster_type type)
{
    return count > SIZE_MAX / 16 && count > most_elements(type);
}

static muster_status too_many(const char *name, size_t count, size_t blocks, muster_type type)
{
    char times[48] = "";
    if (blocks > 1)
        snprintf(times, sizeof(times), " for each of %zu ranks", blocks);
    return error_set(MUSTER_ERR_ARGUMENT,
                     "%s is %zu%s, and memory can hold %zu %s at most; was it negative?", name,
                     count, times, most_elements(type), muster_type_name(type));
}

/* Some processors bear elements anywhere in memory, and others, and compilers, do not. */
static size_t alignment_of(muster_type type)
{
    struct largest {
        char before;
        int64_t value;
    };
    size_t size = type_size(type), most = offsetof(struct largest, value);
    return size < most ? size : most;
}

muster_status collective_check_type(muster_type type)
{
    if ((unsigned)type < MUSTER_NUM_TYPES)
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT, "%d is no element type; take one of enum muster_type",
                     (int)type);
}

muster_status collective_check_elements(const void *buffer, const char *name, size_t count,
                                        muster_type type)
{
    if (is_too_much(count, type))
        return too_many("the count", count, 1, type);
    if (buffer == NULL && count > 0)
        return error_set(MUSTER_ERR_ARGUMENT, "%s is NULL, but is to hold %zu element%s", name,
                         count, count == 1 ? "" : "s");
    if (count > 0 && ((uintptr_t)buffer & (alignment_of(type) - 1)) != 0)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "%s at %p is not aligned: %s must be at multiples of %zu; copy it to "
                         "where it may be",
                         name, buffer, muster_type_name(type), alignment_of(type));
    return MUSTER_OK;
}

muster_status collective_check_rank(const muster_group *group, int rank, const char *name)
{
    if (rank >= 0 && rank < group->size)
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT,
                     "%s %d is not in 0 to %d; roots and peers are ranks of the group itself", name,
                     rank, group->size - 1);
}

static muster_status check_reduction(muster_group *group, collective_call *call)
{
    if (!(collective_of(call->kind)->traits & REDUCES))
        return MUSTER_OK;
    muster_status status = premul_resolve(group, &call->redop, &call->scalar);
    return status == MUSTER_OK ? reduce_check(call->type, call->redop, call->scalar) : status;
}

/* The sum of counts, which must be fit for memory. */
static muster_status add_up(const muster_group *group, const size_t *counts, const char *name,
                            muster_type type, size_t *total)
{
    *total = 0;
    if (counts == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "%s is NULL; it takes one number for each rank",
                         name);
    for (int r = 0; r < group->size; r++) {
        char which[64];
        snprintf(which, sizeof(which), "%s[%d], with those before it,", name, r);
        if (counts[r] > most_elements(type) || *total > most_elements(type) - counts[r])
            return too_many(which, counts[r], 1, type);
        *total += counts[r];
    }
    return MUSTER_OK;
}

/* How many elements the buffer holds. */
static muster_status measure(const muster_group *group, const collective_call *call,
                             collective_amount amount, size_t *elements)
{
    size_t n = (size_t)group->size;
    muster_status status = MUSTER_OK;
    *elements = call->count;
    if (amount == AMOUNT_BLOCKS) {
        if (call->count > most_elements(call->type) / n)
            return too_many("the count", call->count, n, call->type);
        *elements *= n;
    }
    if (amount == AMOUNT_MINE || amount == AMOUNT_COUNTS)
        status = add_up(group, call->counts,
                        call->kind == MESSAGE_ALL_TO_ALL_V ? "send_counts" : "counts", call->type,
                        elements);
    if (amount == AMOUNT_FROM)
        status = add_up(group, call->from_counts, "receive_counts", call->type, elements);
    if (status == MUSTER_OK && amount == AMOUNT_MINE)
        *elements = call->counts[group->rank];
    return status;
}

/* What a rank has for itself it says twice, root in gather_v and scatter_v, every rank in
 * all_to_all_v. */
static muster_status check_own_count(const muster_group *group, const collective_call *call)
{
    bool to_all = call->kind == MESSAGE_ALL_TO_ALL_V;
    bool at_root = (call->kind == MESSAGE_GATHER_V || call->kind == MESSAGE_SCATTER_V) &&
                   group->rank == call->root;
    if (!to_all && !at_root)
        return MUSTER_OK;
    size_t sent = call->counts[group->rank];
    size_t received = to_all ? call->from_counts[group->rank] : call->count;
    if (sent == received)
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT, "%s[%d] is %zu, but %s is %zu; a rank's own must agree",
                     to_all ? "send_counts" : "counts", group->rank, sent,
                     to_all ? "that of receive_counts" : "the count", received);
}

/* Where this rank's block of a buffer begins, in elements. */
static size_t own_block(const muster_group *group, const collective_call *call,
                        collective_amount amount)
{
    size_t offset = 0;
    if (amount == AMOUNT_BLOCKS)
        return (size_t)group->rank * call->count;
    for (int r = 0; amount == AMOUNT_COUNTS && r < group->rank; r++)
        offset += call->counts[r];
    return offset;
}

/* Whether the buffers are where one may be in the other. */
static bool is_in_place(const muster_group *group, const collective_call *call)
{
    size_t size = type_size(call->type);
    const char *send = call->send, *receive = call->receive;
    switch (collective_of(call->kind)->place) {
    case PLACE_SAME:
        return send == receive;
    case PLACE_IN_RECEIVE:
        return send == receive + size * own_block(group, call, collective_of(call->kind)->receive);
    case PLACE_IN_SEND:
        return receive == send ||
               receive == send + size * own_block(group, call, collective_of(call->kind)->send);
    default:
        return false;
    }
}

static muster_status check_overlap(const muster_group *group, const collective_call *call,
                                   size_t sent, size_t received)
{
    static const char *const places[] = {
        [PLACE_APART] = "must not overlap",
        [PLACE_SAME] = "must be the same or must not overlap",
        [PLACE_IN_RECEIVE] = "must not overlap unless send is this rank's block of receive",
        [PLACE_IN_SEND] = ("must not overlap unless receive is this rank's block of send, or "
                           "begins with it"),
    };
    size_t size = type_size(call->type);
    uintptr_t send = (uintptr_t)call->send, receive = (uintptr_t)call->receive;
    bool overlap = sent > 0 && received > 0 && send < receive + received * size &&
                   receive < send + sent * size;
    if (!overlap || is_in_place(group, call))
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT, "send at %p and receive at %p overlap; they %s",
                     call->send, call->receive, places[collective_of(call->kind)->place]);
}

static muster_status check_buffers(const muster_group *group, const collective_call *call)
{
    const collective *what = collective_of(call->kind);
    size_t sent = 0, received = 0;
    muster_status status = MUSTER_OK;
    if (collective_sends(group, call)) {
        status = measure(group, call, what->send, &sent);
        if (status == MUSTER_OK)
            status = collective_check_elements(call->send, "send", sent, call->type);
    }
    if (status == MUSTER_OK && collective_receives(group, call)) {
        status = measure(group, call, what->receive, &received);
        if (status == MUSTER_OK)
            status = collective_check_elements(call->receive,
                                               what->send == AMOUNT_NONE ? "buffer" : "receive",
                                               received, call->type);
    }
    if (status == MUSTER_OK)
        status = check_own_count(group, call);
    return status == MUSTER_OK ? check_overlap(group, call, sent, received) : status;
}

bool collective_is_idle(const muster_group *group, const collective_call *call)
{
    size_t sent = 0, received = 0;
    if (collective_sends(group, call))
        measure(group, call, collective_of(call->kind)->send, &sent);
    if (collective_receives(group, call))
        measure(group, call, collective_of(call->kind)->receive, &received);
    return sent == 0 && received == 0;
}

muster_status collective_check(muster_group *group, collective_call *call)
{
    muster_status status = collective_check_type(call->type);
    if (status == MUSTER_OK && collective_of(call->kind)->traits & ROOTED)
        status = collective_check_rank(group, call->root, "root");
    if (status == MUSTER_OK)
        status = check_reduction(group, call);
    return status == MUSTER_OK ? check_buffers(group, call) : status;
}

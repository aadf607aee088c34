/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whole collectives of host memory, through muster_backend.run.
 *
 * What the communicator can't do goes by messages. So that ranks which disagree find that out even
 * where one of them calls what goes by messages and another what does not, the first of these then
 * has a barrier with the label of its call.
 */
#include "config.h"

#include "collective/bulk.h"

#include <stdio.h>

#include "base/error.h"
#include "collective/bulk_ragged.h"
#include "collective/hierarchy.h"
#include "collective/native.h"
#include "group/failure.h"

/* What all ranks must agree on, as the communicator compares it: whole words, since it is read as
 * such right after it was written. */
typedef struct bulk_label {
    uint64_t sequence;
    uint64_t count;
    uint64_t what; /* root, and a byte each of kind, type and redop */
} bulk_label;
_Static_assert(sizeof(bulk_label) <= MUSTER_LABEL_MAX, "the label fits a call");

static bulk_label label_write(const message_label *label)
{
    return (bulk_label){.sequence = label->sequence,
                        .count = message_label_is_ragged(label) ? 0 : label->count,
                        .what = (uint64_t)(uint32_t)label->root << 32 |
                                (uint64_t)(uint8_t)label->kind << 16 |
                                (uint64_t)(uint8_t)label->type << 8 | (uint8_t)label->redop};
}

static message_label label_read(const bulk_label *said)
{
    return (message_label){.kind = (uint8_t)(said->what >> 16),
                           .type = (uint8_t)(said->what >> 8),
                           .redop = (uint8_t)said->what,
                           .root = (int)(uint32_t)(said->what >> 32),
                           .sequence = said->sequence,
                           .count = said->count};
}

bool bulk_serves(const muster_group *group)
{
    return group->host.backend != NULL && group->host.backend->ops->run != NULL &&
           atomic_load(&group->host.comm) != NULL;
}

static bool can(const muster_group *group, const muster_call *call)
{
    return call->uniform && group->host.backend->ops->can(atomic_load(&group->host.comm), call);
}

/* What this rank called as the number of theirs. */
static message_label own_call(const muster_group *group, const message_label *ours,
                              const message_label *theirs)
{
    message_label found;
    bool earlier =
        theirs->sequence != ours->sequence && calls_find(&group->calls, theirs->sequence, &found);
    return earlier ? found : *ours;
}

/* A rank whose label differs, in this operation or an earlier one that this rank did not wait for
 * others in; where that is nobody this one has heard of, others tell the cause. */
static muster_status disagree(muster_group *group, const message_label *ours, int rank,
                              const bulk_label *said)
{
    char text[160];
    const message_label theirs = label_read(said), mine = own_call(group, ours, &theirs);
    if (rank >= 0)
        return message_disagreement(group, rank, &mine, &theirs);
    failure_await(group);
    error_set(MUSTER_ERR_MISMATCH, "the ranks disagree in %s: others have made other calls",
              message_label_text(ours, text, sizeof(text)));
    return failure_raise_unless_known(group, MUSTER_ERR_MISMATCH);
}

static muster_status fail(muster_group *group, const message_label *label, muster_status status,
                          int rank, const bulk_label *said)
{
    char text[160], sentence[ERROR_SIZE];
    if (status == MUSTER_ERR_TIMEOUT)
        status = failure_raise_timeout(group, label->sequence,
                                       message_label_text(label, text, sizeof(text)), -1, "");
    else if (status == MUSTER_ERR_MISMATCH)
        status = disagree(group, label, rank, said);
    else
        status = failure_raise(group, status);
    snprintf(sentence, sizeof(sentence), "%s", muster_last_error());
    return message_say_call(group, label, status, sentence);
}

/* Of the group, where number counts those of the side. */
static int rank_of(const muster_group *group, const group_side *side, int number)
{
    int count = group->size;
    const int *ranks = NULL;
    if (side == &group->near)
        ranks = near_map_ranks(&group->hosts, group->rank, &count);
    if (number < 0 || number >= count)
        return -1;
    return ranks != NULL ? ranks[number] : number;
}

/* A little more than is left, for what it takes to ask. */
static int64_t left_ms(deadline end)
{
    int64_t left = end.at_ns - deadline_coarse_now_ns();
    return left <= 0 ? 0 : (left + 999999) / 1000000;
}

muster_status bulk_run(muster_group *group, group_side *side, muster_call *call,
                       const message_label *label, deadline end)
{
    const bulk_label mine = label_write(label);
    bulk_label said = {0};
    int rank = -1;
    call->label = &mine;
    call->label_size = sizeof(mine);
    call->other_label = &said;
    call->other_rank = &rank;
    if (call->timeout_ms == 0)
        call->timeout_ms = left_ms(end);
    muster_status status = side->backend->ops->run(atomic_load(&side->comm), call);
    if (status == MUSTER_OK)
        return MUSTER_OK;
    if (side == &group->near)
        near_error(&group->hosts, group->rank, status);
    return fail(group, label, status, rank_of(group, side, rank), &said);
}

/* A rank that moves nothing does not know that the others go by a device's communicator. */
static bool all_come(const muster_group *group, const message_label *label)
{
    return group->device.backend == NULL || !message_label_is_ragged(label);
}

/* The ranks that share memory say which call they make. */
static muster_status announce(muster_group *group, const message_label *label, deadline end)
{
    muster_call barrier = {
        .size = sizeof(barrier), .operation = MUSTER_OPERATION_BARRIER, .uniform = true};
    group_side *side = hierarchy_serves(group) ? &group->near : &group->host;
    if (!all_come(group, label) || atomic_load(&side->comm) == NULL)
        return MUSTER_OK;
    return bulk_run(group, side, &barrier, label, end);
}

/* For gathers: every rank has a block of bytes where it belongs in receive. */
static collective_call gather_bytes(const muster_group *group, void *receive, size_t bytes)
{
    return (collective_call){.kind = MESSAGE_ALL_GATHER,
                             .type = MUSTER_UINT8,
                             .redop = MUSTER_SUM,
                             .root = -1,
                             .count = bytes,
                             .send = (const char *)receive + (size_t)group->rank * bytes,
                             .receive = receive};
}

muster_status bulk_all_gather_equal(muster_group *group, const message_label *label, void *receive,
                                    size_t bytes, deadline end)
{
    const collective_call call = gather_bytes(group, receive, bytes);
    bool by_hosts = hierarchy_serves(group) && hierarchy_can(group, &call);
    if (!by_hosts && !bulk_serves(group))
        return compose_all_gather_equal(group, label, receive, bytes, end);
    muster_status status = failure_check(group);
    return status == MUSTER_OK ? bulk_carry(group, &call, label, NULL, NULL, end) : status;
}

bool bulk_needs_layouts(const muster_group *group, const collective_call *call)
{
    return !bulk_serves(group) || !native_is_uniform(call->kind) || group->in_pieces;
}

bool bulk_try(muster_group *group, const collective_call *call, const message_label *label,
              deadline end, int64_t timeout_ms, muster_status *status)
{
    if (!bulk_serves(group))
        return false;
    muster_call plain = native_plain_call(group, call);
    if (!can(group, &plain))
        return false;
    messages_note(group, label);
    plain.timeout_ms = timeout_ms;
    *status = bulk_run(group, &group->host, &plain, label, end);
    return true;
}

muster_status bulk_carry(muster_group *group, const collective_call *call,
                         const message_label *label, const layout *out, const layout *in,
                         deadline end)
{
    muster_status status = MUSTER_OK;
    if (bulk_try(group, call, label, end, 0, &status))
        return status;
    bool serves = bulk_serves(group) || hierarchy_serves(group);
    if (serves)
        messages_note(group, label);
    muster_operation operation = native_plain_call(group, call).operation;
    if (!native_is_uniform(call->kind) && bulk_ragged_serves(group, operation))
        return bulk_ragged_carry(group, call, label, out, in, end);
    if (hierarchy_serves(group) && hierarchy_can(group, call))
        return hierarchy_carry(group, call, label, end);
    if (serves)
        status = announce(group, label, end);
    return status == MUSTER_OK ? collective_of(call->kind)->run(group, call, label, out, in, end)
                               : status;
}

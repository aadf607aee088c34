/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a group's device communicator carries whole.
 */
#include "config.h"

#include "collective/native.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "collective/native_room.h"
#include "group/failure.h"
#include "group/vigil.h"

bool native_alone(muster_group *group)
{
    return group->host.backend == NULL && group->device.backend != NULL;
}

static muster_status start_call(muster_group *group, group_side *side, const muster_call *call,
                                deadline end, muster_request **request)
{
    muster_call timed = *call;
    timed.timeout_ms = deadline_left_ms(end);
    vigil_begin(group);
    return side->backend->ops->call(atomic_load(&side->comm), &timed, request);
}

/* The one rank that all transfers are with, or -1. */
static int peer_of(const muster_call *call)
{
    int peer = call->num_transfers > 0 ? call->transfers[0].peer : -1;
    for (size_t i = 0; i < call->num_transfers; i++)
        peer = call->transfers[i].peer == peer ? peer : -1;
    return peer;
}

/* What the backend says besides is of this rank alone, and so not told to the others. */
static muster_status timed_out(muster_group *group, const message_label *label, int peer)
{
    static const char in_order[] = "; over NCCL messages of two ranks that cross need one "
                                   "muster_batch_send_recv";
    char what[160], besides[ERROR_SIZE];
    bool pairwise = label->kind == MESSAGE_SEND;
    snprintf(besides, sizeof(besides), "%s", muster_last_error());
    message_label_text(label, what, sizeof(what));
    muster_status status = failure_raise_timeout(group, pairwise ? 0 : label->sequence, what, peer,
                                                 pairwise ? in_order : "");
    return *besides == '\0'
               ? status
               : error_set(status, "%s; on this rank %s", muster_last_error(), besides);
}

/* request is NULL where status says why it was not started. */
static muster_status end_call(muster_group *group, group_side *side, muster_status status,
                              muster_request *request, const message_label *label, int peer,
                              deadline end)
{
    if (request != NULL)
        status = side->backend->ops->wait(atomic_load(&side->comm), request, deadline_left_ms(end));
    vigil_end(group);
    if (status == MUSTER_ERR_TIMEOUT)
        return timed_out(group, label, peer);
    return status == MUSTER_OK ? MUSTER_OK : failure_raise(group, status);
}

muster_status native_run(muster_group *group, group_side *side, const muster_call *call,
                         const message_label *label, deadline end)
{
    muster_request *request = NULL;
    muster_status status = start_call(group, side, call, end, &request);
    return end_call(group, side, status, request, label, peer_of(call), end);
}

/* A call that has been started, while the group's thread goes on. */
typedef struct started {
    muster_request *request;
    message_label label;
    int peer;
    deadline end;
    const char *function;
} started;

static muster_status finish(muster_group *group, void *token)
{
    started *mine = token;
    muster_status status = end_call(group, &group->device, MUSTER_OK, mine->request, &mine->label,
                                    mine->peer, mine->end);
    if (status != MUSTER_OK)
        status = group_error(group, mine->function, status);
    free(mine);
    return status;
}

muster_status native_run_behind(muster_group *group, const muster_call *call, const char *function,
                                const message_label *label, deadline end)
{
    muster_request *request = NULL;
    started *token = malloc(sizeof(*token));
    muster_status status = start_call(group, &group->device, call, end, &request);
    if (status == MUSTER_OK && token != NULL) {
        *token = (started){request, *label, peer_of(call), end, function};
        if (work_finish_later(group, finish, token))
            return MUSTER_OK;
    }
    free(token);
    return end_call(group, &group->device, status, request, label, peer_of(call), end);
}

/* ---- collectives ---- */

static const muster_operation operations[] = {
    [MESSAGE_BARRIER] = MUSTER_OPERATION_BARRIER,
    [MESSAGE_BROADCAST] = MUSTER_OPERATION_BROADCAST,
    [MESSAGE_REDUCE] = MUSTER_OPERATION_REDUCE,
    [MESSAGE_ALL_REDUCE] = MUSTER_OPERATION_ALL_REDUCE,
    [MESSAGE_GATHER] = MUSTER_OPERATION_GATHER,
    [MESSAGE_GATHER_V] = MUSTER_OPERATION_GATHER,
    [MESSAGE_SCATTER] = MUSTER_OPERATION_SCATTER,
    [MESSAGE_SCATTER_V] = MUSTER_OPERATION_SCATTER,
    [MESSAGE_ALL_GATHER] = MUSTER_OPERATION_ALL_GATHER,
    [MESSAGE_ALL_GATHER_V] = MUSTER_OPERATION_ALL_GATHER,
    [MESSAGE_REDUCE_SCATTER] = MUSTER_OPERATION_REDUCE_SCATTER,
    [MESSAGE_REDUCE_SCATTER_V] = MUSTER_OPERATION_REDUCE_SCATTER,
    [MESSAGE_ALL_TO_ALL] = MUSTER_OPERATION_ALL_TO_ALL,
    [MESSAGE_ALL_TO_ALL_V] = MUSTER_OPERATION_ALL_TO_ALL,
};

muster_call native_plain_call(const muster_group *group, const collective_call *call)
{
    /* Every member, one by one: clearing the whole takes longer than what else a short call takes
     * before it runs. */
    muster_call made;
    made.size = sizeof(made);
    made.operation = operations[call->kind];
    made.type = call->type;
    made.redop = call->redop;
    made.scalar = call->scalar;
    made.root = call->root;
    made.count = call->count;
    made.send = collective_sends(group, call) ? call->send : NULL;
    made.receive = collective_receives(group, call) ? call->receive : NULL;
    if (call->kind == MESSAGE_BROADCAST)
        made.send = call->receive;
    made.uniform = native_is_uniform(call->kind);
    made.send_counts = made.send_offsets = made.receive_counts = made.receive_offsets = NULL;
    made.transfers = NULL;
    made.num_transfers = 0;
    made.stream = NULL;
    made.timeout_ms = 0;
    made.label = NULL;
    made.label_size = 0;
    made.other_label = NULL;
    made.other_rank = NULL;
    return made;
}

bool native_can(muster_group *group, const collective_call *call)
{
    const muster_call plain = native_plain_call(group, call);
    return group->device.backend->ops->can(atomic_load(&group->device.comm), &plain);
}

/* Counts and offsets in elements of all ranks' blocks in one buffer. */
static void in_elements(const layout *blocks, size_t n, size_t size, size_t *counts,
                        size_t *offsets)
{
    for (size_t r = 0; r < n; r++) {
        counts[r] = blocks->bytes[r] / size;
        offsets[r] = blocks->offsets[r] / size;
    }
}

/* A buffer that is not made of blocks is this rank's one. */
static void one_block(const layout *blocks, const muster_group *group, size_t count, size_t size,
                      size_t *counts, size_t *offsets)
{
    if (blocks->bytes != NULL)
        in_elements(blocks, (size_t)group->size, size, counts, offsets);
    else
        counts[group->rank] = count;
}

/* How many elements this rank alone sends or receives where the call says it by counts. */
static size_t own_count(const muster_group *group, const collective_call *call)
{
    bool by_counts = call->kind == MESSAGE_ALL_GATHER_V || call->kind == MESSAGE_REDUCE_SCATTER_V;
    return by_counts ? call->counts[group->rank] : call->count;
}

bool native_is_uniform(message_kind kind)
{
    return kind != MESSAGE_GATHER_V && kind != MESSAGE_SCATTER_V && kind != MESSAGE_ALL_GATHER_V &&
           kind != MESSAGE_REDUCE_SCATTER_V && kind != MESSAGE_ALL_TO_ALL_V;
}

/* Ranks that time out find by it that the memory of another is of another kind. Of a call where a
 * rank may have nothing to move it is not said, since that rank goes by messages. */
static message_label native_label(const message_label *label)
{
    message_label here = *label;
    here.device = !message_label_is_ragged(label);
    return here;
}

muster_status native_call(muster_group *group, const collective_call *call,
                          const message_label *label, const layout *out, const layout *in,
                          const route *way, deadline end)
{
    size_t n = (size_t)group->size, size = muster_type_size(call->type);
    muster_status status = native_tell_idle(group, call, label, end);
    if (status != MUSTER_OK)
        return status;
    size_t *numbers = calloc(4 * n, sizeof(size_t));
    if (numbers == NULL)
        return compose_no_memory(group, 4 * n * sizeof(size_t), "counts");
    muster_call whole = native_plain_call(group, call);
    one_block(out, group, own_count(group, call), size, numbers, numbers + n);
    one_block(in, group, own_count(group, call), size, numbers + 2 * n, numbers + 3 * n);
    whole.send_counts = numbers;
    whole.send_offsets = numbers + n;
    whole.receive_counts = numbers + 2 * n;
    whole.receive_offsets = numbers + 3 * n;
    whole.stream = way->stream;
    const message_label here = native_label(label);
    messages_note(group, &here);
    status = way->handle
                 ? native_run_behind(group, &whole, collective_of(call->kind)->function, &here, end)
                 : native_run(group, &group->device, &whole, &here, end);
    free(numbers);
    return status;
}

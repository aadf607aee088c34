/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of a batch, as one group of NCCL's. What a rank sends to itself is copied.
 */
#include "config.h"

#include "steps.h"
#include "types.h"

static nccl_result transfer_messages(muster_comm *comm, operation *o)
{
    nccl_result result = NCCL_SUCCESS;
    for (size_t i = 0; i < o->call.num_transfers && step_fine(result); i++) {
        const muster_transfer *one = &o->call.transfers[i];
        if (one->peer == comm->rank)
            continue;
        o->type = types_to_move(one->type);
        result = one->direction == MUSTER_SENDS
                     ? step_send(comm, o, one->send, one->count, one->peer)
                     : step_recv(comm, o, one->receive, one->count, one->peer);
    }
    return result;
}

/* The next transfer of this rank with itself in that direction, from *at on; NULL: no more. */
static const muster_transfer *next_own(const muster_comm *comm, const operation *o,
                                       muster_direction direction, size_t *at)
{
    for (; *at < o->call.num_transfers; ++*at) {
        const muster_transfer *one = &o->call.transfers[*at];
        if (one->peer == comm->rank && one->direction == direction) {
            ++*at;
            return one;
        }
    }
    return NULL;
}

static nccl_result copy_own(muster_comm *comm, operation *o)
{
    size_t sends = 0, receives = 0;
    nccl_result result = NCCL_SUCCESS;
    while (step_fine(result)) {
        const muster_transfer *from = next_own(comm, o, MUSTER_SENDS, &sends);
        const muster_transfer *to = next_own(comm, o, MUSTER_RECEIVES, &receives);
        if (from == NULL || to == NULL)
            break;
        size_t width = types_width(from->type);
        result = step_copy(comm, o, (device_copy){to->receive, from->send, from->count * width});
    }
    return result;
}

nccl_result transfers_send_recv(muster_comm *comm, operation *o)
{
    nccl_result result = copy_own(comm, o);
    return step_fine(result) ? step_group(comm, o, transfer_messages) : result;
}

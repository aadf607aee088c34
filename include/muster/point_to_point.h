/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages between two ranks, one by one or several at once.
 *
 * Messages between two ranks arrive in the order sent; the receiver's count (of elements) and type
 * must be exactly the sender's, no less and no more, else it gets MUSTER_ERR_MISMATCH, and the
 * group has failed; a length that it does not know goes in a message before. Messages do not wait
 * for collectives of the group, nor for messages with other ranks. Over NCCL it is otherwise, which
 * is for device memory, and in a group on NCCL alone for host memory too: a count or type that
 * differs is found with MUSTER_CHECK=1 alone (else the content may be wrong, and MUSTER_OK), and
 * messages are in one order with the group's other operations over NCCL, see muster/device.h. A
 * send that is done has no need of its buffer any more, which does not say that the message was
 * received. Buffers belong to the caller, aligned for their type, and must stay as they are until
 * the operation is done. work is NULL for a call that blocks, see muster/work.h.
 *
 * Each message with a handle has a thread of its own until it is done. For many at once there is
 * muster_batch_send_recv(), which takes one for each rank that it receives from.
 */
#ifndef MUSTER_POINT_TO_POINT_H
#define MUSTER_POINT_TO_POINT_H

#include <muster/group.h>
#include <muster/type.h>
#include <muster/work.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sends to and receives from one other rank of the group. The caller itself as the other is
 * MUSTER_ERR_ARGUMENT here. */
MUSTER_API muster_status muster_send(muster_group *group, const void *buffer, size_t count,
                                     muster_type type, int destination, muster_work **work);
MUSTER_API muster_status muster_recv(muster_group *group, void *buffer, size_t count,
                                     muster_type type, int source, muster_work **work);

typedef enum muster_direction { MUSTER_SENDS = 1, MUSTER_RECEIVES = 2 } muster_direction;

/* One message of a batch, as the arguments of muster_send or muster_recv. */
typedef struct muster_transfer {
    muster_direction direction;
    int peer;
    size_t count;
    union {
        const void *send;
        void *receive;
    };
    muster_type type;
} muster_transfer;

/*
 * Starts all of the messages at once and ends when all are done, so that no order of them is a
 * deadlock, here or among ranks. To each peer they count in their order here among all messages
 * with it. The caller itself may be a peer: what it sends to itself goes to its receives from
 * itself in this batch, in order. On a wrong argument none is started. transfers is copied.
 */
MUSTER_API muster_status muster_batch_send_recv(muster_group *group,
                                                const muster_transfer *transfers,
                                                size_t num_transfers, muster_work **work);

#ifdef __cplusplus
}
#endif
#endif

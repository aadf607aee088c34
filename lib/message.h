/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages between two ranks, safe against ranks that disagree.
 *
 * A backend needs both sides to post the same size (Gloo ends the process otherwise). So every
 * message begins with an envelope of one fixed size, which says what the sender is doing and
 * carries small payloads whole. The receiver posts the receive for a larger payload only after it
 * has read the envelope and found it to be what it expects.
 */
#ifndef MUSTER_LIB_MESSAGE_H
#define MUSTER_LIB_MESSAGE_H

#include "deadline.h"
#include "group.h"

typedef enum message_kind {
    MESSAGE_BARRIER = 1,
    MESSAGE_BROADCAST,
    MESSAGE_ALL_REDUCE,
    MESSAGE_ALL_GATHER,
    MESSAGE_ALL_GATHER_V,
    MESSAGE_SEND,
    MESSAGE_GATHER_TOKENS,
    MESSAGE_GATHER_OBJECTS
} message_kind;

/* What both sides of a message must agree on. */
typedef struct message_label {
    message_kind kind;
    muster_type type;
    muster_reduction redop; /* MUSTER_SUM where there is none */
    int root;               /* -1 where there is none */
    uint64_t sequence;
    uint64_t count; /* of elements, as the sender's caller said */
} message_label;

enum { MESSAGE_ENVELOPE = 256, MESSAGE_INLINE = 200 };

/* One message on its way. Filled by message_to and message_from. */
typedef struct message {
    int peer;
    bool sending;
    message_label label;
    const void *send;
    void *receive;
    size_t bytes;
    muster_request *envelope_request;
    muster_request *data_request;
    unsigned char envelope[MESSAGE_ENVELOPE];
} message;

/* A message of bytes to or from peer. */
void message_to(message *out, int peer, const message_label *label, const void *data, size_t bytes);
void message_from(message *in, int peer, const message_label *label, void *data, size_t bytes);

/*
 * Carries all of them and returns when all are done; what is posted first does not wait for what
 * comes later. On a failure, a time-out or a disagreement the group has failed (see failure.h), the
 * thread's last error is the first cause, and no buffer is touched any more.
 */
muster_status messages_carry(muster_group *group, message *messages, size_t count, deadline end);

/* "all_reduce #17 of 8 int32, sum" in words. Returns text. */
const char *message_label_text(const message_label *label, char *text, size_t size);

#endif

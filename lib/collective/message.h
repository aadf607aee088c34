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

#include "base/deadline.h"
#include "group/group.h"
#include "collective/label.h"

enum { MESSAGE_ENVELOPE = 256, MESSAGE_INLINE = 200 };

/* One message on its way. Filled by message_to and message_from. */
typedef struct message {
    int peer;
    bool sending;
    message_label label; /* once it was received, the sender's */
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

/* For a rank that asks later what this one is doing. */
void messages_note(muster_group *group, const message_label *label);

/* The envelope of a message has come: the group has failed where it is not what this rank expects;
 * a payload that is in it is taken. */
muster_status message_open(muster_group *group, message *m);

/* A call of this rank has failed with status and sentence: what the caller is told of it. */
muster_status message_say_call(const muster_group *group, const message_label *label,
                               muster_status status, const char *sentence);

/* This rank calls ours, but another one theirs. */
muster_status message_disagreement(muster_group *group, int rank, const message_label *ours,
                                   const message_label *theirs);

#endif

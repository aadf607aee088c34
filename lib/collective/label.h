/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What an operation is: what all ranks that take part in it must agree on.
 */
#ifndef MUSTER_LIB_LABEL_H
#define MUSTER_LIB_LABEL_H

#include "muster.h"

typedef enum message_kind {
    MESSAGE_BARRIER = 1,
    MESSAGE_BROADCAST,
    MESSAGE_REDUCE,
    MESSAGE_ALL_REDUCE,
    MESSAGE_GATHER,
    MESSAGE_GATHER_V,
    MESSAGE_SCATTER,
    MESSAGE_SCATTER_V,
    MESSAGE_ALL_GATHER,
    MESSAGE_ALL_GATHER_V,
    MESSAGE_REDUCE_SCATTER,
    MESSAGE_REDUCE_SCATTER_V,
    MESSAGE_ALL_TO_ALL,
    MESSAGE_ALL_TO_ALL_V,
    MESSAGE_SEND,
    MESSAGE_GATHER_TOKENS,
    MESSAGE_GATHER_OBJECTS,
    MESSAGE_CHECK /* of the call of the same number; no call by itself */
} message_kind;

typedef struct message_label {
    message_kind kind;
    muster_type type;
    muster_reduction redop; /* MUSTER_SUM where there is none */
    int root;               /* -1 where there is none */
    uint64_t sequence;
    uint64_t count; /* of elements, as the sender's caller said */
    bool receiving; /* of MESSAGE_SEND, the other side; for words only */
    double scalar;  /* the sender's, of MUSTER_PREMUL_SUM; may differ */
    bool checking;  /* the message compares the call and is no part of it */
    bool device;    /* of MESSAGE_SEND: what it stands for goes by the device's communicator */
} message_label;

/* "all_reduce #17 of 8 int32, sum" in words. Returns text. */
const char *message_label_text(const message_label *label, char *text, size_t size);

/* The same without what may differ between the ranks of one call, to compare their calls. */
const char *message_label_call(const message_label *label, char *text, size_t size);

/* Whether there is an operation of that kind. */
bool message_label_is_known(const message_label *label);

/* Whether it takes a count for each rank, so that what two ranks say of it may differ. */
bool message_label_is_ragged(const message_label *label);

#endif

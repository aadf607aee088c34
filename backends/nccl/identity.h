/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the ranks tell each other before NCCL makes a communicator, and what must agree: NCCL would
 * hang, or say "invalid usage", where it does not.
 */
#ifndef MUSTER_BACKENDS_NCCL_IDENTITY_H
#define MUSTER_BACKENDS_NCCL_IDENTITY_H

#include "muster/backend.h"
#include "nccl_abi.h"

enum { IDENTITY_SIZE = 512, IDENTITY_HOST = 96 };

typedef struct identity {
    int rank, size;
    int version; /* of NCCL */
    int device;
    int compute;   /* 90 is 9.0 */
    bool splits;   /* the parent's communicator is to be split */
    bool slice;    /* the device is a part of one */
    char uuid[64]; /* "" if unknown */
    char bus_id[32];
    char host[IDENTITY_HOST]; /* its name */
    unsigned char boot[16];   /* of the host; tells hosts of one name apart */
    nccl_unique_id id;        /* rank 0's, where there is no split */
} identity;

/* Fills in all but id and splits. */
muster_status identity_of(const muster_open_args *args, int version, identity *mine);

void identity_write(const identity *mine, unsigned char bytes[IDENTITY_SIZE]);

/*
 * Reads what all ranks have written and compares it: MUSTER_ERR_PROTOCOL or MUSTER_ERR_MISMATCH,
 * on every rank with the same sentence, which names both that differ. first becomes rank 0's and
 * *compute the least of all.
 */
muster_status identity_check(const muster_blob *all, int size, identity *first, int *compute);

#endif

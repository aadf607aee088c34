/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: sockets between the ranks
 * of one host, whose names in the kernel follow from the unique id.
 */
#ifndef MUSTER_T_STANDIN_NCCL_WIRE_H
#define MUSTER_T_STANDIN_NCCL_WIRE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "nccl_abi.h"

/* One message; those of a pair of ranks go and come in their order. */
typedef struct nccl_transfer {
    int peer;         /* may be the rank itself: its messages to itself meet in their order */
    const void *send; /* one of these is NULL */
    void *receive;
    size_t size;
    size_t done;
} nccl_transfer;

typedef struct nccl_wire {
    int rank;
    int size;
    int *sockets;
    const atomic_bool *ended; /* gives up when it becomes true */
    bool patient;             /* a peer that has gone is waited for, as if nobody had noticed */
} nccl_wire;

/* Listens; -1 where that can't be. name has no more than 90 characters. */
int wire_listen(const char *name);

/* Connects to a name, which may come to be later; -1 once it has ended. */
int wire_connect(const char *name, const atomic_bool *ended);

/* Connects all ranks with each other. */
nccl_result wire_open(const nccl_wire *wire, const char *key);

/* Carries all transfers out. NCCL_REMOTE_ERROR for a peer that has gone, NCCL_INTERNAL_ERROR when
 * it was ended. */
nccl_result wire_move(const nccl_wire *wire, nccl_transfer *transfers, size_t count);

/* Each rank gives size bytes; all has those of all. */
nccl_result wire_all_gather(const nccl_wire *wire, const void *mine, size_t size, void *all);

#endif

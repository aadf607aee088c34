/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the ranks of a group tell each other before they share memory: which process each is, where
 * rank 0's segment is found, and a number that nobody else knows.
 */
#ifndef MUSTER_LOCAL_CARD_H
#define MUSTER_LOCAL_CARD_H

#include "muster/backend.h"
#include "process.h"

enum { CARD_NONCE = 16 };

typedef struct card {
    char magic[8]; /* tells the form of cards and segments */
    int32_t rank;
    int32_t size;
    process process;
    uint64_t pid_space; /* 0: not known, as the next */
    uint64_t net_space;
    uint32_t user;     /* as whom the process asks for others' memory */
    int32_t segment;   /* rank 0: its descriptor */
    uint64_t bytes;    /* rank 0: of the segment */
    uint64_t nonce_at; /* where the nonce is in the process's memory, until open returns */
    uint8_t nonce[CARD_NONCE];
    process_cpus cpus;
    char ear[40]; /* the name of the process's socket; see ear.h */
} card;

/* A card of this process; the rest of it is set by the caller. */
muster_status card_fill(card *mine, int rank, int size);

/*
 * Reads what all ranks have written. MUSTER_ERR_UNAVAILABLE where two of them can't share memory,
 * MUSTER_ERR_MISMATCH or MUSTER_ERR_PROTOCOL where a card is not of this form: found by every rank
 * alike, with the same sentence. The memory is the caller's, freed with free().
 */
muster_status card_read_all(const muster_blob *blobs, int size, card **all);

/* How many ranks, that one included, may run on CPUs that it may run on. */
int card_ranks_on_cpus(const card *all, int size, int rank);

#endif

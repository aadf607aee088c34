/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory that the ranks of a group share: how it is laid out, made and found.
 *
 * It has no name. Rank 0 makes it, the others open it through rank 0's entry in /proc, and once all
 * have mapped it no descriptor is left: it is gone when the last of them has ended, in whatever
 * way.
 */
#ifndef MUSTER_LOCAL_SEGMENT_H
#define MUSTER_LOCAL_SEGMENT_H

#include <stdatomic.h>

#include "card.h"

/* Two of them are fetched together by many processors. */
#define SEGMENT_APART _Alignas(128)

/* At the front, written once before anybody else looks, but for what is atomic. */
typedef struct segment_head {
    uint8_t nonce[CARD_NONCE];              /* rank 0's */
    SEGMENT_APART _Atomic uint64_t cause;   /* why the group has failed, or 0; see breach.h */
    SEGMENT_APART _Atomic uint32_t arrived; /* ranks that have mapped it; slept on */
    _Atomic uint32_t gone;                  /* ranks that have left in order */
} segment_head;

typedef enum segment_state {
    SEGMENT_ABSENT,
    SEGMENT_PRESENT,
    SEGMENT_LEFT,  /* in order */
    SEGMENT_FAILED /* it knows that the group has failed */
} segment_state;

/* One for each rank, written by it alone, but for the bell. */
typedef struct segment_cell {
    SEGMENT_APART _Atomic uint32_t state;
    uint8_t proof[CARD_NONCE];   /* its nonce, once it has mapped the segment */
    _Atomic uint64_t operations; /* whole operations that it had done when it left */
    SEGMENT_APART _Atomic uint32_t bell;
    _Atomic uint32_t sleepers;
} segment_cell;

/* Of each ordered pair, before the ring's bytes; see ring.h. */
typedef struct segment_ring {
    SEGMENT_APART _Atomic uint64_t head; /* bytes taken out; the receiver's, as the next */
    _Atomic uint64_t matched;            /* bytes of whole messages that went where they belong */
    SEGMENT_APART _Atomic uint64_t done; /* tickets, a bit each: the receiver has it all */
    _Atomic uint64_t go;                 /* the receiver wants it in pieces */
    _Atomic uint32_t blocked;            /* the sender waits for room */
    SEGMENT_APART unsigned char bytes[];
} segment_ring;

typedef struct segment {
    int size; /* ranks */
    size_t bytes;
    size_t ring_bytes; /* of one ring, a power of two */
    unsigned char *base;
} segment;

/* The measures of a segment for so many ranks. */
segment segment_measure(int size);

/* Makes one, with its memory reserved, so that touching it can't fail later; sets of->base and *fd.
 */
muster_status segment_make(segment *of, int *fd);

/* Maps the one that rank 0's card tells of. */
muster_status segment_find(segment *of, const card *first, int rank);

void segment_unmap(segment *of);

segment_head *segment_at_head(const segment *of);
segment_cell *segment_at_cell(const segment *of, int rank);
segment_ring *segment_at_ring(const segment *of, int from, int to);

/* Page-aligned, hall_bytes(size) of them. */
void *segment_at_hall(const segment *of);

#endif

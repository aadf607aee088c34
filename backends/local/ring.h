/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A ring of letters from one rank to another, in the memory that they share.
 *
 * One process writes and one reads, each under a lock of its own. A letter begins at a multiple of
 * RING_LINE, and the first word there says whether there is one: the reader needs no other word of
 * the writer's, so that a short letter costs one cache line on its way. Whoever has read a letter
 * clears the first word of each of its lines before it gives them back.
 */
#ifndef MUSTER_LOCAL_RING_H
#define MUSTER_LOCAL_RING_H

#include <stdbool.h>

#include "segment.h"

enum { RING_LINE = 64, RING_LETTER = 32 }; /* a letter without what is inside takes RING_LETTER */

typedef enum letter_kind {
    LETTER_WHOLE = 1, /* a message */
    LETTER_OFFER,     /* a message that is still with the sender, at an address there */
    LETTER_PIECE,     /* a part of an offered one */
    LETTER_NEWS,      /* a message that will be offered to who asks; address is its serial number */
    LETTER_QUESTION,  /* asks for it */
    LETTER_REPLY      /* the offer that was asked for; slot is the serial number */
} letter_kind;

typedef struct letter {
    letter_kind kind;
    uint8_t ticket;  /* of an offer, and of its pieces */
    uint32_t inside; /* bytes that come with it */
    uint64_t slot;
    uint64_t size; /* of the message */
    uint64_t address;
} letter;

typedef struct ring {
    segment_ring *shared;
    size_t bytes;
    uint64_t at;   /* how far this side is */
    uint64_t head; /* writer: how far the reader was, when last looked at */
} ring;

ring ring_of(const segment *in, int from, int to);

/* How much can be inside of a letter at most. */
size_t ring_most(const ring *of);

/* Writes a letter, and false where there is no room yet. */
bool ring_put(ring *of, const letter *what, const void *inside);

/* Whether there is a letter; it stays until ring_take, which copies what is inside. One that makes
 * no sense has kind 0. */
bool ring_look(const ring *of, letter *what);
void ring_take(ring *of, const letter *what, void *inside);

#endif

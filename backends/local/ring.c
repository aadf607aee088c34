/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rings of letters.
 */
#include "config.h"

#include "ring.h"

#include <string.h>

/* As it lies in the ring. */
typedef struct ring_letter {
    _Atomic uint32_t stamp; /* kind, and the ticket above it; 0: not there yet */
    uint32_t inside;
    uint64_t slot;
    uint64_t size;
    uint64_t address;
} ring_letter;

_Static_assert(sizeof(ring_letter) == RING_LETTER, "a letter's head");

enum { KIND_BITS = 8 };

static ring_letter *at(const ring *of, uint64_t place)
{
    return (ring_letter *)(void *)(of->shared->bytes + (place & (of->bytes - 1)));
}

static uint64_t length_of(uint32_t inside)
{
    return ((uint64_t)RING_LETTER + inside + RING_LINE - 1) / RING_LINE * RING_LINE;
}

ring ring_of(const segment *in, int from, int to)
{
    return (ring){.shared = segment_at_ring(in, from, to), .bytes = in->ring_bytes};
}

size_t ring_most(const ring *of)
{
    return of->bytes / 4 - RING_LETTER;
}

/* What is inside may go round the ring's end. */
static void copy_in(const ring *of, uint64_t place, const void *from, size_t size)
{
    size_t offset = place & (of->bytes - 1), first = of->bytes - offset;
    first = first > size ? size : first;
    memcpy(of->shared->bytes + offset, from, first);
    memcpy(of->shared->bytes, (const char *)from + first, size - first);
}

static void copy_out(const ring *of, uint64_t place, void *to, size_t size)
{
    size_t offset = place & (of->bytes - 1), first = of->bytes - offset;
    first = first > size ? size : first;
    memcpy(to, of->shared->bytes + offset, first);
    memcpy((char *)to + first, of->shared->bytes, size - first);
}

bool ring_put(ring *of, const letter *what, const void *inside)
{
    uint64_t length = length_of(what->inside);
    if (of->at + length - of->head > of->bytes) {
        of->head = atomic_load(&of->shared->head);
        if (of->at + length - of->head > of->bytes)
            return false;
    }
    ring_letter *to = at(of, of->at);
    to->inside = what->inside;
    to->slot = what->slot;
    to->size = what->size;
    to->address = what->address;
    if (what->inside > 0)
        copy_in(of, of->at + RING_LETTER, inside, what->inside);
    atomic_store(&to->stamp, (uint32_t)what->kind | (uint32_t)what->ticket << KIND_BITS);
    of->at += length;
    return true;
}

bool ring_look(const ring *of, letter *what)
{
    const ring_letter *from = at(of, of->at);
    uint32_t stamp = atomic_load(&from->stamp);
    if (stamp == 0)
        return false;
    *what = (letter){.kind = (letter_kind)(stamp & ((1U << KIND_BITS) - 1)),
                     .ticket = (uint8_t)(stamp >> KIND_BITS),
                     .inside = from->inside,
                     .slot = from->slot,
                     .size = from->size,
                     .address = from->address};
    if (what->kind > LETTER_REPLY || what->inside > ring_most(of))
        what->kind = (letter_kind)0;
    return true;
}

void ring_take(ring *of, const letter *what, void *inside)
{
    uint64_t end = of->at + length_of(what->inside);
    if (what->inside > 0)
        copy_out(of, of->at + RING_LETTER, inside, what->inside);
    for (; of->at < end; of->at += RING_LINE)
        atomic_store_explicit(&at(of, of->at)->stamp, 0, memory_order_relaxed);
    atomic_store(&of->shared->head, of->at);
}

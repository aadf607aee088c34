/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bell of a rank: its threads sleep until somebody rings. Ringing costs a look where nobody
 * sleeps.
 *
 * Who wants to sleep answers first, looks once more whether there is something to do, and then
 * sleeps: what was done before a ring is seen in that look, or the sleep ends at once.
 */
#ifndef MUSTER_LOCAL_BELL_H
#define MUSTER_LOCAL_BELL_H

#include "base/deadline.h"
#include "segment.h"

/* Says that this thread is about to sleep; the number is bell_sleep's. */
uint32_t bell_answer(segment_cell *cell);

/* Until it rings, or a signal comes, so long at most; the thread counts as awake again. */
void bell_sleep(segment_cell *cell, uint32_t number, deadline end);

/* Instead of sleeping. */
void bell_stay_awake(segment_cell *cell);

/* After something was written, with memory_order_seq_cst, that its threads may wait for. */
void bell_ring(segment_cell *cell);

/* Sleeping on a word of the segment alone, and waking who does. */
void bell_sleep_on(_Atomic uint32_t *word, uint32_t number, deadline end);
void bell_wake_all(_Atomic uint32_t *word);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The latest collectives of a group on this rank, so that ranks which wait in vain can find out
 * whether another has made another call, even where that one went on since.
 */
#ifndef MUSTER_LIB_CALLS_H
#define MUSTER_LIB_CALLS_H

#include <stdatomic.h>

#include "collective/label.h"

enum { CALLS_KEPT = 16, CALLS_WORDS = 160, CALLS_TEXT = CALLS_KEPT * (CALLS_WORDS + 24) };

/* A call as others may read it while the next one is written over it: the number is 0 meanwhile,
 * and where there is none. */
typedef struct call_note {
    _Atomic uint64_t sequence;
    _Atomic uint64_t count;
    _Atomic uint64_t shape; /* all else */
} call_note;

/* Written by one thread at a time, those that run the group's collectives, and read by any. The
 * call of number n is at n % CALLS_KEPT. */
typedef struct call_list {
    _Atomic uint64_t latest; /* number; 0: there was none */
    call_note calls[CALLS_KEPT];
} call_list;

void calls_note(call_list *list, const message_label *label);

/* Of what was noted of the latest one. False where there is none. */
bool calls_last(const call_list *list, message_label *label);

/* As at first. */
void calls_clear(call_list *list);

/* The same of the one of that number. */
bool calls_find(const call_list *list, uint64_t number, message_label *label);

/* A line "<number> <call>" for each, the latest one first, and behind them whether the rank is in
 * that one and waits. Returns text, of CALLS_TEXT bytes. */
const char *calls_text(const call_list *list, bool waits, char *text);

/* Whether the text says that the rank waits in its latest call. */
bool calls_waits(const char *text);

/* The call of the first line, and its number. */
uint64_t calls_latest(const char *text, char *words, size_t size);

/* Two ranks' calls of one number that are not the same. */
typedef struct calls_difference {
    uint64_t number;
    char ours[CALLS_WORDS];
    char theirs[CALLS_WORDS];
} calls_difference;

/* Compares what both texts have; the first difference that there was. False where there is none. */
bool calls_differ(const char *ours, const char *theirs, calls_difference *found);

/* Whether the text has the call of that number. */
bool calls_has(const char *text, uint64_t number);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ragged gathers: what gathering lists of tokens and lists of objects have in common.
 *
 * Three steps, on the group's own thread. First every rank tells every other, in one message of a
 * fixed size, how much it brings, in what range its numbers are, or why it can't contribute. Then,
 * knowing the total, those who receive get the memory and everybody hears whether they could. Then
 * the payload moves, exactly as long as it is. A rank that fails in the first two steps makes all
 * ranks return the same error, and nothing is out of step. Only a rank that lacks even the kilobyte
 * for each rank that it takes to say so fails the group.
 */
#ifndef MUSTER_LIB_GATHER_H
#define MUSTER_LIB_GATHER_H

#include "compose.h"

/* The root of a gather that has none; no caller can pass it, since theirs is an int. */
#define GATHER_TO_ALL INT64_MIN

/* What one rank brings. */
typedef struct gather_share {
    uint64_t items;    /* lists, or objects */
    uint64_t elements; /* tokens, or bytes */
    uint64_t longest;  /* item */
    int64_t low;       /* the range of the elements' values; low > high where there are none */
    int64_t high;
} gather_share;

/* A gather under way. */
typedef struct gather {
    muster_group *group;
    message_label label;
    deadline end;
    int64_t root;         /* or GATHER_TO_ALL */
    bool receives;        /* this rank gets the result */
    gather_share *shares; /* one a rank */
    size_t items;         /* of all ranks together */
    size_t elements;
    uint64_t longest;
    int64_t low;
    int64_t high;
    size_t *bytes;          /* of each rank's payload */
    size_t *offsets;        /* of each rank's payload */
    unsigned char *payload; /* of all ranks, or this one's alone where it does not receive */
} gather;

/* MUSTER_OK for a root that the group has, or GATHER_TO_ALL, and a place for the result. */
muster_status gather_check_call(const muster_group *group, int64_t root, const void *all);

/* Begins; the ranks also agree on root here, and on nothing being wrong. status is how the caller's
 * arguments were found, with the thread's last error as its words; share is what this rank brings
 * if they are right. */
muster_status gather_begin(gather *g, muster_group *group, message_kind kind, int64_t root,
                           muster_status status, const gather_share *share);

/*
 * Lays out the payload for items and elements of these widths in bytes and gets the memory for it;
 * status is how this rank's own preparations went. All ranks return the same.
 */
muster_status gather_prepare(gather *g, size_t item_width, size_t element_width,
                             muster_status status);

/* Moves the payload, after this rank has written its own at its place. */
muster_status gather_carry(gather *g);

void gather_end(gather *g);

/* Where in the payload the items and the elements of a rank are. */
unsigned char *gather_items(const gather *g, int rank);
unsigned char *gather_elements(const gather *g, int rank, size_t item_width);

#endif

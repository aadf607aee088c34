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

#include "collective/compose.h"

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

/* What a gather of one kind of thing does by itself. mine is the caller's argument, which may be
 * NULL. */
typedef struct gather_kind {
    message_kind kind;
    /* Checks mine and says what this rank brings; the sentence of a failure begins with "it". */
    muster_status (*measure)(const void *mine, gather_share *share);
    /* With the shares of all ranks known: prepares, writes mine, carries, and where this rank
     * receives makes *result, which begins with the struct that the caller sees. */
    muster_status (*collect)(gather *g, const void *mine, void **result);
    void (*free_result)(void *result); /* accepts NULL */
} gather_kind;

/* The whole of a call of function: issues the gather and waits for it. has_place tells whether the
 * caller gave a place for the result. *result is NULL where this rank receives nothing. */
muster_status gather_call(muster_group *group, const gather_kind *kind, const char *function,
                          const void *mine, int64_t root, bool has_place, void **result);

/*
 * Lays out the payload for items and elements of these widths in bytes and gets the memory for it;
 * status is how this rank's own preparations went. All ranks return the same.
 */
muster_status gather_prepare(gather *g, size_t item_width, size_t element_width,
                             muster_status status);

/* Moves the payload, after this rank has written its own at its place. */
muster_status gather_carry(gather *g);

/* Where in the payload the items and the elements of a rank are. */
unsigned char *gather_items(const gather *g, int rank);
unsigned char *gather_elements(const gather *g, int rank, size_t item_width);

#endif

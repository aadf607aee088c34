/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What lies in a hall's part of the segment, and what each rank keeps of it for itself.
 *
 * Every rank has a room: words that it alone writes (but the doorbell's) and shelves for what is
 * too large for a word's own cache lines. All numbers count up for ever and wrap; two of them are
 * compared by their difference, since no rank is ever far ahead of another.
 */
#ifndef MUSTER_LOCAL_HALL_MEMORY_H
#define MUSTER_LOCAL_HALL_MEMORY_H

#include <stdalign.h>
#include <string.h>

#include "hall.h"

enum {
    HALL_LINE = 64,
    HALL_AHEAD = 128, /* so many operations a rank may be ahead of another */
    HALL_SLOTS = 256, /* twice as many, so that those of late can be read in peace */
    HALL_INSIDE = 40, /* bytes that go along in a slot */
    HALL_TRAYS = 16,
    HALL_PAYLOAD = 3 * 1024,
    HALL_TELLS = HALL_TRAYS, /* a rank has told of all but so many operations that it has left */
    HALL_PIECES = 4,         /* a shelf has room for so many */
    HALL_PIECE = 128 * 1024  /* bytes */
};

/* What a rank says as it comes to an operation: one line goes from one core to the other. */
typedef struct hall_slot {
    alignas(HALL_LINE) _Atomic uint32_t stamp; /* number of the operation, written last */
    uint32_t unused;
    uint64_t digest; /* of the labels of all operations so far */
    double scalar;
    unsigned char inside[HALL_INSIDE];
} hall_slot;

_Static_assert(sizeof(hall_slot) == HALL_LINE, "a slot is a line");

/* What is too large for a slot and small enough to go at once; of the same operation. */
typedef struct hall_tray {
    alignas(HALL_LINE) unsigned char payload[HALL_PAYLOAD];
} hall_tray;

/* How far it has come in the turns of operations that go piece by piece. */
typedef struct hall_steps {
    alignas(HALL_LINE) _Atomic uint32_t in; /* turns of which its piece is on the shelf */
    _Atomic uint32_t mid;                   /* turns of which its share is reduced */
    _Atomic uint32_t out;                   /* turns of which it needs no other's piece any more */
    _Atomic uint32_t done;                  /* operations, written now and then; see round_leave */
} hall_steps;

/* Where it is woken. */
typedef struct hall_doorbell {
    alignas(HALL_LINE) _Atomic uint32_t rings;
    _Atomic uint32_t waits_for; /* the rank that is to wake it, plus 1; 0: nobody need */
} hall_doorbell;

typedef struct hall_room {
    hall_doorbell bell;
    hall_steps steps;
    hall_slot slots[HALL_SLOTS];
    alignas(HALL_LINE) uint64_t labels[HALL_SLOTS][MUSTER_LABEL_MAX / 8];
    hall_tray trays[HALL_TRAYS];
} hall_room;

typedef enum hall_state { HALL_WHOLE, HALL_BROKEN, HALL_MISMATCHED } hall_state;

/* The beginning of the segment; rooms and shelves follow. */
typedef struct hall_lobby {
    alignas(HALL_LINE) _Atomic uint32_t state;  /* a hall_state */
    alignas(HALL_LINE) _Atomic uint32_t asleep; /* ranks on their doorbells */
} hall_lobby;

struct hall {
    const muster_host *host;
    int rank, size;
    bool cores_for_all;
    bool sleepers_fence; /* who sleeps sees to it that what this rank has written is seen */
    void (*waits)(void *waiter);
    void *waiter;
    hall_lobby *lobby;
    hall_room *rooms;
    char *shelves;

    uint32_t number; /* of the operation that runs, or ran last */
    uint64_t digest;
    uint32_t turns;      /* of all operations before */
    uint32_t *passed;    /* operations that each rank has surely left */
    uint32_t all_passed; /* not more than any other rank's */
    uint32_t told;       /* what the others surely know of this one */
    bool *waited_for;    /* by the latest operation that timed out */
    int crowded;         /* waits to come in which it does not yield */
    muster_reduce_input *inputs;
    traffic traffic;

    /* Of the operation that runs. */
    const muster_call *call;
    int64_t timeout_ms;
    deadline end; /* once it has had to wait for long, else 0 */
};

static inline hall_room *hall_my_room(const hall *of)
{
    return &of->rooms[of->rank];
}

/* A rank's place for the piece of a turn. */
static inline char *hall_shelf(const hall *of, int rank, uint32_t turn)
{
    size_t piece = (size_t)rank * HALL_PIECES + turn % HALL_PIECES;
    return of->shelves + piece * HALL_PIECE;
}

static inline bool hall_reached(uint32_t number, uint32_t target)
{
    return (int32_t)(number - target) >= 0;
}

#endif

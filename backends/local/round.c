/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How ranks meet for an operation.
 *
 * A slot is used again HALL_SLOTS operations later, when every rank has left the one that it was
 * for. That costs nothing where all ranks wait for all: who has come to an operation has left those
 * before. After others each rank says so in a word of its own, which is looked at when a slot is
 * needed again.
 */
#include "config.h"

#include "round.h"

static void note_passed(hall *of, int rank, uint32_t number)
{
    if (!hall_reached(of->passed[rank], number))
        of->passed[rank] = number;
}

/* Until all ranks have left the operation whose slot comes next. */
static muster_status await_slot(hall *of)
{
    uint32_t last = of->number - HALL_SLOTS;
    muster_status status = MUSTER_OK;
    for (int r = 0; status == MUSTER_OK && r < of->size; r++) {
        if (r == of->rank || hall_reached(of->passed[r], last))
            continue;
        const _Atomic uint32_t *done = &of->rooms[r].steps.done;
        status = station_wait(of, r, done, last);
        note_passed(of, r, atomic_load_explicit(done, memory_order_relaxed));
    }
    return status;
}

/* Every label goes into the digest of all, so that a difference shows whenever two ranks meet. */
static void add_label(hall *of)
{
    unsigned char *label = hall_my_room(of)->labels[of->number % HALL_LABELS];
    uint64_t words[MUSTER_LABEL_MAX / 8] = {0};
    size_t size = of->call->label_size;
    memcpy(words, of->call->label, size < sizeof(words) ? size : sizeof(words));
    memcpy(label, words, sizeof(words));
    uint64_t digest = of->digest;
    for (size_t i = 0; i < sizeof(words) / 8; i++) {
        digest = (digest ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        digest ^= digest >> 29;
    }
    of->digest = digest;
}

muster_status round_begin(hall *of, hall_slot **slot)
{
    of->number++;
    muster_status status = await_slot(of);
    if (status != MUSTER_OK)
        return status;
    add_label(of);
    *slot = &hall_my_room(of)->slots[of->number % HALL_SLOTS];
    (*slot)->digest = of->digest;
    (*slot)->scalar = of->call->scalar;
    return MUSTER_OK;
}

void round_tell(hall *of)
{
    station_write(of, &hall_my_room(of)->slots[of->number % HALL_SLOTS].stamp, of->number);
}

bool round_has_come(const hall *of, int rank)
{
    const _Atomic uint32_t *stamp = &of->rooms[rank].slots[of->number % HALL_SLOTS].stamp;
    return hall_reached(atomic_load_explicit(stamp, memory_order_acquire), of->number);
}

/* The oldest operation of late in which peer's label was another; false if there is none. A rank
 * that has come this far writes no label over that this one looks at. */
static bool find_difference(hall *of, int peer, uint32_t *number)
{
    for (uint32_t back = HALL_SLOTS; back-- > 0;) {
        uint32_t at = of->number - back;
        if (at == 0 || at > of->number)
            continue;
        if (memcmp(of->rooms[peer].labels[at % HALL_LABELS],
                   hall_my_room(of)->labels[at % HALL_LABELS], MUSTER_LABEL_MAX) != 0) {
            *number = at;
            return true;
        }
    }
    return false;
}

static muster_status mismatch(hall *of, int peer, uint32_t number)
{
    const muster_call *call = of->call;
    *call->other_rank = peer;
    size_t size = call->label_size < MUSTER_LABEL_MAX ? call->label_size : MUSTER_LABEL_MAX;
    memcpy(call->other_label, of->rooms[peer].labels[number % HALL_LABELS], size);
    station_break(of, HALL_MISMATCHED);
    return of->host->error(MUSTER_ERR_MISMATCH,
                           "rank %d of this host has come to another operation", peer);
}

muster_status round_find_mismatch(hall *of)
{
    uint32_t number;
    for (int r = 0; r < of->size; r++)
        if (r != of->rank && round_has_come(of, r) && round_slot(of, r)->digest != of->digest &&
            find_difference(of, r, &number))
            return mismatch(of, r, number);
    *of->call->other_rank = -1;
    return of->host->error(MUSTER_ERR_MISMATCH, "other ranks of this host disagree");
}

muster_status round_meet(hall *of, int peer, const hall_slot **slot)
{
    const hall_slot *theirs = round_slot(of, peer);
    muster_status status = station_wait(of, peer, &theirs->stamp, of->number);
    if (status != MUSTER_OK)
        return status;
    if (theirs->digest != of->digest) {
        uint32_t number = of->number;
        find_difference(of, peer, &number);
        return mismatch(of, peer, number);
    }
    note_passed(of, peer, of->number - 1);
    *slot = theirs;
    return MUSTER_OK;
}

muster_status round_meet_all(hall *of)
{
    const hall_slot *slot;
    muster_status status = MUSTER_OK;
    for (int step = 1; status == MUSTER_OK && step < of->size; step++)
        status = round_meet(of, (of->rank + step) % of->size, &slot);
    return status;
}

void round_leave(hall *of)
{
    station_write(of, &hall_my_room(of)->steps.done, of->number);
}

muster_status round_await_leave(hall *of, int peer)
{
    muster_status status = station_wait(of, peer, &of->rooms[peer].steps.done, of->number);
    if (status == MUSTER_OK)
        note_passed(of, peer, of->number);
    return status;
}

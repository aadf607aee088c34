/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How ranks meet for an operation.
 *
 * A slot is written over HALL_SLOTS operations later, and nobody is ahead of another by more than
 * half as many, so that what was said of late is still there when a rank finds that it differs.
 * Trays are fewer. That costs nothing where all ranks wait for all: who has come to an operation
 * has left those before. Else each rank says now and then in a word of its own how far it is, which
 * is looked at when a slot or tray is needed again. It has told of all but the last HALL_TELLS
 * operations, no more than there are trays, so that nobody waits for what will not be said.
 */
#include "config.h"

#include "round.h"

enum { LOOKS_A_WHILE = 8 }; /* operations from one look to the next */

static void note_passed(hall *of, int rank, uint32_t number)
{
    if (!hall_reached(of->passed[rank], number))
        of->passed[rank] = number;
}

/* Until all ranks have left an operation. */
static muster_status await_left(hall *of, uint32_t last)
{
    uint32_t least = of->number - 1;
    muster_status status = MUSTER_OK;
    for (int r = 0; status == MUSTER_OK && r < of->size; r++) {
        if (r == of->rank)
            continue;
        const _Atomic uint32_t *done = &of->rooms[r].steps.done;
        if (!hall_reached(of->passed[r], last)) {
            status = station_wait(of, r, done, last);
            note_passed(of, r, atomic_load_explicit(done, memory_order_relaxed));
        }
        if (!hall_reached(of->passed[r], least))
            least = of->passed[r];
    }
    if (status == MUSTER_OK)
        of->all_passed = least;
    return status;
}

/* Has a line that will be written to come meanwhile: others have it from when they read it. */
static inline void fetch_to_write(const void *line)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/* Every label goes into the digest of all, so that a difference shows whenever two ranks meet. */
static void add_label(hall *of)
{
    static const uint64_t factors[MUSTER_LABEL_MAX / 8] = {
        UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xc2b2ae3d27d4eb4f), UINT64_C(0x165667b19e3779f9),
        UINT64_C(0xd6e8feb86659fd93), UINT64_C(0xa0761d6478bd642f), UINT64_C(0xe7037ed1a0b428db)};
    uint64_t *label = hall_my_room(of)->labels[of->number % HALL_SLOTS];
    const char *said = of->call->label;
    size_t size = of->call->label_size, i = 0;
    uint64_t sum = 0, word;
    for (; (i + 1) * 8 <= size; i++) {
        memcpy(&word, said + i * 8, 8);
        label[i] = word;
        sum += word * factors[i];
    }
    if (i * 8 < size) {
        word = 0;
        memcpy(&word, said + i * 8, size - i * 8);
        label[i] = word;
        sum += word * factors[i];
    }
    uint64_t digest = (of->digest ^ sum ^ sum >> 32) * factors[0];
    of->digest = digest ^ digest >> 29;
}

muster_status round_begin(hall *of, hall_slot **slot)
{
    of->number++;
    uint32_t last = of->number - HALL_AHEAD;
    muster_status status = hall_reached(of->all_passed, last) ? MUSTER_OK : await_left(of, last);
    if (status != MUSTER_OK)
        return status;
    hall_slot *slots = hall_my_room(of)->slots;
    fetch_to_write(&slots[(of->number + 2) % HALL_SLOTS]);
    add_label(of);
    *slot = &slots[of->number % HALL_SLOTS];
    (*slot)->digest = of->digest;
    (*slot)->scalar = of->call->scalar;
    return MUSTER_OK;
}

muster_status round_await_tray(hall *of)
{
    uint32_t last = of->number - HALL_TRAYS;
    return hall_reached(of->all_passed, last) ? MUSTER_OK : await_left(of, last);
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

/* The oldest operation of late, up to the given one, in which peer's label was another; false if
 * there is none. A rank that has come this far writes no label over that this one looks at. */
static bool find_difference(hall *of, int peer, uint32_t upto, uint32_t *number)
{
    for (uint32_t back = HALL_AHEAD; back-- > 0;) {
        uint32_t at = upto - back;
        if (at == 0 || at > upto)
            continue;
        if (memcmp(of->rooms[peer].labels[at % HALL_SLOTS],
                   hall_my_room(of)->labels[at % HALL_SLOTS], MUSTER_LABEL_MAX) != 0) {
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
    memcpy(call->other_label, of->rooms[peer].labels[number % HALL_SLOTS], size);
    station_break(of, HALL_MISMATCHED);
    return of->host->error(MUSTER_ERR_MISMATCH,
                           "rank %d of this host has come to another operation", peer);
}

/* Whether peer has come to an operation of late and said something else. */
static bool disagrees(const hall *of, int peer, uint32_t number)
{
    const hall_slot *theirs = &of->rooms[peer].slots[number % HALL_SLOTS];
    const hall_slot *mine = &hall_my_room(of)->slots[number % HALL_SLOTS];
    return atomic_load_explicit(&theirs->stamp, memory_order_acquire) == number &&
           theirs->digest != mine->digest;
}

muster_status round_look(hall *of)
{
    uint32_t at = of->number - LOOKS_A_WHILE, number = at;
    if (of->number % LOOKS_A_WHILE != 0)
        return MUSTER_OK;
    for (int r = 0; r < of->size; r++)
        if (r != of->rank && disagrees(of, r, at)) {
            find_difference(of, r, at, &number);
            return mismatch(of, r, number);
        }
    return MUSTER_OK;
}

/* The latest operation that peer has come to as well as this rank; false where it is none of late.
 */
static bool find_common(const hall *of, int peer, uint32_t *number)
{
    for (uint32_t back = 0; back < HALL_AHEAD; back++) {
        *number = of->number - back;
        const hall_slot *slot = &of->rooms[peer].slots[*number % HALL_SLOTS];
        if (atomic_load_explicit(&slot->stamp, memory_order_acquire) == *number)
            return true;
    }
    return false;
}

muster_status round_find_mismatch(hall *of)
{
    uint32_t at, number;
    for (int r = 0; r < of->size; r++)
        if (r != of->rank && find_common(of, r, &at) && disagrees(of, r, at) &&
            find_difference(of, r, at, &number))
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
        find_difference(of, peer, of->number, &number);
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
    if (status == MUSTER_OK)
        of->all_passed = of->number - 1;
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading other ranks' memory where it is.
 */
#include "config.h"

#include "direct.h"

#include <errno.h>
#include <stdio.h>
#ifdef __linux__
#include <sys/uio.h>
#endif

#include "round.h"

/* Between two of these the reader looks whether the hall is whole. */
enum { DIRECT_BYTES = 4 << 20 };

static muster_status refuse(hall *of, int peer, const char *why)
{
    station_break(of, HALL_BROKEN);
    return of->host->error(MUSTER_ERR_FAILED, "can't read the memory of rank %d of this host: %s",
                           peer, why);
}

#ifdef __linux__
static muster_status read_some(hall *of, int peer, char *to, uint64_t from, size_t bytes)
{
    while (bytes > 0) {
        struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)from, bytes};
        ssize_t got = process_vm_readv(of->pids[peer], &here, 1, &there, 1, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return refuse(of, peer, got < 0 ? strerror(errno) : "nothing is there");
        to += got;
        from += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return MUSTER_OK;
}
#else
static muster_status read_some(hall *of, int peer, char *to, uint64_t from, size_t bytes)
{
    (void)to, (void)from, (void)bytes;
    return refuse(of, peer, "this system has no way to");
}
#endif

muster_status direct_read(hall *of, int peer, void *to, uint64_t from, size_t bytes)
{
    muster_status status = MUSTER_OK;
    for (size_t first = 0; status == MUSTER_OK && first < bytes; first += DIRECT_BYTES) {
        size_t some = bytes - first < DIRECT_BYTES ? bytes - first : DIRECT_BYTES;
        status = read_some(of, peer, (char *)to + first, from + first, some);
        if (status == MUSTER_OK)
            status = station_check(of);
    }
    return status;
}

static muster_status take_from(hall *of, const hall_moves *moves, int from)
{
    const hall_slot *slot;
    muster_status status = round_meet(of, from, &slot);
    if (status != MUSTER_OK)
        return status;
    size_t offset = moves->each ? moves->out.stride * (size_t)of->rank : 0;
    return direct_read(of, from, (char *)of->call->receive + hall_block_offset(&moves->in, from),
                       direct_send_of(slot) + offset, hall_block_bytes(&moves->in, from));
}

static muster_status take(hall *of, const hall_moves *moves)
{
    muster_status status = MUSTER_OK;
    for (int step = 1; status == MUSTER_OK && step < of->size; step++) {
        int from = (of->rank + step) % of->size;
        if (hall_takes_from(of, moves, from))
            status = take_from(of, moves, from);
    }
    return status;
}

/* Those who read this rank's send have come; whom it takes from it has met. */
static muster_status meet_readers(hall *of, const hall_moves *moves)
{
    const hall_slot *slot;
    muster_status status = MUSTER_OK;
    for (int r = 0; status == MUSTER_OK && r < of->size; r++)
        if (hall_gives_to(of, moves, r) && !hall_takes_from(of, moves, r))
            status = round_meet(of, r, &slot);
    return status;
}

/* Nobody reads this rank's send any more. */
static muster_status await_readers(hall *of, const hall_moves *moves)
{
    muster_status status = MUSTER_OK;
    for (int r = 0; status == MUSTER_OK && r < of->size; r++)
        if (hall_gives_to(of, moves, r))
            status = round_await_leave(of, r);
    return status;
}

muster_status direct_move(hall *of)
{
    const hall_moves moves = hall_moves_of(of);
    bool over_own = of->call->operation == MUSTER_OPERATION_SCATTER;
    hall_slot *slot;
    muster_status status = round_begin(of, &slot);
    if (status != MUSTER_OK)
        return status;
    direct_offer(slot, of->call->send);
    round_tell(of);
    status = take(of, &moves);
    /* In a scatter root's block may be wanted where others' blocks still are. */
    if (status == MUSTER_OK && !over_own)
        hall_move_own(of, &moves);
    if (status == MUSTER_OK)
        status = meet_readers(of, &moves);
    if (status != MUSTER_OK)
        return status;
    round_leave(of);
    status = await_readers(of, &moves);
    if (status == MUSTER_OK)
        status = station_check(of);
    if (status == MUSTER_OK && over_own)
        hall_move_own(of, &moves);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hall where the ranks of one host meet: opening it, and choosing how an operation goes.
 */
#include "config.h"

#include "hall.h"

#include <stdlib.h>

#include "brief.h"
#include "round.h"
#include "shelf.h"
#include "small.h"

enum { MOST_RANKS = 1024, PAGE = 4096 };

static size_t rooms_bytes(int size)
{
    size_t bytes = sizeof(hall_lobby) + (size_t)size * sizeof(hall_room);
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

size_t hall_bytes(int size)
{
    return rooms_bytes(size) + (size_t)size * HALL_PIECES * HALL_PIECE;
}

muster_status hall_open(hall **made, const hall_place *place)
{
    if (place->size < 1 || place->size > MOST_RANKS)
        return place->host->error(MUSTER_ERR_UNSUPPORTED,
                                  "shared memory serves up to %d ranks of a host and there are %d",
                                  MOST_RANKS, place->size);
    size_t n = (size_t)place->size;
    hall *of = calloc(1, sizeof(*of));
    if (of == NULL)
        return place->host->error(MUSTER_ERR_NO_MEMORY, "no memory for a hall");
    *of = (hall){.host = place->host,
                 .rank = place->rank,
                 .size = place->size,
                 .cores_for_all = place->cores_for_all,
                 .sleepers_fence = station_sleepers_fence(),
                 .waits = place->waits,
                 .waiter = place->waiter,
                 .lobby = place->base,
                 .rooms = (hall_room *)((hall_lobby *)place->base + 1),
                 .shelves = (char *)place->base + rooms_bytes(place->size),
                 .passed = calloc(n, sizeof(*of->passed)),
                 .waited_for = calloc(n, sizeof(*of->waited_for)),
                 .inputs = calloc(n, sizeof(*of->inputs))};
    if (of->passed == NULL || of->waited_for == NULL || of->inputs == NULL) {
        hall_close(of);
        return place->host->error(MUSTER_ERR_NO_MEMORY, "no memory for a hall of %d ranks",
                                  place->size);
    }
    *made = of;
    return MUSTER_OK;
}

void hall_close(hall *of)
{
    if (of == NULL)
        return;
    free(of->passed);
    free(of->waited_for);
    free(of->inputs);
    free(of);
}

bool hall_can(const muster_call *call)
{
    return call->operation != MUSTER_OPERATION_SEND_RECV;
}

static muster_status run_large(hall *of)
{
    switch (of->call->operation) {
    case MUSTER_OPERATION_REDUCE:
    case MUSTER_OPERATION_ALL_REDUCE:
        return shelf_reduce(of);
    case MUSTER_OPERATION_REDUCE_SCATTER:
        return shelf_reduce_scatter(of);
    default:
        return shelf_move(of);
    }
}

muster_status hall_run(hall *of, const muster_call *call, int64_t timeout_ms)
{
    of->call = call;
    of->timeout_ms = timeout_ms;
    of->end.at_ns = 0;
    muster_status status = station_check(of);
    if (status != MUSTER_OK)
        return status;
    if (brief_fits(call))
        return brief_run(of);
    bool in_slots = small_fits(of);
    status = in_slots ? small_run(of) : run_large(of);
    if (status == MUSTER_OK)
        traffic_add(&of->traffic, call, of->rank, of->size, in_slots);
    return status;
}

void hall_break(hall *of)
{
    station_break(of, HALL_BROKEN);
}

const traffic *hall_traffic(const hall *of)
{
    return &of->traffic;
}

bool hall_waited_for(const hall *of, int rank)
{
    return of->waited_for[rank];
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations whose data goes along in the slots.
 */
#include "config.h"

#include "brief.h"

#include "blocks.h"
#include "round.h"

/* How a rank takes part. */
typedef struct part {
    bool gives;
    bool together; /* all wait for all */
    int from;      /* the one that it takes from; EVERYBODY; this rank: nobody */
} part;

enum { EVERYBODY = -1 };

static inline size_t bytes_of(const muster_call *call)
{
    return call->count * hall_element_size(call->type);
}

bool brief_fits(const muster_call *call)
{
    switch (call->operation) {
    case MUSTER_OPERATION_BARRIER:
        return true;
    case MUSTER_OPERATION_BROADCAST:
    case MUSTER_OPERATION_REDUCE:
    case MUSTER_OPERATION_ALL_REDUCE:
        return call->count <= HALL_INSIDE && bytes_of(call) <= HALL_INSIDE;
    case MUSTER_OPERATION_GATHER:
    case MUSTER_OPERATION_ALL_GATHER:
        return call->uniform && call->count <= HALL_INSIDE && bytes_of(call) <= HALL_INSIDE;
    default: /* they give each rank something else */
        return false;
    }
}

static inline part part_of(const hall *of)
{
    const muster_call *call = of->call;
    bool root = of->rank == call->root;
    switch (call->operation) {
    case MUSTER_OPERATION_BARRIER:
        return (part){.together = true, .from = EVERYBODY};
    case MUSTER_OPERATION_BROADCAST:
        return (part){.gives = root, .from = call->root};
    case MUSTER_OPERATION_REDUCE:
    case MUSTER_OPERATION_GATHER:
        return (part){.gives = !root, .from = root ? EVERYBODY : of->rank};
    default:
        return (part){.gives = true, .together = true, .from = EVERYBODY};
    }
}

/* Most are of one element. */
static inline void copy(void *to, const void *from, size_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else if (bytes > 0)
        memcpy(to, from, bytes);
}

static void take_reduced(hall *of)
{
    const muster_call *call = of->call;
    for (int r = 0; r < of->size; r++)
        of->inputs[r] = (muster_reduce_input){round_slot(of, r)->inside, round_slot(of, r)->scalar};
    of->inputs[of->rank] = (muster_reduce_input){call->send, call->scalar};
    of->host->reduce(call->receive, of->inputs, (size_t)of->size, call->count, call->type,
                     call->redop);
}

static void take_all(hall *of, size_t bytes)
{
    char *receive = of->call->receive, *own = receive + bytes * (size_t)of->rank;
    for (int r = 0; r < of->size; r++)
        if (r != of->rank)
            copy(receive + bytes * (size_t)r, round_slot(of, r)->inside, bytes);
    if (of->call->send != own)
        copy(own, of->call->send, bytes);
}

/* The data of those that were met. */
static void take(hall *of, const part *mine, size_t bytes)
{
    switch (of->call->operation) {
    case MUSTER_OPERATION_BARRIER:
        return;
    case MUSTER_OPERATION_BROADCAST:
        if (mine->from != of->rank)
            copy(of->call->receive, round_slot(of, mine->from)->inside, bytes);
        return;
    case MUSTER_OPERATION_REDUCE:
    case MUSTER_OPERATION_ALL_REDUCE:
        if (mine->from == EVERYBODY && bytes > 0)
            take_reduced(of);
        return;
    default:
        if (mine->from == EVERYBODY)
            take_all(of, bytes);
    }
}

static inline muster_status meet(hall *of, const part *mine)
{
    const hall_slot *slot;
    if (mine->from == EVERYBODY)
        return round_meet_all(of);
    if (mine->from == of->rank)
        return round_look(of);
    return round_meet(of, mine->from, &slot);
}

muster_status brief_run(hall *of)
{
    const part mine = part_of(of);
    size_t bytes = bytes_of(of->call);
    hall_slot *slot;
    muster_status status = round_begin(of, &slot);
    if (status != MUSTER_OK)
        return status;
    if (mine.gives)
        copy(slot->inside, of->call->send, bytes);
    round_tell(of);
    status = meet(of, &mine);
    if (status != MUSTER_OK)
        return status;
    take(of, &mine, bytes);
    size_t givers = mine.from == EVERYBODY ? (size_t)of->size - 1 : mine.from != of->rank;
    traffic_add_bytes(&of->traffic, mine.gives ? bytes : 0, givers * bytes);
    if (mine.together)
        round_leave_met(of);
    else
        round_leave(of);
    return MUSTER_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collectives: a row for each, and how it is carried out with what compose.h has. In a group of
 * one rank nothing is exchanged, and a rank's own block is all that moves.
 */
#include "config.h"

#include "collective/collective.h"

#include <stdlib.h>
#include <string.h>

static void copy(void *to, const void *from, size_t bytes)
{
    if (bytes > 0 && to != from)
        memmove(to, from, bytes);
}

#define RUN(name)                                                                                  \
    static muster_status name(muster_group *group, const collective_call *call,                    \
                              const message_label *label, const layout *out, const layout *in,     \
                              deadline end)

RUN(run_barrier)
{
    (void)call, (void)out, (void)in;
    return compose_barrier(group, label, end);
}

RUN(run_broadcast)
{
    (void)out, (void)in;
    return compose_broadcast(group, label, call->receive, end);
}

RUN(run_reduce)
{
    (void)out, (void)in;
    return compose_reduce(group, label, call->send, call->receive, end);
}

RUN(run_all_reduce)
{
    (void)out, (void)in;
    return compose_all_reduce(group, label, call->send, call->receive, end);
}

RUN(run_gather)
{
    (void)out;
    if (group->rank == call->root)
        copy((char *)call->receive + in->offsets[group->rank], call->send, in->bytes[group->rank]);
    return compose_gather(group, label, call->receive, call->send, in, NULL, end);
}

RUN(run_scatter)
{
    (void)in;
    muster_status status = compose_scatter(group, label, call->send, call->receive, out, end);
    if (group->rank == call->root) /* last, since it may lie where another's block was */
        copy(call->receive, (const char *)call->send + out->offsets[group->rank],
             out->bytes[group->rank]);
    return status;
}

RUN(run_all_gather)
{
    (void)out;
    copy((char *)call->receive + in->offsets[group->rank], call->send, in->bytes[group->rank]);
    return compose_all_gather(group, label, call->receive, in, end);
}

RUN(run_reduce_scatter)
{
    (void)in;
    return compose_reduce_scatter(group, label, call->send, call->receive, out, end);
}

/* In place what is sent is put aside first: what comes may be of other sizes. */
RUN(run_all_to_all)
{
    size_t me = (size_t)group->rank, last = (size_t)group->size - 1;
    size_t bytes = out->offsets[last] + out->bytes[last];
    void *aside = NULL;
    if (call->send == call->receive && bytes > 0 && group->size > 1) {
        aside = malloc(bytes);
        if (aside == NULL)
            return compose_no_memory(group, bytes, "what is sent");
        memcpy(aside, call->send, bytes);
    }
    const compose_blocks blocks = {
        .send = aside != NULL ? aside : call->send, .out = out, .receive = call->receive, .in = in};
    copy((char *)call->receive + in->offsets[me], (const char *)blocks.send + out->offsets[me],
         out->bytes[me]);
    muster_status status = compose_exchange(group, label, &blocks, end);
    free(aside);
    return status;
}

const collective collective_table[] = {
    [MESSAGE_BARRIER] = {"muster_barrier", run_barrier, 0, 0, 0, 0},
    [MESSAGE_BROADCAST] = {"muster_broadcast", run_broadcast, 0, AMOUNT_COUNT, 0, ROOTED},
    [MESSAGE_REDUCE] = {"muster_reduce", run_reduce, AMOUNT_COUNT, AMOUNT_COUNT, PLACE_SAME,
                        ROOTED | RECEIVE_AT_ROOT | REDUCES},
    [MESSAGE_ALL_REDUCE] = {"muster_all_reduce", run_all_reduce, AMOUNT_COUNT, AMOUNT_COUNT,
                            PLACE_SAME, REDUCES},
    [MESSAGE_GATHER] = {"muster_gather", run_gather, AMOUNT_COUNT, AMOUNT_BLOCKS, PLACE_IN_RECEIVE,
                        ROOTED | RECEIVE_AT_ROOT},
    [MESSAGE_GATHER_V] = {"muster_gather_v", run_gather, AMOUNT_COUNT, AMOUNT_COUNTS,
                          PLACE_IN_RECEIVE, ROOTED | RECEIVE_AT_ROOT},
    [MESSAGE_SCATTER] = {"muster_scatter", run_scatter, AMOUNT_BLOCKS, AMOUNT_COUNT, PLACE_IN_SEND,
                         ROOTED | SEND_AT_ROOT},
    [MESSAGE_SCATTER_V] = {"muster_scatter_v", run_scatter, AMOUNT_COUNTS, AMOUNT_COUNT,
                           PLACE_IN_SEND, ROOTED | SEND_AT_ROOT},
    [MESSAGE_ALL_GATHER] = {"muster_all_gather", run_all_gather, AMOUNT_COUNT, AMOUNT_BLOCKS,
                            PLACE_IN_RECEIVE, 0},
    [MESSAGE_ALL_GATHER_V] = {"muster_all_gather_v", run_all_gather, AMOUNT_MINE, AMOUNT_COUNTS,
                              PLACE_IN_RECEIVE, 0},
    [MESSAGE_REDUCE_SCATTER] = {"muster_reduce_scatter", run_reduce_scatter, AMOUNT_BLOCKS,
                                AMOUNT_COUNT, PLACE_IN_SEND, REDUCES},
    [MESSAGE_REDUCE_SCATTER_V] = {"muster_reduce_scatter_v", run_reduce_scatter, AMOUNT_COUNTS,
                                  AMOUNT_MINE, PLACE_IN_SEND, REDUCES},
    [MESSAGE_ALL_TO_ALL] = {"muster_all_to_all", run_all_to_all, AMOUNT_BLOCKS, AMOUNT_BLOCKS,
                            PLACE_SAME, 0},
    [MESSAGE_ALL_TO_ALL_V] = {"muster_all_to_all_v", run_all_to_all, AMOUNT_COUNTS, AMOUNT_FROM,
                              PLACE_SAME, 0},
};

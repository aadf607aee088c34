/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Host by host.
 *
 * Of an array the ranks of a host first reduce what is theirs into slices, one a rank; then the
 * ranks of all hosts that have the same slice reduce it among themselves; then each host gathers
 * its slices. Small arrays, and those of hosts with different numbers of ranks, are one slice, of
 * the first rank of each host.
 */
#include "config.h"

#include "collective/hierarchy.h"

#include <stdlib.h>
#include <string.h>

#include "collective/across.h"
#include "collective/native.h"
#include "collective/bulk.h"
#include "reduce/reduce.h"
#include "reduce/types.h"

/* Up to so many bytes one slice is best. */
enum { ONE_SLICE_BYTES = 1 << 14 };

/* A call on its way, as the rank sees it. */
typedef struct tier {
    const collective_call *call;
    across way;
    int here;               /* ranks on this host */
    int place;              /* this one among them */
    muster_reduction redop; /* from host to host */
} tier;

bool hierarchy_serves(const muster_group *group)
{
    return group->near.backend != NULL;
}

/* What is rounded once must not be rounded on every host. */
static bool rounds_within_hosts(const collective_call *call)
{
    if (call->type == MUSTER_FLOAT32 || call->type == MUSTER_FLOAT64)
        return false;
    return type_is_floating(call->type) || call->redop == MUSTER_AVG;
}

bool hierarchy_can(const muster_group *group, const collective_call *call)
{
    switch (call->kind) {
    case MESSAGE_BARRIER:
    case MESSAGE_BROADCAST:
        return true;
    case MESSAGE_REDUCE:
    case MESSAGE_ALL_REDUCE:
        return !rounds_within_hosts(call);
    case MESSAGE_ALL_GATHER:
        return group->hosts.in_order;
    default:
        return false;
    }
}

/* ---- within the host ---- */

static muster_status alone(const tier *t, const muster_call *call)
{
    size_t bytes = call->count * muster_type_size(call->type);
    const reduce_input own = {call->send, call->scalar};
    if (call->count == 0 || call->operation == MUSTER_OPERATION_BARRIER ||
        call->operation == MUSTER_OPERATION_BROADCAST)
        return MUSTER_OK;
    if (call->operation == MUSTER_OPERATION_ALL_GATHER) {
        if (call->send != call->receive)
            memmove(call->receive, call->send, bytes);
        return MUSTER_OK;
    }
    muster_reduction redop = t->call->redop == MUSTER_PREMUL_SUM ? MUSTER_PREMUL_SUM : t->redop;
    reduce_arrays(call->receive, &own, 1, call->count, call->type, redop);
    return MUSTER_OK;
}

/* An operation of the ranks of this host; root is one's place. */
static muster_status within(const tier *t, muster_operation operation, int root, const void *send,
                            void *receive, size_t count, muster_type type)
{
    bool scaled = t->call->redop == MUSTER_PREMUL_SUM;
    muster_call call = {.size = sizeof(call),
                        .operation = operation,
                        .type = type,
                        .redop = scaled ? MUSTER_PREMUL_SUM : t->redop,
                        .scalar = t->call->scalar,
                        .root = root,
                        .count = count,
                        .send = send,
                        .receive = receive,
                        .uniform = true};
    if (t->here == 1)
        return alone(t, &call);
    return bulk_run(t->way.group, &t->way.group->near, &call, t->way.label, t->way.end);
}

/* For what comes after the hosts have talked to each other: who waits for those that do so hears
 * from them which ranks have not come, before it finds out that it waited in vain. */
static tier afterwards(const tier *t)
{
    enum { LONGER_MS = 500 };
    tier later = *t;
    later.way.end.at_ns += (int64_t)LONGER_MS * 1000000;
    return later;
}

static muster_status broadcast_within(const tier *t, int root, void *buffer, size_t count,
                                      muster_type type)
{
    const tier later = afterwards(t);
    return within(&later, MUSTER_OPERATION_BROADCAST, root, buffer, buffer, count, type);
}

/* ---- who stands for each host ---- */

/* The rank at that place on every host; where root is a rank it stands for its own. */
static int *delegates(const muster_group *group, int place, int root)
{
    const near_map *map = &group->hosts;
    int *ranks = malloc((size_t)map->hosts * sizeof(int));
    for (int h = 0; ranks != NULL && h < map->hosts; h++)
        ranks[h] = root >= 0 && map->host[root] == h ? root : map->members[map->starts[h] + place];
    return ranks;
}

static bool is_delegate(const tier *t)
{
    return t->way.ranks[t->way.host] == t->way.group->rank;
}

/* Where the delegate of this host is among its ranks. */
static int delegate_place(const tier *t)
{
    return t->way.group->hosts.place[t->way.ranks[t->way.host]];
}

/* ---- the calls ---- */

static muster_status barrier(const tier *t)
{
    muster_status status = within(t, MUSTER_OPERATION_BARRIER, 0, NULL, NULL, 0, MUSTER_UINT8);
    if (status == MUSTER_OK && is_delegate(t))
        status = across_barrier(&t->way);
    const tier later = afterwards(t);
    if (status == MUSTER_OK)
        status = within(&later, MUSTER_OPERATION_BARRIER, 0, NULL, NULL, 0, MUSTER_UINT8);
    return status;
}

static muster_status broadcast(const tier *t)
{
    const collective_call *call = t->call;
    size_t bytes = call->count * muster_type_size(call->type);
    int root = t->way.group->hosts.host[call->root];
    muster_status status = MUSTER_OK;
    if (is_delegate(t))
        status = across_broadcast(&t->way, root, call->receive, bytes);
    return status == MUSTER_OK
               ? broadcast_within(t, delegate_place(t), call->receive, call->count, call->type)
               : status;
}

/* Sums become averages. */
static void divide(const tier *t, void *array, size_t count)
{
    int n = t->way.group->size;
    if (t->call->redop != MUSTER_AVG)
        return;
    for (size_t i = 0; t->call->type == MUSTER_FLOAT32 && i < count; i++)
        ((float *)array)[i] /= (float)n;
    for (size_t i = 0; t->call->type == MUSTER_FLOAT64 && i < count; i++)
        ((double *)array)[i] /= (double)n;
}

static muster_status reduce(const tier *t)
{
    const collective_call *call = t->call;
    size_t bytes = call->count * muster_type_size(call->type);
    int root = t->way.group->hosts.host[call->root];
    bool ends_here = t->way.group->rank == call->root, stands = is_delegate(t);
    void *partial = ends_here ? call->receive : stands ? malloc(bytes + 1) : NULL;
    if (stands && !ends_here && partial == NULL)
        return compose_no_memory(t->way.group, bytes, "what is reduced");
    muster_status status = within(t, MUSTER_OPERATION_REDUCE, delegate_place(t), call->send,
                                  partial, call->count, call->type);
    if (status == MUSTER_OK && stands)
        status = across_reduce(&t->way, root, partial, call->count, call->type, t->redop);
    if (status == MUSTER_OK && ends_here)
        divide(t, call->receive, call->count);
    if (!ends_here)
        free(partial);
    return status;
}

/* By the first rank of each host. */
static muster_status all_reduce_slice(const tier *t, const char *send, char *receive, size_t count)
{
    muster_type type = t->call->type;
    muster_status status =
        within(t, MUSTER_OPERATION_REDUCE, 0, send, t->place == 0 ? receive : NULL, count, type);
    if (status == MUSTER_OK && t->place == 0) {
        status = across_all_reduce(&t->way, receive, count, type, t->redop);
        if (status == MUSTER_OK)
            divide(t, receive, count);
    }
    return status == MUSTER_OK ? broadcast_within(t, 0, receive, count, type) : status;
}

/* By all ranks of each host, count elements each. */
static muster_status all_reduce_slices(const tier *t, const char *send, char *receive, size_t count)
{
    muster_type type = t->call->type;
    char *slice = receive + (size_t)t->place * count * muster_type_size(type);
    muster_status status = within(t, MUSTER_OPERATION_REDUCE_SCATTER, 0, send, slice, count, type);
    if (status == MUSTER_OK)
        status = across_all_reduce(&t->way, slice, count, type, t->redop);
    if (status != MUSTER_OK)
        return status;
    divide(t, slice, count);
    const tier later = afterwards(t);
    return within(&later, MUSTER_OPERATION_ALL_GATHER, 0, slice, receive, count, type);
}

static bool has_slices(const muster_group *group, const collective_call *call)
{
    return group->hosts.fewest == group->hosts.most && group->hosts.most > 1 &&
           call->count * muster_type_size(call->type) > ONE_SLICE_BYTES;
}

static muster_status all_reduce(const tier *t)
{
    const collective_call *call = t->call;
    size_t size = muster_type_size(call->type), here = (size_t)t->here;
    if (!has_slices(t->way.group, call))
        return all_reduce_slice(t, call->send, call->receive, call->count);
    size_t each = call->count / here, done = each * here * size;
    muster_status status = all_reduce_slices(t, call->send, call->receive, each);
    if (status != MUSTER_OK || call->count % here == 0)
        return status;
    tier rest = *t;
    rest.way.ranks = delegates(t->way.group, 0, -1);
    if (rest.way.ranks == NULL)
        return compose_no_memory(t->way.group, (size_t)t->way.hosts * sizeof(int), "ranks");
    status = all_reduce_slice(&rest, (const char *)call->send + done, (char *)call->receive + done,
                              call->count % here);
    free((void *)(uintptr_t)rest.way.ranks);
    return status;
}

/* The blocks of other hosts lie before those of this one, and behind. */
static muster_status spread_blocks(const tier *t, const layout *blocks)
{
    size_t host = (size_t)t->way.host, last = (size_t)t->way.hosts - 1;
    size_t before = blocks->offsets[host], behind = before + blocks->bytes[host];
    size_t end = blocks->offsets[last] + blocks->bytes[last];
    char *receive = t->call->receive;
    muster_status status = MUSTER_OK;
    if (before > 0)
        status = broadcast_within(t, 0, receive, before, MUSTER_UINT8);
    if (status == MUSTER_OK && behind < end)
        status = broadcast_within(t, 0, receive + behind, end - behind, MUSTER_UINT8);
    return status;
}

static muster_status all_gather_blocks(const tier *t, const layout *blocks)
{
    const collective_call *call = t->call;
    char *mine = (char *)call->receive + blocks->offsets[t->way.host];
    muster_status status =
        within(t, MUSTER_OPERATION_ALL_GATHER, 0, call->send, mine, call->count, call->type);
    if (status == MUSTER_OK && t->place == 0)
        status = across_all_gather(&t->way, call->receive, blocks->bytes, blocks->offsets);
    return status == MUSTER_OK ? spread_blocks(t, blocks) : status;
}

static muster_status all_gather(const tier *t)
{
    const near_map *map = &t->way.group->hosts;
    size_t hosts = (size_t)map->hosts, block = t->call->count * muster_type_size(t->call->type);
    size_t *numbers = calloc(2 * hosts, sizeof(size_t));
    if (numbers == NULL)
        return compose_no_memory(t->way.group, 2 * hosts * sizeof(size_t), "a layout");
    const layout blocks = {.bytes = numbers, .offsets = numbers + hosts};
    for (size_t h = 0; h < hosts; h++) {
        blocks.bytes[h] = (size_t)(map->starts[h + 1] - map->starts[h]) * block;
        blocks.offsets[h] = (size_t)map->starts[h] * block;
    }
    muster_status status = all_gather_blocks(t, &blocks);
    free(numbers);
    return status;
}

static muster_status carry(const tier *t)
{
    switch (t->call->kind) {
    case MESSAGE_BARRIER:
        return barrier(t);
    case MESSAGE_BROADCAST:
        return broadcast(t);
    case MESSAGE_REDUCE:
        return reduce(t);
    case MESSAGE_ALL_REDUCE:
        return all_reduce(t);
    default:
        return all_gather(t);
    }
}

muster_status hierarchy_carry(muster_group *group, const collective_call *call,
                              const message_label *label, deadline end)
{
    const near_map *map = &group->hosts;
    bool sums = call->redop == MUSTER_AVG || call->redop == MUSTER_PREMUL_SUM;
    bool slices = call->kind == MESSAGE_ALL_REDUCE && has_slices(group, call);
    tier t = {.call = call,
              .way = {.group = group,
                      .label = label,
                      .end = end,
                      .hosts = map->hosts,
                      .host = map->host[group->rank]},
              .place = map->place[group->rank],
              .redop = sums ? MUSTER_SUM : call->redop};
    near_map_ranks(map, group->rank, &t.here);
    bool rooted = call->kind == MESSAGE_BROADCAST || call->kind == MESSAGE_REDUCE;
    int *ranks = delegates(group, slices ? t.place : 0, rooted ? call->root : -1);
    if (ranks == NULL)
        return compose_no_memory(group, (size_t)map->hosts * sizeof(int), "ranks");
    t.way.ranks = ranks;
    muster_status status = carry(&t);
    free(ranks);
    return status;
}

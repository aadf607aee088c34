/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The operations that muster-perf measures: how each is called, and what its buffers hold.
 */
#include "config.h"

#include "sweep.h"

#include <string.h>

static muster_status call_barrier(const sweep_call *one, muster_work **work)
{
    return muster_barrier(one->world, work);
}

static muster_status call_broadcast(const sweep_call *one, muster_work **work)
{
    return muster_broadcast(one->world, one->receive, one->base, one->type, one->root, work);
}

static muster_status call_reduce(const sweep_call *one, muster_work **work)
{
    return muster_reduce(one->world, one->send, one->receive, one->base, one->type, one->redop,
                         one->root, work);
}

static muster_status call_all_reduce(const sweep_call *one, muster_work **work)
{
    return muster_all_reduce(one->world, one->send, one->receive, one->base, one->type, one->redop,
                             work);
}

static muster_status call_gather(const sweep_call *one, muster_work **work)
{
    return muster_gather(one->world, one->send, one->receive, one->base, one->type, one->root,
                         work);
}

static muster_status call_gather_v(const sweep_call *one, muster_work **work)
{
    return muster_gather_v(one->world, one->send, one->counts[one->rank], one->receive, one->counts,
                           one->type, one->root, work);
}

static muster_status call_scatter(const sweep_call *one, muster_work **work)
{
    return muster_scatter(one->world, one->send, one->receive, one->base, one->type, one->root,
                          work);
}

static muster_status call_scatter_v(const sweep_call *one, muster_work **work)
{
    return muster_scatter_v(one->world, one->send, one->counts, one->receive,
                            one->counts[one->rank], one->type, one->root, work);
}

static muster_status call_all_gather(const sweep_call *one, muster_work **work)
{
    return muster_all_gather(one->world, one->send, one->receive, one->base, one->type, work);
}

static muster_status call_all_gather_v(const sweep_call *one, muster_work **work)
{
    return muster_all_gather_v(one->world, one->send, one->receive, one->counts, one->type, work);
}

static muster_status call_reduce_scatter(const sweep_call *one, muster_work **work)
{
    return muster_reduce_scatter(one->world, one->send, one->receive, one->base, one->type,
                                 one->redop, work);
}

static muster_status call_reduce_scatter_v(const sweep_call *one, muster_work **work)
{
    return muster_reduce_scatter_v(one->world, one->send, one->receive, one->counts, one->type,
                                   one->redop, work);
}

static muster_status call_all_to_all(const sweep_call *one, muster_work **work)
{
    return muster_all_to_all(one->world, one->send, one->receive, one->base, one->type, work);
}

/* As many elements from each rank as to it. */
static muster_status call_all_to_all_v(const sweep_call *one, muster_work **work)
{
    return muster_all_to_all_v(one->world, one->send, one->counts, one->receive, one->counts,
                               one->type, work);
}

/* To the next rank, and from the one before. */
static muster_status call_send_recv(const sweep_call *one, muster_work **work)
{
    int size = one->size;
    muster_transfer both[2] = {{.direction = MUSTER_SENDS,
                                .peer = (one->rank + 1) % size,
                                .count = one->base,
                                .send = one->send,
                                .type = one->type},
                               {.direction = MUSTER_RECEIVES,
                                .peer = (one->rank + size - 1) % size,
                                .count = one->base,
                                .receive = one->receive,
                                .type = one->type}};
    return muster_batch_send_recv(one->world, both, 2, work);
}

#define ROW(word) .name = #word, .call = call_##word
#define BOTH .outside = true, .inside = true
#define SENDS .sends_blocks = true
#define RECEIVES .receives_blocks = true

const sweep_operation sweep_operations[] = {
    {ROW(barrier), .outside = true},
    {ROW(broadcast), .rooted = true, .inside = true, .bus = SWEEP_ONCE},
    {ROW(reduce), .reduces = true, .rooted = true, BOTH, .bus = SWEEP_ONCE},
    {ROW(all_reduce), .reduces = true, BOTH, .bus = SWEEP_TWICE},
    {ROW(gather), RECEIVES, .rooted = true, BOTH, .bus = SWEEP_OTHERS},
    {ROW(gather_v), RECEIVES, .varies = true, .rooted = true, BOTH, .bus = SWEEP_OTHERS},
    {ROW(scatter), SENDS, .rooted = true, BOTH, .bus = SWEEP_OTHERS},
    {ROW(scatter_v), SENDS, .varies = true, .rooted = true, BOTH, .bus = SWEEP_OTHERS},
    {ROW(all_gather), RECEIVES, BOTH, .bus = SWEEP_OTHERS},
    {ROW(all_gather_v), RECEIVES, .varies = true, BOTH, .bus = SWEEP_OTHERS},
    {ROW(reduce_scatter), SENDS, .reduces = true, BOTH, .bus = SWEEP_OTHERS},
    {ROW(reduce_scatter_v), SENDS, .varies = true, .reduces = true, BOTH, .bus = SWEEP_OTHERS},
    {ROW(all_to_all), SENDS, RECEIVES, .crossed = true, BOTH, .bus = SWEEP_OTHERS},
    {ROW(all_to_all_v), SENDS, RECEIVES, .varies = true, .crossed = true, BOTH,
     .bus = SWEEP_OTHERS},
    {ROW(send_recv), .outside = true, .bus = SWEEP_ONCE},
};
const size_t sweep_num_operations = sizeof(sweep_operations) / sizeof(sweep_operations[0]);

const sweep_operation *sweep_find(const char *name)
{
    for (size_t i = 0; i < sweep_num_operations; i++)
        if (strcmp(sweep_operations[i].name, name) == 0)
            return &sweep_operations[i];
    return NULL;
}

static bool operation_has_blocks(const sweep_operation *operation)
{
    return operation->sends_blocks || operation->receives_blocks;
}

/* At least one element where there are bytes at all. */
static size_t operation_base(const sweep_operation *operation, muster_type type, int size,
                             long long bytes)
{
    size_t each = muster_type_size(type) * (operation_has_blocks(operation) ? (size_t)size : 1);
    size_t base = (size_t)bytes / each;
    if (operation->bus == SWEEP_NONE)
        return 0;
    return base == 0 && bytes > 0 ? 1 : base;
}

void sweep_call_size(sweep_call *one, long long bytes)
{
    const sweep_operation *operation = one->operation;
    one->base = operation_base(operation, one->type, one->size, bytes);
    one->total = 0;
    for (int b = 0; b < one->size; b++) {
        bool odd = (b + (operation->crossed ? one->rank : 0)) % 2 != 0;
        size_t half = operation->varies ? one->base / 2 : 0;
        one->counts[b] = odd ? one->base - half : one->base + half;
        one->total += one->counts[b];
    }
    if (!operation_has_blocks(operation))
        one->total = one->base;
}

size_t sweep_offset(const sweep_call *one, int number)
{
    size_t offset = 0;
    for (int b = 0; b < number; b++)
        offset += one->counts[b];
    return offset;
}

void sweep_call_place(sweep_call *one, bool inside, unsigned char *first, unsigned char *second)
{
    const sweep_operation *operation = one->operation;
    one->send = first;
    one->receive = inside ? first : second;
    if (!inside || operation->sends_blocks == operation->receives_blocks)
        return;
    unsigned char *mine = first + sweep_offset(one, one->rank) * muster_type_size(one->type);
    if (operation->receives_blocks)
        one->send = mine;
    else
        one->receive = mine;
}

double sweep_bytes(const sweep_call *one)
{
    return (double)one->total * (double)muster_type_size(one->type);
}

double sweep_bus_factor(const sweep_call *one)
{
    double others = (double)(one->size - 1) / one->size;
    switch (one->operation->bus) {
    case SWEEP_ONCE:
        return 1;
    case SWEEP_OTHERS:
        return others;
    case SWEEP_TWICE:
        return 2 * others;
    default:
        return 0;
    }
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every operation of the hall against a plain model: all types and reductions, 1 to 8 ranks, sizes
 * about every threshold, in place and not, with numbers that wrap on the way.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "hall_ranks.h"
#include "model.h"
#include "reduce/types.h"
#include "tap.h"

enum { WAIT_MS = 20000 };

static const double scalars[HALL_RANKS_MOST] = {1, 3, 0, 7, 2, 5, 4, 6};

/* One call as all ranks know it. */
typedef struct row {
    muster_operation operation;
    muster_type type;
    muster_reduction redop;
    size_t count;
    int root;
    bool in_place;
    bool ragged;
} row;

typedef struct memory {
    char *arrays[HALL_RANKS_MOST]; /* what every rank gives */
    char *receive, *expected;
    size_t counts[HALL_RANKS_MOST], offsets[HALL_RANKS_MOST], all;
} memory;

static bool has_blocks_in(muster_operation operation)
{
    return operation == MUSTER_OPERATION_SCATTER || operation == MUSTER_OPERATION_ALL_TO_ALL ||
           operation == MUSTER_OPERATION_REDUCE_SCATTER;
}

static bool has_blocks_out(muster_operation operation)
{
    return operation == MUSTER_OPERATION_GATHER || operation == MUSTER_OPERATION_ALL_GATHER ||
           operation == MUSTER_OPERATION_ALL_TO_ALL;
}

static bool reduces(muster_operation operation)
{
    return operation == MUSTER_OPERATION_REDUCE || operation == MUSTER_OPERATION_ALL_REDUCE ||
           operation == MUSTER_OPERATION_REDUCE_SCATTER;
}

/* Blocks of ranks: alike, or where the row is ragged each of another size, some of them empty. */
static void lay_out(memory *all, const row *one, int n)
{
    all->all = 0;
    for (int r = 0; r < n; r++) {
        all->counts[r] = one->ragged ? one->count * (size_t)(r % 3) / 2 : one->count;
        all->offsets[r] = all->all;
        all->all += all->counts[r];
    }
}

static bool prepare(memory *all, const row *one, int n, uint64_t seed)
{
    size_t size = muster_type_size(one->type);
    lay_out(all, one, n);
    size_t most = all->all > one->count ? all->all : one->count;
    size_t gives = has_blocks_in(one->operation) ? all->all : one->count;
    all->receive = malloc(most * size + 1);
    all->expected = malloc(most * size + 1);
    bool there = all->receive != NULL && all->expected != NULL;
    for (int r = 0; r < n; r++) {
        all->arrays[r] = malloc(most * size + 1);
        there = there && all->arrays[r] != NULL;
        if (there)
            model_fill(all->arrays[r], one->type, model_hash(seed, (uint64_t)r), gives);
    }
    if (there)
        memset(all->receive, 0xa5, most * size + 1);
    return there;
}

static void release(memory *all, int n)
{
    free(all->receive);
    free(all->expected);
    for (int r = 0; r < n; r++)
        free(all->arrays[r]);
}

/* What a rank must have in the end; returns its bytes. */
static size_t expect(const memory *all, const row *one, int n, int me)
{
    size_t size = muster_type_size(one->type), bytes = one->count * size;
    const void *arrays[HALL_RANKS_MOST];
    bool scatter = one->operation == MUSTER_OPERATION_REDUCE_SCATTER;
    size_t own = scatter ? all->counts[me] : one->count;
    for (int r = 0; r < n; r++)
        arrays[r] = all->arrays[r] + (scatter ? all->offsets[me] * size : 0);
    if (reduces(one->operation)) {
        if (one->operation == MUSTER_OPERATION_REDUCE && me != one->root)
            return 0;
        model_reduce(all->expected, arrays, scalars, n, own, one->type, one->redop);
        return own * size;
    }
    switch (one->operation) {
    case MUSTER_OPERATION_BROADCAST:
        memcpy(all->expected, all->arrays[one->root], bytes);
        return bytes;
    case MUSTER_OPERATION_SCATTER:
        memcpy(all->expected, all->arrays[one->root] + all->offsets[me] * size,
               all->counts[me] * size);
        return all->counts[me] * size;
    case MUSTER_OPERATION_GATHER:
    case MUSTER_OPERATION_ALL_GATHER:
        for (int r = 0; r < n; r++)
            memcpy(all->expected + all->offsets[r] * size, all->arrays[r], all->counts[r] * size);
        return one->operation == MUSTER_OPERATION_GATHER && me != one->root ? 0 : all->all * size;
    case MUSTER_OPERATION_ALL_TO_ALL:
        for (int r = 0; r < n; r++)
            memcpy(all->expected + (size_t)r * bytes, all->arrays[r] + (size_t)me * bytes, bytes);
        return all->all * size;
    default:
        return 0;
    }
}

/* Where the caller has its data for a call in place; the odd ranks are never in place. */
static const void *place(const memory *all, const row *one, int me)
{
    size_t size = muster_type_size(one->type);
    size_t gives = has_blocks_in(one->operation) ? all->all : one->count;
    if (one->operation == MUSTER_OPERATION_ALL_GATHER && one->ragged)
        gives = all->counts[me];
    if (!one->in_place || me % 2 == 1)
        return all->arrays[me];
    char *send = all->receive;
    if (has_blocks_out(one->operation) && one->operation != MUSTER_OPERATION_ALL_TO_ALL)
        send += all->offsets[me] * size;
    memcpy(send, all->arrays[me], gives * size);
    return send;
}

static muster_call call_of(const memory *all, const row *one, int me)
{
    const void *send = all->arrays[me];
    void *receive = all->receive;
    if (one->operation == MUSTER_OPERATION_BROADCAST)
        send = receive = me == one->root ? all->arrays[me] : all->receive;
    else if ((one->operation != MUSTER_OPERATION_GATHER &&
              one->operation != MUSTER_OPERATION_REDUCE &&
              one->operation != MUSTER_OPERATION_SCATTER) ||
             me == one->root)
        send = place(all, one, me);
    muster_call call =
        hall_call(one->operation, one->type, one->redop, one->root, one->count, send, receive);
    call.scalar = scalars[me];
    call.uniform = !one->ragged;
    call.send_counts = call.receive_counts = all->counts;
    call.send_offsets = call.receive_offsets = all->offsets;
    return call;
}

static int check_row(hall_rank *me, const row *one, uint64_t seed)
{
    memory all;
    int wrong = 0;
    if (!prepare(&all, one, me->size, seed))
        return hall_wrong(me, "no memory");
    size_t bytes = expect(&all, one, me->size, me->rank);
    muster_call call = call_of(&all, one, me->rank);
    muster_status status = hall_try(me, call, patient(WAIT_MS), NULL, NULL);
    if (status != MUSTER_OK)
        wrong = hall_wrong(me, "operation %d of %zu %s: %s", one->operation, one->count,
                           muster_type_name(one->type), muster_last_error());
    else if (bytes > 0 && memcmp(call.receive, all.expected, bytes) != 0)
        wrong =
            hall_wrong(me, "operation %d of %zu %s, %s, root %d, in place %d, ragged %d",
                       one->operation, one->count, muster_type_name(one->type),
                       muster_reduction_name(one->redop), one->root, one->in_place, one->ragged);
    release(&all, me->size);
    return wrong;
}

static const muster_operation operations[] = {
    MUSTER_OPERATION_BARRIER,    MUSTER_OPERATION_BROADCAST,      MUSTER_OPERATION_REDUCE,
    MUSTER_OPERATION_ALL_REDUCE, MUSTER_OPERATION_GATHER,         MUSTER_OPERATION_SCATTER,
    MUSTER_OPERATION_ALL_GATHER, MUSTER_OPERATION_REDUCE_SCATTER, MUSTER_OPERATION_ALL_TO_ALL};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Every type with every reduction it has, in short arrays and in some that go by pieces. */
static int body_types(hall_rank *me)
{
    static const size_t counts[] = {5, 40, 9001};
    const size_t used = me->size > 3 ? 1 : COUNT(counts);
    uint64_t seed = model_seed();
    for (size_t i = 0; i < COUNT(operations); i++)
        for (int type = 0; type < MUSTER_NUM_TYPES; type++)
            for (int redop = 0; redop < MUSTER_NUM_REDUCTIONS; redop++)
                for (size_t c = 0; c < used; c++) {
                    row one = {.operation = operations[i],
                               .type = (muster_type)type,
                               .redop = (muster_reduction)redop,
                               .count = counts[c],
                               .root = (int)(seed % (uint64_t)me->size),
                               .in_place = seed % 3 == 0};
                    bool has = model_has(one.type, one.redop);
                    if (!(reduces(one.operation) ? has : redop == 0))
                        continue;
                    seed = model_hash(seed, i);
                    if (check_row(me, &one, seed) != 0)
                        return 1;
                }
    return 0;
}

/* Those whose blocks the model here has one list of counts for. */
static bool may_be_ragged(muster_operation operation)
{
    return operation != MUSTER_OPERATION_ALL_TO_ALL &&
           (has_blocks_in(operation) || has_blocks_out(operation));
}

/* Sizes in bytes about what changes the way an operation goes. */
static int body_sizes(hall_rank *me)
{
    const size_t n = (size_t)me->size;
    const size_t edges[] = {0,
                            HALL_INSIDE,
                            HALL_INSIDE * n,
                            HALL_LINE,
                            HALL_PAYLOAD / n / 8 * 8,
                            HALL_PAYLOAD / 8 * 8,
                            HALL_PIECE / n,
                            HALL_PIECE,
                            HALL_PIECE * HALL_PIECES,
                            512 * 1024,
                            5 * HALL_PIECE * HALL_PIECES / n};
    uint64_t seed = model_seed();
    for (size_t i = 0; i < COUNT(operations); i++)
        for (size_t e = 0; e < COUNT(edges); e++)
            for (int more = -1; more <= 1; more++) {
                row one = {.operation = operations[i],
                           .type = edges[e] < 4096 ? MUSTER_INT8 : MUSTER_FLOAT64,
                           .root = (int)(seed % n),
                           .in_place = seed % 3 == 0,
                           .ragged = (seed >> 8) % 3 == 0 && may_be_ragged(operations[i])};
                size_t count = edges[e] / muster_type_size(one.type);
                if (has_blocks_in(one.operation) || has_blocks_out(one.operation))
                    count /= n;
                if ((count == 0 && more < 0) || (edges[e] >= HALL_PIECE && more != (int)(e % 2)))
                    continue;
                one.count = count + (size_t)(more + 1) - 1;
                seed = model_hash(seed, e);
                if (check_row(me, &one, seed) != 0)
                    return 1;
            }
    return 0;
}

/* Operations in a random order, between which ranks dawdle, so that some run far ahead. */
static int body_random(hall_rank *me)
{
    uint64_t seed = model_seed();
    for (int i = 0; i < 1200 / me->size; i++) {
        seed = model_hash(seed, (uint64_t)i);
        row one = {.operation = operations[seed % COUNT(operations)],
                   .type = MUSTER_INT32,
                   .redop = MUSTER_SUM,
                   .count =
                       (seed >> 8) % 7 == 0 ? 50000 + (seed >> 16) % 100000 : (seed >> 16) % 1000,
                   .root = (int)((seed >> 40) % (uint64_t)me->size)};
        if (model_hash(seed, (uint64_t)me->rank) % 16 == 0) {
            struct timespec nap = {0, (long)(seed >> 20) % 2000000};
            nanosleep(&nap, NULL);
        }
        if (check_row(me, &one, seed) != 0)
            return 1;
    }
    return 0;
}

int main(void)
{
    static const struct {
        const char *name;
        hall_body body;
    } bodies[] = {{"all types and reductions", body_types},
                  {"sizes about every threshold", body_sizes},
                  {"operations in a random order", body_random}};
    static const int sizes[] = {1, 2, 3, 8};
    plan((int)(COUNT(bodies) * COUNT(sizes)));
    for (size_t b = 0; b < COUNT(bodies); b++)
        for (size_t s = 0; s < COUNT(sizes); s++) {
            const hall_case one = {.size = sizes[s],
                                   .cores_for_all = sizes[s] <= 2,
                                   .start = UINT32_MAX - 20,
                                   .body = bodies[b].body};
            ok(hall_ranks_run(&one, NULL), "%s, %d ranks", bodies[b].name, sizes[s]);
        }
    return done();
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a hall counts of its operations, against what each rank has to give and to take.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "hall_ranks.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* SHORT bytes a rank go through slots, LONG ones piece by piece; a third of each is whole lines. */
enum { RANKS = 3, SHORT = 192, LONG = 3 * 64 * 4096, ROOT = 1, WAIT_MS = 20000 };

/* In thirds of a rank's array, times RANKS where it holds a block for each. */
typedef struct expected {
    muster_operation operation;
    bool blocks; /* count is of a block: a third */
    int root_gives, root_takes;
    int gives, takes; /* every other rank */
} expected;

static const expected in_slots[] = {
    {MUSTER_OPERATION_BARRIER, false, 0, 0, 0, 0},
    {MUSTER_OPERATION_BROADCAST, false, 3, 0, 0, 3},
    {MUSTER_OPERATION_REDUCE, false, 0, 6, 3, 0},
    {MUSTER_OPERATION_ALL_REDUCE, false, 3, 6, 3, 6},
    {MUSTER_OPERATION_GATHER, true, 0, 2, 1, 0},
    {MUSTER_OPERATION_SCATTER, true, 2, 0, 0, 1},
    {MUSTER_OPERATION_ALL_GATHER, true, 1, 2, 1, 2},
    {MUSTER_OPERATION_REDUCE_SCATTER, true, 2, 2, 2, 2},
    {MUSTER_OPERATION_ALL_TO_ALL, true, 2, 2, 2, 2},
};

/* Each rank reduces a third of the three arrays. */
static const expected in_pieces[] = {
    {MUSTER_OPERATION_BROADCAST, false, 3, 0, 0, 3},
    {MUSTER_OPERATION_REDUCE, false, 2, 4, 3, 2},
    {MUSTER_OPERATION_ALL_REDUCE, false, 3, 4, 3, 4},
    {MUSTER_OPERATION_GATHER, true, 0, 2, 1, 0},
    {MUSTER_OPERATION_SCATTER, true, 2, 0, 0, 1},
    {MUSTER_OPERATION_ALL_GATHER, true, 1, 2, 1, 2},
    {MUSTER_OPERATION_REDUCE_SCATTER, true, 2, 2, 2, 2},
    {MUSTER_OPERATION_ALL_TO_ALL, true, 2, 2, 2, 2},
};

static int check(hall_rank *me, const expected *want, size_t bytes, char *send, char *receive)
{
    size_t third = bytes / 3;
    const traffic *sum = hall_traffic(me->hall);
    uint64_t operations = sum->operations, given = sum->given, taken = sum->taken;
    muster_call call = hall_call(want->operation, MUSTER_UINT8, MUSTER_SUM, ROOT,
                                 want->blocks ? third : bytes, send, receive);
    if (want->operation == MUSTER_OPERATION_BARRIER)
        call.count = 0;
    muster_status status = hall_try(me, call, patient(WAIT_MS), NULL, NULL);
    if (status != MUSTER_OK)
        return hall_wrong(me, "operation %d: %s", want->operation, muster_last_error());
    bool root = me->rank == ROOT;
    size_t gives = third * (size_t)(root ? want->root_gives : want->gives);
    size_t takes = third * (size_t)(root ? want->root_takes : want->takes);
    if (sum->operations != operations + 1 || sum->given != given + gives ||
        sum->taken != taken + takes)
        return hall_wrong(me, "operation %d of %zu bytes: %llu given, %llu taken; not %zu and %zu",
                          want->operation, bytes, (unsigned long long)(sum->given - given),
                          (unsigned long long)(sum->taken - taken), gives, takes);
    return 0;
}

static int check_all(hall_rank *me, const expected *list, size_t count, size_t bytes)
{
    char *send = calloc(1, bytes), *receive = calloc(1, bytes);
    int wrong = send == NULL || receive == NULL;
    for (size_t i = 0; wrong == 0 && i < count; i++)
        wrong = check(me, &list[i], bytes, send, receive);
    free(send);
    free(receive);
    return wrong;
}

static int body_slots(hall_rank *me)
{
    return check_all(me, in_slots, COUNT(in_slots), SHORT);
}

static int body_pieces(hall_rank *me)
{
    return check_all(me, in_pieces, COUNT(in_pieces), LONG);
}

/* Blocks of 8, 0 and 24 elements, of each rank or for each. */
static int body_ragged(hall_rank *me)
{
    static const size_t counts[RANKS] = {8, 0, 24}, offsets[RANKS] = {0, 8, 8};
    int32_t send[32] = {0}, receive[RANKS * 24];
    const traffic *sum = hall_traffic(me->hall);
    const size_t own = counts[me->rank], others = 32 - own;
    const size_t like[RANKS] = {own, own, own}, behind[RANKS] = {0, own, 2 * own};
    bool root = me->rank == ROOT;
    const struct {
        muster_operation operation;
        const size_t *counts, *offsets; /* of what is received */
        size_t gives, takes;
    } rows[] = {
        {MUSTER_OPERATION_ALL_GATHER, counts, offsets, own, others},
        {MUSTER_OPERATION_REDUCE_SCATTER, counts, offsets, others, 2 * own},
        {MUSTER_OPERATION_GATHER, counts, offsets, root ? 0 : own, root ? others : 0},
        {MUSTER_OPERATION_SCATTER, counts, offsets, root ? others : 0, root ? 0 : own},
        {MUSTER_OPERATION_ALL_TO_ALL, like, behind, others, 2 * own},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t given = sum->given, taken = sum->taken;
        muster_call call =
            hall_call(rows[i].operation, MUSTER_INT32, MUSTER_SUM, ROOT, 24, send, receive);
        call.uniform = false;
        call.send_counts = counts;
        call.send_offsets = offsets;
        call.receive_counts = rows[i].counts;
        call.receive_offsets = rows[i].offsets;
        if (hall_try(me, call, patient(WAIT_MS), NULL, NULL) != MUSTER_OK)
            return hall_wrong(me, "ragged: %s", muster_last_error());
        if (sum->given != given + 4 * rows[i].gives || sum->taken != taken + 4 * rows[i].takes)
            return hall_wrong(me, "ragged %d: %llu given, %llu taken", rows[i].operation,
                              (unsigned long long)(sum->given - given),
                              (unsigned long long)(sum->taken - taken));
    }
    return 0;
}

/* Ranks that differ: nothing is counted of it. */
static int body_failed(hall_rank *me)
{
    int32_t one = 1, all;
    muster_call call = hall_call(MUSTER_OPERATION_ALL_REDUCE, MUSTER_INT32,
                                 me->rank == 0 ? MUSTER_MAX : MUSTER_SUM, -1, 1, &one, &all);
    if (hall_try(me, call, patient(WAIT_MS), NULL, NULL) == MUSTER_OK)
        return hall_wrong(me, "calls that differ went well");
    const traffic *sum = hall_traffic(me->hall);
    return sum->operations + sum->given + sum->taken == 0 ? 0 : hall_wrong(me, "counted");
}

int main(void)
{
    static const struct {
        const char *name;
        hall_body body;
    } bodies[] = {{"operations that go through slots", body_slots},
                  {"operations that go in pieces", body_pieces},
                  {"blocks of different sizes", body_ragged},
                  {"an operation that fails", body_failed}};
    plan((int)COUNT(bodies));
    for (size_t b = 0; b < COUNT(bodies); b++) {
        const hall_case one = {.size = RANKS, .body = bodies[b].body};
        ok(hall_ranks_run(&one, NULL), "%s", bodies[b].name);
    }
    return done();
}

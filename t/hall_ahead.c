/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks of a hall that are ahead of others: how far a root may be, that nothing is written over
 * meanwhile, and that roots which differ are found though neither waits for the other.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hall_ranks.h"
#include "tap.h"

enum { WAIT_MS = 20000, SHORT_MS = 200, MOST_WORDS = 64, ROUNDS = 3 };

/* What the root has got to, for the others to wait for. */
static void say_at(hall_rank *me, int at)
{
    atomic_store(&me->reports[me->rank].at, at);
}

static void await_at(hall_rank *me, int rank, int at)
{
    while (atomic_load(&me->reports[rank].at) < at)
        usleep(500);
}

static muster_status broadcast(hall_rank *me, int root, int32_t *words, size_t count,
                               int64_t timeout_ms, uint64_t theirs[6])
{
    int other = -1;
    muster_call call =
        hall_call(MUSTER_OPERATION_BROADCAST, MUSTER_INT32, MUSTER_SUM, root, count, words, words);
    return hall_try(me, call, timeout_ms, &other, theirs);
}

/* ---- how far ---- */

/* One that goes along in a slot, and one that goes on a tray. */
static const size_t counts[] = {2, MOST_WORDS};
static const int ahead[] = {HALL_AHEAD, HALL_TRAYS};

/* The root makes as many broadcasts as it may before anybody else comes, and then one more. */
static int body_far(hall_rank *me)
{
    size_t which = *(size_t *)me->argument, count = counts[which];
    int most = ahead[which];
    int32_t words[MOST_WORDS] = {0};
    for (int i = 0; i < ROUNDS * most; i++) {
        if (me->rank != 0 && i % most == 0)
            await_at(me, 0, i + most);
        words[0] = me->rank == 0 ? i : -1;
        words[count - 1] = words[0];
        if (broadcast(me, 0, words, count, patient(WAIT_MS), NULL) != MUSTER_OK)
            return hall_wrong(me, "%d: %s", i, muster_last_error());
        if (words[0] != i || words[count - 1] != i)
            return hall_wrong(me, "%d: received %d", i, words[0]);
        if (me->rank == 0)
            say_at(me, i + 1);
    }
    return 0;
}

static int body_too_far(hall_rank *me)
{
    size_t which = *(size_t *)me->argument, count = counts[which];
    int32_t words[MOST_WORDS] = {0};
    muster_status status = MUSTER_OK;
    int made = 0;
    if (me->rank != 0) {
        await_at(me, 0, 1);
        return 0;
    }
    while (status == MUSTER_OK && made <= ahead[which]) {
        status = broadcast(me, 0, words, count, SHORT_MS, NULL);
        made += status == MUSTER_OK;
    }
    say_at(me, 1);
    if (status != MUSTER_ERR_TIMEOUT || made != ahead[which] || !hall_waited_for(me->hall, 1))
        return hall_wrong(me, "status %d after %d: %s", status, made, muster_last_error());
    return 0;
}

static void test_far(bool cores_for_all)
{
    static size_t which[] = {0, 1};
    for (size_t i = 0; i < 2; i++) {
        hall_case one = {.size = 3,
                         .cores_for_all = cores_for_all,
                         .start = UINT32_MAX - 100,
                         .body = body_far,
                         .argument = &which[i]};
        ok(hall_ranks_run(&one, NULL), "a root may be %d operations of %zu words ahead", ahead[i],
           counts[i]);
        one.body = body_too_far;
        one.size = 2;
        ok(hall_ranks_run(&one, NULL), "and not one more");
    }
}

/* ---- sleepers ---- */

/* Each in its turn lets the others wait for so long that they sleep; of two ranks one fences its
 * writes by itself. */
static int body_turns(hall_rank *me)
{
    int32_t words[MOST_WORDS];
    if (me->rank == 0)
        me->hall->sleepers_fence = false;
    for (int i = 0; i < 30; i++) {
        words[0] = i;
        if (i % me->size == me->rank)
            usleep(1500);
        if (broadcast(me, i % me->size, words, 1, patient(WAIT_MS), NULL) != MUSTER_OK ||
            words[0] != i)
            return hall_wrong(me, "%d: %s", i, muster_last_error());
    }
    return 0;
}

/* ---- roots that differ ---- */

typedef struct silent {
    const char *name;
    muster_operation operation;
    size_t count;
} silent;

static const silent silents[] = {
    {"broadcasts", MUSTER_OPERATION_BROADCAST, 2},
    {"broadcasts on trays", MUSTER_OPERATION_BROADCAST, MOST_WORDS},
    {"scatters", MUSTER_OPERATION_SCATTER, 2},
    {"reduces", MUSTER_OPERATION_REDUCE, 2},
    {"gathers", MUSTER_OPERATION_GATHER, 2},
};

/* The call in which nobody is met: each of two ranks gives, and waits for nothing. */
static muster_call unmet(hall_rank *me, const silent *row, void *send, void *receive)
{
    bool to_all =
        row->operation == MUSTER_OPERATION_BROADCAST || row->operation == MUSTER_OPERATION_SCATTER;
    return hall_call(row->operation, MUSTER_INT32, MUSTER_SUM, to_all ? me->rank : 1 - me->rank,
                     row->count, send, receive);
}

enum { LAG = 20, MANY = 1000 };

/* Neither is ahead by so much that it has ended before the other comes. */
static muster_status call_near(hall_rank *me, muster_call call, int number, int *other,
                               uint64_t theirs[6])
{
    if (number > LAG)
        await_at(me, 1 - me->rank, number - LAG);
    muster_status status = hall_try(me, call, patient(WAIT_MS), other, theirs);
    say_at(me, status == MUSTER_OK ? number : MANY);
    return status;
}

/* Ten calls alike, one in which the roots differ, then all alike again. */
static int body_silent(hall_rank *me)
{
    const silent *row = me->argument;
    int32_t send[4 * MOST_WORDS] = {0}, receive[4 * MOST_WORDS];
    uint64_t theirs[6] = {0};
    muster_status status = MUSTER_OK;
    int other = -2, calls = 0;
    for (; status == MUSTER_OK && calls < MANY; calls++) {
        muster_call call = unmet(me, row, send, receive);
        if (calls != 10)
            call.root = 0;
        status = call_near(me, call, calls, &other, theirs);
    }
    if (status != MUSTER_ERR_MISMATCH)
        return hall_wrong(me, "status %d after %d calls: %s", status, calls, muster_last_error());
    if (calls > 10 + LAG + 18)
        return hall_wrong(me, "found after %d calls", calls);
    if (other != 1 - me->rank && other != -1)
        return hall_wrong(me, "rank %d differs", other);
    uint64_t root = (uint64_t)unmet(me, row, send, receive).root;
    if (other >= 0 && (theirs[0] != (uint64_t)row->operation || theirs[3] != 1 - root))
        return hall_wrong(me, "not the call that was another: root %d", (int)theirs[3]);
    return 0;
}

/* The two never call what all wait for. */
static int body_always_silent(hall_rank *me)
{
    const silent *row = me->argument;
    int32_t send[4 * MOST_WORDS] = {0}, receive[4 * MOST_WORDS];
    muster_status status = MUSTER_OK;
    int calls = 0;
    for (; status == MUSTER_OK && calls < MANY; calls++)
        status = call_near(me, unmet(me, row, send, receive), calls, NULL, NULL);
    if (status != MUSTER_ERR_MISMATCH || calls > LAG + 18)
        return hall_wrong(me, "status %d after %d calls", status, calls);
    return 0;
}

static void test_silent(void)
{
    for (size_t i = 0; i < sizeof(silents) / sizeof(*silents); i++) {
        hall_case one = {.size = 2,
                         .cores_for_all = i % 2 == 0,
                         .body = body_silent,
                         .argument = (void *)&silents[i]};
        ok(hall_ranks_run(&one, NULL), "one of many %s has another root", silents[i].name);
        one.body = body_always_silent;
        ok(hall_ranks_run(&one, NULL), "all of many %s have", silents[i].name);
    }
}

int main(void)
{
    plan(2 * 4 + 2 + 2 * (int)(sizeof(silents) / sizeof(*silents)));
    test_far(true);
    test_far(false);
    for (int cores = 0; cores < 2; cores++) {
        const hall_case one = {.size = 2, .cores_for_all = cores != 0, .body = body_turns};
        ok(hall_ranks_run(&one, NULL), "sleepers are woken, whoever fences");
    }
    test_silent();
    return done();
}

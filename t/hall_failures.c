/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What ends an operation in a hall: ranks out of step, a rank that is killed, stopped or never
 * comes, a hall that is given up. Nobody waits for ever, nobody goes on in silence.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend/host.h"
#include "hall_ranks.h"
#include "tap.h"

enum { WORDS = 300000 };

static muster_call sum_of(size_t count, const void *send, void *receive)
{
    return hall_call(MUSTER_OPERATION_ALL_REDUCE, MUSTER_INT32, MUSTER_SUM, 0, count, send,
                     receive);
}

static muster_status barrier(hall_rank *me, int64_t timeout_ms)
{
    return hall_try(
        me, hall_call(MUSTER_OPERATION_BARRIER, MUSTER_UINT8, MUSTER_SUM, -1, 0, NULL, NULL),
        timeout_ms, NULL, NULL);
}

static int32_t *words(void)
{
    int32_t *made = calloc(WORDS, sizeof(*made));
    if (made == NULL)
        bail_out("no memory");
    return made;
}

/* ---- out of step ---- */

/* What the last rank calls where the others call an all_reduce. */
typedef struct odd_call {
    const char *name;
    muster_operation operation;
    muster_type type;
    muster_reduction redop;
    int root;
    size_t count; /* of all */
    size_t odd;   /* of the last one */
} odd_call;

static const odd_call odd_calls[] = {
    {"another count", MUSTER_OPERATION_ALL_REDUCE, MUSTER_INT32, MUSTER_SUM, 0, 10, 11},
    {"another type", MUSTER_OPERATION_ALL_REDUCE, MUSTER_FLOAT32, MUSTER_SUM, 0, 10, 10},
    {"another reduction", MUSTER_OPERATION_ALL_REDUCE, MUSTER_INT32, MUSTER_MAX, 0, 10, 10},
    {"a barrier", MUSTER_OPERATION_BARRIER, MUSTER_INT32, MUSTER_SUM, -1, 10, 0},
    {"a small one for a large one", MUSTER_OPERATION_ALL_REDUCE, MUSTER_INT32, MUSTER_SUM, 0, WORDS,
     1},
    {"a large one for a small one", MUSTER_OPERATION_ALL_REDUCE, MUSTER_INT32, MUSTER_SUM, 0, 1,
     WORDS},
    {"a large count for another", MUSTER_OPERATION_ALL_REDUCE, MUSTER_INT32, MUSTER_SUM, 0, WORDS,
     WORDS - 1},
    {"a large gather", MUSTER_OPERATION_GATHER, MUSTER_INT32, MUSTER_SUM, 0, WORDS, WORDS / 8},
    {"a large broadcast", MUSTER_OPERATION_BROADCAST, MUSTER_INT32, MUSTER_SUM, 0, WORDS, WORDS},
};

/* The label that the test's calls have. */
static bool is_label(const uint64_t label[6], const muster_call *call)
{
    return label[0] == (uint64_t)call->operation && label[1] == (uint64_t)call->type &&
           label[2] == (uint64_t)call->redop && label[4] == call->count;
}

static int body_odd(hall_rank *me)
{
    const odd_call *row = me->argument;
    int32_t *send = words(), *receive = words();
    uint64_t theirs[6] = {0};
    int other = -2, last = me->size - 1;
    muster_call all = sum_of(row->count, send, receive), odd = all;
    odd.operation = row->operation;
    odd.type = row->type;
    odd.redop = row->redop;
    odd.root = row->root;
    odd.count = row->odd;
    bool is_odd = me->rank == last;
    muster_status status = hall_try(me, is_odd ? odd : all, patient(5000), &other, theirs);
    free(send);
    free(receive);
    if (status != MUSTER_ERR_MISMATCH)
        return hall_wrong(me, "status %d: %s", status, muster_last_error());
    if (other != -1 && (is_odd ? other == last : other != last))
        return hall_wrong(me, "rank %d is not the one that differs", other);
    if (other != -1 && !is_label(theirs, is_odd ? &all : &odd))
        return hall_wrong(me, "not what rank %d called", other);
    if (barrier(me, patient(5000)) != MUSTER_ERR_MISMATCH)
        return hall_wrong(me, "the hall serves on");
    return 0;
}

static void test_odd_calls(void)
{
    for (size_t i = 0; i < sizeof(odd_calls) / sizeof(*odd_calls); i++)
        for (int n = 2; n <= 4; n += 2) {
            const hall_case one = {.size = n,
                                   .cores_for_all = n == 2,
                                   .body = body_odd,
                                   .argument = (void *)&odd_calls[i]};
            ok(hall_ranks_run(&one, NULL), "%s where the others reduce, %d ranks",
               odd_calls[i].name, n);
        }
}

/* Two ranks that don't look at each other's slots in an operation find it in the next. */
static int body_late(hall_rank *me)
{
    int32_t *memory = words();
    uint64_t theirs[6] = {0};
    int other = -2;
    muster_operation operation =
        me->rank == 0 ? MUSTER_OPERATION_BROADCAST : MUSTER_OPERATION_GATHER;
    muster_call call = hall_call(operation, MUSTER_INT32, MUSTER_SUM, 0, 4, memory, memory + 16);
    muster_status status = hall_try(me, call, patient(5000), &other, theirs);
    bool quiet = status == MUSTER_OK;
    if (quiet)
        status = hall_try(me, sum_of(4, memory, memory + 16), patient(5000), &other, theirs);
    free(memory);
    if (status != MUSTER_ERR_MISMATCH)
        return hall_wrong(me, "status %d: %s", status, muster_last_error());
    muster_operation wanted = me->rank == 0 ? MUSTER_OPERATION_GATHER : MUSTER_OPERATION_BROADCAST;
    if (other >= 0 && theirs[0] != (uint64_t)wanted)
        return hall_wrong(me, "not the operation that was another, but %d", (int)theirs[0]);
    return 0;
}

/* ---- killed, stopped, absent ---- */

static int body_until_lost(hall_rank *me)
{
    int32_t *send = words(), *receive = words();
    muster_status status = MUSTER_OK;
    while (status == MUSTER_OK) {
        status = hall_try(me, sum_of(*(size_t *)me->argument, send, receive), patient(10000), NULL,
                          NULL);
        atomic_fetch_add(&me->reports[me->rank].at, 1);
    }
    free(send);
    free(receive);
    if (status != MUSTER_ERR_FAILED)
        return hall_wrong(me, "status %d: %s", status, muster_last_error());
    return 0;
}

/* As whoever watches the ranks does when one dies. */
static void kill_one(hall *whole, hall_report *reports, const hall_case *all)
{
    int last = all->size - 1;
    while (atomic_load(&reports[last].at) < 20)
        usleep(1000);
    kill(reports[last].pid, SIGKILL);
    usleep(50000);
    hall_break(whole);
}

static void test_killed(void)
{
    static size_t counts[] = {2, WORDS};
    if (!hall_ranks_are_processes()) {
        skip(4, "a thread can't be killed");
        return;
    }
    for (int i = 0; i < 4; i++) {
        hall_report reports[HALL_RANKS_MOST];
        const hall_case one = {.size = i < 2 ? 2 : 3,
                               .cores_for_all = i < 2,
                               .body = body_until_lost,
                               .argument = &counts[i % 2],
                               .beside = kill_one};
        hall_ranks_run(&one, reports);
        bool well = !reports[one.size - 1].ended;
        for (int r = 0; r < one.size - 1; r++)
            well = well && reports[r].ended && reports[r].answer == 0;
        ok(well, "%d ranks, one is killed in all_reduces of %zu: the others fail", one.size,
           counts[i % 2]);
    }
}

static int body_timeout(hall_rank *me)
{
    int last = me->size - 1;
    int32_t *send = words(), *receive = words();
    muster_status status = barrier(me, patient(5000));
    if (status == MUSTER_OK && me->rank != last)
        status = hall_try(me, sum_of(*(size_t *)me->argument, send, receive), 300, NULL, NULL);
    free(send);
    free(receive);
    if (me->rank == last)
        return status == MUSTER_OK ? 0 : hall_wrong(me, "the barrier: %s", muster_last_error());
    if (status != MUSTER_ERR_TIMEOUT && status != MUSTER_ERR_FAILED)
        return hall_wrong(me, "status %d: %s", status, muster_last_error());
    if (status == MUSTER_ERR_TIMEOUT && !hall_waited_for(me->hall, last))
        return hall_wrong(me, "waited for whom? %s", muster_last_error());
    return 0;
}

static void test_absent(void)
{
    static size_t counts[] = {2, WORDS};
    for (int i = 0; i < 4; i++) {
        hall_report reports[HALL_RANKS_MOST];
        const hall_case one = {.size = i < 2 ? 2 : 4,
                               .cores_for_all = i < 2,
                               .body = body_timeout,
                               .argument = &counts[i % 2]};
        bool well = hall_ranks_run(&one, reports);
        ok(well && reports[0].millis >= 200 && reports[0].millis < patient(3000),
           "%d ranks, one does not come to an all_reduce of %zu: %ld ms", one.size, counts[i % 2],
           reports[0].millis);
        for (int r = 0; !well && r < one.size; r++)
            diag("rank %d: %s", r, reports[r].sentence);
    }
}

/* A rank that sleeps is woken by a break, not by the end of its nap. */
static void break_it(hall *whole, hall_report *reports, const hall_case *all)
{
    (void)reports, (void)all;
    usleep(200000);
    hall_break(whole);
    hall_break(whole);
}

static int body_alone(hall_rank *me)
{
    if (me->rank == 0)
        return 0;
    muster_status status = barrier(me, patient(20000));
    return status == MUSTER_ERR_FAILED ? 0 : hall_wrong(me, "status %d", status);
}

static void test_break(void)
{
    hall_report reports[HALL_RANKS_MOST];
    const hall_case one = {
        .size = 3, .cores_for_all = true, .body = body_alone, .beside = break_it};
    bool well = hall_ranks_run(&one, reports);
    ok(well && reports[1].millis < patient(1500) && reports[2].millis < patient(1500),
       "a hall that is given up while ranks sleep: %ld and %ld ms", reports[1].millis,
       reports[2].millis);
}

static void test_edges(void)
{
    muster_call call =
        hall_call(MUSTER_OPERATION_SEND_RECV, MUSTER_INT8, MUSTER_SUM, 0, 1, NULL, NULL);
    ok(!hall_can(&call), "single messages are not the hall's");
    call.operation = MUSTER_OPERATION_GATHER;
    ok(hall_can(&call), "a gather of like blocks is");
    call.uniform = false;
    ok(hall_can(&call), "and one of unlike blocks");
    hall *made = NULL;
    hall_place place = {.host = &host_functions, .size = 1025};
    is_int(hall_open(&made, &place), MUSTER_ERR_UNSUPPORTED, "too many ranks are refused");
    has_str(muster_last_error(), "1024", "in words");
    hall_close(NULL);
}

int main(void)
{
    const hall_case late = {.size = 2, .cores_for_all = true, .body = body_late};
    plan(18 + 1 + 4 + 4 + 1 + 5);
    test_odd_calls();
    ok(hall_ranks_run(&late, NULL), "ranks that did not meet in an operation find it in the next");
    test_killed();
    test_absent();
    test_break();
    test_edges();
    return done();
}

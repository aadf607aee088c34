/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Turns: calls of one kind follow each other, others pass.
 */
#include "group/turn.h"

#include <pthread.h>
#include <stdatomic.h>

#include "tap.h"

enum { THREADS = 6, ROUNDS = 300, LONG_MS = 20000 };

static turn_line line;
static family *members;

static void order(void)
{
    turn a, b, other;
    ok(turn_take(&line, members, "a", &a) && turn_take(&line, members, "a", &b) &&
           turn_take(&line, members, "b", &other),
       "three calls");
    ok(a.number == 0 && b.number == 1 && other.number == 0, "each kind is counted by itself");
    ok(turn_wait(&line, &a, deadline_in(0)), "the first has its turn");
    ok(turn_wait(&line, &other, deadline_in(0)), "one of another kind does not wait for it");
    int64_t began = deadline_now_ns();
    ok(!turn_wait(&line, &b, deadline_in(100)), "the second waits for the first");
    ok(deadline_now_ns() - began >= 99000000, "until its time is over");
    turn_end(&line, &a);
    ok(turn_wait(&line, &b, deadline_in(0)), "and has its turn once that has ended");
    turn_end(&line, &a);
    ok(true, "which may be said twice");
    turn_end(&line, &other);
    turn_end(&line, &b);
    turn none = {.key = NULL};
    turn_end(&line, &none);
    ok(line.first == NULL, "nobody is left");
}

static atomic_int inside, most;
static long long next_number;

static void *call_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        turn mine;
        if (!turn_take(&line, members, "many", &mine) ||
            !turn_wait(&line, &mine, deadline_in(LONG_MS)))
            return NULL;
        if (atomic_fetch_add(&inside, 1) > 0 || mine.number != next_number++)
            atomic_fetch_add(&most, 1);
        atomic_fetch_sub(&inside, 1);
        turn_end(&line, &mine);
    }
    return NULL;
}

static void many(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, call_often, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ok(atomic_load(&most) == 0 && next_number == (long long)THREADS * ROUNDS,
       "calls of many threads come one by one, by their numbers");
}

int main(void)
{
    plan(10);
    members = family_new();
    turn_line_init(&line);
    order();
    many();
    turn_line_destroy(&line);
    family_release(members);
    return done();
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages over shared memory: all sizes and orders, many slots and threads, copied once and twice.
 */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend_ranks.h"
#include "tap.h"

static muster_request *send_to(rank *me, int peer, uint64_t slot, const void *data, size_t size)
{
    muster_request *request = NULL;
    rank_check(me, me->ops->post_send(me->comm, peer, slot, data, size, &request) == MUSTER_OK,
               "post: %s", muster_last_error());
    return request;
}

static muster_request *receive_from(rank *me, int peer, uint64_t slot, void *data, size_t size)
{
    muster_request *request = NULL;
    rank_check(me, me->ops->post_recv(me->comm, peer, slot, data, size, &request) == MUSTER_OK,
               "post: %s", muster_last_error());
    return request;
}

static bool await(rank *me, muster_request *request)
{
    return rank_check(
        me, request != NULL && me->ops->wait(me->comm, request, patient(20000)) == MUSTER_OK,
        "wait: %s", muster_last_error());
}

/* Every rank swaps with every other. */
static void mesh(rank *me)
{
    if (!rank_open(me))
        return;
    for (int peer = 0; peer < me->size; peer++)
        if (peer != me->number && !rank_swap(me, peer, 1, 1000))
            break;
    rank_close(me);
    rank_not_broken(me);
}

static void swap_sizes(rank *me)
{
    static const size_t sizes[] = {1,     2,     31,    32,    33,      63,      64,
                                   65,    4063,  4064,  4096,  8191,    8192,    8193,
                                   32735, 32736, 32737, 65536, 1 << 20, 8 << 20, 64 << 20};
    if (!rank_open(me))
        return;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (!rank_swap(me, 1 - me->number, i, sizes[i]) ||
            !rank_swap(me, 1 - me->number, 1, sizes[i]))
            break;
    rank_close(me);
    rank_not_broken(me);
}

static void sizes_twice(rank *me)
{
    me->single_copy = "0";
    swap_sizes(me);
}

/* Without cores for all nobody looks for long before it sleeps. */
static void sizes_asleep(rank *me)
{
    me->cores = 1;
    swap_sizes(me);
}

/* Rank 0 posts sends on many slots, three on each, of sizes that go each way; rank 1 takes the
 * slots from the last to the first. Each slot keeps its order, and no slot waits for another. */
static void take_slots(rank *me)
{
    enum { SLOTS = 40, EACH = 3, LONG = 3000 };
    static const size_t counts[EACH] = {1, LONG, 20};
    static uint64_t values[SLOTS][EACH][LONG];
    muster_request *requests[SLOTS][EACH];
    if (!rank_open(me))
        return;
    for (int i = 0; i < SLOTS; i++)
        for (int j = 0; j < EACH; j++) {
            int slot = me->number == 0 ? i : SLOTS - 1 - i;
            uint64_t *value = values[slot][j], name = (uint64_t)slot << 56 | 7;
            size_t size = counts[j] * sizeof(*value);
            for (size_t k = 0; k < counts[j] && me->number == 0; k++)
                value[k] = (uint64_t)(slot * 100 + j) + (k << 32);
            requests[slot][j] = me->number == 0 ? send_to(me, 1, name, value, size)
                                                : receive_from(me, 0, name, value, size);
        }
    for (int i = 0; i < SLOTS; i++)
        for (int j = 0; j < EACH && await(me, requests[i][j]); j++) {
            size_t last = counts[j] - 1;
            rank_check(me, values[i][j][last] == (uint64_t)(i * 100 + j) + (last << 32),
                       "slot %d, message %d is wrong", i, j);
        }
    rank_close(me);
}

static void slots(rank *me)
{
    take_slots(me);
}

static void slots_twice(rank *me)
{
    me->single_copy = "0";
    take_slots(me);
}

/* Far more short messages than there is room for, before the other takes any: posting does not
 * wait, and what is not asked for is not kept in the receiver's memory without bound. */
static void flood(rank *me)
{
    enum { COUNT = 20000 };
    static uint64_t values[COUNT];
    static muster_request *requests[COUNT];
    if (!rank_open(me))
        return;
    for (uint64_t i = 0; i < COUNT && me->number == 0; i++) {
        values[i] = i * i;
        requests[i] = send_to(me, 1, i % 3, &values[i], sizeof(values[i]));
    }
    rank_meet(me, 0);
    /* The receiver is made to look at the ring by a message of its own. */
    if (me->number == 1)
        rank_swap(me, 0, 9, 100);
    else
        rank_swap(me, 1, 9, 100);
    for (uint64_t i = 0; i < COUNT && me->number == 1; i++)
        requests[i] = receive_from(me, 0, i % 3, &values[i], sizeof(values[i]));
    for (uint64_t i = 0; i < COUNT && await(me, requests[i]); i++)
        rank_check(me, values[i] == i * i, "message %llu is wrong", (unsigned long long)i);
    rank_close(me);
}

/* Each waits first for what the other has posted last. */
static void crossed(rank *me)
{
    enum { BIG = 3 << 20 };
    int peer = 1 - me->number;
    char *out = calloc(2, BIG), *in = calloc(2, BIG);
    if (!rank_open(me))
        return;
    memset(out, 'a', BIG);
    memset(out + BIG, 'b', BIG);
    uint64_t first = (uint64_t)me->number, second = 1 - first;
    muster_request *sent_first = send_to(me, peer, first, out, BIG);
    muster_request *sent_second = send_to(me, peer, second, out + BIG, BIG);
    muster_request *taken_first = receive_from(me, peer, first, in, BIG);
    muster_request *taken_second = receive_from(me, peer, second, in + BIG, BIG);
    if (me->number == 0) {
        await(me, sent_second);
        await(me, taken_first);
        await(me, taken_second);
        await(me, sent_first);
    } else {
        await(me, taken_second);
        await(me, sent_first);
        await(me, sent_second);
        await(me, taken_first);
    }
    rank_check(me, in[0] == 'b' && in[BIG - 1] == 'b' && in[BIG] == 'a', "wrong: %c %c", in[0],
               in[BIG]);
    rank_close(me);
    free(out);
    free(in);
}

static void crossed_twice(rank *me)
{
    me->single_copy = "0";
    crossed(me);
}

/* A message is taken from a sender who does something else meanwhile. */
static void busy_sender(rank *me)
{
    enum { BIG = 4 << 20, POSTED = 0, TAKEN = 1 };
    char *data = calloc(1, BIG);
    if (!rank_open(me))
        return;
    if (me->number == 0) {
        data[BIG - 1] = 7;
        muster_request *request = send_to(me, 1, 3, data, BIG);
        atomic_store(rank_flag(me, POSTED), 1);
        rank_wait_flag(me, TAKEN, 1);
        await(me, request);
    } else {
        muster_request *request = receive_from(me, 0, 3, data, BIG);
        rank_wait_flag(me, POSTED, 1);
        await(me, request);
        rank_check(me, data[BIG - 1] == 7, "the last byte is wrong");
        atomic_store(rank_flag(me, TAKEN), 1);
    }
    rank_close(me);
    free(data);
}

/* One who waits carries for the others too: a long message on one slot is taken while its receiver
 * waits for another, which the sender posts only then. */
static void carried_for_others(rank *me)
{
    enum { BIG = 4 << 20 };
    char *data = calloc(1, BIG), byte = 1;
    if (!rank_open(me))
        return;
    if (me->number == 0) {
        muster_request *big = send_to(me, 1, 3, data, BIG);
        await(me, big);
        await(me, send_to(me, 1, 4, &byte, 1));
    } else {
        muster_request *big = receive_from(me, 0, 3, data, BIG);
        await(me, receive_from(me, 0, 4, &byte, 1));
        await(me, big);
    }
    rank_close(me);
    free(data);
}

static void carried_twice(rank *me)
{
    me->single_copy = "0";
    carried_for_others(me);
}

/* A message that was sent before its sender left is there. */
static void sent_and_left(rank *me)
{
    char bytes[3] = "ab";
    if (!rank_open(me))
        return;
    if (me->number == 0) {
        await(me, send_to(me, 1, 3, bytes, sizeof(bytes)));
        rank_close(me);
        rank_meet(me, 0);
        return;
    }
    rank_meet(me, 0);
    memset(bytes, 0, sizeof(bytes));
    await(me, receive_from(me, 0, 3, bytes, sizeof(bytes)));
    rank_check(me, strcmp(bytes, "ab") == 0, "wrong");
    rank_close(me);
    rank_not_broken(me);
}

typedef struct thread_arg {
    rank *me;
    uint64_t slot;
} thread_arg;

static void *swap_many(void *argument)
{
    thread_arg *arg = argument;
    for (size_t i = 0; i < 100; i++)
        if (!rank_swap(arg->me, 1 - arg->me->number, arg->slot, 1 + i * 300))
            break;
    return NULL;
}

static void run_threads(rank *me)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    thread_arg args[THREADS];
    for (int i = 0; i < THREADS; i++) {
        args[i] = (thread_arg){me, (uint64_t)i};
        pthread_create(&threads[i], NULL, swap_many, &args[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void threads(rank *me)
{
    if (!rank_open(me))
        return;
    run_threads(me);
    rank_close(me);
}

static void threads_twice(rank *me)
{
    me->single_copy = "0";
    threads(me);
}

static void threads_asleep(rank *me)
{
    me->cores = 1;
    threads(me);
}

static atomic_int storm_seen;

static void on_storm(int number)
{
    (void)number;
    atomic_fetch_add(&storm_seen, 1);
}

static void *storm(void *argument)
{
    atomic_bool *over = argument;
    while (!atomic_load(over)) {
        kill(getpid(), SIGUSR1);
        usleep(200);
    }
    return NULL;
}

/* Signals arrive all the time, without SA_RESTART; nothing fails for it. */
static void signals_storm(rank *me)
{
    struct sigaction action = {.sa_handler = on_storm};
    atomic_bool over = false;
    pthread_t thread;
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, storm, &over);
    me->cores = 1;
    if (rank_open(me)) {
        run_threads(me);
        rank_swap(me, 1 - me->number, 1, 8 << 20);
        rank_close(me);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    rank_check(me, atomic_load(&storm_seen) > 10, "only %d signals came", atomic_load(&storm_seen));
}

/* Two communicators of the same processes, with messages on the same slot. */
static void two_comms(rank *me)
{
    if (!rank_open(me))
        return;
    muster_comm *first = me->comm;
    if (!rank_open(me))
        return;
    muster_comm *second = me->comm;
    for (int i = 0; i < 20; i++) {
        me->comm = i % 2 == 0 ? first : second;
        rank_swap(me, 1 - me->number, 3, 5000);
    }
    me->comm = first;
    rank_close(me);
    me->comm = second;
    rank_swap(me, 1 - me->number, 3, 5000);
    rank_close(me);
}

/* Sizes that differ, which the core rules out, end the group and do not write beyond memory. */
static void wrong_size(rank *me)
{
    char bytes[8] = "1234567";
    muster_request *request = NULL;
    if (!rank_open(me))
        return;
    if (me->number == 0)
        me->ops->post_send(me->comm, 1, 1, bytes, 8, &request);
    muster_status status = MUSTER_OK;
    if (me->number == 1)
        status = me->ops->post_recv(me->comm, 0, 1, bytes, 4, &request);
    if (me->number == 1 && status == MUSTER_OK)
        status = me->ops->wait(me->comm, request, 10000);
    if (me->number == 1)
        rank_check(me, status == MUSTER_ERR_FAILED && strstr(muster_last_error(), "rank 0") != NULL,
                   "%s: %s", muster_status_name(status), muster_last_error());
    else
        rank_check(me, rank_wait_broken(me, 5000), "rank 0 is not told");
    rank_close(me);
}

int main(void)
{
    plan(22);
    ranks_run("2 ranks", 2, mesh);
    ranks_run("3 ranks", 3, mesh);
    ranks_run("8 ranks", 8, mesh);
    ranks_run("20 ranks", 20, mesh);
    ranks_run("messages of 1 byte to 64 MiB", 2, swap_sizes);
    ranks_run("the same, copied twice", 2, sizes_twice);
    ranks_run("the same, asleep", 2, sizes_asleep);
    ranks_run("slots do not wait for each other and keep their order", 2, slots);
    ranks_run("the same, copied twice", 2, slots_twice);
    ranks_run("more than there is room for", 2, flood);
    ranks_run("each waits for what the other posted last", 2, crossed);
    ranks_run("the same, copied twice", 2, crossed_twice);
    ranks_run("the sender does something else", 2, busy_sender);
    ranks_run("who waits carries for others", 2, carried_for_others);
    ranks_run("the same, copied twice", 2, carried_twice);
    ranks_run("sent before the sender left", 2, sent_and_left);
    ranks_run("four threads at once", 2, threads);
    ranks_run("the same, copied twice", 2, threads_twice);
    ranks_run("the same, asleep", 2, threads_asleep);
    ranks_run("a storm of signals", 2, signals_storm);
    ranks_run("two communicators", 2, two_comms);
    ranks_run("sizes that differ", 2, wrong_size);
    return done();
}

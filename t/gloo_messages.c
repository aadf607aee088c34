/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The gloo plugin: meshes of 1 to 8 ranks, and messages of all sizes between them.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend_ranks.h"
#include "tap.h"

/* Every rank swaps with every other. */
static void mesh(rank *me)
{
    if (!rank_open(me))
        return;
    for (int peer = 0; peer < me->size; peer++)
        if (peer != me->number)
            rank_swap(me, peer, 1, 1000);
    rank_close(me);
    rank_not_broken(me);
}

static void sizes(rank *me)
{
    static const size_t sizes[] = {1, 2, 47, 48, 49, 4096, 65535, 1 << 20, 8 << 20};
    if (!rank_open(me))
        return;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (!rank_swap(me, 1 - me->number, i, sizes[i]))
            break;
    rank_close(me);
}

/* Rank 0 posts sends on many slots, three on each; rank 1 takes the slots from the last to the
 * first. Each slot keeps its order, and no slot waits for another. */
static void slots(rank *me)
{
    enum { SLOTS = 40, EACH = 3 };
    muster_request *requests[SLOTS][EACH];
    uint64_t values[SLOTS][EACH];
    if (!rank_open(me))
        return;
    for (int i = 0; i < SLOTS; i++) {
        int slot = me->number == 0 ? i : SLOTS - 1 - i;
        uint64_t name = (uint64_t)slot << 56 | 7;
        for (int j = 0; j < EACH; j++) {
            uint64_t *value = &values[slot][j];
            *value = me->number == 0 ? (uint64_t)(slot * 100 + j) : 0;
            muster_status status =
                me->number == 0
                    ? me->ops->post_send(me->comm, 1, name, value, 8, &requests[slot][j])
                    : me->ops->post_recv(me->comm, 0, name, value, 8, &requests[slot][j]);
            if (!rank_check(me, status == MUSTER_OK, "post: %s", muster_last_error()))
                return;
        }
    }
    for (int i = 0; i < SLOTS; i++)
        for (int j = 0; j < EACH; j++) {
            rank_check(me, me->ops->wait(me->comm, requests[i][j], 20000) == MUSTER_OK, "wait: %s",
                       muster_last_error());
            rank_check(me, values[i][j] == (uint64_t)(i * 100 + j), "slot %d, message %d: %llu", i,
                       j, (unsigned long long)values[i][j]);
        }
    rank_close(me);
}

typedef struct thread_arg {
    rank *me;
    uint64_t slot;
} thread_arg;

static void *swap_many(void *argument)
{
    thread_arg *arg = argument;
    for (size_t i = 0; i < 100; i++)
        if (!rank_swap(arg->me, 1 - arg->me->number, arg->slot, 1 + i * 100))
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

/* Signals arrive all the time, without SA_RESTART; nothing fails for it, and the caller's mask and
 * handler are as before. user case: a profiler that samples with a timer signal. */
static void signals_storm(rank *me)
{
    struct sigaction action = {.sa_handler = on_storm};
    struct sigaction action_after;
    sigset_t mask_before, mask_after;
    atomic_bool over = false;
    pthread_t thread;
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&mask_before);
    sigaddset(&mask_before, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
    pthread_create(&thread, NULL, storm, &over);
    if (rank_open(me)) {
        run_threads(me);
        rank_swap(me, 1 - me->number, 1, 8 << 20);
        rank_close(me);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
    sigaction(SIGUSR1, NULL, &action_after);
    rank_check(me, atomic_load(&storm_seen) > 10, "only %d signals came", atomic_load(&storm_seen));
    rank_check(me, action_after.sa_handler == on_storm, "the handler was changed");
    for (int i = 1; i < 32; i++)
        rank_check(me, sigismember(&mask_after, i) == sigismember(&mask_before, i),
                   "signal %d is masked otherwise", i);
}

/* Two communicators over one device, with messages on the same slot. */
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

static void reserved_slot(rank *me)
{
    char byte = 0;
    muster_request *request = NULL;
    if (!rank_open(me))
        return;
    for (uint64_t slot = UINT64_MAX - 2; slot != 0; slot++) {
        muster_status status =
            me->ops->post_send(me->comm, 1 - me->number, slot, &byte, 1, &request);
        rank_check(me, status == MUSTER_ERR_UNSUPPORTED && request == NULL,
                   "a reserved slot was taken");
        rank_check(me, strstr(muster_last_error(), "slot") != NULL, "%s", muster_last_error());
    }
    rank_swap(me, 1 - me->number, UINT64_MAX - 3, 1);
    rank_close(me);
}

static void describe(rank *me)
{
    me->batch = "on";
    if (!rank_open(me))
        return;
    const char *words = me->ops->describe(me->comm);
    rank_check(me,
               strstr(words, "gloo 0.5.0 over tcp") != NULL && strstr(words, me->address) != NULL &&
                   strstr(words, "batch scheduling on") != NULL,
               "%s", words);
    rank_close(me);
}

int main(void)
{
    needs_gloo();
    plan(15);

    for (int size = 2; size <= 8; size++) {
        char name[64];
        snprintf(name, sizeof(name), "a mesh of %d ranks", size);
        ranks_run(name, size, mesh);
    }
    ranks_run_at("::1", "a mesh over IPv6", 3, mesh);
    ranks_run("messages of 1 byte to 8 MiB", 2, sizes);
    ranks_run("slots do not wait for each other and keep their order", 2, slots);
    ranks_run("four threads at once", 2, threads);
    ranks_run("a storm of signals", 2, signals_storm);
    ranks_run("two communicators over one device", 2, two_comms);
    ranks_run("the backend's own slots", 2, reserved_slot);
    ranks_run("describe", 2, describe);
    return done();
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations that overlap: threads that share a group, groups that do not wait for each other,
 * waiting for any of several, callbacks that start the next, handles that are freed early.
 */
#include "config.h"

#include "grouptest.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T = 30000, THREADS = 4, TURNS = 200, GROUPS = 5, CHAIN = 100, EARLY = 50 };

static void start(pthread_t *thread, void *(*body)(void *), void *argument)
{
    if (pthread_create(thread, NULL, body, argument) != 0)
        bail_out("no thread");
}

/* ---- several threads, one group ---- */

/* All make the same calls, so that any order of them is the same on all ranks. */
static void *sum_often(void *argument)
{
    muster_group *group = argument;
    intptr_t good = 0;
    for (int i = 0; i < TURNS; i++) {
        int32_t mine = muster_group_rank(group) + 1, sum = 0;
        good +=
            muster_all_reduce(group, &mine, &sum, 1, MUSTER_INT32, MUSTER_SUM, NULL) == MUSTER_OK &&
            sum == 6;
    }
    return (void *)good;
}

/* Threads that agree on an order on each rank: whose turn it is may issue. */
typedef struct turns {
    muster_group *group;
    pthread_mutex_t lock;
    int next; /* the number of the call that is to be issued */
    atomic_int good;
} turns;

static void *take_turns(void *argument)
{
    turns *shared = argument;
    while (true) {
        int32_t mine = 0, all[3] = {0};
        muster_work *work = NULL;
        pthread_mutex_lock(&shared->lock);
        int number = shared->next++;
        mine = number * 3 + muster_group_rank(shared->group);
        muster_status status =
            number >= TURNS   ? MUSTER_ERR_NOT_FOUND
            : number % 2 == 0 ? muster_all_gather(shared->group, &mine, all, 1, MUSTER_INT32, &work)
                              : muster_barrier(shared->group, &work);
        pthread_mutex_unlock(&shared->lock);
        if (status != MUSTER_OK)
            return NULL;
        status = muster_work_wait(work, MUSTER_TIMEOUT_DEFAULT);
        muster_work_free(work);
        bool right = number % 2 != 0 || (all[0] == number * 3 && all[2] == number * 3 + 2);
        atomic_fetch_add(&shared->good, status == MUSTER_OK && right);
    }
}

static void one_group(int rank, int size)
{
    (void)rank;
    (void)size;
    muster_group *group = world_of("world", T);
    pthread_t threads[THREADS];
    intptr_t good = 0;
    for (int i = 0; i < THREADS; i++)
        start(&threads[i], sum_often, group);
    for (int i = 0; i < THREADS; i++) {
        void *one = NULL;
        pthread_join(threads[i], &one);
        good += (intptr_t)one;
    }
    is_int(good, THREADS * TURNS, "threads that make the same calls");
    turns shared = {.group = group, .lock = PTHREAD_MUTEX_INITIALIZER};
    for (int i = 0; i < THREADS; i++)
        start(&threads[i], take_turns, &shared);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    is_int(atomic_load(&shared.good), TURNS, "threads that agree on the order");
    ranks_barrier();
    muster_group_free(group);
    ranks_barrier();
}

/* ---- several threads, one parent ---- */

typedef struct maker {
    pthread_t thread;
    muster_group *parent;
    bool alone; /* by members that meet alone */
    int64_t timeout_ms;
    muster_status status;
    char sentence[1024];
} maker;

static void *make_one(void *argument)
{
    maker *self = argument;
    static const int all[] = {0, 1, 2};
    muster_group *made = NULL;
    muster_group_args args = MUSTER_GROUP_ARGS_INIT;
    args.timeout_ms = self->timeout_ms;
    self->status = self->alone ? muster_new_group(self->parent, all, 3, &args, &made)
                               : muster_group_split(self->parent, 0, 0, &args, &made);
    if (self->status == MUSTER_OK && !group_works(made))
        self->status = MUSTER_ERR_INTERNAL;
    snprintf(self->sentence, sizeof(self->sentence), "%s", muster_last_error());
    muster_group_free(made);
    return NULL;
}

static void make(maker *self, muster_group *parent, bool alone, int64_t timeout_ms)
{
    *self = (maker){.parent = parent, .alone = alone, .timeout_ms = timeout_ms};
    start(&self->thread, make_one, self);
}

/* None of them has a name of its own, so that they would all like the same. */
static void one_parent(int rank, int size)
{
    (void)rank;
    (void)size;
    muster_group *group = world_of("world", T);
    maker makers[2 * THREADS];
    for (int alone = 0; alone < 2; alone++) {
        int good = 0;
        for (int i = 0; i < 2 * THREADS; i++)
            make(&makers[i], group, alone == 1, T);
        for (int i = 0; i < 2 * THREADS; i++) {
            pthread_join(makers[i].thread, NULL);
            good += makers[i].status == MUSTER_OK;
            if (makers[i].status != MUSTER_OK)
                diag("%s", makers[i].sentence);
        }
        is_int(good, 2 * THREADS, "groups made by many threads%s", alone == 1 ? ", alone" : "");
    }
    ranks_barrier();
    muster_group_free(group);
    ranks_barrier();
}

/* The second call of rank 0 gives up before the others have come to the first. */
static void no_turn(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", T);
    maker first, second;
    if (rank == 0) {
        make(&first, group, false, T);
        sleep_ms(300);
        make(&second, group, false, 200);
        pthread_join(second.thread, NULL);
    }
    ranks_barrier();
    if (rank != 0)
        make(&first, group, false, T);
    pthread_join(first.thread, NULL);
    is_status(first.status, MUSTER_OK, "the first call ends well");
    if (rank != 0) {
        make(&second, group, false, T);
        pthread_join(second.thread, NULL);
    }
    is_status(second.status, MUSTER_ERR_TIMEOUT, "the second, whose turn did not come, does not");
    has_str(second.sentence, "timed out after 200 ms on rank 0, waiting for another call",
            "and says so to all");
    ranks_barrier();
    muster_group_free(group);
    ranks_barrier();
}

/* ---- several groups ---- */

/* Rank 0 waits in all; the others come to the last one first. */
static void any_of_groups(int rank, int size)
{
    (void)size;
    static const char *const names[GROUPS] = {"a", "b", "c", "d", "e"};
    muster_group *groups[GROUPS];
    muster_work *works[GROUPS] = {NULL};
    int good = 0;
    for (int i = 0; i < GROUPS; i++)
        groups[i] = world_of(names[i], T);
    for (int i = 0; rank == 0 && i < GROUPS; i++)
        good += muster_barrier(groups[i], &works[i]) == MUSTER_OK;
    for (int i = GROUPS - 1; i >= 0; i--) {
        size_t index = GROUPS;
        ranks_barrier();
        if (rank != 0)
            good += muster_barrier(groups[i], NULL) == MUSTER_OK;
        else
            good +=
                muster_work_wait_any(works, GROUPS, T, &index) == MUSTER_OK && index == (size_t)i;
        muster_work_free(works[i]);
        works[i] = NULL;
    }
    is_int(good, rank == 0 ? 2 * GROUPS : GROUPS, "groups end in whatever order they can");
    ranks_barrier();
    for (int i = 0; i < GROUPS; i++)
        muster_group_free(groups[i]);
    ranks_barrier();
}

/* Messages between two ranks pass a collective that waits. */
static void messages_pass(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", T);
    muster_work *work = NULL;
    int32_t number = rank, got = -1;
    muster_status status = MUSTER_OK;
    if (rank != 2)
        status = muster_barrier(group, &work);
    if (rank == 0)
        status = muster_send(group, &number, 1, MUSTER_INT32, 1, NULL);
    if (rank == 1)
        status = muster_recv(group, &got, 1, MUSTER_INT32, 0, NULL);
    bool ended = rank == 2;
    if (rank != 2 && status == MUSTER_OK)
        status = muster_work_test(work, &ended);
    is_status(status, MUSTER_OK, "a message while a barrier waits");
    ok((rank != 1 || got == 0) && (ended == (rank == 2)), "arrives before that has ended");
    ranks_barrier();
    if (rank == 2)
        status = muster_barrier(group, NULL);
    else
        status = muster_work_wait(work, MUSTER_TIMEOUT_DEFAULT);
    is_status(status, MUSTER_OK, "which it does then");
    muster_work_free(work);
    ranks_barrier();
    muster_group_free(group);
    ranks_barrier();
}

/* ---- callbacks, and handles that nobody waits for ---- */

static atomic_int num_refused, num_named;

static int is_refused(muster_status status, const char *where)
{
    atomic_fetch_add(&num_named, strncmp(muster_last_error(), where, strlen(where)) == 0);
    return status == MUSTER_ERR_ARGUMENT;
}

/* What would wait, tried in a callback. */
static void try_to_wait(void *user, muster_status status)
{
    muster_group *group = user, *made = NULL;
    int32_t number = 0;
    int refused = status == MUSTER_OK;
    char own[64], where[128];
    snprintf(own, sizeof(own), "group 'world', rank %d, ", muster_group_rank(group));
    snprintf(where, sizeof(where), "%smuster_barrier: a callback", own);
    refused += is_refused(muster_barrier(group, NULL), where);
    snprintf(where, sizeof(where), "%smuster_send: a callback", own);
    refused +=
        is_refused(muster_send(group, &number, 1, MUSTER_INT32,
                               (muster_group_rank(group) + 1) % muster_group_size(group), NULL),
                   where);
    snprintf(where, sizeof(where), "%smuster_group_split: a callback", own);
    refused += is_refused(muster_group_split(group, 0, 0, NULL, &made), where);
    refused += muster_init_process_group(&made, NULL) == MUSTER_ERR_ARGUMENT;
    atomic_store(&num_refused, refused);
}

typedef struct chain {
    muster_group *group;
    int32_t value;
    int left;
    atomic_int over; /* 1: all went well, 2: not */
} chain;

static void next_link(void *user, muster_status status)
{
    chain *c = user;
    muster_work *work = NULL;
    if (status == MUSTER_OK && c->left-- > 0)
        status =
            muster_all_reduce(c->group, &c->value, &c->value, 1, MUSTER_INT32, MUSTER_MAX, &work);
    else if (status == MUSTER_OK) {
        atomic_store(&c->over, 1);
        return;
    }
    if (status == MUSTER_OK)
        status = muster_work_add_callback(work, next_link, c);
    if (status != MUSTER_OK)
        atomic_store(&c->over, 2);
    muster_work_free(work);
}

/* A callback holds up the group, so it may not wait. */
static void no_waiting(int rank, int size)
{
    (void)rank;
    (void)size;
    muster_group *group = world_of("world", T);
    muster_work *work = NULL;
    muster_barrier(group, &work);
    muster_work_add_callback(work, try_to_wait, group);
    is_status(muster_work_wait(work, MUSTER_TIMEOUT_DEFAULT), MUSTER_OK, "a call back");
    muster_work_free(work);
    is_int(atomic_load(&num_refused), 5, "may not wait in any way");
    is_int(atomic_load(&num_named), 3, "and is told of which group and call");
    ok(group_works(group), "and the group goes on");
    ranks_barrier();
    muster_group_free(group);
    ranks_barrier();
}

static void chains(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", T);
    chain c = {.group = group, .value = rank, .left = CHAIN};
    int64_t began = now_ms();
    next_link(&c, MUSTER_OK);
    while (atomic_load(&c.over) == 0 && in_time(began, T))
        sleep_ms(2);
    is_int(atomic_load(&c.over), 1, "each of %d operations starts the next", (int)CHAIN);
    is_int(c.value, 2, "and carries what it should");
    int32_t sums[EARLY];
    int good = 0;
    for (int i = 0; i < EARLY; i++) {
        muster_work *work = NULL;
        sums[i] = i + rank;
        good += muster_all_reduce(group, &sums[i], &sums[i], 1, MUSTER_INT32, MUSTER_SUM, &work) ==
                MUSTER_OK;
        muster_work_free(work);
    }
    good += muster_barrier(group, NULL) == MUSTER_OK ? EARLY : 0;
    for (int i = 0; i < EARLY; i++)
        good += sums[i] == 3 * i + 3;
    is_int(good, 3 * EARLY, "operations whose handles were freed go on");
    ranks_barrier();
    muster_group_free(group);
    ranks_barrier();
}

/* ---- what a group holds ---- */

/* What one more group adds to what the first one has brought along. */
static void holds_each(int rank, int size, const char *options, int threads_each,
                       int descriptors_each)
{
    static const char *const names[GROUPS] = {"a", "b", "c", "d", "e"};
    muster_group *world = world_of("world", T), *groups[GROUPS];
    muster_store *store = common_store(size); /* never its host */
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.store = store;
    args.rank = rank;
    args.world_size = size;
    args.timeout_ms = T;
    args.options = options;
    args.group_name = "first";
    muster_group *first = group_of(&args);
    ranks_barrier();
    sleep_ms(300); /* what the making has left behind is closed */
    int threads = entries_of("/proc/self/task"), descriptors = entries_of("/proc/self/fd");
    ranks_barrier();
    for (int i = 0; i < GROUPS; i++) {
        args.group_name = names[i];
        groups[i] = group_of(&args);
    }
    ranks_barrier();
    sleep_ms(300);
    is_int(entries_of("/proc/self/task") - threads, threads_each * GROUPS, "%d thread%s a group",
           threads_each, threads_each == 1 ? "" : "s");
    is_int(entries_of("/proc/self/fd") - descriptors, descriptors_each * GROUPS, "%d descriptors",
           descriptors_each);
    is_status(muster_group_allow_abort_from_signal(world), MUSTER_OK, "a listener for signals");
    is_int(entries_of("/proc/self/task") - threads, threads_each * GROUPS + 1, "is a thread more");
    ranks_barrier();
    for (int i = 0; i < GROUPS; i++)
        muster_group_free(groups[i]);
    muster_group_free(first);
    muster_group_free(world);
    ranks_barrier();
    muster_store_free(store);
}

static void holds(int rank, int size)
{
    holds_each(rank, size, NULL, 1, 0);
}

/* A thread more for Gloo, and a connection to each other rank. */
static void holds_over_gloo(int rank, int size)
{
    holds_each(rank, size, "gloo.shared_memory=off", 2, size - 1);
}

/* ---- a group that is freed with a message open on another thread ---- */

typedef struct open_message {
    muster_group *group;
    bool sends;
    muster_status status;
} open_message;

static void *keep_open(void *argument)
{
    enum { LONG = 1 << 20 };
    open_message *it = argument;
    char *bytes = calloc(1, LONG);
    it->status = it->sends ? muster_send(it->group, bytes, LONG, MUSTER_UINT8, 1, NULL)
                           : muster_recv(it->group, bytes, 1, MUSTER_UINT8, 1, NULL);
    free(bytes);
    return NULL;
}

static void freed_in_message(int rank, int size)
{
    enum { A_MOMENT_MS = 50 };
    (void)size;
    for (int sends = 0; sends < 2; sends++) {
        open_message it = {.group = world_of(sends ? "sends" : "receives", T), .sends = sends};
        pthread_t thread;
        if (rank == 0) {
            start(&thread, keep_open, &it);
            sleep_ms(A_MOMENT_MS);
            muster_group_free(it.group);
            pthread_join(thread, NULL);
            is_int(it.status, MUSTER_ERR_FAILED, "a message under way ends as its group is freed");
        } else {
            is_status(muster_barrier(it.group, NULL), MUSTER_ERR_PEER_LOST,
                      "and the other rank is told");
            muster_group_free(it.group);
        }
        ranks_barrier();
    }
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "one_group", .size = 3, .points = 2, .body = one_group, .silent = true},
        {.name = "one_parent", .size = 3, .points = 2, .body = one_parent, .silent = true},
        {.name = "no_turn", .size = 3, .points = 3, .body = no_turn, .silent = true},
        {.name = "any_of_groups", .size = 3, .points = 1, .body = any_of_groups, .silent = true},
        {.name = "messages_pass", .size = 3, .points = 3, .body = messages_pass, .silent = true},
        {.name = "holds",
         .size = 3,
         .points = 4,
         .body = holds,
         .silent = true,
         .host_store = true},
        {.name = "holds over gloo",
         .size = 3,
         .points = 4,
         .body = holds_over_gloo,
         .silent = true,
         .host_store = true},
        {.name = "freed_in_message", .size = 2, .points = 2, .body = freed_in_message},
        {.name = "no_waiting", .size = 3, .points = 4, .body = no_waiting, .silent = true},
        {.name = "chains", .size = 3, .points = 3, .body = chains, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What making groups asks of the store, by the number of ranks: the meetings of a world and of its
 * sub-groups, held by threads over a store that counts. A rank asks as often whatever the number of
 * ranks; what it gets grows with them. doc/speed.md has the figures for 4,096 ranks on 512 hosts.
 */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "group/exchange.h"
#include "store/store.h"
#include "tap.h"

enum { FEW = 32, MANY = 128, PATIENCE_MS = 60000, ON_A_HOST = 8 };

/* As long as the record of a rank with three backends, and the addresses of one that has a near and
 * a far side. */
enum { RECORD_BYTES = 560, FAR_BYTES = 120, NEAR_BYTES = 48 };

/* ---- a store that counts ---- */

typedef struct counting {
    muster_store base;
    muster_store *below;
    long long operations;
    long long sent;
    long long received;
} counting;

static void count(muster_store *store, size_t sent, size_t received)
{
    counting *self = (counting *)store;
    self->operations++;
    self->sent += (long long)sent;
    self->received += (long long)received;
}

static size_t bytes_of(const muster_blob *blobs, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += blobs[i].size;
    return bytes;
}

#define BELOW ((counting *)store)->below->ops
#define STORE ((counting *)store)->below

static muster_status set(muster_store *store, muster_blob key, muster_blob value)
{
    count(store, key.size + value.size, 0);
    return BELOW->set(STORE, key, value);
}

static muster_status get(muster_store *store, muster_blob key, int64_t timeout_ms, void **value,
                         size_t *size)
{
    muster_status status = BELOW->get(STORE, key, timeout_ms, value, size);
    count(store, key.size, status == MUSTER_OK ? *size : 0);
    return status;
}

static muster_status add(muster_store *store, muster_blob key, int64_t delta, int64_t *sum)
{
    count(store, key.size + sizeof(delta), sizeof(*sum));
    return BELOW->add(STORE, key, delta, sum);
}

static muster_status compare_set(muster_store *store, muster_blob key, muster_blob expected,
                                 muster_blob desired, void **value, size_t *size)
{
    muster_status status = BELOW->compare_set(STORE, key, expected, desired, value, size);
    count(store, key.size + expected.size + desired.size, status == MUSTER_OK ? *size : 0);
    return status;
}

static muster_status check(muster_store *store, const muster_blob *keys, size_t num_keys,
                           bool *all_there)
{
    count(store, bytes_of(keys, num_keys), 1);
    return BELOW->check(STORE, keys, num_keys, all_there);
}

static muster_status wait_for(muster_store *store, const muster_blob *keys, size_t num_keys,
                              int64_t timeout_ms)
{
    count(store, bytes_of(keys, num_keys), 1);
    return BELOW->wait(STORE, keys, num_keys, timeout_ms);
}

static muster_status delete_key(muster_store *store, muster_blob key, bool *existed)
{
    count(store, key.size, 1);
    return BELOW->delete_key(STORE, key, existed);
}

static muster_status num_keys_of(muster_store *store, int64_t *number)
{
    count(store, 0, sizeof(*number));
    return BELOW->num_keys(STORE, number);
}

static muster_status multi_get(muster_store *store, const muster_blob *keys, size_t num_keys,
                               int64_t timeout_ms, muster_blob **values)
{
    muster_status status = BELOW->multi_get(STORE, keys, num_keys, timeout_ms, values);
    count(store, bytes_of(keys, num_keys), status == MUSTER_OK ? bytes_of(*values, num_keys) : 0);
    return status;
}

static muster_status multi_set(muster_store *store, const muster_blob *keys,
                               const muster_blob *values, size_t num_keys)
{
    count(store, bytes_of(keys, num_keys) + bytes_of(values, num_keys), 0);
    return BELOW->multi_set(STORE, keys, values, num_keys);
}

static const char *describe(const muster_store *store)
{
    (void)store;
    return "a store that counts";
}

static void destroy(muster_store *store)
{
    (void)store;
}

static const store_ops counting_ops = {.set = set,
                                       .get = get,
                                       .add = add,
                                       .compare_set = compare_set,
                                       .check = check,
                                       .wait = wait_for,
                                       .delete_key = delete_key,
                                       .num_keys = num_keys_of,
                                       .multi_get = multi_get,
                                       .multi_set = multi_set,
                                       .describe = describe,
                                       .destroy = destroy};

/* ---- ranks ---- */

typedef struct rank {
    pthread_t thread;
    counting store;
    int number;
    int size;
    bool worked;
    counting world; /* what was counted when the world was there */
} rank;

/* A meeting of all ranks: what each publishes, and whether all get it all. */
static bool meet(rank *self, const char *prefix, size_t first, size_t second, const int *members,
                 size_t num_members)
{
    static const int nobody = 0;
    static const char words[RECORD_BYTES + FAR_BYTES + NEAR_BYTES];
    exchange meeting;
    const muster_blob *all = NULL;
    deadline end = deadline_in(PATIENCE_MS);
    muster_status status = exchange_init(&meeting, &self->store.base, prefix, self->number,
                                         self->size, PATIENCE_MS, end);
    if (status != MUSTER_OK)
        return false;
    status = exchange_agree(&meeting, "the same\nsomebody");
    if (status == MUSTER_OK && first > 0)
        status = exchange_round(&meeting, (muster_blob){words, first}, false, NULL, 0,
                                "to register", &all);
    if (status == MUSTER_OK)
        status = exchange_round(&meeting, (muster_blob){words, second}, false, members, num_members,
                                "to join", &all);
    if (status == MUSTER_OK)
        status = exchange_round(&meeting, muster_str(""), false, &nobody, 0, "to test", NULL);
    exchange_clean(&meeting, status);
    exchange_destroy(&meeting);
    return status == MUSTER_OK;
}

static void *run_rank(void *argument)
{
    rank *self = argument;
    int members[ON_A_HOST + MANY / ON_A_HOST];
    size_t used = 0;
    for (int r = 0; r < self->size; r++) /* those of the host, and those of its kind elsewhere */
        if (r / ON_A_HOST == self->number / ON_A_HOST)
            members[used++] = r;
    for (int r = self->number % ON_A_HOST; r < self->size; r += ON_A_HOST)
        members[used++] = r;
    self->worked = meet(self, "world", RECORD_BYTES, FAR_BYTES + NEAR_BYTES, NULL, 0);
    self->world = self->store;
    self->worked =
        self->worked && meet(self, "world/sub", 0, FAR_BYTES + 2 * NEAR_BYTES, members, used);
    return NULL;
}

/* The counts of the rank that had most of each, of all together in total. */
static counting hold(int size, counting *world, counting *total)
{
    muster_store *below = NULL;
    rank *ranks = calloc((size_t)size, sizeof(*ranks));
    counting most = {.operations = 0};
    bool worked = true;
    if (muster_store_hash(&below) != MUSTER_OK)
        bail_out("no store: %s", muster_last_error());
    for (int r = 0; r < size; r++) {
        ranks[r] = (rank){.number = r, .size = size, .store = {.below = below}};
        store_init(&ranks[r].store.base, &counting_ops);
        if (pthread_create(&ranks[r].thread, NULL, run_rank, &ranks[r]) != 0)
            bail_out("no thread");
    }
    *total = *world = most;
    for (int r = 0; r < size; r++) {
        const counting *one = &ranks[r].store;
        pthread_join(ranks[r].thread, NULL);
        worked = worked && ranks[r].worked;
        total->operations += one->operations;
        total->sent += one->sent;
        total->received += one->received;
        if (one->operations > most.operations)
            most.operations = one->operations;
        if (one->received > most.received)
            most.received = one->received;
        if (one->sent > most.sent)
            most.sent = one->sent;
        if (ranks[r].world.operations > world->operations)
            world->operations = ranks[r].world.operations;
        if (ranks[r].world.received > world->received)
            world->received = ranks[r].world.received;
    }
    ok(worked, "%d ranks make a world and both of its sub-groups", size);
    muster_store_free(below);
    free(ranks);
    diag(
        "%d ranks: %lld operations a rank at most (%lld for the world), %lld bytes sent, %lld got; "
        "%lld operations at the store, %lld bytes in, %lld out",
        size, most.operations, world->operations, most.sent, most.received, total->operations,
        total->sent, total->received);
    return most;
}

int main(void)
{
    counting world_of_few, world_of_many, all_of_few, all_of_many;
    plan(5);
    counting few = hold(FEW, &world_of_few, &all_of_few);
    counting many = hold(MANY, &world_of_many, &all_of_many);
    /* Whoever comes last has a few more, which others then spare. */
    ok(many.operations <= few.operations + 4, "a rank asks as often for %d ranks as for %d",
       (int)MANY, (int)FEW);
    ok(all_of_many.operations * FEW <= all_of_few.operations * MANY * 11 / 10,
       "the store is asked in proportion to the ranks");
    ok(many.received * FEW <= few.received * MANY * 12 / 10,
       "a rank gets no more than in proportion to them");
    return done();
}

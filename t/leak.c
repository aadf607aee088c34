/* SPDX-License-Identifier: BSD-3-Clause
 *
 * user cases 59 and 64: a thousand groups made and freed leave nothing behind, in the process or in
 * the store.
 */
#include "config.h"

#include "grouptest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { T = 20000, ROUNDS = 250, WARM = 50 };

static long resident_kib(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fscanf(file, "%ld %ld", &pages, &resident) != 2)
        bail_out("no statm");
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

struct state {
    int descriptors;
    int threads;
    long kib;
    int64_t keys;
};

/* What is there when the library has come to rest: no more descriptors and threads than most. */
static struct state settle(muster_store *store, const struct state *most)
{
    struct state now;
    int64_t began = now_ms();
    do {
        sleep_ms(20);
        now.descriptors = entries_of("/proc/self/fd");
        now.threads = entries_of("/proc/self/task");
        now.kib = resident_kib();
    } while (most != NULL && (now.descriptors > most->descriptors || now.threads > most->threads) &&
             in_time(began, 5000));
    if (muster_store_num_keys(store, &now.keys) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    return now;
}

/* Rounds of sub-groups, and every tenth time a main group and a call that fails. */
static int make_rounds(muster_group *world, muster_store *store, int rank, int size, int from,
                       int until)
{
    int good = 0;
    for (int round = from; round < until; round++) {
        muster_group *regular = NULL, *orthogonal = NULL, *main_group = NULL;
        good += muster_create_sub_group(world, 2, NULL, &regular, &orthogonal) == MUSTER_OK &&
                group_works(regular) && group_works(orthogonal);
        muster_group_free(regular);
        muster_group_free(orthogonal);
        if (round % 10 != 0)
            continue;
        muster_init_args args = MUSTER_INIT_ARGS_INIT;
        args.store = store;
        args.group_name = "again";
        args.rank = rank;
        args.world_size = size;
        args.timeout_ms = T;
        good += muster_init_process_group(&main_group, &args) == MUSTER_OK;
        muster_group_free(main_group);
        good +=
            muster_create_sub_group(world, 3, NULL, &regular, &orthogonal) == MUSTER_ERR_ARGUMENT;
    }
    return good;
}

static void thousand(int rank, int size)
{
    muster_store *store = common_store(rank);
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.store = store;
    args.rank = rank;
    args.world_size = size;
    args.timeout_ms = T;
    muster_group *world = group_of(&args);
    int good = make_rounds(world, store, rank, size, 0, WARM);
    ranks_barrier();
    struct state warm = settle(store, NULL);
    sleep_ms(300);
    ranks_barrier();
    warm = settle(store, &warm);
    ranks_barrier();
    good += make_rounds(world, store, rank, size, WARM, ROUNDS);
    ranks_barrier();
    struct state end = settle(store, &warm);
    is_int(good, ROUNDS + 2 * (ROUNDS / 10), "rounds of sub-groups and main groups");
    ok(end.descriptors <= warm.descriptors, "descriptors: %d, then %d", warm.descriptors,
       end.descriptors);
    ok(end.threads <= warm.threads, "threads: %d, then %d", warm.threads, end.threads);
    diag("descriptors %d, then %d; threads %d, then %d; KiB %ld, then %ld; keys %lld, then %lld",
         warm.descriptors, end.descriptors, warm.threads, end.threads, warm.kib, end.kib,
         (long long)warm.keys, (long long)end.keys);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(1, "a sanitizer keeps what is freed");
#else
    ok(end.kib <= warm.kib + 1024, "memory");
#endif
    is_int(end.keys, warm.keys, "keys in the store");
    ranks_barrier();
    muster_group_free(world);
    ranks_barrier();
    end = settle(store, NULL);
    ranks_barrier();
    ok(end.keys <= 2, "%lld keys when all are freed: at most the store's own", (long long)end.keys);
    muster_store_free(store);
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "thousand", .size = 4, .points = 6, .body = thousand, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster_init_process_group where all goes well, and where its arguments are wrong.
 */
#include "config.h"

#include "grouptest.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { T = 10000 };

static void takes_defaults(int rank, int size)
{
    muster_group *group = NULL;
    is_status(muster_init_process_group(&group, NULL), MUSTER_OK, "a world of defaults");
    is_int(muster_group_rank(group), rank, "its rank");
    is_int(muster_group_size(group), size, "its size");
    is_str(muster_group_name(group), "world", "its name");
    is_str(muster_group_backend(group), "local", "its backend");
    is_int(muster_group_timeout(group), 30 * 60 * 1000, "its time-out");
    ok(group_works(group), "it works");
    is_status(muster_group_check(group), MUSTER_OK, "and says so");
    muster_group_free(group);
}

/* Makes a group from the arguments and tries it. */
static bool makes_group(muster_init_args *args)
{
    muster_group *group = NULL;
    args->timeout_ms = (int64_t)(T * ranks_time_factor());
    muster_status status = muster_init_process_group(&group, args);
    if (status != MUSTER_OK)
        diag("%s", muster_last_error());
    bool good = status == MUSTER_OK && group_works(group);
    muster_group_free(group);
    return good;
}

static bool meets_at(const char *init_method, int rank, int size)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.init_method = init_method;
    args.rank = rank;
    args.world_size = size;
    return makes_group(&args);
}

static bool meets_in(muster_store *store, int rank, int size)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.store = store;
    args.rank = rank;
    args.world_size = size;
    return makes_group(&args);
}

static void by_address(int rank, int size)
{
    char url[256];
    snprintf(url, sizeof(url), "tcp://127.0.0.1:%s", getenv("MASTER_PORT"));
    ok(meets_at(url, rank, size), "tcp:// with rank and size as arguments");
}

static void by_query(int rank, int size)
{
    char url[256];
    snprintf(url, sizeof(url), "tcp://localhost:%s?rank=%d&world_size=%d", getenv("MASTER_PORT"),
             rank, size);
    ok(meets_at(url, -1, -1), "tcp:// with rank and size behind it");
}

static void by_file(int rank, int size)
{
    char url[512];
    snprintf(url, sizeof(url), "file://%s/store", getenv("MUSTER_TEST_DIR"));
    ok(meets_at(url, rank, size), "file:// with rank and size as arguments");
    snprintf(url, sizeof(url), "file://%s/other?rank=%d&world_size=%d", getenv("MUSTER_TEST_DIR"),
             rank, size);
    ok(meets_at(url, -1, -1), "file:// with rank and size behind it");
}

static void by_store(int rank, int size)
{
    muster_store *store = common_store(rank), *prefixed = NULL;
    ok(meets_in(store, rank, size), "over a tcp store");
    if (muster_store_prefix(&prefixed, store, "some where") != MUSTER_OK)
        bail_out("%s", muster_last_error());
    ok(meets_in(prefixed, rank, size), "over a prefix");
    /* The group keeps what it needs. */
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.store = prefixed;
    args.rank = rank;
    args.world_size = size;
    muster_group *group = group_of(&args);
    muster_store_free(prefixed);
    muster_store_free(store);
    ok(group_works(group), "the group outlives its store's handle");
    muster_group *part = NULL;
    is_status(muster_group_split(group, 0, -rank, NULL, &part), MUSTER_OK,
              "and still makes groups");
    is_int(muster_group_rank(part), size - 1 - rank, "of the right order");
    muster_group_free(part);
    muster_group_free(group);
}

static muster_store *hash;

static void thread_as_rank(int rank, int size)
{
    ok(meets_in(hash, rank, size), "a thread is a rank");
}

static void by_threads(int rank, int size)
{
    (void)rank;
    (void)size;
    if (muster_store_hash(&hash) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    ranks_threads("threads over a hash store", 4, 1, thread_as_rank);
    ranks_threads("and again", 3, 1, thread_as_rank);
    muster_store_free(hash);
}

static void again_and_again(int rank, int size)
{
    muster_store *store = common_store(rank);
    int good = 0;
    for (int round = 0; round < 50; round++)
        good += meets_in(store, rank, size);
    is_int(good, 50, "one name again and again");
    muster_store_free(store);
}

static void still_lives(int rank, int size)
{
    muster_group *first = world_of("twice", T), *second = NULL;
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.group_name = "twice";
    args.timeout_ms = 2000;
    int64_t began = now_ms();
    is_status(muster_init_process_group(&second, &args), MUSTER_ERR_EXISTS,
              "a name that lives is refused");
    ok(in_time(began, 3000), "in time");
    has_str(muster_last_error(), "'twice'", "the name is said");
    has_str(muster_last_error(), "free it", "and what to do");
    ok(second == NULL, "nothing is handed over");
    ranks_barrier();
    ok(group_works(first), "the first one goes on");
    muster_group_free(first);
    second = world_of("twice", T);
    ok(group_works(second) && muster_group_rank(second) == rank &&
           muster_group_size(second) == size,
       "after its end the name is free");
    muster_group_free(second);
}

/* user case 34: two threads make groups at once; sizes and members differ. */
struct maker {
    muster_store *store;
    const char *name;
    int rank;
    int size;
    int good;
};

static void *make_many(void *argument)
{
    struct maker *maker = argument;
    for (int round = 0; round < 20; round++) {
        muster_init_args args = MUSTER_INIT_ARGS_INIT;
        args.store = maker->store;
        args.group_name = maker->name;
        args.rank = maker->rank;
        args.world_size = maker->size;
        args.timeout_ms = T;
        muster_group *group = NULL;
        if (muster_init_process_group(&group, &args) != MUSTER_OK)
            diag("%s", muster_last_error());
        else
            maker->good += group_works(group) && muster_group_size(group) == maker->size;
        muster_group_free(group);
    }
    return NULL;
}

static void at_once(int rank, int size)
{
    muster_store *store = common_store(rank);
    struct maker makers[2] = {
        {store, "all of us", size - 1 - rank, size, 0},
        {store, rank % 2 == 0 ? "the even" : "the odd", rank / 2, size / 2, 0},
    };
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, make_many, &makers[i]) != 0)
            bail_out("no thread");
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    is_int(makers[0].good, 20, "groups of all, in reverse order");
    is_int(makers[1].good, 20, "at the same time as groups of half");
    ranks_barrier();
    muster_store_free(store);
}

/* user case 34 and 35: rank 0 has made one more; a second main group is larger than another. */
static void side_by_side(int rank, int size)
{
    muster_store *store = common_store(rank);
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.store = store;
    args.timeout_ms = T;
    args.world_size = 1;
    args.rank = 0;
    args.group_name = "one more";
    muster_group *more = rank == 0 ? group_of(&args) : NULL, *few = NULL;
    args.group_name = "few";
    args.world_size = size - 2;
    args.rank = rank;
    if (rank < size - 2)
        few = group_of(&args);
    args.group_name = "many";
    args.world_size = size;
    muster_group *many = group_of(&args);
    is_int(muster_group_size(many), size, "a group larger than the one before");
    ok(group_works(many), "works");
    ok(few == NULL || (group_works(few) && muster_group_size(few) == size - 2), "the smaller too");
    ok(more == NULL || group_works(more), "and the one of one rank");
    muster_group_free(more);
    muster_group_free(few);
    muster_group_free(many);
    muster_store_free(store);
}

static void no_launcher(int rank, int size)
{
    (void)rank;
    (void)size;
    muster_group *group = NULL;
    is_status(muster_init_process_group(&group, NULL), MUSTER_OK, "a process by itself");
    is_int(muster_group_size(group), 1, "is a world of one");
    is_str(muster_group_backend(group), "local", "on the built-in backend");
    ok(group_works(group), "which works");
    muster_group *regular = NULL, *orthogonal = NULL;
    is_status(muster_create_sub_group(group, 1, NULL, &regular, &orthogonal), MUSTER_OK,
              "and has sub-groups");
    ok(group_works(regular) && group_works(orthogonal), "which work");
    muster_group_free(regular);
    muster_group_free(orthogonal);
    muster_group_free(group);
    muster_group_free(NULL);
}

static char long_name[300];

/* What is wrong with one argument; the rest is right. */
static const struct wrong {
    const char *what;
    const char *name;
    const char *init_method;
    const char *backend;
    const char *options;
    int64_t timeout_ms;
    int rank;
    int size;
    muster_status status;
    const char *says;
} wrongs[] = {
    {"time-out 0", "n", NULL, NULL, NULL, 0, 0, 1, MUSTER_ERR_ARGUMENT, "0 ms"},
    {"time-out -2", "n", NULL, NULL, NULL, -2, 0, 1, MUSTER_ERR_ARGUMENT, "-2 ms"},
    {"the least time-out", "n", NULL, NULL, NULL, INT64_MIN, 0, 1, MUSTER_ERR_ARGUMENT, "time-out"},
    {"an empty name", "", NULL, NULL, NULL, T, 0, 1, MUSTER_ERR_ARGUMENT, "group_name"},
    {"a long name", long_name, NULL, NULL, NULL, T, 0, 1, MUSTER_ERR_ARGUMENT, "200"},
    {"a name with a slash", "a/b", NULL, NULL, NULL, T, 0, 1, MUSTER_ERR_ARGUMENT, "'a/b'"},
    {"a name of two lines", "a\nb", NULL, NULL, NULL, T, 0, 1, MUSTER_ERR_ARGUMENT, "control"},
    {"store and init_method", "n", "env://", NULL, NULL, T, 0, 1, MUSTER_ERR_ARGUMENT, "env://"},
    {"a rank beyond", "n", NULL, NULL, NULL, T, 4, 4, MUSTER_ERR_ARGUMENT, "rank 4 of 4"},
    {"rank -1", "n", NULL, NULL, NULL, T, -1, 4, MUSTER_ERR_ARGUMENT, "rank -1 of 4"},
    {"size 0", "n", NULL, NULL, NULL, T, 0, 0, MUSTER_ERR_ARGUMENT, "world_size"},
    {"a huge size", "n", NULL, NULL, NULL, T, 0, INT32_MAX, MUSTER_ERR_ARGUMENT, "131072"},
    {"an unknown backend", "n", NULL, "glo", NULL, T, 0, 1, MUSTER_ERR_NOT_FOUND, "'gloo'"},
    {"a GPU", "n", NULL, "cuda:none", NULL, T, 0, 1, MUSTER_ERR_NOT_FOUND, "'none'"},
    {"an unknown option", "n", NULL, NULL, "gloo.ifce=lo", T, 0, 1, MUSTER_ERR_ARGUMENT,
     "gloo.iface"},
    {"options that are none", "n", NULL, NULL, "=", T, 0, 1, MUSTER_ERR_ARGUMENT, "="},
};

/* user case 13c among them: at once, and with no word to the network. */
static void wrong_arguments(int rank, int size)
{
    (void)rank;
    (void)size;
    memset(long_name, 'x', 201);
    muster_store *store = NULL;
    int64_t keys = -1;
    if (muster_store_hash(&store) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    for (size_t i = 0; i < sizeof(wrongs) / sizeof(*wrongs); i++) {
        const struct wrong *w = &wrongs[i];
        muster_init_args args = MUSTER_INIT_ARGS_INIT;
        args.group_name = w->name;
        args.init_method = w->init_method;
        args.backend = w->backend;
        args.options = w->options;
        args.timeout_ms = w->timeout_ms;
        args.rank = w->rank;
        args.world_size = w->size;
        args.store = store;
        muster_group *group = (muster_group *)&args;
        int64_t began = now_ms();
        is_status(muster_init_process_group(&group, &args), w->status, "%s", w->what);
        has_str(muster_last_error(), w->says, "%s: the sentence", w->what);
        ok(group == (muster_group *)&args && in_time(began, 500), "%s: at once, nothing written",
           w->what);
    }
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    is_status(muster_init_process_group(NULL, &args), MUSTER_ERR_ARGUMENT,
              "no place for the group");
    memset(long_name, 'x', 200);
    long_name[200] = '\0';
    args.store = store;
    args.rank = 0;
    args.world_size = 1;
    args.group_name = long_name;
    args.timeout_ms = INT64_C(1000000000000000);
    muster_group *group = NULL;
    is_status(muster_init_process_group(&group, &args), MUSTER_OK,
              "the longest name and 10^15 ms are fine");
    ok(group_works(group), "for a group that works");
    muster_group_free(group);
    ok(muster_store_num_keys(store, &keys) == MUSTER_OK, "the store can be counted");
    is_int(keys, 1, "and has nothing left but the state of the name that failed");
    muster_store_free(store);
}

/* user case 19a: at the end of a page that nothing readable follows. */
static void struct_sizes(int rank, int size)
{
    (void)rank;
    (void)size;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE) != 0)
        bail_out("no memory");
    muster_init_args fine = MUSTER_INIT_ARGS_INIT;
    fine.timeout_ms = T;
    muster_group *group = NULL;
    muster_init_args *args = (muster_init_args *)(memory + page - sizeof(fine));
    *args = fine;
    is_status(muster_init_process_group(&group, args), MUSTER_OK, "at the end of a page");
    muster_group_free(group);
    static const size_t absurd[] = {0, 3, sizeof(size_t), sizeof(fine) - 1, 1 << 20, SIZE_MAX};
    for (size_t i = 0; i < sizeof(absurd) / sizeof(*absurd); i++) {
        args->struct_size = absurd[i];
        is_status(muster_init_process_group(&group, args), MUSTER_ERR_ARGUMENT, "struct_size %zu",
                  absurd[i]);
    }
    struct {
        muster_init_args known;
        char more[40];
    } newer = {.known = fine};
    newer.known.struct_size = sizeof(newer);
    is_status(muster_init_process_group(&group, &newer.known), MUSTER_OK,
              "a newer struct with nothing new set");
    muster_group_free(group);
    newer.more[39] = 1;
    is_status(muster_init_process_group(&group, &newer.known), MUSTER_ERR_ARGUMENT,
              "a newer struct with something set");
    has_str(muster_last_error(), "newer", "the sentence says that it is newer");
    munmap(memory, 2 * page);
}

static void local_for_many(int rank, int size)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.backend = "local";
    args.timeout_ms = 2000;
    args.options = rank == 1 ? "gloo.shared_memory=off" : NULL;
    muster_group *group = NULL;
    int64_t began = now_ms();
    is_status(muster_init_process_group(&group, &args), MUSTER_ERR_UNAVAILABLE,
              "local for %d ranks, one of which shares no memory", size);
    ok(in_time(began, 3000), "in time");
    has_str(muster_last_error(), "gloo.shared_memory is off there", "the sentence says why");
    args.options = "gloo.shared_memory=OFF";
    is_status(muster_init_process_group(&group, &args), MUSTER_ERR_ARGUMENT, "nor is OFF off");
    has_str(muster_last_error(), "gloo.shared_memory is 'OFF'; give auto or off", "which is said");
    args.options = NULL;
    args.timeout_ms = T;
    is_status(muster_init_process_group(&group, &args), MUSTER_OK, "local for %d ranks", size);
    is_str(group == NULL ? "" : muster_group_backend(group), "local", "is local");
    ok(group_works(group), "and works");
    muster_group_free(group);
    group = NULL;
    args.backend = "cpu:gloo";
    args.timeout_ms = T;
    is_status(muster_init_process_group(&group, &args), MUSTER_OK, "then cpu:gloo");
    is_str(group == NULL ? "" : muster_group_backend(group), "gloo", "is gloo");
    ok(group_works(group), "and works");
    muster_group_free(group);
}

static const char *const nobody[] = {"RANK",        "WORLD_SIZE",  "LOCAL_RANK", "LOCAL_WORLD_SIZE",
                                     "MASTER_ADDR", "MASTER_PORT", NULL};

int main(int argc, char **argv)
{
    needs_gloo();
    enum { WRONG = sizeof(wrongs) / sizeof(*wrongs) };
    static const struct ranks_case cases[] = {
#define DEFAULTS(n)                                                                                \
    {.name = "defaults " #n, .size = n, .points = 8, .body = takes_defaults, .silent = true}
        DEFAULTS(1),
        DEFAULTS(2),
        DEFAULTS(3),
        DEFAULTS(4),
        DEFAULTS(5),
        DEFAULTS(6),
        DEFAULTS(7),
        DEFAULTS(8),
        {.name = "address", .size = 4, .points = 1, .body = by_address, .silent = true},
        {.name = "query", .size = 3, .points = 1, .body = by_query, .silent = true},
        {.name = "file", .size = 4, .points = 2, .body = by_file, .silent = true},
        {.name = "store", .size = 4, .points = 5, .body = by_store, .silent = true},
        {.name = "threads", .size = 1, .points = 4, .body = by_threads, .silent = true},
        {.name = "again", .size = 3, .points = 1, .body = again_and_again, .silent = true},
        {.name = "lives", .size = 3, .points = 7, .body = still_lives, .silent = true},
        {.name = "at once", .size = 4, .points = 2, .body = at_once, .silent = true},
        {.name = "side by side", .size = 6, .points = 4, .body = side_by_side, .silent = true},
        {.name = "no launcher",
         .size = 1,
         .points = 6,
         .body = no_launcher,
         .silent = true,
         .environment = nobody},
        {.name = "wrong",
         .size = 1,
         .points = 3 * WRONG + 5,
         .body = wrong_arguments,
         .silent = true},
        {.name = "struct sizes",
         .size = 1,
         .points = 10,
         .body = struct_sizes,
         .silent = true,
         .environment = nobody},
        {.name = "local", .size = 4, .points = 11, .body = local_for_many, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}

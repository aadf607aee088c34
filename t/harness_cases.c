/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness_cases.h"
#include "muster.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int number(const char *name)
{
    const char *text = getenv(name);
    return text == NULL ? -1 : atoi(text);
}

static void good(int rank, int size)
{
    int *turns = ranks_shared(size * sizeof(int));
    turns[rank] = rank + 1;
    ranks_barrier();
    int sum = 0;
    for (int i = 0; i < size; i++)
        sum += turns[i];
    is_int(sum, size * (size + 1) / 2, "ranks share memory and meet");
    ok(number("RANK") == rank && number("WORLD_SIZE") == size && number("LOCAL_RANK") == rank &&
           number("LOCAL_WORLD_SIZE") == size && number("MASTER_PORT") > 0,
       "a rank is told who it is");
}

/* Rank 0 serves at the port that it was told, the others come. */
static void serves(int rank, int size)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)number("MASTER_PORT"))};
    inet_pton(AF_INET, getenv("MASTER_ADDR"), &address.sin_addr);
    int one = 1, end = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(end, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (rank == 0)
        ok(bind(end, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(end, size) == 0,
           "the port serves");
    ranks_barrier();
    if (rank > 0)
        ok(connect(end, (struct sockaddr *)&address, sizeof(address)) == 0, "the port serves");
    ranks_barrier();
    close(end);
}

static void meets(int rank, int size)
{
    (void)size;
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    muster_store *store = NULL;
    args.host = getenv("MASTER_ADDR");
    args.port = number("MASTER_PORT");
    args.timeout_ms = 20000;
    is_str(getenv("TORCHELASTIC_USE_AGENT_STORE"), "True", "ranks know that the store is hosted");
    is_int(muster_store_tcp(&store, &args), MUSTER_OK, "they reach it");
    muster_blob key = muster_str("key");
    if (rank == 0)
        muster_store_set(store, key, key);
    is_int(muster_store_wait(store, &key, 1, 20000), MUSTER_OK, "they meet there");
    muster_store_free(store);
}

static void alone(int rank, int size)
{
    (void)rank;
    (void)size;
    ok(getenv("SLURM_PROCID") == NULL && getenv("OMPI_COMM_WORLD_RANK") == NULL, "no launcher");
    is_str(getenv("MINE"), "1", "the case's own variable is there");
    ok(getenv("HOME") == NULL, "and one is not");
    is_str(getenv("ASAN_OPTIONS"), "verbosity=0", "leaks are looked for");
    ok(access(getenv("MUSTER_TEST_DIR"), W_OK) == 0, "there is a folder");
    diag("folder %s", getenv("MUSTER_TEST_DIR"));
}

static void fails(int rank, int size)
{
    ok(true, "all say so");
    is_int(rank, rank == 1 ? size : rank, "one does not");
    is_str(rank == 2 ? "got" : "x", "x", "another does not");
}

static void segfaults(int rank, int size)
{
    (void)size;
    ok(true, "before");
    signal(SIGSEGV, SIG_DFL);
    if (rank == 2)
        raise(SIGSEGV);
    ok(true, "after");
}

static void exits(int rank, int size)
{
    (void)size;
    ok(true, "before");
    if (rank == 1)
        exit(7);
}

static void exits_quietly(int rank, int size)
{
    (void)size;
    ok(true, "before");
    if (rank == 1)
        exit(0);
}

static void hangs(int rank, int size)
{
    (void)size;
    ok(true, "before");
    signal(SIGABRT, rank == 1 ? SIG_IGN : SIG_DFL);
    while (rank > 0)
        pause();
    ok(true, "after");
}

static void waits_in_vain(int rank, int size)
{
    (void)size;
    if (rank > 0)
        ranks_barrier();
    ok(true, "after");
}

static void torn(int rank, int size)
{
    (void)size;
    printf("ok 1 - fake\nno end of");
    fflush(stdout);
    fprintf(stderr, " line\nBail out! not so\n1..%d", rank);
    ok(true, "printed what is not ours to print");
}

static void too_few(int rank, int size)
{
    ok(true, "one");
    if (rank < size - 1)
        ok(true, "two");
}

static void too_many(int rank, int size)
{
    (void)size;
    ok(true, "one");
    if (rank == 0)
        ok(false, "two");
}

static void dies(int rank, int size)
{
    ranks_barrier();
    if (rank == 0)
        ranks_kill(1, SIGKILL);
    if (rank == 2)
        exit(5);
    while (rank == 1)
        pause();
    ranks_barrier_among(size - 2);
    ok(true, "the others live");
    is_str(getenv("ASAN_OPTIONS"), "verbosity=0", "and look for leaks");
}

static void lives(int rank, int size)
{
    (void)size;
    ok(rank < 2, "made");
}

static void skips(int rank, int size)
{
    (void)size;
    ok(true, "one");
    if (rank == 1)
        skip(1, "no luck");
    else
        ok(true, "two");
}

static void skips_all(int rank, int size)
{
    (void)size;
    if (rank == 1)
        ranks_skip_case("needs %d legs", 3);
    ranks_barrier();
    ok(true, "one");
}

static void bails(int rank, int size)
{
    (void)size;
    if (rank == 1)
        bail_out("rank %d gives up", rank);
}

static void thousands(int rank, int size)
{
    (void)size;
    for (int i = 0; i < 5000; i++)
        ok(rank >= 0, "point %d with a name that is long enough to fill a pipe soon", i);
}

/* A grandchild outside of the rank's process group, that keeps its pipes open. */
static void leaves(int rank, int size)
{
    (void)size;
    pid_t child = fork();
    if (child == 0) {
        setsid();
        for (;;)
            pause();
    }
    diag("left %ld", (long)child);
    ok(child > 0, "started %d", rank >= 0);
}

static void *speak(void *unused)
{
    return ok(true, "said on a thread of its own") ? unused : NULL;
}

static void thread_body(int rank, int size)
{
    ranks_barrier();
    is_int(rank, size == 3 && rank == 1 ? -1 : rank, "thread");
}

static void threads(int rank, int size)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, speak, NULL) == 0)
        pthread_join(thread, NULL);
    ranks_threads("four", 4, 1, thread_body);
    ok(rank < size, "and the rank itself goes on");
}

static void bad_thread(int rank, int size)
{
    (void)rank;
    (void)size;
    ranks_threads("three", 3, 1, thread_body);
}

static const char *const own[] = {"MINE=1", "HOME", NULL};

const struct ranks_case harness_cases[] = {
    {.name = "good", .size = 4, .points = 2, .body = good},
    {.name = "crowd", .size = RANKS_MOST, .points = 2, .body = good},
    {.name = "serves", .size = 3, .points = 1, .body = serves},
    {.name = "meets", .size = 3, .points = 3, .body = meets, .host_store = true},
    {.name = "alone", .size = 1, .points = 5, .body = alone, .environment = own},
    {.name = "fails", .size = 3, .points = 3, .body = fails},
    {.name = "segfaults", .size = 3, .points = 2, .body = segfaults},
    {.name = "exits", .size = 2, .points = 1, .body = exits},
    {.name = "exits quietly", .size = 2, .points = 1, .body = exits_quietly},
    {.name = "hangs", .size = 3, .points = 2, .body = hangs, .seconds = 1},
    {.name = "waits in vain", .size = 2, .points = 1, .body = waits_in_vain, .seconds = 600},
    {.name = "torn", .size = 2, .points = 1, .body = torn},
    {.name = "silent", .size = 2, .points = 1, .body = torn, .silent = true},
    {.name = "too few", .size = 3, .points = 2, .body = too_few},
    {.name = "too many", .size = 3, .points = 1, .body = too_many},
    {.name = "dies",
     .size = 4,
     .points = 2,
     .body = dies,
     .deaths = {{.rank = 1, .signal = SIGKILL}, {.rank = 2, .status = 5}}},
    {.name = "lives",
     .size = 3,
     .points = 1,
     .body = lives,
     .deaths = {{.rank = 2, .signal = SIGKILL}}},
    {.name = "skips", .size = 2, .points = 2, .body = skips},
    {.name = "skips all", .size = 3, .points = 1, .body = skips_all},
    {.name = "bails", .size = 2, .points = 1, .body = bails},
    {.name = "thousands", .size = 2, .points = 5000, .body = thousands},
    {.name = "leaves", .size = 1, .points = 1, .body = leaves},
    {.name = "threads", .size = 2, .points = 4, .body = threads},
    {.name = "bad thread", .size = 1, .points = 2, .body = bad_thread},
};
const size_t harness_num_cases = sizeof(harness_cases) / sizeof(harness_cases[0]);

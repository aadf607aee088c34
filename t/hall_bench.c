/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How long the hall's operations take; no test. The same loops over MPI, to compare:
 *
 *   make t/hall_bench && t/hall_bench 2
 *   mpicc -O2 -DHALL_BENCH_MPI t/hall_bench.c -o mpi_bench && mpirun -n 2 --bind-to core
 * ./mpi_bench
 *
 * A line has the operation, the bytes of a rank's buffer or block, and the microseconds that one
 * takes: the slowest rank's, median and least of several batches that begin with a barrier, and
 * the least time on a core, which tells something on a busy machine too.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 21, MOST_BYTES = 64 << 20 };

enum { BARRIER, ALL_REDUCE, BROADCAST, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, REDUCE, KINDS };

static const char *const names[KINDS] = {"barrier",        "all_reduce", "broadcast", "all_gather",
                                         "reduce_scatter", "all_to_all", "reduce"};

static int rank, size;
static float *from, *to;

static void operate(int kind, size_t bytes);
static double slowest(double mine);

static double now(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec * 1e6 + (double)at.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(int kind, size_t bytes)
{
    double times[BATCHES], work = 1e18;
    int batch = bytes <= 4096 ? 1000 : bytes <= 65536 ? 100 : bytes <= 1 << 20 ? 10 : 1;
    if (size > 2)
        batch = batch > 100 ? 100 : batch;
    int batches = bytes > 1 << 20 ? 9 : BATCHES;
    for (int i = 0; i < batches; i++) {
        operate(BARRIER, 0);
        double begin = now(CLOCK_MONOTONIC), before = now(CLOCK_PROCESS_CPUTIME_ID);
        for (int k = 0; k < batch; k++)
            operate(kind, bytes);
        double worked = (now(CLOCK_PROCESS_CPUTIME_ID) - before) / batch;
        times[i] = slowest((now(CLOCK_MONOTONIC) - begin) / batch);
        worked = slowest(worked);
        work = worked < work ? worked : work;
    }
    qsort(times, (size_t)batches, sizeof(*times), compare);
    if (rank == 0) {
        printf("%s %zu %.2f %.2f %.2f\n", names[kind], bytes, times[batches / 2], times[0], work);
        fflush(stdout);
    }
}

static void measure_all(const char *only)
{
    static const size_t sizes[] = {8, 1024, 4096, 16384, 65536, 262144, 1 << 20, 8 << 20, 64 << 20};
    size_t room = (size_t)MOST_BYTES * (size_t)size;
    from = aligned_alloc(4096, room);
    to = aligned_alloc(4096, room);
    memset(from, 0, room);
    memset(to, 0, room);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
            if (only != NULL && strstr(only, names[kind]) == NULL)
                continue;
            if (kind == BARRIER && i > 0)
                continue;
            measure(kind, sizes[i]);
        }
}

#ifdef HALL_BENCH_MPI

#include <mpi.h>

static void operate(int kind, size_t bytes)
{
    int count = (int)(bytes / sizeof(float));
    if (kind == BARRIER)
        MPI_Barrier(MPI_COMM_WORLD);
    else if (kind == ALL_REDUCE)
        MPI_Allreduce(from, to, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else if (kind == BROADCAST)
        MPI_Bcast(from, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    else if (kind == ALL_GATHER)
        MPI_Allgather(from, count, MPI_FLOAT, to, count, MPI_FLOAT, MPI_COMM_WORLD);
    else if (kind == REDUCE_SCATTER)
        MPI_Reduce_scatter_block(from, to, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else if (kind == ALL_TO_ALL)
        MPI_Alltoall(from, count, MPI_FLOAT, to, count, MPI_FLOAT, MPI_COMM_WORLD);
    else
        MPI_Reduce(from, to, count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static double slowest(double mine)
{
    double most;
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    measure_all(argc > 1 ? argv[1] : NULL);
    MPI_Finalize();
    return 0;
}

#else

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/host.h"
#include "hall.h"

static hall *here;

static const muster_operation operations[KINDS] = {
    MUSTER_OPERATION_BARRIER,    MUSTER_OPERATION_ALL_REDUCE,     MUSTER_OPERATION_BROADCAST,
    MUSTER_OPERATION_ALL_GATHER, MUSTER_OPERATION_REDUCE_SCATTER, MUSTER_OPERATION_ALL_TO_ALL,
    MUSTER_OPERATION_REDUCE};

static void run(muster_operation operation, muster_type type, muster_reduction redop, size_t count,
                void *send, void *receive)
{
    int other;
    uint64_t label[6] = {operation, type, redop, 0, count, 0}, theirs[6];
    muster_call call = {.size = sizeof(call),
                        .operation = operation,
                        .type = type,
                        .redop = redop,
                        .scalar = 1,
                        .count = count,
                        .send = send,
                        .receive = receive,
                        .uniform = true,
                        .label = label,
                        .label_size = sizeof(label),
                        .other_label = theirs,
                        .other_rank = &other};
    if (hall_run(here, &call, 30000) != MUSTER_OK) {
        fprintf(stderr, "rank %d: %s\n", rank, muster_last_error());
        exit(1);
    }
}

static void operate(int kind, size_t bytes)
{
    run(operations[kind], MUSTER_FLOAT32, MUSTER_SUM, bytes / sizeof(float), from,
        kind == BROADCAST ? from : to);
}

static double slowest(double mine)
{
    double most;
    run(MUSTER_OPERATION_ALL_REDUCE, MUSTER_FLOAT64, MUSTER_MAX, 1, &mine, &most);
    return most;
}

static void pin(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((unsigned)rank % (unsigned)sysconf(_SC_NPROCESSORS_ONLN), &one);
    sched_setaffinity(0, sizeof(one), &one);
}

static void *map(size_t bytes)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

int main(int argc, char **argv)
{
    size = argc > 1 ? atoi(argv[1]) : 2;
    void *base = map(hall_bytes(size));
    for (int r = 0; r < size; r++)
        if (fork() == 0) {
            rank = r;
            pin();
            const hall_place place = {
                .host = &host_functions,
                .rank = r,
                .size = size,
                .base = base,
                .cores_for_all = size <= sysconf(_SC_NPROCESSORS_ONLN),
            };
            if (hall_open(&here, &place) != MUSTER_OK)
                return 1;
            operate(BARRIER, 0);
            measure_all(argc > 2 ? argv[2] : NULL);
            hall_close(here);
            return 0;
        }
    for (int r = 0; r < size; r++)
        wait(NULL);
    return 0;
}

#endif

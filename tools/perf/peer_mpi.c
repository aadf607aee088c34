/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI's part of muster-perf --peer mpi. Orders come on rank 0's stdin by the line: operation, type,
 * reduction, root, elements of a block, calls to be measured, calls before them. Each is answered
 * with the seconds of a call on the slowest rank and 0, or with -1, 0 and a sentence where MPI has
 * no such thing. The first answer, to no order, is the number of ranks and 0. muster-perf has this
 * compiled when it is needed; nothing else of muster needs MPI.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORDS = 256, PAUSE_NS = 1000000 };

typedef struct job {
    char operation[32], type_name[32], redop_name[32];
    int root, rank, size;
    long long base, iterations, warmups;
    MPI_Datatype type;
    MPI_Op redop;
    int *counts, *offsets;
    void *send, *receive;
} job;

static MPI_Datatype job_type(const char *name)
{
    struct {
        const char *name;
        MPI_Datatype type;
    } all[] = {{"int8", MPI_INT8_T},     {"uint8", MPI_UINT8_T},  {"int32", MPI_INT32_T},
               {"uint32", MPI_UINT32_T}, {"int64", MPI_INT64_T},  {"uint64", MPI_UINT64_T},
               {"float32", MPI_FLOAT},   {"float64", MPI_DOUBLE}, {"bool", MPI_C_BOOL}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].type;
    return MPI_DATATYPE_NULL;
}

/* Of bool the logical ones, as muster has it. */
static MPI_Op job_redop(const char *name, int truth)
{
    struct {
        const char *name;
        MPI_Op redop, of_truth;
    } all[] = {{"sum", MPI_SUM, MPI_LOR},    {"prod", MPI_PROD, MPI_LAND},
               {"min", MPI_MIN, MPI_LAND},   {"max", MPI_MAX, MPI_LOR},
               {"band", MPI_BAND, MPI_LAND}, {"bor", MPI_BOR, MPI_LOR},
               {"bxor", MPI_BXOR, MPI_LXOR}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(all[i].name, name) == 0)
            return truth ? all[i].of_truth : all[i].redop;
    return MPI_OP_NULL;
}

static int is(const job *one, const char *operation)
{
    return strcmp(one->operation, operation) == 0;
}

static int job_varies(const job *one)
{
    size_t length = strlen(one->operation);
    return length > 2 && strcmp(one->operation + length - 2, "_v") == 0;
}

/* Blocks of the lengths that muster-perf has. */
static void job_count(job *one)
{
    int crossed = is(one, "all_to_all_v") ? one->rank : 0, at = 0;
    for (int b = 0; b < one->size; b++) {
        long long half = job_varies(one) ? one->base / 2 : 0;
        one->counts[b] = (int)((b + crossed) % 2 ? one->base - half : one->base + half);
        one->offsets[b] = at;
        at += one->counts[b];
    }
}

static int job_call_blocks(const job *one)
{
    int base = (int)one->base, mine = one->counts[one->rank];
    MPI_Comm world = MPI_COMM_WORLD;
    if (is(one, "gather"))
        return MPI_Gather(one->send, base, one->type, one->receive, base, one->type, one->root,
                          world);
    if (is(one, "gather_v"))
        return MPI_Gatherv(one->send, mine, one->type, one->receive, one->counts, one->offsets,
                           one->type, one->root, world);
    if (is(one, "scatter"))
        return MPI_Scatter(one->send, base, one->type, one->receive, base, one->type, one->root,
                           world);
    if (is(one, "scatter_v"))
        return MPI_Scatterv(one->send, one->counts, one->offsets, one->type, one->receive, mine,
                            one->type, one->root, world);
    if (is(one, "all_gather"))
        return MPI_Allgather(one->send, base, one->type, one->receive, base, one->type, world);
    if (is(one, "all_gather_v"))
        return MPI_Allgatherv(one->send, mine, one->type, one->receive, one->counts, one->offsets,
                              one->type, world);
    if (is(one, "all_to_all"))
        return MPI_Alltoall(one->send, base, one->type, one->receive, base, one->type, world);
    if (is(one, "all_to_all_v"))
        return MPI_Alltoallv(one->send, one->counts, one->offsets, one->type, one->receive,
                             one->counts, one->offsets, one->type, world);
    return MPI_ERR_OTHER;
}

static int job_call(const job *one)
{
    int base = (int)one->base, next = (one->rank + 1) % one->size;
    MPI_Comm world = MPI_COMM_WORLD;
    if (is(one, "barrier"))
        return MPI_Barrier(world);
    if (is(one, "broadcast"))
        return MPI_Bcast(one->receive, base, one->type, one->root, world);
    if (is(one, "reduce"))
        return MPI_Reduce(one->rank == one->root ? MPI_IN_PLACE : one->receive, one->receive, base,
                          one->type, one->redop, one->root, world);
    if (is(one, "all_reduce"))
        return MPI_Allreduce(MPI_IN_PLACE, one->receive, base, one->type, one->redop, world);
    if (is(one, "reduce_scatter"))
        return MPI_Reduce_scatter_block(one->send, one->receive, base, one->type, one->redop,
                                        world);
    if (is(one, "reduce_scatter_v"))
        return MPI_Reduce_scatter(one->send, one->receive, one->counts, one->type, one->redop,
                                  world);
    if (is(one, "send_recv"))
        return MPI_Sendrecv(one->send, base, one->type, next, 0, one->receive, base, one->type,
                            (one->rank + one->size - 1) % one->size, 0, world, MPI_STATUS_IGNORE);
    return job_call_blocks(one);
}

static double job_time(const job *one)
{
    double seconds, slowest;
    for (long long i = 0; i < one->warmups; i++)
        job_call(one);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (long long i = 0; i < one->iterations; i++)
        job_call(one);
    seconds = (MPI_Wtime() - start) / (double)one->iterations;
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

/* Seconds, or -1 and why. */
static double job_run(job *one, char why[WORDS])
{
    int width, reduces = strstr(one->operation, "reduce") != NULL;
    one->type = job_type(one->type_name);
    one->redop = job_redop(one->redop_name, strcmp(one->type_name, "bool") == 0);
    int typed = one->type != MPI_DATATYPE_NULL;
    snprintf(why, WORDS, "MPI has no %s", typed ? one->redop_name : one->type_name);
    if (!typed || (reduces && one->redop == MPI_OP_NULL))
        return -1;
    snprintf(why, WORDS, "there is not enough memory, or more than MPI counts");
    MPI_Type_size(one->type, &width);
    int blocks = !is(one, "broadcast") && !is(one, "reduce") && !is(one, "all_reduce") &&
                 !is(one, "send_recv");
    size_t room = (size_t)(one->base + one->base / 2 + 1) * (blocks ? (size_t)one->size : 1);
    one->counts = calloc((size_t)one->size, sizeof(int));
    one->offsets = calloc((size_t)one->size, sizeof(int));
    one->send = malloc(room * (size_t)width);
    one->receive = malloc(room * (size_t)width);
    int good = one->send && one->receive && one->counts && one->offsets && room < 0x7fffffff, all;
    /* Pages that nobody has written to are all the same one, which stays in the cache; and with
     * zeros compilers leave the writing out. */
    if (one->send && one->receive) {
        memset(one->send, 1, room * (size_t)width);
        memset(one->receive, 1, room * (size_t)width);
    }
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    double seconds = -1;
    if (all) {
        job_count(one);
        seconds = job_time(one);
    }
    free(one->counts);
    free(one->offsets);
    free(one->send);
    free(one->receive);
    return seconds;
}

/* Hands rank 0's line on. Others look for it now and then: MPI's own waiting would take the CPUs
 * from what is measured meanwhile. */
static void take_line(int rank, int size, char line[WORDS])
{
    struct timespec pause = {0, PAUSE_NS};
    int there = 0;
    if (rank == 0) {
        if (fgets(line, WORDS, stdin) == NULL)
            line[0] = '\0';
        for (int r = 1; r < size; r++)
            MPI_Send(line, WORDS, MPI_CHAR, r, 1, MPI_COMM_WORLD);
        return;
    }
    while (MPI_Iprobe(0, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE) == MPI_SUCCESS && !there)
        nanosleep(&pause, NULL);
    MPI_Recv(line, WORDS, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    char line[WORDS] = "", first[WORDS], why[WORDS];
    job one = {.size = 1};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &one.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &one.size);
    snprintf(first, sizeof(first), "%d 0", one.size);
    for (const char *answer = first;; answer = line) {
        if (one.rank == 0) {
            puts(answer);
            fflush(stdout);
        }
        take_line(one.rank, one.size, line);
        if (sscanf(line, "%31s %31s %31s %d %lld %lld %lld", one.operation, one.type_name,
                   one.redop_name, &one.root, &one.base, &one.iterations, &one.warmups) != 7)
            break;
        double seconds = job_run(&one, why);
        snprintf(line, WORDS, "%.9f 0 %.200s", seconds, seconds < 0 ? why : "");
    }
    return MPI_Finalize();
}

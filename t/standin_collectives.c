/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stand-in for hardware: its NCCL moves and reduces right, between one to four processes.
 */
#include "config.h"

#include <stdint.h>
#include <string.h>

#include "model.h"
#include "ranks.h"
#include "standin.h"
#include "standin_nccl.h"

enum { COUNT = 100000, FEW = 5 };

static const standin_api *api;
static cuda_stream stream;

static nccl_comm *begin(int rank, int size, int blocking)
{
    standin_use("2.28");
    api = standin_api_get();
    nccl_comm *comm = standin_open(rank, size, blocking);
    ok(comm != NULL, "the communicator opens");
    if (comm == NULL)
        ranks_skip_case("no communicator");
    api->cudaStreamCreateWithFlags(&stream, CUDA_STREAM_NON_BLOCKING);
    return comm;
}

/* What a call comes to, when it has been launched and has run. */
static nccl_result finish(nccl_comm *comm, nccl_result result)
{
    if (result == NCCL_IN_PROGRESS)
        result = standin_settle(comm, patient(10000));
    return result == NCCL_SUCCESS && api->cudaStreamSynchronize(stream) != CUDA_OK
               ? NCCL_UNHANDLED_CUDA_ERROR
               : result;
}

static void sums(int rank, int size, int blocking)
{
    static float values[COUNT];
    nccl_comm *comm = begin(rank, size, blocking);
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)(i + rank);
    float *memory = standin_upload(values, sizeof(values));
    nccl_result result =
        api->ncclAllReduce(memory, memory, COUNT, NCCL_FLOAT32, NCCL_SUM, comm, stream);
    is_int(result, blocking ? NCCL_SUCCESS : NCCL_IN_PROGRESS, "all_reduce starts");
    is_int(finish(comm, result), NCCL_SUCCESS, "all_reduce runs");
    standin_download(values, memory, sizeof(values));
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += values[i] != (float)(i * size + size * (size - 1) / 2);
    is_int(wrong, 0, "all_reduce, in place, in several pieces");
    ok(standin_close(comm), "the communicator closes");
    api->cudaFree(memory);
}

static void sums_blocking(int rank, int size)
{
    sums(rank, size, 1);
}

static void sums_later(int rank, int size)
{
    sums(rank, size, 0);
}

/* ---- each operation, of int64 blocks of FEW elements ---- */

typedef struct moves {
    int64_t sent[4 * FEW];
    int64_t got[4 * FEW];
    int64_t *send;
    int64_t *receive;
    nccl_comm *comm;
} moves;

static void moves_fill(moves *m, int rank)
{
    for (int i = 0; i < 4 * FEW; i++)
        m->sent[i] = 1000 * rank + i;
    m->send = standin_upload(m->sent, sizeof(m->sent));
    m->receive = standin_upload(NULL, sizeof(m->got));
}

/* What came to block b is block "taken" of rank "from"; 0s if from is -1. */
static void moves_is(moves *m, int b, int from, int taken, const char *what)
{
    int wrong = 0;
    for (int i = 0; i < FEW; i++)
        wrong += m->got[b * FEW + i] != (from < 0 ? 0 : 1000 * from + taken * FEW + i);
    is_int(wrong, 0, "%s", what);
}

static void moves_run(moves *m, nccl_result result, const char *what)
{
    is_int(finish(m->comm, result), NCCL_SUCCESS, "%s runs", what);
    standin_download(m->got, m->receive, sizeof(m->got));
    api->cudaMemset(m->receive, 0, sizeof(m->got));
    api->cudaDeviceSynchronize();
}

static void everything_moves(int rank, int size)
{
    moves m = {.comm = begin(rank, size, 1)};
    moves_fill(&m, rank);
    moves_run(&m, api->ncclBroadcast(m.send, m.receive, FEW, NCCL_INT64, size - 1, m.comm, stream),
              "broadcast");
    moves_is(&m, 0, size - 1, 0, "broadcast brings the root's");
    moves_run(&m, api->ncclAllGather(m.send, m.receive, FEW, NCCL_INT64, m.comm, stream),
              "all_gather");
    moves_is(&m, size - 1, size - 1, 0, "all_gather brings the last rank's");
    moves_run(&m, api->ncclAlltoAll(m.send, m.receive, FEW, NCCL_INT64, m.comm, stream),
              "all_to_all");
    moves_is(&m, size - 1, size - 1, rank, "all_to_all brings this rank's block of the last rank");
    moves_run(&m, api->ncclGather(m.send, m.receive, FEW, NCCL_INT64, 0, m.comm, stream), "gather");
    moves_is(&m, size - 1, rank == 0 ? size - 1 : -1, 0, "gather brings all to the root alone");
    moves_run(&m, api->ncclScatter(m.send, m.receive, FEW, NCCL_INT64, 0, m.comm, stream),
              "scatter");
    moves_is(&m, 0, 0, rank, "scatter brings this rank's block of the root");
    api->ncclGroupStart();
    for (int peer = 0; peer < size; peer++) {
        api->ncclRecv(m.receive + peer * FEW, FEW, NCCL_INT64, peer, m.comm, stream);
        api->ncclSend(m.send + peer * FEW, FEW, NCCL_INT64, peer, m.comm, stream);
    }
    moves_run(&m, api->ncclGroupEnd(), "a group of messages");
    moves_is(&m, 0, 0, rank, "messages come from rank 0");
    moves_is(&m, rank, rank, rank, "and from the rank itself");
    ok(standin_close(m.comm), "the communicator closes");
}

static void everything_reduces(int rank, int size)
{
    moves m = {.comm = begin(rank, size, 1)};
    double scalar = rank + 1, out = 0, in = 2;
    nccl_op op = NCCL_LAST_OP;
    moves_fill(&m, rank);
    moves_run(&m,
              api->ncclReduceScatter(m.send, m.receive, FEW, NCCL_INT64, NCCL_SUM, m.comm, stream),
              "reduce_scatter");
    is_int(m.got[1], 1000 * size * (size - 1) / 2 + size * (rank * FEW + 1),
           "reduce_scatter brings this rank's block");
    moves_run(&m, api->ncclReduce(m.send, m.receive, FEW, NCCL_INT64, NCCL_MAX, 0, m.comm, stream),
              "reduce");
    is_int(m.got[2], rank == 0 ? 1000 * (size - 1) + 2 : 0, "reduce brings it to the root alone");
    moves_run(&m, api->ncclAllReduce(m.send, m.receive, FEW, NCCL_INT64, NCCL_AVG, m.comm, stream),
              "an average");
    is_int(m.got[0], 1000 * size * (size - 1) / 2 / size, "an average of integers");
    api->ncclRedOpCreatePreMulSum(&op, &scalar, NCCL_FLOAT64, NCCL_SCALAR_HOST, m.comm);
    double *memory = standin_upload(&in, sizeof(in));
    is_int(api->ncclAllReduce(memory, memory, 1, NCCL_FLOAT32, op, m.comm, stream),
           NCCL_INVALID_ARGUMENT, "a made reduction is of its own type alone");
    is_int(finish(m.comm, api->ncclAllReduce(memory, memory, 1, NCCL_FLOAT64, op, m.comm, stream)),
           NCCL_SUCCESS, "a pre-multiplied sum runs");
    standin_download(&out, memory, sizeof(out));
    ok(out == size * (size + 1), "each rank's scalar is its own");
    is_int(api->ncclRedOpDestroy(op, m.comm), NCCL_SUCCESS, "the reduction goes");
    is_int(api->ncclRedOpDestroy(op, m.comm), NCCL_INVALID_ARGUMENT, "once");
    ok(standin_close(m.comm), "the communicator closes");
}

/* ---- every type and reduction, as t/model.c has them ---- */

static const struct {
    nccl_type type;
    muster_type model;
    size_t size;
} types[] = {
    {NCCL_INT8, MUSTER_INT8, 1},
    {NCCL_UINT8, MUSTER_UINT8, 1},
    {NCCL_INT32, MUSTER_INT32, 4},
    {NCCL_UINT32, MUSTER_UINT32, 4},
    {NCCL_INT64, MUSTER_INT64, 8},
    {NCCL_UINT64, MUSTER_UINT64, 8},
    {NCCL_FLOAT16, MUSTER_FLOAT16, 2},
    {NCCL_FLOAT32, MUSTER_FLOAT32, 4},
    {NCCL_FLOAT64, MUSTER_FLOAT64, 8},
    {NCCL_BFLOAT16, MUSTER_BFLOAT16, 2},
    {NCCL_FLOAT8_E4M3, MUSTER_FLOAT8_E4M3, 1},
    {NCCL_FLOAT8_E5M2, MUSTER_FLOAT8_E5M2, 1},
};

static const struct {
    nccl_op op;
    muster_reduction model;
} ops[] = {{NCCL_SUM, MUSTER_SUM},
           {NCCL_PROD, MUSTER_PROD},
           {NCCL_MAX, MUSTER_MAX},
           {NCCL_MIN, MUSTER_MIN},
           {NCCL_AVG, MUSTER_AVG}};

enum { TYPES = sizeof(types) / sizeof(*types), OPS = sizeof(ops) / sizeof(*ops), ELEMENTS = 500 };

static bool as_modelled(nccl_comm *comm, int rank, int size, int t, int o)
{
    char arrays[4][ELEMENTS * 8], expected[ELEMENTS * 8], got[ELEMENTS * 8];
    const void *all[4];
    for (int r = 0; r < size; r++) {
        model_fill(arrays[r], types[t].model, model_seed() + (uint64_t)r, ELEMENTS);
        all[r] = arrays[r];
    }
    model_reduce(expected, all, NULL, size, ELEMENTS, types[t].model, ops[o].model);
    void *memory = standin_upload(arrays[rank], ELEMENTS * types[t].size);
    nccl_result result = finish(
        comm, api->ncclAllReduce(memory, memory, ELEMENTS, types[t].type, ops[o].op, comm, stream));
    standin_download(got, memory, ELEMENTS * types[t].size);
    api->cudaFree(memory);
    return result == NCCL_SUCCESS && memcmp(got, expected, ELEMENTS * types[t].size) == 0;
}

static void model(int rank, int size)
{
    nccl_comm *comm = begin(rank, size, 1);
    for (int t = 0; t < TYPES; t++) {
        int right = 0;
        for (int o = 0; o < OPS; o++)
            right += as_modelled(comm, rank, size, t, o);
        is_int(right, OPS, "all reductions of %s", muster_type_name(types[t].model));
    }
    ok(standin_close(comm), "the communicator closes");
}

int main(int argc, char **argv)
{
    static const struct ranks_case cases[] = {
        {.name = "sums of one rank", .size = 1, .points = 5, .body = sums_blocking},
        {.name = "sums, blocking", .size = 2, .points = 5, .body = sums_blocking},
        {.name = "sums, later", .size = 3, .points = 5, .body = sums_later},
        {.name = "moves", .size = 4, .points = 15, .body = everything_moves},
        {.name = "moves of one rank", .size = 1, .points = 15, .body = everything_moves},
        {.name = "model", .size = 3, .points = TYPES + 2, .body = model},
        {.name = "reductions", .size = 4, .points = 13, .body = everything_reduces},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stand-in for hardware: faults on demand of its NCCL, and what ends them.
 */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ranks.h"
#include "standin.h"
#include "standin_nccl.h"

static const standin_api *api;
static cuda_stream stream;
static float *memory;

static nccl_comm *begin(int rank, int size, const char *faults)
{
    standin_use("2.28");
    setenv("MUSTER_STANDIN_FAULTS", faults, 1);
    setenv("MUSTER_STANDIN_DELAY_US", "150000", 1);
    api = standin_api_get();
    nccl_comm *comm = standin_open(rank, size, 0);
    memory = standin_upload(NULL, sizeof(*memory));
    api->cudaStreamCreateWithFlags(&stream, CUDA_STREAM_NON_BLOCKING);
    return comm;
}

static nccl_result launch(nccl_comm *comm)
{
    api->ncclAllReduce(memory, memory, 1, NCCL_FLOAT32, NCCL_SUM, comm, stream);
    return standin_settle(comm, patient(5000));
}

static void wait_ms(long ms)
{
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* What the communicator comes to while its operation hangs. */
static nccl_result await_error(nccl_comm *comm, long ms)
{
    nccl_result result = NCCL_SUCCESS;
    for (; ms > 0 && result == NCCL_SUCCESS; ms -= 10) {
        wait_ms(10);
        api->ncclCommGetAsyncError(comm, &result);
    }
    return result;
}

static void is_stuck_until_abort(nccl_comm *comm)
{
    is_int(api->cudaStreamQuery(stream), CUDA_ERROR_NOT_READY, "its stream is stuck");
    is_int(api->ncclCommAbort(comm), NCCL_SUCCESS, "abort comes back");
    is_int(api->cudaStreamSynchronize(stream), CUDA_OK, "and frees the stream");
}

static void later_error(int rank, int size)
{
    nccl_comm *comm = begin(rank, size, "operation@1:2:6");
    is_int(launch(comm), NCCL_SUCCESS, "the first operation starts");
    is_int(api->cudaStreamSynchronize(stream), CUDA_OK, "and runs");
    is_int(launch(comm), NCCL_SUCCESS, "the second starts");
    is_int(await_error(comm, rank == 1 ? patient(5000) : 400),
           rank == 1 ? NCCL_REMOTE_ERROR : NCCL_SUCCESS, "and fails on one rank, later");
    is_int(launch(comm), rank == 1 ? NCCL_REMOTE_ERROR : NCCL_SUCCESS, "an error stays");
    is_int(rank == 1 ? api->ncclCommDestroy(comm) : NCCL_REMOTE_ERROR, NCCL_REMOTE_ERROR,
           "destroy says it, too");
    is_stuck_until_abort(comm);
}

static void dead_peer(int rank, int size)
{
    nccl_comm *comm = begin(rank, size, "operation@1:1:die");
    ranks_barrier();
    launch(comm);
    is_int(await_error(comm, 400), NCCL_SUCCESS, "nobody notices");
    is_stuck_until_abort(comm);
}

static void dead_peer_noticed(int rank, int size)
{
    setenv("MUSTER_STANDIN_PEERS", "noticed", 1);
    nccl_comm *comm = begin(rank, size, "operation@1:1:die");
    ranks_barrier();
    launch(comm);
    is_int(await_error(comm, patient(5000)), NCCL_REMOTE_ERROR, "the others notice");
    is_stuck_until_abort(comm);
}

static void peer_aborts(int rank, int size)
{
    setenv("MUSTER_STANDIN_PEERS", "noticed", 1);
    nccl_comm *comm = begin(rank, size, "");
    if (rank == 1) {
        api->ncclCommAbort(comm);
        wait_ms(patient(500));
        _exit(3);
    }
    is_int(launch(comm), NCCL_SUCCESS, "an operation starts when a peer has aborted");
    is_int(await_error(comm, patient(5000)), NCCL_REMOTE_ERROR, "this one notices");
    is_stuck_until_abort(comm);
}

static void no_answer(int rank, int size)
{
    nccl_comm *comm = begin(rank, size, "operation@1:1:hang");
    launch(comm);
    is_int(await_error(comm, 400), NCCL_SUCCESS, "a rank that hangs is no error");
    is_stuck_until_abort(comm);
}

static void init_hangs(int rank, int size)
{
    nccl_comm *comm = NULL;
    standin_use("2.28");
    setenv("MUSTER_STANDIN_FAULTS", "init@1:1:hang", 1);
    api = standin_api_get();
    nccl_unique_id id = standin_share_id(rank);
    nccl_config config = standin_config(0);
    api->cudaSetDevice(rank);
    api->ncclCommInitRankConfig(&comm, size, id, rank, &config);
    is_int(standin_settle(comm, 300), NCCL_IN_PROGRESS, "init hangs on all");
    is_int(api->ncclCommAbort(comm), NCCL_SUCCESS, "until it is aborted");
}

static void launch_hangs(int rank, int size)
{
    nccl_comm *comm = begin(rank, size, "launch:1:hang,launch:2:2");
    api->ncclAllReduce(memory, memory, 1, NCCL_FLOAT32, NCCL_SUM, comm, stream);
    is_int(standin_settle(comm, 300), NCCL_IN_PROGRESS, "an operation does not come to its stream");
    is_int(api->cudaStreamQuery(stream), CUDA_OK, "which has nothing to do");
    is_int(api->ncclCommAbort(comm), NCCL_SUCCESS, "abort ends it");
    comm = standin_open(rank, size, 0);
    is_int(launch(comm), NCCL_SYSTEM_ERROR, "another one fails");
    is_int(api->ncclCommAbort(comm), NCCL_SUCCESS, "abort ends that");
}

static void split_fails(int rank, int size)
{
    nccl_comm *child = NULL, *comm = begin(rank, size, "split@1:1:3");
    is_int(api->ncclCommSplit(comm, 0, rank, &child, NULL), NCCL_IN_PROGRESS, "split begins");
    is_int(standin_settle(comm, rank == 1 ? patient(5000) : 100),
           rank == 1 ? NCCL_INTERNAL_ERROR : NCCL_IN_PROGRESS, "it fails on one, the other waits");
    ranks_barrier();
    is_int(api->ncclCommAbort(comm), NCCL_SUCCESS, "abort ends it");
    ok(child == NULL, "without a child");
}

static void finalize_hangs(int rank, int size)
{
    nccl_comm *comm = begin(rank, size, "finalize@1:1:hang");
    is_int(api->ncclCommFinalize(comm), NCCL_IN_PROGRESS, "finalize begins");
    is_int(standin_settle(comm, 300), NCCL_IN_PROGRESS, "it hangs on all");
    ranks_barrier();
    is_int(api->ncclCommAbort(comm), NCCL_SUCCESS, "until it is aborted");
}

static void *abort_thread(void *argument)
{
    atomic_bool *came_back = argument;
    api->ncclCommAbort(NULL);
    nccl_comm *comm = standin_open(0, 1, 0);
    atomic_store(came_back, api->ncclCommAbort(comm) == NCCL_SUCCESS);
    return NULL;
}

static void abort_hangs(int rank, int size)
{
    (void)rank, (void)size;
    static atomic_bool came_back;
    pthread_t thread;
    standin_use("2.28");
    setenv("MUSTER_STANDIN_FAULTS", "ncclCommAbort:1:hang", 1);
    api = standin_api_get();
    pthread_create(&thread, NULL, abort_thread, &came_back);
    wait_ms(patient(300));
    ok(!atomic_load(&came_back), "abort does not come back");
    pthread_detach(thread);
}

static void host_memory(int rank, int size)
{
    float here[2] = {0};
    nccl_comm *comm = begin(rank, size, "");
    is_int(api->ncclAllReduce(here, here, 1, NCCL_FLOAT32, NCCL_SUM, comm, stream),
           NCCL_IN_PROGRESS, "host memory is not looked at");
    is_int(standin_settle(comm, patient(5000)), NCCL_SUCCESS, "until it runs");
    is_int(await_error(comm, patient(5000)), NCCL_UNHANDLED_CUDA_ERROR, "that breaks it");
    is_int(api->cudaStreamQuery(stream), 700, "and the whole device");
    is_int(api->ncclCommAbort(comm), NCCL_SUCCESS, "abort ends it");
}

int main(int argc, char **argv)
{
    static const struct ranks_case cases[] = {
        {.name = "later", .size = 2, .points = 9, .body = later_error},
        {.name = "dead",
         .size = 2,
         .points = 4,
         .body = dead_peer,
         .deaths = {{.rank = 1, .signal = SIGKILL}}},
        {.name = "dead, noticed",
         .size = 2,
         .points = 4,
         .body = dead_peer_noticed,
         .deaths = {{.rank = 1, .signal = SIGKILL}}},
        {.name = "peer aborts",
         .size = 2,
         .points = 5,
         .body = peer_aborts,
         .deaths = {{.rank = 1, .status = 3}}},
        {.name = "no answer", .size = 2, .points = 4, .body = no_answer},
        {.name = "init", .size = 2, .points = 2, .body = init_hangs},
        {.name = "launch", .size = 2, .points = 5, .body = launch_hangs},
        {.name = "split", .size = 2, .points = 4, .body = split_fails},
        {.name = "finalize", .size = 2, .points = 3, .body = finalize_hangs},
        {.name = "abort", .size = 1, .points = 1, .body = abort_hangs},
        {.name = "host memory", .size = 2, .points = 5, .body = host_memory},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}

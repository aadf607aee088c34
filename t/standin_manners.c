/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stand-in for hardware: its NCCL has the manners of one whose communicators do not block, and
 * makes communicators out of others.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks.h"
#include "standin.h"
#include "standin_nccl.h"

static const standin_api *api;
static float *memory;

/* What an all_reduce of one element on the default stream is answered with. */
static nccl_result reduce(nccl_comm *comm)
{
    if (memory == NULL)
        memory = standin_upload(NULL, sizeof(*memory));
    return api->ncclAllReduce(memory, memory, 1, NCCL_FLOAT32, NCCL_SUM, comm, NULL);
}

static void in_progress(int rank, int size)
{
    int told = -1;
    nccl_comm *comm = NULL;
    standin_use("2.28");
    api = standin_api_get();
    nccl_unique_id id = standin_share_id(rank);
    nccl_config config = standin_config(0);
    setenv("MUSTER_STANDIN_FAULTS", "init:1:800ms", 1);
    api->cudaSetDevice(rank);
    memory = standin_upload(NULL, sizeof(*memory));
    is_int(api->ncclCommInitRankConfig(&comm, size, id, rank, &config), NCCL_IN_PROGRESS,
           "init is in progress");
    ok(comm != NULL, "there is something to poll");
    is_int(reduce(comm), NCCL_INVALID_ARGUMENT, "nothing can be called meanwhile");
    has_str(api->ncclGetLastError(comm), "before the previous operation returned", "says why");
    is_int(api->ncclCommCount(comm, &told), NCCL_INVALID_ARGUMENT, "not even this");
    is_int(api->ncclCommDestroy(comm), NCCL_INVALID_ARGUMENT, "nor destroy");
    api->ncclGroupEnd(); /* which that one leaves open */
    is_int(standin_settle(comm, patient(5000)), NCCL_SUCCESS, "then it is there");
    ok(api->ncclCommCount(comm, &told) == NCCL_SUCCESS && told == size, "it knows its size");
    ok(api->ncclCommUserRank(comm, &told) == NCCL_SUCCESS && told == rank, "and its rank");
    ok(api->ncclCommCuDevice(comm, &told) == NCCL_SUCCESS && told == rank, "and its device");
    ranks_barrier();
    is_int(reduce(comm), NCCL_IN_PROGRESS, "a collective is in progress");
    is_int(standin_settle(comm, patient(5000)), NCCL_SUCCESS, "it is launched");
    api->cudaDeviceSynchronize();
    is_int(api->ncclCommFinalize(comm), NCCL_IN_PROGRESS, "so is finalize");
    is_int(standin_settle(comm, patient(5000)), NCCL_SUCCESS, "it is done");
    is_int(reduce(comm), NCCL_INVALID_ARGUMENT, "after it nothing runs");
    is_int(api->ncclCommDestroy(comm), NCCL_SUCCESS, "destroyed");
}

static void groups(int rank, int size)
{
    standin_use("2.28");
    api = standin_api_get();
    nccl_comm *comm = standin_open(rank, size, 0), *blocking = standin_open(rank, size, 1);
    api->ncclGroupStart();
    is_int(reduce(comm), NCCL_SUCCESS, "inside a group a call only adds to it");
    api->ncclGroupStart();
    is_int(reduce(comm), NCCL_SUCCESS, "one more, one level deeper");
    is_int(api->ncclGroupEnd(), NCCL_SUCCESS, "the end of that level does nothing");
    is_int(standin_settle(comm, 50), NCCL_SUCCESS, "nothing runs");
    is_int(api->ncclGroupEnd(), NCCL_IN_PROGRESS, "the last end starts them");
    is_int(standin_settle(comm, patient(5000)), NCCL_SUCCESS, "they run");
    api->ncclGroupStart();
    is_int(api->ncclBroadcast(NULL, NULL, 1, NCCL_INT8, 0, blocking, NULL), NCCL_INVALID_ARGUMENT,
           "a wrong call");
    is_int(api->ncclGroupEnd(), NCCL_INVALID_ARGUMENT, "spoils its group");
    is_int(reduce(blocking), NCCL_SUCCESS, "not the communicator");
    api->ncclGroupStart();
    reduce(comm);
    reduce(blocking);
    is_int(api->ncclGroupEnd(), NCCL_INVALID_ARGUMENT,
           "blocking ones and others can't be in one group");
    api->cudaDeviceSynchronize();
    ranks_barrier();
    api->ncclCommAbort(comm);
    ok(standin_close(blocking), "the blocking one closes");
}

static void splits(int rank, int size)
{
    int told = -1;
    nccl_comm *child = (nccl_comm *)&told, *none = child;
    standin_use("2.28");
    api = standin_api_get();
    nccl_comm *comm = standin_open(rank, size, 0);
    setenv("MUSTER_STANDIN_FAULTS", "split:1:500ms", 1);
    is_int(api->ncclCommSplit(comm, rank % 2, -rank, &child, NULL), NCCL_IN_PROGRESS,
           "split is in progress");
    ok(__atomic_load_n(&child, __ATOMIC_ACQUIRE) == NULL, "the child is not there yet");
    is_int(standin_settle(comm, patient(5000)), NCCL_SUCCESS, "the parent tells when it is");
    ok(child != NULL && standin_settle(child, 1) == NCCL_SUCCESS, "the child is ready");
    ok(api->ncclCommCount(child, &told) == NCCL_SUCCESS && told == 2, "two have the color");
    ok(api->ncclCommUserRank(child, &told) == NCCL_SUCCESS && told == (rank < 2),
       "ranks go by key");
    api->ncclCommSplit(comm, rank == 0 ? 1 : NCCL_SPLIT_NO_COLOR, 0, &none, NULL);
    is_int(standin_settle(comm, patient(5000)), NCCL_SUCCESS, "another split");
    ok((none != NULL) == (rank == 0), "who has no color gets none");
    reduce(child);
    is_int(standin_settle(child, patient(5000)), NCCL_SUCCESS, "the child works");
    api->cudaDeviceSynchronize();
    ok(standin_close(child) && standin_close(comm) && (none == NULL || standin_close(none)),
       "all close");
}

static void shrinks(int rank, int size)
{
    int told = -1, excluded[] = {1};
    nccl_comm *child = NULL;
    standin_use("2.28");
    setenv("MUSTER_STANDIN_FAULTS", rank == 1 ? "operation:1:hang" : "", 1);
    api = standin_api_get();
    nccl_comm *comm = standin_open(rank, size, 0);
    reduce(comm);
    is_int(standin_settle(comm, patient(5000)), NCCL_SUCCESS, "an operation starts");
    if (rank == 1) {
        is_int(api->ncclCommRevoke(comm, 0), NCCL_SUCCESS, "rank 1 gives up what it does");
        is_int(reduce(comm), NCCL_INVALID_USAGE, "then nothing runs");
        is_int(api->ncclCommFinalize(comm), NCCL_INVALID_ARGUMENT, "nor ends");
        is_int(api->ncclCommDestroy(comm), NCCL_SUCCESS, "but it goes");
        return;
    }
    is_int(api->ncclCommShrink(comm, excluded, 1, &child, NULL, NCCL_SHRINK_ABORT),
           NCCL_IN_PROGRESS, "the others go on without it");
    is_int(standin_settle(comm, patient(5000)), NCCL_SUCCESS, "they are connected");
    ok(api->ncclCommCount(child, &told) == NCCL_SUCCESS && told == size - 1, "one fewer");
    reduce(child);
    ok(standin_settle(child, patient(5000)) == NCCL_SUCCESS &&
           api->cudaDeviceSynchronize() == CUDA_OK && standin_close(child),
       "they work");
    api->ncclCommAbort(comm);
}

static void refuses(int rank, int size)
{
    nccl_comm *comm = NULL;
    standin_use("2.28");
    api = standin_api_get();
    nccl_unique_id id = standin_share_id(rank);
    nccl_config config = standin_config(1);
    api->cudaSetDevice(0);
    is_int(api->ncclCommInitRankConfig(&comm, size, id, rank, &config), NCCL_INVALID_USAGE,
           "two ranks on one device");
    has_str(api->ncclGetLastError(NULL), "Duplicate GPU", "says why");
    is_int(api->ncclCommDestroy(comm), NCCL_INVALID_USAGE, "destroy says it again");
    is_int(api->ncclGroupEnd(), NCCL_SUCCESS, "and leaves a group open");
    is_int(api->ncclCommAbort(comm), NCCL_SUCCESS, "abort ends it");
    is_int(api->ncclCommInitRankConfig(&comm, size, id, size, &config), NCCL_INVALID_ARGUMENT,
           "a rank that is none");
    setenv("NCCL_HOSTID", rank == 0 ? "a" : "b", 1);
    id = standin_share_id(rank);
    is_int(api->ncclCommInitRankConfig(&comm, size, id, rank, &config), NCCL_SUCCESS,
           "on other hosts it is another device");
    void *handle = NULL, *own = NULL;
    char here[8];
    is_int(api->ncclMemAlloc(&own, 64), NCCL_SUCCESS, "memory of NCCL's");
    is_int(api->ncclCommRegister(comm, own, 64, &handle), NCCL_SUCCESS, "it is registered");
    is_int(api->ncclCommRegister(comm, here, 8, &handle), NCCL_INVALID_ARGUMENT,
           "memory of the host is not");
    is_int(api->ncclCommDeregister(comm, handle), NCCL_SUCCESS, "and no more");
    is_int(api->ncclMemFree(own), NCCL_SUCCESS, "and freed");
    ok(standin_close(comm), "all closes");
    ok(api->ncclCommAbort(NULL) == NCCL_SUCCESS && api->ncclCommDestroy(NULL) == NCCL_SUCCESS &&
           api->ncclCommFinalize(NULL) == NCCL_SUCCESS,
       "there may be nothing to end");
    is_int(reduce(NULL), NCCL_INVALID_ARGUMENT, "but not to work with");
}

/* Both ranks by one thread, which only groups make possible. */
static void one_thread(int rank, int size)
{
    enum { COMMS = 2 };
    (void)rank, (void)size;
    nccl_unique_id id;
    nccl_comm *comms[COMMS] = {NULL};
    float *buffers[COMMS], value = 21;
    standin_use("2.28");
    api = standin_api_get();
    nccl_config config = standin_config(1);
    api->ncclGetUniqueId(&id);
    api->ncclGroupStart();
    for (int i = 0; i < COMMS; i++) {
        api->cudaSetDevice(i);
        buffers[i] = standin_upload(&value, sizeof(value));
        api->ncclCommInitRankConfig(&comms[i], COMMS, id, i, &config);
    }
    is_int(api->ncclGroupEnd(), NCCL_SUCCESS, "two communicators in one group");
    api->ncclGroupStart();
    for (int i = 0; i < COMMS; i++)
        api->ncclAllReduce(buffers[i], buffers[i], 1, NCCL_FLOAT32, NCCL_SUM, comms[i], NULL);
    is_int(api->ncclGroupEnd(), NCCL_SUCCESS, "operations of both");
    for (int i = 0; i < COMMS; i++) {
        api->cudaSetDevice(i);
        ok(standin_download(&value, buffers[i], sizeof(value)) && value == 42, "device %d", i);
        api->cudaFree(buffers[i]);
    }
    api->ncclGroupStart();
    api->ncclCommFinalize(comms[0]);
    api->ncclCommFinalize(comms[1]);
    is_int(api->ncclGroupEnd(), NCCL_SUCCESS, "both end");
    ok(api->ncclCommDestroy(comms[0]) == NCCL_SUCCESS &&
           api->ncclCommDestroy(comms[1]) == NCCL_SUCCESS,
       "both go");
}

static void forced(int rank, int size)
{
    standin_use("2.18");
    api = standin_api_get();
    setenv("NCCL_COMM_BLOCKING", "1", 1);
    nccl_comm *comm = standin_open(rank, size, 0);
    is_int(reduce(comm), NCCL_SUCCESS, "the user's variable makes all communicators blocking");
    api->cudaDeviceSynchronize();
    ok(standin_close(comm), "it closes");
}

int main(int argc, char **argv)
{
    static const struct ranks_case cases[] = {
        {.name = "in progress", .size = 2, .points = 16, .body = in_progress},
        {.name = "groups", .size = 2, .points = 11, .body = groups},
        {.name = "split", .size = 4, .points = 10, .body = splits},
        {.name = "shrink", .size = 3, .points = 5, .body = shrinks},
        {.name = "refuses", .size = 2, .points = 15, .body = refuses},
        {.name = "one thread", .size = 1, .points = 6, .body = one_thread},
        {.name = "forced", .size = 2, .points = 2, .body = forced},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}

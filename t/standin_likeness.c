/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stand-in for hardware answers as NVIDIA's own libraries do where both can be asked the same:
 * without a driver. Rank 0 asks NVIDIA's, rank 1 the stand-in. Skipped where there is a driver or
 * there are no such libraries.
 */
#include "config.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"
#include "standin.h"
#include "standin_nccl.h"

enum { ANSWERS = 64, TEXT = 128 };

typedef struct answers {
    int count;
    char question[ANSWERS][TEXT];
    char answer[ANSWERS][TEXT];
} answers;

static const standin_api *api;
static answers *mine;

__attribute__((format(printf, 2, 3))) static void note(const char *question, const char *format,
                                                       ...)
{
    va_list values;
    int i = mine->count++;
    snprintf(mine->question[i], TEXT, "%s", question);
    va_start(values, format);
    vsnprintf(mine->answer[i], TEXT, format, values);
    va_end(values);
}

static void ask_runtime(void)
{
    static const int errors[] = {0, 1, 2, 3, 34, 35, 100, 101, 400, 600, 700, 999, 12345};
    int number = -7;
    void *memory = &number;
    cuda_stream stream = &number;
    cuda_event event = (cuda_event)(void *)&number;
    cuda_pointer_attributes attributes;
    cuda_error error = api->cudaDriverGetVersion(&number);
    note("cudaDriverGetVersion", "%d %d", (int)error, number);
    number = -7;
    error = api->cudaGetDeviceCount(&number);
    note("cudaGetDeviceCount", "%d %d", (int)error, number);
    note("cudaGetLastError", "%d", (int)api->cudaGetLastError());
    note("cudaGetLastError, again", "%d", (int)api->cudaGetLastError());
    error = api->cudaGetDevice(&number);
    note("cudaGetDevice", "%d %d", (int)error, number);
    note("cudaSetDevice", "%d", (int)api->cudaSetDevice(0));
    error = api->cudaMalloc(&memory, 8);
    note("cudaMalloc", "%d %d", (int)error, memory == &number);
    error = api->cudaHostAlloc(&memory, 8, 0);
    note("cudaHostAlloc", "%d %d", (int)error, memory == &number);
    error = api->cudaStreamCreateWithFlags(&stream, 1);
    note("cudaStreamCreateWithFlags", "%d %d", (int)error, stream == &number);
    error = api->cudaEventCreateWithFlags(&event, 2);
    note("cudaEventCreateWithFlags", "%d", (int)error);
    note("cudaPointerGetAttributes", "%d",
         (int)api->cudaPointerGetAttributes(&attributes, &number));
    for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
        note("an error in words", "%s: %s", api->cudaGetErrorName((cuda_error)errors[i]),
             api->cudaGetErrorString((cuda_error)errors[i]));
}

static void ask_nccl(void)
{
    nccl_unique_id id = {""}, other = {""};
    nccl_comm *comm = (nccl_comm *)(void *)&id;
    nccl_config config = standin_config(0);
    nccl_result result = NCCL_SUCCESS;
    void *memory = &id;
    note("ncclGetUniqueId", "%d", (int)api->ncclGetUniqueId(&id));
    api->ncclGetUniqueId(&other);
    note("two of them", "%d", memcmp(&id, &other, sizeof(id)) != 0);
    result = api->ncclCommInitRank(&comm, 1, id, 0);
    note("ncclCommInitRank", "%d %d", (int)result, (void *)comm == &id);
    note("ncclGroupEnd", "%d", (int)api->ncclGroupEnd());
    result = api->ncclCommInitRankConfig(&comm, 1, id, 0, &config);
    note("ncclCommInitRankConfig", "%d %d", (int)result, (void *)comm == &id);
    note("ncclGroupEnd, the leaked one", "%d", (int)api->ncclGroupEnd());
    note("ncclGroupEnd, one more", "%d", (int)api->ncclGroupEnd());
    note("ncclMemAlloc", "%d", (int)api->ncclMemAlloc(&memory, 8));
    note("ncclCommAbort", "%d", (int)api->ncclCommAbort(NULL));
    note("ncclCommDestroy", "%d", (int)api->ncclCommDestroy(NULL));
    note("ncclCommFinalize", "%d", (int)api->ncclCommFinalize(NULL));
    note("ncclCommGetAsyncError", "%d", (int)api->ncclCommGetAsyncError(NULL, &result));
    note("ncclAllReduce", "%d",
         (int)api->ncclAllReduce(memory, memory, 1, NCCL_INT8, NCCL_SUM, NULL, NULL));
    note("ncclCommSplit", "%d", (int)api->ncclCommSplit(NULL, 0, 0, &comm, NULL));
    for (int i = 0; i < 10; i++)
        note("a result in words", "%s", api->ncclGetErrorString((nccl_result)i));
}

static bool use_real(void)
{
    setenv("MUSTER_CUDA_LIBRARY", "libcuda.so.1", 1);
    setenv("MUSTER_CUDART_LIBRARY", "libcudart.so.13", 1);
    setenv("MUSTER_NCCL_LIBRARY", "libnccl.so.2", 1);
    return dlopen("libcudart.so.13", RTLD_NOW) != NULL && dlopen("libnccl.so.2", RTLD_NOW) != NULL;
}

static void alike(int rank, int size)
{
    int version = 0;
    answers *all = ranks_shared((size_t)size * sizeof(*all));
    mine = &all[rank];
    standin_use("2.28");
    setenv("MUSTER_CUDA_LIBRARY", "/nowhere/libcuda.so.1", 1);
    if (dlopen("libcuda.so.1", RTLD_NOW) != NULL)
        ranks_skip_case("there is a driver");
    if (rank == 0 && !use_real())
        ranks_skip_case("there is no libcudart.so.13 and libnccl.so.2");
    api = standin_api_get();
    if (api->ncclGetVersion(&version) != NCCL_SUCCESS || version / 100 != 228)
        ranks_skip_case("NCCL is not 2.28");
    ask_runtime();
    ask_nccl();
    ranks_barrier();
    is_int(all[0].count, all[1].count, "both were asked the same");
    for (int i = 0; i < all[0].count; i++)
        if (strcmp(all[0].answer[i], all[1].answer[i]) != 0)
            diag("%s: NVIDIA's says %s, the stand-in %s", all[0].question[i], all[0].answer[i],
                 all[1].answer[i]);
    is_int(memcmp(&all[0], &all[1], sizeof(*all)), 0, "and said the same");
}

int main(int argc, char **argv)
{
    static const char *const environment[] = {"ASAN_OPTIONS=detect_leaks=0", NULL}; /* NVIDIA's */
    static const struct ranks_case cases[] = {
        {.name = "without a driver",
         .size = 2,
         .points = 2,
         .body = alike,
         .environment = environment},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls of CUDA and NCCL that never come back, or that wait for a device which is busy with
 * something else: every call of muster ends within a second after its time-out all the same, and a
 * group is freed within a second. On the stand-in for hardware, whose cudaFree waits for the whole
 * device as CUDA's does.
 */
#include "config.h"

#include "gpu_memory.h"
#include "grouptest.h"
#include "standin.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T = 30000, SHORT = 1500, SECOND = 1000, COUNT = 1000 };

static muster_status try_group(const char *name, const char *backend, int64_t timeout_ms,
                               muster_group **group)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.group_name = name;
    args.backend = backend;
    args.timeout_ms = timeout_ms;
    return muster_init_process_group(group, &args);
}

static muster_group *group_on(const char *name, const char *backend, int64_t timeout_ms)
{
    muster_group *group = NULL;
    if (try_group(name, backend, timeout_ms, &group) != MUSTER_OK)
        bail_out("%s: %s", name, muster_last_error());
    return group;
}

/* It is made in all the time that this takes on a slow machine; what follows has little. */
static muster_group *short_group_on(const char *name, const char *backend)
{
    muster_group *group = group_on(name, backend, T);
    muster_group_set_timeout(group, SHORT);
    return group;
}

static void set_faults(const char *faults)
{
    setenv("MUSTER_STANDIN_FAULTS", faults, 1);
}

static muster_status sum_of(muster_group *group, void *buffer, size_t count, muster_work **work)
{
    return muster_all_reduce(group, buffer, buffer, count, MUSTER_INT32, MUSTER_SUM, work);
}

/* 1 point. */
static void frees_soon(muster_group *group, const char *why)
{
    int64_t began = now_ms();
    muster_group_free(group);
    ok(in_time(began, SECOND), "it is freed within a second: %s", why);
}

/* ---- what hangs ---- */

/* An operation that does not end, and an abort that does not come back. */
static void abort_hangs(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    muster_group *group = short_group_on("world", "nccl");
    void *there = gpu_alloc(GPU_DEVICE, 4);
    set_faults("operation:1+:hang,ncclCommAbort:1+:hang");
    int64_t began = now_ms();
    ok(sum_of(group, there, 1, NULL) != MUSTER_OK, "the operation fails");
    ok(in_time(began, SHORT + SECOND), "in time");
    has_str(muster_last_error(), "on this rank NCCL has not come back from breaking off",
            "which is said, since the memory may still be in use");
    frees_soon(group, "the abort hangs");
    ranks_barrier();
}

/* FAULT names what hangs while the group is made. */
static void opening_hangs(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    ranks_barrier();
    set_faults(getenv("FAULT"));
    muster_group *group = NULL;
    int64_t began = now_ms();
    muster_status status = try_group("world", "nccl", SHORT, &group);
    if (!ok(status == MUSTER_ERR_TIMEOUT, "making the group fails"))
        diag("%d: %s", (int)status, muster_last_error());
    ok(in_time(began, SHORT + SECOND), "in time");
    has_str(muster_last_error(), "CUDA", "which is said: %s", getenv("FAULT"));
    ranks_barrier();
}

/* What hangs on one rank alone, FAULT, is told on all of them with that rank's name: WHO. */
static void opening_blames(int rank, int size)
{
    char who[32];
    (void)size;
    gpu_take(rank);
    ranks_barrier();
    if (atoi(getenv("WHO")) == rank)
        set_faults(getenv("FAULT"));
    muster_group *group = NULL;
    int64_t began = now_ms();
    muster_status status = try_group("world", "nccl", SHORT, &group);
    if (!ok(status == MUSTER_ERR_TIMEOUT, "making the group fails"))
        diag("%d: %s", (int)status, muster_last_error());
    ok(in_time(began, SHORT + SECOND), "in time");
    snprintf(who, sizeof(who), "rank %s (host ", getenv("WHO"));
    has_str(muster_last_error(), who, "who it was is said");
    has_str(muster_last_error(), getenv("WORDS"), "and what: %s", getenv("FAULT"));
    ranks_barrier();
}

/* FAULT hangs before anybody has made use of a device: there is no GPU to be had then, and "auto"
 * goes without. */
static void driver_hangs(int rank, int size)
{
    char *text = NULL;
    (void)rank;
    set_faults(getenv("FAULT"));
    ranks_barrier();
    muster_group *group = NULL;
    int64_t began = now_ms(), longer = 2 * SHORT;
    is_status(try_group("named", "nccl", longer, &group), MUSTER_ERR_UNAVAILABLE,
              "a group on NCCL is refused");
    ok(in_time(began, longer), "in time");
    has_str(muster_last_error(), " hangs", "which is said: %s", getenv("FAULT"));
    began = now_ms();
    group = group_on("auto", "auto", longer);
    ok(in_time(began, longer), "another one is made in time");
    is_str(muster_group_backend(group), "local", "without");
    muster_group_describe(group, false, &text);
    has_str(text != NULL ? text : "", " hangs", "which it says");
    muster_free(text);
    int32_t here = 1;
    ok(sum_of(group, &here, 1, NULL) == MUSTER_OK && here == size, "and works");
    frees_soon(group, "it has nothing to do with the driver");
    ranks_barrier();
}

/* The driver hangs in one call, and then in another one which is made for each buffer. */
static void locating_hangs(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    muster_group *first = group_on("first", "nccl", SHORT);
    muster_group *second = group_on("second", "nccl", T);
    int32_t *here = gpu_alloc(GPU_HOST, 1 << 20);
    ranks_barrier();
    set_faults("cudaMalloc:1+:hang,cuPointerGetAttributes:3+:hang");
    ok(sum_of(first, here, 1 << 18, NULL) != MUSTER_OK, "the driver hangs");
    int64_t began = now_ms();
    is_status(sum_of(second, here, 1, NULL), MUSTER_ERR_TIMEOUT, "nothing else gets far");
    ok(in_time(began, SECOND), "soon");
    has_str(muster_last_error(), "can't find out where a buffer is: CUDA has not come back",
            "and says why");
    frees_soon(first, "the driver hangs");
    frees_soon(second, "the driver hangs");
    ranks_barrier();
}

/* FAULT names what hangs in an operation on BACKEND, on memory of the device or, with HOST, not. */
static void operation_hangs(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    muster_group *group = short_group_on("world", getenv("BACKEND"));
    void *buffer = gpu_alloc(getenv("HOST") != NULL ? GPU_HOST : GPU_DEVICE, 1 << 20);
    set_faults(getenv("FAULT"));
    int64_t began = now_ms();
    muster_status status = sum_of(group, buffer, 1 << 18, NULL);
    ok(status != MUSTER_OK, "the operation fails");
    ok(in_time(began, SHORT + SECOND), "in time");
    has_str(muster_last_error(), "CUDA", "which is said: %s", getenv("FAULT"));
    frees_soon(group, getenv("FAULT"));
    ranks_barrier();
}

/* FAULT names what hangs when memory is given back; BACKEND gets some for each of these calls. */
static void freeing_hangs(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    muster_group *group = group_on("world", getenv("BACKEND"), T);
    void *there = gpu_alloc(GPU_DEVICE, 4), *here = gpu_alloc(GPU_HOST, 4);
    is_status(sum_of(group, there, 1, NULL), MUSTER_OK, "memory of the device");
    is_status(sum_of(group, here, 1, NULL), MUSTER_OK, "memory of the host");
    ranks_barrier();
    set_faults(getenv("FAULT"));
    frees_soon(group, getenv("FAULT"));
    ranks_barrier();
}

/* ---- what is busy ---- */

/* Rank 0 begins an operation of the first group, which rank 1 comes to much later. */
enum { LATER = 2500 };

static muster_work *begin(muster_group *busy, int rank, void *there)
{
    muster_work *work = NULL;
    if (rank == 0 && sum_of(busy, there, COUNT, &work) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    return work;
}

/* 1 point. */
static void finish(muster_group *busy, int rank, void *there, muster_work *work)
{
    if (rank == 1)
        is_status(sum_of(busy, there, COUNT, NULL), MUSTER_OK, "the other group's operation");
    else
        is_status(muster_work_wait(work, -1), MUSTER_OK, "the other group's operation");
    muster_work_free(work);
    ranks_barrier();
}

static void freed_beside(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    muster_group *busy = group_on("busy", "nccl", T), *other = group_on("other", "nccl", T);
    void *there = gpu_alloc(GPU_DEVICE, COUNT * 4), *here = gpu_alloc(GPU_HOST, COUNT * 4);
    is_status(sum_of(other, here, COUNT, NULL), MUSTER_OK, "host memory in another group");
    ranks_barrier();
    muster_work *work = begin(busy, rank, there);
    frees_soon(other, "the device is busy");
    if (rank == 1)
        sleep_ms(LATER);
    finish(busy, rank, there, work);
    muster_group_free(busy);
    gpu_free(GPU_HOST, here);
    ranks_barrier();
}

/* An operation of the other group needs more room than it has. */
static void grows_beside(int rank, int size)
{
    enum { LARGE = 200000 };
    (void)size;
    gpu_take(rank);
    int64_t timeout_ms = (int64_t)(LATER * ranks_time_factor());
    muster_group *busy = group_on("busy", "nccl", T * 4),
                 *other = group_on("other", "nccl", timeout_ms);
    void *there = gpu_alloc(GPU_DEVICE, COUNT * 4), *here = gpu_alloc(GPU_HOST, LARGE * 4);
    is_status(sum_of(other, here, COUNT, NULL), MUSTER_OK, "host memory in another group");
    ranks_barrier();
    muster_work *work = begin(busy, rank, there);
    ranks_barrier();
    is_status(sum_of(other, here, LARGE, NULL), MUSTER_OK, "more of it");
    finish(busy, rank, there, work);
    frees_soon(other, "nothing is busy");
    ranks_barrier();
    frees_soon(busy, "nothing is busy");
    gpu_free(GPU_HOST, here);
    ranks_barrier();
}

#define HANGS(words, count, function, ...)                                                         \
    {                                                                                              \
        .name = words, .size = 2, .points = count, .body = function,                               \
        .environment = (const char *const[])                                                       \
        {                                                                                          \
            "ASAN_OPTIONS=detect_leaks=0", __VA_ARGS__, NULL                                       \
        }                                                                                          \
    }
#define DRIVER(fault) HANGS("driver: " fault, 8, driver_hangs, "FAULT=" fault)
#define OPENING(fault) HANGS("opening: " fault, 3, opening_hangs, "FAULT=" fault)
#define BLAMES(who, fault, words)                                                                  \
    HANGS("blame: " fault, 4, opening_blames, "WHO=" who, "FAULT=" fault, "WORDS=" words)
#define OPERATION(backend, fault, ...)                                                             \
    HANGS(backend ": " fault, 4, operation_hangs, "BACKEND=" backend, "FAULT=" fault, __VA_ARGS__)
#define FREEING(backend, fault)                                                                    \
    HANGS("freeing " backend ": " fault, 3, freeing_hangs, "BACKEND=" backend, "FAULT=" fault)

static const struct ranks_case cases[] = {
    HANGS("abort", 4, abort_hangs, "X="),
    DRIVER("cuInit:1+:hang"),
    DRIVER("cudaGetDeviceCount:1+:hang"),
    DRIVER("cuDeviceGetUuid:1+:hang"),
    DRIVER("cudaDeviceGetPCIBusId:1+:hang"),
    DRIVER("cuDevicePrimaryCtxGetState:1+:hang"),
    HANGS("locating", 6, locating_hangs, "X="),
    OPENING("cudaStreamCreateWithPriority:1+:hang"),
    OPENING("cudaMalloc:1+:hang"),
    OPENING("cudaHostAlloc:1+:hang"),
    OPENING("cudaMemcpyAsync:1+:hang"),
    OPENING("cudaEventQuery:1+:hang"),
    BLAMES("0", "ncclGetUniqueId:1+:hang", "making NCCL's unique id on device 0"),
    BLAMES("1", "cudaStreamCreateWithPriority:1+:hang",
           "can't make a stream: CUDA has not come back from that on device 1"),
    OPERATION("nccl", "cudaEventQuery:1+:hang", "X="),
    OPERATION("nccl", "cudaEventRecord:1+:hang", "X="),
    OPERATION("nccl", "cudaMalloc:1+:hang", "HOST=1"),
    OPERATION("nccl", "cudaMemcpyAsync:1+:hang", "HOST=1"),
    OPERATION("gloo", "cudaHostAlloc:1+:hang", "X="),
    OPERATION("gloo", "cudaMemcpyAsync:1+:hang", "X="),
    OPERATION("gloo", "cudaEventQuery:1+:hang", "X="),
    FREEING("nccl", "cudaFree:1+:hang"),
    FREEING("nccl", "cudaFreeHost:1+:hang"),
    FREEING("nccl", "cudaStreamDestroy:1+:hang"),
    FREEING("nccl", "cudaEventDestroy:1+:hang"),
    FREEING("nccl", "ncclCommFinalize:1+:hang"),
    FREEING("gloo", "cudaFreeHost:1+:hang"),
    {.name = "freed_beside", .size = 2, .points = 3, .body = freed_beside},
    {.name = "grows_beside", .size = 2, .points = 5, .body = grows_beside},
};

int main(int argc, char **argv)
{
    needs_gloo();
    standin_use("2.28");
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}

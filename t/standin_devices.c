/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stand-in for hardware: devices, drivers that are of no use, and memory that the host can't
 * touch.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ranks.h"
#include "standin.h"
#include "standin_api.h"

/* ---- which devices there are ---- */

static void usual(int rank, int size)
{
    (void)rank, (void)size;
    int count = 0, version = 0, device = -1, active = -1;
    unsigned flags;
    cu_context context = NULL;
    cu_uuid first, second;
    char bus_id[32];
    standin_use("2.28");
    const standin_api *api = standin_api_get();
    is_int(api->cudaGetDeviceCount(&count), CUDA_OK, "devices are counted");
    is_int(count, 8, "eight");
    is_int(api->cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_OK,
           "the runtime's call has initialised the driver");
    ok(active == 0 && api->cuCtxGetCurrent(&context) == CUDA_OK && context == NULL,
       "no device is in use");
    ok(api->cudaGetDevice(&device) == CUDA_OK && device == 0, "a thread begins with device 0");
    is_int(api->cudaSetDevice(8), CUDA_ERROR_INVALID_DEVICE, "there is no ninth");
    is_int(api->cudaGetLastError(), CUDA_ERROR_INVALID_DEVICE, "an error is remembered");
    is_int(api->cudaGetLastError(), CUDA_OK, "until it is asked for");
    api->cudaSetDevice(3);
    api->cuDevicePrimaryCtxGetState(3, &flags, &active);
    ok(active == 1 && api->cuCtxGetCurrent(&context) == CUDA_OK && context != NULL,
       "device 3 is in use and current");
    api->cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), 3);
    is_str(bus_id, "0000:04:00.0", "it has an address");
    api->cuDeviceGetUuid_v2(&first, 3);
    api->cuDeviceGetUuid_v2(&second, 4);
    ok(memcmp(&first, &second, sizeof(first)) != 0, "and an identity of its own");
    api->cudaRuntimeGetVersion(&version);
    is_int(version, 13000, "the runtime is 13.0");
}

static void listed(int rank, int size)
{
    (void)rank, (void)size;
    int count = 0, major = 0, minor = 0;
    char bus_id[32];
    cu_uuid whole, slice;
    standin_use("2.28");
    const standin_api *api = standin_api_get();
    api->cudaGetDeviceCount(&count);
    is_int(count, 3, "those that can be seen are counted");
    api->cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), 0);
    is_str(bus_id, "0004:05:00.0", "by their UUID");
    api->cudaDeviceGetAttribute(&major, CUDA_ATTRIBUTE_COMPUTE_MAJOR, 1);
    api->cudaDeviceGetAttribute(&minor, CUDA_ATTRIBUTE_COMPUTE_MINOR, 1);
    ok(major == 7 && minor == 5, "by their number");
    is_int(api->cudaDeviceGetAttribute(&major, 1, 1), 1, "there are no other attributes");
    api->cuDeviceGetUuid(&whole, 2);
    api->cuDeviceGetUuid_v2(&slice, 2);
    ok(memcmp(&whole, &slice, sizeof(whole)) != 0, "a slice is not the whole device");
}

/* What the first call is answered with, and the driver's version. */
static void is_useless(cuda_error error, cuda_error version_error, int driver)
{
    int count = -1, version = -1;
    const standin_api *api = standin_api_get();
    is_int(api->cudaGetDeviceCount(&count), error, "counting devices says %d", (int)error);
    is_int(count, -1, "and writes nothing");
    is_int(api->cudaDriverGetVersion(&version), version_error, "the driver's version is asked");
    is_int(version, driver, "it is %d", driver);
}

static void no_driver(int rank, int size)
{
    (void)rank, (void)size;
    standin_use("2.28");
    setenv("MUSTER_CUDA_LIBRARY", "/nowhere/libcuda.so.1", 1);
    is_useless(CUDA_ERROR_DRIVER_TOO_OLD, CUDA_OK, 0);
}

static void stub_driver(int rank, int size)
{
    (void)rank, (void)size;
    standin_use("2.28");
    is_useless(CUDA_ERROR_STUB, CUDA_ERROR_STUB, -1);
    is_int(standin_api_get()->cuInit(0), CUDA_ERROR_STUB, "so does the driver itself");
}

static void old_driver(int rank, int size)
{
    (void)rank, (void)size;
    int count = 0;
    standin_use("2.28");
    is_useless(CUDA_ERROR_DRIVER_TOO_OLD, CUDA_OK, 12020);
    standin_use_runtime("12");
    cuda_error (*get_count)(int *);
    *(void **)&get_count = standin_function("cudaGetDeviceCount");
    is_int(get_count(&count), CUDA_OK, "an older runtime works with it");
    is_int(count, 8, "and finds the devices");
}

static void no_devices(int rank, int size)
{
    (void)rank, (void)size;
    standin_use("2.28");
    is_useless(CUDA_ERROR_NO_DEVICE, CUDA_OK, 13000);
}

/* ---- memory ---- */

static sigjmp_buf out;

static void on_fault(int signal)
{
    (void)signal;
    siglongjmp(out, 1);
}

static bool faults(volatile char *memory, bool writes)
{
    struct sigaction action = {.sa_handler = on_fault}, before;
    sigaction(SIGSEGV, &action, &before);
    bool faulted = sigsetjmp(out, 1) != 0;
    if (!faulted && writes)
        *memory = 1;
    else if (!faulted)
        (void)*memory;
    sigaction(SIGSEGV, &before, NULL);
    return faulted;
}

static void untouchable(int rank, int size)
{
    (void)rank, (void)size;
    enum { SIZE = 10000 };
    char *device, *pinned, *managed, seen[SIZE] = {0}, out_of[SIZE];
    int ends[2];
    standin_use("2.28");
    const standin_api *api = standin_api_get();
    device = standin_upload(seen, SIZE);
    ok(faults(device, false) && faults(device + SIZE - 1, true), "the host can't touch it");
    is_int(pipe(ends) == 0 ? write(ends[1], device, SIZE) : 0, -1, "nor can the kernel");
    is_int(api->cudaHostAlloc((void **)&pinned, SIZE, CUDA_HOST_ALLOC_PORTABLE), CUDA_OK,
           "pinned memory is there");
    is_int(api->cudaMallocManaged((void **)&managed, SIZE, 1), CUDA_OK, "managed memory, too");
    ok(!faults(pinned, true) && !faults(managed, true), "these can be touched");
    memset(pinned, 7, SIZE);
    api->cudaMemcpy(device, pinned, SIZE, CUDA_COPY_DEFAULT);
    api->cudaMemcpy(managed, device, SIZE, CUDA_COPY_DEFAULT);
    is_int(managed[SIZE - 1], 7, "copies find them all");
    is_int(api->cudaMemcpy(device + 1, pinned, SIZE, CUDA_COPY_DEFAULT), 1,
           "a copy beyond the end is refused");
    is_int(api->cudaMemcpy(out_of, device, SIZE, CUDA_COPY_HOST_TO_DEVICE), 1,
           "and one that names the wrong kinds");
    is_int(api->cudaFree(device + 1), 1, "memory is freed by its beginning");
    is_int(api->cudaFree(device), CUDA_OK, "it is freed");
    is_int(api->cudaFree(device), 1, "once");
    api->cudaFreeHost(pinned);
    api->cudaFree(managed);
    is_int(api->cudaMalloc((void **)&device, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY, "not too much");
}

static void whose(int rank, int size)
{
    (void)rank, (void)size;
    char host[8], *device, *pinned, *managed;
    standin_use("2.28");
    const standin_api *api = standin_api_get();
    api->cudaSetDevice(2);
    device = standin_upload(NULL, 64);
    api->cudaHostAlloc((void **)&pinned, 64, 0);
    api->cudaMallocManaged((void **)&managed, 64, 1);
    const struct {
        const char *name;
        char *pointer;
        int type, device, driver_type, managed;
    } rows[] = {{"device memory", device + 63, CUDA_MEMORY_DEVICE, 2, CU_MEMORY_DEVICE, 0},
                {"pinned memory", pinned, CUDA_MEMORY_HOST, 2, CU_MEMORY_HOST, 0},
                {"managed memory", managed, CUDA_MEMORY_MANAGED, 2, CU_MEMORY_DEVICE, 1},
                {"other memory", host, CUDA_MEMORY_UNREGISTERED, -2, 0, 0},
                {"what lies behind", device + 64, CUDA_MEMORY_UNREGISTERED, -2, 0, 0}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        cuda_pointer_attributes told = {.reserved = {1}};
        unsigned type = 9, is_managed = 0;
        int of = -1;
        cu_attribute asked[] = {CU_ATTRIBUTE_MEMORY_TYPE, CU_ATTRIBUTE_IS_MANAGED,
                                CU_ATTRIBUTE_DEVICE_ORDINAL};
        void *values[] = {&type, &is_managed, &of};
        api->cudaPointerGetAttributes(&told, rows[i].pointer);
        ok((int)told.type == rows[i].type && told.device == rows[i].device && told.reserved[0] == 0,
           "%s, as the runtime says", rows[i].name);
        api->cuPointerGetAttributes(3, asked, values, (cu_pointer)(uintptr_t)rows[i].pointer);
        ok((int)type == rows[i].driver_type && (int)is_managed == rows[i].managed &&
               of == (rows[i].device < 0 ? 0 : rows[i].device),
           "%s, as the driver says", rows[i].name);
    }
    api->cudaFree(device);
    api->cudaFree(managed);
    api->cudaFreeHost(pinned);
}

static void on_demand(int rank, int size)
{
    (void)rank, (void)size;
    void *memory = NULL;
    standin_use("2.28");
    const standin_api *api = standin_api_get();
    setenv("MUSTER_STANDIN_FAULTS", "cudaFree:1:719,cudaMalloc@3:1:3,cudaMalloc:2+:2", 1);
    is_int(api->cudaMalloc(&memory, 8), CUDA_OK, "the first call is well");
    is_int(api->cudaFree(memory), 719, "another function fails");
    is_int(api->cudaFree(memory), CUDA_OK, "once");
    is_int(api->cudaMalloc(&memory, 8), 2, "the second call fails");
    is_int(api->cudaMalloc(&memory, 8), 2, "and the third");
    setenv("MUSTER_STANDIN_FAULTS", "cudaMalloc:1:0ms", 1);
    is_int(api->cudaMalloc(&memory, 8), CUDA_OK, "a sleep is no error");
    unsetenv("MUSTER_STANDIN_FAULTS");
    api->cudaFree(memory);
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit((int)api->cudaMalloc(&memory, 8));
    waitpid(child, &status, 0);
    is_int(WEXITSTATUS(status), CUDA_ERROR_INITIALIZATION, "a child after fork has no device");
}

int main(int argc, char **argv)
{
    static const char *const list[] = {
        "MUSTER_STANDIN_DEVICES=bus=0004:04:00.0/cc=7.5,"
        "bus=0004:05:00.0/uuid=GPU-0123456789abcdef-0123-456789abcdef/name=T4,slice=0,-",
        "CUDA_VISIBLE_DEVICES=GPU-01234567,0,2,9,1", NULL};
    static const char *const stub[] = {"MUSTER_STANDIN_DRIVER=stub", NULL};
    static const char *const old[] = {"MUSTER_STANDIN_DRIVER=12.2", NULL};
    static const char *const none[] = {"MUSTER_STANDIN_DEVICES=0", NULL};
    static const char *const hidden[] = {"CUDA_VISIBLE_DEVICES=", NULL};
    static const struct ranks_case cases[] = {
        {.name = "usual", .size = 1, .points = 12, .body = usual},
        {.name = "listed", .size = 1, .points = 5, .body = listed, .environment = list},
        {.name = "no driver", .size = 1, .points = 4, .body = no_driver},
        {.name = "stub", .size = 1, .points = 5, .body = stub_driver, .environment = stub},
        {.name = "old", .size = 1, .points = 6, .body = old_driver, .environment = old},
        {.name = "none", .size = 1, .points = 4, .body = no_devices, .environment = none},
        {.name = "hidden", .size = 1, .points = 4, .body = no_devices, .environment = hidden},
        {.name = "memory", .size = 1, .points = 12, .body = untouchable},
        {.name = "whose", .size = 1, .points = 10, .body = whose},
        {.name = "on demand", .size = 1, .points = 7, .body = on_demand},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}

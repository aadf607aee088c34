/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The device table of the nccl backend, over the stand-in for hardware: devices, memory, streams
 * and copies, what fails and how, and that no call leaves a trace in its thread or on a device that
 * it was not told to use.
 */
#include "config.h"

#include "tap.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/host.h"
#include "base/deadline.h"
#include "base/error.h"
#include "device.h"
#include "nccl_api.h"
#include "standin.h"
#include "standin_api.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { T_MS = 30000 };

static const muster_device_table *table = &nccl_devices;
static const standin_api *cuda;

/* ---- traces ---- */

/* Whether this thread has no context, and device 0 has not been made use of. */
static bool no_trace(void)
{
    cu_context context = NULL;
    unsigned flags = 0;
    int active = 1;
    return cuda->cuCtxGetCurrent(&context) == CUDA_OK && context == NULL &&
           cuda->cuDevicePrimaryCtxGetState(0, &flags, &active) == CUDA_OK && active == 0;
}

/* ---- what devices there are ---- */

static void check_before(void)
{
    muster_memory_place place = {.kind = MUSTER_MEMORY_DEVICE};
    int device = 5;
    is_int(table->in_use(), false, "nothing has loaded the driver");
    is_int(table->current(&device), MUSTER_OK, "so there is no current device");
    is_int(device, -1, "none at all");
    is_int(table->locate(&place, &place), MUSTER_OK, "and all memory");
    is_int(place.kind, MUSTER_MEMORY_HOST, "is the host's");
    is_int(table->in_use(), false, "asking has loaded nothing");
}

static void check_devices(void)
{
    static const struct {
        const char *uuid, *bus_id;
        bool slice;
        int major, minor;
    } expected[] = {
        {"GPU-00000000-0000-0000-0000-00000000000a", "0004:04:00.0", false, 8, 0},
        {"GPU-00000000-0000-0000-0000-00000000000b", "0000:3b:00.0", false, 9, 0},
        {"MIG-51000000-0000-0000-0000-000000000002", "0000:02:00.0", true, 9, 0},
    };
    int count = 0, device = 5;
    is_int(table->count(&count), MUSTER_OK, "the devices are counted: %s", muster_last_error());
    is_int(count, COUNT(expected), "three");
    is_int(table->in_use(), true, "now the driver is loaded");
    is_int(table->current(&device), MUSTER_OK, "this thread");
    is_int(device, -1, "has no current one yet");
    for (int i = 0; i < (int)COUNT(expected); i++) {
        muster_device_info info;
        memset(&info, 0x77, sizeof(info));
        is_int(table->describe(i, &info), MUSTER_OK, "device %d: %s", i, muster_last_error());
        is_str(info.uuid, expected[i].uuid, "its UUID");
        is_str(info.bus_id, expected[i].bus_id, "its bus id, in small letters");
        is_int(info.slice, expected[i].slice, "whether it is a slice");
        ok(info.name[0] != '\0', "its name");
        ok(info.compute_major == expected[i].major && info.compute_minor == expected[i].minor,
           "what it can do");
    }
    ok(no_trace(), "no device was made use of");
}

static void *current_on_thread(void *device)
{
    table->current(device);
    return NULL;
}

static int current_elsewhere(void)
{
    pthread_t thread;
    int device = 5;
    pthread_create(&thread, NULL, current_on_thread, &device);
    pthread_join(thread, NULL);
    return device;
}

/* ---- memory ---- */

static void check_place(const void *pointer, muster_memory_kind kind, int device, const char *name)
{
    muster_memory_place place = {.device = 7};
    is_int(table->locate(pointer, &place), MUSTER_OK, "%s: %s", name, muster_last_error());
    ok(place.kind == kind && place.device == device, "is where it is: kind %d, device %d",
       (int)place.kind, place.device);
}

static void check_memory(void)
{
    void *memory = NULL, *pinned = NULL;
    char own[64];
    is_int(table->alloc_device(1, 4096, T_MS, &memory), MUSTER_OK, "memory of device 1: %s",
           muster_last_error());
    is_int(table->alloc_pinned(1, 4096, T_MS, &pinned), MUSTER_OK, "pinned memory: %s",
           muster_last_error());
    ok(no_trace(), "only device 1 was made use of");
    memset(pinned, 1, 4096);
    check_place(memory, MUSTER_MEMORY_DEVICE, 1, "memory of a device");
    check_place((char *)memory + 4095, MUSTER_MEMORY_DEVICE, 1, "its last byte");
    check_place(pinned, MUSTER_MEMORY_HOST, -1, "pinned memory");
    check_place(own, MUSTER_MEMORY_HOST, -1, "memory of the host");
    check_place(NULL, MUSTER_MEMORY_HOST, -1, "no memory");
    table->free_memory(1, memory);
    table->free_memory(1, pinned);
    table->free_memory(1, NULL);
    check_place(memory, MUSTER_MEMORY_HOST, -1, "memory that was freed");
    ok(no_trace(), "nothing else was made use of");
}

static void check_managed(void)
{
    void *managed = NULL;
    int device = 5;
    cuda->cudaSetDevice(2);
    is_int(table->current(&device), MUSTER_OK, "after cudaSetDevice(2)");
    is_int(device, 2, "the current device is 2");
    is_int(current_elsewhere(), -1, "but not that of another thread");
    is_int(cuda->cudaMallocManaged(&managed, 4096, 1), CUDA_OK, "managed memory");
    check_place(managed, MUSTER_MEMORY_MANAGED, 2, "managed memory");
    void *memory = NULL;
    table->alloc_device(1, 4096, T_MS, &memory);
    table->free_memory(1, memory);
    cuda->cudaGetDevice(&device);
    is_int(device, 2, "after work on device 1 the current one is 2 again");
    cuda->cudaFree(managed);
    cuda->cudaSetDevice(0);
    table->current(&device);
    is_int(device, 0, "device 0, chosen");
    is_int(current_elsewhere(), 0, "is in use, so that it is the current one of other threads");
}

/* ---- copies ---- */

static void fill_bytes(unsigned char *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 31 + seed);
}

/* To a device and back, one stream behind the other's copy. */
static void check_copies(int device, bool high, size_t size)
{
    void *stream = NULL, *memory = NULL, *out = NULL, *back = NULL;
    muster_copy *there = NULL, *again = NULL;
    bool got = table->stream_open(device, high, T_MS, &stream) == MUSTER_OK &&
               table->alloc_device(device, size, T_MS, &memory) == MUSTER_OK &&
               table->alloc_pinned(device, size, T_MS, &out) == MUSTER_OK &&
               table->alloc_pinned(device, size, T_MS, &back) == MUSTER_OK;
    if (!ok(got, "%zu bytes to device %d", size, device)) {
        diag("%s", muster_last_error());
        skip(4, "no memory");
        return;
    }
    fill_bytes(out, size, 5);
    memset(back, 0, size);
    is_int(table->copy_start(device, stream, memory, out, size, T_MS, &there), MUSTER_OK,
           "there: %s", muster_last_error());
    is_int(table->copy_start(device, stream, back, memory, size, T_MS, &again), MUSTER_OK,
           "and back: %s", muster_last_error());
    muster_status last = table->copy_wait(again, patient(5000));
    muster_status first = table->copy_wait(there, patient(5000));
    ok(last == MUSTER_OK && first == MUSTER_OK, "both are done");
    ok(memcmp(out, back, size) == 0, "the bytes are the same");
    table->free_memory(device, memory);
    table->free_memory(device, out);
    table->free_memory(device, back);
    table->stream_close(device, stream);
    table->stream_close(device, NULL);
}

static void check_slow_copy(void)
{
    void *stream = NULL, *memory = NULL, *out = NULL;
    muster_copy *copy = NULL;
    table->stream_open(1, false, T_MS, &stream);
    table->alloc_device(1, 64, T_MS, &memory);
    table->alloc_pinned(1, 64, T_MS, &out);
    setenv("MUSTER_STANDIN_FAULTS", "cudaEventQuery:1+:600", 1);
    table->copy_start(1, stream, memory, out, 64, T_MS, &copy);
    int64_t begun = deadline_now_ns();
    is_int(table->copy_wait(copy, 50), MUSTER_ERR_TIMEOUT, "a copy that takes too long");
    int64_t ms = (deadline_now_ns() - begun) / 1000000;
    ok(ms >= 50 && ms < patient(300), "is waited for no longer than that: %lld ms", (long long)ms);
    has_str(muster_last_error(), "a copy was not done within 50 ms", "and it is said");
    unsetenv("MUSTER_STANDIN_FAULTS");
    table->copy_start(1, stream, memory, out, 64, T_MS, &copy);
    is_int(table->copy_wait(copy, patient(5000)), MUSTER_OK, "the next one comes behind it");
    table->free_memory(1, memory);
    table->free_memory(1, out);
    table->stream_close(1, stream);
}

/* ---- errors ---- */

static void check_wrong_devices(void)
{
    muster_device_info info;
    muster_copy *copy = NULL;
    void *got = NULL;
    static const int wrong[] = {-1, 3, 1 << 30};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        int device = wrong[i];
        is_int(table->describe(device, &info), MUSTER_ERR_ARGUMENT, "device %d", device);
        has_str(muster_last_error(), "this process has 3", "is none");
        is_int(table->alloc_device(device, 8, T_MS, &got), MUSTER_ERR_ARGUMENT, "has no memory");
        is_int(table->alloc_pinned(device, 8, T_MS, &got), MUSTER_ERR_ARGUMENT, "nor pins any");
        is_int(table->stream_open(device, true, T_MS, &got), MUSTER_ERR_ARGUMENT, "no stream");
        is_int(table->copy_start(device, NULL, &info, &info, 8, T_MS, &copy), MUSTER_ERR_ARGUMENT,
               "no copy");
        table->free_memory(device, &info);
        table->stream_close(device, &info);
    }
    ok(got == NULL && copy == NULL, "and nothing was written");
}

typedef enum device_call { DESCRIBE, DEVICE, PINNED, STREAM, COPY, PLACE, CURRENT } device_call;

/* Calls a function of CUDA of which is to fail. */
static muster_status call_with(device_call what, const char *fault)
{
    static char out[64];
    muster_device_info info;
    muster_memory_place place;
    muster_copy *copy = NULL;
    void *got = NULL;
    int device;
    error_set(MUSTER_OK, "%s", "");
    setenv("MUSTER_STANDIN_FAULTS", fault, 1);
    muster_status status = MUSTER_ERR_INTERNAL;
    switch (what) {
    case DESCRIBE:
        status = table->describe(1, &info);
        break;
    case DEVICE:
        status = table->alloc_device(1, 8, T_MS, &got);
        break;
    case PINNED:
        status = table->alloc_pinned(1, 8, T_MS, &got);
        break;
    case STREAM:
        status = table->stream_open(1, false, T_MS, &got);
        break;
    case COPY:
        status = table->copy_start(1, NULL, out, out, 8, T_MS, &copy);
        if (status == MUSTER_OK)
            status = table->copy_wait(copy, patient(5000));
        break;
    case PLACE:
        status = table->locate(out, &place);
        break;
    case CURRENT:
        status = table->current(&device);
        break;
    }
    unsetenv("MUSTER_STANDIN_FAULTS");
    return status;
}

static void check_faults(void)
{
    static const struct {
        device_call what;
        const char *fault;
        muster_status status;
        const char *part;
    } rows[] = {
        {DEVICE, "cudaMalloc:1:2", MUSTER_ERR_NO_MEMORY,
         "can't take 8 bytes of the memory of device 1: out of memory (cudaErrorMemoryAllocation, "
         "2)"},
        {DEVICE, "cudaMalloc:1:999", MUSTER_ERR_FAILED, "of device 1: "},
        {DEVICE, "cuCtxPushCurrent_v2:1:201", MUSTER_ERR_FAILED, "can't enter device 1: "},
        {PINNED, "cudaHostAlloc:1:2", MUSTER_ERR_NO_MEMORY, "8 bytes of pinned memory of device 1"},
        {STREAM, "cudaStreamCreateWithPriority:1:2", MUSTER_ERR_NO_MEMORY, "can't make a stream: "},
        {STREAM, "cudaDeviceGetStreamPriorityRange:1:999", MUSTER_ERR_FAILED,
         "can't make a stream"},
        {COPY, "cudaEventCreateWithFlags:1:2", MUSTER_ERR_NO_MEMORY, "can't make an event: "},
        {COPY, "cudaMemcpyAsync:1:700", MUSTER_ERR_FAILED, "can't start a copy: "},
        {COPY, "cudaEventRecord:1:400", MUSTER_ERR_FAILED, "can't start a copy: "},
        {COPY, "cudaEventQuery:1:700", MUSTER_ERR_FAILED, "a copy has failed: "},
        {PLACE, "cuPointerGetAttributes:1:999", MUSTER_ERR_FAILED, "can't find out where a buffer"},
        {CURRENT, "cudaGetDevice:1:999", MUSTER_ERR_FAILED, "can't find out the current device: "},
        {DESCRIBE, "cudaDeviceGetPCIBusId:1:101", MUSTER_ERR_FAILED, "can't describe device 1: "},
        {DESCRIBE, "cudaDeviceGetAttribute:2:1", MUSTER_ERR_FAILED, "can't describe device 1: "},
    };
    cu_context before = NULL, after = NULL;
    cuda->cuCtxGetCurrent(&before);
    for (size_t i = 0; i < COUNT(rows); i++) {
        is_int(call_with(rows[i].what, rows[i].fault), rows[i].status, "%s", rows[i].fault);
        has_str(muster_last_error(), rows[i].part, "and why");
    }
    cuda->cuCtxGetCurrent(&after);
    ok(before == after, "the thread is as it was");
    is_int(cuda->cudaGetLastError(), CUDA_OK, "no error is left for the program to find");
}

/* ---- many at once, and a child ---- */

static void *work_on_thread(void *good)
{
    muster_memory_place place;
    void *memory = NULL;
    for (int i = 0; i < 50; i++) {
        int device = i % 3;
        if (table->alloc_device(device, 64, T_MS, &memory) != MUSTER_OK ||
            table->locate(memory, &place) != MUSTER_OK || place.device != device)
            return NULL;
        table->free_memory(device, memory);
    }
    *(bool *)good = true;
    return NULL;
}

static void check_threads(void)
{
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    bool good[THREADS] = {false};
    int all = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work_on_thread, &good[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        all += good[i];
    }
    is_int(all, THREADS, "threads work at once");
}

static int child_answers(void)
{
    muster_device_info info;
    muster_memory_place place;
    void *got = NULL;
    int number = 0;
    bool all = table->count(&number) == MUSTER_ERR_FORKED && table->current(&number) == MUSTER_OK &&
               number == -1 && table->describe(0, &info) == MUSTER_ERR_FORKED &&
               table->locate(&info, &place) == MUSTER_OK && place.kind == MUSTER_MEMORY_HOST &&
               table->alloc_device(0, 8, T_MS, &got) == MUSTER_ERR_FORKED &&
               strstr(muster_last_error(), "child, made by fork") != NULL;
    table->free_memory(0, &info);
    table->stream_close(0, &info);
    return all ? 0 : 1;
}

static void check_fork(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(child_answers());
    waitpid(child, &status, 0);
    is_int(status, 0, "in a child made by fork there is the host's memory alone");
}

int main(void)
{
    enum { PLACES = 7 };
    setenv("MUSTER_STANDIN_DEVICES",
           "bus=0004:04:00.0/uuid=GPU-00000000-0000-0000-0000-00000000000a/cc=8.0,"
           "bus=0000:3B:00.0/uuid=GPU-00000000-0000-0000-0000-00000000000b/cc=9.0,"
           "cc=9.0/slice=1",
           1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    standin_use("2.28");
    nccl_host = &host_functions;
    plan(6 + 5 + 3 * 6 + 1 + 4 + PLACES * 2 + 7 + 4 * 5 + 4 + 3 * 6 + 1 + 14 * 2 + 2 + 1 + 1);
    check_before();
    cuda = standin_api_get();
    check_devices();
    check_memory();
    check_managed();
    check_copies(0, false, 1);
    check_copies(1, true, 4097);
    check_copies(2, false, (size_t)1 << 20);
    check_copies(1, false, 64);
    check_slow_copy();
    check_wrong_devices();
    check_faults();
    check_threads();
    check_fork();
    return done();
}

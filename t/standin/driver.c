/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: the state of its
 * driver, and the table that its runtime and its NCCL use.
 *
 * MUSTER_STANDIN_DRIVER is "stub" (every call is answered with 34, as by the toolkit's empty
 * driver), the number of another answer, or the version that it tells ("12.4"; "13.0" if not set).
 */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "devices.h"
#include "driver_state.h"
#include "memory.h"
#include "stream.h"

static pid_t owner; /* the process that began to use it */
static cu_result begun = CUDA_ERROR_INITIALIZATION;
static int version = 13000;
static atomic_int poisoned;
static atomic_bool initialised;
static atomic_bool in_use[DEVICES_MOST];

/* ---- the state of the whole ---- */

static void driver_begin(void)
{
    int major = 13, minor = 0, count = 0;
    const char *given = getenv("MUSTER_STANDIN_DRIVER");
    owner = getpid();
    devices_visible(&count);
    begun = count > 0 ? CUDA_OK : CUDA_ERROR_NO_DEVICE;
    if (given == NULL)
        return;
    if (strcmp(given, "stub") == 0)
        begun = CUDA_ERROR_STUB;
    else if (strchr(given, '.') == NULL)
        begun = (cu_result)atoi(given);
    else if (sscanf(given, "%d.%d", &major, &minor) == 2)
        version = major * CUDA_VERSION_MAJOR_UNIT + minor * CUDA_VERSION_MINOR_UNIT;
}

bool driver_initialised(void)
{
    return atomic_load(&initialised);
}

cu_result driver_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, driver_begin);
    if (owner != getpid())
        return CUDA_ERROR_INITIALIZATION;
    cu_result error = (cu_result)atomic_load(&poisoned);
    return error != CUDA_OK ? error : begun;
}

static void driver_poison(cu_result error)
{
    int none = CUDA_OK;
    atomic_compare_exchange_strong(&poisoned, &none, (int)error);
}

int driver_version(void)
{
    driver_ready();
    return version;
}

int driver_num_devices(void)
{
    int count = 0;
    devices_visible(&count);
    return count;
}

const standin_device *driver_device(int ordinal)
{
    int count = 0;
    const standin_device *devices = devices_visible(&count);
    return ordinal >= 0 && ordinal < count ? &devices[ordinal] : NULL;
}

cu_result driver_start(void)
{
    atomic_store(&initialised, true);
    return driver_ready();
}

/* ---- the devices that a thread works on, the last one being current ---- */

enum { CONTEXTS = 16 };
static _Thread_local int contexts[CONTEXTS];
static _Thread_local int num_contexts;

int driver_current(void)
{
    return num_contexts > 0 ? contexts[num_contexts - 1] : -1;
}

bool driver_push(int device)
{
    if (num_contexts == CONTEXTS)
        return false;
    contexts[num_contexts++] = device;
    return true;
}

void driver_pop(void)
{
    num_contexts -= num_contexts > 0;
}

bool driver_in_use(int device)
{
    return atomic_load(&in_use[device]);
}

void driver_make_use(int device)
{
    atomic_store(&in_use[device], true);
}

static void driver_set_current(int device)
{
    if (num_contexts == 0)
        driver_push(device);
    contexts[num_contexts - 1] = device;
    driver_make_use(device);
}

/* ---- streams and memory, as the others call them ---- */

static cu_result driver_memory_drop(void *memory)
{
    standin_memory found;
    if (!memory_find(memory, &found))
        return (cu_result)STANDIN_INVALID_VALUE;
    stream_wait_device(found.device);
    return memory_drop(memory);
}

static standin_stream *driver_stream(standin_stream *stream)
{
    int device = driver_current();
    return stream_of(device < 0 ? 0 : device, stream);
}

static cu_result driver_stream_open(unsigned flags, int priority, standin_stream **stream)
{
    return stream_open(driver_current(), flags, priority, stream);
}

static bool driver_stream_known(standin_stream *stream)
{
    return driver_stream(stream) != NULL;
}

static cu_result driver_stream_push(standin_stream *stream, void (*run)(void *what), void *what)
{
    return stream_push(driver_stream(stream), run, what);
}

static cu_result driver_stream_await(standin_stream *stream, standin_mark mark)
{
    return stream_await(driver_stream(stream), mark);
}

static standin_mark driver_stream_mark(standin_stream *stream)
{
    return stream_mark(driver_stream(stream));
}

__attribute__((visibility("default"))) extern const standin_driver standin_driver_table;
const standin_driver standin_driver_table = {
    .ready = driver_start,
    .version = driver_version,
    .num_devices = driver_num_devices,
    .device = driver_device,
    .current = driver_current,
    .set_current = driver_set_current,
    .memory_make = memory_make,
    .memory_drop = driver_memory_drop,
    .memory_find = memory_find,
    .memory_reach = memory_reach,
    .poison = driver_poison,
    .stream_open = driver_stream_open,
    .stream_close = stream_close,
    .stream_known = driver_stream_known,
    .stream_push = driver_stream_push,
    .stream_await = driver_stream_await,
    .stream_mark = driver_stream_mark,
    .mark_reached = stream_reached,
    .mark_wait = stream_wait,
    .device_wait = stream_wait_device,
};

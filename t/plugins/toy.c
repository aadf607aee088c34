/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A backend with devices that opens nothing, to choose by. MUSTER_TOY_DEVICES is how many it has,
 * MUSTER_TOY_CURRENT the current one; MUSTER_TOY_PROBES counts its probes. Built from this file
 * with other definitions:
 *
 *   TOY_NAME     the name in the table
 *   TOY_CALL     the call slot
 *   TOY_LOCATE   the locate slot of its table of devices
 */
#include <stdio.h>
#include <stdlib.h>

#include "muster/backend.h"

#ifndef TOY_CALL
#define TOY_CALL toy_call
#endif
#ifndef TOY_LOCATE
#define TOY_LOCATE toy_locate
#endif

static const muster_host *host;

static int toy_number(const char *name, int otherwise)
{
    const char *value = getenv(name);
    return value == NULL ? otherwise : atoi(value);
}

static muster_status toy_refuse(void)
{
    return host->error(MUSTER_ERR_UNSUPPORTED, "a toy does nothing");
}

/* ---- devices ---- */

static bool toy_in_use(void)
{
    return toy_number("MUSTER_TOY_CURRENT", -1) >= 0;
}

static muster_status toy_count(int *count)
{
    *count = toy_number("MUSTER_TOY_DEVICES", 2);
    return *count < 0 ? toy_refuse() : MUSTER_OK;
}

static muster_status toy_current(int *device)
{
    *device = toy_number("MUSTER_TOY_CURRENT", -1);
    return MUSTER_OK;
}

static muster_status toy_describe(int device, muster_device_info *info)
{
    snprintf(info->name, sizeof(info->name), "Toy %d", device);
    snprintf(info->uuid, sizeof(info->uuid), "GPU-%d", device);
    snprintf(info->bus_id, sizeof(info->bus_id), "0000:0%d:00.0", device);
    return MUSTER_OK;
}

/* Never called where the slot is taken away. */
static inline muster_status toy_locate(const void *pointer, muster_memory_place *place)
{
    (void)pointer;
    place->kind = MUSTER_MEMORY_HOST;
    place->device = -1;
    return MUSTER_OK;
}

static muster_status toy_alloc(int device, size_t size, int64_t timeout_ms, void **memory)
{
    (void)device, (void)size, (void)timeout_ms, (void)memory;
    return toy_refuse();
}

static void toy_free(int device, void *memory)
{
    (void)device, (void)memory;
}

static muster_status toy_stream_open(int device, bool high_priority, int64_t timeout_ms,
                                     void **stream)
{
    (void)device, (void)high_priority, (void)timeout_ms, (void)stream;
    return toy_refuse();
}

static muster_status toy_copy_start(int device, void *stream, void *to, const void *from,
                                    size_t size, int64_t timeout_ms, muster_copy **copy)
{
    (void)device, (void)stream, (void)to, (void)from, (void)size, (void)timeout_ms, (void)copy;
    return toy_refuse();
}

static muster_status toy_copy_wait(muster_copy *copy, int64_t timeout_ms)
{
    (void)copy, (void)timeout_ms;
    return toy_refuse();
}

static const muster_device_table toy_devices = {
    .size = sizeof(muster_device_table),
    .in_use = toy_in_use,
    .count = toy_count,
    .current = toy_current,
    .describe = toy_describe,
    .locate = TOY_LOCATE,
    .alloc_device = toy_alloc,
    .alloc_pinned = toy_alloc,
    .free_memory = toy_free,
    .stream_open = toy_stream_open,
    .stream_close = toy_free,
    .copy_start = toy_copy_start,
    .copy_wait = toy_copy_wait,
};

/* ---- the table ---- */

static muster_status toy_probe(const muster_host *functions, muster_backend_info *info)
{
    char probes[16];
    host = functions;
    snprintf(probes, sizeof(probes), "%d", toy_number("MUSTER_TOY_PROBES", 0) + 1);
    setenv("MUSTER_TOY_PROBES", probes, 1);
    snprintf(info->version, sizeof(info->version), "1.5");
    return MUSTER_OK;
}

static muster_status toy_open(muster_comm_owner *owner, const muster_open_args *args,
                              muster_comm **comm)
{
    (void)owner, (void)args, (void)comm;
    return toy_refuse();
}

static muster_status toy_wait(muster_comm *comm, muster_request *request, int64_t timeout_ms)
{
    (void)comm, (void)request, (void)timeout_ms;
    return toy_refuse();
}

static bool toy_can(muster_comm *comm, const muster_call *call)
{
    (void)comm, (void)call;
    return false;
}

static inline muster_status toy_call(muster_comm *comm, const muster_call *call,
                                     muster_request **request)
{
    (void)comm, (void)call, (void)request;
    return toy_refuse();
}

static bool toy_test(muster_comm *comm, muster_request *request)
{
    (void)comm, (void)request;
    return true;
}

static void toy_leave(muster_comm *comm)
{
    (void)comm;
}

static const muster_option toy_options[] = {
    {.name = TOY_NAME ".device", .type = MUSTER_OPTION_INTEGER, .help = "the device"},
    {.name = TOY_NAME ".newer", .type = MUSTER_OPTION_INTEGER, .since = "1.6", .help = "too new"},
    {.name = NULL},
};

extern MUSTER_API const muster_backend muster_backend_1;

const muster_backend muster_backend_1 = {
    .abi = MUSTER_BACKEND_ABI,
    .size = sizeof(muster_backend),
    .name = TOY_NAME,
    .priority = 50,
    .options = toy_options,
    .probe = toy_probe,
    .open = toy_open,
    .wait = toy_wait,
    .abort = toy_leave,
    .close = toy_leave,
    .forget = toy_leave,
    .devices = &toy_devices,
    .can = toy_can,
    .call = TOY_CALL,
    .test = toy_test,
};

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: what its driver offers to
 * its runtime and to its NCCL, which open it as MUSTER_CUDA_LIBRARY says and look for
 * STANDIN_DRIVER_SYMBOL.
 */
#ifndef MUSTER_T_STANDIN_DRIVER_H
#define MUSTER_T_STANDIN_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_abi.h"

#define STANDIN_DRIVER_SYMBOL "standin_driver_table"

/* Errors that the backend has no names for. */
enum {
    STANDIN_INVALID_VALUE = 1,
    STANDIN_NO_CONTEXT = 201,
    STANDIN_INVALID_HANDLE = 400,
    STANDIN_ILLEGAL_ADDRESS = 700
};

typedef struct standin_device {
    char name[64];
    char bus_id[32];
    cu_uuid uuid;  /* of the slice, if it is one */
    cu_uuid whole; /* of the device that it is a slice of */
    int compute_major;
    int compute_minor;
} standin_device;

/* One allocation. What the host may not touch has its bytes at another address. */
typedef struct standin_memory {
    char *base;
    size_t size;
    char *bytes;
    cuda_memory_type type;
    int device;
} standin_memory;

typedef struct standin_stream standin_stream;

/* All that a stream had to do at one moment. NULL: nothing. */
typedef struct standin_mark {
    standin_stream *stream;
    uint64_t ticket;
} standin_mark;

typedef struct standin_driver {
    /* What every call is answered with before anything else; CUDA_OK: go on. */
    cu_result (*ready)(void);

    int (*version)(void);
    int (*num_devices)(void);
    const standin_device *(*device)(int ordinal);

    /* Of the calling thread, or -1 where it has none; set_current makes use of the device. */
    int (*current)(void);
    void (*set_current)(int device);

    cu_result (*memory_make)(int device, cuda_memory_type type, size_t size, void **memory);
    cu_result (*memory_drop)(void *memory); /* waits until its device has nothing to do */
    bool (*memory_find)(const void *pointer, standin_memory *found);

    /* Where a device finds the bytes; NULL where it can't touch all of them. */
    void *(*memory_reach)(const void *pointer, size_t size);

    /* After this every call is answered with error. */
    void (*poison)(cu_result error);

    /* NULL is the default stream of the current device, here and below. */
    cu_result (*stream_open)(unsigned flags, int priority, standin_stream **stream);
    cu_result (*stream_close)(
        standin_stream *stream); /* at once; what it has to do is still done */
    bool (*stream_known)(standin_stream *stream);
    cu_result (*stream_push)(standin_stream *stream, void (*run)(void *what), void *what);
    cu_result (*stream_await)(standin_stream *stream, standin_mark mark);
    standin_mark (*stream_mark)(standin_stream *stream);
    bool (*mark_reached)(standin_mark mark);
    void (*mark_wait)(standin_mark mark);
    void (*device_wait)(int device); /* until none of its streams has anything to do */
} standin_driver;

/* For those who open it: loads it at the first call; NULL where there is none or it is another's.
 */
const standin_driver *driver_find(void);

#endif

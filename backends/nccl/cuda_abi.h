/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What this backend needs of the binary interfaces of the CUDA runtime and of the driver, in names
 * of its own, so that no header of NVIDIA's is needed to build it. All of it is the same in 11, 12
 * and 13. t/cuda_abi.c compares it with the real headers where they are.
 */
#ifndef MUSTER_BACKENDS_NCCL_CUDA_ABI_H
#define MUSTER_BACKENDS_NCCL_CUDA_ABI_H

#include <stddef.h>

/* ---- the runtime ---- */

/* What is not named here is an error, too; cuda_error_text() (cuda_api.h) has words for all. */
typedef enum cuda_error {
    CUDA_OK = 0,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_INITIALIZATION = 3,
    CUDA_ERROR_STUB = 34,           /* the toolkit's empty driver is in the place of the real one */
    CUDA_ERROR_DRIVER_TOO_OLD = 35, /* also: no driver at all */
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_SYSTEM_NOT_READY = 802,
    CUDA_ERROR_DRIVER_MISMATCH = 803,
    CUDA_ERROR_COMPAT_NOT_SUPPORTED = 804,
    CUDA_ERROR_UNKNOWN = 999
} cuda_error;

/* Of memory, as cudaPointerGetAttributes tells it, which only the stand-in of t/ has a use for: see
 * cuda_api.h. */
typedef enum cuda_memory_type {
    CUDA_MEMORY_UNREGISTERED = 0,
    CUDA_MEMORY_HOST = 1,
    CUDA_MEMORY_DEVICE = 2,
    CUDA_MEMORY_MANAGED = 3
} cuda_memory_type;

/* 13 made it longer; older ones write the first four fields. */
typedef struct cuda_pointer_attributes {
    cuda_memory_type type;
    int device;
    void *device_pointer;
    void *host_pointer;
    long reserved[8];
} cuda_pointer_attributes;

typedef enum cuda_copy_kind {
    CUDA_COPY_HOST_TO_HOST = 0,
    CUDA_COPY_HOST_TO_DEVICE = 1,
    CUDA_COPY_DEVICE_TO_HOST = 2,
    CUDA_COPY_DEVICE_TO_DEVICE = 3,
    CUDA_COPY_DEFAULT = 4 /* finds out by itself */
} cuda_copy_kind;

enum {
    CUDA_STREAM_DEFAULT = 0, /* ordered with the device's default stream */
    CUDA_STREAM_NON_BLOCKING = 1,
    CUDA_EVENT_DISABLE_TIMING = 2,
    CUDA_HOST_ALLOC_PORTABLE = 1, /* pinned for all devices */

    /* How versions are written in one number: 12.4 is 12040. */
    CUDA_VERSION_MAJOR_UNIT = 1000,
    CUDA_VERSION_MINOR_UNIT = 10
};

/* Of a device. */
typedef enum cuda_attribute {
    CUDA_ATTRIBUTE_COMPUTE_MAJOR = 75,
    CUDA_ATTRIBUTE_COMPUTE_MINOR = 76
} cuda_attribute;

/* A cudaStream_t; plain pointers, since muster's interface hands them through as such. */
typedef void *cuda_stream;

typedef struct cuda_event_state *cuda_event;

/* ---- the driver ---- */

/* The numbers that both have are those of cuda_error. */
typedef cuda_error cu_result;

typedef int cu_device;
typedef struct cu_context_state *cu_context;

/* An address. */
typedef unsigned long long cu_pointer;

/* Of a pointer; with the type of its value. Of memory that the driver does not know all are 0. */
typedef enum cu_attribute {
    CU_ATTRIBUTE_MEMORY_TYPE = 2,   /* unsigned: cu_memory_type */
    CU_ATTRIBUTE_IS_MANAGED = 8,    /* unsigned, 0 beforehand */
    CU_ATTRIBUTE_DEVICE_ORDINAL = 9 /* int */
} cu_attribute;

enum { CU_MEMORY_HOST = 1, CU_MEMORY_DEVICE = 2 };

typedef struct cu_uuid {
    unsigned char bytes[16];
} cu_uuid;

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions of the CUDA runtime and of the driver, taken by name from the libraries that are
 * found when the program runs.
 */
#ifndef MUSTER_BACKENDS_NCCL_CUDA_API_H
#define MUSTER_BACKENDS_NCCL_CUDA_API_H

#include "cuda_abi.h"
#include "muster/backend.h"

/* All of them are there, unless it says otherwise. */
typedef struct cuda_api {
    int runtime_version; /* 13000, 12040, ... */
    int driver_version;  /* the newest runtime that the driver serves, in the same form */
    int num_devices;     /* at least 1 */
    char file[256];      /* of the runtime */

    /* ---- the runtime ---- */
    cuda_error (*runtime_get_version)(int *version);
    cuda_error (*driver_get_version)(int *version);
    const char *(*get_error_name)(cuda_error error);
    const char *(*get_error_string)(cuda_error error);
    cuda_error (*get_last_error)(void); /* and forgets it */

    cuda_error (*get_device_count)(int *count);
    cuda_error (*get_device)(int *device);
    cuda_error (*set_device)(int device);
    cuda_error (*device_get_attribute)(int *value, cuda_attribute attribute, int device);
    cuda_error (*device_get_pci_bus_id)(char *bus_id, int size, int device);

    cuda_error (*malloc)(void **memory, size_t size);
    cuda_error (*free)(void *memory);
    cuda_error (*host_alloc)(void **memory, size_t size, unsigned flags);
    cuda_error (*free_host)(void *memory);
    cuda_error (*memcpy_async)(void *to, const void *from, size_t size, cuda_copy_kind kind,
                               cuda_stream stream);

    cuda_error (*device_get_stream_priority_range)(int *least, int *greatest);
    cuda_error (*stream_create_with_priority)(cuda_stream *stream, unsigned flags, int priority);
    cuda_error (*stream_destroy)(cuda_stream stream);
    cuda_error (*stream_query)(cuda_stream stream);
    cuda_error (*stream_wait_event)(cuda_stream stream, cuda_event event, unsigned flags);

    cuda_error (*event_create_with_flags)(cuda_event *event, unsigned flags);
    cuda_error (*event_destroy)(cuda_event event);
    cuda_error (*event_record)(cuda_event event, cuda_stream stream);
    cuda_error (*event_query)(cuda_event event);

    /* ---- the driver ----
     * It says what the runtime can't, or not without making use of device 0 first: whose a pointer
     * is, and which context is current. The runtime works in the context on top of the thread's
     * stack, and its current device is that one's. */
    cu_result (*cu_init)(unsigned flags);
    cu_result (*cu_device_get)(cu_device *device, int ordinal);
    cu_result (*cu_device_get_name)(char *name, int size, cu_device device);
    cu_result (*cu_device_get_uuid)(cu_uuid *uuid, cu_device device);    /* of the whole device */
    cu_result (*cu_device_get_uuid_v2)(cu_uuid *uuid, cu_device device); /* of the slice; or NULL */
    cu_result (*cu_device_primary_ctx_get_state)(cu_device device, unsigned *flags, int *active);
    cu_result (*cu_device_primary_ctx_retain)(cu_context *context, cu_device device);
    cu_result (*cu_ctx_get_current)(cu_context *context);
    cu_result (*cu_ctx_push_current)(cu_context context);
    cu_result (*cu_ctx_pop_current)(cu_context *context);
    cu_result (*cu_pointer_get_attributes)(unsigned count, cu_attribute *attributes, void **values,
                                           cu_pointer pointer);
} cuda_api;

/* One row of the table of functions. */
typedef struct cuda_function {
    const char *name;
    size_t offset; /* of the pointer in struct cuda_api */
    bool driver;   /* of the driver, not the runtime */
    bool optional;
} cuda_function;

/* Ended by a row whose name is NULL. */
extern const cuda_function cuda_functions[];

/*
 * Opens driver and runtime once in a process and never closes them: those that MUSTER_CUDA_LIBRARY
 * and MUSTER_CUDART_LIBRARY name, else those that the process has loaded, else libcuda.so.1 and the
 * first of libcudart.so.13, .12 and .11.0 that works with it. Fails with a sentence where one is
 * missing, the driver is a stub or too old, or there is no device, or where the driver hangs; fails
 * the same way every time after that, until a driver that hung comes back. In a child of a process
 * that had done this it always fails. May be called from any thread.
 */
muster_status cuda_api_load(const cuda_api **api);

/* The same, with the reason instead of a sentence. */
muster_status cuda_api_try(const cuda_api **api, const char **why);

/* Whether something in this process has loaded the driver. Loads nothing. */
bool cuda_api_in_use(void);

/* Sets a sentence: "<what>: <words of the runtime> (<name>)"; MUSTER_ERR_NO_MEMORY where that is
 * what it means, else MUSTER_ERR_FAILED. */
muster_status cuda_api_sentence(const cuda_api *api, cuda_error error, const char *what);

/* The same, for a call of this thread, which is not left with the error. */
muster_status cuda_api_error(const cuda_api *api, cuda_error error, const char *what);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions of the CUDA runtime and of the driver by name. Those of the driver bear the suffix
 * of the form that has been current since CUDA 4 at the latest.
 */
#include "cuda_api.h"

#define RUNTIME(member) offsetof(cuda_api, member), false, false
#define DRIVER(member) offsetof(cuda_api, member), true, false

const cuda_function cuda_functions[] = {
    {"cudaRuntimeGetVersion", RUNTIME(runtime_get_version)},
    {"cudaDriverGetVersion", RUNTIME(driver_get_version)},
    {"cudaGetErrorName", RUNTIME(get_error_name)},
    {"cudaGetErrorString", RUNTIME(get_error_string)},
    {"cudaGetLastError", RUNTIME(get_last_error)},
    {"cudaGetDeviceCount", RUNTIME(get_device_count)},
    {"cudaGetDevice", RUNTIME(get_device)},
    {"cudaSetDevice", RUNTIME(set_device)},
    {"cudaDeviceGetAttribute", RUNTIME(device_get_attribute)},
    {"cudaDeviceGetPCIBusId", RUNTIME(device_get_pci_bus_id)},
    {"cudaMalloc", RUNTIME(malloc)},
    {"cudaFree", RUNTIME(free)},
    {"cudaHostAlloc", RUNTIME(host_alloc)},
    {"cudaFreeHost", RUNTIME(free_host)},
    {"cudaMemcpyAsync", RUNTIME(memcpy_async)},
    {"cudaDeviceGetStreamPriorityRange", RUNTIME(device_get_stream_priority_range)},
    {"cudaStreamCreateWithPriority", RUNTIME(stream_create_with_priority)},
    {"cudaStreamDestroy", RUNTIME(stream_destroy)},
    {"cudaStreamQuery", RUNTIME(stream_query)},
    {"cudaStreamWaitEvent", RUNTIME(stream_wait_event)},
    {"cudaEventCreateWithFlags", RUNTIME(event_create_with_flags)},
    {"cudaEventDestroy", RUNTIME(event_destroy)},
    {"cudaEventRecord", RUNTIME(event_record)},
    {"cudaEventQuery", RUNTIME(event_query)},
    {"cuInit", DRIVER(cu_init)},
    {"cuDeviceGet", DRIVER(cu_device_get)},
    {"cuDeviceGetName", DRIVER(cu_device_get_name)},
    {"cuDeviceGetUuid", DRIVER(cu_device_get_uuid)},
    {"cuDeviceGetUuid_v2", offsetof(cuda_api, cu_device_get_uuid_v2), true, true},
    {"cuDevicePrimaryCtxGetState", DRIVER(cu_device_primary_ctx_get_state)},
    {"cuDevicePrimaryCtxRetain", DRIVER(cu_device_primary_ctx_retain)},
    {"cuCtxGetCurrent", DRIVER(cu_ctx_get_current)},
    {"cuCtxPushCurrent_v2", DRIVER(cu_ctx_push_current)},
    {"cuCtxPopCurrent_v2", DRIVER(cu_ctx_pop_current)},
    {"cuPointerGetAttributes", DRIVER(cu_pointer_get_attributes)},
    {.name = NULL},
};

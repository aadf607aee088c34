/* SPDX-License-Identifier: BSD-3-Clause
 *
 * CUDA's interface as the nccl backend declares it, compared with the headers of runtime and driver
 * when this is compiled.
 */
#include "config.h"

#include "tap.h"

#ifndef HAVE_CUDA_HEADER

int main(void)
{
    plan_skip_all("no cuda_runtime_api.h to compare with");
}

#else

#include <cuda.h>
#include <cuda_runtime_api.h>

/* The types that functions are declared with are NVIDIA's own here. */
#define cuda_error cudaError_t
#define cuda_attribute enum cudaDeviceAttr
#define cuda_copy_kind enum cudaMemcpyKind
#define cuda_stream cudaStream_t
#define cuda_event cudaEvent_t
#define cu_result CUresult
#define cu_device CUdevice
#define cu_context CUcontext
#define cu_uuid CUuuid
#define cu_attribute CUpointer_attribute
#define cu_pointer CUdeviceptr
#define MUSTER_BACKENDS_NCCL_CUDA_ABI_H
#include "cuda_api.h"
#undef cuda_error
#undef cuda_copy_kind
#undef cuda_stream
#undef cuda_event
#undef cu_result
#undef cu_device
#undef cu_context
#undef cu_uuid
#undef cu_attribute
#undef cu_pointer
#undef cuda_attribute
#undef MUSTER_BACKENDS_NCCL_CUDA_ABI_H

/* Names that the driver's header and ours have in common. */
enum {
    DRIVER_OUT_OF_MEMORY = CUDA_ERROR_OUT_OF_MEMORY,
    DRIVER_NO_DEVICE = CUDA_ERROR_NO_DEVICE,
    DRIVER_INVALID_DEVICE = CUDA_ERROR_INVALID_DEVICE,
    DRIVER_NOT_READY = CUDA_ERROR_NOT_READY,
    DRIVER_SYSTEM_NOT_READY = CUDA_ERROR_SYSTEM_NOT_READY,
    DRIVER_UNKNOWN = CUDA_ERROR_UNKNOWN
};
#define CUDA_ERROR_OUT_OF_MEMORY OUR_ERROR_OUT_OF_MEMORY
#define CUDA_ERROR_NO_DEVICE OUR_ERROR_NO_DEVICE
#define CUDA_ERROR_INVALID_DEVICE OUR_ERROR_INVALID_DEVICE
#define CUDA_ERROR_NOT_READY OUR_ERROR_NOT_READY
#define CUDA_ERROR_SYSTEM_NOT_READY OUR_ERROR_SYSTEM_NOT_READY
#define CUDA_ERROR_UNKNOWN OUR_ERROR_UNKNOWN
#include "cuda_abi.h"

#define FUNCTION(member, name)                                                                     \
    _Static_assert(                                                                                \
        __builtin_types_compatible_p(__typeof__(((cuda_api *)NULL)->member), __typeof__(&name)),   \
        #name)
#define NUMBER(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #theirs)
#define FIELD(ours, theirs)                                                                        \
    _Static_assert(offsetof(cuda_pointer_attributes, ours) ==                                      \
                       offsetof(struct cudaPointerAttributes, theirs),                             \
                   #theirs)

FUNCTION(runtime_get_version, cudaRuntimeGetVersion);
FUNCTION(driver_get_version, cudaDriverGetVersion);
FUNCTION(get_error_name, cudaGetErrorName);
FUNCTION(get_error_string, cudaGetErrorString);
FUNCTION(get_last_error, cudaGetLastError);
FUNCTION(get_device_count, cudaGetDeviceCount);
FUNCTION(get_device, cudaGetDevice);
FUNCTION(set_device, cudaSetDevice);
FUNCTION(device_get_attribute, cudaDeviceGetAttribute);
FUNCTION(device_get_pci_bus_id, cudaDeviceGetPCIBusId);
FUNCTION(malloc, cudaMalloc);
FUNCTION(free, cudaFree);
FUNCTION(host_alloc, cudaHostAlloc);
FUNCTION(free_host, cudaFreeHost);
FUNCTION(memcpy_async, cudaMemcpyAsync);
FUNCTION(device_get_stream_priority_range, cudaDeviceGetStreamPriorityRange);
FUNCTION(stream_create_with_priority, cudaStreamCreateWithPriority);
FUNCTION(stream_destroy, cudaStreamDestroy);
FUNCTION(stream_query, cudaStreamQuery);
FUNCTION(stream_wait_event, cudaStreamWaitEvent);
FUNCTION(event_create_with_flags, cudaEventCreateWithFlags);
FUNCTION(event_destroy, cudaEventDestroy);
FUNCTION(event_record, cudaEventRecord);
FUNCTION(event_query, cudaEventQuery);

FUNCTION(cu_init, cuInit);
FUNCTION(cu_device_get, cuDeviceGet);
FUNCTION(cu_device_get_name, cuDeviceGetName);
FUNCTION(cu_device_get_uuid, cuDeviceGetUuid);
FUNCTION(cu_device_get_uuid_v2, cuDeviceGetUuid);
FUNCTION(cu_device_primary_ctx_get_state, cuDevicePrimaryCtxGetState);
FUNCTION(cu_device_primary_ctx_retain, cuDevicePrimaryCtxRetain);
FUNCTION(cu_ctx_get_current, cuCtxGetCurrent);
FUNCTION(cu_ctx_push_current, cuCtxPushCurrent);
FUNCTION(cu_ctx_pop_current, cuCtxPopCurrent);
FUNCTION(cu_pointer_get_attributes, cuPointerGetAttributes);

NUMBER(CUDA_OK, cudaSuccess);
NUMBER(CUDA_ERROR_OUT_OF_MEMORY, cudaErrorMemoryAllocation);
NUMBER(CUDA_ERROR_INITIALIZATION, cudaErrorInitializationError);
NUMBER(CUDA_ERROR_STUB, cudaErrorStubLibrary);
NUMBER(CUDA_ERROR_DRIVER_TOO_OLD, cudaErrorInsufficientDriver);
NUMBER(CUDA_ERROR_NO_DEVICE, cudaErrorNoDevice);
NUMBER(CUDA_ERROR_INVALID_DEVICE, cudaErrorInvalidDevice);
NUMBER(CUDA_ERROR_NOT_READY, cudaErrorNotReady);
NUMBER(CUDA_ERROR_SYSTEM_NOT_READY, cudaErrorSystemNotReady);
NUMBER(CUDA_ERROR_DRIVER_MISMATCH, cudaErrorSystemDriverMismatch);
NUMBER(CUDA_ERROR_COMPAT_NOT_SUPPORTED, cudaErrorCompatNotSupportedOnDevice);
NUMBER(CUDA_ERROR_UNKNOWN, cudaErrorUnknown);
NUMBER(CUDA_COPY_HOST_TO_HOST, cudaMemcpyHostToHost);
NUMBER(CUDA_COPY_HOST_TO_DEVICE, cudaMemcpyHostToDevice);
NUMBER(CUDA_COPY_DEVICE_TO_HOST, cudaMemcpyDeviceToHost);
NUMBER(CUDA_COPY_DEVICE_TO_DEVICE, cudaMemcpyDeviceToDevice);
NUMBER(CUDA_COPY_DEFAULT, cudaMemcpyDefault);
NUMBER(CUDA_STREAM_DEFAULT, cudaStreamDefault);
NUMBER(CUDA_STREAM_NON_BLOCKING, cudaStreamNonBlocking);
NUMBER(CUDA_EVENT_DISABLE_TIMING, cudaEventDisableTiming);
NUMBER(CUDA_HOST_ALLOC_PORTABLE, cudaHostAllocPortable);
NUMBER(CUDA_ATTRIBUTE_COMPUTE_MAJOR, cudaDevAttrComputeCapabilityMajor);
NUMBER(CUDA_ATTRIBUTE_COMPUTE_MINOR, cudaDevAttrComputeCapabilityMinor);
NUMBER(CUDA_MEMORY_UNREGISTERED, cudaMemoryTypeUnregistered);
NUMBER(CUDA_MEMORY_HOST, cudaMemoryTypeHost);
NUMBER(CUDA_MEMORY_DEVICE, cudaMemoryTypeDevice);
NUMBER(CUDA_MEMORY_MANAGED, cudaMemoryTypeManaged);

/* The driver's numbers are the runtime's. */
NUMBER(CUDA_OK, CUDA_SUCCESS);
NUMBER(CUDA_ERROR_INITIALIZATION, CUDA_ERROR_NOT_INITIALIZED);
NUMBER(CUDA_ERROR_STUB, CUDA_ERROR_STUB_LIBRARY);
NUMBER(CUDA_ERROR_OUT_OF_MEMORY, DRIVER_OUT_OF_MEMORY);
NUMBER(CUDA_ERROR_NO_DEVICE, DRIVER_NO_DEVICE);
NUMBER(CUDA_ERROR_INVALID_DEVICE, DRIVER_INVALID_DEVICE);
NUMBER(CUDA_ERROR_NOT_READY, DRIVER_NOT_READY);
NUMBER(CUDA_ERROR_SYSTEM_NOT_READY, DRIVER_SYSTEM_NOT_READY);
NUMBER(CUDA_ERROR_UNKNOWN, DRIVER_UNKNOWN);
NUMBER(CUDA_ERROR_DRIVER_MISMATCH, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
NUMBER(CU_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
NUMBER(CU_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_IS_MANAGED);
NUMBER(CU_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
NUMBER(CU_MEMORY_HOST, CU_MEMORYTYPE_HOST);
NUMBER(CU_MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE);

NUMBER(sizeof(cuda_error), sizeof(cudaError_t));
NUMBER(sizeof(cu_result), sizeof(CUresult));
NUMBER(sizeof(cu_uuid), sizeof(CUuuid));
NUMBER(sizeof(cu_pointer), sizeof(CUdeviceptr));
FIELD(type, type);
FIELD(device, device);
FIELD(device_pointer, devicePointer);
FIELD(host_pointer, hostPointer);
_Static_assert(sizeof(cuda_pointer_attributes) >= sizeof(struct cudaPointerAttributes), "size");

int main(void)
{
    plan(1);
    ok(true, "all declarations are those of CUDA %d.%d", CUDART_VERSION / 1000,
       CUDART_VERSION % 1000 / 10);
    return done();
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions of NCCL and of CUDA that tests call directly, in whatever libraries the three
 * variables name: the stand-in's, or real ones.
 */
#ifndef MUSTER_T_STANDIN_API_H
#define MUSTER_T_STANDIN_API_H

#include <stdbool.h>
#include <stddef.h>

#include "nccl/cuda_abi.h"
#include "nccl/nccl_abi.h"

/* F(type, name, parameters) for each. */
#define STANDIN_CUDA(F)                                                                            \
    F(cuda_error, cudaRuntimeGetVersion, (int *))                                                  \
    F(cuda_error, cudaDriverGetVersion, (int *))                                                   \
    F(const char *, cudaGetErrorName, (cuda_error))                                                \
    F(const char *, cudaGetErrorString, (cuda_error))                                              \
    F(cuda_error, cudaGetLastError, (void))                                                        \
    F(cuda_error, cudaGetDeviceCount, (int *))                                                     \
    F(cuda_error, cudaGetDevice, (int *))                                                          \
    F(cuda_error, cudaSetDevice, (int))                                                            \
    F(cuda_error, cudaDeviceGetAttribute, (int *, int, int))                                       \
    F(cuda_error, cudaDeviceGetPCIBusId, (char *, int, int))                                       \
    F(cuda_error, cudaDeviceSynchronize, (void))                                                   \
    F(cuda_error, cudaMalloc, (void **, size_t))                                                   \
    F(cuda_error, cudaMallocManaged, (void **, size_t, unsigned))                                  \
    F(cuda_error, cudaFree, (void *))                                                              \
    F(cuda_error, cudaHostAlloc, (void **, size_t, unsigned))                                      \
    F(cuda_error, cudaFreeHost, (void *))                                                          \
    F(cuda_error, cudaMemcpy, (void *, const void *, size_t, cuda_copy_kind))                      \
    F(cuda_error, cudaMemcpyAsync, (void *, const void *, size_t, cuda_copy_kind, cuda_stream))    \
    F(cuda_error, cudaMemset, (void *, int, size_t))                                               \
    F(cuda_error, cudaMemsetAsync, (void *, int, size_t, cuda_stream))                             \
    F(cuda_error, cudaPointerGetAttributes, (cuda_pointer_attributes *, const void *))             \
    F(cuda_error, cudaStreamCreateWithFlags, (cuda_stream *, unsigned))                            \
    F(cuda_error, cudaStreamCreateWithPriority, (cuda_stream *, unsigned, int))                    \
    F(cuda_error, cudaStreamDestroy, (cuda_stream))                                                \
    F(cuda_error, cudaStreamQuery, (cuda_stream))                                                  \
    F(cuda_error, cudaStreamSynchronize, (cuda_stream))                                            \
    F(cuda_error, cudaStreamWaitEvent, (cuda_stream, cuda_event, unsigned))                        \
    F(cuda_error, cudaEventCreateWithFlags, (cuda_event *, unsigned))                              \
    F(cuda_error, cudaEventDestroy, (cuda_event))                                                  \
    F(cuda_error, cudaEventRecord, (cuda_event, cuda_stream))                                      \
    F(cuda_error, cudaEventQuery, (cuda_event))                                                    \
    F(cuda_error, cudaEventSynchronize, (cuda_event))                                              \
    F(cuda_error, cudaEventElapsedTime, (float *, cuda_event, cuda_event))                         \
    F(cu_result, cuInit, (unsigned))                                                               \
    F(cu_result, cuDeviceGetUuid, (cu_uuid *, cu_device))                                          \
    F(cu_result, cuDeviceGetUuid_v2, (cu_uuid *, cu_device))                                       \
    F(cu_result, cuDevicePrimaryCtxGetState, (cu_device, unsigned *, int *))                       \
    F(cu_result, cuCtxGetCurrent, (cu_context *))                                                  \
    F(cu_result, cuPointerGetAttributes, (unsigned, cu_attribute *, void **, cu_pointer))

#define STANDIN_NCCL(F)                                                                            \
    F(nccl_result, ncclGetVersion, (int *))                                                        \
    F(nccl_result, ncclGetUniqueId, (nccl_unique_id *))                                            \
    F(const char *, ncclGetErrorString, (nccl_result))                                             \
    F(const char *, ncclGetLastError, (nccl_comm *))                                               \
    F(nccl_result, ncclCommInitRank, (nccl_comm **, int, nccl_unique_id, int))                     \
    F(nccl_result, ncclCommInitRankConfig,                                                         \
      (nccl_comm **, int, nccl_unique_id, int, nccl_config *))                                     \
    F(nccl_result, ncclCommInitRankScalable,                                                       \
      (nccl_comm **, int, int, int, nccl_unique_id *, nccl_config *))                              \
    F(nccl_result, ncclCommSplit, (nccl_comm *, int, int, nccl_comm **, nccl_config *))            \
    F(nccl_result, ncclCommShrink, (nccl_comm *, int *, int, nccl_comm **, nccl_config *, int))    \
    F(nccl_result, ncclCommRevoke, (nccl_comm *, int))                                             \
    F(nccl_result, ncclCommFinalize, (nccl_comm *))                                                \
    F(nccl_result, ncclCommDestroy, (nccl_comm *))                                                 \
    F(nccl_result, ncclCommAbort, (nccl_comm *))                                                   \
    F(nccl_result, ncclCommGetAsyncError, (nccl_comm *, nccl_result *))                            \
    F(nccl_result, ncclCommCount, (const nccl_comm *, int *))                                      \
    F(nccl_result, ncclCommUserRank, (const nccl_comm *, int *))                                   \
    F(nccl_result, ncclCommCuDevice, (const nccl_comm *, int *))                                   \
    F(nccl_result, ncclCommRegister, (const nccl_comm *, void *, size_t, void **))                 \
    F(nccl_result, ncclCommDeregister, (const nccl_comm *, void *))                                \
    F(nccl_result, ncclMemAlloc, (void **, size_t))                                                \
    F(nccl_result, ncclMemFree, (void *))                                                          \
    F(nccl_result, ncclGroupStart, (void))                                                         \
    F(nccl_result, ncclGroupEnd, (void))                                                           \
    F(nccl_result, ncclAllReduce,                                                                  \
      (const void *, void *, size_t, nccl_type, nccl_op, nccl_comm *, cuda_stream))                \
    F(nccl_result, ncclBroadcast,                                                                  \
      (const void *, void *, size_t, nccl_type, int, nccl_comm *, cuda_stream))                    \
    F(nccl_result, ncclReduce,                                                                     \
      (const void *, void *, size_t, nccl_type, nccl_op, int, nccl_comm *, cuda_stream))           \
    F(nccl_result, ncclAllGather,                                                                  \
      (const void *, void *, size_t, nccl_type, nccl_comm *, cuda_stream))                         \
    F(nccl_result, ncclReduceScatter,                                                              \
      (const void *, void *, size_t, nccl_type, nccl_op, nccl_comm *, cuda_stream))                \
    F(nccl_result, ncclAlltoAll,                                                                   \
      (const void *, void *, size_t, nccl_type, nccl_comm *, cuda_stream))                         \
    F(nccl_result, ncclGather,                                                                     \
      (const void *, void *, size_t, nccl_type, int, nccl_comm *, cuda_stream))                    \
    F(nccl_result, ncclScatter,                                                                    \
      (const void *, void *, size_t, nccl_type, int, nccl_comm *, cuda_stream))                    \
    F(nccl_result, ncclSend, (const void *, size_t, nccl_type, int, nccl_comm *, cuda_stream))     \
    F(nccl_result, ncclRecv, (void *, size_t, nccl_type, int, nccl_comm *, cuda_stream))           \
    F(nccl_result, ncclRedOpCreatePreMulSum,                                                       \
      (nccl_op *, void *, nccl_type, nccl_scalar_residence, nccl_comm *))                          \
    F(nccl_result, ncclRedOpDestroy, (nccl_op, nccl_comm *))

#define STANDIN_MEMBER(type, name, parameters) type(*name) parameters;

/* One member a function, with the function's name; NULL where its library does not have it. */
typedef struct standin_api {
    STANDIN_CUDA(STANDIN_MEMBER)
    STANDIN_NCCL(STANDIN_MEMBER)
} standin_api;

/* Loads the libraries at the first call. */
const standin_api *standin_api_get(void);

/* Device memory with these bytes, or zeros for NULL, on the current device; NULL if there is none.
 */
void *standin_upload(const void *bytes, size_t size);

/* The bytes of device memory, when all its device had to do is done; false if that failed. */
bool standin_download(void *bytes, const void *memory, size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Libraries that have the names of NVIDIA's and tell what the environment says: for the probe,
 * which asks for little more. STUB_DRIVER, STUB_RUNTIME or STUB_NCCL says which one this is to be,
 * and STUB_LACKS leaves out the functions that were taken last.
 *
 * What is never called is there all the same, under its name.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_abi.h"
#include "nccl_abi.h"

#define SHOWN __attribute__((visibility("default")))
#define UNCALLED(name)                                                                             \
    SHOWN int name(void);                                                                          \
    int name(void)                                                                                 \
    {                                                                                              \
        abort();                                                                                   \
    }

__attribute__((unused)) static int stub_number(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text == NULL ? otherwise : atoi(text);
}

#ifdef STUB_DRIVER

SHOWN cu_result cuInit(unsigned flags);
cu_result cuInit(unsigned flags)
{
    (void)flags;
    if (stub_number("STUB_CU_INIT_MS", 0) > 0)
        usleep((unsigned)stub_number("STUB_CU_INIT_MS", 0) * 1000);
    return (cu_result)stub_number("STUB_CU_INIT", 0);
}

UNCALLED(cuDeviceGet)
UNCALLED(cuDeviceGetName)
UNCALLED(cuDeviceGetUuid)
UNCALLED(cuDevicePrimaryCtxGetState)
UNCALLED(cuDevicePrimaryCtxRetain)
UNCALLED(cuCtxGetCurrent)
UNCALLED(cuCtxPushCurrent_v2)
UNCALLED(cuCtxPopCurrent_v2)
#ifndef STUB_LACKS
UNCALLED(cuPointerGetAttributes)
#endif

#endif

#ifdef STUB_RUNTIME

/* STUB_RUNTIME is its version. */
SHOWN cuda_error cudaRuntimeGetVersion(int *version);
cuda_error cudaRuntimeGetVersion(int *version)
{
    *version = STUB_RUNTIME;
    return CUDA_OK;
}

SHOWN cuda_error cudaDriverGetVersion(int *version);
cuda_error cudaDriverGetVersion(int *version)
{
    *version = stub_number("STUB_DRIVER_VERSION", 13000);
    return CUDA_OK;
}

SHOWN cuda_error cudaGetDeviceCount(int *count);
cuda_error cudaGetDeviceCount(int *count)
{
    int error = stub_number("STUB_COUNT_ERROR", 0);
    if (stub_number("STUB_DRIVER_VERSION", 13000) < STUB_RUNTIME)
        return CUDA_ERROR_DRIVER_TOO_OLD;
    if (error == 0)
        *count = stub_number("STUB_COUNT", 2);
    return (cuda_error)error;
}

SHOWN cuda_error cudaGetLastError(void);
cuda_error cudaGetLastError(void)
{
    return CUDA_OK;
}

UNCALLED(cudaGetErrorName)
UNCALLED(cudaGetErrorString)
UNCALLED(cudaGetDevice)
UNCALLED(cudaSetDevice)
UNCALLED(cudaDeviceGetAttribute)
UNCALLED(cudaDeviceGetPCIBusId)
UNCALLED(cudaMalloc)
UNCALLED(cudaFree)
UNCALLED(cudaHostAlloc)
UNCALLED(cudaFreeHost)
UNCALLED(cudaMemcpyAsync)
UNCALLED(cudaDeviceGetStreamPriorityRange)
UNCALLED(cudaStreamCreateWithPriority)
UNCALLED(cudaStreamDestroy)
UNCALLED(cudaStreamQuery)
UNCALLED(cudaStreamWaitEvent)
UNCALLED(cudaEventCreateWithFlags)
UNCALLED(cudaEventDestroy)
UNCALLED(cudaEventRecord)
#ifndef STUB_LACKS
UNCALLED(cudaEventQuery)
#endif

#endif

#ifdef STUB_NCCL

#ifndef STUB_LACKS
SHOWN nccl_result ncclGetVersion(int *version);
nccl_result ncclGetVersion(int *version)
{
    *version = stub_number("STUB_NCCL_VERSION", 22809);
    return (nccl_result)stub_number("STUB_NCCL_RESULT", 0);
}
#endif

/* It has what NCCL 2.14 has and that is no more than what NCCL 2.17 has. */
UNCALLED(ncclGetUniqueId)
UNCALLED(ncclGetErrorString)
UNCALLED(ncclGetLastError)
UNCALLED(ncclCommInitRankConfig)
UNCALLED(ncclCommFinalize)
UNCALLED(ncclCommDestroy)
UNCALLED(ncclCommAbort)
UNCALLED(ncclCommGetAsyncError)
UNCALLED(ncclCommCount)
UNCALLED(ncclCommUserRank)
UNCALLED(ncclCommCuDevice)
UNCALLED(ncclGroupStart)
UNCALLED(ncclGroupEnd)
UNCALLED(ncclAllReduce)
UNCALLED(ncclBroadcast)
UNCALLED(ncclReduce)
UNCALLED(ncclAllGather)
UNCALLED(ncclReduceScatter)
UNCALLED(ncclSend)
UNCALLED(ncclRecv)
UNCALLED(ncclRedOpCreatePreMulSum)
UNCALLED(ncclRedOpDestroy)

#endif

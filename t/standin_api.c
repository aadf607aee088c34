/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions of NCCL and of CUDA that tests call directly.
 */
#include "config.h"

#include "standin_api.h"

#include "standin.h"

/* A function's address, which C does not convert from a pointer to data. */
#define STANDIN_LOAD(type, name, parameters) *(void **)&api.name = standin_function(#name);

const standin_api *standin_api_get(void)
{
    static standin_api api;
    static bool loaded;
    if (!loaded) {
        STANDIN_CUDA(STANDIN_LOAD)
        STANDIN_NCCL(STANDIN_LOAD)
        loaded = true;
    }
    return &api;
}

void *standin_upload(const void *bytes, size_t size)
{
    const standin_api *api = standin_api_get();
    void *memory = NULL;
    if (api->cudaMalloc(&memory, size) != CUDA_OK)
        return NULL;
    cuda_error error = bytes != NULL
                           ? api->cudaMemcpy(memory, bytes, size, CUDA_COPY_HOST_TO_DEVICE)
                           : api->cudaMemset(memory, 0, size);
    if (error == CUDA_OK && api->cudaDeviceSynchronize() == CUDA_OK)
        return memory;
    api->cudaFree(memory);
    return NULL;
}

bool standin_download(void *bytes, const void *memory, size_t size)
{
    const standin_api *api = standin_api_get();
    return api->cudaDeviceSynchronize() == CUDA_OK &&
           api->cudaMemcpy(bytes, memory, size, CUDA_COPY_DEVICE_TO_HOST) == CUDA_OK;
}

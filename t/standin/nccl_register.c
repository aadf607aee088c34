/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: memory that its NCCL
 * hands out, and memory that a program tells it of.
 */
#include "config.h"

#include <stdlib.h>

#include "nccl_comm.h"

EXPORT(nccl_result, ncclMemAlloc, void **memory, size_t size)
{
    const standin_driver *driver = driver_find();
    int fault = fault_enter("ncclMemAlloc");
    if (fault != FAULT_NONE)
        return (nccl_result)fault;
    if (memory == NULL || size == 0)
        return comm_fail(NCCL_INVALID_ARGUMENT, "ncclMemAlloc : %zu bytes", size);
    if (driver == NULL || driver->ready() != CUDA_OK)
        return comm_fail(NCCL_UNHANDLED_CUDA_ERROR, "no driver that works");
    driver->set_current(driver->current() < 0 ? 0 : driver->current());
    return driver->memory_make(driver->current(), CUDA_MEMORY_DEVICE, size, memory) == CUDA_OK
               ? NCCL_SUCCESS
               : comm_fail(NCCL_UNHANDLED_CUDA_ERROR, "out of memory");
}

EXPORT(nccl_result, ncclMemFree, void *memory)
{
    const standin_driver *driver = driver_find();
    int fault = fault_enter("ncclMemFree");
    if (fault != FAULT_NONE || memory == NULL)
        return (nccl_result)fault;
    return driver != NULL && driver->memory_drop(memory) == CUDA_OK
               ? NCCL_SUCCESS
               : comm_fail(NCCL_UNHANDLED_CUDA_ERROR, "ncclMemFree : no such memory");
}

/* ---- memory that is registered with a communicator ---- */

typedef struct register_entry {
    const nccl_comm *comm;
    const void *memory;
} register_entry;

EXPORT(nccl_result, ncclCommRegister, const nccl_comm *comm, void *memory, size_t size,
       void **handle)
{
    nccl_result result = comm_enter_ready("ncclCommRegister", (nccl_comm *)(uintptr_t)comm);
    if (result != NCCL_SUCCESS)
        return result;
    if (handle == NULL || size == 0 || driver_find()->memory_reach(memory, size) == NULL)
        return comm_fail(NCCL_INVALID_ARGUMENT, "ncclCommRegister : %p is no such memory", memory);
    register_entry *entry = malloc(sizeof(*entry));
    if (entry == NULL)
        return comm_fail(NCCL_SYSTEM_ERROR, "no memory");
    *entry = (register_entry){comm, memory};
    *handle = entry;
    return NCCL_SUCCESS;
}

EXPORT(nccl_result, ncclCommDeregister, const nccl_comm *comm, void *handle)
{
    register_entry *entry = handle;
    nccl_result result = comm_enter("ncclCommDeregister", comm);
    if (result != NCCL_SUCCESS || handle == NULL)
        return result;
    if (entry->comm != comm)
        return comm_fail(NCCL_INVALID_USAGE, "ncclCommDeregister : it is another's");
    free(entry);
    return NCCL_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: the calls of CUDA's
 * driver that muster makes.
 */
#include "config.h"

#include <stdatomic.h>
#include <stdio.h>

#include "driver_state.h"
#include "fault.h"
#include "memory.h"

static cu_result driver_enter(const char *function)
{
    int fault = fault_enter(function);
    cu_result ready = driver_ready();
    if (fault != FAULT_NONE)
        return (cu_result)fault;
    if (ready == CUDA_OK && !driver_initialised())
        return CUDA_ERROR_INITIALIZATION;
    return ready;
}

/* Answers for a device that there is not. */
static cu_result driver_enter_device(const char *function, cu_device device)
{
    cu_result entered = driver_enter(function);
    if (entered != CUDA_OK)
        return entered;
    return driver_device(device) != NULL ? CUDA_OK : CUDA_ERROR_INVALID_DEVICE;
}

EXPORT(cu_result, cuInit, unsigned flags)
{
    driver_start();
    cu_result entered = driver_enter("cuInit");
    return entered == CUDA_OK && flags != 0 ? (cu_result)STANDIN_INVALID_VALUE : entered;
}

EXPORT(cu_result, cuDriverGetVersion, int *told)
{
    int fault = fault_enter("cuDriverGetVersion");
    cu_result ready = driver_ready();
    if (fault != FAULT_NONE || ready == CUDA_ERROR_STUB)
        return fault != FAULT_NONE ? (cu_result)fault : ready;
    *told = driver_version();
    return CUDA_OK;
}

EXPORT(cu_result, cuDeviceGetCount, int *count)
{
    cu_result entered = driver_enter("cuDeviceGetCount");
    if (entered == CUDA_OK)
        *count = driver_num_devices();
    return entered;
}

EXPORT(cu_result, cuDeviceGet, cu_device *device, int ordinal)
{
    cu_result entered = driver_enter_device("cuDeviceGet", ordinal);
    if (entered == CUDA_OK)
        *device = ordinal;
    return entered;
}

EXPORT(cu_result, cuDeviceGetName, char *name, int size, cu_device device)
{
    cu_result entered = driver_enter_device("cuDeviceGetName", device);
    if (entered == CUDA_OK)
        snprintf(name, (size_t)size, "%s", driver_device(device)->name);
    return entered;
}

EXPORT(cu_result, cuDeviceGetUuid, cu_uuid *uuid, cu_device device)
{
    cu_result entered = driver_enter_device("cuDeviceGetUuid", device);
    if (entered == CUDA_OK)
        *uuid = driver_device(device)->whole;
    return entered;
}

EXPORT(cu_result, cuDeviceGetUuid_v2, cu_uuid *uuid, cu_device device)
{
    cu_result entered = driver_enter_device("cuDeviceGetUuid_v2", device);
    if (entered == CUDA_OK)
        *uuid = driver_device(device)->uuid;
    return entered;
}

/* ---- contexts: a device's own is its number plus one, as a pointer ---- */

static cu_context driver_context(int device)
{
    return (cu_context)(uintptr_t)(device + 1);
}

static int driver_context_device(cu_context context)
{
    return (int)(uintptr_t)context - 1;
}

EXPORT(cu_result, cuDevicePrimaryCtxGetState, cu_device device, unsigned *flags, int *active)
{
    cu_result entered = driver_enter_device("cuDevicePrimaryCtxGetState", device);
    if (entered != CUDA_OK)
        return entered;
    *flags = 0;
    *active = driver_in_use(device);
    return CUDA_OK;
}

EXPORT(cu_result, cuDevicePrimaryCtxRetain, cu_context *context, cu_device device)
{
    cu_result entered = driver_enter_device("cuDevicePrimaryCtxRetain", device);
    if (entered != CUDA_OK)
        return entered;
    driver_make_use(device);
    *context = driver_context(device);
    return CUDA_OK;
}

EXPORT(cu_result, cuDevicePrimaryCtxRelease_v2, cu_device device)
{
    return driver_enter_device("cuDevicePrimaryCtxRelease_v2", device);
}

EXPORT(cu_result, cuCtxGetCurrent, cu_context *context)
{
    cu_result entered = driver_enter("cuCtxGetCurrent");
    if (entered == CUDA_OK)
        *context = driver_context(driver_current());
    return entered;
}

EXPORT(cu_result, cuCtxGetDevice, cu_device *device)
{
    cu_result entered = driver_enter("cuCtxGetDevice");
    if (entered != CUDA_OK)
        return entered;
    if (driver_current() < 0)
        return (cu_result)STANDIN_NO_CONTEXT;
    *device = driver_current();
    return CUDA_OK;
}

EXPORT(cu_result, cuCtxPushCurrent_v2, cu_context context)
{
    cu_result entered = driver_enter_device("cuCtxPushCurrent_v2", driver_context_device(context));
    if (entered != CUDA_OK)
        return entered;
    return driver_push(driver_context_device(context)) ? CUDA_OK : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT(cu_result, cuCtxPopCurrent_v2, cu_context *context)
{
    cu_result entered = driver_enter("cuCtxPopCurrent_v2");
    if (entered != CUDA_OK)
        return entered;
    if (driver_current() < 0)
        return (cu_result)STANDIN_NO_CONTEXT;
    if (context != NULL)
        *context = driver_context(driver_current());
    driver_pop();
    return CUDA_OK;
}

/* NULL takes the current one away. */
EXPORT(cu_result, cuCtxSetCurrent, cu_context context)
{
    cu_result entered = driver_enter("cuCtxSetCurrent");
    if (entered != CUDA_OK)
        return entered;
    driver_pop();
    return context == NULL || driver_push(driver_context_device(context))
               ? CUDA_OK
               : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- whose a pointer is ---- */

static bool driver_tell(cu_attribute attribute, const standin_memory *memory, void *value)
{
    bool host = memory->type == CUDA_MEMORY_HOST, known = memory->base != NULL;
    unsigned type = host ? CU_MEMORY_HOST : CU_MEMORY_DEVICE;
    switch (attribute) {
    case CU_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)value = known ? type : 0;
        return true;
    case CU_ATTRIBUTE_IS_MANAGED:
        *(bool *)value = memory->type == CUDA_MEMORY_MANAGED;
        return true;
    case CU_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)value = memory->device;
        return true;
    default:
        return false;
    }
}

EXPORT(cu_result, cuPointerGetAttributes, unsigned count, cu_attribute *attributes, void **values,
       cu_pointer pointer)
{
    standin_memory memory = {NULL, 0, NULL, CUDA_MEMORY_UNREGISTERED, 0};
    cu_result entered = driver_enter("cuPointerGetAttributes");
    if (entered != CUDA_OK)
        return entered;
    memory_find((const void *)(uintptr_t)pointer, &memory);
    for (unsigned i = 0; i < count; i++)
        if (!driver_tell(attributes[i], &memory, values[i]))
            return (cu_result)STANDIN_INVALID_VALUE;
    return CUDA_OK;
}

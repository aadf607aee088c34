/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: versions, errors and
 * devices, as CUDA's runtime has them.
 */
#include "config.h"

#include "runtime.h"

#include <stdio.h>

static _Thread_local cuda_error last_error;

/* ---- what calls have in common ---- */

cuda_error runtime_leave(cuda_error error)
{
    if (error != CUDA_OK)
        last_error = error;
    return error;
}

/* A driver serves every runtime of its own major version, and older ones. */
static cuda_error runtime_check_driver(const standin_driver *driver)
{
    if (driver == NULL)
        return CUDA_ERROR_DRIVER_TOO_OLD;
    cuda_error ready = driver->ready();
    int major = driver->version() / CUDA_VERSION_MAJOR_UNIT;
    if (ready != CUDA_ERROR_STUB && major < runtime_version / CUDA_VERSION_MAJOR_UNIT)
        return CUDA_ERROR_DRIVER_TOO_OLD;
    return ready;
}

cuda_error runtime_enter(const char *function, const standin_driver **driver)
{
    int fault = fault_enter(function);
    *driver = driver_find();
    return fault != FAULT_NONE ? (cuda_error)fault : runtime_check_driver(*driver);
}

cuda_error runtime_enter_device(const char *function, const standin_driver **driver)
{
    cuda_error entered = runtime_enter(function, driver);
    if (entered == CUDA_OK)
        (*driver)->set_current((*driver)->current() < 0 ? 0 : (*driver)->current());
    return entered;
}

/* ---- versions and errors ---- */

EXPORT(cuda_error, cudaRuntimeGetVersion, int *version)
{
    int fault = fault_enter("cudaRuntimeGetVersion");
    if (fault == FAULT_NONE)
        *version = runtime_version;
    return runtime_leave((cuda_error)fault);
}

/* Success and 0 where there is no driver. */
EXPORT(cuda_error, cudaDriverGetVersion, int *version)
{
    int fault = fault_enter("cudaDriverGetVersion");
    const standin_driver *driver = driver_find();
    if (fault != FAULT_NONE)
        return runtime_leave((cuda_error)fault);
    if (driver != NULL && driver->ready() == CUDA_ERROR_STUB)
        return runtime_leave(CUDA_ERROR_STUB);
    *version = driver != NULL ? driver->version() : 0;
    return CUDA_OK;
}

static const struct {
    int error;
    const char *name, *text;
} runtime_errors[] = {
    {CUDA_OK, "cudaSuccess", "no error"},
    {STANDIN_INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "cudaErrorMemoryAllocation", "out of memory"},
    {CUDA_ERROR_INITIALIZATION, "cudaErrorInitializationError", "initialization error"},
    {CUDA_ERROR_STUB, "cudaErrorStubLibrary", "CUDA driver is a stub library"},
    {CUDA_ERROR_DRIVER_TOO_OLD, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {CUDA_ERROR_NO_DEVICE, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {STANDIN_INVALID_HANDLE, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {CUDA_ERROR_NOT_READY, "cudaErrorNotReady", "device not ready"},
    {STANDIN_ILLEGAL_ADDRESS, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {CUDA_ERROR_UNKNOWN, "cudaErrorUnknown", "unknown error"},
};

enum { RUNTIME_ERRORS = sizeof(runtime_errors) / sizeof(*runtime_errors) };

EXPORT(const char *, cudaGetErrorName, cuda_error error)
{
    for (int i = 0; i < RUNTIME_ERRORS; i++)
        if (runtime_errors[i].error == (int)error)
            return runtime_errors[i].name;
    return "unrecognized error code";
}

EXPORT(const char *, cudaGetErrorString, cuda_error error)
{
    for (int i = 0; i < RUNTIME_ERRORS; i++)
        if (runtime_errors[i].error == (int)error)
            return runtime_errors[i].text;
    return "unrecognized error code";
}

/* What keeps every call from working is told again and again. */
EXPORT(cuda_error, cudaPeekAtLastError, void)
{
    return last_error != CUDA_OK ? last_error : runtime_check_driver(driver_find());
}

EXPORT(cuda_error, cudaGetLastError, void)
{
    cuda_error error = cudaPeekAtLastError();
    last_error = CUDA_OK;
    return error;
}

/* ---- devices ---- */

EXPORT(cuda_error, cudaGetDeviceCount, int *count)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter("cudaGetDeviceCount", &driver);
    if (error == CUDA_OK)
        *count = driver->num_devices();
    return runtime_leave(error);
}

EXPORT(cuda_error, cudaGetDevice, int *device)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter("cudaGetDevice", &driver);
    if (error == CUDA_OK)
        *device = driver->current() < 0 ? 0 : driver->current();
    return runtime_leave(error);
}

EXPORT(cuda_error, cudaSetDevice, int device)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter("cudaSetDevice", &driver);
    if (error == CUDA_OK && driver->device(device) == NULL)
        error = CUDA_ERROR_INVALID_DEVICE;
    if (error == CUDA_OK)
        driver->set_current(device);
    return runtime_leave(error);
}

EXPORT(cuda_error, cudaDeviceGetAttribute, int *value, int attribute, int device)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter("cudaDeviceGetAttribute", &driver);
    if (error == CUDA_OK && driver->device(device) == NULL)
        error = CUDA_ERROR_INVALID_DEVICE;
    if (error == CUDA_OK && attribute == CUDA_ATTRIBUTE_COMPUTE_MAJOR)
        *value = driver->device(device)->compute_major;
    else if (error == CUDA_OK && attribute == CUDA_ATTRIBUTE_COMPUTE_MINOR)
        *value = driver->device(device)->compute_minor;
    else if (error == CUDA_OK)
        error = (cuda_error)STANDIN_INVALID_VALUE;
    return runtime_leave(error);
}

EXPORT(cuda_error, cudaDeviceGetPCIBusId, char *bus_id, int size, int device)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter("cudaDeviceGetPCIBusId", &driver);
    if (error == CUDA_OK && driver->device(device) == NULL)
        error = CUDA_ERROR_INVALID_DEVICE;
    if (error == CUDA_OK)
        snprintf(bus_id, (size_t)size, "%s", driver->device(device)->bus_id);
    return runtime_leave(error);
}

EXPORT(cuda_error, cudaDeviceSynchronize, void)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter_device("cudaDeviceSynchronize", &driver);
    if (error == CUDA_OK) {
        driver->device_wait(driver->current());
        error = driver->ready();
    }
    return runtime_leave(error);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: how its runtime and its
 * NCCL come to its driver, which they load at the first call that needs one, as the real ones do.
 */
#include "config.h"

#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static const standin_driver *driver;

static void driver_open(void)
{
    const char *file = getenv("MUSTER_CUDA_LIBRARY");
    void *library = dlopen(file != NULL ? file : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library != NULL)
        driver = dlsym(library, STANDIN_DRIVER_SYMBOL);
}

const standin_driver *driver_find(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, driver_open);
    return driver;
}

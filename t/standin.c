/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stand-in for hardware, as tests use it.
 */
#include "config.h"

#include "standin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *standin_file(const char *part)
{
    static char file[4096];
    snprintf(file, sizeof(file), "%s/%s.so", STANDIN_FOLDER, part);
    return file;
}

static void standin_point(const char *variable, const char *form, const char *value)
{
    char part[64];
    snprintf(part, sizeof(part), "%s%s", form, value);
    setenv(variable, standin_file(part), 1);
}

void standin_use_runtime(const char *major)
{
    standin_point("MUSTER_CUDART_LIBRARY", "libcudart-", major);
}

void standin_use(const char *nccl_version)
{
    if (getenv("T_GPU_AS_IT_IS") != NULL)
        return;
    standin_point("MUSTER_CUDA_LIBRARY", "libcuda", "");
    standin_use_runtime("13");
    standin_point("MUSTER_NCCL_LIBRARY", "libnccl-", nccl_version);
}

void *standin_function(const char *name)
{
    const char *variable = strncmp(name, "nccl", 4) == 0   ? "MUSTER_NCCL_LIBRARY"
                           : strncmp(name, "cuda", 4) == 0 ? "MUSTER_CUDART_LIBRARY"
                                                           : "MUSTER_CUDA_LIBRARY";
    const char *file = getenv(variable);
    void *library = file != NULL ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
    return library != NULL ? dlsym(library, name) : NULL;
}

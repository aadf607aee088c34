/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the programs of t/gpu/run share.
 */
#include "config.h"

#include "gpu/common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool common_few(void)
{
    return getenv("T_GPU_FEW") != NULL;
}

void common_row(const char *format, ...)
{
    char words[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    diag("table: %s", words);
}

muster_group *common_group(const char *backend)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.group_name = backend;
    args.backend = backend;
    args.timeout_ms = patient(COMMON_TIMEOUT_MS);
    return group_of(&args);
}

void common_leave(muster_group *group)
{
    ranks_barrier();
    muster_group_free(group);
    ranks_barrier();
}

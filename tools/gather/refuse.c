/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sentence of a step that failed.
 */
#include "config.h"

#include "job.h"

#include <stdarg.h>
#include <stdio.h>

bool job_refuse(gather_job *job, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(job->why, sizeof(job->why), format, arguments);
    va_end(arguments);
    return false;
}

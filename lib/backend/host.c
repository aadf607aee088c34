/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of functions that a backend is given, so that it calls nothing of libmuster by name.
 */
#include "backend/host.h"

#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "base/patience.h"
#include "reduce/reduce.h"

static muster_status host_error(muster_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_set_v(status, format, arguments);
    va_end(arguments);
    return status;
}

static void host_log(muster_log_level level, const char *format, ...)
{
    char line[ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    log_line(level, "%s", line);
}

static const char *host_option(const muster_comm_owner *owner, const char *name)
{
    return owner->option(owner, name);
}

static muster_status host_exchange(muster_comm_owner *owner, muster_blob mine,
                                   const muster_blob **all)
{
    return owner->exchange(owner, mine, all);
}

static bool host_cancelled(const muster_comm_owner *owner)
{
    return owner->cancelled(owner);
}

static void host_broken(muster_comm_owner *owner, int rank, muster_status status,
                        const char *sentence)
{
    owner->broken(owner, rank, status, sentence);
}

/* Drivers take half a minute to start where many devices sleep. */
static int64_t host_patience_ms(void)
{
    enum { USUAL_MS = 120000 };
    return patience_alone_ms(USUAL_MS);
}

const muster_host host_functions = {
    .abi = MUSTER_BACKEND_ABI,
    .size = sizeof(muster_host),
    .error = host_error,
    .log = host_log,
    .option = host_option,
    .exchange = host_exchange,
    .cancelled = host_cancelled,
    .broken = host_broken,
    .patience_ms = host_patience_ms,
    .reduce = reduce_arrays,
};

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a communicator breaks.
 */
#include "config.h"

#include "failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/thread.h"

/* NCCL's abort takes milliseconds unless it hangs, and calls are to end within a second after their
 * time-outs. */
enum { ABORT_MS = 600 };

/* What a result means to the core. */
static muster_status result_status(nccl_result result)
{
    switch (result) {
    case NCCL_REMOTE_ERROR:
        return MUSTER_ERR_PEER_LOST;
    case NCCL_UNHANDLED_CUDA_ERROR:
    case NCCL_SYSTEM_ERROR:
        return MUSTER_ERR_SYSTEM;
    case NCCL_INVALID_USAGE:
        return MUSTER_ERR_MISMATCH;
    default:
        return MUSTER_ERR_INTERNAL;
    }
}

typedef struct words {
    char text[512];
} words;

/* "<what>: unhandled system error (2; Call to connect failed)". */
static const char *describe_result(const muster_comm *comm, nccl_result result, const char *what,
                                   words *out)
{
    const char *detail = comm->nccl->get_last_error(NULL);
    bool has = detail != NULL && detail[0] != '\0';
    snprintf(out->text, sizeof(out->text), "%s: %s (%d%s%s)", what,
             comm->nccl->get_error_string(result), (int)result, has ? "; " : "", has ? detail : "");
    for (char *at = out->text; *at != '\0'; at++)
        if (*at == '\n')
            *at = ' ';
    return out->text;
}

muster_status failure_result_error(muster_comm *comm, nccl_result result, const char *what)
{
    words out;
    return nccl_host->error(result_status(result), "%s", describe_result(comm, result, what, &out));
}

muster_status failure_cuda_error(muster_comm *comm, cuda_error error, const char *what)
{
    return nccl_host->error(
        error == CUDA_ERROR_OUT_OF_MEMORY ? MUSTER_ERR_NO_MEMORY : MUSTER_ERR_SYSTEM,
        "%s on device %d: %s (%s, %d)", what, comm->device, comm->cuda->get_error_string(error),
        comm->cuda->get_error_name(error), (int)error);
}

static bool break_v(muster_comm *comm, bool report, muster_status cause, const char *format,
                    va_list arguments)
{
    pthread_mutex_lock(&comm->lock);
    bool first = !comm->broken;
    if (first) {
        comm->broken = true;
        comm->report = report;
        comm->end_by = deadline_in(ABORT_MS);
        comm->cause = cause;
        vsnprintf(comm->cause_text, sizeof(comm->cause_text), format, arguments);
    }
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&comm->lock);
    return first;
}

bool failure_break(muster_comm *comm, bool report, muster_status cause, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bool first = break_v(comm, report, cause, format, arguments);
    va_end(arguments);
    return first;
}

void failure_break_for_result(muster_comm *comm, nccl_result result, const char *what)
{
    words out;
    failure_break(comm, true, result_status(result), "%s",
                  describe_result(comm, result, what, &out));
}

/* Waits until NCCL's communicator is gone; false where that takes too long. The lock is held. */
static bool await_end(muster_comm *comm)
{
    while (!comm->ended && thread_wait(&comm->changed, &comm->lock, comm->end_by))
        ;
    return comm->ended && !comm->stuck;
}

static const char stuck[] =
    "NCCL has not come back from breaking off, so memory that it was given may still be in use";

/* Sets the sentence; *gone: NCCL's communicator is. */
static muster_status say_cause(muster_comm *comm, bool *gone)
{
    char sentence[sizeof(comm->cause_text)];
    pthread_mutex_lock(&comm->lock);
    *gone = await_end(comm);
    muster_status status =
        comm->cause == MUSTER_ERR_PEER_LOST ? MUSTER_ERR_PEER_LOST : MUSTER_ERR_FAILED;
    memcpy(sentence, comm->cause_text, sizeof(sentence));
    pthread_mutex_unlock(&comm->lock);
    return nccl_host->error(status, "%s%s%s", sentence, *gone ? "" : "; ", *gone ? "" : stuck);
}

muster_status failure_error(muster_comm *comm)
{
    bool gone;
    return say_cause(comm, &gone);
}

muster_status failure_of_wait(muster_comm *comm)
{
    bool gone;
    muster_status status = say_cause(comm, &gone);
    if (comm->cause != MUSTER_ERR_TIMEOUT) /* which does not change any more */
        return status;
    return nccl_host->error(MUSTER_ERR_TIMEOUT, "%s", gone ? "" : stuck);
}

muster_status failure_timeout(muster_comm *comm, bool plain, const char *format, ...)
{
    bool gone;
    va_list arguments;
    va_start(arguments, format);
    bool first = break_v(comm, false, MUSTER_ERR_TIMEOUT, format, arguments);
    va_end(arguments);
    muster_status status = say_cause(comm, &gone);
    if (first && plain)
        nccl_host->error(MUSTER_ERR_TIMEOUT, "%s", gone ? "" : stuck);
    return first ? MUSTER_ERR_TIMEOUT : status;
}

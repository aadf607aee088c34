/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: streams and events, as
 * CUDA's runtime has them.
 */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "runtime.h"

/* Events are freed when they are destroyed and the last work that writes their time has run. */
struct cuda_event_state {
    pthread_mutex_t lock;
    standin_mark mark; /* behind what it was recorded */
    bool timed;
    struct timespec time;
    int users;
};

/* ---- streams ---- */

static cuda_error runtime_stream_open(const char *function, cuda_stream *stream, unsigned flags,
                                      int priority)
{
    const standin_driver *driver;
    standin_stream *made = NULL;
    cuda_error error = runtime_enter_device(function, &driver);
    if (error == CUDA_OK && flags > CUDA_STREAM_NON_BLOCKING)
        error = (cuda_error)STANDIN_INVALID_VALUE;
    if (error == CUDA_OK)
        error = driver->stream_open(flags, priority, &made);
    if (error == CUDA_OK)
        *stream = made;
    return runtime_leave(error);
}

EXPORT(cuda_error, cudaStreamCreate, cuda_stream *stream)
{
    return runtime_stream_open("cudaStreamCreate", stream, CUDA_STREAM_DEFAULT, 0);
}

EXPORT(cuda_error, cudaStreamCreateWithFlags, cuda_stream *stream, unsigned flags)
{
    return runtime_stream_open("cudaStreamCreateWithFlags", stream, flags, 0);
}

EXPORT(cuda_error, cudaStreamCreateWithPriority, cuda_stream *stream, unsigned flags, int priority)
{
    return runtime_stream_open("cudaStreamCreateWithPriority", stream, flags, priority);
}

EXPORT(cuda_error, cudaDeviceGetStreamPriorityRange, int *least, int *greatest)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter_device("cudaDeviceGetStreamPriorityRange", &driver);
    if (error == CUDA_OK) {
        *least = 0;
        *greatest = -5;
    }
    return runtime_leave(error);
}

/* Begins a call on a stream. */
static cuda_error runtime_enter_stream(const char *function, cuda_stream stream,
                                       const standin_driver **driver)
{
    cuda_error error = runtime_enter_device(function, driver);
    if (error == CUDA_OK && !(*driver)->stream_known(stream))
        error = (cuda_error)STANDIN_INVALID_HANDLE;
    return error;
}

EXPORT(cuda_error, cudaStreamDestroy, cuda_stream stream)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter_stream("cudaStreamDestroy", stream, &driver);
    if (error == CUDA_OK && (uintptr_t)stream <= 2)
        error = (cuda_error)STANDIN_INVALID_HANDLE;
    if (error == CUDA_OK)
        error = driver->stream_close(stream);
    return runtime_leave(error);
}

EXPORT(cuda_error, cudaStreamQuery, cuda_stream stream)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter_stream("cudaStreamQuery", stream, &driver);
    if (error == CUDA_OK && !driver->mark_reached(driver->stream_mark(stream)))
        error = CUDA_ERROR_NOT_READY;
    return runtime_leave(error);
}

EXPORT(cuda_error, cudaStreamSynchronize, cuda_stream stream)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter_stream("cudaStreamSynchronize", stream, &driver);
    if (error == CUDA_OK) {
        driver->mark_wait(driver->stream_mark(stream));
        error = driver->ready();
    }
    return runtime_leave(error);
}

/* ---- events ---- */

static standin_mark event_mark(cuda_event event)
{
    pthread_mutex_lock(&event->lock);
    standin_mark mark = event->mark;
    pthread_mutex_unlock(&event->lock);
    return mark;
}

static void event_leave(cuda_event event)
{
    pthread_mutex_lock(&event->lock);
    bool last = --event->users == 0;
    pthread_mutex_unlock(&event->lock);
    if (last) {
        pthread_mutex_destroy(&event->lock);
        free(event);
    }
}

static void event_take_time(void *what)
{
    cuda_event event = what;
    pthread_mutex_lock(&event->lock);
    clock_gettime(CLOCK_MONOTONIC, &event->time);
    pthread_mutex_unlock(&event->lock);
    event_leave(event);
}

EXPORT(cuda_error, cudaStreamWaitEvent, cuda_stream stream, cuda_event event, unsigned flags)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter_stream("cudaStreamWaitEvent", stream, &driver);
    if (error == CUDA_OK && (event == NULL || flags != 0))
        error = (cuda_error)STANDIN_INVALID_VALUE;
    if (error == CUDA_OK)
        error = driver->stream_await(stream, event_mark(event));
    return runtime_leave(error);
}

EXPORT(cuda_error, cudaEventCreateWithFlags, cuda_event *event, unsigned flags)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter_device("cudaEventCreateWithFlags", &driver);
    cuda_event made = error == CUDA_OK ? calloc(1, sizeof(*made)) : NULL;
    if (error == CUDA_OK && made == NULL)
        error = CUDA_ERROR_OUT_OF_MEMORY;
    if (error != CUDA_OK)
        return runtime_leave(error);
    pthread_mutex_init(&made->lock, NULL);
    made->timed = (flags & CUDA_EVENT_DISABLE_TIMING) == 0;
    made->users = 1;
    *event = made;
    return CUDA_OK;
}

EXPORT(cuda_error, cudaEventDestroy, cuda_event event)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter("cudaEventDestroy", &driver);
    if (error == CUDA_OK && event == NULL)
        error = (cuda_error)STANDIN_INVALID_HANDLE;
    if (error == CUDA_OK)
        event_leave(event);
    return runtime_leave(error);
}

/* Every event is work of its own, so that it is never reached at once. */
EXPORT(cuda_error, cudaEventRecord, cuda_event event, cuda_stream stream)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter_stream("cudaEventRecord", stream, &driver);
    if (error != CUDA_OK)
        return runtime_leave(error);
    pthread_mutex_lock(&event->lock);
    event->users++;
    pthread_mutex_unlock(&event->lock);
    error = driver->stream_push(stream, event_take_time, event);
    if (error != CUDA_OK) {
        event_leave(event);
        return runtime_leave(error);
    }
    standin_mark mark = driver->stream_mark(stream);
    pthread_mutex_lock(&event->lock);
    event->mark = mark;
    pthread_mutex_unlock(&event->lock);
    return CUDA_OK;
}

EXPORT(cuda_error, cudaEventQuery, cuda_event event)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter("cudaEventQuery", &driver);
    if (error == CUDA_OK && !driver->mark_reached(event_mark(event)))
        error = CUDA_ERROR_NOT_READY;
    return runtime_leave(error);
}

EXPORT(cuda_error, cudaEventSynchronize, cuda_event event)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter("cudaEventSynchronize", &driver);
    if (error == CUDA_OK) {
        driver->mark_wait(event_mark(event));
        error = driver->ready();
    }
    return runtime_leave(error);
}

EXPORT(cuda_error, cudaEventElapsedTime, float *milliseconds, cuda_event from, cuda_event to)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter("cudaEventElapsedTime", &driver);
    if (error == CUDA_OK && !(from->timed && to->timed))
        error = (cuda_error)STANDIN_INVALID_HANDLE;
    if (error == CUDA_OK &&
        !(driver->mark_reached(event_mark(from)) && driver->mark_reached(event_mark(to))))
        error = CUDA_ERROR_NOT_READY;
    if (error == CUDA_OK)
        *milliseconds = (float)(1e3 * (double)(to->time.tv_sec - from->time.tv_sec) +
                                1e-6 * (double)(to->time.tv_nsec - from->time.tv_nsec));
    return runtime_leave(error);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: streams. All share one
 * lock; each counts what it was given and what it has done. A stream is never freed, so that a mark
 * may outlive it.
 */
#include "config.h"

#include "stream.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "devices.h"

typedef struct stream_item {
    void (*run)(void *what); /* or NULL: waits for the mark */
    void *what;
    standin_mark mark;
    struct timespec start;
    struct stream_item *next;
} stream_item;

struct standin_stream {
    int device;
    int priority;
    bool with_default; /* ordered with the device's default stream */
    bool closed;
    uint64_t given;
    uint64_t done;
    stream_item *first;
    stream_item **end;
    standin_stream *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static standin_stream *streams;
static standin_stream *defaults[DEVICES_MOST];

static struct timespec stream_start(void)
{
    struct timespec start;
    const char *given = getenv("MUSTER_STANDIN_DELAY_US");
    long delay = given != NULL ? atol(given) : 100;
    clock_gettime(CLOCK_MONOTONIC, &start);
    start.tv_sec += delay / 1000000;
    start.tv_nsec += delay % 1000000 * 1000;
    start.tv_sec += start.tv_nsec / 1000000000;
    start.tv_nsec %= 1000000000;
    return start;
}

/* ---- with the lock ---- */

static bool stream_mark_reached(standin_mark mark)
{
    return mark.stream == NULL || mark.stream->done >= mark.ticket;
}

static bool stream_add(standin_stream *stream, stream_item item)
{
    stream_item *kept = malloc(sizeof(*kept));
    if (kept == NULL)
        return false;
    *kept = item;
    *stream->end = kept;
    stream->end = &kept->next;
    stream->given++;
    pthread_cond_broadcast(&moved);
    return true;
}

static bool stream_add_wait(standin_stream *stream, standin_mark mark)
{
    return mark.stream == stream || stream_mark_reached(mark) ||
           stream_add(stream, (stream_item){.mark = mark});
}

/* The default stream comes behind all that is ordered with it, and they behind it. */
static bool stream_order(standin_stream *stream)
{
    standin_stream *main = defaults[stream->device];
    bool fine = true;
    if (stream != main)
        return main == NULL || !stream->with_default ||
               stream_add_wait(stream, (standin_mark){main, main->given});
    for (standin_stream *one = streams; one != NULL && fine; one = one->next)
        if (one->device == stream->device && one->with_default)
            fine = stream_add_wait(stream, (standin_mark){one, one->given});
    return fine;
}

/* ---- the thread of a stream ---- */

static void stream_do(stream_item *item)
{
    if (item->run == NULL) {
        while (!stream_mark_reached(item->mark))
            pthread_cond_wait(&moved, &lock);
        return;
    }
    pthread_mutex_unlock(&lock);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &item->start, NULL) == EINTR)
        continue;
    item->run(item->what);
    pthread_mutex_lock(&lock);
}

static void *stream_thread(void *argument)
{
    standin_stream *stream = argument;
    pthread_mutex_lock(&lock);
    while (!stream->closed || stream->first != NULL) {
        stream_item *item = stream->first;
        if (item == NULL) {
            pthread_cond_wait(&moved, &lock);
            continue;
        }
        stream_do(item);
        stream->first = item->next;
        if (item->next == NULL)
            stream->end = &stream->first;
        free(item);
        stream->done++;
        pthread_cond_broadcast(&moved);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static bool stream_start_thread(standin_stream *stream)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, stream_thread, stream);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        pthread_detach(thread);
    return error == 0;
}

/* ---- from outside ---- */

cu_result stream_open(int device, unsigned flags, int priority, standin_stream **stream)
{
    standin_stream *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->device = device;
    made->priority = priority;
    made->with_default = (flags & CUDA_STREAM_NON_BLOCKING) == 0;
    made->end = &made->first;
    if (!stream_start_thread(made)) {
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&lock);
    made->next = streams;
    streams = made;
    pthread_mutex_unlock(&lock);
    *stream = made;
    return CUDA_OK;
}

cu_result stream_close(standin_stream *stream)
{
    pthread_mutex_lock(&lock);
    stream->closed = true;
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&lock);
    return CUDA_OK;
}

static standin_stream *stream_default(int device)
{
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
    standin_stream *made = NULL;
    pthread_mutex_lock(&making);
    pthread_mutex_lock(&lock);
    standin_stream *found = defaults[device];
    pthread_mutex_unlock(&lock);
    if (found == NULL && stream_open(device, CUDA_STREAM_NON_BLOCKING, 0, &made) == CUDA_OK) {
        pthread_mutex_lock(&lock);
        found = defaults[device] = made;
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_unlock(&making);
    return found;
}

standin_stream *stream_of(int device, standin_stream *stream)
{
    if ((uintptr_t)stream <= 2) /* nothing, cudaStreamLegacy, cudaStreamPerThread */
        return stream_default(device);
    pthread_mutex_lock(&lock);
    standin_stream *one = streams;
    while (one != NULL && (one != stream || one->closed))
        one = one->next;
    pthread_mutex_unlock(&lock);
    return one;
}

cu_result stream_push(standin_stream *stream, void (*run)(void *what), void *what)
{
    stream_item item = {.run = run, .what = what, .start = stream_start()};
    pthread_mutex_lock(&lock);
    bool fine = stream_order(stream) && stream_add(stream, item);
    pthread_mutex_unlock(&lock);
    return fine ? CUDA_OK : CUDA_ERROR_OUT_OF_MEMORY;
}

cu_result stream_await(standin_stream *stream, standin_mark mark)
{
    pthread_mutex_lock(&lock);
    bool fine = stream_add_wait(stream, mark);
    pthread_mutex_unlock(&lock);
    return fine ? CUDA_OK : CUDA_ERROR_OUT_OF_MEMORY;
}

standin_mark stream_mark(standin_stream *stream)
{
    pthread_mutex_lock(&lock);
    stream_order(stream);
    standin_mark mark = {stream, stream->given};
    pthread_mutex_unlock(&lock);
    return mark;
}

bool stream_reached(standin_mark mark)
{
    pthread_mutex_lock(&lock);
    bool reached = stream_mark_reached(mark);
    pthread_mutex_unlock(&lock);
    return reached;
}

void stream_wait(standin_mark mark)
{
    pthread_mutex_lock(&lock);
    while (!stream_mark_reached(mark))
        pthread_cond_wait(&moved, &lock);
    pthread_mutex_unlock(&lock);
}

void stream_wait_device(int device)
{
    pthread_mutex_lock(&lock);
    for (standin_stream *one = streams; one != NULL; one = one->next) {
        standin_mark mark = {one, one->given};
        while (one->device == device && !stream_mark_reached(mark))
            pthread_cond_wait(&moved, &lock);
    }
    pthread_mutex_unlock(&lock);
}

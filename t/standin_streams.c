/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stand-in for hardware: streams run what they are given later and in their order; events and
 * the default stream order them among each other.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "ranks.h"
#include "standin.h"
#include "standin_api.h"

enum { SIZE = 4096 };

static const standin_api *api;
static char *pinned;
static char *device;

/* Work takes DELAY to begin. */
static void begin(const char *delay)
{
    standin_use("2.28");
    setenv("MUSTER_STANDIN_DELAY_US", delay, 1);
    api = standin_api_get();
    api->cudaHostAlloc((void **)&pinned, SIZE, 0);
    device = standin_upload(NULL, SIZE);
    memset(pinned, 0, SIZE);
}

static cuda_stream make_stream(unsigned flags)
{
    cuda_stream stream = NULL;
    api->cudaStreamCreateWithFlags(&stream, flags);
    return stream;
}

static cuda_event make_event(void)
{
    cuda_event event = NULL;
    api->cudaEventCreateWithFlags(&event, CUDA_EVENT_DISABLE_TIMING);
    return event;
}

static void late(int rank, int size)
{
    (void)rank, (void)size;
    char pageable[SIZE] = {1};
    begin("300000");
    cuda_stream stream = make_stream(CUDA_STREAM_NON_BLOCKING);
    memset(pinned, 1, SIZE);
    is_int(api->cudaMemcpyAsync(device, pinned, SIZE, CUDA_COPY_HOST_TO_DEVICE, stream), CUDA_OK,
           "a copy starts");
    is_int(api->cudaStreamQuery(stream), CUDA_ERROR_NOT_READY, "and is not done at once");
    memset(pinned, 2, SIZE);
    is_int(api->cudaStreamSynchronize(stream), CUDA_OK, "it is done");
    is_int(api->cudaStreamQuery(stream), CUDA_OK, "and known to be");
    memset(pinned, 3, SIZE);
    api->cudaMemcpyAsync(pinned, device, SIZE, CUDA_COPY_DEVICE_TO_HOST, stream);
    is_int(*(volatile char *)pinned, 3, "the way back is late, too");
    api->cudaStreamSynchronize(stream);
    is_int(*(volatile char *)pinned, 2, "pinned memory was read late");
    api->cudaMemcpyAsync(device, pageable, SIZE, CUDA_COPY_HOST_TO_DEVICE, stream);
    pageable[0] = 9;
    api->cudaMemcpyAsync(pageable, device, SIZE, CUDA_COPY_DEVICE_TO_HOST, stream);
    is_int(pageable[0], 1, "memory that is not pinned is read and written before the call returns");
    is_int(api->cudaStreamDestroy(stream), CUDA_OK, "the stream goes");
    is_int(api->cudaStreamQuery(stream), 400, "and is no more");
    is_int(api->cudaStreamDestroy(NULL), 400, "the default stream stays");
}

/* What two streams write to the same place, in the order that they are given it. */
static int written(cuda_stream first, cuda_stream second, bool with_event)
{
    char last = 0;
    cuda_event event = make_event();
    for (int i = 0; i < 20; i++) /* the first one has much to do */
        api->cudaMemsetAsync(device, 1, SIZE, first);
    api->cudaEventRecord(event, first);
    if (with_event)
        api->cudaStreamWaitEvent(second, event, 0);
    api->cudaMemsetAsync(device, 2, SIZE, second);
    api->cudaEventDestroy(event);
    standin_download(&last, device, 1);
    return last;
}

static void ordered(int rank, int size)
{
    (void)rank, (void)size;
    begin("0");
    cuda_stream free_one = make_stream(CUDA_STREAM_NON_BLOCKING);
    cuda_stream tied = make_stream(CUDA_STREAM_DEFAULT);
    setenv("MUSTER_STANDIN_DELAY_US", "2000", 1);
    is_int(written(tied, free_one, true), 2, "an event orders two streams");
    is_int(written(tied, NULL, false), 2, "the default stream comes behind others");
    is_int(written(NULL, tied, false), 2, "and others behind it");
    is_int(written(NULL, free_one, true), 2, "an event orders those that it leaves alone");
    setenv("MUSTER_STANDIN_DELAY_US", "500000", 1);
    api->cudaMemsetAsync(device, 1, 1, tied);
    setenv("MUSTER_STANDIN_DELAY_US", "0", 1);
    api->cudaMemsetAsync(device + 1, 2, 1, free_one);
    api->cudaStreamSynchronize(free_one);
    is_int(api->cudaStreamQuery(tied), CUDA_ERROR_NOT_READY, "without one the later may be first");
    api->cudaStreamSynchronize(tied);
}

static void events(int rank, int size)
{
    (void)rank, (void)size;
    float ms = -1;
    begin("200000");
    cuda_stream stream = make_stream(CUDA_STREAM_NON_BLOCKING);
    cuda_event event = make_event(), from, to;
    api->cudaEventCreateWithFlags(&from, 0);
    api->cudaEventCreateWithFlags(&to, 0);
    is_int(api->cudaEventQuery(event), CUDA_OK, "an event that was never recorded has happened");
    api->cudaEventRecord(from, stream);
    api->cudaEventSynchronize(from);
    api->cudaMemsetAsync(device, 1, SIZE, stream);
    api->cudaEventRecord(event, stream);
    api->cudaEventRecord(to, stream);
    is_int(api->cudaEventQuery(event), CUDA_ERROR_NOT_READY, "one that was has not");
    is_int(api->cudaEventElapsedTime(&ms, from, to), CUDA_ERROR_NOT_READY, "nor is there a time");
    is_int(api->cudaEventSynchronize(to), CUDA_OK, "then they have");
    is_int(api->cudaEventQuery(event), CUDA_OK, "all");
    ok(api->cudaEventElapsedTime(&ms, from, to) == CUDA_OK && ms >= 199 && ms < 10000,
       "the time between two");
    is_int(api->cudaEventElapsedTime(&ms, from, event), 400, "of events that have one");
    api->cudaStreamDestroy(stream);
    is_int(api->cudaEventQuery(event), CUDA_OK, "an event outlives its stream");
    api->cudaEventDestroy(event);
    api->cudaEventDestroy(from);
    api->cudaEventDestroy(to);
}

static void freed(int rank, int size)
{
    (void)rank, (void)size;
    begin("50000");
    cuda_stream stream = make_stream(CUDA_STREAM_NON_BLOCKING);
    api->cudaMemsetAsync(device, 1, SIZE, stream);
    is_int(api->cudaFree(device), CUDA_OK, "memory in use is freed");
    is_int(api->cudaStreamQuery(stream), CUDA_OK, "when its device has nothing to do");
}

int main(int argc, char **argv)
{
    static const struct ranks_case cases[] = {
        {.name = "late", .size = 1, .points = 10, .body = late},
        {.name = "ordered", .size = 1, .points = 5, .body = ordered},
        {.name = "events", .size = 1, .points = 8, .body = events},
        {.name = "freed", .size = 1, .points = 2, .body = freed},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Copies between host and device, waited for under a time-out: CUDA's own waits have none.
 */
#include "config.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "base/deadline.h"
#include "device.h"
#include "device_memory.h"
#include "nccl_api.h"

struct muster_copy {
    int device;
    cuda_event done;
};

static muster_status device_copy_enqueue(const cuda_api *cuda, cuda_stream stream, void *to,
                                         const void *from, size_t size, cuda_event *done)
{
    cuda_error error = cuda->event_create_with_flags(done, CUDA_EVENT_DISABLE_TIMING);
    if (error != CUDA_OK)
        return cuda_api_error(cuda, error, "can't make an event");
    error = cuda->memcpy_async(to, from, size, CUDA_COPY_DEFAULT, stream);
    if (error == CUDA_OK)
        error = cuda->event_record(*done, stream);
    if (error == CUDA_OK)
        return MUSTER_OK;
    muster_status status = cuda_api_error(cuda, error, "can't start a copy");
    cuda->event_destroy(*done);
    return status;
}

muster_status device_copy_start(int device, void *stream, void *to, const void *from, size_t size,
                                muster_copy **copy)
{
    const cuda_api *cuda;
    muster_status status = cuda_api_load(&cuda);
    if (status == MUSTER_OK)
        status = device_enter(cuda, device);
    if (status != MUSTER_OK)
        return status;
    muster_copy *made = malloc(sizeof(*made));
    if (made == NULL)
        status = nccl_host->error(MUSTER_ERR_NO_MEMORY, "no memory for a copy");
    else
        status = device_copy_enqueue(cuda, stream, to, from, size, &made->done);
    device_leave(cuda);
    if (status != MUSTER_OK) {
        free(made);
        return status;
    }
    made->device = device;
    *copy = made;
    return MUSTER_OK;
}

/* Small copies are done in microseconds; for others a thread that sleeps is a core for who
 * computes.
 */
static void device_copy_pause(unsigned turn)
{
    enum { YIELDS = 64, SHORTEST_NS = 10000, LONGEST_NS = 500000 };
    if (turn < YIELDS) {
        sched_yield();
        return;
    }
    long long pause = (long long)SHORTEST_NS * (1 + turn - YIELDS);
    const struct timespec nap = {0, pause < LONGEST_NS ? (long)pause : LONGEST_NS};
    nanosleep(&nap, NULL);
}

static muster_status device_copy_poll(const cuda_api *cuda, cuda_event done, int64_t timeout_ms)
{
    deadline end = deadline_in(timeout_ms);
    for (unsigned turn = 0;; turn++) {
        cuda_error error = cuda->event_query(done);
        if (error == CUDA_OK)
            return MUSTER_OK;
        if (error != CUDA_ERROR_NOT_READY)
            return cuda_api_error(cuda, error, "a copy has failed");
        if (deadline_left_ms(end) == 0) {
            cuda->get_last_error();
            return nccl_host->error(MUSTER_ERR_TIMEOUT,
                                    "a copy was not done within %lld ms: the device still has "
                                    "other work in front of it, or hangs",
                                    (long long)timeout_ms);
        }
        device_copy_pause(turn);
    }
}

muster_status device_copy_wait(muster_copy *copy, int64_t timeout_ms)
{
    const cuda_api *cuda;
    muster_status status = cuda_api_load(&cuda);
    if (status == MUSTER_OK)
        status = device_enter(cuda, copy->device);
    if (status == MUSTER_OK) {
        status = device_copy_poll(cuda, copy->done, timeout_ms);
        cuda->event_destroy(copy->done);
        device_leave(cuda);
    }
    free(copy);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Copies between host and device, waited for under a time-out: CUDA's own waits have none. Each is
 * two errands.
 */
#include "config.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "base/deadline.h"
#include "device.h"
#include "device_memory.h"
#include "errand.h"
#include "nccl_api.h"

struct muster_copy {
    errand errand; /* first */
    cuda_stream stream;
    void *to;
    const void *from;
    size_t size;
    cuda_event done;
    deadline end;
};

/* How much longer than the device the runtime may take to say so. */
enum { GRACE_MS = 300 };

static deadline with_grace(int64_t timeout_ms)
{
    return deadline_in(timeout_ms < DEADLINE_LONGEST_MS ? timeout_ms + GRACE_MS : timeout_ms);
}

/* ---- starting ---- */

static cuda_error start_run(errand *base)
{
    muster_copy *copy = (muster_copy *)base;
    const cuda_api *cuda = base->cuda;
    cuda_error error = cuda->event_create_with_flags(&copy->done, CUDA_EVENT_DISABLE_TIMING);
    if (error != CUDA_OK) {
        base->what = "can't make an event";
        return error;
    }
    error = cuda->memcpy_async(copy->to, copy->from, copy->size, CUDA_COPY_DEFAULT, copy->stream);
    if (error == CUDA_OK)
        error = cuda->event_record(copy->done, copy->stream);
    if (error != CUDA_OK)
        cuda->event_destroy(copy->done);
    return error;
}

static void start_late(errand *base)
{
    if (base->error == CUDA_OK)
        base->cuda->event_destroy(((muster_copy *)base)->done);
}

static void copy_release(errand *base)
{
    free(base);
}

static muster_status copy_new(int device, muster_copy **copy)
{
    const cuda_api *cuda;
    muster_status status = cuda_api_load(&cuda);
    if (status == MUSTER_OK)
        status = device_check(cuda, device);
    if (status != MUSTER_OK)
        return status;
    muster_copy *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return nccl_host->error(MUSTER_ERR_NO_MEMORY, "no memory for a copy");
    made->errand = (errand){.cuda = cuda,
                            .device = device,
                            .what = "can't start a copy",
                            .run = start_run,
                            .late = start_late,
                            .release = copy_release};
    *copy = made;
    return MUSTER_OK;
}

muster_status device_copy_start(int device, void *stream, void *to, const void *from, size_t size,
                                int64_t timeout_ms, muster_copy **copy)
{
    muster_copy *made;
    muster_status status = copy_new(device, &made);
    if (status != MUSTER_OK)
        return status;
    made->stream = stream;
    made->to = to;
    made->from = from;
    made->size = size;
    status = errand_run(&made->errand, with_grace(timeout_ms));
    if (status == MUSTER_OK)
        *copy = made;
    else
        errand_unref(&made->errand);
    return status;
}

/* ---- waiting ---- */

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

/* CUDA_ERROR_NOT_READY once the time is over. */
static cuda_error wait_run(errand *base)
{
    muster_copy *copy = (muster_copy *)base;
    cuda_error error = base->cuda->event_query(copy->done);
    for (unsigned turn = 0; error == CUDA_ERROR_NOT_READY && deadline_left_ms(copy->end) > 0;
         turn++) {
        device_copy_pause(turn);
        error = base->cuda->event_query(copy->done);
    }
    base->cuda->event_destroy(copy->done);
    return error;
}

static muster_status wait_for(errand *me, int64_t timeout_ms)
{
    muster_status status = errand_await(me, with_grace(timeout_ms));
    if (status == MUSTER_ERR_TIMEOUT || (status == MUSTER_OK && me->error == CUDA_ERROR_NOT_READY))
        return nccl_host->error(
            MUSTER_ERR_TIMEOUT, "a copy was not done within %lld ms: %s", (long long)timeout_ms,
            status == MUSTER_OK ? "the device still has other work in front of it, or hangs"
                                : "CUDA does not come back from being asked; the driver hangs");
    if (status != MUSTER_OK || me->error == CUDA_OK)
        return status;
    return cuda_api_sentence(me->cuda, me->error, "a copy has failed");
}

muster_status device_copy_wait(muster_copy *copy, int64_t timeout_ms)
{
    muster_copy *wait;
    muster_status status = copy_new(copy->errand.device, &wait);
    if (status == MUSTER_OK) {
        wait->errand.run = wait_run;
        wait->errand.late = NULL;
        wait->done = copy->done;
        wait->end = deadline_in(timeout_ms);
        status = wait_for(&wait->errand, timeout_ms);
        errand_unref(&wait->errand);
    }
    errand_unref(&copy->errand);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Preloaded before muster-perf: collectives of float32 whose results are wrong.
 */
#include "config.h"

#include "muster.h"

#include <dlfcn.h>

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static void spoil(void *receive, size_t count, muster_type type)
{
    if (type == MUSTER_FLOAT32 && count > 0)
        *((unsigned char *)receive + count * 4 - 1) ^= 1;
}

/* The last element is wrong on each rank. */
MUSTER_API muster_status muster_all_reduce(muster_group *group, const void *send, void *receive,
                                           size_t count, muster_type type, muster_reduction redop,
                                           muster_work **work)
{
    muster_status status = REAL(muster_all_reduce)(group, send, receive, count, type, redop, work);
    spoil(receive, count, type);
    return status;
}

/* The last element of the first block is. */
MUSTER_API muster_status muster_all_gather(muster_group *group, const void *send, void *receive,
                                           size_t count, muster_type type, muster_work **work)
{
    muster_status status = REAL(muster_all_gather)(group, send, receive, count, type, work);
    spoil(receive, count, type);
    return status;
}

/* Nothing moves. */
MUSTER_API muster_status muster_broadcast(muster_group *group, void *buffer, size_t count,
                                          muster_type type, int root, muster_work **work)
{
    if (type == MUSTER_FLOAT32)
        return MUSTER_OK;
    return REAL(muster_broadcast)(group, buffer, count, type, root, work);
}

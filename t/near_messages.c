/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages between ranks of one host in a group of several: what the backend says of them in the
 * numbers of the host is told in those of the group, whatever fails.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "collective/work.h"
#include "group/group.h"
#include "records.h"
#include "tap.h"

enum { RANKS = 4, TIMEOUT_MS = 2000 };

/* Ranks 1 and 3 are on one host, where they are 0 and 1. */
static const char far_ranks[] = "02";

typedef enum step { POST_SEND, POST_RECV, WAIT } step;

static struct {
    step fails;
    int peer;
} fake;

static muster_status answer(step which)
{
    return fake.fails != which
               ? MUSTER_OK
               : error_set(MUSTER_ERR_NO_MEMORY, "no memory for a message of rank 0 to rank 1");
}

static muster_status fake_post_send(muster_comm *comm, int peer, uint64_t slot, const void *data,
                                    size_t size, muster_request **request)
{
    (void)slot, (void)data, (void)size;
    fake.peer = peer;
    *request = (muster_request *)comm;
    return answer(POST_SEND);
}

static muster_status fake_post_recv(muster_comm *comm, int peer, uint64_t slot, void *data,
                                    size_t size, muster_request **request)
{
    (void)slot, (void)data, (void)size;
    fake.peer = peer;
    *request = (muster_request *)comm;
    return answer(POST_RECV);
}

static muster_status fake_wait(muster_comm *comm, muster_request *request, int64_t timeout_ms)
{
    (void)comm, (void)request, (void)timeout_ms;
    return answer(WAIT);
}

static void nothing(muster_comm *comm)
{
    (void)comm;
}

static const muster_backend ops = {.name = "fake",
                                   .post_send = fake_post_send,
                                   .post_recv = fake_post_recv,
                                   .wait = fake_wait,
                                   .abort = nothing,
                                   .close = nothing};
static const backend_entry entry = {.name = "fake", .ops = &ops, .available = true};

static muster_group *make_group(void)
{
    static char near, far;
    muster_store *store = NULL;
    muster_group *group = NULL;
    if (muster_store_hash(&store) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    const group_shape shape = {.name = "g",
                               .prefix = "g",
                               .asked = "fake",
                               .store = store,
                               .timeout_ms = TIMEOUT_MS,
                               .rank = 1,
                               .size = RANKS,
                               .parent_size = RANKS,
                               .world_size = RANKS};
    if (group_new(&shape, &group) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    muster_store_free(store);
    records_roster(&group->ranks, RANKS, NULL, far_ranks);
    group->host.backend = group->near.backend = &entry;
    group->host.comm = (muster_comm *)&far;
    group->near.comm = (muster_comm *)&near;
    if (near_map_make(&group->ranks, &group->hosts) != MUSTER_OK ||
        work_queue_start(&group->queue, group) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    return group;
}

static void fails(step which, const char *name)
{
    int32_t one = 1;
    muster_group *group = make_group();
    fake.fails = which;
    muster_status status = which == POST_RECV ? muster_recv(group, &one, 1, MUSTER_INT32, 3, NULL)
                                              : muster_send(group, &one, 1, MUSTER_INT32, 3, NULL);
    is_int(status, MUSTER_ERR_NO_MEMORY, "%s", name);
    is_int(fake.peer, 1, "the backend knows the rank by its place on the host");
    has_str(muster_last_error(), "no memory for a message of rank 1 to rank 3",
            "the sentence by the group's numbers");
    muster_group_free(group);
}

/* To another host nothing is translated. */
static void far(void)
{
    int32_t one = 1;
    muster_group *group = make_group();
    fake.fails = POST_SEND;
    is_int(muster_send(group, &one, 1, MUSTER_INT32, 2, NULL), MUSTER_ERR_NO_MEMORY,
           "a message to another host");
    has_str(muster_last_error(), "no memory for a message of rank 0 to rank 1", "is told as it is");
    muster_group_free(group);
}

int main(void)
{
    plan(11);
    fails(POST_SEND, "a send that is not posted");
    fails(POST_RECV, "a receive that is not posted");
    fails(WAIT, "a send that is waited for");
    far();
    return done();
}

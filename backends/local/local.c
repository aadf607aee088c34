/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The backend for groups of one rank, built into libmuster: there is nobody to talk to, so it moves
 * nothing and is always there.
 */
#include <stdio.h>
#include <stdlib.h>

#include "muster/backend.h"
#include "muster/version.h"

/* Only its address counts: the core needs something to close. */
struct muster_comm {
    char nothing;
};

static const muster_host *host;

static muster_status local_probe(const muster_host *functions, muster_backend_info *info)
{
    host = functions;
    snprintf(info->version, sizeof(info->version), "%d.%d.%d", MUSTER_VERSION_MAJOR,
             MUSTER_VERSION_MINOR, MUSTER_VERSION_PATCH);
    snprintf(info->details, sizeof(info->details), "groups of one rank");
    return MUSTER_OK;
}

static muster_status local_open(muster_comm_owner *owner, const muster_open_args *args,
                                muster_comm **comm)
{
    (void)owner;
    if (args->num_ranks != 1)
        return host->error(MUSTER_ERR_UNSUPPORTED,
                           "backend 'local' serves groups of one rank and this one has %d; use "
                           "another backend, such as 'gloo'",
                           args->num_ranks);
    muster_comm *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return host->error(MUSTER_ERR_NO_MEMORY, "no memory for a communicator");
    *comm = made;
    return MUSTER_OK;
}

static muster_status local_refuse(const char *what)
{
    return host->error(MUSTER_ERR_UNSUPPORTED,
                       "backend 'local' can't %s: its groups have one rank, with no peers", what);
}

static muster_status local_post_send(muster_comm *comm, int peer, uint64_t slot, const void *data,
                                     size_t size, muster_request **request)
{
    (void)comm, (void)peer, (void)slot, (void)data, (void)size, (void)request;
    return local_refuse("send");
}

static muster_status local_post_recv(muster_comm *comm, int peer, uint64_t slot, void *data,
                                     size_t size, muster_request **request)
{
    (void)comm, (void)peer, (void)slot, (void)data, (void)size, (void)request;
    return local_refuse("receive");
}

static muster_status local_wait(muster_comm *comm, muster_request *request, int64_t timeout_ms)
{
    (void)comm, (void)request, (void)timeout_ms;
    return local_refuse("wait for a message");
}

static void local_abort(muster_comm *comm)
{
    (void)comm;
}

static void local_free(muster_comm *comm)
{
    free(comm);
}

static const char *local_describe(muster_comm *comm)
{
    (void)comm;
    return "one rank, nothing to move";
}

const muster_backend local_backend = {
    .abi = MUSTER_BACKEND_ABI,
    .size = sizeof(muster_backend),
    .name = "local",
    .priority = 0,
    .probe = local_probe,
    .open = local_open,
    .post_send = local_post_send,
    .post_recv = local_post_recv,
    .wait = local_wait,
    .abort = local_abort,
    .close = local_free,
    .forget = local_free,
    .describe = local_describe,
};

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening a communicator.
 *
 * NCCL itself finds out next to nothing about the others: it waits for them. So all that can fail
 * on this rank alone comes before the exchange, and what must agree is compared after it. Rank 0
 * makes NCCL's unique id before the exchange, which is the only one that there is, and so before it
 * knows that all others come: NCCL then has a socket and a thread that wait for them, for good
 * where one of them has failed. The core has compared what the ranks published before it opens
 * anything, so this is rare; and where the parent is split there is no id.
 */
#include "config.h"

#include <stdio.h>

#include "birth.h"
#include "device.h"
#include "nccl_config.h"

/* How long an abort on this device may still take that was begun before. */
enum { ABORTS_MS = 10000 };

typedef struct opening {
    const muster_open_args *args;
    deadline end;
    const nccl_api *nccl;
    const cuda_api *cuda;
    muster_comm *comm;
    nccl_config config;
    identity mine;
    identity first;
} opening;

static muster_status check_args(const muster_open_args *args)
{
    if (args->device < 0)
        return nccl_host->error(MUSTER_ERR_ARGUMENT,
                                "this rank has no GPU for NCCL to use; set nccl.device");
    return MUSTER_OK;
}

/* A device on which NCCL does not come back from an abort hangs in all that is asked of it. */
static muster_status await_aborts(const opening *o)
{
    deadline patience = deadline_in(ABORTS_MS);
    if (owner_await_aborts(o->comm->thread, patience.at_ns < o->end.at_ns ? patience : o->end))
        return MUSTER_OK;
    return nccl_host->error(MUSTER_ERR_UNAVAILABLE,
                            "NCCL does not come back from breaking off another group on device %d, "
                            "so that device is of no use to this process any more",
                            o->args->device);
}

static bool wants_split(const opening *o)
{
    return o->args->parent != NULL && o->nccl->comm_split != NULL;
}

static muster_status make_id(opening *o)
{
    o->mine.splits = wants_split(o);
    if (o->mine.splits || o->args->rank != 0)
        return MUSTER_OK;
    return birth_id(o->comm, &o->mine.id, deadline_early(o->end));
}

static muster_status prepare(opening *o, muster_comm_owner *core)
{
    muster_status status = comm_new(core, o->args, o->nccl, o->cuda, &o->comm);
    if (status == MUSTER_OK)
        status = await_aborts(o);
    if (status == MUSTER_OK)
        status = nccl_config_fill(&o->config, o->nccl->version, core);
    if (status == MUSTER_OK)
        status = identity_of(o->args, o->nccl->version, &o->mine);
    return status == MUSTER_OK ? make_id(o) : status;
}

static muster_status meet(opening *o, muster_comm_owner *core)
{
    unsigned char bytes[IDENTITY_SIZE];
    const muster_blob *all = NULL;
    identity_write(&o->mine, bytes);
    muster_status status = nccl_host->exchange(core, (muster_blob){bytes, sizeof(bytes)}, &all);
    return status == MUSTER_OK
               ? identity_check(all, o->args->num_ranks, &o->first, &o->comm->compute)
               : status;
}

static void describe(const opening *o)
{
    snprintf(o->comm->description, sizeof(o->comm->description),
             "NCCL %s on GPU %d (%s, %s), its communicator %s", o->nccl->version_text,
             o->args->device, o->mine.bus_id, o->mine.uuid[0] != '\0' ? o->mine.uuid : "no UUID",
             o->mine.splits ? "split from the parent group's" : "made anew");
}

static muster_status open_all(opening *o, muster_comm_owner *core)
{
    muster_status status = prepare(o, core);
    if (status == MUSTER_OK)
        status = meet(o, core);
    if (status != MUSTER_OK)
        return status;
    describe(o);
    return o->mine.splits
               ? birth_by_split(o->comm, o->args->parent, o->args->color, &o->config, o->end)
               : birth_anew(o->comm, o->first.id, &o->config, o->end);
}

muster_status comm_open(muster_comm_owner *core, const muster_open_args *args, muster_comm **comm)
{
    opening o = {.args = args, .end = deadline_in(args->timeout_ms)};
    muster_status status = check_args(args);
    if (status == MUSTER_OK)
        status = cuda_api_load(&o.cuda);
    if (status == MUSTER_OK)
        status = nccl_api_load(&o.nccl);
    if (status == MUSTER_OK)
        status = open_all(&o, core);
    if (status == MUSTER_OK)
        *comm = o.comm;
    else if (o.comm != NULL)
        comm_close(o.comm);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How NCCL's communicator comes to be.
 */
#include "config.h"

#include "birth.h"

#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "job.h"

typedef struct birth {
    job job; /* first */
    nccl_config config;
    char *label; /* a copy of the communicator's name in the config, which NCCL goes on using */
    nccl_unique_id id;
    int color, rank;

    /* Of a split: NCCL writes it on a thread of its own, when the parent is done or even when it is
     * aborted. */
    nccl_comm *made;
} birth;

static void birth_release(muster_comm *comm, job *base)
{
    birth *released = (birth *)base;
    if (released->made != NULL) /* nobody was left to take it */
        comm->nccl->comm_abort(released->made);
    free(released->label);
    free(released);
}

static muster_status birth_new(const char *what, const nccl_config *config, birth **birth_made)
{
    birth *made = calloc(1, sizeof(*made));
    if (made != NULL && config->comm_name != NULL)
        made->label = strdup(config->comm_name);
    if (made == NULL || (config->comm_name != NULL && made->label == NULL)) {
        free(made);
        return nccl_host->error(MUSTER_ERR_NO_MEMORY, "no memory for a communicator");
    }
    made->job.what = what;
    made->job.release = birth_release;
    made->config = *config;
    made->config.comm_name = made->label;
    *birth_made = made;
    return MUSTER_OK;
}

static const char for_others[] =
    "a rank has not come or does not answer (NCCL does not tell which)";

/* It has not come off: a sentence, and the communicator on which NCCL was busy breaks. late says
 * what it means that it took too long. */
static muster_status birth_failed(muster_comm *on, const job *failed, job_end ended, bool report,
                                  const char *late)
{
    bool fatal;
    if (ended == JOB_END_BROKEN)
        return failure_error(on);
    muster_status status = MUSTER_ERR_FAILED;
    if (ended == JOB_END_DONE)
        status = job_error(on, failed, &fatal);
    else if (ended == JOB_END_LATE)
        status = nccl_host->error(MUSTER_ERR_TIMEOUT,
                                  "NCCL is not done with %s on device %d in time; %s", failed->what,
                                  on->device, late);
    else
        nccl_host->error(status, "%s on device %d was given up", failed->what, on->device);
    failure_break(on, report, status, "%s on device %d did not come off", failed->what, on->device);
    return status;
}

/* ---- anew ---- */

static nccl_result id_start(muster_comm *comm, job *base)
{
    return comm->nccl->get_unique_id(&((birth *)base)->id);
}

muster_status birth_id(muster_comm *comm, nccl_unique_id *id, deadline end)
{
    birth *made;
    const nccl_config none = {.size = 0};
    muster_status status = birth_new("making NCCL's unique id", &none, &made);
    if (status != MUSTER_OK)
        return status;
    made->job.start = id_start;
    job_end ended = job_run(comm, &made->job, end, comm->core);
    if (ended == JOB_END_DONE && made->job.result == NCCL_SUCCESS)
        *id = made->id;
    else
        status =
            birth_failed(comm, &made->job, ended, false, "it waits for no rank in that: it hangs");
    job_unref(comm, &made->job);
    return status;
}

static nccl_result init_start(muster_comm *comm, job *base)
{
    birth *mine = (birth *)base;
    comm->label = mine->label;
    mine->label = NULL;
    nccl_result result = comm->nccl->comm_init_rank_config(&comm->handle, comm->size, mine->id,
                                                           comm->rank, &mine->config);
    /* NCCL leaves a thread inside a group when this fails early. */
    if (result != NCCL_SUCCESS && result != NCCL_IN_PROGRESS)
        owner_renew();
    return result;
}

muster_status birth_anew(muster_comm *comm, nccl_unique_id id, const nccl_config *config,
                         deadline end)
{
    birth *made;
    muster_status status = birth_new("making a communicator", config, &made);
    if (status != MUSTER_OK)
        return status;
    made->id = id;
    made->job.start = init_start;
    job_end ended = job_run(comm, &made->job, end, comm->core);
    if (ended != JOB_END_DONE || made->job.result != NCCL_SUCCESS)
        status = birth_failed(comm, &made->job, ended, false, for_others);
    job_unref(comm, &made->job);
    return status;
}

/* ---- by a split ---- */

static nccl_result split_start(muster_comm *parent, job *base)
{
    birth *mine = (birth *)base;
    return parent->nccl->comm_split(parent->handle, mine->color, mine->rank, &mine->made,
                                    &mine->config);
}

/* What the new communicator takes over. */
typedef struct adoption {
    job job; /* first */
    nccl_comm *made;
    char *label;
} adoption;

static nccl_result adopt_start(muster_comm *comm, job *base)
{
    adoption *mine = (adoption *)base;
    comm->handle = mine->made;
    comm->label = mine->label;
    mine->made = NULL;
    mine->label = NULL;
    return NCCL_SUCCESS;
}

static void adopt_release(muster_comm *comm, job *base)
{
    adoption *released = (adoption *)base;
    if (released->made != NULL)
        comm->nccl->comm_abort(released->made);
    free(released->label);
    free(released);
}

/* The handle belongs to the device's thread. */
static muster_status adopt(muster_comm *comm, birth *split, deadline end)
{
    adoption *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return nccl_host->error(MUSTER_ERR_NO_MEMORY, "no memory for a communicator");
    made->job.what = split->job.what;
    made->job.start = adopt_start;
    made->job.release = adopt_release;
    made->made = split->made;
    made->label = split->label;
    split->made = NULL;
    split->label = NULL;
    muster_status status = MUSTER_OK;
    job_end ended = job_run(comm, &made->job, end, comm->core);
    if (ended != JOB_END_DONE || made->job.result != NCCL_SUCCESS)
        status = birth_failed(comm, &made->job, ended, false, for_others);
    job_unref(comm, &made->job);
    return status;
}

muster_status birth_by_split(muster_comm *comm, muster_comm *parent, int color,
                             const nccl_config *config, deadline end)
{
    birth *made;
    muster_status status = birth_new("splitting the parent's communicator", config, &made);
    if (status != MUSTER_OK)
        return status;
    made->color = color;
    made->rank = comm->rank;
    made->job.start = split_start;
    job_end ended = job_run(parent, &made->job, end, comm->core);
    if (ended != JOB_END_DONE || made->job.result != NCCL_SUCCESS)
        status = birth_failed(parent, &made->job, ended, true, for_others);
    else
        status = adopt(comm, made, end);
    job_unref(parent, &made->job);
    return status;
}

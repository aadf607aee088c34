/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-run: starts the ranks of a job on this node, and ends them together.
 */
#include "config.h"

#include "run/job.h"
#include "standard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

/* A number that no other run has. With several nodes it is that of node 0, which takes one from
 * outside where that can be passed on. */
static void choose_id(struct job *job)
{
    unsigned char bytes[16];
    const char *outside = job->options->num_nodes > 1 ? getenv("MUSTER_JOB_ID") : NULL;
    if (outside != NULL && strlen(outside) < sizeof(job->id) &&
        strcspn(outside, " \t\r\n\v\f") == strlen(outside))
        strcpy(job->id, outside);
    if (outside != NULL || getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
        return;
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(job->id + 2 * i, 3, "%02x", bytes[i]);
}

static bool meet(struct job *job)
{
    bool hosted = job_host_store(job);
    if (!nodes_meet(job) || !hosted)
        return false;
    if (nodes_watch(job))
        return true;
    job_say(job, "the other nodes can't be watched: %s", strerror(errno));
    return false;
}

static bool prepare(struct job *job, const struct options *options)
{
    job->options = options;
    job->input.pipe = job->signals = job->nodes.wake = -1;
    job->streams[0].descriptor = STDOUT_FILENO;
    job->streams[1].descriptor = STDERR_FILENO;
    if (options->timeout > 0)
        job->time_out_at = job_clock() + options->timeout;
    job->ranks = calloc((size_t)options->per_node, sizeof(*job->ranks));
    choose_id(job);
    if (job->ranks != NULL && job_open_signals(job) && guard_start(&job->guard) &&
        job_choose_secret(job) && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0)
        return meet(job);
    job_say(job, "the job can't be prepared: %s", strerror(errno));
    return false;
}

/* Before the end, which may be a signal. */
static void release(struct job *job)
{
    input_close(&job->input);
    nodes_leave(job);
    muster_store_free(job->nodes.started ? NULL : job->nodes.store);
    muster_store_free(job->store);
    muster_free(job->plan);
    guard_stop(&job->guard);
    for (int which = 0; which < 2; which++) {
        output_free(&job->streams[which].queue);
        for (int i = 0; i < job->count; i++)
            output_free(&job->ranks[i].lines[which]);
    }
}

static int run(struct job *job, const struct options *options)
{
    int status = 1;
    bool started = prepare(job, options) && job_spawn(job, &status);
    if (!started)
        job_stop(job, SIGKILL);
    else if (options->verbosity > 0)
        job_say(job, "%d of %d ranks run here, store at %s port %d%s%s", options->per_node,
                job->world_size, options->master_addr, job->port, job->id[0] ? ", job " : "",
                job->id);
    job_watch(job);
    release(job);
    return started || job->interrupted != 0 || job->timed_out ? job_conclude(job) : status;
}

int main(int argc, char **argv)
{
    struct options options;
    struct job job;
    memset(&job, 0, sizeof(job));
    int status;
    standard_open();
    if (options_read(&options, argc, argv, &status))
        status = run(&job, &options);
    free(job.ranks);
    free(options.exports);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The world and its two sub-groups.
 */
#include "config.h"

#include "job.h"
#include "stopwatch.h"

bool groups_make_world(gather_job *job)
{
    double start = stopwatch_seconds();
    if (job_options_open(&job->options->job, NULL, &job->world) != MUSTER_OK)
        return job_refuse(job, "%s", muster_last_error());
    job->group_seconds = stopwatch_seconds() - start;
    job->rank = muster_group_rank(job->world);
    job->size = muster_group_size(job->world);
    return true;
}

/* The library would say so too, on every rank in its own words. */
bool groups_check_size(gather_job *job)
{
    long long size = job->options->group_size;
    if (size > 0 && job->size % size != 0)
        return job_refuse(job,
                          "--group-size %lld does not divide the %d ranks of the job; give a "
                          "divisor of %d",
                          size, job->size, job->size);
    return true;
}

bool groups_make_parts(gather_job *job)
{
    long long size = job->options->group_size;
    double start = stopwatch_seconds();
    if (muster_create_sub_group(job->world, (size_t)(size > 0 ? size : job->size), NULL,
                                &job->regular, &job->orthogonal) != MUSTER_OK)
        return job_refuse(job, "%s", muster_last_error());
    job->group_seconds += stopwatch_seconds() - start;
    return true;
}

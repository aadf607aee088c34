/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two gathers: token ids in the regular group, prompts in the orthogonal one. Bytes are counted
 * over all ranks, time is that of this rank between barriers of the group.
 */
#include "config.h"

#include "job.h"
#include "stopwatch.h"

/* What came, for what a rank gives in shared memory it gives once, though several take it. */
static uint64_t gathers_received(const muster_group *group)
{
    uint64_t sent, received = 0;
    (void)muster_group_traffic(group, &sent, &received);
    return received;
}

/* The sum over the world of what reached each rank. */
static bool gathers_add_up(gather_job *job, uint64_t received, uint64_t *sum)
{
    if (muster_all_reduce(job->world, &received, sum, 1, MUSTER_UINT64, MUSTER_SUM, NULL) !=
        MUSTER_OK)
        return job_refuse(job, "%s", muster_last_error());
    return true;
}

bool gathers_run_tokens(gather_job *job)
{
    const prompts *list = &job->prompts;
    size_t from = prompts_share(list->count, job->rank, job->size);
    size_t to = prompts_share(list->count, job->rank + 1, job->size);
    muster_token_lists mine = {to - from, list->lengths + from, list->tokens + list->offsets[from]};
    muster_tokens *all = NULL;
    uint64_t before = gathers_received(job->regular);
    double start = stopwatch_seconds();
    if (muster_all_gather_tokens(job->regular, &mine, &all) != MUSTER_OK)
        return job_refuse(job, "%s", muster_last_error());
    job->token_seconds = stopwatch_seconds() - start;
    uint64_t received = gathers_received(job->regular) - before;
    bool right = check_tokens(job, job->regular, all);
    muster_tokens_free(all);
    return gathers_add_up(job, received, &job->token_bytes) && right;
}

bool gathers_run_objects(gather_job *job)
{
    const prompts *list = &job->prompts;
    size_t from = prompts_share(list->count, job->rank, job->size);
    size_t to = prompts_share(list->count, job->rank + 1, job->size);
    muster_object_list mine = {to - from, list->lines + from};
    muster_objects *all = NULL;
    uint64_t before = gathers_received(job->orthogonal);
    double start = stopwatch_seconds();
    if (muster_all_gather_objects(job->orthogonal, &mine, &all) != MUSTER_OK)
        return job_refuse(job, "%s", muster_last_error());
    job->object_seconds = stopwatch_seconds() - start;
    uint64_t received = gathers_received(job->orthogonal) - before;
    bool right = check_objects(job, job->orthogonal, all);
    muster_objects_free(all);
    return gathers_add_up(job, received, &job->object_bytes) && right;
}

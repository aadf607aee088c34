/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The job that a launcher has started muster-info as: its ranks meet, as those of a program do, and
 * then each knows where all of them are.
 */
#include "config.h"

#include "info.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Why the backend was chosen, of the group's own description. */
static void job_why(muster_group *world, char *why, size_t size)
{
    char *text = NULL;
    why[0] = '\0';
    if (muster_group_describe(world, true, &text) != MUSTER_OK)
        return;
    json_t *all = json_loads(text, 0, NULL);
    const char *words = json_string_value(json_object_get(all, "why"));
    snprintf(why, size, "%s", words != NULL ? words : "");
    json_decref(all);
    muster_free(text);
}

static bool job_take(info_job *job)
{
    int count = muster_group_size(job->world);
    job->ranks = calloc((size_t)count, sizeof(*job->ranks));
    for (int r = 0; job->ranks != NULL && r < count; r++) {
        job->ranks[r].struct_size = sizeof(*job->ranks);
        if (muster_group_placement(job->world, r, &job->ranks[r]) != MUSTER_OK)
            return false;
    }
    job->num_ranks = job->ranks == NULL ? 0 : count;
    job->rank = muster_group_rank(job->world);
    job_why(job->world, job->why, sizeof(job->why));
    return job->ranks != NULL;
}

void info_meet(info_job *job, const muster_launcher_report *launcher, int64_t timeout_ms)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    *job = (info_job){.rank = -1};
    if (launcher->name[0] == '\0' || launcher->problem[0] != '\0' || launcher->world_size == 1)
        return;
    args.group_name = "muster-info";
    args.timeout_ms = timeout_ms;
    muster_status status = muster_init_process_group(&job->world, &args);
    job->refused = status == MUSTER_ERR_ARGUMENT;
    if (status != MUSTER_OK || !job_take(job))
        snprintf(job->problem, sizeof(job->problem), "%s", muster_last_error());
}

void info_leave(info_job *job)
{
    free(job->ranks);
    muster_group_free(job->world);
    *job = (info_job){.rank = -1};
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What ranks tell each other of their errors, so that all end alike and the user reads each
 * sentence once.
 */
#include "config.h"

#include "job.h"
#include "command_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool job_refuse(gather_job *job, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(job->why, sizeof(job->why), format, arguments);
    va_end(arguments);
    return false;
}

static bool agree_same(muster_blob a, muster_blob b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Whether an earlier rank says the same, and whether all do. */
static void agree_speak(const gather_job *job, const muster_objects *sentences)
{
    muster_blob mine = sentences->objects[job->rank];
    bool earlier = false, all = true;
    for (int r = 0; r < job->size; r++) {
        bool same = agree_same(sentences->objects[r], mine);
        earlier |= same && r < job->rank;
        all &= same;
    }
    if (mine.size == 0 || earlier)
        return;
    if (all)
        command_line_say("%s", job->why);
    else
        command_line_say("rank %d on %s: %s", job->rank, muster_group_host(job->world, job->rank),
                         job->why);
}

bool agree(gather_job *job, bool went_well)
{
    if (went_well)
        job->why[0] = '\0';
    muster_blob mine = muster_str(job->why);
    muster_object_list list = {1, &mine};
    muster_objects *sentences = NULL;
    if (muster_all_gather_objects(job->world, &list, &sentences) != MUSTER_OK) {
        command_line_say("%s", went_well ? muster_last_error() : job->why);
        return false;
    }
    bool all_well = sentences->num_bytes == 0;
    if (!all_well)
        agree_speak(job, sentences);
    muster_objects_free(sentences);
    /* A launcher ends the others when the first rank ends, so nobody leaves before all have
     * spoken. What the barrier itself meets adds nothing to what has been said. */
    if (!all_well)
        muster_barrier(job->world, NULL);
    return all_well;
}

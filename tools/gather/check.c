/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What was gathered against what the file says. The file is this rank's own copy: on several hosts
 * the copies may differ, and then this is what notices.
 */
#include "config.h"

#include "job.h"

#include <string.h>

/* The share of a rank of the group, and where what it gave lies in the result. */
typedef struct check_part {
    int giver; /* rank in the world */
    size_t from;
    size_t count;
    size_t at;
} check_part;

static bool check_begin(gather_job *job, muster_group *group, int rank, const size_t *offsets,
                        check_part *part)
{
    if (muster_group_rank_to_world(group, rank, &part->giver) != MUSTER_OK)
        return job_refuse(job, "%s", muster_last_error());
    size_t total = job->prompts.count;
    part->from = prompts_share(total, part->giver, job->size);
    part->count = prompts_share(total, part->giver + 1, job->size) - part->from;
    part->at = offsets[rank];
    size_t given = offsets[rank + 1] - offsets[rank];
    if (given == part->count)
        return true;
    return job_refuse(job,
                      "rank %d received %zu prompts from rank %d, whose share of '%s' is %zu; are "
                      "the copies of the file the same?",
                      job->rank, given, part->giver, job->options->file, part->count);
}

static bool check_fail(gather_job *job, const check_part *part, size_t i, const char *what)
{
    return job_refuse(job,
                      "rank %d received prompt %zu from rank %d with %s than in line %zu of '%s'; "
                      "are the copies of the file the same?",
                      job->rank, part->from + i, part->giver, what,
                      job->prompts.line_numbers[part->from + i], job->options->file);
}

static bool check_token_part(gather_job *job, const check_part *part, const muster_tokens *all)
{
    const prompts *list = &job->prompts;
    for (size_t i = 0; i < part->count; i++) {
        size_t expected = list->lengths[part->from + i];
        size_t begin = all->list_offsets[part->at + i];
        if (all->list_offsets[part->at + i + 1] - begin != expected)
            return check_fail(job, part, i, "another number of token ids");
        if (expected > 0 &&
            memcmp(all->tokens + begin, list->tokens + list->offsets[part->from + i],
                   expected * sizeof(int64_t)) != 0)
            return check_fail(job, part, i, "other token ids");
    }
    return true;
}

bool check_tokens(gather_job *job, muster_group *group, const muster_tokens *all)
{
    check_part part;
    for (int r = 0; r < muster_group_size(group); r++)
        if (!check_begin(job, group, r, all->rank_offsets, &part) ||
            !check_token_part(job, &part, all))
            return false;
    return true;
}

static bool check_object_part(gather_job *job, const check_part *part, const muster_objects *all)
{
    for (size_t i = 0; i < part->count; i++) {
        muster_blob expected = job->prompts.lines[part->from + i];
        muster_blob got = all->objects[part->at + i];
        if (got.size != expected.size || memcmp(got.data, expected.data, got.size) != 0)
            return check_fail(job, part, i, "other bytes");
    }
    return true;
}

bool check_objects(gather_job *job, muster_group *group, const muster_objects *all)
{
    check_part part;
    for (int r = 0; r < muster_group_size(group); r++)
        if (!check_begin(job, group, r, all->rank_offsets, &part) ||
            !check_object_part(job, &part, all))
            return false;
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A job that goes on when ranks are lost. The ranks given as arguments end on the way, as if they
 * had crashed, but with status 0, since muster-run stops a job in which a rank fails, unless it is
 * given --keep-going:
 *
 *     muster-run -n 5 ./shrink 1 3
 */
#include <muster.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 15 };

/* Leaves out the ranks that are lost, those too that are lost meanwhile, and goes back to the step
 * that all who are left have come to. */
static muster_status recover(muster_group **group, int64_t *step)
{
    muster_status status;
    do {
        int *lost;
        size_t num_lost;
        muster_group *rest = NULL;
        status = muster_group_lost_ranks(*group, &lost, &num_lost);
        if (status != MUSTER_OK)
            return status;
        for (size_t i = 0; i < num_lost; i++)
            printf("rank %d goes on without rank %d\n", muster_group_rank(*group), lost[i]);
        status = muster_group_shrink(*group, lost, num_lost, NULL, &rest);
        muster_free(lost);
        if (status == MUSTER_OK) {
            muster_group_free(*group);
            *group = rest;
            status = muster_all_reduce(rest, step, step, 1, MUSTER_INT64, MUSTER_MIN, NULL);
        }
    } while (status == MUSTER_ERR_PEER_LOST || status == MUSTER_ERR_MISMATCH);
    return status;
}

static int failed(void)
{
    fprintf(stderr, "shrink: %s\n", muster_last_error());
    muster_report_failure(NULL);
    return 1;
}

int main(int argc, char **argv)
{
    muster_group *group;
    if (muster_init_process_group(&group, NULL) != MUSTER_OK)
        return failed();
    const int me = muster_group_rank(group); /* in the world that we began with */
    int64_t step = 0;
    while (step < STEPS) {
        for (int i = 1; i < argc; i++)
            if (atoi(argv[i]) == me && step == 4 * i)
                _Exit(0);
        int64_t mine = 1, ranks = 0;
        muster_status status =
            muster_all_reduce(group, &mine, &ranks, 1, MUSTER_INT64, MUSTER_SUM, NULL);
        if (status == MUSTER_OK)
            step++; /* what the step before has made is kept until the next one is done */
        else if (status == MUSTER_ERR_PEER_LOST)
            status = recover(&group, &step);
        if (status != MUSTER_OK)
            return failed();
    }
    printf("rank %d, at first %d, ends with %d ranks at step %d\n", muster_group_rank(group), me,
           muster_group_size(group), (int)step);
    muster_group_free(group);
    return 0;
}

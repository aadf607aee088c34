/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reducing one part of a vector while the next one is computed: an operation with a handle goes on
 * by itself.
 *
 *     muster-run -n 4 ./overlap
 */
#include <muster.h>
#include <stdio.h>

enum { PARTS = 8, LENGTH = 100000 };

static float values[PARTS][LENGTH];

static void compute(float *part, int number, int rank)
{
    for (int i = 0; i < LENGTH; i++)
        part[i] = (float)(number + rank * (i % 7));
}

static int failed(void)
{
    fprintf(stderr, "overlap: %s\n", muster_last_error());
    muster_report_failure(NULL);
    return 1;
}

/* All ranks start the parts in the same order. Until a part is done nobody touches its memory. */
static muster_status reduce_parts(muster_group *world, muster_work **works)
{
    muster_status status = MUSTER_OK;
    for (int p = 0; p < PARTS && status == MUSTER_OK; p++) {
        compute(values[p], p, muster_group_rank(world));
        status = muster_all_reduce(world, values[p], values[p], LENGTH, MUSTER_FLOAT32, MUSTER_SUM,
                                   &works[p]);
    }
    return status;
}

/* Takes the parts as they are done. Waiting does not free a handle. */
static muster_status take_parts(muster_work **works, double *sum)
{
    size_t index;
    for (int taken = 0; taken < PARTS; taken++) {
        muster_status status = muster_work_wait_any(works, PARTS, MUSTER_TIMEOUT_DEFAULT, &index);
        if (status != MUSTER_OK)
            return status;
        muster_work_free(works[index]);
        works[index] = NULL;
        for (int i = 0; i < LENGTH; i++)
            *sum += values[index][i];
    }
    return MUSTER_OK;
}

int main(void)
{
    muster_group *world;
    muster_work *works[PARTS] = {NULL};
    double sum = 0;
    if (muster_init_process_group(&world, NULL) != MUSTER_OK)
        return failed();
    muster_status status = reduce_parts(world, works);
    if (status == MUSTER_OK)
        status = take_parts(works, &sum);
    int code = status == MUSTER_OK ? 0 : failed();
    printf("rank %d: the sum of all is %.0f\n", muster_group_rank(world), sum);
    for (int p = 0; p < PARTS; p++)
        muster_work_free(works[p]); /* those that were not taken */
    muster_group_free(world);
    return code;
}

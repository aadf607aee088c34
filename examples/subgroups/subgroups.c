/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reducing gradients in two steps: within the regular sub-groups (the ranks of a host, say), and
 * across them in the orthogonal ones. Each rank of a regular group takes a share of the gradient
 * across, so that little goes the long way; the result is that of the world's own all_reduce.
 *
 *     muster-run -n 8 ./subgroups 2
 */
#include <muster.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 1 << 16 }; /* of the gradient; sizes divide it */

static float gradient[LENGTH], whole[LENGTH], expected[LENGTH], share[LENGTH];

static int failed(void)
{
    fprintf(stderr, "subgroups: %s\n", muster_last_error());
    muster_report_failure(NULL);
    return 1;
}

/* Eighths, whose sums are exact in every order. */
static void compute(int rank)
{
    for (int i = 0; i < LENGTH; i++)
        gradient[i] = (float)((i * 7 + rank * 13) % 1000 - 500) / 8;
}

static void print_ranks(const char *family, const muster_group *group)
{
    char text[256] = "";
    int world_rank, length = 0;
    for (int r = 0; r < muster_group_size(group); r++)
        if (muster_group_rank_to_world(group, r, &world_rank) == MUSTER_OK &&
            length < (int)sizeof(text) - 16)
            length += sprintf(text + length, "%s%d", r == 0 ? "" : ",", world_rank);
    printf("%s group of ranks %s\n", family, text);
}

static muster_status reduce_in_steps(muster_group *within, muster_group *across)
{
    size_t count = LENGTH / (size_t)muster_group_size(within);
    muster_status status =
        muster_reduce_scatter(within, gradient, share, count, MUSTER_FLOAT32, MUSTER_SUM, NULL);
    if (status == MUSTER_OK)
        status = muster_all_reduce(across, share, share, count, MUSTER_FLOAT32, MUSTER_SUM, NULL);
    if (status == MUSTER_OK)
        status = muster_all_gather(within, share, whole, count, MUSTER_FLOAT32, NULL);
    return status;
}

static muster_status compare(muster_group *world, int *wrong)
{
    muster_status status =
        muster_all_reduce(world, gradient, expected, LENGTH, MUSTER_FLOAT32, MUSTER_SUM, NULL);
    for (int i = 0; i < LENGTH; i++)
        *wrong += whole[i] != expected[i];
    return status;
}

int main(int argc, char **argv)
{
    muster_group *world, *within, *across;
    size_t size = argc > 1 ? (size_t)atoi(argv[1]) : 1;
    int wrong = 0;
    if (muster_init_process_group(&world, NULL) != MUSTER_OK)
        return failed();
    if (muster_create_sub_group(world, size, NULL, &within, &across) != MUSTER_OK)
        return failed();
    if (muster_group_rank(within) == 0)
        print_ranks("regular", within);
    if (muster_group_rank(across) == 0)
        print_ranks("orthogonal", across);
    compute(muster_group_rank(world));
    muster_status status = reduce_in_steps(within, across);
    if (status == MUSTER_OK)
        status = compare(world, &wrong);
    if (status != MUSTER_OK)
        failed();
    else
        printf("rank %d: %d of %d elements are as the world's all_reduce has them\n",
               muster_group_rank(world), LENGTH - wrong, LENGTH);
    muster_group_free(across);
    muster_group_free(within);
    muster_group_free(world);
    return status != MUSTER_OK || wrong > 0;
}

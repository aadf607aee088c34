/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A job that ends in good order on ^C, also while it waits for other ranks.
 *
 *     muster-run -n 4 ./interrupt
 */
#include <muster.h>
#include <signal.h>
#include <stdio.h>

static muster_group *volatile world;

static void handle_interrupt(int number)
{
    (void)number;
    muster_group_abort_from_signal(world);
}

static muster_status work_until_interrupted(void)
{
    muster_status status = MUSTER_OK;
    for (int64_t step = 0; status == MUSTER_OK; step++) {
        int64_t least = 0;
        status = muster_all_reduce(world, &step, &least, 1, MUSTER_INT64, MUSTER_MIN, NULL);
        if (step == 0 && status == MUSTER_OK) {
            printf("rank %d is at work\n", muster_group_rank(world));
            fflush(stdout);
        }
    }
    return status;
}

int main(void)
{
    muster_group *made;
    muster_status status = muster_init_process_group(&made, NULL);
    if (status == MUSTER_OK) {
        world = made;
        status = muster_group_allow_abort_from_signal(made); /* starts a thread */
        signal(SIGINT, handle_interrupt);
        if (status == MUSTER_OK)
            status = work_until_interrupted();
    }
    if (status == MUSTER_ERR_FAILED)
        printf("interrupted: %s\n", muster_last_error());
    else
        fprintf(stderr, "interrupt: %s\n", muster_last_error());
    signal(SIGINT, SIG_DFL); /* before the group is freed */
    muster_group_free(world);
    return status == MUSTER_ERR_FAILED ? 0 : 1;
}

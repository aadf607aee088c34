/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A collective that times out while messages of the same group wait on other threads: these learn
 * of it from the communicator, often before the collective has said what it knows. All end with the
 * time-out all the same, and with the rank that was waited for.
 */
#include <string.h>

#include "grouptest.h"

enum { GROUPS = 6, SHORT_MS = 300, LONG_MS = 60000 };

static muster_group *group_with(const muster_group_args *args, muster_group *world)
{
    static const int all[] = {0, 1, 2};
    muster_group *group = NULL;
    return muster_new_group(world, all, 3, args, &group) == MUSTER_OK ? group : NULL;
}

static bool says_time_out(muster_status status)
{
    bool right = status == MUSTER_ERR_TIMEOUT && strstr(muster_last_error(), "timed out") != NULL &&
                 strstr(muster_last_error(), "waiting for rank 2") != NULL;
    if (!right)
        diag("%s: %s", muster_status_name(status), muster_last_error());
    return right;
}

/* Rank 2 makes no call. The others have a receive open with each other, which has all the time. */
static bool all_time_out(muster_group *group, int rank)
{
    char byte;
    muster_work *receive = NULL;
    if (muster_recv(group, &byte, 1, MUSTER_UINT8, 1 - rank, &receive) != MUSTER_OK)
        return false;
    sleep_ms(20);
    muster_group_set_timeout(group, SHORT_MS);
    bool right = says_time_out(muster_barrier(group, NULL));
    right = says_time_out(muster_work_wait(receive, LONG_MS)) && right;
    muster_work_free(receive);
    return right;
}

static void beside(int rank, int size)
{
    (void)size;
    muster_group *world = world_of("beside", LONG_MS), *groups[GROUPS];
    const muster_group_args args = MUSTER_GROUP_ARGS_INIT;
    int right = 0, made = 0;
    for (int i = 0; i < GROUPS; i++)
        made += (groups[i] = group_with(&args, world)) != NULL;
    is_int(made, GROUPS, "groups are made");
    for (int i = 0; i < GROUPS; i++)
        right += rank == 2 || all_time_out(groups[i], rank);
    is_int(right, GROUPS, "a message beside a call that times out says who did not come");
    ranks_barrier();
    for (int i = 0; i < GROUPS; i++)
        muster_group_free(groups[i]);
    muster_group_free(world);
}

int main(int argc, char **argv)
{
    static const char *const gloo[] = {"MUSTER_TEST_BACKEND=gloo", NULL};
    static const struct ranks_case cases[] = {
        {.name = "shared_memory", .size = 3, .points = 2, .body = beside},
        {.name = "gloo", .size = 3, .points = 2, .body = beside, .environment = gloo},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}

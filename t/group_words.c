/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sentences that a user acts upon: they name the right ranks, in the numbers of the group that they
 * begin with, and say what happened there.
 */
#include "config.h"

#include "grouptest.h"

#include <stdlib.h>
#include <string.h>

enum { T = 1000, LONG = 20000 };

static muster_group_args short_args(const char *name)
{
    muster_group_args args = MUSTER_GROUP_ARGS_INIT;
    args.group_name = name;
    args.timeout_ms = T;
    return args;
}

/* A member that does not come is named as the caller knows it, not by its place among them. */
static void missing_member(int rank, int size)
{
    (void)size;
    muster_group *world = world_of("world", LONG), *made = NULL;
    muster_group_args args = short_args(NULL);
    const int members[] = {3, 1, 2}, failed[] = {1};
    if (rank == 1 || rank == 2) {
        is_status(muster_new_group(world, members, 3, &args, &made), MUSTER_ERR_TIMEOUT,
                  "one of three does not come");
        has_str(muster_last_error(),
                "timed out after 1000 ms waiting for rank 3 of 'world', 1 of 3 members, to join",
                "it is rank 3");
    } else {
        ok(true, "one does not come");
        ok(true, "and one is no member");
    }
    ranks_barrier();
    if (rank == 0) {
        is_status(muster_group_shrink(world, failed, 1, &args, &made), MUSTER_ERR_TIMEOUT,
                  "two of three do not come");
        has_str(muster_last_error(), "waiting for ranks 2-3 of 'world', 2 of 3 members, to join",
                "they are ranks 2 and 3");
    } else {
        ok(true, "they do not come");
        ok(true, "and one is left out");
    }
    ok(made == NULL, "there is no group");
    ranks_barrier();
    muster_group_free(world);
    ranks_barrier();
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "missing member", .size = 4, .points = 5, .body = missing_member, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}

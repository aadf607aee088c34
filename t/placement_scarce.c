/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Placing ranks where memory runs out, at each allocation there is: an error each time, nothing
 * left behind (run it under a sanitizer too), and the table once there is enough.
 */
#include <stdlib.h>
#include <string.h>

#include "placement/assign.h"
#include "placement/place_list.h"
#include "t/placing.h"
#include "t/scarce.h"
#include "t/tap.h"

static const char text[] = "cpus=0-3 allowed=0-3 cores=0/0/2/1/0 cores=0/1/2/1/2 "
                           "gpu=0/0/0/0/0-1/01:00.0/A gpu=1/0/0/1/2-3/02:00.0/B";

static muster_status place_three(placement_policy policy)
{
    standing ranks[3];
    placement_wish wish = {.host = "a", .policy = policy, .list = "0;1@2;none"};
    placement p;
    int left = scarce_left;
    scarce_left = -1;
    for (int r = 0; r < 3; r++)
        placing_read(&ranks[r], r, text);
    scarce_left = left;
    muster_status status = placement_make(&p, ranks, 3, &wish);
    scarce_left = -1;
    if (status == MUSTER_OK)
        placement_free(&p);
    for (int r = 0; r < 3; r++)
        standing_clear(&ranks[r]);
    return status;
}

static muster_status place_auto(void)
{
    return place_three(PLACEMENT_AUTO);
}

static muster_status place_by_list(void)
{
    return place_three(PLACEMENT_EXPLICIT);
}

static muster_status read_and_write(void)
{
    standing s;
    char *written = NULL;
    muster_status status = standing_read(&s, muster_str(text));
    if (status != MUSTER_OK)
        return status;
    status = standing_write(&s, &written);
    free(written);
    standing_clear(&s);
    return status;
}

static muster_status stand_on_machine(void)
{
    machine m = {0};
    standing s;
    standing_device device = {.uuid = "A"};
    muster_status status = standing_begin(&s, &m);
    if (status == MUSTER_OK)
        status = standing_add_device(&s, &m, &device);
    standing_clear(&s);
    return status;
}

static muster_status assign(void)
{
    int64_t costs[] = {1, 2, 3, 4};
    int column_of[2];
    return assign_columns(costs, 2, 2, column_of);
}

/* Refuses the first, the second, ... allocation until none is refused. */
static void run_out(const char *name, muster_status (*call)(void))
{
    int refused = 0, strange = 0;
    for (;; refused++) {
        scarce_left = refused;
        muster_status status = call();
        scarce_left = -1;
        if (status == MUSTER_OK)
            break;
        strange +=
            status != MUSTER_ERR_NO_MEMORY || strstr(muster_last_error(), "no memory for") == NULL;
    }
    ok(refused > 1 && strange == 0, "%s: each of %d allocations may fail", name, refused);
}

int main(void)
{
    plan(5);
    run_out("placing", place_auto);
    run_out("by a list", place_by_list);
    run_out("reading and writing", read_and_write);
    run_out("on a machine", stand_on_machine);
    run_out("assigning", assign);
    return done();
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * As many ranks on this machine as a large host has: the world, both kinds of sub-groups, and what
 * they cost. All of them share memory, whatever the number of cores.
 */
#include "config.h"

#include "tools.h"

#include <stdio.h>
#include <time.h>

enum { RANKS = 64, LONGEST_S = 20 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(void)
{
    plan(5);
    double began = seconds();
    TOOLS_RANKS(RANKS, "muster-perf", "groups", "-g", "8", "-n", "1", "--json");
    double took = seconds() - began;
    is_int(tools_run.status, 0, "%d ranks make a world and sub-groups", (int)RANKS);
    ok(took * 1000 < (double)patient(LONGEST_S * 1000), "in %.1f s", took);
    json_t *all = tools_json();
    double operations = json_number_value(json_object_get(all, "world_store_operations"));
    double more = json_number_value(json_object_get(all, "sub_groups_store_operations"));
    is_int(json_integer_value(json_object_get(all, "ranks")), RANKS, "all of them");
    ok(operations > 0 && operations < 60, "a rank asks the store %.0f times for the world",
       operations);
    ok(more > 0 && more < 40, "and %.0f times for both sub-groups", more);
    diag("world %.3f s, sub-groups %.3f s",
         json_number_value(json_object_get(all, "world_seconds")),
         json_number_value(json_object_get(all, "sub_groups_seconds")));
    json_decref(all);
    return done();
}

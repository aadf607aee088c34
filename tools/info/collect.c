/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds what muster-info is to say.
 */
#include "config.h"

#include "info.h"

#include <stdio.h>
#include <stdlib.h>

/* As many ranks as the launcher has on this host; one where it doesn't say, or there is none. A
 * wrong list or policy is said, and no reason to say nothing else. */
static void collect_plan(info *found)
{
    muster_plan_args args = MUSTER_PLAN_ARGS_INIT;
    const muster_launcher_report *launcher = found->launcher;
    if (launcher->local_size > 0)
        args.num_ranks = launcher->local_size;
    if (muster_plan_placement(&args, &found->plan) != MUSTER_OK)
        snprintf(found->plan_problem, sizeof(found->plan_problem), "%s", muster_last_error());
}

bool info_collect(info *found)
{
    *found = (info){.variables = {{.name = "RANK"},
                                  {.name = "WORLD_SIZE"},
                                  {.name = "MASTER_ADDR"},
                                  {.name = "MASTER_PORT"}}};
    for (int i = 0; i < INFO_NUM_VARIABLES; i++)
        found->variables[i].value = getenv(found->variables[i].name);
    found->backend_path = getenv("MUSTER_BACKEND_PATH");
    if (muster_list_backends(&found->backends, &found->num_backends) != MUSTER_OK)
        return false;
    if (muster_list_options(&found->options, &found->num_options) == MUSTER_OK &&
        muster_describe_host(false, &found->machine) == MUSTER_OK &&
        muster_describe_host(true, &found->machine_json) == MUSTER_OK &&
        muster_find_launcher(&found->launcher) == MUSTER_OK &&
        muster_describe_launcher(false, &found->started) == MUSTER_OK &&
        muster_describe_launcher(true, &found->started_json) == MUSTER_OK) {
        collect_plan(found);
        return true;
    }
    info_free(found);
    return false;
}

void info_free(info *found)
{
    muster_free(found->backends);
    muster_free(found->options);
    muster_free(found->machine);
    muster_free(found->machine_json);
    muster_free(found->launcher);
    muster_free(found->started);
    muster_free(found->started_json);
    muster_free(found->plan);
    info_leave(&found->job);
    *found = (info){.num_backends = 0};
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds what muster-info is to say.
 */
#include "config.h"

#include "info.h"

#include <stdlib.h>

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
        muster_describe_launcher(true, &found->started_json) == MUSTER_OK)
        return true;
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
    *found = (info){.num_backends = 0};
}

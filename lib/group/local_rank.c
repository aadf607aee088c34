/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Local ranks, as the ranks' own hosts make them: a launcher's may be wrong, and a sub-group has
 * others.
 */
#include "config.h"

#include "group/local_rank.h"

#include <string.h>

#include "base/log.h"

static bool same_host(const muster_group *group, int a, int b)
{
    return strcmp(group->ranks.ranks[a].host_id, group->ranks.ranks[b].host_id) == 0;
}

int muster_group_local_rank(const muster_group *group)
{
    if (group == NULL)
        return -1;
    int lower = 0;
    for (int r = 0; r < group->rank; r++)
        lower += same_host(group, r, group->rank);
    return lower;
}

int muster_group_local_size(const muster_group *group)
{
    return group == NULL ? -1 : roster_ranks_on_host(&group->ranks, group->rank);
}

/* How many hosts begin before end, in the order of their lowest ranks. */
static int hosts_before(const muster_group *group, int end)
{
    int hosts = 0;
    for (int r = 0; r < end; r++) {
        bool seen = false;
        for (int earlier = 0; earlier < r && !seen; earlier++)
            seen = same_host(group, earlier, r);
        hosts += !seen;
    }
    return hosts;
}

int muster_group_node_rank(const muster_group *group)
{
    if (group == NULL)
        return -1;
    int lowest = 0;
    while (!same_host(group, lowest, group->rank))
        lowest++;
    return hosts_before(group, lowest);
}

int muster_group_num_nodes(const muster_group *group)
{
    return group == NULL ? -1 : hosts_before(group, group->size);
}

void local_rank_compare(const muster_group *world, const launcher *found)
{
    int size = found->facts[LAUNCHER_LOCAL_SIZE], here = muster_group_local_size(world);
    int mine = world->ranks.ranks[world->rank].told_local_rank;
    if (found->family == NULL || found->facts[LAUNCHER_RANK] != world->rank ||
        found->facts[LAUNCHER_SIZE] != world->size)
        return;
    if (size >= 0 && size != here)
        log_line(MUSTER_LOG_WARNING,
                 "group '%s', rank %d: %s says by %s that %d ranks are on this host, but %d are",
                 world->name, world->rank, found->family->name,
                 found->variables[LAUNCHER_LOCAL_SIZE], size, here);
    for (int r = 0; r < world->size && mine > 0; r++)
        if (r != world->rank && same_host(world, r, world->rank) &&
            world->ranks.ranks[r].told_local_rank == mine)
            log_line(MUSTER_LOG_WARNING,
                     "group '%s', rank %d: %s says by %s that its local rank is %d, but so is that "
                     "of rank %d on the same host",
                     world->name, world->rank, found->family->name,
                     found->variables[LAUNCHER_LOCAL_RANK], mine - 1, r);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What ranks tell each other of their errors, so that all end alike and the user reads each
 * sentence once.
 */
#include "config.h"

#include "agree.h"
#include "command_line.h"

#include <string.h>

static bool agree_same(muster_blob a, muster_blob b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Whether an earlier rank says the same, and whether all do. */
static void agree_speak(muster_group *world, const char *sentence, const muster_objects *all)
{
    int rank = muster_group_rank(world);
    muster_blob mine = all->objects[rank];
    bool earlier = false, shared = true;
    for (int r = 0; r < muster_group_size(world); r++) {
        bool same = agree_same(all->objects[r], mine);
        earlier |= same && r < rank;
        shared &= same;
    }
    if (mine.size == 0 || earlier)
        return;
    if (shared)
        command_line_say("%s", sentence);
    else
        command_line_say("rank %d on %s: %s", rank, muster_group_host(world, rank), sentence);
}

bool agree(muster_group *world, const char *sentence)
{
    muster_blob mine = muster_str(sentence);
    muster_object_list list = {1, &mine};
    muster_objects *all = NULL;
    if (muster_all_gather_objects(world, &list, &all) != MUSTER_OK) {
        command_line_say("%s", mine.size > 0 ? sentence : muster_last_error());
        return false;
    }
    bool all_well = all->num_bytes == 0;
    if (!all_well)
        agree_speak(world, sentence, all);
    muster_objects_free(all);
    /* A launcher ends the others when the first rank ends, so nobody leaves before all have
     * spoken. What the barrier itself meets adds nothing to what has been said. */
    if (!all_well)
        muster_barrier(world, NULL);
    return all_well;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster_group_placement: what a group knows of where its ranks are.
 */
#include "config.h"

#include <string.h>

#include "base/error.h"
#include "group/group.h"

enum { LEAST_SIZE = sizeof(muster_placement) };

static const char *device_name(const rank_record *rank)
{
    for (size_t i = 0; rank->seat.device >= 0 && i < rank->num_devices; i++)
        if (rank->devices[i].ordinal == rank->seat.device)
            return rank->devices[i].name;
    return "";
}

static int local_rank(const muster_group *group, int rank)
{
    int lower = 0;
    for (int r = 0; r < rank; r++)
        lower += strcmp(group->ranks.ranks[r].host_id, group->ranks.ranks[rank].host_id) == 0;
    return lower;
}

static int first_rank(const muster_group *group, int rank)
{
    int first = 0;
    while (strcmp(group->ranks.ranks[first].host_id, group->ranks.ranks[rank].host_id) != 0)
        first++;
    return first;
}

static muster_placement unplaced(void)
{
    return (muster_placement){.struct_size = sizeof(muster_placement),
                              .device = -1,
                              .device_uuid = "",
                              .device_bus_id = "",
                              .device_name = "",
                              .distance = "none",
                              .package = -1,
                              .numa_node = -1,
                              .cpus = "",
                              .numa_cpus = "",
                              .near_cpus = "",
                              .kept = true,
                              .nic = "",
                              .hca = "",
                              .nic_why = "",
                              .why = "the ranks of this host were not placed",
                              .shortage = ""};
}

static muster_placement placement_of(const muster_group *group, int rank)
{
    const rank_record *record = &group->ranks.ranks[rank];
    const rank_seat *seat = &record->seat;
    muster_placement made = unplaced();
    made.rank = rank;
    made.local_rank = local_rank(group, rank);
    made.host = record->host;
    made.first_rank = first_rank(group, rank);
    made.elsewhere = record->elsewhere != 0;
    if (!seat->placed)
        return made;
    made.device = seat->device;
    made.device_uuid = seat->uuid;
    made.device_bus_id = seat->bus_id;
    made.device_name = device_name(record);
    made.distance = seat->distance;
    made.package = seat->package;
    made.numa_node = seat->node;
    made.cpus = seat->cpus;
    made.numa_cpus = seat->node_cpus;
    made.near_cpus = seat->near_cpus;
    made.kept = seat->kept != 0;
    made.shared = seat->shared != 0;
    made.nic = seat->nic;
    made.hca = seat->hca;
    made.nic_why = seat->nic_why;
    made.why = seat->why;
    made.shortage = seat->shortage;
    return made;
}

muster_status muster_group_placement(const muster_group *group, int rank,
                                     muster_placement *placement)
{
    muster_status status = group_enter(group, "muster_group_placement");
    if (status != MUSTER_OK)
        return status;
    if (placement == NULL || placement->struct_size < LEAST_SIZE)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "muster_group_placement: placement is %s; begin with "
                         "MUSTER_PLACEMENT_INIT",
                         placement == NULL ? "NULL" : "smaller than any version of it");
    if (rank < 0 || rank >= group->size)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "muster_group_placement: rank %d is not of group '%s', which has ranks 0 "
                         "to %d",
                         rank, group->name, group->size - 1);
    size_t size = placement->struct_size;
    muster_placement made = placement_of(group, rank);
    memcpy(placement, &made, sizeof(made));
    placement->struct_size = size;
    return MUSTER_OK;
}

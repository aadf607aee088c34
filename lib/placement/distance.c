/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How far a device is from a rank's CPUs.
 */
#include "placement/distance.h"

/* What two nodes are apart where the machine does not say, by ACPI's custom. */
enum { DISTANCE_OWN = 10, DISTANCE_OTHER = 20, DISTANCE_FARTHEST = 1 << 16 };

/* Between the nearest pair of a node with some of these CPUs and one with some of those. */
static int nearest_nodes(const machine *m, const cpu_set *cpus, const cpu_set *theirs)
{
    int nearest = DISTANCE_FARTHEST;
    for (int a = 0; a < m->num_numas; a++)
        for (int b = 0; cpu_set_meets(&m->numas[a].cpus, cpus) && b < m->num_numas; b++)
            if (cpu_set_meets(&m->numas[b].cpus, theirs) && machine_distance(m, a, b) < nearest)
                nearest = machine_distance(m, a, b);
    if (nearest == DISTANCE_FARTHEST)
        nearest = cpu_set_meets(cpus, theirs) ? DISTANCE_OWN : DISTANCE_OTHER;
    return nearest < DISTANCE_OWN ? DISTANCE_OWN : nearest;
}

int64_t distance_to_place(const machine *m, const cpu_set *cpus, const machine_place *place)
{
    int count = cpu_set_count(cpus);
    if (count == 0 || cpu_set_is_empty(&place->cpus))
        return 0;
    int out = count - cpu_set_count_both(cpus, &place->cpus);
    return (int64_t)(nearest_nodes(m, cpus, &place->cpus) - DISTANCE_OWN) * DISTANCE_STEP +
           (int64_t)out * DISTANCE_WHOLE / count;
}

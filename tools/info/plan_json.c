/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where ranks are or would be, as JSON.
 */
#include "config.h"

#include "info.h"
#include "json_words.h"

#include <stdio.h>

static json_t *json_rank(const muster_placement *rank)
{
    json_t *made = json_pack(
        "{s:i, s:i, s:o, s:i, s:o, s:o, s:o, s:s, s:i, s:i, s:b, s:b, s:b, s:i}", "rank",
        rank->rank, "local_rank", rank->local_rank, "host", json_words(rank->host), "device",
        rank->device, "device_uuid", json_words(rank->device_uuid), "device_bus_id",
        json_words(rank->device_bus_id), "device_name", json_words(rank->device_name), "distance",
        rank->distance, "package", rank->package, "numa_node", rank->numa_node, "kept", rank->kept,
        "shared", rank->shared, "elsewhere", rank->elsewhere, "first_rank", rank->first_rank);
    const struct {
        const char *name, *text;
    } texts[] = {{"cpus", rank->cpus},
                 {"numa_cpus", rank->numa_cpus},
                 {"near_cpus", rank->near_cpus},
                 {"nic", rank->nic},
                 {"hca", rank->hca},
                 {"nic_why", rank->nic_why},
                 {"why", rank->why},
                 {"shortage", rank->shortage}};
    for (size_t i = 0; made != NULL && i < sizeof(texts) / sizeof(*texts); i++)
        if (json_object_set_new(made, texts[i].name, json_words(texts[i].text)) != 0) {
            json_decref(made);
            return NULL;
        }
    return made;
}

json_t *info_json_ranks(const muster_placement *ranks, int count)
{
    json_t *list = json_array();
    for (int r = 0; r < count; r++)
        if (json_array_append_new(list, json_rank(&ranks[r])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *info_json_plan(const muster_plan *plan)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "policy", json_words(plan->policy),
                     "topology", json_words(plan->topology), "seen_by", json_words(plan->seen_by),
                     "shortage", json_words(plan->shortage), "remarks", json_words(plan->remarks),
                     "hidden", json_words(plan->hidden), "ranks",
                     info_json_ranks(plan->ranks, plan->num_ranks));
}

bool info_print_plan_json(const muster_plan *plan)
{
    json_t *all = info_json_plan(plan);
    bool good = all != NULL && json_dumpf(all, stdout, JSON_INDENT(2)) == 0;
    if (good)
        putchar('\n');
    json_decref(all);
    return good;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Binding the thread that makes a world, and those that muster starts.
 */
#include "config.h"

#include "group/bind.h"

#include <string.h>

#include "base/arguments.h"
#include "options/core_options.h"

muster_status bind_wanted(const muster_options *options, binding_to *to)
{
    return binding_read(options_value(options, core_options, "bind", NULL), to);
}

/* Nothing may be bound where nobody has placed the rank, or a launcher has bound it. */
static bool is_bound(const rank_record *rank, const muster_options *options, binding_to *to)
{
    return rank->seat.placed && !rank->seat.kept && !rank->elsewhere &&
           bind_wanted(options, to) == MUSTER_OK && *to != BINDING_NONE;
}

static muster_status bind_as(binding_to to, const char *cpus, const char *node_cpus,
                             const char *near_cpus, int node)
{
    cpu_set set = {{0}};
    const char *text = to == BINDING_CORE ? cpus : to == BINDING_NUMA ? node_cpus : near_cpus;
    muster_status status = cpu_set_parse(&set, text);
    if (status == MUSTER_OK)
        status = binding_cpus(&set);
    if (status == MUSTER_OK)
        binding_memory(node);
    return status;
}

muster_status bind_rank(const rank_record *rank, const muster_options *options)
{
    binding_to to;
    if (!is_bound(rank, options, &to))
        return MUSTER_OK;
    return bind_as(to, rank->seat.cpus, rank->seat.node_cpus, rank->seat.near_cpus,
                   rank->seat.node);
}

void bind_home(const rank_record *rank, const muster_options *options, thread_home *home)
{
    binding_to to;
    cpu_set cpus;
    home->size = 0;
    if (!is_bound(rank, options, &to) || cpu_set_parse(&cpus, rank->seat.thread_cpus) != MUSTER_OK)
        return;
    for (int cpu = cpu_set_first(&cpus); cpu >= 0; cpu = cpu_set_next(&cpus, cpu))
        thread_home_add(home, cpu);
}

const char *bind_words(const rank_record *rank, const muster_options *options)
{
    static const char *const words[] = {
        [BINDING_NONE] = "no",
        [BINDING_CORE] = "to its cores",
        [BINDING_NUMA] = "to the NUMA node of its cores",
        [BINDING_DEVICE] = "to the CPUs near its GPU",
    };
    binding_to to = BINDING_NONE;
    if (is_bound(rank, options, &to))
        return words[to];
    if (rank->seat.placed && rank->seat.kept)
        return "by the launcher, which is left as it is";
    if (bind_wanted(options, &to) != MUSTER_OK || to == BINDING_NONE)
        return words[BINDING_NONE];
    return rank->elsewhere ? "no, since the machine is that of a file"
                           : "no, since the ranks were not placed";
}

muster_status muster_bind_thread(const muster_placement *placement, const char *bind)
{
    muster_placement where = MUSTER_PLACEMENT_INIT;
    binding_to to;
    if (placement == NULL || bind == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_bind_thread: %s is NULL",
                         placement == NULL ? "placement" : "bind");
    muster_status status =
        arguments_copy(&where, sizeof(where), sizeof(where), placement, "muster_placement");
    if (status == MUSTER_OK)
        status = binding_read(bind, &to);
    if (status == MUSTER_OK && to != BINDING_NONE && !where.kept && !where.elsewhere)
        status = bind_as(to, where.cpus, where.numa_cpus, where.near_cpus, where.numa_node);
    return status == MUSTER_OK ? status : error_prefix(status, "muster_bind_thread: ");
}

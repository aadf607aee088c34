/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where ranks are or would be, as a table of 80 columns, a host after the other.
 */
#include "config.h"

#include "info.h"
#include "paragraph.h"

#include <stdio.h>
#include <string.h>

enum { INDENT = 16, CPUS = 21, CPUS_ALONE = 46 };

/* A list of CPUs that is too long loses its end. */
static const char *words_cpus(const char *cpus, int most, char text[CPUS_ALONE + 1])
{
    snprintf(text, (size_t)most + 1, "%s", cpus);
    if (strlen(cpus) > (size_t)most)
        memcpy(text + most - 3, "...", 4);
    return text;
}

static const char *words_number(int number, char text[16])
{
    snprintf(text, 16, "%d", number);
    return number < 0 ? "-" : text;
}

static const char *words_nic(const muster_placement *rank)
{
    return *rank->nic != '\0' ? rank->nic : *rank->hca != '\0' ? rank->hca : "-";
}

static bool words_any_device(const muster_placement *ranks, int count)
{
    for (int r = 0; r < count; r++)
        if (ranks[r].device >= 0)
            return true;
    return false;
}

static void words_row(const muster_placement *rank, bool devices)
{
    char cpus[CPUS_ALONE + 1], device[16], node[16];
    const char *where = *rank->device_bus_id != '\0' ? rank->device_bus_id
                        : rank->device >= 0          ? "?"
                                                     : "-";
    if (devices)
        printf("  %4d  %3s  %-12s  %-12s  %4s  %-*s  %.10s\n", rank->rank,
               words_number(rank->device, device), where, rank->distance,
               words_number(rank->numa_node, node), CPUS, words_cpus(rank->cpus, CPUS, cpus),
               words_nic(rank));
    else
        printf("  %4d  %4s  %-*s  %.18s\n", rank->rank, words_number(rank->numa_node, node),
               CPUS_ALONE, words_cpus(rank->cpus, CPUS_ALONE, cpus), words_nic(rank));
}

/* Whether another host has the same name. */
static bool words_has_namesake(const muster_placement *ranks, int count, int first)
{
    for (int r = 0; r < count; r++)
        if (ranks[r].first_rank != first && strcmp(ranks[r].host, ranks[first].host) == 0)
            return true;
    return false;
}

static void words_host(const muster_placement *ranks, int count, int first, bool devices)
{
    if (words_has_namesake(ranks, count, first))
        printf("  host %.50s, that of rank %d\n", ranks[first].host, first);
    else
        printf("  host %.70s\n", ranks[first].host);
    if (devices)
        printf("  %4s  %3s  %-12s  %-12s  %4s  %-*s  %s\n", "rank", "GPU", "bus id", "distance",
               "node", CPUS, "CPUs", "network");
    else
        printf("  %4s  %4s  %-*s  %s\n", "rank", "node", CPUS_ALONE, "CPUs", "network");
    for (int r = first; r < count; r++)
        if (ranks[r].first_rank == first)
            words_row(&ranks[r], devices);
}

void info_print_ranks(const muster_placement *ranks, int count)
{
    bool devices = words_any_device(ranks, count);
    for (int r = 0; r < count; r++)
        if (ranks[r].first_rank == r)
            words_host(ranks, count, r, devices);
}

static void words_remark(const char *name, const char *sentence)
{
    if (*sentence != '\0')
        paragraph_print(stdout, INDENT, name, "%s", sentence);
}

void info_print_hidden(const muster_plan *plan)
{
    words_remark("hidden GPUs", plan->hidden);
}

void info_print_remarks(const muster_plan *plan)
{
    words_remark("GPUs", plan->shortage);
    words_remark("but", plan->remarks);
    info_print_hidden(plan);
}

/* A host's is said once, of its first rank that lacks a GPU. */
void info_print_shortages(const muster_placement *ranks, int count)
{
    for (int r = 0; r < count; r++) {
        int before = ranks[r].first_rank;
        while (before < r &&
               (ranks[before].first_rank != ranks[r].first_rank || *ranks[before].shortage == '\0'))
            before++;
        if (before == r)
            words_remark("GPUs", ranks[r].shortage);
    }
}

void info_print_plan(const muster_plan *plan)
{
    printf("muster %s\n", muster_version());
    paragraph_print(stdout, INDENT, "topology", "%s", plan->topology);
    paragraph_print(stdout, INDENT, "seen by", "%s", plan->seen_by);
    printf("\n%d rank%s by policy %s, bound by nobody\n", plan->num_ranks,
           plan->num_ranks == 1 ? "" : "s", plan->policy);
    info_print_ranks(plan->ranks, plan->num_ranks);
    info_print_remarks(plan);
}

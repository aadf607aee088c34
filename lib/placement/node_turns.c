/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which NUMA nodes ranks go to that no device draws anywhere.
 */
#include "placement/node_turns.h"

#include <stdlib.h>

#include "base/error.h"

/* How many times scale ranks of crews that are there already count for the node: a crew whose
 * domain is wider counts for the part of it that the node has. */
static long long load(const node_share *node, const crews *beside, long long scale)
{
    long long sum = 0;
    for (int i = 0; i < beside->count; i++) {
        const crew *c = &beside->crews[i];
        sum += scale * c->size * cpu_set_count_both(&c->domain, &node->cores) /
               cpu_set_count(&c->domain);
    }
    return sum;
}

/* How many ranks are to live on the cores, with those who are there already. */
static long long count_ranks(const node_turns *turns, const cpu_set *cores, const crews *beside)
{
    long long count = turns->ranks;
    for (int i = 0; i < beside->count; i++)
        if (cpu_set_meets(&beside->crews[i].domain, cores))
            count += beside->crews[i].size;
    return count;
}

/* Room for ranks. By the policies that fill nodes it is the cores that nobody needs yet; else the
 * part of all ranks that the node's cores are of all cores, less those who are there already, times
 * the number of cores. */
static void weigh(node_turns *turns, const cpu_set *cores, const crews *beside)
{
    bool fills = turns->policy == PLACEMENT_COMPACT || turns->policy == PLACEMENT_SCATTER;
    long long all = fills ? 1 : cpu_set_count(cores);
    long long ranks = fills ? 1 : count_ranks(turns, cores, beside);
    long long sum = 0;
    for (int n = 0; n < turns->count; n++) {
        node_share *node = &turns->nodes[n];
        node->weight = node->number * ranks - load(node, beside, all);
        node->weight = node->weight > 0 ? node->weight : 0;
        sum += node->weight;
    }
    for (int n = 0; sum == 0 && n < turns->count; n++)
        turns->nodes[n].weight = turns->nodes[n].number;
}

static void drop_full(node_turns *turns)
{
    int kept = 0;
    for (int n = 0; n < turns->count; n++)
        if (turns->nodes[n].weight > 0)
            turns->nodes[kept++] = turns->nodes[n];
    turns->count = kept;
}

/* Keeps the first nodes that have a core for each rank. */
static void keep_few(node_turns *turns)
{
    long long room = 0;
    int kept = 0;
    while (kept < turns->count && room < turns->ranks)
        room += turns->nodes[kept++].weight;
    turns->count = kept;
}

/* Neighbours to one node, in proportion to the nodes' weights. */
static void send_in_blocks(node_turns *turns)
{
    long long sum = 0, before = 0;
    int n = 0;
    for (int i = 0; i < turns->count; i++)
        sum += turns->nodes[i].weight;
    for (long long i = 0; i < turns->ranks; i++) {
        while ((2 * i + 1) * sum >= (before + turns->nodes[n].weight) * 2 * turns->ranks)
            before += turns->nodes[n++].weight;
        turns->node_of[i] = n;
    }
}

/* Each rank several nodes: it has those from its own to the next rank's. */
static void send_apart(node_turns *turns)
{
    for (long long i = 0; i < turns->ranks; i++)
        turns->node_of[i] = (int)(i * turns->count / turns->ranks);
}

static int by_turn(const void *a, const void *b)
{
    const node_share *one = a, *other = b;
    return one->turn != other->turn ? one->turn - other->turn : one->place - other->place;
}

/* One rank to each node in turn, passing over those that are full while others are not. */
static void send_round(node_turns *turns)
{
    long long room = 0;
    qsort(turns->nodes, (size_t)turns->count, sizeof(*turns->nodes), by_turn);
    for (int n = 0; n < turns->count; n++)
        room += turns->nodes[n].weight;
    for (int i = 0, n = 0; i < turns->ranks; n = (n + 1) % turns->count) {
        node_share *node = &turns->nodes[n];
        if (i < room && node->ranks >= node->weight)
            continue;
        node->ranks++;
        turns->node_of[i++] = n;
    }
}

static void send(node_turns *turns)
{
    if (turns->policy == PLACEMENT_SCATTER)
        send_round(turns);
    else if (turns->policy == PLACEMENT_COMPACT || turns->ranks >= turns->count)
        send_in_blocks(turns);
    else
        send_apart(turns);
}

static void find_nodes(node_turns *turns, const core_map *map, const cpu_set *cores)
{
    for (int n = 0; n < map->num_nodes; n++) {
        node_share share = {.cores = cpu_set_and(&map->nodes[n].cores, cores),
                            .turn = map->nodes[n].turn,
                            .place = n};
        share.number = cpu_set_count(&share.cores);
        if (share.number > 0)
            turns->nodes[turns->count++] = share;
    }
}

muster_status node_turns_make(node_turns *turns, const core_map *map, const cpu_set *cores,
                              const crews *beside, placement_policy policy, int ranks)
{
    size_t nodes = (size_t)map->num_nodes + 1, count = (size_t)ranks + 1;
    *turns = (node_turns){.policy = policy,
                          .ranks = ranks,
                          .nodes = calloc(nodes, sizeof(*turns->nodes)),
                          .node_of = calloc(count, sizeof(*turns->node_of))};
    if (turns->nodes == NULL || turns->node_of == NULL)
        return error_no_memory(nodes * sizeof(*turns->nodes) + count * sizeof(int),
                               "giving NUMA nodes to ranks");
    find_nodes(turns, map, cores);
    weigh(turns, cores, beside);
    drop_full(turns);
    if (policy == PLACEMENT_COMPACT)
        keep_few(turns);
    send(turns);
    return MUSTER_OK;
}

cpu_set node_turns_domain(const node_turns *turns, int i)
{
    int node = turns->node_of[i];
    cpu_set domain = turns->nodes[node].cores;
    bool apart = turns->policy != PLACEMENT_SCATTER && turns->policy != PLACEMENT_COMPACT &&
                 turns->ranks < turns->count;
    int end = i + 1 < turns->ranks ? turns->node_of[i + 1] : turns->count;
    for (int n = node + 1; apart && n < end; n++)
        domain = cpu_set_or(&domain, &turns->nodes[n].cores);
    return domain;
}

void node_turns_clear(node_turns *turns)
{
    free(turns->nodes);
    free(turns->node_of);
    *turns = (node_turns){0};
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who gets which cores: near devices, over NUMA nodes, beside those who are bound, in containers,
 * with too few of them; and what is told of a seat.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "placement/core_map.h"
#include "t/placing.h"
#include "t/tap.h"

/* Two packages of two nodes with four cores each; two threads a core, numbered apart. */
#define HOST                                                                                       \
    "cores=0/0/4/1/0,16 cores=0/1/4/1/4,20 cores=1/2/4/1/8,24 cores=1/3/4/1/12,28 allowed=0-31 "
#define FREE HOST "cpus=0-31 "
#define NEAR_0 "gpu=0/0/0/0/0-3,16-19/0000:01:00.0/GPU-a "
#define NEAR_1 "gpu=1/0/0/1/4-7,20-23/0000:02:00.0/GPU-b "
#define NEAR_PACKAGE_1 "gpu=2/0/1/-1/8-15,24-31/0000:03:00.0/GPU-c "

enum { MOST = 32 };

typedef struct cores_case {
    const char *name;
    placement_policy policy;
    const char *texts[6]; /* the last one given goes on for all further ranks */
    int count;
    const char *cpus; /* of each rank, with spaces between them */
} cores_case;

static const cores_case cases[] = {
    {"one rank has all cores", PLACEMENT_AUTO, {FREE}, 1, "0-31"},
    {"two have a package each", PLACEMENT_AUTO, {FREE}, 2, "0-7,16-23 8-15,24-31"},
    {"three on four nodes", PLACEMENT_AUTO, {FREE}, 3, "0-3,16-19 4-7,20-23 8-15,24-31"},
    {"four have a node each",
     PLACEMENT_AUTO,
     {FREE},
     4,
     "0-3,16-19 4-7,20-23 8-11,24-27 12-15,28-31"},
    {"six: neighbours on one node",
     PLACEMENT_AUTO,
     {FREE},
     6,
     "0-3,16-19 4-5,20-21 6-7,22-23 8-11,24-27 12-13,28-29 14-15,30-31"},
    {"compact: two on one node", PLACEMENT_COMPACT, {FREE}, 2, "0-1,16-17 2-3,18-19"},
    {"compact: five on two nodes",
     PLACEMENT_COMPACT,
     {FREE},
     5,
     "0-1,16-17 2-3,18-19 4,20 5,21 6-7,22-23"},
    {"scatter: two on two packages", PLACEMENT_SCATTER, {FREE}, 2, "0-3,16-19 8-11,24-27"},
    {"scatter: five in turn",
     PLACEMENT_SCATTER,
     {FREE},
     5,
     "0-1,16-17 8-11,24-27 4-7,20-23 12-15,28-31 2-3,18-19"},
    {"none: they stay as they are", PLACEMENT_NONE, {FREE}, 2, "0-31 0-31"},
    {"near a GPU, the rest elsewhere",
     PLACEMENT_AUTO,
     {FREE NEAR_0, FREE},
     4,
     "0-3,16-19 4-7,20-23 8-11,24-27 12-15,28-31"},
    {"two near one GPU's node",
     PLACEMENT_AUTO,
     {FREE NEAR_1, FREE "gpu=0/0/0/1/4-7,20-23/4:0.0/G"},
     2,
     "4-5,20-21 6-7,22-23"},
    {"a GPU of a package beside one of a node in it",
     PLACEMENT_AUTO,
     {FREE NEAR_PACKAGE_1, FREE "gpu=0/0/1/2/8-11,24-27/04:00.0/G"},
     2,
     "12-15,28-31 8-11,24-27"},
    {"a bound rank keeps its cores, others keep off",
     PLACEMENT_AUTO,
     {HOST "bound=1 cpus=0-3", FREE NEAR_0, FREE},
     3,
     "0-3 4-7,20-23 8-15,24-31"},
    {"a rank bound to all: the others share with it",
     PLACEMENT_AUTO,
     {HOST "bound=1 cpus=0-31", FREE NEAR_0},
     2,
     "0-31 0-3,16-19"},
    {"more ranks near a GPU than it has cores",
     PLACEMENT_AUTO,
     {"cores=0/0/1/1/0 cores=0/1/3/1/1 cpus=0-3 allowed=0-3 gpu=0/0/0/0/0/1:0.0/A",
      "cores=0/0/1/1/0 cores=0/1/3/1/1 cpus=0-3 allowed=0-3 gpu=0/0/0/0/0/2:0.0/B"},
     2,
     "0 1-3"},
    {"a container with 2 of the CPUs", PLACEMENT_AUTO, {HOST "cpus=5-6 allowed=5-6"}, 2, "5 6"},
    {"four ranks for 2 CPUs", PLACEMENT_AUTO, {HOST "cpus=5-6 allowed=5-6"}, 4, "5 5 6 6"},
    {"both threads of one core", PLACEMENT_AUTO, {HOST "cpus=5,21 allowed=5,21"}, 2, "5,21 5,21"},
    {"containers side by side",
     PLACEMENT_AUTO,
     {HOST "cpus=0-1 allowed=0-1", HOST "cpus=2-3 allowed=2-3"},
     2,
     "0-1 2-3"},
    {"containers that overlap",
     PLACEMENT_AUTO,
     {HOST "cpus=0-1 allowed=0-1", HOST "cpus=1-2 allowed=1-2"},
     2,
     "0-1 2"},
    {"a GPU that is not near to any allowed core",
     PLACEMENT_AUTO,
     {HOST "cpus=8-9 allowed=8-9 " NEAR_0},
     1,
     "8-9"},
    {"cores unknown to one rank",
     PLACEMENT_AUTO,
     {"cpus=0,16 allowed=0,16", FREE},
     2,
     "0,16 4-15,20-31"},
    {"nothing is known of the cores", PLACEMENT_AUTO, {"cpus=0-5 allowed=0-5"}, 3, "0-1 2-3 4-5"},
    {"nodes of other sizes: as many ranks as they have cores",
     PLACEMENT_AUTO,
     {"cores=0/0/2/1/0 cores=0/1/6/1/2 cpus=0-7 allowed=0-7"},
     8,
     "0 1 2 3 4 5 6 7"},
    {"scatter over nodes of other sizes",
     PLACEMENT_SCATTER,
     {"cores=0/0/2/1/0 cores=0/1/6/1/2 cpus=0-7 allowed=0-7"},
     8,
     "0 2 1 3 4 5 6 7"},
    {"scatter with more ranks than cores",
     PLACEMENT_SCATTER,
     {"cores=0/0/1/1/0 cores=1/1/1/1/1 cpus=0-1 allowed=0-1"},
     4,
     "0 1 0 1"},
};

static void make(placement *p, const cores_case *c)
{
    standing ranks[MOST] = {{0}};
    placement_wish wish = {.host = "h", .policy = c->policy};
    const char *text = NULL;
    for (int r = 0; r < c->count; r++) {
        text = r < 6 && c->texts[r] != NULL ? c->texts[r] : text;
        placing_read(&ranks[r], r, text);
    }
    if (placement_make(p, ranks, c->count, &wish) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    for (int r = 0; r < c->count; r++)
        standing_clear(&ranks[r]);
}

static const char *all_cpus(const placement *p)
{
    static char text[2048];
    *text = '\0';
    for (int r = 0; r < p->count; r++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", r == 0 ? "" : " ",
                 placing_cpus(&p->seats[r].cpus));
    return text;
}

static void known_cases(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        placement p;
        make(&p, &cases[i]);
        is_str(all_cpus(&p), cases[i].cpus, "%s", cases[i].name);
        placement_free(&p);
    }
}

/* A seat by the policy auto, with what follows from its CPUs and device. */
static const struct {
    const char *name, *text;
    placement_nearness nearness;
    int node, package;
    const char *node_cpus, *device_cpus;
} seats[] = {
    {"unbound near its GPU", FREE NEAR_1, PLACEMENT_LOCAL, 1, 0, "4-7,20-23", "4-7,20-23"},
    {"bound on its package", HOST "bound=1 cpus=0-1 " NEAR_1, PLACEMENT_SAME_PACKAGE, 0, 0,
     "0-3,16-19", "4-7,20-23"},
    {"bound elsewhere", HOST "bound=1 cpus=8,9 " NEAR_1, PLACEMENT_REMOTE, 2, 1, "8-11,24-27",
     "4-7,20-23"},
    {"bound to more than one node", HOST "bound=1 cpus=0,4-5,8 " NEAR_1, PLACEMENT_LOCAL, 1, -1,
     "0-11,16-27", "4-7,20-23"},
    {"a GPU of nowhere", FREE "gpu=0/0/-1/-1//1:0.0/G", PLACEMENT_UNKNOWN, 0, -1, "0-31", "0-31"},
    {"no GPU", HOST "bound=1 cpus=12", PLACEMENT_NO_DEVICE, 3, 1, "12-15,28-31", "12-15,28-31"},
    {"memory bound elsewhere", HOST "bound=1 memory=7 cpus=12", PLACEMENT_NO_DEVICE, 7, 1,
     "12-15,28-31", "12-15,28-31"},
    {"a GPU whose CPUs are not allowed", HOST "cpus=8-9 allowed=8-9 " NEAR_0, PLACEMENT_REMOTE, 2,
     1, "8-9", "8-9"},
    {"a GPU at a package that no rank has cores of, by its number",
     "cores=3/5/2/1/0 cpus=0-1 allowed=0-1 gpu=0/0/3/9/64-65/1:0.0/G", PLACEMENT_SAME_PACKAGE, 5, 3,
     "0-1", "0-1"},
    {"or at the node", "cores=3/5/2/1/0 cpus=0-1 allowed=0-1 gpu=0/0/3/5/64-65/1:0.0/G",
     PLACEMENT_LOCAL, 5, 3, "0-1", "0-1"},
    {"nodes are not known", "cpus=0-1 allowed=0-1 gpu=0/0/0/0/0-1/1:0.0/G", PLACEMENT_LOCAL, -1, -1,
     "0-1", "0-1"},
};

static void known_seats(void)
{
    for (size_t i = 0; i < sizeof(seats) / sizeof(*seats); i++) {
        cores_case one = {.texts = {seats[i].text}, .count = 1};
        placement p;
        make(&p, &one);
        const placement_seat *seat = &p.seats[0];
        ok(seat->nearness == seats[i].nearness && seat->node == seats[i].node &&
               seat->package == seats[i].package,
           "%s: %s, node %d, package %d", seats[i].name, placement_nearness_text(seat->nearness),
           seat->node, seat->package);
        is_str(placing_cpus(&seat->node_cpus), seats[i].node_cpus, "the CPUs of its nodes");
        is_str(placing_cpus(&seat->device_cpus), seats[i].device_cpus, "those near its device");
        placement_free(&p);
    }
}

static void words(void)
{
    cores_case few = {.texts = {HOST "cpus=5-6 allowed=5-6"}, .count = 4};
    cores_case far = {.texts = {HOST "bound=1 cpus=8 " NEAR_0, HOST "bound=1 cpus=8 "}, .count = 2};
    placement p;
    make(&p, &few);
    is_str(p.remarks,
           "host 'h' has too few free cores for its ranks: ranks 0-3 share cores with others",
           "who shares cores");
    ok(p.seats[0].cores_shared && p.seats[3].cores_shared, "the seats say so too");
    placement_free(&p);
    make(&p, &far);
    is_str(p.remarks, "host 'h': the GPU of rank 0 is not near to its cores", "whose GPU is far");
    ok(p.seats[0].cores_shared && p.seats[0].cores_kept,
       "ranks that were bound to the same cores are nobody's fault, but it can be seen");
    placement_free(&p);
}

/* Whether CPUs lie on several nodes of that size. */
static bool is_on_several(const cpu_set *cpus, int size)
{
    for (int cpu = cpu_set_first(cpus); cpu >= 0; cpu = cpu_set_next(cpus, cpu))
        if (cpu / size != cpu_set_first(cpus) / size)
            return true;
    return false;
}

/* Hosts of random shape, all ranks alike: as long as there are enough cores each rank has its own,
 * all of its threads, and on nodes of one size no rank has twice another one's and a core. */
static void at_random(void)
{
    unsigned seed = 21;
    int shared = 0, uneven = 0, outside = 0, lost = 0, spread = 0;
    for (int n = 0; n < 600; n++) {
        int nodes = 1 + rand_r(&seed) % 6, size = 1 + rand_r(&seed) % 8, all = nodes * size;
        int ranks = 1 + rand_r(&seed) % (all < MOST ? all : MOST), most = 0, least = all;
        char text[1024];
        placement p;
        cpu_set used = {{0}};
        int at = snprintf(text, sizeof(text), "cpus=0-%d allowed=0-%d", all - 1, all - 1);
        for (int i = 0; i < nodes; i++)
            at += snprintf(text + at, sizeof(text) - (size_t)at, " cores=%d/%d/%d/1/%d", i / 2, i,
                           size, i * size);
        cores_case one = {.texts = {text}, .count = ranks, .policy = (placement_policy)(n % 3)};
        make(&p, &one);
        for (int r = 0; r < ranks; r++) {
            int count = cpu_set_count(&p.seats[r].cpus);
            shared += cpu_set_meets(&used, &p.seats[r].cpus) || p.seats[r].cores_shared;
            used = cpu_set_or(&used, &p.seats[r].cpus);
            most = count > most ? count : most;
            least = count < least ? count : least;
        }
        lost += one.policy == PLACEMENT_AUTO && cpu_set_count(&used) != all;
        outside += cpu_set_first(&used) < 0 || cpu_set_has(&used, all);
        uneven += one.policy != PLACEMENT_COMPACT && most > 2 * least + 1;
        for (int r = 0; ranks >= nodes && r < ranks; r++)
            spread += is_on_several(&p.seats[r].cpus, size);
        placement_free(&p);
    }
    is_int(shared, 0, "600 hosts: each rank has cores of its own");
    is_int(uneven, 0, "no rank has more than twice another's and a core");
    is_int(lost, 0, "by the policy auto no core is left idle");
    is_int(outside, 0, "no CPUs but those that there are");
    is_int(spread, 0, "no rank is on two nodes where there are as many ranks as nodes");
}

/* Views of one host that differ: cores of the first rank that has one are believed. */
static void views(void)
{
    standing ranks[3];
    const standing *list[] = {&ranks[0], &ranks[1], &ranks[2]};
    core_map *map = NULL;
    placing_read(&ranks[0], 0, "cpus=9 allowed=9 cores=0/0/2/1/0");
    placing_read(&ranks[1], 1, "cpus=0 allowed=0 cores=1/4/3/1/0,8 cores=0/2/1/1/7");
    placing_read(&ranks[2], 2, "cpus=20-21 allowed=20-21");
    is_int(core_map_make(&map, list, 3), MUSTER_OK, "three views of a host");
    cpu_set cpus, cores;
    cpu_set_parse(&cpus, "8-9");
    cores = core_map_cores(map, &cpus);
    is_str(placing_cpus(&cores), "0-1", "threads that the first did not see join its cores");
    cpus = core_map_cpus(map, &cores);
    is_str(placing_cpus(&cpus), "0-1,8-9", "which have all of them");
    ok(map->num_cores == 6 && map->num_nodes == 4, "all cores and nodes");
    ok(map->nodes[0].number == 0 && map->nodes[1].number == 2 && map->nodes[1].turn == 1 &&
           map->nodes[2].number == 4 && map->nodes[3].number == -1,
       "nodes in order, those not known at the end");
    cpu_set_parse(&cpus, "0,7,21,100");
    cores = core_map_cores(map, &cpus);
    cpus = core_map_nodes(map, &cores);
    is_str(placing_cpus(&cpus), "0-1,3", "the nodes of some CPUs, one of which nobody knows");
    core_map_free(map);
    for (int r = 0; r < 3; r++)
        standing_clear(&ranks[r]);
}

int main(void)
{
    plan((int)(sizeof(cases) / sizeof(*cases)) + 3 * (int)(sizeof(seats) / sizeof(*seats)) + 4 + 5 +
         6);
    known_cases();
    known_seats();
    words();
    at_random();
    views();
    return done();
}

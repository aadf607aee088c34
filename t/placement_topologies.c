/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Real machines, 1 to 16 ranks, bound and unbound, with GPUs hidden: who gets which GPU, against
 * a search through all sets of GPUs; the same on all ranks, in whatever order their standings came;
 * and what the cores are like. The figures are shown as a table, which doc/placement.md has.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "t/placing.h"
#include "t/tap.h"

static const int sizes[] = {1, 2, 4, 6, 8, 16};
enum { NUM_SIZES = sizeof(sizes) / sizeof(*sizes), MOST_GPUS = 16 };

#define NEVER ((int64_t)1 << 60)
#define NONE ((int64_t)1 << 40) /* what having none counts: more than any sum */

/* What each rank pays for each GPU, in the order of bus ids. */
typedef struct costs {
    int ranks, gpus;
    int64_t of[PLACING_MOST][MOST_GPUS];
} costs;

/* The least that ranks r.. come to when the GPUs in taken are gone: by the sets, not by prices. */
static int64_t least(const costs *c, int r, unsigned taken, int64_t *known)
{
    if (r == c->ranks)
        return 0;
    int64_t *best = &known[((size_t)r << c->gpus) + taken];
    if (*best >= 0)
        return *best;
    *best = NONE + least(c, r + 1, taken, known);
    for (int g = 0; g < c->gpus; g++)
        if ((taken & 1u << g) == 0 && c->of[r][g] < NEVER) {
            int64_t cost = c->of[r][g] + least(c, r + 1, taken | 1u << g, known);
            *best = cost < *best ? cost : *best;
        }
    return *best;
}

/* Writes the lowest of the best ways and returns its cost, those without left out. */
static int64_t search(const costs *c, int gpu_of[PLACING_MOST])
{
    size_t states = (size_t)c->ranks << c->gpus;
    int64_t *known = malloc(states * sizeof(*known)), sum = 0;
    unsigned taken = 0;
    for (size_t i = 0; i < states; i++)
        known[i] = -1;
    for (int r = 0; r < c->ranks; r++) {
        int64_t rest = least(c, r, taken, known);
        gpu_of[r] = -1;
        for (int g = 0; g < c->gpus && gpu_of[r] < 0; g++)
            if ((taken & 1u << g) == 0 && c->of[r][g] < NEVER &&
                c->of[r][g] + least(c, r + 1, taken | 1u << g, known) == rest)
                gpu_of[r] = g;
        if (gpu_of[r] < 0)
            continue;
        sum += c->of[r][gpu_of[r]];
        taken |= 1u << gpu_of[r];
    }
    free(known);
    return sum;
}

/* Rank i takes GPU i. */
static int64_t naive(const costs *c)
{
    int64_t sum = 0;
    for (int r = 0; r < c->ranks && r < c->gpus; r++)
        sum += c->of[r][r] < NEVER ? c->of[r][r] : 0;
    return sum;
}

/* Each rank in turn takes the nearest that is free. */
static int64_t greedy(const costs *c)
{
    int64_t sum = 0;
    unsigned taken = 0;
    for (int r = 0; r < c->ranks; r++) {
        int best = -1;
        for (int g = 0; g < c->gpus; g++)
            if ((taken & 1u << g) == 0 && c->of[r][g] < NEVER &&
                (best < 0 || c->of[r][g] < c->of[r][best]))
                best = g;
        if (best < 0)
            continue;
        sum += c->of[r][best];
        taken |= 1u << best;
    }
    return sum;
}

/* What stands for hidden GPUs: all seen; one in three hidden from all; each rank sees others. */
typedef enum hiding { ALL_SEEN, SOME_HIDDEN, EACH_OTHERS, HIDINGS } hiding;

static unsigned seen_by(hiding hidden, int rank)
{
    return hidden == ALL_SEEN      ? ~0u
           : hidden == SOME_HIDDEN ? 0xdb6db6du << 1
                                   : 0x5a5a36c9u >> rank % 9;
}

/* One case: the ranks' own standings and those that each has read of the others. */
typedef struct scene {
    machine *m;
    int ranks;
    placing_binding binding;
    hiding hidden;
    standing own[PLACING_MOST];
    standing read[PLACING_MOST];
    costs costs;
    int64_t best;
    int wrong; /* found so far */
} scene;

static void wrong(scene *s, const char *topology, const char *what)
{
    s->wrong++;
    diag("%s, %d ranks, %s, hiding %d: %s", topology, s->ranks, placing_binding_names[s->binding],
         (int)s->hidden, what);
}

static void stand(scene *s)
{
    s->costs = (costs){.ranks = s->ranks, .gpus = s->m->num_gpus};
    for (int r = 0; r < s->ranks; r++) {
        unsigned visible = seen_by(s->hidden, r);
        placing_stand(&s->own[r], s->m, r, s->ranks, s->binding, visible);
        placing_publish(&s->read[r], &s->own[r]);
        for (int g = 0, d = 0; g < s->m->num_gpus; g++)
            s->costs.of[r][g] = (visible & 1u << g) != 0 ? s->own[r].devices[d++].cost : NEVER;
    }
}

static void unstand(scene *s)
{
    for (int r = 0; r < s->ranks; r++) {
        standing_clear(&s->own[r]);
        standing_clear(&s->read[r]);
    }
}

/* The GPUs by the search's numbers. */
static int gpu_number(const scene *s, const placement *p, const placement_seat *seat)
{
    if (seat->device < 0)
        return -1;
    return machine_find_gpu(s->m, p->devices[seat->device].bus_id);
}

static void check_devices(scene *s, const placement *p, const char *topology)
{
    int best[PLACING_MOST];
    int64_t cost = 0;
    s->best = search(&s->costs, best);
    for (int r = 0; r < s->ranks; r++) {
        const placement_seat *seat = &p->seats[r];
        int gpu = gpu_number(s, p, seat);
        if (gpu != best[r])
            wrong(s, topology, "a rank has another GPU than the search gives it");
        if (gpu >= 0 && seat->cost != s->costs.of[r][gpu])
            wrong(s, topology, "a cost is not that of the rank's row");
        if (gpu >= 0 && s->own[r].devices[0].bus_id[0] != '\0' &&
            strcmp(p->devices[seat->device].bus_id, s->m->gpus[gpu].bus_id) != 0)
            wrong(s, topology, "a bus id");
        for (int other = 0; other < r; other++)
            if (gpu >= 0 && gpu_number(s, p, &p->seats[other]) == gpu)
                wrong(s, topology, "two ranks have one GPU");
        cost += seat->cost;
    }
    if (cost != s->best)
        wrong(s, topology, "the sum is not the least");
}

/* An unbound rank has cores near its GPU, or all of those are other ranks'. */
static bool is_as_near_as_can_be(const scene *s, const placement *p, const placement_seat *seat)
{
    int near = 0, users = 0;
    if (seat->device < 0 || seat->nearness == PLACEMENT_LOCAL ||
        seat->nearness == PLACEMENT_UNKNOWN)
        return true;
    const cpu_set *cpus = &p->devices[seat->device].cpus;
    for (int c = 0; c < s->m->num_cores; c++)
        near += cpu_set_has(cpus, s->m->cores[c].pus[0]);
    for (int r = 0; r < p->count; r++)
        users += cpu_set_meets(cpus, &p->seats[r].cpus);
    return users >= near && *p->remarks != '\0';
}

/* Bound ranks keep their CPUs; the others' are their own, as long as there are enough cores. */
static void check_cores(scene *s, const placement *p, const char *topology)
{
    bool enough = s->binding == PLACING_UNBOUND && s->ranks <= s->m->num_cores;
    for (int r = 0; r < s->ranks; r++) {
        const placement_seat *seat = &p->seats[r];
        const standing *own = &s->own[r];
        if (cpu_set_is_empty(&seat->cpus) || !cpu_set_is_subset(&seat->cpus, &own->allowed))
            wrong(s, topology, "a rank has no CPU, or one that it may not use");
        if (own->bound != seat->cores_kept ||
            (own->bound && !cpu_set_equal(&seat->cpus, &own->cpus)))
            wrong(s, topology, "a binding is not kept");
        for (int other = 0; other < r; other++)
            if (enough && cpu_set_meets(&seat->cpus, &p->seats[other].cpus))
                wrong(s, topology, "two ranks have a core, though there are enough");
        if (enough && seat->cores_shared)
            wrong(s, topology, "it says that cores are shared");
        if (enough && !is_as_near_as_can_be(s, p, seat))
            wrong(s, topology, "an unbound rank's cores are not near its GPU");
    }
}

static uint64_t add_set(uint64_t hash, const cpu_set *set)
{
    for (size_t w = 0; w < sizeof(set->words) / sizeof(*set->words); w++)
        hash = fnv_add(hash, set->words[w]);
    return hash;
}

/* A number that is the same for the same table. */
static uint64_t hash_of(const placement *p)
{
    uint64_t hash = FNV_START;
    for (int r = 0; r < p->count; r++) {
        const placement_seat *s = &p->seats[r];
        const int numbers[] = {s->rank, s->device, s->ordinal, s->node, (int)s->nearness};
        for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
            hash = fnv_add(hash, (uint64_t)numbers[i]);
        hash = fnv_add(hash, (uint64_t)s->cost);
        hash = add_set(add_set(add_set(hash, &s->cpus), &s->node_cpus), &s->device_cpus);
    }
    for (int d = 0; d < p->num_devices; d++)
        hash = fnv_add_text(fnv_add_text(hash, p->devices[d].bus_id), p->devices[d].uuid);
    return hash;
}

/* Each rank has the standings in an order of its own, its own one unread, all others from text.
 * Every step-th rank is asked. */
static void check_sameness(scene *s, const placement *p, placement_wish wish, int step,
                           const char *topology)
{
    uint64_t hash = hash_of(p);
    for (int me = s->ranks - 1; me >= 0; me -= step) {
        standing list[PLACING_MOST];
        placement mine;
        for (int r = 0; r < s->ranks; r++) {
            int from = (r * (me % 2 == 0 ? 1 : s->ranks - 1) + me) % s->ranks;
            list[r] = from == me ? s->own[from] : s->read[from];
        }
        if (placement_make(&mine, list, s->ranks, &wish) != MUSTER_OK)
            bail_out("%s", muster_last_error());
        if (hash_of(&mine) != hash || strcmp(mine.shortage, p->shortage) != 0)
            wrong(s, topology, "two ranks have different tables");
        placement_free(&mine);
    }
}

static void check_shortage(scene *s, const placement *p, const char *topology)
{
    int without = 0;
    for (int r = 0; r < s->ranks; r++)
        without += p->seats[r].device < 0;
    if ((without > 0) != (*p->shortage != '\0'))
        wrong(s, topology, "the shortage is not told, or told where there is none");
}

static void place(scene *s, placement *p, placement_wish wish)
{
    if (placement_make(p, s->own, s->ranks, &wish) != MUSTER_OK)
        bail_out("%s", muster_last_error());
}

/* The other policies have no optimum, but cores, distinct devices and sameness. */
static void check_other_policies(scene *s, const char *topology)
{
    static const placement_policy others[] = {PLACEMENT_COMPACT, PLACEMENT_SCATTER, PLACEMENT_NONE};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        placement_wish wish = {.host = "a", .policy = others[i], .share = i == 0};
        placement p;
        place(s, &p, wish);
        if (others[i] != PLACEMENT_NONE)
            check_cores(s, &p, topology);
        for (int r = 0; r < s->ranks && !wish.share; r++)
            for (int other = 0; other < r; other++)
                if (p.seats[r].device >= 0 && p.seats[r].device == p.seats[other].device)
                    wrong(s, topology, "two ranks have one GPU by another policy");
        check_sameness(s, &p, wish, 7, topology);
        placement_free(&p);
    }
}

/* All ways of hiding; returns what was wrong. */
static int one_size(const char *topology, machine *m, int ranks, placing_binding binding)
{
    int found = 0;
    for (int hidden = 0; hidden < HIDINGS; hidden++) {
        scene s = {.m = m, .ranks = ranks, .binding = binding, .hidden = (hiding)hidden};
        placement_wish wish = {.host = "a", .policy = PLACEMENT_AUTO};
        placement p;
        stand(&s);
        place(&s, &p, wish);
        check_devices(&s, &p, topology);
        check_cores(&s, &p, topology);
        check_shortage(&s, &p, topology);
        check_sameness(&s, &p, wish, 1, topology);
        placement_free(&p);
        check_other_policies(&s, topology);
        if (hidden == ALL_SEEN)
            diag("| %s | %s | %d | %lld | %lld | %lld |", topology, placing_binding_names[binding],
                 ranks, (long long)s.best, (long long)naive(&s.costs), (long long)greedy(&s.costs));
        found += s.wrong;
        unstand(&s);
    }
    return found;
}

static void one_topology(const char *topology)
{
    machine *m = placing_load(TOPOLOGIES, topology);
    for (int b = 0; b < PLACING_BINDINGS; b++) {
        int found = 0;
        for (int n = 0; n < NUM_SIZES; n++)
            found += one_size(topology, m, sizes[n], (placing_binding)b);
        is_int(found, 0, "%s, %s: all sizes and ways to hide GPUs", topology,
               placing_binding_names[b]);
    }
    machine_free(m);
}

/* A case with figures that were found by another program. */
typedef struct known {
    const char *topology;
    int ranks;
    placing_binding binding;
    int64_t best, naive, greedy;
} known;

static void check_known(const known *k)
{
    machine *m = placing_load(TOPOLOGIES, k->topology);
    scene s = {.m = m, .ranks = k->ranks, .binding = k->binding};
    placement_wish wish = {.host = "a"};
    placement p;
    int64_t sum = 0;
    stand(&s);
    place(&s, &p, wish);
    for (int r = 0; r < k->ranks; r++)
        sum += p.seats[r].cost;
    is_int(sum, k->best, "%s, %d ranks %s: the cost", k->topology, k->ranks,
           placing_binding_names[k->binding]);
    ok(naive(&s.costs) == k->naive && greedy(&s.costs) == k->greedy,
       "without looking it is %lld, one after the other %lld", (long long)k->naive,
       (long long)k->greedy);
    placement_free(&p);
    unstand(&s);
    machine_free(m);
}

static const known all_known[] = {
    {"mpibind-eas-tioga", 8, PLACING_SPREAD, 0, 55296, 0},
    {"mpibind-coral-lassen", 2, PLACING_SPREAD, 0, 123904, 0},
    {"mpibind-coral-lassen-hwloc1", 2, PLACING_SPREAD, 0, 123904, 0},
    {"mpibind-coral-lassen", 4, PLACING_REVERSED, 0, 495616, 0},
    {"hwloc-power8gpudistances", 4, PLACING_REVERSED, 0, 495616, 0},
    {"mpibind-coral-lassen", 4, PLACING_MIXED, 512, 124416, 124416},
    {"hwloc-power8gpudistances", 4, PLACING_MIXED, 512, 124416, 124416},
    {"mpibind-g4dnmetal", 8, PLACING_MIXED, 512, 46592, 46592},
};

int main(void)
{
    enum { NUM_KNOWN = sizeof(all_known) / sizeof(*all_known) };
    plan(PLACING_TOPOLOGIES * PLACING_BINDINGS + 2 * NUM_KNOWN);
    diag("| machine | ranks are bound | ranks | least | GPU i for rank i | one after the other |");
    for (int t = 0; t < PLACING_TOPOLOGIES; t++)
        one_topology(placing_topologies[t]);
    for (size_t k = 0; k < NUM_KNOWN; k++)
        check_known(&all_known[k]);
    return done();
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cards: what each rank says of its CPUs, and what is made of it.
 */
#include "config.h"

#include <sched.h>
#include <string.h>

#include "backend/host.h"
#include "card.h"
#include "comm.h"
#include "tap.h"

enum { RANKS = 4 };

static void run_on(card *one, int first, int last)
{
    memset(&one->cpus, 0, sizeof(one->cpus));
    for (int cpu = first; cpu <= last; cpu++)
        one->cpus.words[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

static void count_rivals(void)
{
    static const struct {
        const char *name;
        int cpus[RANKS][2]; /* the first and the last one of each rank */
        int rivals[RANKS];
    } rows[] = {
        {"each on its own", {{0, 0}, {1, 1}, {2, 2}, {3, 3}}, {1, 1, 1, 1}},
        {"two and two", {{0, 1}, {0, 1}, {2, 3}, {2, 3}}, {2, 2, 2, 2}},
        {"all on all", {{0, 1023}, {0, 1023}, {0, 1023}, {0, 1023}}, {4, 4, 4, 4}},
        {"one on all", {{0, 127}, {63, 63}, {64, 64}, {127, 127}}, {4, 2, 2, 2}},
    };
    static card cards[RANKS];
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        bool right = true;
        for (int r = 0; r < RANKS; r++)
            run_on(&cards[r], rows[i].cpus[r][0], rows[i].cpus[r][1]);
        for (int r = 0; r < RANKS; r++)
            right = right && card_ranks_on_cpus(cards, RANKS, r) == rows[i].rivals[r];
        ok(right, "%s", rows[i].name);
    }
}

static void own_cpus(void)
{
    cpu_set_t before, one;
    card all, here;
    local_host = &host_functions;
    if (sched_getaffinity(0, sizeof(before), &before) != 0) {
        skip(3, "there are more CPUs than it counts");
        return;
    }
    is_int(card_fill(&all, 0, 1), MUSTER_OK, "a card is filled");
    int cpu = 0;
    while (!CPU_ISSET(cpu, &before))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
    const process_cpus bound = process_cpus_self();
    is_int(card_fill(&here, 0, 1), MUSTER_OK, "and one of a thread that is bound");
    sched_setaffinity(0, sizeof(before), &before);
    memset(&all.cpus.words[cpu / 64], 0, sizeof(all.cpus.words[0]));
    ok(memcmp(&here.cpus, &bound, sizeof(bound)) == 0 &&
           here.cpus.words[cpu / 64] == UINT64_C(1) << cpu % 64 &&
           !process_cpus_meet(&here.cpus, &all.cpus),
       "which has the one that it may run on");
}

int main(void)
{
    plan(4 + 3);
    count_rivals();
    own_cpus();
    return done();
}

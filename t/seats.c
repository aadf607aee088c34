/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Placing the ranks of a world from their records, which are made by hand here: hosts, wishes,
 * devices as backends count them, network interfaces, and what can't be read.
 */
#include "group/seats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/bind.h"
#include "placement/placement.h"
#include "tap.h"

enum { MOST = 4 };

/* One rank: its host, and the rest of its record. */
typedef struct who {
    const char *host;
    const char *lines;
} who;

#define NET "backend\trigged\t1\t\t10.0.0.1\teth0\troute to the store\n"
#define NET6 "backend\trigged\t1\t\tfd00::1\teth0\troute to the store\n"
#define OPTED "backend\trigged\t1\t\t10.0.0.1\teth0\trigged.iface\n"
#define TOY "backend\ttoy\t1\t\t\t\t\n"
#define AUTO "placement\tauto\n"
#define CPUS "cpus=0-7 allowed=0-7 bound=0 cores=0/0/4/1/0 cores=1/1/4/1/4"
#define LEFT "cpus=0-3 allowed=0-7 bound=1 cores=0/0/4/1/0 cores=1/1/4/1/4"
#define RIGHT "cpus=4-7 allowed=0-7 bound=1 cores=0/0/4/1/0 cores=1/1/4/1/4"
#define GPUS(first, second)                                                                        \
    " gpu=0/" #first "/0/0/0-3/0000:01:00.0/GPU-a gpu=1/" #second "/1/1/4-7/0000:02:00.0/GPU-b"
#define LISTED                                                                                     \
    "device\ttoy\t0\twhole\tGPU-a\t0000:01:00.0\tToy\n"                                            \
    "device\ttoy\t1\twhole\tGPU-b\t0000:02:00.0\tToy\n"
#define STANDS(cpus, first, second) "standing\t" cpus GPUS(first, second) "\n"
#define NEAR1 "near\tdevice\t1\teth1\t10.0.0.2\tmlx5_1\tbehind the same switch\n"
#define NEAR_NODE "near\tnode\t1\teth1\t10.0.0.2\t\ton the same NUMA node\n"

static muster_status seat(roster *list, const who *ranks, int count)
{
    char texts[MOST][2048];
    muster_blob blobs[MOST];
    for (int r = 0; r < count; r++) {
        snprintf(texts[r], sizeof(texts[r]),
                 "host\t%s\nhost_id\tid-%s\npid\t%d\nworld_size\t%d\nrank\t%d\n%s", ranks[r].host,
                 ranks[r].host, 100 + r, count, r, ranks[r].lines);
        blobs[r] = muster_str(texts[r]);
    }
    if (roster_read(list, blobs, count) != MUSTER_OK)
        bail_out("no roster: %s", muster_last_error());
    return seats_settle(list);
}

static const rank_seat *seat_of(const roster *list, int rank)
{
    return &list->ranks[rank].seat;
}

/* ---- devices ---- */

static void crossed(void)
{
    static const who ranks[] = {{"a", TOY AUTO LISTED STANDS(RIGHT, 45056, 0)},
                                {"b", TOY AUTO LISTED STANDS(CPUS, 512, 512)},
                                {"a", TOY AUTO LISTED STANDS(LEFT, 0, 45056)}};
    roster list;
    is_int(seat(&list, ranks, 3), MUSTER_OK, "two hosts are placed");
    ok(seat_of(&list, 0)->device == 1 && seat_of(&list, 2)->device == 0 &&
           seat_of(&list, 1)->device == 0,
       "each rank has the device near to it, on its own host");
    ok(seat_of(&list, 0)->local_rank == 0 && seat_of(&list, 2)->local_rank == 1 &&
           seat_of(&list, 1)->local_rank == 0,
       "and its turn there");
    is_str(seat_of(&list, 0)->cpus, "4-7", "a binding is kept");
    ok(seat_of(&list, 0)->kept == 1 && seat_of(&list, 1)->kept == 0, "and told apart");
    is_str(seat_of(&list, 0)->distance, "local", "how near it is");
    is_str(seat_of(&list, 0)->uuid, "GPU-b", "the device by name");
    ok(rank_record_device(&list.ranks[0], "toy") != NULL &&
           rank_record_device(&list.ranks[0], "toy")->ordinal == 1,
       "the backend's device is that of the seat");
    is_str(rank_record_backend(&list.ranks[0], "toy")->device_from, seat_of(&list, 0)->why,
           "and says why");
    is_str(list.ranks[0].standing, "", "what was read once is not kept");
    roster part;
    const int members[] = {2, 0};
    is_int(roster_subset(&part, &list, members, 2), MUSTER_OK, "a group of some of them");
    ok(seat_of(&part, 1)->device == 1 && strcmp(seat_of(&part, 1)->cpus, "4-7") == 0 &&
           strcmp(seat_of(&part, 0)->uuid, "GPU-a") == 0 && seat_of(&part, 0)->local_rank == 1,
       "has their seats");
    roster_clear(&part);
    roster_clear(&list);
}

static void scarce(void)
{
    static const who ranks[] = {{"a", TOY AUTO LISTED STANDS(CPUS, 512, 512)},
                                {"a", TOY AUTO LISTED STANDS(CPUS, 512, 512)},
                                {"a", TOY AUTO LISTED STANDS(CPUS, 512, 512)}};
    roster list;
    is_int(seat(&list, ranks, 3), MUSTER_OK, "more ranks than devices");
    is_int(seat_of(&list, 2)->device, -1, "leave one without");
    is_str(rank_record_backend(&list.ranks[2], "toy")->device_from,
           "host 'a' has 2 GPUs for 3 ranks: rank 2 has none", "which the backend is told");
    is_str(seat_of(&list, 2)->shortage, "host 'a' has 2 GPUs for 3 ranks: rank 2 has none",
           "and whoever asks for its place");
    roster_clear(&list);
}

static void policies(void)
{
    static const who nobody[] = {{"a", TOY "placement\tnone\n" LISTED STANDS(CPUS, 0, 0)}};
    static const who only[] = {{"a", TOY "placement\tnone\nstanding\t" CPUS
                                         " gpu=0/0/0/0/0-3/0000:01:00.0/GPU-a\n"
                                         "device\ttoy\t0\twhole\tGPU-a\t0000:01:00.0\tToy\n"}};
    static const who listed[] = {
        {"a", TOY "placement\texplicit\nlist\t1@4-5;0@0\n" LISTED STANDS(CPUS, 0, 0)},
        {"a", TOY "placement\texplicit\nlist\t1@4-5;0@0\n" LISTED STANDS(CPUS, 0, 0)}};
    static const who old[] = {{"a", TOY LISTED}, {"a", TOY AUTO LISTED STANDS(CPUS, 0, 0)}};
    roster list;
    is_int(seat(&list, nobody, 1), MUSTER_OK, "nobody is placed by 'none'");
    ok(seat_of(&list, 0)->device == -1 && rank_record_device(&list.ranks[0], "toy") == NULL,
       "and nobody has one of several");
    roster_clear(&list);
    is_int(seat(&list, only, 1), MUSTER_OK, "with 'none' and one device");
    ok(rank_record_device(&list.ranks[0], "toy") != NULL, "it is the rank's");
    roster_clear(&list);
    is_int(seat(&list, listed, 2), MUSTER_OK, "a list");
    ok(seat_of(&list, 0)->device == 1 && strcmp(seat_of(&list, 0)->cpus, "4-5") == 0 &&
           seat_of(&list, 1)->device == 0,
       "is followed");
    roster_clear(&list);
    is_int(seat(&list, old, 2), MUSTER_OK, "a rank that says nothing of where it stands");
    ok(!seat_of(&list, 0)->placed && !seat_of(&list, 1)->placed,
       "leaves all of its host where they are");
    has_str(rank_record_backend(&list.ranks[1], "toy")->device_from, "nobody has said",
            "without one of several devices");
    roster_clear(&list);
}

/* ---- network interfaces ---- */

static void networks(void)
{
    static const who near[] = {{"a", NET TOY AUTO LISTED NEAR1 STANDS(RIGHT, 45056, 0)},
                               {"b", NET AUTO NEAR_NODE "standing\t" RIGHT "\n"},
                               {"c", OPTED AUTO NEAR_NODE "standing\t" RIGHT "\n"},
                               {"d", NET AUTO NEAR_NODE "standing\t" LEFT "\n"}};
    static const who mixed[] = {{"a", NET AUTO NEAR_NODE "standing\t" RIGHT "\n"},
                                {"b", NET6 AUTO NEAR_NODE "standing\t" RIGHT "\n"}};
    roster list;
    is_int(seat(&list, near, 4), MUSTER_OK, "ranks with two interfaces");
    const rank_backend *has = rank_record_backend(&list.ranks[0], "rigged");
    ok(strcmp(has->address, "10.0.0.2") == 0 && strcmp(has->interface, "eth1") == 0 &&
           strcmp(has->address_from, "behind the same switch") == 0,
       "the one near the device is taken, and says why");
    ok(strcmp(seat_of(&list, 0)->nic, "eth1") == 0 && strcmp(seat_of(&list, 0)->hca, "mlx5_1") == 0,
       "and is in the seat");
    is_str(rank_record_backend(&list.ranks[1], "rigged")->interface, "eth1",
           "without a device that near the cores");
    is_str(rank_record_backend(&list.ranks[2], "rigged")->interface, "eth0",
           "an option goes before it");
    is_str(seat_of(&list, 2)->nic_why, "rigged.iface", "and is said");
    is_str(rank_record_backend(&list.ranks[3], "rigged")->interface, "eth0",
           "as is the route where nothing is nearer");
    roster_clear(&list);
    is_int(seat(&list, mixed, 2), MUSTER_OK, "two families");
    is_str(rank_record_backend(&list.ranks[0], "rigged")->interface, "eth0",
           "keep the interfaces on which they can agree");
    roster_clear(&list);
}

/* ---- what is wrong ---- */

static const struct {
    who ranks[2];
    muster_status status;
    const char *words;
} wrongs[] = {
    {{{"a", AUTO "standing\t" CPUS "\n"}, {"a", "placement\tcompact\nstanding\t" CPUS "\n"}},
     MUSTER_ERR_MISMATCH,
     "rank 0 (host a, pid 100) has placement=auto and rank 1 (host a, pid 101) has "
     "placement=compact"},
    {{{"a", AUTO "standing\tcpus=0 allowed=0\n"}, {"a", AUTO "standing\tcpus=x allowed=0\n"}},
     MUSTER_ERR_PROTOCOL,
     "rank 1 (host a, pid 101): "},
    {{{"a", "placement\texplicit\nlist\t3\nstanding\t" CPUS "\n"},
      {"b", AUTO "standing\t" CPUS "\n"}},
     MUSTER_ERR_ARGUMENT,
     "3"},
    {{{"a", "placement\tbest\nstanding\t" CPUS "\n"}, {"b", AUTO "standing\t" CPUS "\n"}},
     MUSTER_ERR_ARGUMENT,
     "there is no placement policy \"best\""},
};
enum { NUM_WRONGS = sizeof(wrongs) / sizeof(*wrongs) };

static void refuse(size_t i)
{
    roster list;
    is_int(seat(&list, wrongs[i].ranks, 2), wrongs[i].status, "wrong %zu", i);
    has_str(muster_last_error(), wrongs[i].words, "says which");
    roster_clear(&list);
}

static void lines(void)
{
    static const char *const broken[] = {"near\tdevice\t0\teth0\n",
                                         "near\tdevice\tx\teth0\t1\t\t\n", "seat\t0\t0\n",
                                         "seat\t0\t0\t0\t0\t0\t0\t\t\t\t\t\t\t\t\t\t\t\t\t\n",
                                         "seat\t0\t0\t0\ty\t0\t0\t\t\t\t\t\t\t\t\t\t\t\n"};
    for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
        rank_record record;
        char text[512];
        snprintf(text, sizeof(text), "world_size\t1\nrank\t0\n%s", broken[i]);
        is_int(rank_record_read(&record, muster_str(text)), MUSTER_ERR_PROTOCOL, "no line: %zu", i);
    }
}

/* ---- threads ---- */

static void threads(void)
{
    static const who wide[] = {{"a", AUTO "standing\t" CPUS "\n"},
                               {"a", AUTO "standing\t" CPUS "\n"}};
    static const who narrow[] = {
        {"a", AUTO "standing\tcpus=0-1 allowed=0-1 bound=0 cores=0/0/2/1/0\n"},
        {"a", AUTO "standing\tcpus=0-1 allowed=0-1 bound=0 cores=0/0/2/1/0\n"}};
    static const who one[] = {{"a", AUTO "standing\tcpus=0 allowed=0 bound=0 cores=0/0/1/1/0\n"}};
    static const who listed[] = {{"a", "placement\texplicit\nlist\t@0-1\nstanding\t" CPUS "\n"}};
    roster list;
    seat(&list, wide, 2);
    ok(strcmp(seat_of(&list, 0)->cpus, "0-3") == 0 &&
           strcmp(seat_of(&list, 0)->thread_cpus, "1-3") == 0,
       "threads of muster's own leave the rank's first core alone");
    roster_clear(&list);
    seat(&list, listed, 1);
    is_str(seat_of(&list, 0)->thread_cpus, "2-3", "and have cores that nobody has");
    roster_clear(&list);
    seat(&list, narrow, 2);
    ok(strcmp(seat_of(&list, 1)->cpus, "1") == 0 &&
           strcmp(seat_of(&list, 1)->thread_cpus, "0") == 0,
       "with a core each they have that of a neighbour");
    roster_clear(&list);
    seat(&list, one, 1);
    is_str(seat_of(&list, 0)->thread_cpus, "0", "with one core that one");
    roster_clear(&list);
}

int main(void)
{
    plan(12 + 4 + 9 + 9 + 2 * NUM_WRONGS + 5 + 4);
    crossed();
    scarce();
    policies();
    networks();
    for (size_t i = 0; i < NUM_WRONGS; i++)
        refuse(i);
    lines();
    threads();
    return done();
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who gets which device: what was settled beforehand, slices, ranks that see the same device in
 * other ways, sharing, the policies in their order of devices, lists, and the sentences.
 */
#include "config.h"

#include "placement/placement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "placement/place_list.h"
#include "t/placing.h"
#include "t/tap.h"

/* Two packages of two nodes with two cores each. */
#define CORES                                                                                      \
    "cores=0/0/2/1/0 cores=0/1/2/1/2 cores=1/2/2/1/4 cores=1/3/2/1/6 cpus=0-7 allowed=0-7 "

/* Two GPUs on each of nodes 0 and 2, one on each of 1 and 3. */
#define GPU_A "gpu=0/0/0/0/0-1/0000:01:00.0/GPU-a "
#define GPU_B "gpu=1/0/0/0/0-1/0000:02:00.0/GPU-b "
#define GPU_C "gpu=2/0/0/1/2-3/0000:03:00.0/GPU-c "
#define GPU_D "gpu=3/0/1/2/4-5/0000:04:00.0/GPU-d "
#define GPU_E "gpu=4/0/1/2/4-5/0000:05:00.0/GPU-e "
#define GPU_F "gpu=5/0/1/3/6-7/0000:06:00.0/GPU-f "
#define GPUS GPU_A GPU_B GPU_C GPU_D GPU_E GPU_F

enum { MOST = 16 };

/* Places ranks with these texts; the last one is NULL. */
static muster_status place(placement *p, placement_wish wish, const char *const *texts)
{
    standing ranks[MOST] = {{0}};
    int count = 0;
    for (; texts[count] != NULL; count++)
        placing_read(&ranks[count], count, texts[count]);
    wish.host = "node7";
    muster_status status = placement_make(p, ranks, count, &wish);
    while (count > 0)
        standing_clear(&ranks[--count]);
    return status;
}

static muster_status place_alike(placement *p, placement_wish wish, const char *text, int count)
{
    const char *texts[MOST + 1] = {NULL};
    for (int r = 0; r < count; r++)
        texts[r] = text;
    return place(p, wish, texts);
}

/* "acf-": the last letter of each rank's UUID, '-' for none. */
static const char *letters(const placement *p)
{
    static char text[MOST + 1];
    for (int r = 0; r < p->count; r++) {
        const char *uuid = p->seats[r].device < 0 ? "-" : p->devices[p->seats[r].device].uuid;
        text[r] = *uuid == '\0' ? '?' : uuid[strlen(uuid) - 1];
    }
    text[p->count] = '\0';
    return text;
}

/* So many ranks alike, by the policy, have these GPUs. */
static void alike(placement_policy policy, bool share, int count, const char *expected)
{
    placement p;
    if (place_alike(&p, (placement_wish){.policy = policy, .share = share}, CORES GPUS, count) !=
        MUSTER_OK)
        bail_out("%s", muster_last_error());
    is_str(letters(&p), expected, "%s%s, %d ranks", placement_policy_text(policy),
           share ? " with sharing" : "", count);
    placement_free(&p);
}

static void orders(void)
{
    alike(PLACEMENT_AUTO, false, 3, "abc");
    alike(PLACEMENT_AUTO, false, 8, "abcdef--");
    alike(PLACEMENT_AUTO, true, 14, "abcdefabcdefab");
    alike(PLACEMENT_COMPACT, false, 4, "abcd");
    alike(PLACEMENT_SCATTER, false, 6, "adcfbe");
    alike(PLACEMENT_SCATTER, true, 8, "adcfbead");
    alike(PLACEMENT_NONE, true, 2, "--");
}

static void shortage(void)
{
    placement p;
    placement_wish wish = {.policy = PLACEMENT_AUTO};
    place_alike(&p, wish, CORES GPUS, 6);
    is_str(p.shortage, "", "nothing is short with as many GPUs as ranks");
    placement_free(&p);
    place_alike(&p, wish, CORES GPUS, 9);
    is_str(p.shortage, "host 'node7' has 6 GPUs for 9 ranks: ranks 6-8 have none",
           "which ranks have none");
    is_str(p.seats[8].why, "no device is free; cores spread evenly", "and in their own words");
    placement_free(&p);
    wish.share = true;
    place_alike(&p, wish, CORES GPU_A GPU_B, 3);
    is_str(p.shortage, "host 'node7' has 2 GPUs for 3 ranks: ranks 0,2 share theirs",
           "which ranks share");
    has_str(p.seats[2].why, "no device was free, shares one", "and in their own words");
    ok(p.devices[0].ranks == 2 && p.devices[1].ranks == 1, "how many ranks have each");
    placement_free(&p);
    place_alike(&p, wish, CORES, 2);
    is_str(p.shortage, "host 'node7' has no GPU that its ranks can use", "no GPUs at all");
    placement_free(&p);
    place(&p, (placement_wish){.policy = PLACEMENT_AUTO},
          (const char *[]){CORES GPU_A, CORES GPU_A, NULL});
    is_str(p.shortage, "host 'node7' has 1 GPU for 2 ranks: rank 1 has none", "one of each");
    placement_free(&p);
    place_alike(&p, (placement_wish){.policy = PLACEMENT_NONE}, CORES GPUS, 2);
    is_str(p.shortage, "", "nothing is short where nobody is placed");
    placement_free(&p);
}

/* Texts, what they get by the policy auto, and what is to be seen there. */
static const struct {
    const char *name, *expected;
    bool share;
    const char *texts[6];
} cases[] = {
    {"ranks that can use one GPU each, as launchers show it",
     "bca",
     false,
     {CORES "gpu=0/0/0/0/0-1/0000:02:00.0/GPU-b", CORES "gpu=0/0/0/1/2-3/0000:03:00.0/GPU-c",
      CORES "gpu=0/0/0/0/0-1/0000:01:00.0/GPU-a"}},
    {"the first makes way for one that sees less", "ba", false, {CORES GPU_A GPU_B, CORES GPU_A}},
    {"more ranks have one before it is cheap",
     "ba",
     false,
     {CORES GPU_A "gpu=1/90000/0/0/0-1/0000:02:00.0/GPU-b", CORES GPU_A}},
    {"a GPU in use is no other's",
     "dabc",
     false,
     {CORES GPUS "settled=use/3", CORES GPUS, CORES GPUS, CORES GPUS}},
    {"an option before all others",
     "bca",
     false,
     {CORES GPUS, CORES GPUS, CORES GPUS "settled=user/0"}},
    {"two settled on one have it",
     "aab",
     false,
     {CORES GPUS "settled=user/0", CORES GPUS "settled=use/0", CORES GPUS}},
    {"those who share go to where fewest are",
     "aabcb",
     true,
     {CORES GPUS "settled=user/0", CORES GPUS "settled=use/0", CORES GPU_A GPU_B GPU_C,
      CORES GPU_A GPU_B GPU_C, CORES GPU_A GPU_B GPU_C}},
    {"slices of one GPU are told apart",
     "xyz",
     false,
     {CORES "slice=0/0/0/0/0-1/0000:01:00.0/MIG-x slice=1/0/0/0/0-1/0000:01:00.0/MIG-y",
      CORES "slice=0/0/0/0/0-1/0000:01:00.0/MIG-x slice=1/0/0/0/0-1/0000:01:00.0/MIG-y",
      CORES "slice=0/0/0/0/0-1/0000:01:00.0/MIG-z"}},
    {"a rank that knows no UUIDs means the GPU of that bus id",
     "ba",
     false,
     {CORES GPU_A GPU_B, CORES "gpu=0/0/0/0/0-1/0000:01:00.0/"}},
    {"slices that nobody can tell apart are one, and not the whole",
     "?-a",
     false,
     {CORES "slice=0/0/0/0//01:00.0/", CORES "slice=0/0/0/0//01:00.0/ slice=1/0/0/0//01:00.0/",
      CORES GPU_A}},
    {"nobody knows UUIDs",
     "??",
     false,
     {CORES "gpu=0/0/-1/-1//01:00.0/ gpu=1/0/-1/-1//02:00.0/",
      CORES "gpu=0/0/-1/-1//01:00.0/ gpu=1/0/-1/-1//02:00.0/"}},
    {"nobody knows bus ids",
     "ab",
     false,
     {CORES "gpu=0/0/-1/-1///U-b gpu=1/0/-1/-1///U-a", CORES "gpu=0/0/-1/-1///U-b"}},
    {"bus ids by their numbers, whatever the ordinals",
     "ab",
     false,
     {CORES "gpu=0/0/-1/-1//10000:01:00.0/U-b gpu=1/0/-1/-1//2000:01:00.0/U-a",
      CORES "gpu=0/0/-1/-1//10000:01:00.0/U-b gpu=1/0/-1/-1//2000:01:00.0/U-a"}},
};

static void some_cases(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        placement p;
        if (place(&p, (placement_wish){.share = cases[i].share}, cases[i].texts) != MUSTER_OK)
            bail_out("%s", muster_last_error());
        is_str(letters(&p), cases[i].expected, "%s", cases[i].name);
        placement_free(&p);
    }
}

static void ordinals(void)
{
    placement p;
    place(&p, (placement_wish){.policy = PLACEMENT_AUTO},
          (const char *[]){CORES GPUS, CORES "gpu=7/5/0/0/0-1/0000:02:00.0/GPU-b bound=1", NULL});
    const placement_seat *seat = &p.seats[1];
    ok(seat->rank == 1 && seat->ordinal == 7 && seat->cost == 5,
       "the ordinal and cost are its own");
    is_str(seat->why, "least distance of all ranks together; cores as the launcher bound it",
           "why it has them");
    is_str(p.devices[seat->device].bus_id, "0000:02:00.0", "the bus id");
    placement_free(&p);
}

/* Lists for two ranks alike that can use GPUs a to c and CPUs 0-7. */
static const struct {
    const char *list, *expected; /* GPUs; or a part of the sentence that refuses it */
    const char *cpus[2];         /* NULL: by the policy */
} lists[] = {
    {"1@0-1; 0@2-3", "ba", {"0-1", "2-3"}},
    {" GPU-c ;gpu-A", "ca", {NULL, NULL}},
    {"02:00.0@5;00000000:01:00.0", "ba", {"5", NULL}},
    {"@0-3; @4-7", "--", {"0-3", "4-7"}},
    {"none@7; 0", "-a", {"7", NULL}},
    {"0; 0", "aa", {NULL, NULL}},
    {"0; 1; 2", "ab", {NULL, NULL}},
    {"0@1", "no entry for local rank 1 (rank 1): it has 1", {NULL, NULL}},
    {"0; ;", "entry 1 of the list of placement, \"\": it is empty", {NULL, NULL}},
    {"0;1;", "entry 2", {NULL, NULL}},
    {"0@; 1", "there are no CPUs behind the @", {NULL, NULL}},
    {"@0-99999999; 1",
     "\"0-99999999\" has a CPU that no machine has: their numbers are under ",
     {NULL, NULL}},
    {"0@3-1; 1", "is no list of CPUs", {NULL, NULL}},
    {"0@7-8; 1",
     "\"0@7-8\" for local rank 0 (rank 0), but that rank may use the CPUs 0-7 alone",
     {NULL, NULL}},
    {"0; 3", "\"3\" for local rank 1 (rank 1), but of the 3 devices", {NULL, NULL}},
    {"0; 04:00.0", "none is that one", {NULL, NULL}},
    {"0; GPU-", "several of its devices begin like that", {NULL, NULL}},
    {"", "needs a list", {NULL, NULL}},
    {NULL, "needs a list", {NULL, NULL}},
};

static void by_list(void)
{
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        placement p;
        placement_wish wish = {.policy = PLACEMENT_EXPLICIT, .list = lists[i].list};
        muster_status status = place_alike(&p, wish, CORES GPU_A GPU_B GPU_C, 2);
        if (status != MUSTER_OK) {
            ok(status == MUSTER_ERR_ARGUMENT &&
                   strstr(muster_last_error(), lists[i].expected) != NULL && p.seats == NULL,
               "refused: %s", lists[i].list == NULL ? "NULL" : lists[i].list);
            continue;
        }
        bool fine = strcmp(letters(&p), lists[i].expected) == 0;
        for (int r = 0; r < 2; r++)
            fine = fine && (lists[i].cpus[r] == NULL ||
                            strcmp(placing_cpus(&p.seats[r].cpus), lists[i].cpus[r]) == 0);
        ok(fine, "the list \"%s\"", lists[i].list);
        placement_free(&p);
    }
}

static void list_against_others(void)
{
    placement p;
    placement_wish wish = {.policy = PLACEMENT_EXPLICIT, .list = "1"};
    is_int(place(&p, wish, (const char *[]){CORES GPUS "settled=user/0", NULL}),
           MUSTER_ERR_ARGUMENT, "the list says another device than an option");
    has_str(muster_last_error(), "\"1\", but an option says device 0", "both are quoted");
    is_int(place(&p, wish, (const char *[]){CORES GPUS "settled=use/2", NULL}), MUSTER_ERR_ARGUMENT,
           "or than the process makes use of");
    has_str(muster_last_error(), "its process makes use already of device 2", "it is quoted");
    is_int(place(&p, wish, (const char *[]){CORES GPUS "settled=user/1", NULL}), MUSTER_OK,
           "they may say the same");
    is_str(p.seats[0].why, "device by the list; cores near it", "why it has them");
    placement_free(&p);
    wish.list = "none@0";
    is_int(place(&p, wish, (const char *[]){CORES GPUS "bound=1", NULL}), MUSTER_OK,
           "a list goes before a launcher's binding");
    is_str(p.seats[0].why, "no device, by the list; cores by the list", "why it has them");
    placement_free(&p);
}

/* One place for several ranks is taken, and said. */
static void list_with_one_place(void)
{
    static const struct {
        const char *list, *remarks;
    } rows[] = {
        {"none@0-3;none@0-3",
         "host 'node7': the list gives CPUs of ranks 0-1 to others of them too"},
        {"none@0-3;none@3-4",
         "host 'node7': the list gives CPUs of ranks 0-1 to others of them too"},
        {"none@0-3;none@4-7", ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        placement p;
        placement_wish wish = {.policy = PLACEMENT_EXPLICIT, .list = rows[i].list};
        is_int(place_alike(&p, wish, CORES GPU_A GPU_B GPU_C, 2), MUSTER_OK, "the list \"%s\"",
               rows[i].list);
        is_str(p.remarks, rows[i].remarks, "what is said of it");
        placement_free(&p);
    }
}

/* An entry as long as can be. */
static void long_lists(void)
{
    place_list list;
    char text[8 * 1024];
    memset(text, 'x', 200);
    text[200] = '\0';
    is_int(place_list_read(&list, text), MUSTER_ERR_ARGUMENT, "a device of 200 letters");
    has_str(muster_last_error(), "too long", "the sentence says so");
    memset(text, ';', 5000);
    text[0] = '0';
    text[5000] = '\0';
    is_int(place_list_read(&list, text), MUSTER_ERR_ARGUMENT, "5000 entries");
}

static void names(void)
{
    placement_policy policy = PLACEMENT_AUTO;
    for (int i = 0; i <= PLACEMENT_NONE; i++)
        ok(placement_policy_read(placement_policy_text((placement_policy)i), &policy) ==
                   MUSTER_OK &&
               (int)policy == i,
           "%s", placement_policy_text((placement_policy)i));
    is_int(placement_policy_read("scater", &policy), MUSTER_ERR_ARGUMENT, "no such policy");
    has_str(muster_last_error(), "\"scater\" (did you mean scatter?)", "the nearest is named");
    is_str(placement_nearness_text(PLACEMENT_SAME_PACKAGE), "same package", "how near, in words");
}

static void refused(void)
{
    placement p;
    placement_wish wish = {.host = "a"};
    standing two[2];
    placing_read(&two[0], 3, CORES);
    placing_read(&two[1], 3, CORES);
    is_int(placement_make(&p, two, 2, &wish), MUSTER_ERR_ARGUMENT, "a rank twice");
    has_str(muster_last_error(), "rank 3 is to be placed twice", "the sentence says so");
    two[1].rank = -1;
    is_int(placement_make(&p, two, 2, &wish), MUSTER_ERR_ARGUMENT, "a rank without a number");
    two[1].rank = 4;
    two[1].cpus = (cpu_set){{0}};
    is_int(placement_make(&p, two, 2, &wish), MUSTER_ERR_ARGUMENT, "a rank without CPUs");
    is_int(placement_make(&p, two, PLACEMENT_MOST_RANKS + 1, &wish), MUSTER_ERR_ARGUMENT,
           "too many ranks");
    is_int(placement_make(&p, two, 0, &wish), MUSTER_OK, "no ranks");
    ok(p.count == 0 && *p.shortage == '\0', "an empty table");
    placement_free(&p);
    standing_clear(&two[0]);
    standing_clear(&two[1]);
}

/* As many ranks as GPUs, each rank with costs of its own. */
static void large(int n, double most_ms)
{
    standing *ranks = calloc((size_t)n, sizeof(*ranks));
    placement_wish wish = {.host = "a"};
    placement p;
    unsigned seed = 9;
    for (int r = 0; r < n; r++) {
        placing_read(&ranks[r], r,
                     "cpus=0-255 allowed=0-255 cores=0/0/128/1/0 cores=1/1/128/1/128");
        free(ranks[r].devices);
        ranks[r].devices = calloc((size_t)n, sizeof(*ranks[r].devices));
        ranks[r].num_devices = (size_t)n;
        for (int d = 0; d < n; d++) {
            standing_device *device = &ranks[r].devices[d];
            *device = (standing_device){.ordinal = d, .cost = rand_r(&seed) % 4 * 512};
            snprintf(device->uuid, sizeof(device->uuid), "GPU-%08x-%d", (unsigned)d * 2654435761u,
                     d);
            snprintf(device->bus_id, sizeof(device->bus_id), "%04x:01:00.0", (unsigned)d);
            cpu_set_add_range(&device->cpus, d % 2 * 128, d % 2 * 128 + 127);
        }
    }
    clock_t begin = clock();
    is_int(placement_make(&p, ranks, n, &wish), MUSTER_OK, "%d ranks and GPUs", n);
    double ms = 1000.0 * (double)(clock() - begin) / CLOCKS_PER_SEC;
    is_str(p.shortage, "", "each has one of its own");
    ok(ms < (double)patient((long long)most_ms), "within %.0f ms", most_ms);
    diag("%d ranks and GPUs are placed in %.1f ms", n, ms);
    placement_free(&p);
    for (int r = 0; r < n; r++)
        standing_clear(&ranks[r]);
    free(ranks);
}

/* As many ranks as may be, most of them without a device, or sharing the few that there are. */
static void crowd(bool share)
{
    int n = PLACEMENT_MOST_RANKS;
    standing *ranks = calloc((size_t)n, sizeof(*ranks));
    placement_wish wish = {.host = "a", .share = share};
    placement p;
    for (int r = 0; r < n; r++)
        placing_read(&ranks[r], r, CORES GPUS);
    clock_t begin = clock();
    is_int(placement_make(&p, ranks, n, &wish), MUSTER_OK, "%d ranks, 6 GPUs, 8 cores%s", n,
           share ? ", shared" : "");
    double ms = 1000.0 * (double)(clock() - begin) / CLOCKS_PER_SEC;
    int with = 0;
    for (int r = 0; r < n; r++)
        with += p.seats[r].device >= 0;
    is_int(with, share ? n : 6, "who has a GPU");
    ok(ms < (double)patient(20000), "within 20 s");
    diag("%d ranks%s are placed in %.1f ms", n, share ? " that share 6 GPUs" : "", ms);
    placement_free(&p);
    for (int r = 0; r < n; r++)
        standing_clear(&ranks[r]);
    free(ranks);
}

int main(void)
{
    plan(6 + 7 + 9 + (int)(sizeof(cases) / sizeof(*cases)) + 3 +
         (int)(sizeof(lists) / sizeof(*lists)) + 8 + 3 + 8 + 7 + 6 + 6);
    orders();
    shortage();
    some_cases();
    ordinals();
    by_list();
    list_against_others();
    list_with_one_place();
    long_lists();
    names();
    refused();
    large(64, 500);
    large(256, 5000);
    crowd(false);
    crowd(true);
    return done();
}

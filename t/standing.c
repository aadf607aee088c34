/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What ranks publish of where they stand: written, read again, and read where somebody has spoilt
 * it; made from a machine; how far devices are. Run it under a sanitizer too.
 */
#include "config.h"

#include "placement/standing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "placement/distance.h"
#include "t/placing.h"
#include "t/tap.h"

static const char whole[] =
    "cpus=0-3,8 allowed=0-15 bound=1 memory=1 settled=use/1 cores=0/0/4/1/0,8 cores=1/1/4/1/4,12 "
    "gpu=0/1024/0/0/0-3,8-11/0000:3b:00.0/GPU-1f2e slice=1/82944/1/1/4-7/0001:3b:00.0/MIG-7/1/0 "
    "colour=blue";

/* Reads a copy of its own size, so that a read beyond its end is found. */
static muster_status read_copy(standing *s, const char *text, size_t size)
{
    char *copy = malloc(size + (size == 0));
    memcpy(copy, text, size);
    muster_status status = standing_read(s, (muster_blob){copy, size});
    free(copy);
    return status;
}

static void good(void)
{
    standing s;
    is_int(read_copy(&s, whole, strlen(whole)), MUSTER_OK, "a standing is read");
    is_str(placing_cpus(&s.cpus), "0-3,8", "its CPUs");
    is_str(placing_cpus(&s.allowed), "0-15", "those allowed");
    ok(s.bound && s.memory_node == 1 && s.settled == STANDING_IN_USE && s.settled_ordinal == 1 &&
           s.rank == -1 && s.local_rank == -1,
       "how it is bound and settled");
    ok(s.num_runs == 2 && s.runs[1].package == 1 && s.runs[1].node == 1 && s.runs[1].count == 4 &&
           s.runs[1].step == 1 && strcmp(placing_cpus(&s.runs[1].first), "4,12") == 0,
       "its cores");
    ok(s.num_devices == 2 && s.devices[0].cost == 1024 && !s.devices[0].slice &&
           strcmp(s.devices[0].bus_id, "0000:3b:00.0") == 0 &&
           strcmp(s.devices[0].uuid, "GPU-1f2e") == 0,
       "a device");
    ok(s.devices[1].slice && s.devices[1].ordinal == 1 && s.devices[1].node == 1 &&
           strcmp(s.devices[1].uuid, "MIG-7/1/0") == 0 &&
           strcmp(placing_cpus(&s.devices[1].cpus), "4-7") == 0,
       "a slice, with slashes in its UUID");
    char *text = NULL;
    is_int(standing_write(&s, &text), MUSTER_OK, "it is written");
    ok(strncmp(text, whole, strlen(text)) == 0 && strlen(text) == strlen(whole) - 12,
       "as it was, but for the word that is not known");
    free(text);
    standing_clear(&s);
    ok(s.runs == NULL && s.devices == NULL, "it is empty once cleared");
    is_int(read_copy(&s, "cpus=1 allowed=1", 16), MUSTER_OK, "the least there is");
    ok(!s.bound && s.settled == STANDING_OPEN && s.memory_node == -1 && s.num_runs == 0 &&
           s.num_devices == 0,
       "all else is nothing");
    standing_clear(&s);
}

/* The text is refused, with a sentence that has the part. */
static const struct {
    const char *text, *part;
} wrong[] = {
    {"", "on no CPU"},
    {"cpus= allowed=0-3", "on no CPU"},
    {"cpus=0-4 allowed=0-3", "on CPUs that it is not allowed"},
    {"cpus=0-4", "on CPUs that it is not allowed"},
    {"cpus=3-0 allowed=0-3", "\"cpus=3-0\""},
    {"cpus=0-99999 allowed=0-99999", "\"cpus=0-99999\""},
    {"cpus=0 allowed=0 bound=2", "\"bound=2\""},
    {"cpus=0 allowed=0 bound", "\"bound\""},
    {"cpus=0 allowed=0 memory=-1", "memory"},
    {"cpus=0 allowed=0 memory=99999999999999999999", "memory"},
    {"cpus=0 allowed=0 settled=use", "settled"},
    {"cpus=0 allowed=0 settled=me/0 gpu=0/0/0/0//0:0:0.0/G", "settled"},
    {"cpus=0 allowed=0 settled=use/-1", "settled"},
    {"cpus=0 allowed=0 settled=user/1 gpu=0/0/0/0//01:00.0/G", "device 1, that it does not have"},
    {"cpus=0 allowed=0 cores=0/0/4/1", "cores"},
    {"cpus=0 allowed=0 cores=0/0/0/1/0", "cores"},
    {"cpus=0 allowed=0 cores=0/0/4/0/0", "cores"},
    {"cpus=0 allowed=0 cores=0/0/4/1/", "cores"},
    {"cpus=0 allowed=0 cores=0/0/8192/2/0", "cores"},
    {"cpus=0 allowed=0 cores=0/0/4/8000/8000", "cores"},
    {"cpus=0 allowed=0 cores=-2/0/4/1/0", "cores"},
    {"cpus=0 allowed=0 cores=0/x/4/1/0", "cores"},
    {"cpus=0 allowed=0 gpu=0/0/0/0/0/01:00.0", "gpu"},
    {"cpus=0 allowed=0 gpu=0/0/0/0/0//", "gpu"},
    {"cpus=0 allowed=0 gpu=0/0/0/0/0/zz:00.0/G", "gpu"},
    {"cpus=0 allowed=0 gpu=-1/0/0/0/0/01:00.0/G", "gpu"},
    {"cpus=0 allowed=0 gpu=0/-1/0/0/0/01:00.0/G", "gpu"},
    {"cpus=0 allowed=0 gpu=0/4294967297/0/0/0/01:00.0/G", "gpu"},
    {"cpus=0 allowed=0 gpu=0/ 1/0/0/0/01:00.0/G", "gpu"},
    {"cpus=0 allowed=0 gpu=0/0/0/0/0-/01:00.0/G", "gpu"},
    {"cpus=0 allowed=0 gpu=0/0/0/0/0/01:00.0/A gpu=0/0/0/0/0/02:00.0/B", "gpu"},
};

static void refused(void)
{
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        standing s;
        muster_status status = read_copy(&s, wrong[i].text, strlen(wrong[i].text));
        ok(status == MUSTER_ERR_PROTOCOL && s.runs == NULL && s.devices == NULL &&
               strstr(muster_last_error(), wrong[i].part) != NULL,
           "refused: %s", wrong[i].text);
    }
}

static bool is_sound(const standing *s)
{
    bool sound = !cpu_set_is_empty(&s->cpus) && cpu_set_is_subset(&s->cpus, &s->allowed);
    for (size_t i = 0; i < s->num_devices; i++)
        sound = sound && s->devices[i].cost >= 0 && s->devices[i].ordinal >= 0 &&
                strlen(s->devices[i].uuid) < sizeof(s->devices[i].uuid);
    return sound && s->num_runs <= STANDING_MOST_RUNS && s->num_devices <= STANDING_MOST_DEVICES;
}

/* Read as a sound standing and placed, or refused with nothing left. */
static bool is_handled(const char *text, size_t size, int *reads)
{
    standing s;
    placement p;
    placement_wish wish = {.host = "a"};
    if (read_copy(&s, text, size) != MUSTER_OK)
        return s.runs == NULL && s.devices == NULL;
    ++*reads;
    s.rank = 0;
    bool fine = is_sound(&s) && placement_make(&p, &s, 1, &wish) == MUSTER_OK;
    if (fine) {
        fine = !cpu_set_is_empty(&p.seats[0].cpus);
        placement_free(&p);
    }
    standing_clear(&s);
    return fine;
}

static void spoilt(void)
{
    size_t size = strlen(whole);
    int reads = 0, bad = 0;
    for (size_t cut = 0; cut <= size; cut++)
        bad += !is_handled(whole, cut, &reads);
    ok(bad == 0 && reads > 0, "cut at any place");
    unsigned seed = 3;
    static const char letters[] = "0123456789=/- ,:.-gx\n\t\xff";
    for (int n = 0; n < 4000; n++) {
        char text[sizeof(whole)];
        memcpy(text, whole, size);
        for (int k = 0; k < 1 + n % 3; k++)
            text[(size_t)rand_r(&seed) % size] = letters[(size_t)rand_r(&seed) % sizeof(letters)];
        bad += !is_handled(text, size, &reads);
    }
    ok(bad == 0 && reads > 100, "letters changed");
    diag("%d of the spoilt texts could still be read", reads);
}

/* begin, then count times the word with its number in the place of %d. */
static char *many(const char *begin, const char *word, int count)
{
    char *text = malloc(strlen(begin) + (size_t)count * 96 + 1), *at = text;
    at += sprintf(at, "%s", begin);
    for (int i = 0; i < count; i++)
        at += sprintf(at, "%s%d/0/0/1%s", word, i, strstr(word, "gpu") ? "//01:00.0/G" : "/0");
    return text;
}

static void too_much(void)
{
    static const char begin[] = "cpus=0 allowed=0";
    standing s;
    char *text = many(begin, " gpu=", STANDING_MOST_DEVICES + 1);
    is_int(standing_read(&s, muster_str(text)), MUSTER_ERR_PROTOCOL, "one device too many");
    free(text);
    text = many(begin, " gpu=", STANDING_MOST_DEVICES);
    is_int(standing_read(&s, muster_str(text)), MUSTER_OK, "as many as there may be");
    standing_clear(&s);
    free(text);
    char *long_text = malloc(STANDING_TEXT_LIMIT + 1);
    memset(long_text, ' ', STANDING_TEXT_LIMIT + 1);
    is_int(standing_read(&s, (muster_blob){long_text, STANDING_TEXT_LIMIT + 1}),
           MUSTER_ERR_PROTOCOL, "a text that is too long");
    free(long_text);
    is_int(standing_read(&s, (muster_blob){"cpus=0\0allowed=0", 16}), MUSTER_ERR_PROTOCOL,
           "a NUL in it");
    is_int(standing_read(&s, (muster_blob){NULL, 0}), MUSTER_ERR_PROTOCOL, "no text at all");
}

/* Two packages of a node and two cores each, two threads a core, numbered apart; GPU 0 on package
 * 0, GPU 1 on package 1, GPU 2 nowhere. */
typedef struct toy {
    machine m;
    machine_package packages[2];
    machine_numa numas[2];
    machine_core cores[4];
    machine_gpu gpus[3];
    int pus[8];
    int distances[4];
} toy;

static void make_toy(toy *t)
{
    *t = (toy){.m = {.num_packages = 2, .num_numas = 2, .num_cores = 4, .num_gpus = 3},
               .distances = {10, 21, 21, 10}};
    t->m.packages = t->packages;
    t->m.numas = t->numas;
    t->m.cores = t->cores;
    t->m.gpus = t->gpus;
    t->m.distances = t->distances;
    for (int c = 0; c < 4; c++) {
        t->pus[2 * c] = c;
        t->pus[2 * c + 1] = c + 4;
        t->cores[c] = (machine_core){
            .package = c / 2, .numa = c / 2, .l3 = -1, .num_pus = 2, .pus = &t->pus[2 * c]};
    }
    cpu_set_parse(&t->numas[0].cpus, "0-1,4-5");
    cpu_set_parse(&t->numas[1].cpus, "2-3,6-7");
    t->numas[1].number = 8;
    t->numas[1].package = 1;
    for (int g = 0; g < 3; g++) {
        machine_place *place = &t->gpus[g].place;
        snprintf(t->gpus[g].bus_id, sizeof(t->gpus[g].bus_id), "0000:0%d:00.0", g + 1);
        snprintf(t->gpus[g].uuid, sizeof(t->gpus[g].uuid), "GPU-%d", g);
        place->package = place->numa = g < 2 ? g : -1;
        if (g < 2)
            place->cpus = t->numas[g].cpus;
    }
    cpu_set_parse(&t->m.cpus, "0-7");
    t->m.allowed = t->m.cpus;
    t->m.binding = t->numas[1].cpus;
    t->m.bound = true;
}

static int64_t distance(const toy *t, const char *cpus, int gpu)
{
    cpu_set set;
    cpu_set_parse(&set, cpus);
    return distance_to_place(&t->m, &set, &t->gpus[gpu].place);
}

static void distances(toy *t)
{
    is_int(distance(t, "0-1,4-5", 0), 0, "all of its CPUs are near");
    is_int(distance(t, "0-1", 0), 0, "likewise one thread of each core");
    is_int(distance(t, "0-3", 0), 512, "half of them are");
    is_int(distance(t, "0,2,3,6", 0), 768, "a quarter of them are");
    is_int(distance(t, "2", 0), 11 * 4096 + 1024, "none is, the nodes being 21 apart");
    is_int(distance(t, "2", 2), 0, "nothing is known of the GPU's place");
    is_int(distance(t, "", 0), 0, "no CPUs");
    t->m.num_numas = 0;
    is_int(distance(t, "2", 0), 10 * 4096 + 1024, "no nodes are known: 20 apart");
    is_int(distance(t, "0-3", 0), 512, "or 10 where they share CPUs");
    t->m.num_numas = 2;
    t->distances[1] = t->distances[2] = 3;
    is_int(distance(t, "2", 0), 1024, "a matrix that says less than 10");
    t->distances[1] = t->distances[2] = 21;
}

static void from_machine(toy *t)
{
    standing s;
    char *text = NULL;
    standing_device first = {.uuid = "GPU-0", .bus_id = "00000000:01:00.0", .ordinal = 0};
    standing_device second = {.uuid = "GPU-1", .ordinal = 1};
    standing_device slice = {.uuid = "MIG-5", .bus_id = "02:00.0", .ordinal = 2, .slice = true};
    standing_device stranger = {.bus_id = "0000:77:00.0", .ordinal = 3};
    standing_device nameless = {.ordinal = 4};
    is_int(standing_begin(&s, &t->m), MUSTER_OK, "of a machine");
    ok(standing_add_device(&s, &t->m, &first) == MUSTER_OK &&
           standing_add_device(&s, &t->m, &second) == MUSTER_OK &&
           standing_add_device(&s, &t->m, &slice) == MUSTER_OK &&
           standing_add_device(&s, &t->m, &stranger) == MUSTER_OK,
       "with devices by bus id and by UUID, a slice, and one that the machine does not have");
    is_int(standing_add_device(&s, &t->m, &nameless), MUSTER_ERR_ARGUMENT, "but none without both");
    has_str(muster_last_error(), "neither a UUID nor a bus id", "the sentence says so");
    is_int(standing_write(&s, &text), MUSTER_OK, "it is written");
    is_str(text,
           "cpus=2-3,6-7 allowed=0-7 bound=1 cores=0/0/2/1/0,4 cores=1/8/2/1/2,6 "
           "gpu=0/46080/0/0/0-1,4-5/0000:01:00.0/GPU-0 gpu=1/0/1/8/2-3,6-7/0000:02:00.0/GPU-1 "
           "slice=2/0/1/8/2-3,6-7/0000:02:00.0/MIG-5 gpu=3/0/-1/-1//0000:77:00.0/",
           "as it is to be");
    free(text);
    for (int n = 4; n < STANDING_MOST_DEVICES; n++)
        standing_add_device(&s, &t->m, &(standing_device){.uuid = "GPU-9", .ordinal = n});
    is_int(standing_add_device(&s, &t->m, &stranger), MUSTER_ERR_ARGUMENT, "one too many");
    standing_clear(&s);
    t->m.num_cores = 0;
    is_int(standing_begin(&s, &t->m), MUSTER_OK, "of a machine seen without hwloc");
    is_int((long long)s.num_runs, 0, "no cores are known");
    standing_clear(&s);
    t->m.num_cores = 4;
}

/* The whole text of a real rank is short, and its runs are those of the machine. */
static void real_ones(void)
{
    size_t longest = 0;
    int wrong_cores = 0;
    for (int t = 0; t < PLACING_TOPOLOGIES; t++) {
        machine *m = placing_load(TOPOLOGIES, placing_topologies[t]);
        standing s;
        char *text = NULL;
        int cores = 0;
        placing_stand(&s, m, 0, 1, PLACING_UNBOUND, 0);
        if (standing_write(&s, &text) != MUSTER_OK)
            bail_out("%s", muster_last_error());
        for (size_t r = 0; r < s.num_runs; r++)
            cores += s.runs[r].count;
        wrong_cores += cores != m->num_cores;
        longest = strlen(text) > longest ? strlen(text) : longest;
        diag("%s: %s", placing_topologies[t], text);
        free(text);
        standing_clear(&s);
        machine_free(m);
    }
    is_int(wrong_cores, 0, "the runs have all cores of each real machine");
    ok(longest < 500, "and are no more than %zu bytes with the CPUs", longest);
}

int main(void)
{
    static toy t;
    plan(12 + (int)(sizeof(wrong) / sizeof(*wrong)) + 2 + 5 + 10 + 9 + 2);
    good();
    refused();
    spoilt();
    too_much();
    make_toy(&t);
    distances(&t);
    from_machine(&t);
    real_ones();
    return done();
}

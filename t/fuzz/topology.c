/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: a machine as hwloc writes it in XML, which users and tests name; and what is made of
 * it, the places of three ranks. hwloc has two readers of XML: topology-plain is this target with
 * hwloc's own one, topology with that of libxml2 where hwloc has it.
 */
#include "config.h"

#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "machine/machine.h"
#include "placement/placement.h"

enum { RANKS = 3 };

#if defined(__GNUC__)
/* hwloc and libxml2 do not free all of a topology that they refuse half way. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:hwloc\nleak:libxml2\n";
}
#endif

/* hwloc looks at the variable once in a process's life. The topology has its readers stay loaded.
 */
static void choose_reader(void)
{
    static hwloc_topology_t kept;
#ifdef PLAIN
    setenv("HWLOC_LIBXML", "0", 1);
#endif
    if (kept == NULL)
        fuzz_hold(hwloc_topology_init(&kept) == 0, "hwloc is there");
}

static bool within(int place, int count)
{
    return place >= -1 && place < count;
}

static void hold_cpus(const machine *m)
{
    int pus = 0;
    fuzz_hold(!cpu_set_is_empty(&m->binding) && cpu_set_is_subset(&m->binding, &m->allowed) &&
                  cpu_set_is_subset(&m->allowed, &m->cpus),
              "it is bound to some of the CPUs that it may use, and has them");
    for (int i = 0; i < m->num_cores; i++) {
        const machine_core *core = &m->cores[i];
        pus += core->num_pus;
        fuzz_hold(core->num_pus > 0 && within(core->package, m->num_packages) &&
                      within(core->numa, m->num_numas) && within(core->l3, m->num_l3s),
                  "a core has threads, and is in what there is");
        for (int p = 0; p < core->num_pus; p++)
            fuzz_hold(cpu_set_has(&m->cpus, core->pus[p]), "a core's threads are CPUs of it");
    }
    fuzz_hold(pus == m->num_pus && pus <= cpu_set_count(&m->cpus), "a CPU is of one core");
}

static void hold_place(const machine *m, const machine_place *place)
{
    fuzz_hold(within(place->package, m->num_packages) && within(place->numa, m->num_numas) &&
                  place->path.count >= 0 && place->path.count <= MACHINE_PATH_LIMIT,
              "a device is in what there is");
}

static void hold_devices(const machine *m)
{
    for (int i = 0; i < m->num_gpus; i++) {
        hold_place(m, &m->gpus[i].place);
        fuzz_hold(machine_find_gpu(m, m->gpus[i].bus_id) >= 0, "a GPU is found by its bus id");
        for (int j = 0; j < m->num_gpus; j++)
            fuzz_hold(machine_link(m, i, j) >= 0, "a link is not slower than none");
    }
    for (int i = 0; i < m->num_nics; i++) {
        hold_place(m, &m->nics[i].place);
        fuzz_hold(m->nics[i].speed >= 0 && m->nics[i].bus_speed >= 0, "speeds are such");
    }
    for (int i = 0; i < m->num_numas; i++)
        for (int j = 0; j < m->num_numas; j++)
            fuzz_hold(machine_distance(m, i, j) >= 10, "a distance is one");
}

/* Where a rank there stands, as the other ranks read it. */
static bool stand(const machine *m, standing *read)
{
    standing made;
    char *text = NULL;
    bool stands = standing_begin(&made, m) == MUSTER_OK;
    for (int g = 0; stands && g < m->num_gpus; g++) {
        standing_device device = {.ordinal = g};
        strcpy(device.uuid, m->gpus[g].uuid);
        strcpy(device.bus_id, m->gpus[g].bus_id);
        stands = standing_add_device(&made, m, &device) == MUSTER_OK;
    }
    stands = stands && standing_write(&made, &text) == MUSTER_OK;
    if (stands)
        fuzz_hold(standing_read(read, muster_str(text)) == MUSTER_OK,
                  "others can read where a rank stands");
    muster_free(text);
    standing_clear(&made);
    return stands;
}

static void place(const machine *m)
{
    const placement_wish wish = {.host = "a", .policy = PLACEMENT_AUTO, .share = true};
    standing ranks[RANKS];
    placement placed;
    int count = 0;
    while (count < RANKS && stand(m, &ranks[count])) {
        ranks[count].rank = ranks[count].local_rank = count;
        count++;
    }
    if (count == RANKS) {
        fuzz_hold(placement_make(&placed, ranks, count, &wish) == MUSTER_OK,
                  "ranks can be placed on any machine");
        for (int r = 0; r < count; r++)
            fuzz_hold(cpu_set_is_subset(&placed.seats[r].cpus, &m->allowed) &&
                          !cpu_set_is_empty(&placed.seats[r].cpus),
                      "a rank gets CPUs of those that it may use");
        placement_free(&placed);
    }
    while (count > 0)
        standing_clear(&ranks[--count]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    machine *m = NULL;
    choose_reader();
    if (machine_load_text((const char *)data, size, &m) != MUSTER_OK)
        return 0;
    hold_cpus(m);
    hold_devices(m);
    place(m);
    machine_free(m);
    return 0;
}

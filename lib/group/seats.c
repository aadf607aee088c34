/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Placing the ranks of a world.
 */
#include "config.h"

#include "group/seats.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "group/seat_ways.h"
#include "placement/core_map.h"
#include "placement/placement.h"

/* The ranks of one host, in the order of the world. */
typedef struct host_table {
    roster *world;
    int *ranks;
    int count;
    standing *standings;
    placement placed;
    core_map *cores;
    cpu_set taken; /* CPUs that ranks have */
} host_table;

static rank_record *record_of(const host_table *host, int i)
{
    return &host->world->ranks[host->ranks[i]];
}

/* ---- reading what the ranks said ---- */

static muster_status check_wishes(const host_table *host)
{
    const rank_record *first = record_of(host, 0);
    for (int i = 1; i < host->count; i++) {
        const rank_record *rank = record_of(host, i);
        char one[256], other[256];
        if (strcmp(rank->policy, first->policy) != 0 ||
            strcmp(rank->place_list, first->place_list) != 0)
            return error_set(
                MUSTER_ERR_MISMATCH,
                "ranks of one host must want one placement, but %s has placement=%s%s%s "
                "and %s has placement=%s%s%s",
                rank_record_name(first, one, sizeof(one)), first->policy,
                *first->place_list != '\0' ? " with the list " : "", first->place_list,
                rank_record_name(rank, other, sizeof(other)), rank->policy,
                *rank->place_list != '\0' ? " with the list " : "", rank->place_list);
    }
    return MUSTER_OK;
}

static muster_status read_standings(host_table *host)
{
    char who[256];
    for (int i = 0; i < host->count; i++) {
        const rank_record *rank = record_of(host, i);
        muster_status status = standing_read(&host->standings[i], muster_str(rank->standing));
        if (status != MUSTER_OK)
            return error_prefix(status, "%s: ", rank_record_name(rank, who, sizeof(who)));
        host->standings[i].rank = host->ranks[i];
        host->standings[i].local_rank = i;
    }
    return MUSTER_OK;
}

static muster_status place(host_table *host)
{
    const rank_record *first = record_of(host, 0);
    placement_wish wish = {.host = first->host, .list = first->place_list};
    host->standings = calloc((size_t)host->count, sizeof(*host->standings));
    const standing **all = calloc((size_t)host->count, sizeof(*all));
    muster_status status = MUSTER_OK;
    if (host->standings == NULL || all == NULL)
        status = error_no_memory((size_t)host->count * sizeof(standing), "the ranks of a host");
    if (status == MUSTER_OK)
        status = placement_policy_read(first->policy, &wish.policy);
    if (status == MUSTER_OK)
        status = read_standings(host);
    if (status == MUSTER_OK)
        status = placement_make(&host->placed, host->standings, host->count, &wish);
    for (int i = 0; status == MUSTER_OK && i < host->count; i++)
        all[i] = &host->standings[i];
    if (status == MUSTER_OK)
        status = core_map_make(&host->cores, all, host->count);
    for (int i = 0; status == MUSTER_OK && i < host->count; i++)
        host->taken = cpu_set_or(&host->taken, &host->placed.seats[i].cpus);
    free(all);
    return status;
}

/* ---- telling each rank what it has ---- */

/* Where threads of muster's own disturb least: near the device or the cores where nobody is, else
 * on the rank's other cores, else on somebody's near by, else on its own. */
static cpu_set thread_cpus(const host_table *host, const placement_seat *seat)
{
    cpu_set nobodys = cpu_set_minus(&seat->device_cpus, &host->taken);
    if (!cpu_set_is_empty(&nobodys))
        return nobodys;
    cpu_set own = core_map_cores(host->cores, &seat->cpus);
    cpu_set first = {{0}};
    cpu_set_add(&first, cpu_set_first(&own));
    first = core_map_cpus(host->cores, &first);
    cpu_set others = cpu_set_minus(&seat->cpus, &first);
    if (cpu_set_is_empty(&others))
        others = cpu_set_minus(&seat->device_cpus, &seat->cpus);
    return cpu_set_is_empty(&others) ? seat->cpus : others;
}

/* The texts of the sets, one after the other, each with its end. */
static muster_status write_sets(const cpu_set *const sets[4], char **text, const char *starts[4])
{
    size_t size = 0;
    for (int i = 0; i < 4; i++)
        size += cpu_set_write(sets[i], NULL, 0) + 1;
    *text = malloc(size);
    if (*text == NULL)
        return error_no_memory(size, "a rank's cores");
    char *at = *text;
    for (int i = 0; i < 4; i++) {
        starts[i] = at;
        at += cpu_set_write(sets[i], at, size) + 1;
    }
    return MUSTER_OK;
}

enum { PARTS = 8 }; /* of a seat that are texts of its own */

/* Copies the parts into one block that is the rank's. */
static muster_status keep_parts(rank_record *rank, const char *const parts[PARTS])
{
    rank_seat *seat = &rank->seat;
    const char **slots[PARTS] = {&seat->cpus,        &seat->node_cpus, &seat->near_cpus,
                                 &seat->thread_cpus, &seat->uuid,      &seat->bus_id,
                                 &seat->why,         &seat->shortage};
    size_t size = 0;
    for (int p = 0; p < PARTS; p++)
        size += strlen(parts[p]) + 1;
    char *whole = malloc(size);
    if (whole == NULL)
        return error_no_memory(size, "a rank's place");
    char *at = whole;
    for (int p = 0; p < PARTS; p++) {
        *slots[p] = strcpy(at, parts[p]);
        at += strlen(at) + 1;
    }
    free(rank->seat_text);
    rank->seat_text = whole;
    return MUSTER_OK;
}

static muster_status tell_seat(const host_table *host, int i)
{
    const placement_seat *from = &host->placed.seats[i];
    rank_record *rank = record_of(host, i);
    rank_seat *seat = &rank->seat;
    cpu_set threads = thread_cpus(host, from);
    const cpu_set *const sets[4] = {&from->cpus, &from->node_cpus, &from->device_cpus, &threads};
    const placement_device *device = from->device < 0 ? NULL : &host->placed.devices[from->device];
    const char *texts[4];
    char *lists = NULL;
    muster_status status = write_sets(sets, &lists, texts);
    if (status != MUSTER_OK)
        return status;
    const char *const parts[PARTS] = {texts[0],
                                      texts[1],
                                      texts[2],
                                      texts[3],
                                      device == NULL ? "" : device->uuid,
                                      device == NULL ? "" : device->bus_id,
                                      from->why,
                                      device == NULL ? host->placed.shortage : ""};
    status = keep_parts(rank, parts);
    free(lists);
    if (status != MUSTER_OK)
        return status;
    seat->placed = true;
    seat->local_rank = i;
    seat->device = from->ordinal;
    seat->package = from->package;
    seat->node = from->node;
    seat->kept = from->cores_kept;
    seat->shared = from->cores_shared;
    seat->distance = placement_nearness_text(from->nearness);
    seat_ways_tell(rank);
    return MUSTER_OK;
}

/* ---- devices as backends have them ---- */

/* The only device that the rank has with a backend; NULL where it has none or several. */
static const rank_device *only_device(const rank_record *rank, const char *backend, size_t *count)
{
    const rank_device *only = NULL;
    *count = 0;
    for (size_t i = 0; i < rank->num_devices; i++)
        if (strcmp(rank->devices[i].backend, backend) == 0) {
            only = &rank->devices[i];
            ++*count;
        }
    return *count == 1 ? only : NULL;
}

/* The seat's device as the backend counts it. */
static const rank_device *seat_device(const rank_record *rank, const char *backend)
{
    for (size_t i = 0; rank->seat.placed && rank->seat.device >= 0 && i < rank->num_devices; i++) {
        const rank_device *device = &rank->devices[i];
        if (strcmp(device->backend, backend) == 0 &&
            (*device->uuid != '\0' && *rank->seat.uuid != '\0'
                 ? strcmp(device->uuid, rank->seat.uuid) == 0
                 : strcmp(device->bus_id, rank->seat.bus_id) == 0))
            return device;
    }
    return NULL;
}

#define NOBODY_SAID "nobody has said which of its devices is its own"

static void tell_devices(rank_record *rank)
{
    bool nobody = strcmp(rank->policy, placement_policy_text(PLACEMENT_NONE)) == 0;
    for (size_t b = 0; b < rank->num_backends; b++) {
        rank_backend *has = &rank->backends[b];
        size_t count;
        const rank_device *only = only_device(rank, has->name, &count);
        const rank_device *given = seat_device(rank, has->name);
        if (count == 0 || has->device >= 0)
            continue;
        if (given == NULL && (nobody || !rank->seat.placed))
            given = only;
        has->device = given == NULL ? -1 : given->ordinal;
        bool told = rank->seat.placed && !(nobody && given == NULL);
        has->device_from = given != NULL && given == only ? "the only device"
                           : !told                        ? NOBODY_SAID
                           : *rank->seat.shortage != '\0' ? rank->seat.shortage
                                                          : rank->seat.why;
    }
}

/* ---- hosts ---- */

static void host_clear(host_table *host)
{
    for (int i = 0; host->standings != NULL && i < host->count; i++)
        standing_clear(&host->standings[i]);
    free(host->standings);
    core_map_free(host->cores);
    placement_free(&host->placed);
    free(host->ranks);
}

/* Ranks of an older muster say nothing of where they stand, and more than anybody starts on one
 * host are not placed: they take what they are settled on. */
static bool can_be_placed(const host_table *host)
{
    bool can = host->count <= PLACEMENT_MOST_RANKS;
    for (int i = 0; can && i < host->count; i++)
        can = *record_of(host, i)->standing != '\0';
    return can;
}

static muster_status settle_host(host_table *host)
{
    bool placed = can_be_placed(host);
    muster_status status = placed ? check_wishes(host) : MUSTER_OK;
    if (placed && status == MUSTER_OK)
        status = place(host);
    for (int i = 0; status == MUSTER_OK && i < host->count; i++) {
        if (placed)
            status = tell_seat(host, i);
        if (status == MUSTER_OK)
            tell_devices(record_of(host, i));
    }
    return status;
}

static muster_status settle_from(roster *world, int first, bool *done)
{
    host_table host = {.world = world, .ranks = calloc((size_t)world->count, sizeof(int))};
    if (host.ranks == NULL)
        return error_no_memory((size_t)world->count * sizeof(int), "the ranks of a host");
    for (int r = first; r < world->count; r++)
        if (strcmp(world->ranks[r].host_id, world->ranks[first].host_id) == 0) {
            host.ranks[host.count++] = r;
            done[r] = true;
        }
    muster_status status = settle_host(&host);
    host_clear(&host);
    return status;
}

muster_status seats_settle(roster *world)
{
    bool *done = calloc((size_t)world->count, sizeof(*done));
    if (done == NULL)
        return error_no_memory((size_t)world->count, "the ranks of a host");
    muster_status status = MUSTER_OK;
    for (int r = 0; status == MUSTER_OK && r < world->count; r++)
        if (!done[r])
            status = settle_from(world, r, done);
    free(done);
    if (status == MUSTER_OK)
        seat_ways_take(world);
    for (int r = 0; r < world->count; r++)
        world->ranks[r].standing = ""; /* of no use from now on; sub-groups copy what is left */
    return status;
}

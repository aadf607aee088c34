/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The network interface that is nearest to what a rank was given.
 */
#include "config.h"

#include "group/seat_ways.h"

#include <string.h>

#include "group/handshake.h"

/* The one of the device, else that of the NUMA node; NULL where the rank said nothing of it. */
static const rank_way *way_of(const rank_record *rank)
{
    const rank_way *found = NULL;
    for (size_t i = 0; i < rank->num_ways; i++) {
        const rank_way *way = &rank->ways[i];
        if (way->of_device
                ? rank->seat.device >= 0 && way->number == rank->seat.device
                : found == NULL && rank->seat.device < 0 && way->number == rank->seat.node)
            found = way;
    }
    return found;
}

/* The first backend with an address says how the rank is reached otherwise. */
static const rank_backend *reached_by(const rank_record *rank)
{
    for (size_t i = 0; i < rank->num_backends; i++)
        if (*rank->backends[i].address != '\0')
            return &rank->backends[i];
    return NULL;
}

void seat_ways_tell(rank_record *rank)
{
    const rank_way *way = way_of(rank);
    const rank_backend *has = reached_by(rank);
    rank_seat *seat = &rank->seat;
    seat->nic = has != NULL ? has->interface : "";
    seat->nic_why = has != NULL ? has->address_from : "";
    seat->hca = way != NULL ? way->hca : "";
    if (way == NULL || has == NULL || handshake_is_option_of(has->address_from, has->name))
        return;
    if (*way->interface != '\0')
        seat->nic = way->interface;
    if (*way->nearness != '\0')
        seat->nic_why = way->nearness;
}

static bool is_v6(const char *address)
{
    return strchr(address, ':') != NULL;
}

static bool of_one_family(const roster *world, const char *backend)
{
    const char *first = NULL;
    for (int r = 0; r < world->count; r++) {
        const rank_backend *has = rank_record_backend(&world->ranks[r], backend);
        if (has == NULL || *has->address == '\0')
            return false;
        if (first != NULL && is_v6(first) != is_v6(has->address))
            return false;
        first = has->address;
    }
    return true;
}

static void take(rank_record *rank, rank_backend *has)
{
    const rank_way *way = way_of(rank);
    if (way == NULL || *way->interface == '\0' ||
        handshake_is_option_of(has->address_from, has->name) ||
        is_v6(way->address) != is_v6(has->address))
        return;
    has->interface = way->interface;
    has->address = way->address;
    has->address_from = way->nearness;
    has->second = has->second_interface = "";
}

void seat_ways_take(roster *world)
{
    for (size_t b = 0; world->count > 0 && b < world->ranks[0].num_backends; b++) {
        const char *name = world->ranks[0].backends[b].name;
        bool take_it = of_one_family(world, name);
        for (int r = 0; take_it && r < world->count; r++) {
            rank_record *rank = &world->ranks[r];
            for (size_t i = 0; i < rank->num_backends; i++)
                if (strcmp(rank->backends[i].name, name) == 0)
                    take(rank, &rank->backends[i]);
        }
    }
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The lines of a rank's record that say where it stands, and what it was given.
 */
#include "config.h"

#include "group/roster.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WAYS = 512, SEAT_NUMBERS = 6, SEAT_TEXTS = 12 };

static void write_way(FILE *out, const rank_way *way)
{
    char number[16];
    snprintf(number, sizeof(number), "%d", way->number);
    const char *fields[] = {way->of_device ? "device" : "node",
                            number,
                            way->interface,
                            way->address,
                            way->hca,
                            way->nearness};
    roster_write_fields(out, "near", fields, sizeof(fields) / sizeof(*fields));
}

static void write_seat(FILE *out, const rank_seat *seat)
{
    const int numbers[SEAT_NUMBERS] = {seat->local_rank, seat->device, seat->package,
                                       seat->node,       seat->kept,   seat->shared};
    char texts[SEAT_NUMBERS][16];
    const char *fields[SEAT_NUMBERS + SEAT_TEXTS] = {[SEAT_NUMBERS] = seat->uuid,
                                                     seat->bus_id,
                                                     seat->distance,
                                                     seat->cpus,
                                                     seat->node_cpus,
                                                     seat->near_cpus,
                                                     seat->thread_cpus,
                                                     seat->nic,
                                                     seat->hca,
                                                     seat->nic_why,
                                                     seat->why,
                                                     seat->shortage};
    for (int i = 0; i < SEAT_NUMBERS; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%d", numbers[i]);
        fields[i] = texts[i];
    }
    roster_write_fields(out, "seat", fields, SEAT_NUMBERS + SEAT_TEXTS);
}

void roster_write_place(FILE *out, const rank_record *record)
{
    if (record->policy != NULL && *record->policy != '\0')
        roster_write_fields(out, "placement", &record->policy, 1);
    if (record->place_list != NULL && *record->place_list != '\0')
        roster_write_fields(out, "list", &record->place_list, 1);
    if (record->elsewhere != 0)
        fprintf(out, "elsewhere\t%d\n", record->elsewhere);
    if (record->standing != NULL && *record->standing != '\0')
        roster_write_fields(out, "standing", &record->standing, 1);
    for (size_t i = 0; i < record->num_ways; i++)
        write_way(out, &record->ways[i]);
    if (record->seat.placed)
        write_seat(out, &record->seat);
}

/* Exactly count fields. */
static bool take_fields(char *fields, const char **taken, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        taken[i] = strsep(&fields, "\t");
        if (taken[i] == NULL)
            return false;
    }
    return fields == NULL;
}

bool roster_read_way(rank_record *record, char *fields)
{
    const char *texts[6];
    if (record->num_ways == MAX_WAYS || !take_fields(fields, texts, 6))
        return false;
    rank_way *all = realloc(record->ways, (record->num_ways + 1) * sizeof(*all));
    if (all == NULL)
        return false;
    record->ways = all;
    rank_way *way = &all[record->num_ways++];
    *way = (rank_way){.of_device = strcmp(texts[0], "device") == 0,
                      .interface = texts[2],
                      .address = texts[3],
                      .hca = texts[4],
                      .nearness = texts[5]};
    return roster_read_number(texts[1], 0, &way->number);
}

bool roster_read_seat(rank_seat *seat, char *fields)
{
    const char *texts[SEAT_NUMBERS + SEAT_TEXTS];
    int *numbers[SEAT_NUMBERS] = {&seat->local_rank, &seat->device, &seat->package,
                                  &seat->node,       &seat->kept,   &seat->shared};
    const char **slots[SEAT_TEXTS] = {&seat->uuid,        &seat->bus_id,    &seat->distance,
                                      &seat->cpus,        &seat->node_cpus, &seat->near_cpus,
                                      &seat->thread_cpus, &seat->nic,       &seat->hca,
                                      &seat->nic_why,     &seat->why,       &seat->shortage};
    if (!take_fields(fields, texts, SEAT_NUMBERS + SEAT_TEXTS))
        return false;
    for (int i = 0; i < SEAT_NUMBERS; i++)
        if (!roster_read_number(texts[i], -1, numbers[i]))
            return false;
    for (int i = 0; i < SEAT_TEXTS; i++)
        *slots[i] = texts[SEAT_NUMBERS + i];
    seat->placed = true;
    return true;
}

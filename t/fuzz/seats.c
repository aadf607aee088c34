/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: what ranks say of where they stand and how they want to be placed, and what each of
 * them makes of it: the places of all, their network interfaces, the map of the hosts and the
 * backend. The input holds the lines of two to four records, an empty line between two.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "group/choice.h"
#include "group/near.h"
#include "group/roster.h"
#include "group/seats.h"
#include "machine/cpu_set.h"

enum { MOST_RANKS = 4 };

/* The lines in front of a record's own, which may say otherwise. */
static const char head[] =
    "library\t0.1.0\nhost\ta\nhost_id\ta\nasked\tauto\nplacement\tauto\npid\t%d\nmemory\t\n"
    "cores\t4\nbackend\tlocal\t0.1.0\t\t\t\t\n"
    "backend\tgloo\t0.5\t\t10.0.0.%d\teth0\tthe host's name\n%.*s\nworld_size\t%d\nrank\t%d\n";

static int cut(const char *text, const char *starts[MOST_RANKS], int lengths[MOST_RANKS])
{
    int count = 0;
    for (const char *end; count < MOST_RANKS; text = end + 2) {
        end = strstr(text, "\n\n");
        starts[count] = text;
        lengths[count++] = (int)(end != NULL ? (size_t)(end - text) : strlen(text));
        if (end == NULL)
            break;
    }
    for (; count < 2; count++) {
        starts[count] = "";
        lengths[count] = 0;
    }
    return count;
}

static bool read_records(const char *text, roster *world)
{
    const char *starts[MOST_RANKS];
    int lengths[MOST_RANKS];
    char *records[MOST_RANKS] = {NULL};
    muster_blob blobs[MOST_RANKS];
    int count = cut(text, starts, lengths);
    for (int r = 0; r < count; r++) {
        if (asprintf(&records[r], head, 100 + r, r + 1, lengths[r], starts[r], count, r) < 0)
            abort();
        blobs[r] = muster_str(records[r]);
    }
    bool read = roster_read(world, blobs, count) == MUSTER_OK;
    for (int r = 0; r < count; r++)
        free(records[r]);
    return read;
}

/* What a rank was given goes to the ranks of groups made later, as text. */
static void hold_seat(const rank_record *rank)
{
    cpu_set cpus;
    char *text;
    rank_record again;
    fuzz_hold(cpu_set_parse(&cpus, rank->seat.cpus) == MUSTER_OK && !cpu_set_is_empty(&cpus),
              "a rank that is placed has CPUs");
    fuzz_hold(rank->seat.device >= -1, "and a device, or none");
    fuzz_hold(rank_record_write(rank, &text) == MUSTER_OK &&
                  rank_record_read(&again, muster_str(text)) == MUSTER_OK,
              "its record can be told");
    fuzz_hold(again.seat.placed && strcmp(again.seat.cpus, rank->seat.cpus) == 0,
              "with what it was given");
    muster_free(text);
    rank_record_clear(&again);
}

static void hold_map(const roster *world)
{
    near_map map;
    int members = 0;
    fuzz_hold(near_map_make(world, &map) == MUSTER_OK, "there is a map of the hosts");
    fuzz_hold(map.hosts == world->hosts && map.hosts >= 1, "with as many as the ranks are on");
    for (int h = 0; h < map.hosts; h++)
        members += map.starts[h + 1] - map.starts[h];
    fuzz_hold(members == world->count, "and all ranks");
    near_map_clear(&map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    roster world;
    choice made;
    char *text = fuzz_text(data, size);
    if (read_records(text, &world)) {
        hold_map(&world);
        if (seats_settle(&world) == MUSTER_OK)
            for (int r = 0; r < world.count; r++)
                if (world.ranks[r].seat.placed)
                    hold_seat(&world.ranks[r]);
        if (choice_make(&world, "auto", &made) == MUSTER_OK) {
            fuzz_hold(made.name != NULL && made.why != NULL, "a choice has a name and a reason");
            free(made.name);
            free(made.why);
        }
        roster_clear(&world);
    }
    free(text);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks by their hosts.
 */
#include "group/near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/error.h"
#include "tap.h"

enum { MANY = 4096, ON_EACH = 8 };

/* One letter a rank, its host; hosts and members in the order of the map, "|" between hosts. */
static const struct {
    const char *hosts;
    const char *members;
    int fewest;
    int most;
    bool in_order;
} maps[] = {
    {"a", "0", 1, 1, true},         {"aaa", "012", 3, 3, true},
    {"aabb", "01|23", 2, 2, true},  {"bbaa", "01|23", 2, 2, true},
    {"abab", "02|13", 2, 2, false}, {"cabca", "03|14|2", 1, 2, false},
    {"aaab", "012|3", 1, 3, true},  {"abc", "0|1|2", 1, 1, true},
};
enum { NUM_MAPS = sizeof(maps) / sizeof(*maps) };

static void read_roster(roster *list, int count, void (*name)(int rank, char *text, const void *of),
                        const void *of)
{
    muster_blob *blobs = calloc((size_t)count, sizeof(*blobs));
    char(*texts)[96] = calloc((size_t)count, sizeof(*texts));
    for (int r = 0; r < count; r++) {
        char host[32];
        name(r, host, of);
        snprintf(texts[r], sizeof(texts[r]), "world_size\t%d\nrank\t%d\nhost_id\t%s\n", count, r,
                 host);
        blobs[r] = muster_str(texts[r]);
    }
    if (roster_read(list, blobs, count) != MUSTER_OK)
        bail_out("no roster: %s", muster_last_error());
    free(blobs);
    free(texts);
}

static void letter(int rank, char *text, const void *of)
{
    snprintf(text, 32, "host-%c", ((const char *)of)[rank]);
}

static void write_members(const near_map *map, char *text)
{
    for (int h = 0; h < map->hosts; h++) {
        if (h > 0)
            *text++ = '|';
        for (int i = map->starts[h]; i < map->starts[h + 1]; i++)
            *text++ = (char)('0' + map->members[i]);
    }
    *text = '\0';
}

static bool knows_all(const near_map *map, int count)
{
    bool right = true;
    for (int r = 0; r < count; r++) {
        int here = 0;
        const int *ranks = near_map_ranks(map, r, &here);
        right = right && map->place[r] < here && ranks[map->place[r]] == r &&
                ranks == map->members + map->starts[map->host[r]];
    }
    return right;
}

static void map_of(size_t i)
{
    roster list;
    near_map map;
    char members[32];
    int count = (int)strlen(maps[i].hosts);
    read_roster(&list, count, letter, maps[i].hosts);
    is_int(near_map_make(&list, &map), MUSTER_OK, "hosts '%s'", maps[i].hosts);
    write_members(&map, members);
    is_str(members, maps[i].members, "who is on which");
    ok(map.fewest == maps[i].fewest && map.most == maps[i].most && map.in_order == maps[i].in_order,
       "how many, and in which order");
    ok(knows_all(&map, count), "every rank is where it is said to be");
    near_map_clear(&map);
    near_map_clear(&map);
    roster_clear(&list);
}

static void sentences(void)
{
    roster list;
    near_map map;
    char text[64];
    read_roster(&list, 5, letter, "ababa");
    near_map_make(&list, &map);
    is_str(near_sentence(&map, 4, "rank 2 waits for rank 1 of rank x", text, sizeof(text)),
           "rank 4 waits for rank 2 of rank x", "numbers within a host become the group's");
    is_str(near_sentence(&map, 3, "rank 1, rank 7", text, sizeof(text)), "rank 3, rank 7",
           "those that are none stay");
    error_set(MUSTER_ERR_PEER_LOST, "rank 1 has left the group");
    is_int(near_error(&map, 2, MUSTER_ERR_PEER_LOST), MUSTER_ERR_PEER_LOST, "so do errors");
    is_str(muster_last_error(), "rank 2 has left the group", "in their sentences");
    is_int((int)strlen(near_sentence(&map, 0, "rank 1 and many words more", text, 9)), 8,
           "what is too long is cut");
    near_map_clear(&map);
    roster_clear(&list);
}

static void scattered(int rank, char *text, const void *of)
{
    (void)of;
    snprintf(text, 32, "host-%d", rank * 7 % (MANY / ON_EACH));
}

static void large(void)
{
    roster list;
    near_map map;
    read_roster(&list, MANY, scattered, NULL);
    int64_t began = deadline_now_ns();
    is_int(near_map_make(&list, &map), MUSTER_OK, "%d ranks", (int)MANY);
    ok(deadline_now_ns() - began < 1000000000, "in no time");
    ok(map.hosts == MANY / ON_EACH && map.fewest == ON_EACH && map.most == ON_EACH,
       "%d on each host", (int)ON_EACH);
    ok(knows_all(&map, MANY), "in their places");
    near_map_clear(&map);
    roster_clear(&list);
}

int main(void)
{
    plan(4 * NUM_MAPS + 9);
    for (size_t i = 0; i < NUM_MAPS; i++)
        map_of(i);
    sentences();
    large();
    return done();
}

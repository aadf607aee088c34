/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks by their hosts.
 */
#include "config.h"

#include "group/near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* A rank, while they are put in order. */
typedef struct placed {
    const char *host_id;
    int first; /* rank of the host */
    int rank;
} placed;

static int by_host(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    int order = strcmp(x->host_id, y->host_id);
    return order != 0 ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_first(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    int order = (x->first > y->first) - (x->first < y->first);
    return order != 0 ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static void sort(const roster *ranks, placed *list)
{
    size_t count = (size_t)ranks->count;
    for (int r = 0; r < ranks->count; r++)
        list[r] = (placed){ranks->ranks[r].host_id, r, r};
    qsort(list, count, sizeof(*list), by_host);
    for (size_t i = 1; i < count; i++)
        if (strcmp(list[i].host_id, list[i - 1].host_id) == 0)
            list[i].first = list[i - 1].first;
    qsort(list, count, sizeof(*list), by_first);
}

static void fill(near_map *map, const placed *list, int count)
{
    for (int i = 0; i < count; i++) {
        if (i == 0 || list[i].first != list[i - 1].first)
            map->starts[map->hosts++] = i;
        map->members[i] = list[i].rank;
        map->in_order = map->in_order && list[i].rank == i;
        map->host[list[i].rank] = map->hosts - 1;
        map->place[list[i].rank] = i - map->starts[map->hosts - 1];
    }
    map->starts[map->hosts] = count;
    map->fewest = count;
    for (int h = 0; h < map->hosts; h++) {
        int here = map->starts[h + 1] - map->starts[h];
        map->fewest = here < map->fewest ? here : map->fewest;
        map->most = here > map->most ? here : map->most;
    }
}

muster_status near_map_make(const roster *ranks, near_map *map)
{
    size_t count = (size_t)ranks->count;
    placed *list = calloc(count, sizeof(*list));
    int *numbers = calloc(4 * count + 1, sizeof(int));
    *map = (near_map){.starts = numbers, .in_order = true};
    if (list == NULL || numbers == NULL) {
        free(list);
        near_map_clear(map);
        return error_no_memory(count * (sizeof(*list) + 4 * sizeof(int)), "ranks by hosts");
    }
    map->members = numbers + count + 1;
    map->host = map->members + count;
    map->place = map->host + count;
    sort(ranks, list);
    fill(map, list, ranks->count);
    free(list);
    return MUSTER_OK;
}

void near_map_clear(near_map *map)
{
    free(map->starts);
    *map = (near_map){0};
}

const int *near_map_ranks(const near_map *map, int rank, int *count)
{
    int host = map->host[rank];
    *count = map->starts[host + 1] - map->starts[host];
    return map->members + map->starts[host];
}

const char *near_sentence(const near_map *map, int rank, const char *sentence, char *text,
                          size_t size)
{
    static const char mark[] = "rank ";
    int count, number, length;
    const int *ranks = near_map_ranks(map, rank, &count);
    size_t used = 0;
    text[0] = '\0';
    for (const char *at = sentence; *at != '\0' && used + 1 < size; at += length) {
        length = 1;
        if (strncmp(at, mark, sizeof(mark) - 1) == 0 &&
            sscanf(at, "rank %d%n", &number, &length) == 1 && number >= 0 && number < count)
            snprintf(text + used, size - used, "%s%d", mark, ranks[number]);
        else
            snprintf(text + used, size - used, "%.*s", length, at);
        used += strlen(text + used);
    }
    return text;
}

muster_status near_error(const near_map *map, int rank, muster_status status)
{
    char said[ERROR_SIZE], text[ERROR_SIZE];
    snprintf(said, sizeof(said), "%s", muster_last_error());
    return error_set(status, "%s", near_sentence(map, rank, said, text, sizeof(text)));
}

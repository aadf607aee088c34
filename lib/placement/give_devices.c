/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which rank gets which device of the host.
 */
#include "config.h"

#include "placement/give_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "placement/assign.h"
#include "placement/device_list.h"

/* A device in the order in which a policy gives them out. */
typedef struct offer {
    const placement_device *device;
    int place; /* among the devices */
    int turn;  /* how many devices of its node are before it */
    int node;  /* how many nodes of its package are before that */
} offer;

typedef struct giving {
    placement *p;
    const standing *const *ranks;
    placement_policy policy;
    offer *offers;
    int **places; /* of each rank's devices among all */
    int *rows;    /* the seats that are still without */
    int num_rows;
    int64_t *costs;
    int *column_of;
} giving;

/* Node by node; of numbers, not known (-1) comes last. */
static int compact_order(const void *a, const void *b)
{
    const offer *one = a, *other = b;
    if (one->device->package != other->device->package)
        return (unsigned)one->device->package < (unsigned)other->device->package ? -1 : 1;
    if (one->device->node != other->device->node)
        return (unsigned)one->device->node < (unsigned)other->device->node ? -1 : 1;
    return one->place - other->place;
}

/* The first of each node of each package, packages in turn; then the second of each. */
static int scatter_order(const void *a, const void *b)
{
    const offer *one = a, *other = b;
    if (one->turn != other->turn)
        return one->turn - other->turn;
    if (one->node != other->node)
        return one->node - other->node;
    return compact_order(a, b);
}

static void order_offers(giving *g)
{
    size_t count = (size_t)g->p->num_devices;
    for (size_t i = 0; i < count; i++)
        g->offers[i] = (offer){.device = &g->p->devices[i], .place = (int)i};
    if (count == 0 || (g->policy != PLACEMENT_COMPACT && g->policy != PLACEMENT_SCATTER))
        return;
    qsort(g->offers, count, sizeof(*g->offers), compact_order);
    for (size_t i = 1; g->policy == PLACEMENT_SCATTER && i < count; i++) {
        offer *now = &g->offers[i], *last = now - 1;
        bool same_package = now->device->package == last->device->package;
        bool same_node = same_package && now->device->node == last->device->node;
        now->turn = same_node ? last->turn + 1 : 0;
        now->node = same_node ? last->node : same_package ? last->node + 1 : 0;
    }
    if (g->policy == PLACEMENT_SCATTER)
        qsort(g->offers, count, sizeof(*g->offers), scatter_order);
}

/* Puts the rank on its device d. */
static void seat(giving *g, int row, size_t d, const char *why)
{
    placement_seat *s = &g->p->seats[row];
    const standing_device *device = &g->ranks[row]->devices[d];
    s->device = g->places[row][d];
    s->ordinal = device->ordinal;
    s->cost = device->cost;
    g->p->devices[s->device].ranks++;
    snprintf(s->why, sizeof(s->why), "%s", why);
}

static size_t find_ordinal(const standing *s)
{
    size_t d = 0;
    while (d < s->num_devices && s->devices[d].ordinal != s->settled_ordinal)
        d++;
    return d;
}

/* Whether the rank has what its entry says; it does not where it was settled on another. */
static muster_status agree_with_entry(const standing *s, const place_entry *entry, int device)
{
    if (s->settled == STANDING_OPEN ||
        (device >= 0 && s->devices[device].ordinal == s->settled_ordinal))
        return MUSTER_OK;
    return error_set(
        MUSTER_ERR_ARGUMENT,
        "local rank %d is to be placed by \"%s\", but %s device %d; change one of them",
        s->local_rank, entry->text,
        s->settled == STANDING_IN_USE ? "its process makes use already of" : "an option says",
        s->settled_ordinal);
}

static muster_status seat_by_list(giving *g, int row, const place_list *list)
{
    const standing *s = g->ranks[row];
    int device;
    if (s->local_rank < 0 || s->local_rank >= list->count)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "the list of placement has no entry for local rank %d (rank %d): it has "
                         "%d, and there is to be one for each rank of a host",
                         s->local_rank, s->rank, list->count);
    const place_entry *entry = &list->entries[s->local_rank];
    muster_status status = place_entry_find(entry, s, &device);
    if (status == MUSTER_OK)
        status = agree_with_entry(s, entry, device);
    if (status == MUSTER_OK && device >= 0)
        seat(g, row, (size_t)device, "device by the list");
    else if (status == MUSTER_OK)
        snprintf(g->p->seats[row].why, sizeof(g->p->seats[row].why), "no device, by the list");
    return status;
}

/* Those that have their device beforehand; the rest are rows. */
static muster_status seat_settled(giving *g, const place_list *list)
{
    for (int row = 0; row < g->p->count; row++) {
        const standing *s = g->ranks[row];
        muster_status status = MUSTER_OK;
        if (list != NULL)
            status = seat_by_list(g, row, list);
        else if (s->settled != STANDING_OPEN)
            seat(g, row, find_ordinal(s),
                 s->settled == STANDING_IN_USE ? "device in use already" : "device by an option");
        else
            g->rows[g->num_rows++] = row;
        if (status != MUSTER_OK)
            return status;
    }
    return MUSTER_OK;
}

/* What the rows may take of devices that fewer than so many ranks have. */
static void fill_costs(giving *g, int sharers)
{
    size_t columns = (size_t)g->p->num_devices;
    int column[PLACEMENT_MOST_DEVICES];
    for (size_t i = 0; i < columns; i++)
        column[g->offers[i].place] = (int)i;
    for (int i = 0; i < g->num_rows; i++) {
        const standing *s = g->ranks[g->rows[i]];
        int64_t *costs = g->costs + (size_t)i * columns;
        for (size_t c = 0; c < columns; c++)
            costs[c] = ASSIGN_NEVER;
        for (size_t d = 0; d < s->num_devices; d++) {
            int place = g->places[g->rows[i]][d];
            if (g->p->devices[place].ranks < sharers)
                costs[column[place]] = g->policy == PLACEMENT_AUTO ? s->devices[d].cost : 0;
        }
    }
}

static const char *words_for(const giving *g, bool shared)
{
    return shared                           ? "no device was free, shares one"
           : g->policy == PLACEMENT_COMPACT ? "devices node by node"
           : g->policy == PLACEMENT_SCATTER ? "devices of packages and NUMA nodes in turn"
                                            : "least distance of all ranks together";
}

/* Which of the rank's own is the device at that place. */
static size_t own_device(const giving *g, int row, int place)
{
    size_t d = 0;
    while (g->places[row][d] != place)
        d++;
    return d;
}

/* Seats as many rows as can have a device that fewer than so many ranks have. */
static muster_status seat_round(giving *g, int sharers)
{
    fill_costs(g, sharers);
    muster_status status = assign_columns(g->costs, g->num_rows, g->p->num_devices, g->column_of);
    int left = 0;
    for (int i = 0; status == MUSTER_OK && i < g->num_rows; i++) {
        int row = g->rows[i];
        if (g->column_of[i] < 0) {
            g->rows[left++] = row;
            continue;
        }
        int place = g->offers[g->column_of[i]].place;
        seat(g, row, own_device(g, row, place), words_for(g, g->p->devices[place].ranks > 0));
    }
    if (status == MUSTER_OK)
        g->num_rows = left;
    return status;
}

/* Where each rank's devices are among all: one block, that places points into. */
static bool find_places(giving *g)
{
    size_t total = 0;
    for (int r = 0; r < g->p->count; r++)
        total += g->ranks[r]->num_devices;
    int *place = calloc(total + 1, sizeof(*place));
    g->places = calloc((size_t)g->p->count + 1, sizeof(*g->places));
    if (place == NULL || g->places == NULL) {
        free(place);
        return false;
    }
    g->places[0] = place;
    for (int r = 0; r < g->p->count; r++) {
        g->places[r] = place;
        for (size_t d = 0; d < g->ranks[r]->num_devices; d++)
            *place++ = device_list_find(g->p, &g->ranks[r]->devices[d]);
    }
    return true;
}

static void free_room(giving *g)
{
    if (g->places != NULL)
        free(g->places[0]);
    free(g->places);
    free(g->offers);
    free(g->rows);
    free(g->costs);
    free(g->column_of);
}

static muster_status make_room(giving *g)
{
    size_t ranks = (size_t)g->p->count, devices = (size_t)g->p->num_devices;
    g->offers = calloc(devices + 1, sizeof(*g->offers));
    g->rows = calloc(ranks + 1, sizeof(*g->rows));
    g->costs = calloc(ranks * devices + 1, sizeof(*g->costs));
    g->column_of = calloc(ranks + 1, sizeof(*g->column_of));
    if (g->offers == NULL || g->rows == NULL || g->costs == NULL || g->column_of == NULL ||
        !find_places(g))
        return error_no_memory(ranks * devices * sizeof(*g->costs), "giving devices to ranks");
    return MUSTER_OK;
}

/* Why the rows that are left have none. */
static void explain_none(const giving *g)
{
    for (int i = 0; i < g->num_rows; i++) {
        placement_seat *s = &g->p->seats[g->rows[i]];
        snprintf(s->why, sizeof(s->why), "%s",
                 g->policy == PLACEMENT_NONE              ? "no device: placing is off"
                 : g->p->num_devices == 0                 ? "no devices here"
                 : g->ranks[g->rows[i]]->num_devices == 0 ? "no device that it can use"
                                                          : "no device is free");
    }
}

muster_status give_devices(placement *p, const standing *const *ranks, const placement_wish *wish,
                           const place_list *list)
{
    giving g = {.p = p, .ranks = ranks, .policy = wish->policy};
    int rounds = wish->policy == PLACEMENT_NONE ? 0 : wish->share ? p->count : 1;
    muster_status status = make_room(&g);
    if (status == MUSTER_OK) {
        order_offers(&g);
        status = seat_settled(&g, list);
    }
    for (int round = 1; status == MUSTER_OK && round <= rounds && g.num_rows > 0; round++)
        status = seat_round(&g, round);
    explain_none(&g);
    free_room(&g);
    return status;
}

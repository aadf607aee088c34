/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives among one rank a host, by messages.
 */
#include "config.h"

#include "collective/across.h"

#include <stdlib.h>

#include "reduce/reduce.h"

/* Up to so many bytes of all hosts together a reduction takes one step instead of two. */
enum { ONE_STEP_BYTES = 1 << 16, HOSTS_AT_ONCE = 16 };

/* What goes to each host and comes from it. */
typedef struct parcels {
    const char *send;
    const size_t *send_offsets; /* NULL: all hosts get what is at send */
    const size_t *send_bytes;   /* NULL: sent bytes each */
    size_t sent;
    char *receive;
    const size_t *receive_offsets; /* of each host */
    const size_t *receive_bytes;
} parcels;

/* Every host sends to and receives from every other, beginning with its neighbour. */
static muster_status swap(const across *way, const parcels *all)
{
    int n = way->hosts, me = way->host;
    muster_status status = MUSTER_OK;
    for (int first = 1; status == MUSTER_OK && first < n; first += HOSTS_AT_ONCE) {
        message messages[2 * HOSTS_AT_ONCE];
        size_t count = 0;
        for (int step = first; step < n && step < first + HOSTS_AT_ONCE; step++) {
            int to = (me + step) % n, from = (me - step + n) % n;
            size_t offset = all->send_offsets != NULL ? all->send_offsets[to] : 0;
            size_t bytes = all->send_bytes != NULL ? all->send_bytes[to] : all->sent;
            message_to(&messages[count++], way->ranks[to], way->label, all->send + offset, bytes);
            message_from(&messages[count++], way->ranks[from], way->label,
                         all->receive + all->receive_offsets[from], all->receive_bytes[from]);
        }
        status = messages_carry(way->group, messages, count, way->end);
    }
    return status;
}

muster_status across_barrier(const across *way)
{
    int n = way->hosts, me = way->host;
    muster_status status = MUSTER_OK;
    for (int step = 1; status == MUSTER_OK && step < n; step *= 2) {
        message pair[2];
        message_to(&pair[0], way->ranks[(me + step) % n], way->label, NULL, 0);
        message_from(&pair[1], way->ranks[(me - step + n) % n], way->label, NULL, 0);
        status = messages_carry(way->group, pair, 2, way->end);
    }
    return status;
}

muster_status across_broadcast(const across *way, int root, void *buffer, size_t bytes)
{
    int n = way->hosts, place = (way->host - root + n) % n; /* root is at place 0 */
    int reach = 1;
    muster_status status = MUSTER_OK;
    while (reach < n && !(place & reach))
        reach *= 2;
    if (place != 0) {
        message from;
        message_from(&from, way->ranks[(way->host - reach + n) % n], way->label, buffer, bytes);
        status = messages_carry(way->group, &from, 1, way->end);
    }
    message children[32];
    size_t count = 0;
    for (int step = reach / 2; step >= 1; step /= 2)
        if (place + step < n)
            message_to(&children[count++], way->ranks[(way->host + step) % n], way->label, buffer,
                       bytes);
    return status == MUSTER_OK && count > 0 ? messages_carry(way->group, children, count, way->end)
                                            : status;
}

/* The arrays of all hosts, one behind the other, but not this rank's own. */
typedef struct shelf {
    char *arrays;
    layout places;
    reduce_input *inputs;
} shelf;

static void shelf_free(shelf *all)
{
    free(all->arrays);
    free(all->inputs);
    layout_free(&all->places);
}

static muster_status shelf_new(shelf *all, const across *way, size_t count, size_t size)
{
    size_t n = (size_t)way->hosts;
    bool fits = count <= SIZE_MAX / 2 / size / n;
    all->arrays = fits ? malloc(n * count * size + 1) : NULL;
    all->inputs = calloc(n, sizeof(*all->inputs));
    bool has_layout = layout_equal(&all->places, n, fits ? count : 0, size);
    if (all->arrays != NULL && all->inputs != NULL && has_layout)
        return MUSTER_OK;
    shelf_free(all);
    return compose_no_memory(way->group, fits ? n * count * size : SIZE_MAX, "what is reduced");
}

/* With own, which is this rank's, into out. */
static void shelf_reduce(shelf *all, const across *way, const void *own, void *out,
                         muster_type type, muster_reduction redop)
{
    size_t n = (size_t)way->hosts, me = (size_t)way->host;
    for (size_t h = 0; h < n; h++)
        all->inputs[h].data = h == me ? own : all->arrays + all->places.offsets[h];
    reduce_arrays(out, all->inputs, n, all->places.bytes[me] / muster_type_size(type), type, redop);
}

/* Every host gets the whole array of every other. */
static muster_status reduce_in_one_step(const across *way, void *buffer, size_t count,
                                        muster_type type, muster_reduction redop)
{
    shelf all;
    size_t size = muster_type_size(type);
    muster_status status = shelf_new(&all, way, count, size);
    if (status != MUSTER_OK)
        return status;
    const parcels arrays = {.send = buffer,
                            .sent = count * size,
                            .receive = all.arrays,
                            .receive_offsets = all.places.offsets,
                            .receive_bytes = all.places.bytes};
    status = swap(way, &arrays);
    if (status == MUSTER_OK)
        shelf_reduce(&all, way, buffer, buffer, type, redop);
    shelf_free(&all);
    return status;
}

/* Every host gets its slice of the arrays of all others, reduces it, and gives it to them. */
static muster_status reduce_by_slices(const across *way, char *buffer, const layout *slices,
                                      muster_type type, muster_reduction redop)
{
    shelf all;
    size_t me = (size_t)way->host, size = muster_type_size(type);
    char *own = buffer + slices->offsets[me];
    muster_status status = shelf_new(&all, way, slices->bytes[me] / size, size);
    if (status != MUSTER_OK)
        return status;
    const parcels parts = {.send = buffer,
                           .send_offsets = slices->offsets,
                           .send_bytes = slices->bytes,
                           .receive = all.arrays,
                           .receive_offsets = all.places.offsets,
                           .receive_bytes = all.places.bytes};
    status = swap(way, &parts);
    if (status == MUSTER_OK)
        shelf_reduce(&all, way, own, own, type, redop);
    shelf_free(&all);
    return status == MUSTER_OK ? across_all_gather(way, buffer, slices->bytes, slices->offsets)
                               : status;
}

muster_status across_all_reduce(const across *way, void *buffer, size_t count, muster_type type,
                                muster_reduction redop)
{
    size_t n = (size_t)way->hosts, size = muster_type_size(type);
    if (count < n || count <= ONE_STEP_BYTES / n / size)
        return reduce_in_one_step(way, buffer, count, type, redop);
    layout slices;
    if (!layout_slices(&slices, n, count, size))
        return compose_no_memory(way->group, 3 * n * sizeof(size_t), "a layout");
    muster_status status = reduce_by_slices(way, buffer, &slices, type, redop);
    layout_free(&slices);
    return status;
}

muster_status across_reduce(const across *way, int root, void *buffer, size_t count,
                            muster_type type, muster_reduction redop)
{
    size_t size = muster_type_size(type);
    message one;
    shelf all;
    if (way->host != root) {
        message_to(&one, way->ranks[root], way->label, buffer, count * size);
        return messages_carry(way->group, &one, 1, way->end);
    }
    muster_status status = shelf_new(&all, way, count, size);
    if (status != MUSTER_OK)
        return status;
    for (int h = 0; status == MUSTER_OK && h < way->hosts; h++) {
        if (h == root)
            continue;
        message_from(&one, way->ranks[h], way->label, all.arrays + all.places.offsets[h],
                     count * size);
        status = messages_carry(way->group, &one, 1, way->end);
    }
    if (status == MUSTER_OK)
        shelf_reduce(&all, way, buffer, buffer, type, redop);
    shelf_free(&all);
    return status;
}

muster_status across_all_gather(const across *way, void *buffer, const size_t *bytes,
                                const size_t *offsets)
{
    const parcels blocks = {.send = (const char *)buffer + offsets[way->host],
                            .sent = bytes[way->host],
                            .receive = buffer,
                            .receive_offsets = offsets,
                            .receive_bytes = bytes};
    return swap(way, &blocks);
}

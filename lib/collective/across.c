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

/* Of a slice as much goes at once: so no call needs room for a whole slice of each host, and what
 * has been reduced goes out while the next comes in. Smaller pieces cost more in wake-ups than they
 * gain in the cache (doc/speed.md). */
enum { PIECE_BYTES = 4 << 20 };

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

static void swap_with(const across *way, const parcels *all, int step, message pair[2])
{
    int n = way->hosts, to = (way->host + step) % n, from = (way->host - step + n) % n;
    size_t offset = all->send_offsets != NULL ? all->send_offsets[to] : 0;
    size_t bytes = all->send_bytes != NULL ? all->send_bytes[to] : all->sent;
    message_to(&pair[0], way->ranks[to], way->label, all->send + offset, bytes);
    message_from(&pair[1], way->ranks[from], way->label, all->receive + all->receive_offsets[from],
                 all->receive_bytes[from]);
}

/* Every host sends to and receives from every other, beginning with its neighbour; of several
 * parcels in their order. */
static muster_status swap(const across *way, const parcels *all, int num_parcels)
{
    enum { MOST_PARCELS = 2 };
    muster_status status = MUSTER_OK;
    for (int first = 1; status == MUSTER_OK && first < way->hosts; first += HOSTS_AT_ONCE) {
        message messages[2 * HOSTS_AT_ONCE * MOST_PARCELS];
        size_t count = 0;
        for (int step = first; step < way->hosts && step < first + HOSTS_AT_ONCE; step++)
            for (int p = 0; p < num_parcels; p++, count += 2)
                swap_with(way, &all[p], step, &messages[count]);
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
    status = swap(way, &arrays, 1);
    if (status == MUSTER_OK)
        shelf_reduce(&all, way, buffer, buffer, type, redop);
    shelf_free(&all);
    return status;
}

/* What lies in each slice from at on, and is no more than a piece. */
static void cut(const across *way, const layout *slices, size_t at, layout *pieces)
{
    for (int h = 0; h < way->hosts; h++) {
        size_t left = slices->bytes[h] > at ? slices->bytes[h] - at : 0;
        pieces->bytes[h] = left < PIECE_BYTES ? left : PIECE_BYTES;
        pieces->offsets[h] = slices->offsets[h] + at;
    }
}

/* The pieces at raw of all hosts come to the one whose slice it is, and in the same step the pieces
 * before, which have been reduced, go from there to all others. */
static muster_status swap_pieces(const across *way, char *buffer, const layout *raw,
                                 const layout *reduced, shelf *all)
{
    size_t me = (size_t)way->host;
    parcels both[2];
    int count = 0;
    for (int h = 0; raw != NULL && h < way->hosts; h++)
        all->places.bytes[h] = raw->bytes[me];
    if (raw != NULL)
        both[count++] = (parcels){.send = buffer,
                                  .send_offsets = raw->offsets,
                                  .send_bytes = raw->bytes,
                                  .receive = all->arrays,
                                  .receive_offsets = all->places.offsets,
                                  .receive_bytes = all->places.bytes};
    if (reduced != NULL)
        both[count++] = (parcels){.send = buffer + reduced->offsets[me],
                                  .sent = reduced->bytes[me],
                                  .receive = buffer,
                                  .receive_offsets = reduced->offsets,
                                  .receive_bytes = reduced->bytes};
    return swap(way, both, count);
}

static muster_status reduce_pieces(const across *way, char *buffer, const layout *slices,
                                   muster_type type, muster_reduction redop, shelf *all,
                                   layout pieces[2])
{
    size_t longest = slices->bytes[0];
    layout *raw = &pieces[0], *reduced = &pieces[1];
    muster_status status = MUSTER_OK;
    for (size_t at = 0; status == MUSTER_OK && at < longest + PIECE_BYTES; at += PIECE_BYTES) {
        bool more = at < longest;
        cut(way, slices, at, raw);
        status = swap_pieces(way, buffer, more ? raw : NULL, at > 0 ? reduced : NULL, all);
        if (status == MUSTER_OK && more) {
            char *own = buffer + raw->offsets[way->host];
            shelf_reduce(all, way, own, own, type, redop);
        }
        layout *next = reduced;
        reduced = raw;
        raw = next;
    }
    return status;
}

/* Every host gets its slice of the arrays of all others, reduces it, and gives it to them. */
static muster_status reduce_by_slices(const across *way, char *buffer, const layout *slices,
                                      muster_type type, muster_reduction redop)
{
    size_t n = (size_t)way->hosts, size = muster_type_size(type), own = slices->bytes[way->host];
    shelf all;
    layout pieces[2] = {{0}};
    muster_status status =
        shelf_new(&all, way, (own < PIECE_BYTES ? own : PIECE_BYTES) / size, size);
    if (status != MUSTER_OK)
        return status;
    if (layout_equal(&pieces[0], n, 0, 1) && layout_equal(&pieces[1], n, 0, 1))
        status = reduce_pieces(way, buffer, slices, type, redop, &all, pieces);
    else
        status = compose_no_memory(way->group, 6 * n * sizeof(size_t), "a layout");
    layout_free(&pieces[0]);
    layout_free(&pieces[1]);
    shelf_free(&all);
    return status;
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
    return swap(way, &blocks, 1);
}

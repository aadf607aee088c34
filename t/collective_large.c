/* SPDX-License-Identifier: BSD-3-Clause
 *
 * user case 44: collectives of more elements than an int can count. They take 8 GiB of memory, so
 * they only run where MUSTER_TEST_LARGE is set.
 */
#include "config.h"

#include "grouptest.h"

#include <stdlib.h>

enum { T = 300000, SECONDS = 300 };

static const size_t count = ((size_t)1 << 31) + 6;

/* What rank has at i. */
static uint8_t value(int rank, size_t i)
{
    return (uint8_t)((i >> 8) * 7 + i * (size_t)(rank + 3));
}

static void fill(uint8_t *data, int rank)
{
    for (size_t i = 0; i < count; i++)
        data[i] = value(rank, i);
}

/* From first on, n elements, they are rank's, or the sum of both. */
static bool is_right(const uint8_t *data, size_t first, size_t n, int rank)
{
    for (size_t i = first; i < first + n; i++) {
        uint8_t sum = (uint8_t)(value(0, i) + value(1, i));
        if (data[i] != (rank < 0 ? sum : value(rank, i)))
            return false;
    }
    return true;
}

static void large(int rank, int size)
{
    (void)size;
    const muster_type B = MUSTER_UINT8;
    if (getenv("MUSTER_TEST_LARGE") == NULL)
        ranks_skip_case("takes 8 GiB; MUSTER_TEST_LARGE=1 runs it");
    muster_group *g = world_of("world", T);
    uint8_t *data = malloc(count);
    if (data == NULL)
        bail_out("no memory");
    fill(data, rank);
    is_status(muster_broadcast(g, data, count, B, 1, NULL), MUSTER_OK, "broadcast");
    ok(is_right(data, 0, count, 1), "is right");
    fill(data, rank);
    is_status(muster_all_reduce(g, data, data, count, B, MUSTER_SUM, NULL), MUSTER_OK,
              "all_reduce in place");
    ok(is_right(data, 0, count, -1), "is right");
    fill(data, rank);
    uint8_t *mine = data + (size_t)rank * (count / 2);
    is_status(muster_reduce_scatter(g, data, mine, count / 2, B, MUSTER_SUM, NULL), MUSTER_OK,
              "reduce_scatter in place");
    ok(is_right(data, (size_t)rank * (count / 2), count / 2, -1), "is right");
    fill(data, 0);
    is_status(rank == 0 ? muster_send(g, data, count, B, 1, NULL)
                        : muster_recv(g, data, count, B, 0, NULL),
              MUSTER_OK, "send and recv");
    ok(is_right(data, 0, count, 0), "is right");
    free(data);
    ranks_barrier();
    muster_group_free(g);
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "large", .size = 2, .points = 8, .body = large, .seconds = SECONDS},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}

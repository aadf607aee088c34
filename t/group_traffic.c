/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a group says it has moved: in shared memory, and by messages alone.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grouptest.h"

enum { T = 20000, BIG = 3 << 20 };

typedef struct moved {
    uint64_t sent, received;
} moved;

static moved moved_by(const muster_group *group)
{
    moved all = {0, 0};
    if (muster_group_traffic(group, &all.sent, &all.received) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    return all;
}

/* The number behind the name in what the group says of itself. */
static long long said(muster_group *group, const char *name)
{
    char *text = NULL, wanted[64];
    snprintf(wanted, sizeof(wanted), "\n  %s ", name);
    if (muster_group_describe(group, false, &text) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    const char *at = strstr(text, wanted);
    long long number = at == NULL ? -1 : atoll(at + strlen(wanted));
    muster_free(text);
    return number;
}

/* Every byte that some rank takes in an all_gather others have given. */
static void shared_memory(int rank, int size)
{
    muster_group *world = world_of("world", T);
    unsigned char *all = calloc((size_t)size, BIG);
    if (all == NULL)
        bail_out("no memory");
    long long operations = said(world, "operations in shared memory");
    long long collectives = said(world, "collectives");
    moved before = moved_by(world);
    is_status(muster_all_gather(world, all + (size_t)rank * BIG, all, BIG, MUSTER_UINT8, NULL),
              MUSTER_OK, "blocks of 3 MiB");
    is_status(muster_barrier(world, NULL), MUSTER_OK, "a barrier");
    moved after = moved_by(world);
    is_int((int)(after.sent - before.sent), BIG, "its own block was given once");
    is_int((int)(after.received - before.received), (size - 1) * BIG, "the others' were taken");
    is_int((int)(said(world, "operations in shared memory") - operations), 2, "two operations");
    is_int((int)(said(world, "collectives") - collectives), 2, "and all collectives");
    ok(said(world, "bytes sent") == (long long)after.sent &&
           said(world, "bytes received") == (long long)after.received,
       "the same numbers in its description");
    free(all);
    ranks_barrier();
    muster_group_free(world);
}

static void messages(int rank, int size)
{
    static unsigned char data[BIG];
    muster_group *world = world_of("world", T);
    long long operations = said(world, "operations in shared memory");
    moved before = moved_by(world);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    is_status(rank % 2 == 0 ? muster_send(world, data, BIG, MUSTER_UINT8, next, NULL)
                            : muster_recv(world, data, BIG, MUSTER_UINT8, previous, NULL),
              MUSTER_OK, "a message of 3 MiB");
    moved after = moved_by(world);
    uint64_t sent = after.sent - before.sent, received = after.received - before.received;
    ok(rank % 2 == 0 ? sent > BIG && sent < BIG + 1024 && received == 0
                     : received > BIG && received < BIG + 1024 && sent == 0,
       "its bytes and a header");
    is_int((int)(said(world, "operations in shared memory") - operations), 0, "no operation");
    ranks_barrier();
    muster_group_free(world);
}

/* One rank has nobody to send to. */
static void alone(int rank, int size)
{
    (void)rank, (void)size;
    int32_t one = 1;
    muster_group *world = world_of("world", T);
    is_status(muster_all_reduce(world, &one, &one, 1, MUSTER_INT32, MUSTER_SUM, NULL), MUSTER_OK,
              "a reduction of one rank");
    moved all = moved_by(world);
    ok(all.sent == 0 && all.received == 0, "moves nothing");
    muster_group_free(world);
}

int main(int argc, char **argv)
{
    static const struct ranks_case cases[] = {
        {.name = "shared memory", .size = 3, .points = 7, .body = shared_memory},
        {.name = "messages", .size = 2, .points = 3, .body = messages},
        {.name = "one rank", .size = 1, .points = 2, .body = alone},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The shapes of lists that both gathers are tried with, and the groups.
 */
#include "shapes.h"

#include <string.h>

#include "tap.h"

static void fill_values(struct ragged *all, int who, int place, int size)
{
    (void)place, (void)size;
    /* seed 9.3.3: a -1 is a value like any other, wherever it is */
    static const int64_t values[] = {1, -1, 3, INT64_MIN, INT64_MAX, 0, -1, 151643, -1};
    for (int i = 0; i <= who % 3; i++)
        memcpy(ragged_add(all, sizeof(values) / sizeof(*values)), values, sizeof(values));
    *ragged_add(all, 1) = who;
}

/* seed 9.3.1: the number of prompts differs from rank to rank */
static void fill_counts(struct ragged *all, int who, int place, int size)
{
    (void)size;
    static const int counts[] = {0, 1, 7, 1000};
    for (int i = 0; i < counts[place % 4]; i++) {
        size_t length = (size_t)(i * 7 + who) % 23;
        int64_t *ids = ragged_add(all, length);
        for (size_t j = 0; j < length; j++)
            ids[j] = 1000 * who + i + (int64_t)j;
    }
}

static void fill_empties(struct ragged *all, int who, int place, int size)
{
    (void)place, (void)size;
    ragged_add(all, 0);
    ragged_add(all, 0);
    *ragged_add(all, 1) = 300 + who;
    ragged_add(all, 0);
}

/* seed 9.3.2: an empty list of prompts on any rank, here on all but the last */
static void fill_last_alone(struct ragged *all, int who, int place, int size)
{
    (void)who;
    if (place == size - 1)
        memset(ragged_add(all, 3), 0xff, 3 * sizeof(int64_t));
}

static void fill_nothing(struct ragged *all, int who, int place, int size)
{
    (void)all, (void)who, (void)place, (void)size;
}

/* seed 9.3.13: prompts, but no tokens in them */
static void fill_one_empty(struct ragged *all, int who, int place, int size)
{
    (void)who, (void)place, (void)size;
    ragged_add(all, 0);
}

static void fill_nothing_or_empty(struct ragged *all, int who, int place, int size)
{
    (void)who, (void)size;
    if (place % 2 == 1)
        ragged_add(all, 0);
}

/* seed 9.3.8: one long prompt among many short ones */
static void fill_huge(struct ragged *all, int who, int place, int size)
{
    (void)who;
    for (int i = 0; i < 50; i++)
        ragged_add(all, (size_t)(i % 4));
    if (place != size / 2)
        return;
    int64_t *ids = ragged_add(all, 70000);
    for (int i = 0; i < 70000; i++)
        ids[i] = i;
}

static void fill_text(struct ragged *all, int who, int place, int size)
{
    (void)who, (void)place, (void)size;
    static const char pickle[] = "\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00\x8c\x01q\x94.";
    int64_t *ids = ragged_add(all, sizeof(pickle));
    for (size_t i = 0; i < sizeof(pickle); i++)
        ids[i] = (unsigned char)pickle[i];
}

const struct shape shapes[NUM_SHAPES] = {
    {"all kinds of values", fill_values},
    {"0, 1, 7 and 1000 lists", fill_counts},
    {"empty lists between others", fill_empties},
    {"nothing but on the last rank", fill_last_alone},
    {"nothing anywhere", fill_nothing},
    {"one empty list everywhere", fill_one_empty},
    {"nothing here, an empty list there", fill_nothing_or_empty},
    {"one huge list among tiny ones", fill_huge},
    {"bytes that mean something elsewhere", fill_text},
};

muster_group *shapes_group(const char *name, int64_t timeout_ms)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.group_name = name;
    args.timeout_ms = timeout_ms;
    muster_group *group = NULL;
    if (muster_init_process_group(&group, &args) != MUSTER_OK)
        bail_out("no group: %s", muster_last_error());
    return group;
}

muster_group *shapes_world(int64_t timeout_ms)
{
    return shapes_group(NULL, timeout_ms);
}

struct ragged *shapes_of_group(const struct shape *shape, const muster_group *group)
{
    int who = -1, size = muster_group_size(group);
    struct ragged *all = ragged_new();
    for (int r = 0; r < size; r++) {
        ragged_next_rank(all);
        if (muster_group_rank_to_world(group, r, &who) != MUSTER_OK)
            bail_out("rank %d of the group is not in the world: %s", r, muster_last_error());
        shape->fill(all, who, r, size);
    }
    return all;
}

/* The largest size below that of the world that divides it: at least one family of sub-groups has
 * several ranks, unless the world's size is prime. */
static size_t regular_size(size_t size)
{
    for (size_t half = size / 2; half > 1; half--)
        if (size % half == 0)
            return half;
    return 1;
}

void shapes_in_all_groups(muster_group *world,
                          void (*check)(muster_group *group, const char *where))
{
    muster_group *regular = NULL, *orthogonal = NULL, *one = NULL;
    size_t size = (size_t)muster_group_size(world);
    int me = muster_group_rank(world);
    if (muster_create_sub_group(world, regular_size(size), NULL, &regular, &orthogonal) !=
            MUSTER_OK ||
        muster_new_group(world, &me, 1, NULL, &one) != MUSTER_OK)
        bail_out("no sub-groups: %s", muster_last_error());
    check(world, "the world");
    check(regular, "a regular sub-group");
    check(orthogonal, "an orthogonal sub-group");
    check(one, "a group of one");
    muster_group_free(one);
    muster_group_free(orthogonal);
    muster_group_free(regular);
}

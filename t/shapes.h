/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The shapes of lists that both gathers are tried with, in every group that a world has.
 */
#ifndef MUSTER_T_SHAPES_H
#define MUSTER_T_SHAPES_H

#include "ragged.h"

struct shape {
    const char *name;
    /* Adds the lists of rank who of the world, which is rank place of its group of size ranks. */
    void (*fill)(struct ragged *all, int who, int place, int size);
};

enum { NUM_SHAPES = 9 };
extern const struct shape shapes[NUM_SHAPES];

/* The world that the environment tells of, or a group of the same ranks under a name, with this
 * time-out; the test ends where it can't be made. */
muster_group *shapes_world(int64_t timeout_ms);
muster_group *shapes_group(const char *name, int64_t timeout_ms);

/* What the ranks of the group bring together. */
struct ragged *shapes_of_group(const struct shape *shape, const muster_group *group);

/* Calls check for the world, for a regular and an orthogonal sub-group and for a group of one. Each
 * makes the same number of points. */
void shapes_in_all_groups(muster_group *world,
                          void (*check)(muster_group *group, const char *where));

#endif

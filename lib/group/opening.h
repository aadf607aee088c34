/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening the sides of one group, on threads of the group: for forming.c alone.
 */
#ifndef MUSTER_LIB_OPENING_H
#define MUSTER_LIB_OPENING_H

#include <stdatomic.h>

#include "base/error.h"
#include "group/forming.h"

/* How far the opening of one group is. */
typedef enum opening_state {
    OPENING_BEGUN,
    OPENING_SUBMITTED, /* its address waits for the round */
    OPENING_ANSWERED,  /* the others' addresses are there */
    OPENING_ENDED
} opening_state;

/* What carries messages, the device's side, the near one. */
enum { OPENING_SIDES = 3 };

/* Of one side of a group; without a side where there is nothing to open. */
struct opening {
    struct forming *all;
    group_side *side;
    const forming_plan *plan;
    muster_blob given; /* the name that the caller gave */
    opening_state state;
    muster_status status; /* of the round, then of opening as a whole */
    char sentence[ERROR_SIZE];
    muster_blob mine;
    muster_blob *theirs;
};

typedef struct forming {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    exchange *meeting;
    struct opening openings[FORMING_MAX_GROUPS][OPENING_SIDES];
    size_t count; /* of groups */
    atomic_bool cancelled;
    muster_status cause; /* why, for the calling thread alone */
    char cause_sentence[ERROR_SIZE];
} forming;

/* Sets the state, and the first failure with the thread's last error as its words. */
void opening_move(struct opening *one, opening_state state, muster_status status);

/* Chooses the backends of the plan's group and has its sides opened. A side that is not to be
 * opened has ended at once. */
void opening_start(struct opening sides[OPENING_SIDES], const forming_plan *plan);

#endif

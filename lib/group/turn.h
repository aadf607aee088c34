/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that make groups of one group, in the order in which the threads of this process issued
 * them: those of one kind are numbered, and have their turn one after the other.
 */
#ifndef MUSTER_LIB_TURN_H
#define MUSTER_LIB_TURN_H

#include <pthread.h>
#include <stdbool.h>

#include "base/deadline.h"
#include "group/family.h"

/* One call that has not ended. */
typedef struct turn {
    char *key; /* NULL: it has no turn */
    long long number;
    struct turn *next;
} turn;

typedef struct turn_line {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    turn *first; /* the one issued first */
} turn_line;

void turn_line_init(turn_line *line);
void turn_line_destroy(turn_line *line);

/* Issues a call: mine->number is how many of its key there were before, as the family counts. False
 * where there is no memory. */
bool turn_take(turn_line *line, family *members, const char *key, turn *mine);

/* Waits until all calls of that key that were issued before have ended; false where the time is
 * over before. */
bool turn_wait(turn_line *line, const turn *mine, deadline end);

/* The call has ended. Does nothing where it had no turn. */
void turn_end(turn_line *line, turn *mine);

#endif

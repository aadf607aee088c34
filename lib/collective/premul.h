/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pre-multiplied sums that a group's rank has made.
 */
#ifndef MUSTER_LIB_PREMUL_H
#define MUSTER_LIB_PREMUL_H

#include <pthread.h>

#include "muster.h"

typedef struct premul premul;

typedef struct premul_list {
    pthread_mutex_t lock;
    void *made; /* a tree for tsearch, by the value that the caller holds */
} premul_list;

void premul_init(premul_list *list);
void premul_destroy(premul_list *list);

/* Turns a reduction as the caller gave it into its kind; *scalar changes where it has one. */
muster_status premul_resolve(muster_group *group, muster_reduction *redop, double *scalar);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For tests of placing: ranks on the machines of t/topologies, bound in several ways; and texts
 * into standings.
 */
#ifndef MUSTER_T_PLACING_H
#define MUSTER_T_PLACING_H

#include "placement/placement.h"

enum { PLACING_MOST = 16, PLACING_TOPOLOGIES = 10 };

/* File names without their ends. */
extern const char *const placing_topologies[PLACING_TOPOLOGIES];

typedef enum placing_binding {
    PLACING_UNBOUND,
    PLACING_SPREAD,   /* rank i has the i-th part of the cores */
    PLACING_REVERSED, /* the same from the end */
    PLACING_ONE,      /* all have package 0 */
    PLACING_MIXED,    /* rank 0 has all; of the others half have package 0, the rest the last one */
    PLACING_BINDINGS
} placing_binding;

extern const char *const placing_binding_names[PLACING_BINDINGS];

/* The machine of a topology; skips the file where muster was built without hwloc. */
machine *placing_load(const char *folder, const char *topology);

/* Stands rank i of n on the machine; GPU g is seen where visible has bit g set, and ordinals count
 * those seen. */
void placing_stand(standing *s, machine *m, int i, int n, placing_binding binding,
                   unsigned visible);

/* From its text; ends the test where that is wrong. */
void placing_read(standing *s, int rank, const char *text);

/* Its text and back, as another rank has it. */
void placing_publish(standing *copy, const standing *s);

/* The text of a set, of one of several buffers in turn. */
const char *placing_cpus(const cpu_set *set);

#endif

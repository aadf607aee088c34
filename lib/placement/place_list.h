/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists for the policy "explicit", an entry for each local rank, semicolons between them:
 *
 *     0@0-7; 1@8-15              device 0 and CPUs 0-7 for local rank 0, ...
 *     GPU-5f2a; 0000:3b:00.0     a UUID or its beginning, a bus id; CPUs as the policy auto would
 *     @0-3; @4-7                 CPUs alone
 *     none@0-3; 0                no device
 *
 * A number is an ordinal as the rank's own process counts.
 */
#ifndef MUSTER_LIB_PLACE_LIST_H
#define MUSTER_LIB_PLACE_LIST_H

#include "placement/standing.h"

/* One entry. An entry without a device or "none" leaves the rank without one. */
typedef struct place_entry {
    char text[128];  /* as it was written, cut if need be, for sentences */
    char device[96]; /* "" none */
    bool has_cpus;
    cpu_set cpus;
} place_entry;

typedef struct place_list {
    int count;
    place_entry *entries;
} place_list;

/* MUSTER_ERR_ARGUMENT for text that is no such list, saying at which entry and why. */
muster_status place_list_read(place_list *list, const char *text);
void place_list_clear(place_list *list);

/* The place among the standing's devices of the one that an entry names; -1 none named. An error
 * where the rank has no such device, or several, or may not use a CPU of the entry. */
muster_status place_entry_find(const place_entry *entry, const standing *s, int *device);

#endif

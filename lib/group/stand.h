/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where this process stands on its machine, as it tells the other ranks before ranks are placed.
 */
#ifndef MUSTER_LIB_STAND_H
#define MUSTER_LIB_STAND_H

#include "group/devices.h"
#include "group/roster.h"
#include "options/options.h"
#include "placement/placement.h"

/* What goes into a record; begins as zeros. The record's strings are in here. */
typedef struct stand {
    char *standing;
    const char *policy; /* as checked options have it, or a constant */
    const char *list;
    bool elsewhere;
    rank_way *ways;
    size_t num_ways;
    char **texts; /* of ways */
} stand;

/* What checked options say of placing, without asking anybody: MUSTER_ERR_ARGUMENT for a policy or
 * a binding that is none, a list that is none or missing, or one beside another policy. */
muster_status stand_check(const muster_options *options);

/* backends are those of this process's record, with devices settled as far as it knows itself. */
muster_status stand_look(const muster_options *options, const rank_backend *backends,
                         size_t num_backends, const devices_found *found, stand *where);
void stand_clear(stand *where);

/* This process's machine, looked at once in its life (and again where the variable that names a
 * file has changed, or devices are wanted now), bound as the calling thread is now. The caller
 * frees it with machine_free() where *own is true, and gives it back with stand_machine_end() in
 * any case. */
muster_status stand_machine(bool devices, machine **m, bool *own);
void stand_machine_end(machine *m, bool own);

/* Inside the room: adds to where the ways by which devices and NUMA nodes of m are nearer to the
 * network than by the interface that has base, which the route to the others chose. */
muster_status stand_ways(const machine *m, const char *base, const standing *s, stand *where);

#endif

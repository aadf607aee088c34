/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which backends a group runs on: every rank reads the same list and decides by the same rule, so
 * all decide alike.
 */
#ifndef MUSTER_LIB_CHOICE_H
#define MUSTER_LIB_CHOICE_H

#include "backend/backend.h"
#include "group/roster.h"

/* What carries host memory, and what device memory. One of them may be NULL: its memory is then
 * staged through the other. */
typedef struct choice {
    const backend_entry *host;
    const backend_entry *device;
    bool shares; /* the ranks of each host share its memory: alone, where they are on one host */
    char *why;   /* freed by the caller, as name is */
    char *name;  /* "gloo", "nccl", "cpu:gloo,cuda:nccl" */
} choice;

/*
 * The backends for these ranks. asked is "auto", a backend's name, "cpu:NAME", "cuda:NAME" or both,
 * "cpu:gloo,cuda:nccl". What was asked for and can't be had is an error that says which ranks lack
 * it and why.
 */
muster_status choice_make(const roster *ranks, const char *asked, choice *made);

/* Has backends with devices probed that a world of that size and request may run on. */
muster_status choice_look(const char *asked, int world_size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What an init_method, the arguments and the environment come to: who this rank is, and where it
 * meets the others. Decided, with every mistake refused, before any socket or file is opened.
 */
#ifndef MUSTER_LIB_RENDEZVOUS_PLAN_H
#define MUSTER_LIB_RENDEZVOUS_PLAN_H

#include "launch/launcher.h"
#include "launch/meeting.h"
#include "net/url.h"

typedef struct rendezvous_plan {
    int rank;
    int world_size;   /* -1: the launcher tells it when the ranks meet */
    bool alone;       /* one rank that meets nobody: a hash store */
    bool assumed;     /* alone, for nothing says who this is */
    url where;        /* otherwise URL_TCP or URL_FILE, from the environment too */
    bool by_rank_0;   /* tcp: rank 0 runs the server, and no launcher */
    bool hosts;       /* tcp: this rank does */
    char prefix[640]; /* of the keys, so that tries and jobs don't meet; empty for none */
    launcher launcher;
    meeting meeting; /* env://: how rank 0's address is found; where.host is "" until it is */
} rendezvous_plan;

/* The rules are those of rendezvous.h. */
muster_status rendezvous_plan_make(const char *init_method, int rank, int world_size,
                                   rendezvous_plan *plan);

#endif

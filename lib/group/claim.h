/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Claiming a rank of a named group in a store.
 *
 * A name may be used again and again, by processes that come and go. Each use is a generation with
 * keys of its own, so that what an earlier use left behind never meets a later one:
 *
 *   <name>/state   missing or "g": generation g (0) is being formed
 *                  "g open": it has formed, and not all of its ranks have left
 *   <name>/g/0/r   who claimed rank r in generation g: its record
 *
 * A rank claims its place with one compare-and-set, so two that claim the same find each other at
 * once. A place whose holder ran on this host and is gone is void: the state moves on to the next
 * generation. A generation that ends in order leaves its number and no keys; one that fails is left
 * to the next.
 */
#ifndef MUSTER_LIB_CLAIM_H
#define MUSTER_LIB_CLAIM_H

#include "group/exchange.h"

/* A place in a generation of a group's name. */
typedef struct claim {
    muster_store *store;
    char *name; /* with the prefix that all names share */
    int rank;
    int num_ranks;
    long long generation;
} claim;

/*
 * Claims rank of the group called name with record, waiting while an earlier generation is still
 * open on other ranks. MUSTER_ERR_EXISTS where another living process holds the place: then
 * *meeting has been shut for all ranks with the same sentence. On success *meeting is the
 * generation's exchange, whose first round has this record published already.
 */
muster_status claim_take(claim *place, muster_store *store, const char *name, const char *record,
                         int rank, int num_ranks, int64_t timeout_ms, deadline end,
                         exchange *meeting);

/* The key under which everything of this generation lies: "<name>/<generation>"; freed by the
 * caller. */
char *claim_prefix(const claim *place);

/* The generation has formed: from now on the name is taken. Any rank may be the one to say it. */
muster_status claim_formed(claim *place);

/* This rank leaves a group that works; the last one to leave removes the generation's keys. */
void claim_leave(claim *place);

/* The generation has failed or never formed: the name is free for the next one. */
void claim_give_up(claim *place);

/* Waits a moment before claim_give_up, so that ranks that come late still find the generation and
 * learn why it failed; until another rank gives it up, or end. */
void claim_linger(claim *place, deadline end);

void claim_clear(claim *place);

#endif

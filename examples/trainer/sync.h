/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The weight-sync group, which stands beside the worlds of the trainer and of the engines: its rank
 * 0 is rank 0 of the trainer, behind it are all ranks of engine 0, all of engine 1, and so on. Both
 * sides make the same calls.
 */
#ifndef SYNC_H
#define SYNC_H

#include "model.h"

enum { TRAINER = 0, RANKS_EACH = 2 /* of an engine */ };

/* What the trainer sends before anything else. */
typedef struct order {
    int64_t version; /* of the weights that follow; 0: it was the last one */
    uint64_t checksum;
} order;

/* Meets at a URL. rank is that in the new group. */
muster_status sync_meet(const char *url, int rank, int engines, muster_group **group);

/* How many engines there are, and as which of these this rank counts. */
int sync_engines(const muster_group *group);
int sync_place(const muster_group *group);

/* Sends the trainer's model to all, and has the checksums of all compared. *order is what the
 * trainer says; after one with version 0 nothing follows. */
muster_status sync_weights(muster_group *group, model *model, order *order);

/* After MUSTER_ERR_PEER_LOST: *group becomes that of the ranks that are left. An engine of which a
 * rank is lost is lost as a whole; the trainer names it. Without the trainer there is no going on:
 * MUSTER_ERR_PEER_LOST. */
muster_status sync_recover(muster_group **group);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first cause of a group's failure, agreed on through the store.
 *
 * The first rank to know it writes it under <prefix>/failure with a compare-and-set; every other
 * one finds it there and quotes it. The store may be part of what has failed, so all talk with it
 * is on a thread aside, which is waited for a short while and then left to itself.
 */
#ifndef MUSTER_LIB_CAUSE_H
#define MUSTER_LIB_CAUSE_H

#include "group/group.h"

/* The longest that any of these functions takes; the second where the process of a rank lives whose
 * connections were closed, which then has failed and is about to say so. */
enum { CAUSE_PATIENCE_MS = 900, CAUSE_LOSS_PATIENCE_MS = 1500 };

/* Where a text has this, the ranks that did not take part are put. */
#define CAUSE_RANKS "%ranks"

/*
 * Each takes a cause as this rank sees it, in ERROR_SIZE bytes, and replaces it by what is then
 * known as the first cause; where the store does not answer it stays. The form is "<status> <rank>
 * <sentence>", rank being the one that says so.
 */

/* It is certain. */
void cause_publish(muster_group *group, char *cause);

/* A rank was lost. That may be the consequence of a time-out elsewhere, so it waits a moment for
 * such a rank to say so. */
void cause_publish_loss(muster_group *group, char *cause);

/* The collective of that number has timed out while this rank waited for peer: finds out which
 * ranks did not take part, or that they made another call. */
void cause_publish_timeout(muster_group *group, uint64_t sequence, int peer, char *cause);

/* Another rank says that it has failed: waits for its cause, and gives this one where none comes.
 */
void cause_learn(muster_group *group, char *cause);

/* Whether a rank has given one. */
bool cause_is_known(muster_group *group);

/* Splits a cause; false where the text is none. */
bool cause_parse(const char *text, muster_status *status, int *rank, const char **sentence);

#endif

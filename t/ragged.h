/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the gathers are held against: ragged lists of several ranks, put together on each rank by
 * itself. The same lists, one byte a value, are the objects.
 */
#ifndef MUSTER_T_RAGGED_H
#define MUSTER_T_RAGGED_H

#include "muster.h"

struct ragged;

struct ragged *ragged_new(void);
void ragged_free(struct ragged *all);

/* The lists that are added next are those of the next rank. */
void ragged_next_rank(struct ragged *all);

/* One more list; returns its values, zeros, to be filled in before the next call. */
int64_t *ragged_add(struct ragged *all, size_t length);

/* After the last list: what a rank brings to the gathers. */
muster_token_lists ragged_lists(const struct ragged *all, int rank);
muster_object_list ragged_objects(struct ragged *all, int rank);

/* What was gathered is exactly all of it; if not, a diagnostic says what differs first. */
bool ragged_same_tokens(const struct ragged *all, const muster_tokens *got);
bool ragged_same_objects(struct ragged *all, const muster_objects *got);

/* Of all ranks. */
size_t ragged_num_tokens(const struct ragged *all);
size_t ragged_num_lists(const struct ragged *all);

#endif

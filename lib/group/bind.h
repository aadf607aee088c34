/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Binding the thread that makes a world, and the threads that muster starts for a group.
 */
#ifndef MUSTER_LIB_BIND_H
#define MUSTER_LIB_BIND_H

#include "base/thread.h"
#include "group/roster.h"
#include "options/options.h"
#include "placement/binding.h"

/* What the option bind says. */
muster_status bind_wanted(const muster_options *options, binding_to *to);

/* Binds the calling thread, which is to be the rank's, as the option says. */
muster_status bind_rank(const rank_record *rank, const muster_options *options);

/* Where threads of muster's own are to run for that rank; nowhere special where nothing is bound.
 */
void bind_home(const rank_record *rank, const muster_options *options, thread_home *home);

/* How the rank is bound, in words for muster_group_describe. */
const char *bind_words(const rank_record *rank, const muster_options *options);

#endif

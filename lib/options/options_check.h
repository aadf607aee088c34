/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the rounds of options_check() share.
 */
#ifndef MUSTER_LIB_OPTIONS_CHECK_H
#define MUSTER_LIB_OPTIONS_CHECK_H

#include "options/options.h"

typedef struct options_check_state {
    muster_options *settings;
    const options_table *tables;
    size_t num_tables;
} options_check_state;

/* The table of the backend that name begins with, or that of muster where it is one of its own
 * options; NULL if there is none. */
const options_table *options_check_table(const options_check_state *state, const char *name);

/* Says that an optional setting is left out. */
void options_check_warn_dropped(const options_setting *setting, const char *why);

/* Afterwards each setting bears the name of an option of a table, and no two bear the same. */
muster_status options_settle_names(const options_check_state *state);

#endif

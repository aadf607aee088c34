/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options that are muster's own and no backend's: where ranks are placed. Their names have no
 * backend in front.
 */
#ifndef MUSTER_LIB_CORE_OPTIONS_H
#define MUSTER_LIB_CORE_OPTIONS_H

#include "options/options.h"

/* Ended by one without a name. */
extern const muster_option core_options[];

/* They stand among the tables of backends as that of the backend "". */
options_table core_options_table(void);

/* "muster" for that table, else its backend. */
const char *core_options_owner(const options_table *table);

#endif

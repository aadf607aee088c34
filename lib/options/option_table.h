/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options that one backend declares.
 */
#ifndef MUSTER_LIB_OPTION_TABLE_H
#define MUSTER_LIB_OPTION_TABLE_H

#include "base/error.h"
#include "muster/backend.h"

/* The row with this name or older name; NULL if none has it. options may be NULL. */
const muster_option *option_table_find(const muster_option *options, const char *name);

/* MUSTER_ERR_INTERNAL where a row is not as muster/backend.h says: its name does not begin with the
 * backend's, it has no such type, its default is ill-typed, its versions are none. */
muster_status option_table_check(const char *backend, const muster_option *options);

typedef enum option_era {
    OPTION_USABLE,
    OPTION_TOO_NEW, /* since is newer than the version found */
    OPTION_REMOVED  /* until is older than the version found */
} option_era;

/* Whether the version found knows the option; one that is unknown or no version knows all. */
option_era option_table_era(const muster_option *option, const char *found);

#endif

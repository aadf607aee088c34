/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The types that an option can have: one row each.
 */
#ifndef MUSTER_LIB_OPTION_TYPE_H
#define MUSTER_LIB_OPTION_TYPE_H

#include "muster/backend.h"

typedef struct option_type {
    muster_option_type type;
    const char *name;  /* "integer" */
    const char *wants; /* "a whole number ..." */

    /* The value in the form that backends get: value itself, or a string that lives for ever; NULL
     * for a value that is not of the type. */
    const char *(*normal)(const char *value);
} option_type;

/* NULL for a number that is no type. */
const option_type *option_type_find(muster_option_type type);

#endif

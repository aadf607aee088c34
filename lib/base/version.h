/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Versions as numbers, so that 2.10 is newer than 2.6.
 */
#ifndef MUSTER_LIB_VERSION_H
#define MUSTER_LIB_VERSION_H

#include "base/error.h"

enum { VERSION_MAX_NUMBERS = 16 };

/* What comes behind the numbers, from oldest to newest. */
typedef enum version_stage {
    VERSION_DEV, /* "2.6.0.dev3": before any pre-release of 2.6.0 */
    VERSION_ALPHA,
    VERSION_BETA,
    VERSION_CANDIDATE,
    VERSION_RELEASE
} version_stage;

/* A version taken apart. Every field counts in the order, first to last. */
typedef struct version {
    int numbers[VERSION_MAX_NUMBERS]; /* those that are not given are 0 */
    version_stage stage;
    int stage_number; /* 1 of "rc1" */
    int post;         /* 1 of ".post1", -1 without */
    int dev;          /* 3 of ".dev3", INT_MAX without: a dev comes before what it leads to */
} version;

/* MUSTER_ERR_ARGUMENT for what is not a version; *parsed is then not touched. */
muster_status version_parse(const char *text, version *parsed);

/* The same without a sentence, for text that may well be none. */
bool version_read(const char *text, version *parsed);

/* Negative, 0 or positive, as a is older than, the same as or newer than b. */
int version_order(const version *a, const version *b);

#endif

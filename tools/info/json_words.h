/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What muster-info says as JSON.
 */
#ifndef MUSTER_INFO_JSON_WORDS_H
#define MUSTER_INFO_JSON_WORDS_H

#include <jansson.h>

#include "info.h"

/* Names of files and what the environment holds need not be UTF-8, JSON has to be: what is not
 * becomes question marks. NULL is null. */
json_t *json_words(const char *text);

/* NULL where memory ran out. */
json_t *info_json_ranks(const muster_placement *ranks, int count);
json_t *info_json_plan(const muster_plan *plan);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prompts from a file of JSON lines: each line an object with a text "prompt" and a list of
 * integers "token_ids". Blank lines and Windows line ends do not count.
 */
#ifndef MUSTER_TOOLS_PROMPTS_H
#define MUSTER_TOOLS_PROMPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster.h"

typedef struct prompts {
    char *bytes; /* of the whole file */
    size_t size;
    size_t count;
    size_t capacity;
    muster_blob *lines;   /* count of them, without line ends, in bytes */
    size_t *line_numbers; /* from 1 */
    size_t *lengths;      /* numbers of token ids */
    size_t *offsets;      /* count + 1: where the ids of a prompt begin in tokens */
    int64_t *tokens;
    size_t num_tokens;
    size_t token_capacity;
} prompts;

/* Reads the file. False with one sentence in why, which names file and line. */
bool prompts_read(prompts *list, const char *file, char *why, size_t why_size);

void prompts_free(prompts *list);

/* The first prompt of a rank's share: shares are contiguous, and differ by one prompt at most. That
 * of rank + 1 is where the share ends. */
size_t prompts_share(size_t count, int rank, int size);

#endif

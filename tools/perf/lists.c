/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The token lists that muster-perf gathers.
 */
#include "config.h"

#include "lists.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

/* As many as a large language model's vocabulary has. */
enum { VOCABULARY = 151643 };

static bool lists_allocate(prompts *list)
{
    list->lengths = calloc(list->count + 1, sizeof(*list->lengths));
    list->offsets = calloc(list->count + 1, sizeof(*list->offsets));
    list->tokens = calloc(list->num_tokens + 1, sizeof(*list->tokens));
    return list->lengths != NULL && list->offsets != NULL && list->tokens != NULL;
}

static void lists_fill(const perf_options *options, prompts *list)
{
    size_t i = 0;
    for (size_t s = 0; s < options->num_shapes; s++) {
        for (size_t k = 0; k < options->shapes[s].lists; k++, i++) {
            list->lengths[i] = options->shapes[s].length;
            list->offsets[i + 1] = list->offsets[i] + list->lengths[i];
        }
    }
    uint32_t number = 1;
    for (size_t t = 0; t < list->num_tokens; t++) {
        number = number * 1664525 + 1013904223;
        list->tokens[t] = (number >> 8) % VOCABULARY;
    }
}

bool lists_make(const perf_options *options, prompts *list, char *why, size_t why_size)
{
    if (options->file != NULL)
        return prompts_read(list, options->file, why, why_size);
    *list = (prompts){.count = 0};
    for (size_t s = 0; s < options->num_shapes; s++) {
        list->count += options->shapes[s].lists;
        list->num_tokens += options->shapes[s].lists * options->shapes[s].length;
    }
    /* Each shape is below 2^62 ids, so a sum beyond what memory holds shows before it wraps. */
    if (list->num_tokens > SIZE_MAX / 16 || !lists_allocate(list)) {
        snprintf(why, why_size, "there is not enough memory for %zu token ids", list->num_tokens);
        return false;
    }
    lists_fill(options, list);
    return true;
}

FILE *lists_file(const prompts *list)
{
    const int64_t count = (int64_t)list->count;
    FILE *file = tmpfile();
    bool good = file != NULL && fwrite(&count, sizeof(count), 1, file) == 1;
    for (size_t i = 0; good && i <= list->count; i++) {
        int64_t offset = (int64_t)list->offsets[i];
        good = fwrite(&offset, sizeof(offset), 1, file) == 1;
    }
    good =
        good &&
        fwrite(list->tokens, sizeof(*list->tokens), list->num_tokens, file) == list->num_tokens &&
        fflush(file) == 0 && fcntl(fileno(file), F_SETFD, 0) == 0;
    if (good || file == NULL)
        return file;
    fclose(file);
    return NULL;
}

static bool lists_fit(const prompts *list, int64_t low, int64_t high)
{
    for (size_t t = 0; t < list->num_tokens; t++)
        if (list->tokens[t] < low || list->tokens[t] > high)
            return false;
    return true;
}

int lists_width(const prompts *list)
{
    if (lists_fit(list, INT8_MIN, INT8_MAX))
        return 1;
    if (lists_fit(list, INT16_MIN, INT16_MAX))
        return 2;
    if (lists_fit(list, INT32_MIN, INT32_MAX))
        return 4;
    return 8;
}

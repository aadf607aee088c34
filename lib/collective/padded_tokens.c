/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gathered lists of tokens as a padded matrix: a way to look at the result, which never crosses the
 * wire.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* One block: the struct, the matrix, the lengths. */
muster_status muster_tokens_padded(const muster_tokens *tokens, int64_t pad,
                                   muster_padded_tokens **padded)
{
    if (tokens == NULL || padded == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_tokens_padded: %s is NULL",
                         tokens == NULL ? "tokens" : "padded");
    size_t rows = tokens->num_lists, width = 0;
    for (size_t i = 0; i < rows; i++) {
        size_t length = tokens->list_offsets[i + 1] - tokens->list_offsets[i];
        width = length > width ? length : width;
    }
    muster_padded_tokens *made = NULL;
    size_t fixed = sizeof(*made) + rows * sizeof(size_t);
    if (rows == 0 || width <= (SIZE_MAX / 2 - fixed) / sizeof(int64_t) / rows)
        made = malloc(fixed + rows * width * sizeof(int64_t));
    if (made == NULL)
        return error_set(MUSTER_ERR_NO_MEMORY,
                         "muster_tokens_padded: no memory for a matrix of %zu lists by %zu tokens",
                         rows, width);
    int64_t *matrix = (int64_t *)(made + 1);
    size_t *lengths = (size_t *)(matrix + rows * width);
    for (size_t i = 0; i < rows; i++) {
        size_t begin = tokens->list_offsets[i];
        lengths[i] = tokens->list_offsets[i + 1] - begin;
        if (lengths[i] > 0)
            memcpy(matrix + i * width, tokens->tokens + begin, lengths[i] * sizeof(int64_t));
        for (size_t j = lengths[i]; j < width; j++)
            matrix[i * width + j] = pad;
    }
    *made = (muster_padded_tokens){rows, width, lengths, matrix};
    *padded = made;
    return MUSTER_OK;
}

void muster_padded_tokens_free(muster_padded_tokens *padded)
{
    free(padded);
}

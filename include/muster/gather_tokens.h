/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gathering lists of token ids: any number of lists on any rank, of any length, with any values.
 */
#ifndef MUSTER_GATHER_TOKENS_H
#define MUSTER_GATHER_TOKENS_H

#include <muster/group.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lists of token ids as a rank gives them: list i is the lengths[i] ids that follow those of list
 * i-1 in tokens. Any number of lists (0 too) of any length (0 too) with any values. */
typedef struct muster_token_lists {
    size_t num_lists;
    const size_t *lengths; /* num_lists of them; may be NULL where that is 0 */
    const int64_t *tokens; /* the sum of lengths; may be NULL where that is 0 */
} muster_token_lists;

/* Lists of token ids of all ranks: exactly their concatenation in rank order. Read only. */
typedef struct muster_tokens {
    size_t num_ranks;
    size_t num_lists;
    size_t num_tokens;
    /* num_ranks + 1: the lists of rank r are those from rank_offsets[r] to before
     * rank_offsets[r+1]. */
    const size_t *rank_offsets;
    /* num_lists + 1: the tokens of list i are those from list_offsets[i] to before
     * list_offsets[i+1]. */
    const size_t *list_offsets;
    const int64_t *tokens; /* num_tokens; never NULL */
} muster_tokens;

/*
 * Gathers the lists of all ranks on all ranks; collective, and blocks until done. Only the ids and
 * lengths themselves cross the wire, in the narrowest integers that hold them, and three envelopes
 * of 256 bytes between each two ranks. A rank that can't contribute (wrong arguments, no memory)
 * makes all ranks return the same error naming it; the group goes on working.
 */
MUSTER_API muster_status muster_all_gather_tokens(muster_group *group,
                                                  const muster_token_lists *mine,
                                                  muster_tokens **all);

/* The same to one rank: *all is NULL on the others. Ranks that name different roots all get
 * MUSTER_ERR_MISMATCH, and the group goes on working. */
MUSTER_API muster_status muster_gather_tokens(muster_group *group, const muster_token_lists *mine,
                                              int root, muster_tokens **all);
MUSTER_API void muster_tokens_free(muster_tokens *tokens);

/* A matrix of num_lists rows and width columns, the longest list; the rest of each row is pad. Read
 * only. */
typedef struct muster_padded_tokens {
    size_t num_lists;
    size_t width;
    const size_t *lengths; /* num_lists */
    const int64_t *matrix; /* num_lists * width, row after row */
} muster_padded_tokens;

/* Makes a padded matrix of gathered lists, for this rank alone. It needs tokens no more once it is
 * made. */
MUSTER_API muster_status muster_tokens_padded(const muster_tokens *tokens, int64_t pad,
                                              muster_padded_tokens **padded);
MUSTER_API void muster_padded_tokens_free(muster_padded_tokens *padded);

#ifdef __cplusplus
}
#endif
#endif

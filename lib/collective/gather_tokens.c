/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gathering lists of token ids. On the wire: the lengths of a rank's lists, then their ids, each in
 * the narrowest integers that hold those of all ranks. No padding, no message per list.
 */
#include "config.h"

#include <stdlib.h>

#include "base/error.h"
#include "collective/collective.h"
#include "collective/gather.h"
#include "collective/narrow.h"

/* The struct that the caller sees, and what it points to. */
typedef struct token_result {
    muster_tokens seen;
    size_t *rank_offsets;
    size_t *list_offsets;
    int64_t *tokens;
} token_result;

/* In local variables, since the compiler can't know that share is none of the tokens. */
static void measure_range(const int64_t *tokens, size_t count, gather_share *share)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        low = tokens[i] < low ? tokens[i] : low;
        high = tokens[i] > high ? tokens[i] : high;
    }
    share->low = low;
    share->high = high;
}

static muster_status measure(const void *argument, gather_share *share)
{
    const muster_token_lists *mine = argument;
    *share = (gather_share){.low = INT64_MAX, .high = INT64_MIN};
    if (mine == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "its lists are NULL");
    if (mine->num_lists > 0 && mine->lengths == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "it has %zu lists, but lengths is NULL",
                         mine->num_lists);
    for (size_t i = 0; i < mine->num_lists; i++) {
        if (mine->lengths[i] > SIZE_MAX / 16 - share->elements)
            return error_set(MUSTER_ERR_ARGUMENT,
                             "list %zu of length %zu is more than memory can hold", i,
                             mine->lengths[i]);
        share->elements += mine->lengths[i];
        if (mine->lengths[i] > share->longest)
            share->longest = mine->lengths[i];
    }
    if (share->elements > 0 && mine->tokens == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "it has %llu tokens, but tokens is NULL",
                         (unsigned long long)share->elements);
    muster_status status =
        collective_check_elements(mine->tokens, "tokens", (size_t)share->elements, MUSTER_INT64);
    if (status != MUSTER_OK)
        return status;
    share->items = mine->num_lists;
    measure_range(mine->tokens, (size_t)share->elements, share);
    return MUSTER_OK;
}

static void free_result(void *freed)
{
    token_result *result = freed;
    if (result == NULL)
        return;
    free(result->rank_offsets);
    free(result->list_offsets);
    free(result->tokens);
    free(result);
}

static muster_status new_result(const gather *g, token_result **result)
{
    size_t n = (size_t)g->group->size;
    token_result *made = calloc(1, sizeof(*made));
    if (made != NULL) {
        made->rank_offsets = calloc(n + 1, sizeof(size_t));
        made->list_offsets = malloc((g->items + 1) * sizeof(size_t));
        made->tokens = malloc((g->elements + 1) * sizeof(int64_t));
    }
    if (made == NULL || made->rank_offsets == NULL || made->list_offsets == NULL ||
        made->tokens == NULL) {
        free_result(made);
        return error_no_memory((g->items + 1) * sizeof(size_t) + g->elements * sizeof(int64_t),
                               "the tokens of all ranks");
    }
    made->seen = (muster_tokens){.num_ranks = n,
                                 .num_lists = g->items,
                                 .num_tokens = g->elements,
                                 .rank_offsets = made->rank_offsets,
                                 .list_offsets = made->list_offsets,
                                 .tokens = made->tokens};
    *result = made;
    return MUSTER_OK;
}

static muster_status odd_lengths(int rank, const gather_share *share)
{
    return error_set(MUSTER_ERR_PROTOCOL,
                     "the lengths that rank %d sent do not add up to its %llu tokens", rank,
                     (unsigned long long)share->elements);
}

/* Lengths become offsets; they come from the wire, so they must add up to what the rank had
 * announced. */
static muster_status read_lists(const gather *g, int rank, int width, token_result *result)
{
    const gather_share *share = &g->shares[rank];
    size_t *offsets = result->list_offsets + result->rank_offsets[rank];
    uint64_t left = share->elements;
    for (size_t i = 0; i < share->items; i++) {
        uint64_t length;
        narrow_read_unsigned(gather_items(g, rank) + i * (size_t)width, width, &length, 1);
        if (length > left)
            return odd_lengths(rank, share);
        left -= length;
        offsets[i + 1] = offsets[i] + (size_t)length;
    }
    return left == 0 ? MUSTER_OK : odd_lengths(rank, share);
}

static muster_status read_all(const gather *g, int list_width, int token_width,
                              token_result *result)
{
    size_t token = 0;
    result->list_offsets[0] = 0;
    for (int r = 0; r < g->group->size; r++) {
        muster_status status = read_lists(g, r, list_width, result);
        if (status != MUSTER_OK)
            return status;
        size_t count = (size_t)g->shares[r].elements;
        narrow_read_signed(gather_elements(g, r, (size_t)list_width), token_width,
                           result->tokens + token, count);
        token += count;
        result->rank_offsets[r + 1] = result->rank_offsets[r] + (size_t)g->shares[r].items;
    }
    return MUSTER_OK;
}

static muster_status collect(gather *g, const void *argument, void **result)
{
    const muster_token_lists *mine = argument;
    int list_width = narrow_width_unsigned(g->longest);
    int token_width = g->elements > 0 ? narrow_width_signed(g->low, g->high) : 1;
    token_result *made = NULL;
    muster_status status = g->receives ? new_result(g, &made) : MUSTER_OK;
    *result = made;
    status = gather_prepare(g, (size_t)list_width, (size_t)token_width, status);
    if (status != MUSTER_OK)
        return status;
    int me = g->group->rank;
    narrow_write_unsigned(gather_items(g, me), list_width, mine->lengths, mine->num_lists);
    narrow_write_signed(gather_elements(g, me, (size_t)list_width), token_width, mine->tokens,
                        (size_t)g->shares[me].elements);
    status = gather_carry(g);
    if (status == MUSTER_OK && g->receives)
        status = read_all(g, list_width, token_width, made);
    return status;
}

static const gather_kind token_lists = {MESSAGE_GATHER_TOKENS, measure, collect, free_result};

muster_status muster_all_gather_tokens(muster_group *group, const muster_token_lists *mine,
                                       muster_tokens **all)
{
    void *result = NULL;
    muster_status status = gather_call(group, &token_lists, "muster_all_gather_tokens", mine,
                                       GATHER_TO_ALL, all != NULL, &result);
    if (status == MUSTER_OK)
        *all = result;
    return status;
}

muster_status muster_gather_tokens(muster_group *group, const muster_token_lists *mine, int root,
                                   muster_tokens **all)
{
    void *result = NULL;
    muster_status status =
        gather_call(group, &token_lists, "muster_gather_tokens", mine, root, all != NULL, &result);
    if (status == MUSTER_OK)
        *all = result;
    return status;
}

void muster_tokens_free(muster_tokens *tokens)
{
    free_result(tokens);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the gathers are held against.
 */
#include "ragged.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

struct ragged {
    size_t num_ranks, num_lists, num_tokens;
    size_t room_ranks, room_lists, room_tokens;
    size_t *first_list;  /* of each rank, and the end */
    size_t *first_token; /* of each list, and the end */
    size_t *lengths;
    int64_t *tokens;
    unsigned char *bytes; /* the tokens as bytes, once asked for */
    muster_blob *objects;
};

static void grow(void *array, size_t needed, size_t *room, size_t size)
{
    if (needed <= *room)
        return;
    *room = 2 * needed + 64;
    void *larger = realloc(*(void **)array, *room * size);
    if (larger == NULL)
        bail_out("no memory for the model");
    *(void **)array = larger;
}

struct ragged *ragged_new(void)
{
    struct ragged *all = calloc(1, sizeof(*all));
    if (all == NULL)
        bail_out("no memory for the model");
    grow(&all->first_list, 1, &all->room_ranks, sizeof(size_t));
    all->first_list[0] = 0;
    return all;
}

void ragged_free(struct ragged *all)
{
    free(all->first_list);
    free(all->first_token);
    free(all->lengths);
    free(all->tokens);
    free(all->bytes);
    free(all->objects);
    free(all);
}

void ragged_next_rank(struct ragged *all)
{
    grow(&all->first_list, all->num_ranks + 2, &all->room_ranks, sizeof(size_t));
    all->num_ranks++;
    all->first_list[all->num_ranks] = all->num_lists;
}

int64_t *ragged_add(struct ragged *all, size_t length)
{
    size_t room = all->room_lists;
    grow(&all->first_token, all->num_lists + 2, &room, sizeof(size_t));
    grow(&all->lengths, all->num_lists + 2, &all->room_lists, sizeof(size_t));
    grow(&all->tokens, all->num_tokens + length + 1, &all->room_tokens, sizeof(int64_t));
    int64_t *values = all->tokens + all->num_tokens;
    memset(values, 0, length * sizeof(*values));
    all->first_token[all->num_lists] = all->num_tokens;
    all->lengths[all->num_lists++] = length;
    all->num_tokens += length;
    all->first_token[all->num_lists] = all->num_tokens;
    all->first_list[all->num_ranks] = all->num_lists;
    return values;
}

/* Where there is nothing to point to the gathers get NULL. */
muster_token_lists ragged_lists(const struct ragged *all, int rank)
{
    size_t begin = all->first_list[rank], lists = all->first_list[rank + 1] - begin;
    muster_token_lists mine = {.num_lists = lists};
    if (lists == 0)
        return mine;
    mine.lengths = all->lengths + begin;
    if (all->first_token[begin] < all->first_token[begin + lists])
        mine.tokens = all->tokens + all->first_token[begin];
    return mine;
}

static void make_objects(struct ragged *all)
{
    if (all->objects != NULL)
        return;
    all->bytes = malloc(all->num_tokens + 1);
    all->objects = calloc(all->num_lists + 1, sizeof(*all->objects));
    if (all->bytes == NULL || all->objects == NULL)
        bail_out("no memory for the model");
    for (size_t i = 0; i < all->num_tokens; i++)
        all->bytes[i] = (unsigned char)all->tokens[i];
    for (size_t i = 0; i < all->num_lists; i++)
        if (all->lengths[i] > 0)
            all->objects[i] = (muster_blob){all->bytes + all->first_token[i], all->lengths[i]};
}

muster_object_list ragged_objects(struct ragged *all, int rank)
{
    make_objects(all);
    size_t begin = all->first_list[rank], count = all->first_list[rank + 1] - begin;
    return (muster_object_list){count, count > 0 ? all->objects + begin : NULL};
}

static bool same(const char *what, uint64_t got, uint64_t expected)
{
    if (got != expected)
        diag("%s: got %" PRIu64 ", expected %" PRIu64, what, got, expected);
    return got == expected;
}

static bool same_offsets(const char *what, const size_t *got, const size_t *expected, size_t last)
{
    for (size_t i = 0; i <= last; i++)
        if (!same(what, got[i], expected[i]))
            return false;
    return true;
}

bool ragged_same_tokens(const struct ragged *all, const muster_tokens *got)
{
    if (got == NULL || got->rank_offsets == NULL || got->list_offsets == NULL ||
        got->tokens == NULL) {
        diag("there is no result");
        return false;
    }
    static const size_t zero = 0;
    if (!same("ranks", got->num_ranks, all->num_ranks) ||
        !same("lists", got->num_lists, all->num_lists) ||
        !same("tokens", got->num_tokens, all->num_tokens) ||
        !same_offsets("first list of a rank", got->rank_offsets, all->first_list, all->num_ranks) ||
        !same_offsets("first token of a list", got->list_offsets,
                      all->num_lists > 0 ? all->first_token : &zero, all->num_lists))
        return false;
    for (size_t i = 0; i < all->num_tokens; i++)
        if (!same("token", (uint64_t)got->tokens[i], (uint64_t)all->tokens[i]))
            return false;
    return true;
}

bool ragged_same_objects(struct ragged *all, const muster_objects *got)
{
    make_objects(all);
    if (got == NULL || got->rank_offsets == NULL || got->objects == NULL) {
        diag("there is no result");
        return false;
    }
    if (!same("ranks", got->num_ranks, all->num_ranks) ||
        !same("objects", got->num_objects, all->num_lists) ||
        !same("bytes", got->num_bytes, all->num_tokens) ||
        !same_offsets("first object of a rank", got->rank_offsets, all->first_list, all->num_ranks))
        return false;
    for (size_t i = 0; i < all->num_lists; i++) {
        if (!same("size", got->objects[i].size, all->lengths[i]))
            return false;
        if (all->lengths[i] > 0 &&
            memcmp(got->objects[i].data, all->objects[i].data, all->lengths[i]) != 0) {
            diag("the bytes of object %zu differ", i);
            return false;
        }
    }
    return true;
}

size_t ragged_num_tokens(const struct ragged *all)
{
    return all->num_tokens;
}

size_t ragged_num_lists(const struct ragged *all)
{
    return all->num_lists;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster_group_split: the ranks of one color form a group.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "group/making.h"

/* What every rank says to a split. */
typedef struct split_vote {
    int64_t color;
    int64_t key;
} split_vote;

typedef struct split_member {
    int64_t key;
    int rank;
} split_member;

static int by_key(const void *a, const void *b)
{
    const split_member *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Whether every rank is in a group of two or more, each in the parent's order. */
static bool votes_split(const muster_group *parent, const split_vote *votes)
{
    for (int r = 0; r < parent->size; r++) {
        bool alone = true;
        if (votes[r].color == MUSTER_NO_COLOR)
            return false;
        for (int other = 0; other < parent->size; other++) {
            if (other == r || votes[other].color != votes[r].color)
                continue;
            alone = false;
            if (other > r && votes[other].key < votes[r].key)
                return false;
        }
        if (alone)
            return false;
    }
    return true;
}

static muster_status members_of_color(const muster_group *parent, const split_vote *votes,
                                      membership *in)
{
    for (int r = 0; r < parent->size; r++)
        if (votes[r].color < MUSTER_NO_COLOR)
            return error_set(
                MUSTER_ERR_ARGUMENT,
                "rank %d gave the color %lld; colors are 0 or more, or MUSTER_NO_COLOR", r,
                (long long)votes[r].color);
    int64_t mine = votes[parent->rank].color;
    if (mine == MUSTER_NO_COLOR)
        return MUSTER_OK;
    split_member *members = calloc((size_t)parent->size, sizeof(*members));
    in->ranks = calloc((size_t)parent->size, sizeof(int));
    if (members == NULL || in->ranks == NULL) {
        free(members);
        return error_no_memory((size_t)parent->size * sizeof(*members), "a list of ranks");
    }
    for (int r = 0; r < parent->size; r++)
        if (votes[r].color == mine)
            members[in->size++] = (split_member){votes[r].key, r};
    qsort(members, (size_t)in->size, sizeof(*members), by_key);
    for (int i = 0; i < in->size; i++)
        in->ranks[i] = members[i].rank;
    in->splits = votes_split(parent, votes);
    in->color = (int)mine;
    free(members);
    return MUSTER_OK;
}

muster_status muster_group_split(muster_group *parent, int color, int key,
                                 const muster_group_args *args, muster_group **group)
{
    making call;
    membership in = {.label = ""};
    muster_status status = making_start(&call, parent, "muster_group_split");
    if (status != MUSTER_OK)
        return status;
    status = making_begin_with_all(&call, args);
    if (call.meeting.store == NULL)
        return making_finish(&call, status, NULL, 0);
    if (status == MUSTER_OK && group == NULL)
        status = error_set(MUSTER_ERR_ARGUMENT, "rank %d: the place for the group is NULL",
                           parent->rank);
    split_vote mine = {color, key}, *votes = NULL;
    const muster_blob *published = NULL;
    if (status == MUSTER_OK)
        status = making_agree(&call, "a split");
    if (status == MUSTER_OK && (votes = calloc((size_t)parent->size, sizeof(*votes))) == NULL)
        status = error_no_memory((size_t)parent->size * sizeof(*votes), "colors");
    if (status == MUSTER_OK)
        status = exchange_round(&call.meeting, (muster_blob){&mine, sizeof(mine)}, false, NULL, 0,
                                "to give colors", &published);
    for (int r = 0; status == MUSTER_OK && r < parent->size; r++) {
        if (published[r].size == sizeof(*votes))
            memcpy(&votes[r], published[r].data, sizeof(*votes));
        else
            status = error_set(MUSTER_ERR_PROTOCOL, "rank %d published no color", r);
    }
    if (status == MUSTER_OK)
        status = members_of_color(parent, votes, &in);
    free(votes);
    return making_form_one(&call, status, &in, group);
}

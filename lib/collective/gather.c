/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ragged gathers: the three steps.
 */
#include "config.h"

#include "collective/gather.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collective/agree.h"
#include "collective/bulk.h"
#include "collective/bulk_ragged.h"
#include "collective/work.h"
#include "collective/work_handle.h"
#include "group/failure.h"

/* What a rank says in each of the first two steps. The whole fits an envelope. */
typedef struct word {
    uint64_t status;
    uint64_t root;
    uint64_t items;
    uint64_t elements;
    uint64_t longest;
    uint64_t low;
    uint64_t high;
    char sentence[MESSAGE_INLINE - 7 * sizeof(uint64_t)];
} word;
_Static_assert(sizeof(word) <= MESSAGE_INLINE, "a word travels inside an envelope");

static word make_word(const gather *g, muster_status status, const gather_share *share)
{
    word mine = {.status = htole64((uint64_t)status), .root = htole64((uint64_t)g->root)};
    if (status != MUSTER_OK)
        snprintf(mine.sentence, sizeof(mine.sentence), "%s", muster_last_error());
    if (status != MUSTER_OK || share == NULL)
        return mine;
    mine.items = htole64(share->items);
    mine.elements = htole64(share->elements);
    mine.longest = htole64(share->longest);
    mine.low = htole64((uint64_t)share->low);
    mine.high = htole64((uint64_t)share->high);
    return mine;
}

/* The first rank that can't, in the same words on every rank. */
static muster_status common_verdict(const gather *g, word *words)
{
    for (int r = 0; r < g->group->size; r++) {
        uint64_t status = le64toh(words[r].status);
        if (status == MUSTER_OK)
            continue;
        char who[320];
        words[r].sentence[sizeof(words[r].sentence) - 1] = '\0';
        if (status > MUSTER_ERR_INTERNAL)
            status = MUSTER_ERR_PROTOCOL;
        return error_set((muster_status)status, "%s can't take part: %s",
                         rank_record_name(&g->group->ranks.ranks[r], who, sizeof(who)),
                         words[r].sentence);
    }
    return MUSTER_OK;
}

static const char *destination(uint64_t root, char *text, size_t size)
{
    if ((int64_t)root == GATHER_TO_ALL)
        snprintf(text, size, "all ranks");
    else
        snprintf(text, size, "rank %lld", (long long)(int64_t)root);
    return text;
}

/* The first rank that gathers to another root than rank 0 does, in the same words on every rank. */
static muster_status common_root(const gather *g, const word *words)
{
    uint64_t first = le64toh(words[0].root);
    for (int r = 1; r < g->group->size; r++) {
        uint64_t root = le64toh(words[r].root);
        if (root == first)
            continue;
        char here[32], there[32], who[320];
        return error_set(MUSTER_ERR_MISMATCH,
                         "the ranks disagree: rank 0 gathers to %s, but %s to %s; every rank must "
                         "name the same root",
                         destination(first, here, sizeof(here)),
                         rank_record_name(&g->group->ranks.ranks[r], who, sizeof(who)),
                         destination(root, there, sizeof(there)));
    }
    return MUSTER_OK;
}

/* All ranks say their word; words has a place for each. */
static muster_status say(gather *g, const word *mine, word *words)
{
    words[g->group->rank] = *mine;
    muster_status status =
        bulk_all_gather_equal(g->group, &g->label, words, sizeof(*words), g->end);
    if (status == MUSTER_OK)
        status = common_verdict(g, words);
    return status == MUSTER_OK ? common_root(g, words) : status;
}

static word *new_words(const gather *g)
{
    word *words = calloc((size_t)g->group->size, sizeof(*words));
    if (words == NULL) {
        error_no_memory((size_t)g->group->size * sizeof(*words), "a gather");
        failure_raise(g->group, MUSTER_ERR_NO_MEMORY);
    }
    return words;
}

static bool add(size_t *sum, uint64_t more)
{
    if (more > SIZE_MAX / 16 || *sum > SIZE_MAX / 16 - (size_t)more)
        return false;
    *sum += (size_t)more;
    return true;
}

/* Sums up the shares; every rank comes to the same end. */
static muster_status sum_up(gather *g, const word *words)
{
    for (int r = 0; r < g->group->size; r++) {
        gather_share *share = &g->shares[r];
        *share = (gather_share){.items = le64toh(words[r].items),
                                .elements = le64toh(words[r].elements),
                                .longest = le64toh(words[r].longest),
                                .low = (int64_t)le64toh(words[r].low),
                                .high = (int64_t)le64toh(words[r].high)};
        if (!add(&g->items, share->items) || !add(&g->elements, share->elements))
            return error_set(MUSTER_ERR_NO_MEMORY,
                             "what the ranks bring together is more than memory can hold");
        if (share->longest > g->longest)
            g->longest = share->longest;
        if (share->low < g->low)
            g->low = share->low;
        if (share->high > g->high)
            g->high = share->high;
    }
    return MUSTER_OK;
}

static muster_status check_call(const muster_group *group, int64_t root, bool has_place)
{
    if (root != GATHER_TO_ALL && (root < 0 || root >= group->size))
        return error_set(MUSTER_ERR_ARGUMENT,
                         "root %lld is not in 0 to %d; roots are ranks of the group itself",
                         (long long)root, group->size - 1);
    if (!has_place)
        return error_set(MUSTER_ERR_ARGUMENT, "the place for the result is NULL");
    return MUSTER_OK;
}

/* The ranks also agree on root here, and on nothing being wrong. status is how the caller's
 * arguments were found, with the thread's last error as its words; share is what this rank brings
 * if they are right. */
static muster_status begin(gather *g, muster_group *group, message_kind kind, int64_t root,
                           muster_status status, const gather_share *share)
{
    size_t n = (size_t)group->size;
    *g = (gather){.group = group,
                  .end = compose_deadline(group),
                  .low = INT64_MAX,
                  .high = INT64_MIN,
                  .root = root,
                  .receives = root == GATHER_TO_ALL || root == group->rank};
    g->label = compose_label(group, kind);
    g->label.count = sizeof(word);
    g->shares = calloc(n, sizeof(*g->shares));
    g->bytes = calloc(2 * n, sizeof(size_t));
    if (status == MUSTER_OK && (g->shares == NULL || g->bytes == NULL))
        status = error_no_memory(n * (sizeof(*g->shares) + 2 * sizeof(size_t)), "a gather");
    word mine = make_word(g, status, share);
    status = group->checks ? agree_on_call(group, NULL, NULL, &g->label, g->end) : MUSTER_OK;
    if (status != MUSTER_OK)
        return status;
    word *words = new_words(g);
    if (words == NULL)
        return failure_check(group);
    status = say(g, &mine, words);
    if (status == MUSTER_OK)
        status = sum_up(g, words);
    free(words);
    return status;
}

/* The first rank's payload begins at 0, each other one's behind the one before. */
static void lay_out(gather *g, size_t item_width, size_t element_width, size_t *total)
{
    g->offsets = g->bytes + g->group->size;
    *total = 0;
    for (int r = 0; r < g->group->size; r++) {
        g->bytes[r] =
            (size_t)g->shares[r].items * item_width + (size_t)g->shares[r].elements * element_width;
        g->offsets[r] = *total;
        *total += g->bytes[r];
    }
}

muster_status gather_prepare(gather *g, size_t item_width, size_t element_width,
                             muster_status status)
{
    size_t total = 0;
    lay_out(g, item_width, element_width, &total);
    size_t needed = g->receives ? total : g->bytes[g->group->rank];
    if (status == MUSTER_OK) {
        g->payload = malloc(needed + 1);
        if (g->payload == NULL)
            status = error_no_memory(needed, "what is gathered");
    }
    word mine = make_word(g, status, NULL);
    word *words = new_words(g);
    if (words == NULL)
        return failure_check(g->group);
    status = say(g, &mine, words);
    free(words);
    return status;
}

muster_status gather_carry(gather *g)
{
    int me = g->group->rank;
    g->label.count = 0;
    g->label.root = g->root == GATHER_TO_ALL ? -1 : (int)g->root;
    const layout blocks = {g->bytes, g->offsets, g->bytes};
    bool all = g->root == GATHER_TO_ALL;
    if (bulk_ragged_serves(g->group, all ? MUSTER_OPERATION_ALL_GATHER : MUSTER_OPERATION_GATHER))
        return bulk_ragged_gather(g->group, &g->label, gather_items(g, me), g->payload, &blocks,
                                  g->end);
    if (all)
        return compose_all_gather(g->group, &g->label, g->payload, &blocks, g->end);
    return compose_gather(g->group, &g->label, g->payload, gather_items(g, me), &blocks, NULL,
                          g->end);
}

static void end(gather *g)
{
    free(g->shares);
    free(g->bytes);
    free(g->payload);
    *g = (gather){0};
}

unsigned char *gather_items(const gather *g, int rank)
{
    return g->receives ? g->payload + g->offsets[rank] : g->payload;
}

unsigned char *gather_elements(const gather *g, int rank, size_t item_width)
{
    return gather_items(g, rank) + (size_t)g->shares[rank].items * item_width;
}

/* A call as it travels to the group's thread. */
typedef struct call {
    const char *function;
    const gather_kind *kind;
    const void *mine;
    int64_t root;
    bool has_place;
    void **result;
} call;

/* In the order of the group's operations. */
static muster_status run(muster_group *group, void *arguments)
{
    const call *c = arguments;
    muster_status status = failure_check(group);
    if (status != MUSTER_OK)
        return group_error(group, c->function, status);
    gather g;
    gather_share share;
    void *result = NULL;
    status = c->kind->measure(c->mine, &share);
    if (status == MUSTER_OK)
        status = check_call(group, c->root, c->has_place);
    status = begin(&g, group, c->kind->kind, c->root, status, &share);
    if (status == MUSTER_OK)
        status = c->kind->collect(&g, c->mine, &result);
    end(&g);
    if (status != MUSTER_OK) {
        c->kind->free_result(result);
        return group_error(group, c->function, status);
    }
    *c->result = result;
    return MUSTER_OK;
}

muster_status gather_call(muster_group *group, const gather_kind *kind, const char *function,
                          const void *mine, int64_t root, bool has_place, void **result)
{
    muster_status status = group_ready(group, function);
    if (status != MUSTER_OK)
        return status;
    if (group->queue != NULL && (status = work_handle_may_wait()) != MUSTER_OK)
        return group_error(group, function, status);
    call c = {function, kind, mine, root, has_place, result};
    error_kept before;
    error_keep(&before);
    return error_settle(&before, work_call(group, run, &c, sizeof(c)));
}

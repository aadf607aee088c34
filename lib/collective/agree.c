/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Comparing the calls of all ranks before anything moves.
 *
 * Every rank sends every other a word that says its whole call. What must be alike everywhere each
 * rank judges for itself, and all come to the same; where two ranks must agree on the size of a
 * block between them alone (gather_v, scatter_v, all_to_all_v), those two judge it. The messages
 * have slots of their own, so a rank that makes another call is found whatever that call is.
 */
#include "config.h"

#include "collective/agree.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fnv.h"
#include "base/rank_set.h"
#include "group/failure.h"
#include "options/option_type.h"

enum { COUNTS_SIZE = 112 };

/* What the buffers go by. */
typedef enum agree_place {
    AGREE_MESSAGES = 0,
    AGREE_DEVICE = 1, /* the device's communicator */
    AGREE_EITHER = 2  /* the rank moves nothing */
} agree_place;

/* Numbers in little-endian order. */
typedef struct agree_word {
    uint64_t kind;
    uint64_t type;
    uint64_t redop;
    uint64_t root;
    uint64_t count; /* where it must be the same on all ranks */
    uint64_t hash;  /* of the counts, where they must */
    uint64_t to_you;
    uint64_t from_you;
    uint64_t refused;         /* 1: its arguments are wrong by themselves */
    uint64_t device;          /* where the buffers are, an agree_place */
    char counts[COUNTS_SIZE]; /* in words, or why it was refused */
} agree_word;
_Static_assert(sizeof(agree_word) <= MESSAGE_INLINE, "a word travels inside an envelope");

muster_status agree_wanted(bool *wanted)
{
    const char *text = getenv("MUSTER_CHECK");
    *wanted = false;
    if (text == NULL || *text == '\0')
        return MUSTER_OK;
    const char *value = option_type_find(MUSTER_OPTION_BOOLEAN)->normal(text);
    if (value == NULL)
        return error_set(
            MUSTER_ERR_ARGUMENT,
            "MUSTER_CHECK is '%s'; give 1 (or yes, true, on) to have all ranks compare "
            "each collective, or 0 (no, false, off)",
            text);
    *wanted = *value == '1';
    return MUSTER_OK;
}

static bool same_counts_everywhere(message_kind kind)
{
    return kind == MESSAGE_ALL_GATHER_V || kind == MESSAGE_REDUCE_SCATTER_V;
}

static bool counts_in_pairs(message_kind kind)
{
    return kind == MESSAGE_GATHER_V || kind == MESSAGE_SCATTER_V || kind == MESSAGE_ALL_TO_ALL_V;
}

static void say_counts(agree_word *word, const muster_group *group, const size_t *counts)
{
    uint64_t hash = FNV_START;
    size_t used = 0;
    for (int r = 0; r < group->size; r++) {
        hash = fnv_add(hash, counts[r]);
        if (used < COUNTS_SIZE)
            used += (size_t)snprintf(word->counts + used, COUNTS_SIZE - used, "%s%zu",
                                     r == 0 ? ", counts " : ",", counts[r]);
    }
    word->hash = htole64(hash);
}

/* What all ranks are told alike. */
static agree_word say_call(const muster_group *group, const collective_call *call, const route *way,
                           const message_label *label)
{
    agree_word word = {.kind = htole64((uint64_t)label->kind)};
    if (call == NULL)
        return word;
    word.device = htole64(way->idle ? AGREE_EITHER : way->native ? AGREE_DEVICE : AGREE_MESSAGES);
    word.type = htole64((uint64_t)call->type);
    word.redop = htole64((uint64_t)call->redop);
    word.root = htole64((uint64_t)(int64_t)call->root);
    if (same_counts_everywhere(call->kind))
        say_counts(&word, group, call->counts);
    else if (!counts_in_pairs(call->kind))
        word.count = htole64(call->count);
    return word;
}

/* The sizes of the blocks between this rank and peer. */
static void say_pair(agree_word *word, const muster_group *group, const collective_call *call,
                     int peer)
{
    uint64_t to = 0, from = 0;
    bool root = group->rank == call->root;
    if (call->kind == MESSAGE_ALL_TO_ALL_V) {
        to = call->counts[peer];
        from = call->from_counts[peer];
    } else if (call->kind == MESSAGE_GATHER_V) {
        to = peer == call->root ? call->count : 0;
        from = root ? call->counts[peer] : 0;
    } else if (call->kind == MESSAGE_SCATTER_V) {
        to = root ? call->counts[peer] : 0;
        from = peer == call->root ? call->count : 0;
    }
    word->to_you = htole64(to);
    word->from_you = htole64(from);
}

/* mine[r] goes to rank r, theirs[r] is from it; both have this rank's own. */
static muster_status exchange_words(muster_group *group, const message_label *label,
                                    const agree_word *mine, agree_word *theirs, deadline end)
{
    layout places = {NULL, NULL, NULL};
    message_label checking = *label;
    checking.checking = true;
    if (!layout_equal(&places, (size_t)group->size, sizeof(*mine), 1))
        return compose_no_memory(group, (size_t)group->size * 3 * sizeof(size_t), "a layout");
    /* In a sentence, the count of the call is said. */
    for (int r = 0; r < group->size; r++)
        places.counts[r] = (size_t)label->count;
    const compose_blocks blocks = {
        .send = mine, .out = &places, .receive = theirs, .in = &places, .scalars = NULL};
    muster_status status = compose_exchange(group, &checking, &blocks, end);
    layout_free(&places);
    theirs[group->rank] = mine[group->rank];
    return status;
}

static bool alike(const agree_word *a, const agree_word *b)
{
    if (a->refused && b->refused) /* each is told by itself what is wrong */
        return a->kind == b->kind;
    return a->refused == b->refused && a->kind == b->kind && a->type == b->type &&
           a->redop == b->redop && a->root == b->root && a->count == b->count &&
           a->hash == b->hash && a->device == b->device;
}

/* "rank 2 (host b, pid 7) calls all_reduce #4 of 8 int32, sum" */
static void say_who(const muster_group *group, agree_word *words, int rank, uint64_t sequence,
                    char *text, size_t size)
{
    char call[160], who[320];
    agree_word *word = &words[rank];
    const message_label theirs = {.kind = (message_kind)le64toh(word->kind),
                                  .type = (muster_type)le64toh(word->type),
                                  .redop = (muster_reduction)le64toh(word->redop),
                                  .root = (int)(int64_t)le64toh(word->root),
                                  .sequence = sequence,
                                  .count = le64toh(word->count)};
    word->counts[COUNTS_SIZE - 1] = '\0';
    snprintf(text, size, "%s calls %s%s%s",
             rank_record_name(&group->ranks.ranks[rank], who, sizeof(who)),
             message_label_call(&theirs, call, sizeof(call)), word->counts,
             le64toh(word->device) == AGREE_DEVICE ? ", in device memory" : "");
}

static muster_status differ(muster_group *group, agree_word *words, int first, uint64_t sequence,
                            const bool *others)
{
    char usual[640], odd[640], ranks[256];
    say_who(group, words, 0, sequence, usual, sizeof(usual));
    say_who(group, words, first, sequence, odd, sizeof(odd));
    rank_set_text(others, group->size, ranks, sizeof(ranks));
    bool several = strncmp(ranks, "ranks", strlen("ranks")) == 0;
    error_set(
        MUSTER_ERR_MISMATCH,
        "the ranks disagree: %s, but %s; %s %s from rank 0, and every rank must make the same "
        "call",
        usual, odd, ranks, several ? "differ" : "differs");
    return failure_raise(group, MUSTER_ERR_MISMATCH);
}

/* Ranks that move nothing agree with the others. */
static void settle_places(agree_word *words, int size)
{
    uint64_t known = htole64(AGREE_EITHER);
    for (int r = size - 1; r >= 0; r--)
        known = words[r].device != htole64(AGREE_EITHER) ? words[r].device : known;
    for (int r = 0; r < size; r++)
        words[r].device = words[r].device == htole64(AGREE_EITHER) ? known : words[r].device;
}

static muster_status judge_calls(muster_group *group, agree_word *words, uint64_t sequence)
{
    bool *others = calloc((size_t)group->size, sizeof(bool));
    if (others == NULL)
        return compose_no_memory(group, (size_t)group->size, "a set of ranks");
    int first = 0;
    settle_places(words, group->size);
    for (int r = group->size - 1; r > 0; r--) {
        others[r] = !alike(&words[r], &words[0]);
        first = others[r] ? r : first;
    }
    muster_status status = first == 0 ? MUSTER_OK : differ(group, words, first, sequence, others);
    free(others);
    return status;
}

static muster_status judge_pair(muster_group *group, const collective_call *call,
                                const message_label *label, int sender, int receiver, uint64_t sent,
                                uint64_t expected)
{
    if (sent == expected)
        return MUSTER_OK;
    char what[160];
    error_set(MUSTER_ERR_MISMATCH,
              "the ranks disagree in %s: rank %d has %llu %s for rank %d, which expects %llu",
              message_label_call(label, what, sizeof(what)), sender, (unsigned long long)sent,
              muster_type_name(call->type), receiver, (unsigned long long)expected);
    return failure_raise(group, MUSTER_ERR_MISMATCH);
}

static muster_status judge_pairs(muster_group *group, const collective_call *call,
                                 const message_label *label, const agree_word *mine,
                                 const agree_word *theirs)
{
    muster_status status = MUSTER_OK;
    int me = group->rank;
    for (int r = 0; status == MUSTER_OK && r < group->size; r++) {
        if (r == me)
            continue;
        status = judge_pair(group, call, label, me, r, le64toh(mine[r].to_you),
                            le64toh(theirs[r].from_you));
        if (status == MUSTER_OK)
            status = judge_pair(group, call, label, r, me, le64toh(theirs[r].to_you),
                                le64toh(mine[r].from_you));
    }
    return status;
}

/* For each rank a word that goes to it, and behind these as many from them. */
static agree_word *words_new(muster_group *group, muster_status *status)
{
    size_t n = (size_t)group->size;
    agree_word *words = calloc(2 * n, sizeof(*words));
    *status = words != NULL ? MUSTER_OK
                            : compose_no_memory(group, 2 * n * sizeof(*words), "a comparison");
    return words;
}

muster_status agree_on_refused(muster_group *group, const message_label *label, const char *why,
                               deadline end)
{
    muster_status status;
    agree_word *mine = words_new(group, &status), *theirs = mine + group->size;
    if (mine == NULL)
        return status;
    for (int r = 0; r < group->size; r++) {
        mine[r] = (agree_word){.kind = htole64((uint64_t)label->kind),
                               .type = htole64((uint64_t)label->type),
                               .redop = htole64((uint64_t)label->redop),
                               .root = htole64((uint64_t)(int64_t)label->root),
                               .count = htole64(label->count),
                               .refused = htole64(1)};
        snprintf(mine[r].counts, COUNTS_SIZE, ", which is refused there: %s", why);
    }
    status = exchange_words(group, label, mine, theirs, end);
    if (status == MUSTER_OK)
        status = judge_calls(group, theirs, label->sequence);
    free(mine);
    return status;
}

muster_status agree_on_call(muster_group *group, const collective_call *call, const route *way,
                            const message_label *label, deadline end)
{
    size_t n = (size_t)group->size;
    if (!group->checks || n == 1)
        return MUSTER_OK;
    muster_status status;
    agree_word *mine = words_new(group, &status), *theirs = mine + n;
    if (mine == NULL)
        return status;
    for (int r = 0; r < group->size; r++) {
        mine[r] = say_call(group, call, way, label);
        if (call != NULL)
            say_pair(&mine[r], group, call, r);
    }
    status = exchange_words(group, label, mine, theirs, end);
    if (status == MUSTER_OK)
        status = judge_calls(group, theirs, label->sequence);
    if (status == MUSTER_OK && call != NULL)
        status = judge_pairs(group, call, label, mine, theirs);
    free(mine);
    return status;
}

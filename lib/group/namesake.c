/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that give the same name and different members. Under <parent>/named/<name>/<rank> a rank
 * puts where it meets and for which members it waits. Each looks at the members beside it alone, so
 * that the store has as little to do for many as for few; whoever waits with a list of its own is
 * beside somebody that has another. Another list without this rank is no fault: it may be done
 * soon.
 */
#include "config.h"

#include "group/namesake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rank_set.h"
#include "group/lookout.h"
#include "store/store.h"

enum { LIST_SIZE = 1024, HEAR_MS = 300 };

static char *key_of(const namesake *one, int rank)
{
    char *key = NULL;
    return asprintf(&key, "%s/%d", one->prefix, rank) < 0 ? NULL : key;
}

/* Whether the list in words, "{2,0,1}", has the rank. */
static bool has_rank(const char *list, int rank)
{
    const char *at = list;
    while (*at == '{' || *at == ',') {
        char *end = NULL;
        if (strtol(at + 1, &end, 10) == rank && end != at + 1)
            return true;
        at = end;
    }
    return false;
}

/* Those that meet elsewhere are told the same, and given a moment to hear it. */
static void tell(const namesake *one, const char *meeting_prefix, int rank, const char *sentence)
{
    muster_store *store = one->call->parent->store;
    exchange theirs;
    char *key = key_of(one, rank);
    if (exchange_init(&theirs, store, meeting_prefix, 0, 1, HEAR_MS, deadline_in(HEAR_MS)) ==
        MUSTER_OK)
        exchange_shut(&theirs, MUSTER_ERR_MISMATCH, sentence);
    exchange_destroy(&theirs);
    if (key != NULL)
        store_wait_gone(store, muster_str(key), deadline_in(HEAR_MS));
    free(key);
}

static void forget(const namesake *one)
{
    char *key = key_of(one, one->call->parent->rank);
    if (key != NULL)
        muster_store_delete(one->call->parent->store, muster_str(key), NULL);
    free(key);
}

static muster_status differ(const namesake *one, int rank, const char *meeting_prefix,
                            const char *theirs)
{
    const muster_group *parent = one->call->parent;
    char ours[LIST_SIZE], first[320], second[320], sentence[ERROR_SIZE];
    bool before = parent->rank < rank;
    rank_list_text(one->in->ranks, (size_t)one->in->size, ours, sizeof(ours));
    const rank_record *all = parent->ranks.ranks;
    rank_record_name(&all[before ? parent->rank : rank], first, sizeof(first));
    rank_record_name(&all[before ? rank : parent->rank], second, sizeof(second));
    snprintf(sentence, sizeof(sentence),
             "the ranks disagree on the members of '%s': %s says %.600s, but %s says %.600s; all "
             "must say the same",
             one->call->args.group_name, first, before ? ours : theirs, second,
             before ? theirs : ours);
    forget(one);
    tell(one, meeting_prefix, rank, sentence);
    return error_set(MUSTER_ERR_MISMATCH, "%s", sentence);
}

/* What a member says it waits for. */
static muster_status look_at(const namesake *one, int rank)
{
    char ours[LIST_SIZE], *key = key_of(one, rank);
    void *value = NULL;
    size_t size = 0;
    bool there = key != NULL && muster_store_get(one->call->parent->store, muster_str(key), 0,
                                                 &value, &size) == MUSTER_OK;
    char *text = there ? strndup(value, size) : NULL;
    muster_free(value);
    free(key);
    char *list = text == NULL ? NULL : strchr(text, '\n');
    muster_status status = MUSTER_OK;
    rank_list_text(one->in->ranks, (size_t)one->in->size, ours, sizeof(ours));
    if (list != NULL && strcmp(list + 1, ours) != 0 &&
        has_rank(list + 1, one->call->parent->rank)) {
        *list = '\0';
        if (strcmp(text, one->call->meeting.prefix) != 0)
            status = differ(one, rank, text, list + 1);
    }
    free(text);
    return status;
}

/* An exchange_lookout. */
static muster_status look(void *user)
{
    const namesake *one = user;
    const exchange *meeting = &one->call->meeting;
    int count = meeting->count, me = meeting->index;
    error_kept before;
    error_keep(&before);
    muster_status status = lookout_group(one->call->parent);
    if (status == MUSTER_OK && count > 1)
        status = look_at(one, one->sorted[(me + 1) % count]);
    if (status == MUSTER_OK && count > 2)
        status = look_at(one, one->sorted[(me + count - 1) % count]);
    return error_settle(&before, status);
}

muster_status namesake_begin(namesake *one, making *call, const int *sorted, const membership *in)
{
    *one = (namesake){.call = call, .sorted = sorted, .in = in};
    const muster_group *parent = call->parent;
    if (call->args.group_name == NULL)
        return MUSTER_OK;
    char list[LIST_SIZE], *value = NULL, *key = NULL;
    if (asprintf(&one->prefix, "%s/named/%s", parent->prefix, call->args.group_name) < 0)
        one->prefix = NULL;
    else
        key = key_of(one, parent->rank);
    rank_list_text(in->ranks, (size_t)in->size, list, sizeof(list));
    if (key == NULL || asprintf(&value, "%s\n%s", call->meeting.prefix, list) < 0) {
        free(key);
        return error_no_memory(sizeof(list), "a list of ranks");
    }
    muster_status status = muster_store_set(parent->store, muster_str(key), muster_str(value));
    free(value);
    free(key);
    call->meeting.lookout = look;
    call->meeting.lookout_user = one;
    return status == MUSTER_OK ? look(one) : status;
}

void namesake_end(namesake *one)
{
    if (one->prefix != NULL)
        forget(one);
    free(one->prefix);
}

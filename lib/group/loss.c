/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which of the ranks whose connections were closed are lost.
 */
#include "config.h"

#include "group/loss.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rank_set.h"
#include "net/host_identity.h"

static char *rank_key(const char *prefix, const char *name, int rank)
{
    char *key = NULL;
    return asprintf(&key, "%s/%s/%d", prefix, name, rank) < 0 ? NULL : key;
}

/* Processes of another pid namespace can't be looked at, even of this host. */
static bool is_visible(const rank_record *record)
{
    host_identity me;
    return host_identity_get(&me) == MUSTER_OK && strcmp(record->host_id, me.host_id) == 0 &&
           record->pid_space == me.pid_namespace;
}

void loss_add(loss *all, const rank_record *record)
{
    all->suspects[all->count++] = (suspect){.rank = record->rank,
                                            .visible = is_visible(record),
                                            .pid_space = record->pid_space,
                                            .pid = record->pid,
                                            .start = record->start};
}

/* The value is a character for each rank: '1' for one that is suspected. */
void loss_say_failed(loss *all)
{
    char *key = rank_key(all->prefix, "failed", all->rank), *whom = malloc((size_t)all->size);
    if (key != NULL && whom != NULL) {
        memset(whom, '0', (size_t)all->size);
        for (int i = 0; i < all->count; i++)
            whom[all->suspects[i].rank] = '1';
        all->unheard = muster_store_set(all->store, muster_str(key),
                                        (muster_blob){whom, (size_t)all->size}) != MUSTER_OK;
    }
    free(whom);
    free(key);
}

void loss_say_heard(const loss *all)
{
    char *key = all->unheard ? NULL : rank_key(all->prefix, "heard", all->rank);
    if (key != NULL)
        muster_store_set(all->store, muster_str(key), muster_str("1"));
    free(key);
}

static bool can_hear(const rank_record *record)
{
    return !is_visible(record) ||
           host_identity_alive(record->pid_space, record->pid, record->start);
}

void loss_wait_heard(muster_store *store, const char *prefix, const roster *ranks, int rank,
                     int64_t timeout_ms)
{
    muster_blob *keys = calloc((size_t)ranks->count, sizeof(*keys));
    size_t count = 0;
    for (int r = 0; keys != NULL && r < ranks->count; r++) {
        if (r == rank || !can_hear(&ranks->ranks[r]))
            continue;
        keys[count] = muster_str(rank_key(prefix, "heard", r));
        count += keys[count].data != NULL;
    }
    if (count > 0)
        muster_store_wait(store, keys, count, timeout_ms);
    for (size_t i = 0; i < count; i++)
        free((void *)keys[i].data);
    free(keys);
}

/* Asks whether it has said that it has failed. */
static void ask_store(loss *all, suspect *it)
{
    char *key = rank_key(all->prefix, "failed", it->rank);
    muster_blob keys = muster_str(key);
    void *whom = NULL;
    size_t size = 0;
    bool there = false;
    all->unheard = key == NULL || muster_store_check(all->store, &keys, 1, &there) != MUSTER_OK;
    if (there && muster_store_get(all->store, keys, 0, &whom, &size) == MUSTER_OK) {
        it->said = true;
        it->blames_us = size == (size_t)all->size && ((const char *)whom)[all->rank] == '1';
    }
    muster_free(whom);
    free(key);
}

/* A rank says that it has failed before it ends, so its process is looked at first. */
static void review_one(loss *all, suspect *it)
{
    bool ended = it->visible && !host_identity_alive(it->pid_space, it->pid, it->start);
    if (!all->unheard)
        ask_store(all, it);
    it->ended = ended;
}

static bool is_open(const suspect *it)
{
    return !it->said && !it->ended;
}

bool loss_review(loss *all)
{
    bool open = false;
    for (int i = 0; i < all->count; i++) {
        if (is_open(&all->suspects[i]))
            review_one(all, &all->suspects[i]);
        open = open || is_open(&all->suspects[i]);
    }
    return !open;
}

bool loss_is_far(const loss *all)
{
    for (int i = 0; i < all->count; i++)
        if (is_open(&all->suspects[i]) && all->suspects[i].visible)
            return false;
    return true;
}

bool loss_has_cause(const loss *all)
{
    for (int i = 0; i < all->count; i++)
        if (all->suspects[i].ended && !all->suspects[i].said)
            return true;
    return false;
}

bool loss_all_said(const loss *all)
{
    for (int i = 0; i < all->count; i++)
        if (!all->suspects[i].said)
            return false;
    return all->count > 0;
}

bool loss_all_ended(const loss *all)
{
    for (int i = 0; i < all->count; i++)
        if (!all->suspects[i].ended)
            return false;
    return true;
}

bool loss_is_mutual(const loss *all)
{
    for (int i = 0; i < all->count; i++)
        if (all->suspects[i].blames_us)
            return true;
    return false;
}

/* What can have become of a suspect. */
static bool is_lost(const suspect *it)
{
    return !it->said && (it->ended || !it->visible);
}

static bool is_there(const suspect *it)
{
    return !it->said && !is_lost(it);
}

static bool has_ended(const suspect *it)
{
    return is_lost(it) && it->ended;
}

static bool blames_us(const suspect *it)
{
    return it->blames_us;
}

static bool has_said(const suspect *it)
{
    return it->said;
}

/* Names those of which it holds, in ranks where that is not NULL; returns how many they are. */
static int name_those(const loss *all, bool (*holds)(const suspect *), char *ranks, size_t size)
{
    bool *in = calloc((size_t)all->size, sizeof(bool));
    int count = 0;
    for (int i = 0; i < all->count; i++)
        if (holds(&all->suspects[i])) {
            count++;
            if (in != NULL)
                in[all->suspects[i].rank] = true;
        }
    if (ranks != NULL)
        snprintf(ranks, size, "ranks of this group");
    if (in != NULL && ranks != NULL)
        rank_set_text(in, all->size, ranks, size);
    free(in);
    return count;
}

/* Some are lost; without the store it is not known whether they have failed before. */
static void say_lost(const loss *all, const char *ranks, int count, char *words, size_t size)
{
    bool one = count == 1, ended = name_those(all, has_ended, NULL, 0) == count;
    const char *how = ended ? one ? "its process has ended" : "their processes have ended"
                      : one ? "it ended, or closed its connections without a word"
                            : "they ended, or closed their connections without a word";
    if (all->unheard)
        snprintf(words, size, "%s left: %s, and the store, which would know why, does not answer",
                 ranks, how);
    else
        snprintf(words, size, "%s %s lost: %s", ranks, one ? "was" : "were", how);
}

/* All who are lost were seen to have ended: how their connections were closed says no more. */
static bool is_seen(const loss *all)
{
    int lost = name_those(all, is_lost, NULL, 0);
    return lost > 0 && name_those(all, has_ended, NULL, 0) == lost;
}

muster_status loss_words(const loss *all, const char *said, char *words, size_t size)
{
    char ranks[256];
    muster_status status = MUSTER_ERR_PEER_LOST;
    int count = name_those(all, is_lost, ranks, sizeof(ranks));
    if (count > 0)
        say_lost(all, ranks, count, words, size);
    else if ((count = name_those(all, is_there, ranks, sizeof(ranks))) > 0)
        snprintf(words, size, "%s closed %s connections without a word, though %s", ranks,
                 count == 1 ? "its" : "their",
                 count == 1 ? "its process is there" : "their processes are there");
    else if (name_those(all, blames_us, ranks, sizeof(ranks)) > 0)
        snprintf(words, size, "rank %d and %s have lost their connection, though all were there",
                 all->rank, ranks);
    else if (name_those(all, has_said, ranks, sizeof(ranks)) > 0) {
        snprintf(words, size, "%s left after it had failed", ranks);
        status = MUSTER_ERR_REMOTE;
    }
    size_t used = strlen(words);
    if (name_those(all, has_said, NULL, 0) == 0 && !is_seen(all))
        snprintf(words + used, size - used, " (%s)", said);
    return status;
}

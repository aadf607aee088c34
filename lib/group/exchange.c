/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rounds through the store with a gate each. Keys: <prefix>/<round>/<index> what a participant
 * published, <prefix>/<round>/n how many arrived, <prefix>/<round>/gate "ok", "retry", or a status
 * and a sentence, with how many ranks there are in between, as far as the one who shut it knows.
 */
#include "config.h"

#include "group/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rank_set.h"
#include "net/url.h"
#include "store/store.h"

char *exchange_shared_key(const exchange *meeting, int round, const char *name)
{
    char *key = NULL;
    if (asprintf(&key, "%s/%d/%s", meeting->prefix, round, name) < 0)
        return NULL;
    return key;
}

char *exchange_key(const exchange *meeting, int round, int index)
{
    char name[16];
    snprintf(name, sizeof(name), "%d", index);
    return exchange_shared_key(meeting, round, name);
}

muster_status exchange_init(exchange *meeting, muster_store *store, const char *prefix, int index,
                            int count, int64_t timeout_ms, deadline end)
{
    *meeting = (exchange){
        .index = index, .count = count, .most = count, .timeout_ms = timeout_ms, .end = end};
    meeting->prefix = strdup(prefix);
    if (meeting->prefix == NULL)
        return error_no_memory(strlen(prefix), "a key");
    meeting->store = store_retain(store);
    return MUSTER_OK;
}

void exchange_destroy(exchange *meeting)
{
    muster_free(meeting->blobs);
    free(meeting->prefix);
    muster_store_free(meeting->store);
    *meeting = (exchange){0};
}

/* One of the participants says that there are so many. What no world can have was put there by
 * somebody else, and would be counted up to when all is removed. */
static void learn_count(exchange *meeting, long said)
{
    if (said > meeting->most && said <= URL_MAX_WORLD)
        meeting->most = (int)said;
}

/* What a gate's text means; sets the sentence of the one who shut it. */
static muster_status gate_verdict(exchange *meeting, const char *text, size_t size)
{
    if (size == 2 && memcmp(text, "ok", 2) == 0)
        return MUSTER_OK;
    if (size == 5 && memcmp(text, "retry", 5) == 0) {
        meeting->retry = true;
        return error_set(MUSTER_ERR_FAILED, "the meeting was given up and starts anew");
    }
    int status = 0, most = 0, used = 0;
    char start[32] = {0};
    memcpy(start, text, size < sizeof(start) - 1 ? size : sizeof(start) - 1);
    if (sscanf(start, "%d %d %n", &status, &most, &used) != 2 || status <= MUSTER_OK ||
        status > MUSTER_ERR_INTERNAL)
        return error_set(MUSTER_ERR_PROTOCOL, "%s holds under %s/%d/gate what is no verdict",
                         store_describe(meeting->store), meeting->prefix, meeting->round);
    learn_count(meeting, most);
    return error_set((muster_status)status, "%.*s", (int)(size - (size_t)used), text + used);
}

/* Puts text on the gate of a round unless something is there, and gives what is there then. */
static muster_status gate_put(exchange *meeting, int round, const char *text)
{
    char *key = exchange_shared_key(meeting, round, "gate");
    if (key == NULL)
        return error_no_memory(strlen(meeting->prefix), "a key");
    void *value = NULL;
    size_t size = 0;
    muster_status status = muster_store_compare_set(meeting->store, muster_str(key), muster_str(""),
                                                    muster_str(text), &value, &size);
    meeting->unheard = status != MUSTER_OK;
    if (status == MUSTER_OK)
        status = gate_verdict(meeting, value, size);
    muster_free(value);
    free(key);
    return status;
}

muster_status exchange_shut(exchange *meeting, muster_status status, const char *sentence)
{
    char text[ERROR_SIZE + 32];
    snprintf(text, sizeof(text), "%d %d %s", (int)status, meeting->most, sentence);
    return gate_put(meeting, meeting->round, text);
}

/* Who has lost another rank leaves it a moment to say why it has gone. */
static void leave_the_first_word(const exchange *meeting)
{
    enum { MOMENT_MS = 300 };
    char *key = exchange_shared_key(meeting, meeting->round, "gate");
    void *value = NULL;
    size_t size = 0;
    if (key != NULL)
        muster_store_get(meeting->store, muster_str(key), MOMENT_MS, &value, &size);
    muster_free(value);
    free(key);
}

muster_status exchange_settle(exchange *meeting, muster_status status)
{
    if (status == MUSTER_OK)
        return MUSTER_OK;
    char sentence[ERROR_SIZE];
    snprintf(sentence, sizeof(sentence), "%s", muster_last_error());
    if (status == MUSTER_ERR_PEER_LOST || status == MUSTER_ERR_FAILED)
        leave_the_first_word(meeting);
    muster_status verdict = exchange_shut(meeting, status, sentence);
    while (verdict == MUSTER_OK && meeting->round + 1 < EXCHANGE_MAX_ROUNDS) {
        meeting->round++; /* that gate is open already: the others wait at the next one */
        verdict = exchange_shut(meeting, status, sentence);
    }
    /* A store that has gone meanwhile is not what went wrong here. */
    bool ours = verdict == MUSTER_OK || meeting->unheard;
    return ours ? error_set(status, "%s", sentence) : verdict;
}

/* The line and the speaker of "line\nspeaker"; text is changed. */
static const char *split_speaker(char *text)
{
    char *newline = strchr(text, '\n');
    if (newline == NULL)
        return "a rank";
    *newline = '\0';
    return newline + 1;
}

/* The words of "count words". */
static const char *past_count(const char *text)
{
    return text + strspn(text, "0123456789 ");
}

static muster_status compare_words(exchange *meeting, const char *text, const void *value,
                                   size_t size)
{
    char *ours = strdup(text), *theirs = strndup(value, size);
    if (ours == NULL || theirs == NULL) {
        free(ours);
        free(theirs);
        return error_no_memory(size, "words");
    }
    const char *we = split_speaker(ours), *they = split_speaker(theirs);
    muster_status status = MUSTER_OK;
    learn_count(meeting, strtol(theirs, NULL, 10));
    if (strcmp(ours, theirs) != 0) {
        char sentence[ERROR_SIZE];
        snprintf(sentence, sizeof(sentence),
                 "the ranks disagree: %s says %s, but %s says %s; all must say the same", they,
                 past_count(theirs), we, past_count(ours));
        status = exchange_shut(meeting, MUSTER_ERR_MISMATCH, sentence);
        if (status == MUSTER_OK)
            status = error_set(MUSTER_ERR_MISMATCH, "%s", sentence);
    }
    free(ours);
    free(theirs);
    return status;
}

muster_status exchange_agree(exchange *meeting, const char *text)
{
    char *key = exchange_shared_key(meeting, 0, "plan"), *words = NULL;
    if (key == NULL || asprintf(&words, "%d %s", meeting->count, text) < 0) {
        free(key);
        return error_no_memory(strlen(meeting->prefix), "a key");
    }
    void *value = NULL;
    size_t size = 0;
    muster_status status = muster_store_compare_set(meeting->store, muster_str(key), muster_str(""),
                                                    muster_str(words), &value, &size);
    if (status == MUSTER_OK)
        status = compare_words(meeting, words, value, size);
    muster_free(value);
    free(words);
    free(key);
    return status;
}

void exchange_void(exchange *meeting)
{
    for (int round = 0; round < EXCHANGE_MAX_ROUNDS; round++)
        gate_put(meeting, round, "retry");
}

/* Who has not arrived, as far as the store tells within a second; *count is how many. */
static muster_status find_missing(exchange *meeting, bool *missing, int *count)
{
    muster_status status = MUSTER_OK;
    deadline enough = deadline_in(1000);
    *count = 0;
    for (int i = 0; status == MUSTER_OK && i < meeting->count && deadline_left_ms(enough) > 0;
         i++) {
        char *key = exchange_key(meeting, meeting->round, i);
        if (key == NULL)
            return error_no_memory(strlen(meeting->prefix), "a key");
        muster_blob keys = muster_str(key);
        bool there = true;
        status = muster_store_check(meeting->store, &keys, 1, &there);
        missing[i] = !there;
        *count += !there;
        free(key);
    }
    return status;
}

/* "rank 3 of 'world', one of 2 members,": in the numbers that those who read it know. */
static void say_missing(const exchange *meeting, const bool *missing, int count, char *text,
                        size_t size)
{
    char ranks[512];
    if (meeting->members == NULL) {
        snprintf(text, size, "%s of %d",
                 rank_set_text(missing, meeting->count, ranks, sizeof(ranks)), meeting->count);
        return;
    }
    int most = meeting->members[meeting->count - 1] + 1;
    bool *in = calloc((size_t)most, sizeof(bool));
    for (int i = 0; in != NULL && i < meeting->count; i++)
        in[meeting->members[i]] = missing[i];
    snprintf(text, size, "%s of '%s', %d of %d members,",
             in == NULL ? "ranks" : rank_set_text(in, most, ranks, sizeof(ranks)), meeting->group,
             count, meeting->count);
    free(in);
}

static muster_status name_the_missing(exchange *meeting, const char *phase)
{
    bool *missing = calloc((size_t)meeting->count, sizeof(bool));
    if (missing == NULL)
        return error_no_memory((size_t)meeting->count, "a set of ranks");
    int count = 0;
    char ranks[1024];
    muster_status status = find_missing(meeting, missing, &count);
    if (count > 0) {
        say_missing(meeting, missing, count, ranks, sizeof(ranks));
        status = error_set(MUSTER_ERR_TIMEOUT,
                           "timed out after %lld ms waiting for %s %s; see whether %s for the same "
                           "group",
                           (long long)meeting->timeout_ms, ranks, phase,
                           count == 1 ? "it runs and calls this" : "they run and call this");
    } else if (status == MUSTER_OK)
        status = error_set(MUSTER_ERR_TIMEOUT,
                           "timed out after %lld ms waiting for all %d ranks %s: the last of them "
                           "came when the time was over; give them more",
                           (long long)meeting->timeout_ms, meeting->count, phase);
    else
        error_prefix(status,
                     "after %lld ms of waiting for %d ranks %s: ", (long long)meeting->timeout_ms,
                     meeting->count, phase);
    free(missing);
    return status;
}

/* Waits for a word on a gate, so long at most. *heard: there was one, and this is its verdict;
 * otherwise MUSTER_OK is that there was none. */
static muster_status gate_read(exchange *meeting, int64_t timeout_ms, bool *heard)
{
    char *key = exchange_shared_key(meeting, meeting->round, "gate");
    if (key == NULL)
        return error_no_memory(strlen(meeting->prefix), "a key");
    void *value = NULL;
    size_t size = 0;
    muster_status status =
        muster_store_get(meeting->store, muster_str(key), timeout_ms, &value, &size);
    *heard = status == MUSTER_OK;
    if (*heard)
        status = gate_verdict(meeting, value, size);
    else if (status == MUSTER_ERR_TIMEOUT)
        status = MUSTER_OK;
    meeting->unheard = !*heard && status != MUSTER_OK;
    muster_free(value);
    free(key);
    return status;
}

muster_status exchange_blame_store(muster_status status, const char *sentence)
{
    char store[ERROR_SIZE];
    snprintf(store, sizeof(store), "%s", muster_last_error());
    return error_set(status, "%s; besides, %s", store, sentence);
}

muster_status exchange_hear(exchange *meeting)
{
    bool heard = false;
    return gate_read(meeting, 0, &heard);
}

/* Whoever is not there may have ended after a word on the gate, which then counts, or because the
 * store has gone, which is said first. *heard as in gate_read. */
static muster_status look_out(exchange *meeting, bool *heard)
{
    char sentence[ERROR_SIZE];
    *heard = false;
    if (meeting->lookout == NULL)
        return MUSTER_OK;
    muster_status status = meeting->lookout(meeting->lookout_user);
    if (status == MUSTER_OK)
        return MUSTER_OK;
    snprintf(sentence, sizeof(sentence), "%s", muster_last_error());
    muster_status verdict = gate_read(meeting, 0, heard);
    if (*heard)
        return verdict;
    if (meeting->unheard)
        return exchange_blame_store(verdict, sentence);
    return error_set(status, "%s", sentence);
}

muster_status exchange_look(exchange *meeting)
{
    bool heard = false;
    muster_status status = gate_read(meeting, 0, &heard);
    if (heard)
        return status;
    return look_out(meeting, &heard); /* a store that does not answer is for others to find */
}

/* Shuts the gate for a sentence, and gives what all are told. */
static muster_status shut_for(exchange *meeting, muster_status status)
{
    char sentence[ERROR_SIZE];
    snprintf(sentence, sizeof(sentence), "%s", muster_last_error());
    muster_status verdict = exchange_shut(meeting, status, sentence);
    return meeting->unheard ? error_set(status, "%s", sentence) : verdict;
}

static muster_status wait_at_gate(exchange *meeting, const char *phase)
{
    enum { LOOK_MS = 500 };
    bool heard = false;
    muster_status status = MUSTER_OK;
    while (!heard && status == MUSTER_OK) {
        int64_t left = deadline_left_ms(meeting->end);
        status = gate_read(meeting, left < LOOK_MS ? left : LOOK_MS, &heard);
        if (heard || status != MUSTER_OK)
            break;
        if (left <= LOOK_MS && deadline_left_ms(meeting->end) == 0)
            return shut_for(meeting, name_the_missing(meeting, phase));
        status = look_out(meeting, &heard);
        if (status != MUSTER_OK && !heard)
            return shut_for(meeting, status);
    }
    return status;
}

static muster_status arrive(exchange *meeting)
{
    char *key = exchange_shared_key(meeting, meeting->round, "n");
    if (key == NULL)
        return error_no_memory(strlen(meeting->prefix), "a key");
    int64_t arrived = 0;
    muster_status status = muster_store_add(meeting->store, muster_str(key), 1, &arrived);
    free(key);
    if (status == MUSTER_OK && arrived == meeting->count)
        status = gate_put(meeting, meeting->round, "ok");
    return status;
}

static muster_status publish(exchange *meeting, muster_blob mine)
{
    char *key = exchange_key(meeting, meeting->round, meeting->index);
    if (key == NULL)
        return error_no_memory(strlen(meeting->prefix), "a key");
    muster_status status = muster_store_set(meeting->store, muster_str(key), mine);
    free(key);
    return status;
}

static muster_status read_all(exchange *meeting, const int *wanted, size_t num_wanted)
{
    size_t count = wanted != NULL ? num_wanted : (size_t)meeting->count;
    muster_free(meeting->blobs);
    meeting->blobs = NULL;
    if (count == 0)
        return MUSTER_OK;
    muster_blob *keys = calloc(count, sizeof(*keys));
    muster_status status = keys == NULL ? error_no_memory(count, "keys") : MUSTER_OK;
    for (size_t i = 0; status == MUSTER_OK && i < count; i++) {
        keys[i] = muster_str(exchange_key(meeting, meeting->round, wanted ? wanted[i] : (int)i));
        if (keys[i].data == NULL)
            status = error_no_memory(strlen(meeting->prefix), "a key");
    }
    if (status == MUSTER_OK)
        status = muster_store_multi_get(meeting->store, keys, count, deadline_left_ms(meeting->end),
                                        &meeting->blobs);
    for (size_t i = 0; keys != NULL && i < count; i++)
        free((void *)keys[i].data);
    free(keys);
    return status;
}

muster_status exchange_round(exchange *meeting, muster_blob mine, bool published, const int *wanted,
                             size_t num_wanted, const char *phase, const muster_blob **all)
{
    muster_status status = published ? MUSTER_OK : publish(meeting, mine);
    if (status == MUSTER_OK)
        status = arrive(meeting);
    if (status == MUSTER_OK)
        status = wait_at_gate(meeting, phase);
    if (status == MUSTER_OK)
        status = read_all(meeting, wanted, num_wanted);
    if (status != MUSTER_OK)
        return status;
    meeting->round++;
    if (all != NULL)
        *all = meeting->blobs;
    return MUSTER_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first cause of a group's failure. Keys: <prefix>/failure the cause, <prefix>/failed/<rank>
 * that a rank has failed (see loss.h), <prefix>/at/<rank> the latest collectives of a rank (see
 * calls.h): one that has done its part in an earlier one is not missing there.
 */
#include "config.h"

#include "group/cause.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/deadline.h"
#include "base/error.h"
#include "base/patience.h"
#include "base/rank_set.h"
#include "base/thread.h"
#include "collective/calls.h"
#include "collective/work.h"
#include "group/loss.h"
#include "store/store.h"

/* How long ranks that wait have to say so, and whoever knows the cause to say it. */
enum { CENSUS_MS = 200, CENSUS_AGAIN_MS = 100, MOMENT_MS = 50, LEARN_MS = 700 };

/* How long a rank whose connection was closed has to say that it has failed: one of this host whose
 * process lives, one of another host, the same when an operation is due, and any where the store
 * does not answer. How often it is asked; and how long it then has to say why. */
enum { LOSS_MS = 1100, LOSS_FAR_MS = 300, LOSS_DUE_MS = 500, LOSS_UNHEARD_MS = 150 };
enum { LOSS_ROUND_MS = 20, LOSS_LEARN_MS = 1300 };

/* Two that have lost each other know as much as anybody will, and one that has ended says nothing
 * more. */
enum { LAST_WORD_MS = 200 };

/* About when an operation is due, a rank that is lost is most likely one that has timed out. */
enum { BEFORE_DUE_MS = 500, AFTER_DUE_MS = 3000 };

/* How often it is asked who is missing. */
enum { CENSUS_ROUNDS = 4 };

/* One talk with the store, held on a thread aside. */
typedef struct inquiry {
    void (*talk)(struct inquiry *);
    muster_store *store;
    char *prefix;
    int rank;
    int size;
    uint64_t sequence;      /* of the collective that has timed out */
    char calls[CALLS_TEXT]; /* this rank's latest ones */
    bool due;               /* an operation is, or was a moment ago */
    int peer;               /* the one that a rank that timed out waited for itself, or -1 */
    bool *came;             /* a flag a rank: it came to that collective for sure */
    loss loss;              /* whose connections were closed */
    char cause[ERROR_SIZE];
} inquiry;

static void inquiry_free(void *what)
{
    inquiry *asked = what;
    muster_store_free(asked->store);
    free(asked->loss.suspects);
    free(asked->came);
    free(asked->prefix);
    free(asked);
}

static void inquiry_run(void *what)
{
    inquiry *asked = what;
    asked->talk(asked);
    loss_say_heard(&asked->loss);
}

static char *cause_key(const inquiry *asked, const char *name)
{
    char *key = NULL;
    return asprintf(&key, "%s/%s", asked->prefix, name) < 0 ? NULL : key;
}

static char *place_key(const inquiry *asked, int rank)
{
    char *key = NULL;
    return asprintf(&key, "%s/at/%d", asked->prefix, rank) < 0 ? NULL : key;
}

static void set_mark(const inquiry *asked, char *key, const char *value)
{
    if (key != NULL)
        muster_store_set(asked->store, muster_str(key), muster_str(value));
    free(key);
}

/* Says which collectives this rank is in, or has been in. */
static void mark_place(const inquiry *asked)
{
    set_mark(asked, place_key(asked, asked->rank), asked->calls);
}

/* Takes over a cause that the store gave. */
static void keep_cause(inquiry *asked, void *value, size_t size)
{
    if (value != NULL && size < sizeof(asked->cause)) {
        memcpy(asked->cause, value, size);
        asked->cause[size] = '\0';
    }
    muster_free(value);
}

/* Waits for somebody's cause; true if it came. */
static bool wait_for_cause(inquiry *asked, int64_t timeout_ms)
{
    char *key = cause_key(asked, "failure");
    void *value = NULL;
    size_t size = 0;
    bool came = key != NULL && muster_store_get(asked->store, muster_str(key), timeout_ms, &value,
                                                &size) == MUSTER_OK;
    free(key);
    keep_cause(asked, value, size);
    return came;
}

/* Puts the cause where there is none yet, or takes over the one that is there. */
static void publish(inquiry *asked)
{
    char *key = cause_key(asked, "failure");
    void *value = NULL;
    size_t size = 0;
    if (key != NULL)
        muster_store_compare_set(asked->store, muster_str(key), muster_str(""),
                                 muster_str(asked->cause), &value, &size);
    free(key);
    keep_cause(asked, value, size);
}

static void talk_publish(inquiry *asked)
{
    loss_say_failed(&asked->loss);
    publish(asked);
}

static void talk_learn(inquiry *asked)
{
    loss_say_failed(&asked->loss);
    mark_place(asked);
    if (!wait_for_cause(asked, LEARN_MS))
        publish(asked);
}

/* How long the suspects that are left may take. */
static int64_t patience_with(const inquiry *asked)
{
    if (asked->loss.unheard)
        return LOSS_UNHEARD_MS;
    if (!loss_is_far(&asked->loss) && !loss_has_cause(&asked->loss))
        return LOSS_MS;
    return asked->due ? LOSS_DUE_MS : LOSS_FAR_MS;
}

/* Waits a moment for somebody's cause; true if it came. */
static bool have_pause(inquiry *asked, int64_t pause_ms)
{
    if (!asked->loss.unheard)
        return wait_for_cause(asked, pause_ms);
    nanosleep(&(struct timespec){0, pause_ms * 1000000}, NULL);
    return false;
}

/* The suspects have failed because of others, which say why; a rank that has timed out asks who
 * came to its collective. True if a cause came. */
static bool learn_from_suspects(inquiry *asked, deadline end)
{
    mark_place(asked);
    bool last = loss_is_mutual(&asked->loss) || loss_all_ended(&asked->loss);
    return wait_for_cause(asked, last ? LAST_WORD_MS : deadline_left_ms(end));
}

/* Finds out which suspects are lost; true if somebody's cause came meanwhile. Where there are
 * several most have failed because of others, which say why. */
static bool review_losses(inquiry *asked)
{
    int64_t began = deadline_now_ns(), pause_ms = asked->loss.count > 1 ? LOSS_ROUND_MS : 0;
    deadline end = deadline_in(LOSS_LEARN_MS);
    do {
        if (have_pause(asked, pause_ms))
            return true;
        if (loss_review(&asked->loss))
            return loss_all_said(&asked->loss) && learn_from_suspects(asked, end);
        pause_ms = LOSS_ROUND_MS;
    } while ((deadline_now_ns() - began) / 1000000 < patience_with(asked));
    return false;
}

static void talk_loss(inquiry *asked)
{
    char sentence[ERROR_SIZE];
    const char *said = asked->cause;
    int rank = -1;
    muster_status status = MUSTER_ERR_PEER_LOST;
    /* A store that has stopped is given up early enough to tell of the processes. */
    patience_until(deadline_in(0));
    loss_say_failed(&asked->loss);
    if (asked->loss.count == 0 ? have_pause(asked, MOMENT_MS) : review_losses(asked))
        return;
    if (asked->loss.count > 0 && cause_parse(asked->cause, &status, &rank, &said)) {
        status = loss_words(&asked->loss, said, sentence, sizeof(sentence));
        snprintf(asked->cause, sizeof(asked->cause), "%d %d %.*s", (int)status, asked->rank,
                 ERROR_SIZE - 32, sentence);
    }
    if (!asked->loss.unheard)
        publish(asked);
}

/* What the census found out. */
typedef struct census {
    bool *missing; /* a flag a rank: it did not say that it came to the collective */
    bool *behind;  /* it says that it waits in an earlier one */
    int other;     /* a rank that made another call, or -1 */
    calls_difference differ;
    bool other_went_on; /* to a later call */
    int ahead;          /* a rank that is so far on that nobody knows whether it came, or -1 */
    char ahead_call[CALLS_WORDS];
} census;

/* Whether the rank has come as far, and by the same calls. */
static void compare_place(const inquiry *asked, int rank, muster_blob place, census *found)
{
    char text[CALLS_TEXT], latest[CALLS_WORDS];
    calls_difference differ;
    snprintf(text, sizeof(text), "%.*s", (int)place.size, (const char *)place.data);
    uint64_t at = calls_latest(text, latest, sizeof(latest));
    found->behind[rank] = at < asked->sequence && calls_waits(text);
    found->missing[rank] = at < asked->sequence && !found->behind[rank];
    if (calls_differ(asked->calls, text, &differ) &&
        (found->other < 0 || differ.number < found->differ.number)) {
        found->other = rank;
        found->differ = differ;
        found->other_went_on = at > differ.number;
    } else if (at > asked->sequence && !calls_has(text, asked->sequence)) {
        found->ahead = rank;
        memcpy(found->ahead_call, latest, sizeof(latest));
    }
}

/* Asks for one rank; false where the store does not tell. */
static bool ask_for(const inquiry *asked, int rank, census *found)
{
    void *value = NULL;
    size_t size = 0;
    char *key = place_key(asked, rank);
    muster_status status = key == NULL
                               ? MUSTER_ERR_NO_MEMORY
                               : muster_store_get(asked->store, muster_str(key), 0, &value, &size);
    free(key);
    found->missing[rank] = status == MUSTER_ERR_TIMEOUT;
    found->behind[rank] = false;
    if (status == MUSTER_OK)
        compare_place(asked, rank, (muster_blob){value, size}, found);
    found->missing[rank] = found->missing[rank] && !asked->came[rank];
    muster_free(value);
    return status == MUSTER_OK || status == MUSTER_ERR_TIMEOUT;
}

static bool ask_for_all(const inquiry *asked, census *found)
{
    for (int r = 0; r < asked->size; r++)
        if (!ask_for(asked, r, found))
            return false;
    return true;
}

static int count_of(const bool *in, int size)
{
    int count = 0;
    for (int r = 0; r < size; r++)
        count += in[r];
    return count;
}

/* On a busy machine a rank takes a moment to say that it is there: asks again while there is more
 * than the one that is waited for. False where the store does not tell, or somebody knows the cause
 * meanwhile. */
static bool ask_until_settled(inquiry *asked, census *found)
{
    for (int round = 0; round < CENSUS_ROUNDS; round++) {
        if (round > 0 && wait_for_cause(asked, CENSUS_AGAIN_MS))
            return false;
        if (!ask_for_all(asked, found))
            return false;
        if (count_of(found->missing, asked->size) <= 1)
            break;
    }
    return true;
}

/* All wait, and some of them in earlier collectives. */
static void name_behind(const inquiry *asked, const census *found, char *text, size_t size)
{
    char ranks[512];
    bool several = count_of(found->behind, asked->size) > 1;
    rank_set_text(found->behind, asked->size, ranks, sizeof(ranks));
    snprintf(text, size, "%s, which %s in an earlier operation", ranks, several ? "wait" : "waits");
}

static void name_missing(inquiry *asked, const census *found)
{
    char ranks[640], whole[ERROR_SIZE], *mark = strstr(asked->cause, CAUSE_RANKS);
    if (mark == NULL)
        return;
    if (count_of(found->missing, asked->size) > 0)
        rank_set_text(found->missing, asked->size, ranks, sizeof(ranks));
    else if (count_of(found->behind, asked->size) > 0)
        name_behind(asked, found, ranks, sizeof(ranks));
    else if (found->ahead >= 0)
        snprintf(ranks, sizeof(ranks), "rank %d, though rank %d has gone on to %s", asked->peer,
                 found->ahead, found->ahead_call);
    else if (asked->peer < 0)
        snprintf(ranks, sizeof(ranks), "its end, though all ranks have come to it");
    else
        snprintf(ranks, sizeof(ranks), "rank %d, though all ranks have come to it", asked->peer);
    snprintf(whole, sizeof(whole), "%.*s%s%s", (int)(mark - asked->cause), asked->cause, ranks,
             mark + strlen(CAUSE_RANKS));
    memcpy(asked->cause, whole, sizeof(whole));
}

/* Ranks that made other calls under one number: that is why nobody came. */
static void say_other(inquiry *asked, const census *found)
{
    bool went_on =
        calls_latest(asked->calls, (char[CALLS_WORDS]){0}, CALLS_WORDS) > found->differ.number;
    snprintf(asked->cause, sizeof(asked->cause),
             "%d %d the ranks disagree: rank %d %s %s, but rank %d %s %s; every rank must make the "
             "same call",
             (int)MUSTER_ERR_MISMATCH, asked->rank, asked->rank, went_on ? "called" : "calls",
             found->differ.ours, found->other, found->other_went_on ? "called" : "calls",
             found->differ.theirs);
}

static void take_census(inquiry *asked)
{
    bool *flags = calloc(2 * (size_t)asked->size, sizeof(bool));
    census found = {.missing = flags, .behind = flags + asked->size, .other = -1, .ahead = -1};
    if (flags != NULL && ask_until_settled(asked, &found)) {
        if (found.other >= 0)
            say_other(asked, &found);
        else
            name_missing(asked, &found);
    }
    free(flags);
}

static void talk_timeout(inquiry *asked)
{
    loss_say_failed(&asked->loss);
    mark_place(asked);
    if (wait_for_cause(asked, CENSUS_MS))
        return;
    take_census(asked);
    publish(asked);
}

static bool is_due(muster_group *group)
{
    int64_t left_ms = (atomic_load(&group->due_ns) - deadline_now_ns()) / 1000000;
    return left_ms < BEFORE_DUE_MS && left_ms > -AFTER_DUE_MS;
}

/* What the backend knows of the others: whom it suspects to be lost, and who has come. */
static bool ask_backend(muster_group *group, inquiry *asked)
{
    loss *all = &asked->loss;
    all->suspects = calloc((size_t)group->size, sizeof(*all->suspects));
    asked->came = calloc((size_t)group->size, sizeof(*asked->came));
    if (all->suspects == NULL || asked->came == NULL)
        return false;
    for (int r = 0; r < group->size; r++) {
        asked->came[r] = group_has_come(group, r);
        if (r != group->rank && group_suspects(group, r))
            loss_add(all, &group->ranks.ranks[r]);
    }
    return true;
}

static void inquire(muster_group *group, void (*talk)(inquiry *), uint64_t sequence, int peer,
                    char *cause)
{
    inquiry *asked = calloc(1, sizeof(*asked));
    if (asked == NULL || (asked->prefix = strdup(group->prefix)) == NULL) {
        free(asked);
        return;
    }
    asked->talk = talk;
    asked->store = store_retain(group->store);
    asked->loss = (loss){
        .store = asked->store, .prefix = asked->prefix, .rank = group->rank, .size = group->size};
    if (!ask_backend(group, asked)) {
        inquiry_free(asked);
        return;
    }
    asked->rank = group->rank;
    asked->size = group->size;
    asked->sequence = sequence;
    bool waits = group->queue != NULL && work_queue_busy(group->queue);
    calls_text(&group->calls, waits, asked->calls);
    asked->peer = peer;
    asked->due = is_due(group);
    snprintf(asked->cause, sizeof(asked->cause), "%s", cause);
    int64_t patience_ms = asked->loss.count > 0 ? CAUSE_LOSS_PATIENCE_MS : CAUSE_PATIENCE_MS;
    if (!thread_run_aside(inquiry_run, inquiry_free, asked, patience_ms))
        return;
    memcpy(cause, asked->cause, ERROR_SIZE);
    inquiry_free(asked);
}

void cause_publish(muster_group *group, char *cause)
{
    inquire(group, talk_publish, 0, -1, cause);
}

void cause_publish_loss(muster_group *group, char *cause)
{
    inquire(group, talk_loss, 0, -1, cause);
}

void cause_publish_timeout(muster_group *group, uint64_t sequence, int peer, char *cause)
{
    inquire(group, talk_timeout, sequence, peer, cause);
}

void cause_learn(muster_group *group, char *cause)
{
    inquire(group, talk_learn, 0, -1, cause);
}

static void talk_look(inquiry *asked)
{
    wait_for_cause(asked, 0);
}

bool cause_is_known(muster_group *group)
{
    char cause[ERROR_SIZE] = "";
    inquire(group, talk_look, 0, -1, cause);
    return *cause != '\0';
}

bool cause_parse(const char *text, muster_status *status, int *rank, const char **sentence)
{
    int number = 0, used = 0;
    if (sscanf(text, "%d %d %n", &number, rank, &used) != 2 || used == 0 || number <= MUSTER_OK ||
        number > MUSTER_ERR_INTERNAL)
        return false;
    *status = (muster_status)number;
    *sentence = text + used;
    return true;
}

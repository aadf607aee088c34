/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first cause of a group's failure. Keys: <prefix>/failure the cause, <prefix>/overdue that
 * some rank has timed out and is about to say why, <prefix>/at/<rank> the latest collective of a
 * rank, "<number> <call>": one that has done its part in an earlier one is not missing there.
 */
#include "config.h"

#include "group/cause.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/error.h"
#include "base/rank_set.h"
#include "store/store.h"
#include "base/thread.h"

/* How long ranks that wait have to say so, and a rank that timed out to say that others are lost by
 * it. */
enum { CENSUS_MS = 200, CENSUS_AGAIN_MS = 100, OVERDUE_MS = 50, LEARN_MS = 700 };

/* About when an operation is due, a rank that is lost is most likely one that has timed out. */
enum { BEFORE_DUE_MS = 500, AFTER_DUE_MS = 3000, DUE_OVERDUE_MS = 500 };

/* How often it is asked who is missing. */
enum { CENSUS_ROUNDS = 4 };

enum { CALL_SIZE = 192 };

/* One talk with the store, held on a thread aside. */
typedef struct inquiry {
    void (*talk)(struct inquiry *);
    muster_store *store;
    char *prefix;
    int rank;
    int size;
    uint64_t sequence;    /* of the collective that has timed out */
    uint64_t at;          /* of this rank's latest one */
    char call[CALL_SIZE]; /* which that is, in words */
    bool due;             /* an operation is, or was a moment ago */
    int peer;             /* the one that a rank that timed out waited for itself, or -1 */
    char cause[ERROR_SIZE];
} inquiry;

static void inquiry_free(void *what)
{
    inquiry *asked = what;
    muster_store_free(asked->store);
    free(asked->prefix);
    free(asked);
}

static void inquiry_run(void *what)
{
    inquiry *asked = what;
    asked->talk(asked);
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

/* Says which collective this rank is in, or has been in. */
static void mark_place(const inquiry *asked)
{
    char place[CALL_SIZE + 32];
    snprintf(place, sizeof(place), "%llu %s", (unsigned long long)asked->at, asked->call);
    set_mark(asked, place_key(asked, asked->rank), place);
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

static void talk_publish(inquiry *asked)
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

static void talk_learn(inquiry *asked)
{
    mark_place(asked);
    if (!wait_for_cause(asked, LEARN_MS))
        talk_publish(asked);
}

static void talk_loss(inquiry *asked)
{
    char *key = cause_key(asked, "overdue");
    muster_blob keys = muster_str(key);
    bool overdue =
        key != NULL && muster_store_wait(asked->store, &keys, 1,
                                         asked->due ? DUE_OVERDUE_MS : OVERDUE_MS) == MUSTER_OK;
    free(key);
    if (overdue)
        talk_learn(asked);
    else
        talk_publish(asked);
}

/* What the census found out. */
typedef struct census {
    bool *missing;        /* a flag a rank: it did not say that it came to the collective */
    int other;            /* a rank that made another call, or -1 */
    char call[CALL_SIZE]; /* which one */
} census;

/* Whether the rank has come as far, and by the same call. */
static void compare_place(const inquiry *asked, int rank, muster_blob place, census *found)
{
    char text[CALL_SIZE + 32], *call = text;
    snprintf(text, sizeof(text), "%.*s", (int)place.size, (const char *)place.data);
    uint64_t at = strtoull(text, &call, 10);
    call += *call == ' ';
    found->missing[rank] = at < asked->sequence;
    if (at == asked->sequence && found->other < 0 && strcmp(call, asked->call) != 0) {
        found->other = rank;
        snprintf(found->call, sizeof(found->call), "%.*s", CALL_SIZE - 1, call);
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
    if (status == MUSTER_OK)
        compare_place(asked, rank, (muster_blob){value, size}, found);
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

static void name_missing(inquiry *asked, const bool *missing)
{
    char ranks[256], whole[ERROR_SIZE], *mark = strstr(asked->cause, CAUSE_RANKS);
    if (mark == NULL)
        return;
    if (count_of(missing, asked->size) > 0)
        rank_set_text(missing, asked->size, ranks, sizeof(ranks));
    else
        snprintf(ranks, sizeof(ranks), "rank %d, though all ranks are in it", asked->peer);
    snprintf(whole, sizeof(whole), "%.*s%s%s", (int)(mark - asked->cause), asked->cause, ranks,
             mark + strlen(CAUSE_RANKS));
    memcpy(asked->cause, whole, sizeof(whole));
}

/* Ranks that wait for each other since each makes another call: that is why nobody came. */
static void take_census(inquiry *asked)
{
    census found = {.missing = calloc((size_t)asked->size, sizeof(bool)), .other = -1};
    if (found.missing != NULL && ask_until_settled(asked, &found)) {
        if (found.other >= 0)
            snprintf(asked->cause, sizeof(asked->cause),
                     "%d %d the ranks disagree: rank %d calls %s, but rank %d calls %s; every rank "
                     "must make the same call",
                     (int)MUSTER_ERR_MISMATCH, asked->rank, asked->rank, asked->call, found.other,
                     found.call);
        else
            name_missing(asked, found.missing);
    }
    free(found.missing);
}

static void talk_timeout(inquiry *asked)
{
    set_mark(asked, cause_key(asked, "overdue"), "1");
    mark_place(asked);
    if (wait_for_cause(asked, CENSUS_MS))
        return;
    take_census(asked);
    talk_publish(asked);
}

static bool is_due(muster_group *group)
{
    int64_t left_ms = (atomic_load(&group->due_ns) - deadline_now_ns()) / 1000000;
    return left_ms < BEFORE_DUE_MS && left_ms > -AFTER_DUE_MS;
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
    asked->rank = group->rank;
    asked->size = group->size;
    asked->sequence = sequence;
    pthread_mutex_lock(&group->failure.lock);
    asked->at = group->doing.sequence;
    message_label_call(&group->doing, asked->call, sizeof(asked->call));
    pthread_mutex_unlock(&group->failure.lock);
    asked->peer = peer;
    asked->due = is_due(group);
    snprintf(asked->cause, sizeof(asked->cause), "%s", cause);
    if (!thread_run_aside(inquiry_run, inquiry_free, asked, CAUSE_PATIENCE_MS))
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

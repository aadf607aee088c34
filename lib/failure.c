/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The failed state of a group.
 *
 * The first rank to notice writes the cause under <prefix>/failure with a compare-and-set; every
 * other rank finds it there and quotes it. The store may be part of what has failed, so all traffic
 * with it runs on a thread of its own, which is waited for a short while and then left to itself.
 */
#include "config.h"

#include "failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deadline.h"
#include "error.h"
#include "log.h"
#include "rank_set.h"
#include "store.h"
#include "thread.h"

/* How long a failing rank talks to the store, and how long the ranks that wait with it have to say
 * so. */
enum { STORE_PATIENCE_MS = 700, CENSUS_MS = 200 };

typedef enum inquiry_kind {
    INQUIRY_PUBLISH, /* our cause, unless there is one already */
    INQUIRY_LEARN,   /* the cause of a rank that says it has failed */
    INQUIRY_CENSUS   /* who else was in the operation that timed out, then publish */
} inquiry_kind;

/* One talk with the store, held on a thread aside. */
typedef struct inquiry {
    inquiry_kind kind;
    muster_store *store;
    char *prefix;
    int rank;
    int size;
    uint64_t sequence;
    char what[ERROR_SIZE]; /* in: our cause. out: the first cause, "<status> <rank> <sentence>" */
} inquiry;

static void inquiry_free(void *what)
{
    inquiry *asked = what;
    muster_store_free(asked->store);
    free(asked->prefix);
    free(asked);
}

static char *late_key(const inquiry *asked, int rank)
{
    char *key = NULL;
    int length =
        asprintf(&key, "%s/late/%llu/%d", asked->prefix, (unsigned long long)asked->sequence, rank);
    return length < 0 ? NULL : key;
}

static void say_late(const inquiry *asked)
{
    char *key = late_key(asked, asked->rank);
    if (key != NULL)
        muster_store_set(asked->store, muster_str(key), muster_str("1"));
    free(key);
}

/* Puts the ranks that did not say that they were in the operation where the text has "%ranks". */
static void take_census(inquiry *asked)
{
    say_late(asked);
    struct timespec nap = {0, CENSUS_MS * 1000000L};
    nanosleep(&nap, NULL);
    bool *missing = calloc((size_t)asked->size, sizeof(bool));
    char ranks[256], *mark = strstr(asked->what, "%ranks");
    if (missing == NULL || mark == NULL) {
        free(missing);
        return;
    }
    for (int r = 0; r < asked->size; r++) {
        char *key = late_key(asked, r);
        muster_blob keys = muster_str(key);
        bool there = true;
        if (key != NULL && muster_store_check(asked->store, &keys, 1, &there) == MUSTER_OK)
            missing[r] = !there;
        free(key);
    }
    char whole[ERROR_SIZE];
    snprintf(whole, sizeof(whole), "%.*s%s%s", (int)(mark - asked->what), asked->what,
             rank_set_text(missing, asked->size, ranks, sizeof(ranks)), mark + strlen("%ranks"));
    snprintf(asked->what, sizeof(asked->what), "%s", whole);
    free(missing);
}

static void talk(void *what)
{
    inquiry *asked = what;
    char *key = NULL;
    void *value = NULL;
    size_t size = 0;
    if (asprintf(&key, "%s/failure", asked->prefix) < 0)
        return;
    muster_status status = MUSTER_OK;
    if (asked->kind == INQUIRY_LEARN) {
        if (asked->sequence != 0)
            say_late(asked);
        status = muster_store_get(asked->store, muster_str(key), STORE_PATIENCE_MS, &value, &size);
    } else {
        if (asked->kind == INQUIRY_CENSUS)
            take_census(asked);
        status = muster_store_compare_set(asked->store, muster_str(key), muster_str(""),
                                          muster_str(asked->what), &value, &size);
    }
    if (status == MUSTER_OK && size < sizeof(asked->what)) {
        memcpy(asked->what, value, size);
        asked->what[size] = '\0';
    }
    muster_free(value);
    free(key);
}

/* Has the talk; what (ERROR_SIZE bytes) is replaced by what the store then holds, if it says so in
 * time. */
static void inquire(muster_group *group, inquiry_kind kind, uint64_t sequence, char *what)
{
    inquiry *asked = calloc(1, sizeof(*asked));
    if (asked == NULL || (asked->prefix = strdup(group->prefix)) == NULL) {
        free(asked);
        return;
    }
    asked->kind = kind;
    asked->store = store_retain(group->store);
    asked->rank = group->rank;
    asked->size = group->size;
    asked->sequence = sequence;
    snprintf(asked->what, sizeof(asked->what), "%s", what);
    if (!thread_run_aside(talk, inquiry_free, asked, STORE_PATIENCE_MS + CENSUS_MS))
        return;
    memcpy(what, asked->what, ERROR_SIZE);
    inquiry_free(asked);
}

void failure_init(group_failure *failure)
{
    pthread_mutex_init(&failure->lock, NULL);
    thread_condition_init(&failure->settled);
}

void failure_destroy(group_failure *failure)
{
    pthread_mutex_destroy(&failure->lock);
    pthread_cond_destroy(&failure->settled);
    free(failure->sentence);
}

/* Makes this the first failure; false where there is one already. */
static bool failure_begin(muster_group *group, muster_status status)
{
    pthread_mutex_lock(&group->failure.lock);
    bool first = group->failure.status == MUSTER_OK;
    if (first)
        group->failure.status = status;
    pthread_mutex_unlock(&group->failure.lock);
    return first;
}

/* Splits "<status> <rank> <sentence>"; false where it is none. */
static bool parse_cause(const char *text, muster_status *status, int *rank, const char **sentence)
{
    int number = 0, used = 0;
    if (sscanf(text, "%d %d %n", &number, rank, &used) != 2 || used == 0 || number <= MUSTER_OK ||
        number > MUSTER_ERR_INTERNAL)
        return false;
    *status = (muster_status)number;
    *sentence = text + used;
    return true;
}

/* The cause is known as well as it can be: keeps it and lets everybody go on. */
static void failure_complete(muster_group *group, const char *what)
{
    muster_status status = MUSTER_ERR_FAILED;
    int rank = -1;
    const char *words = what;
    char *sentence = NULL, who[320] = "another rank";
    bool known = parse_cause(what, &status, &rank, &words);
    if (known && rank >= 0 && rank < group->size)
        rank_record_name(&group->ranks.ranks[rank], who, sizeof(who));
    int length = known && rank != group->rank ? asprintf(&sentence, "after %s: %s", who, words)
                                              : asprintf(&sentence, "%s", words);
    if (length < 0)
        sentence = NULL;
    log_line(MUSTER_LOG_WARNING, "group '%s', rank %d has failed: %s", group->name, group->rank,
             sentence != NULL ? sentence : words);
    pthread_mutex_lock(&group->failure.lock);
    if (known)
        group->failure.status = status;
    group->failure.sentence = sentence;
    group->failure.complete = true;
    pthread_cond_broadcast(&group->failure.settled);
    pthread_mutex_unlock(&group->failure.lock);
}

static void abort_comm(muster_group *group)
{
    muster_comm *comm = atomic_load(&group->comm);
    if (comm != NULL)
        group->backend->ops->abort(comm);
}

muster_status failure_check(muster_group *group)
{
    group_failure *failure = &group->failure;
    deadline end = deadline_in(2 * (STORE_PATIENCE_MS + CENSUS_MS));
    pthread_mutex_lock(&failure->lock);
    while (failure->status != MUSTER_OK && !failure->complete &&
           thread_wait(&failure->settled, &failure->lock, end))
        ;
    muster_status status = failure->status;
    if (status != MUSTER_OK)
        error_set(status, "%s; the group has failed, free it and make another",
                  failure->sentence != NULL ? failure->sentence : muster_status_text(status));
    pthread_mutex_unlock(&failure->lock);
    return status;
}

muster_status failure_raise(muster_group *group, muster_status status)
{
    if (failure_begin(group, status)) {
        char what[ERROR_SIZE];
        snprintf(what, sizeof(what), "%d %d %s", (int)status, group->rank, muster_last_error());
        inquire(group, INQUIRY_PUBLISH, 0, what);
        failure_complete(group, what);
        abort_comm(group);
    }
    return failure_check(group);
}

muster_status failure_raise_timeout(muster_group *group, uint64_t sequence, const char *what,
                                    int peer)
{
    if (failure_begin(group, MUSTER_ERR_TIMEOUT)) {
        char text[ERROR_SIZE], who[32] = "%ranks";
        if (sequence == 0)
            snprintf(who, sizeof(who), "rank %d", peer);
        snprintf(text, sizeof(text), "%d %d timed out after %lld ms in %s waiting for %s",
                 (int)MUSTER_ERR_TIMEOUT, group->rank, (long long)atomic_load(&group->timeout_ms),
                 what, who);
        abort_comm(group); /* first, so that those who wait with us say so */
        inquire(group, sequence != 0 ? INQUIRY_CENSUS : INQUIRY_PUBLISH, sequence, text);
        char *mark = strstr(text, "%ranks");
        if (mark != NULL) /* the store did not answer: this much is sure */
            snprintf(mark, sizeof(text) - (size_t)(mark - text), "rank %d", peer);
        failure_complete(group, text);
    }
    return failure_check(group);
}

void failure_reported(muster_comm_owner *owner, int rank, muster_status status,
                      const char *sentence)
{
    muster_group *group = (muster_group *)owner;
    if (!failure_begin(group, status))
        return;
    char what[ERROR_SIZE];
    bool told = status == MUSTER_ERR_REMOTE;
    snprintf(what, sizeof(what), "%d %d %s", (int)status, told ? rank : group->rank, sentence);
    inquire(group, told ? INQUIRY_LEARN : INQUIRY_PUBLISH, atomic_load(&group->running), what);
    failure_complete(group, what);
    abort_comm(group);
}

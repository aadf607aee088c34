/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first cause of a group's failure. Keys: <prefix>/failure the cause, <prefix>/overdue that
 * some rank has timed out and is about to say why, <prefix>/late/<sequence>/<rank> that a rank was
 * in the collective of that number.
 */
#include "config.h"

#include "cause.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "rank_set.h"
#include "store.h"
#include "thread.h"

/* How long ranks that wait have to say so, and a rank that timed out to say that others are lost by
 * it. */
enum { CENSUS_MS = 200, OVERDUE_MS = 50, LEARN_MS = 700 };

/* One talk with the store, held on a thread aside. */
typedef struct inquiry {
    void (*talk)(struct inquiry *);
    muster_store *store;
    char *prefix;
    int rank;
    int size;
    uint64_t sequence;
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

static char *late_key(const inquiry *asked, int rank)
{
    char *key = NULL;
    int length =
        asprintf(&key, "%s/late/%llu/%d", asked->prefix, (unsigned long long)asked->sequence, rank);
    return length < 0 ? NULL : key;
}

static void set_mark(const inquiry *asked, char *key)
{
    if (key != NULL)
        muster_store_set(asked->store, muster_str(key), muster_str("1"));
    free(key);
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
    if (asked->sequence != 0)
        set_mark(asked, late_key(asked, asked->rank));
    if (!wait_for_cause(asked, LEARN_MS))
        talk_publish(asked);
}

static void talk_loss(inquiry *asked)
{
    char *key = cause_key(asked, "overdue");
    muster_blob keys = muster_str(key);
    bool overdue =
        key != NULL && muster_store_wait(asked->store, &keys, 1, OVERDUE_MS) == MUSTER_OK;
    free(key);
    if (overdue)
        talk_learn(asked);
    else
        talk_publish(asked);
}

/* Which ranks did not say that they were in the collective; false where the store does not tell. */
static bool find_missing(const inquiry *asked, bool *missing)
{
    bool told = true;
    for (int r = 0; told && r < asked->size; r++) {
        char *key = late_key(asked, r);
        muster_blob keys = muster_str(key);
        bool there = false;
        told = key != NULL && muster_store_check(asked->store, &keys, 1, &there) == MUSTER_OK;
        missing[r] = !there;
        free(key);
    }
    return told;
}

static bool any(const bool *in, int count)
{
    for (int r = 0; r < count; r++)
        if (in[r])
            return true;
    return false;
}

static void name_missing(inquiry *asked)
{
    bool *missing = calloc((size_t)asked->size, sizeof(bool));
    char ranks[256], whole[ERROR_SIZE], *mark = strstr(asked->cause, CAUSE_RANKS);
    if (missing != NULL && mark != NULL && find_missing(asked, missing) &&
        any(missing, asked->size)) {
        snprintf(whole, sizeof(whole), "%.*s%s%s", (int)(mark - asked->cause), asked->cause,
                 rank_set_text(missing, asked->size, ranks, sizeof(ranks)),
                 mark + strlen(CAUSE_RANKS));
        memcpy(asked->cause, whole, sizeof(whole));
    }
    free(missing);
}

static void talk_timeout(inquiry *asked)
{
    set_mark(asked, cause_key(asked, "overdue"));
    set_mark(asked, late_key(asked, asked->rank));
    if (wait_for_cause(asked, CENSUS_MS))
        return;
    name_missing(asked);
    talk_publish(asked);
}

static void inquire(muster_group *group, void (*talk)(inquiry *), uint64_t sequence, char *cause)
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
    snprintf(asked->cause, sizeof(asked->cause), "%s", cause);
    if (!thread_run_aside(inquiry_run, inquiry_free, asked, CAUSE_PATIENCE_MS))
        return;
    memcpy(cause, asked->cause, ERROR_SIZE);
    inquiry_free(asked);
}

void cause_publish(muster_group *group, char *cause)
{
    inquire(group, talk_publish, 0, cause);
}

void cause_publish_loss(muster_group *group, uint64_t sequence, char *cause)
{
    inquire(group, talk_loss, sequence, cause);
}

void cause_publish_timeout(muster_group *group, uint64_t sequence, char *cause)
{
    inquire(group, talk_timeout, sequence, cause);
}

void cause_learn(muster_group *group, uint64_t sequence, char *cause)
{
    inquire(group, talk_learn, sequence, cause);
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

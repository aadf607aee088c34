/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The failed state of a group.
 *
 * The first rank to notice writes the cause under <prefix>/failure with a compare-and-set; every
 * other rank finds it there and quotes it. The store may be part of what has failed, so all traffic
 * with it runs on a thread of its own, which is waited for a short while and then left to itself.
 */
#include "config.h"

#include "group/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "group/cause.h"
#include "base/deadline.h"
#include "base/error.h"
#include "base/log.h"
#include "base/thread.h"
#include "collective/work.h"
#include "group/loss.h"
#include "group/lost.h"
#include "store/store.h"

/* Who breaks a group off lets calls go before the others know why, but not much before: the process
 * may end as soon as they return. */
enum { TELL_MS = 200 };

/* How long the store stays for those who have yet to learn the cause, where it ends with this
 * process. */
enum { SEE_OFF_MS = 300 };

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

/* What another rank says of itself names it already, or happened there; what it says of others it
 * has found. A disagreement names both sides. */
static char *say_whose(const muster_group *group, muster_status status, int rank, const char *words)
{
    char *sentence = NULL, who[320], self[32];
    bool other = rank >= 0 && rank < group->size && rank != group->rank;
    bool of_others = status == MUSTER_ERR_PEER_LOST || status == MUSTER_ERR_TIMEOUT ||
                     status == MUSTER_ERR_REMOTE;
    snprintf(self, sizeof(self), "rank %d ", rank);
    int length;
    if (!other || status == MUSTER_ERR_MISMATCH || strncmp(words, self, strlen(self)) == 0)
        length = asprintf(&sentence, "%s", words);
    else if (of_others)
        length = asprintf(&sentence, "%s (found by rank %d)", words, rank);
    else
        length = asprintf(&sentence, "%s: %s",
                          rank_record_name(&group->ranks.ranks[rank], who, sizeof(who)), words);
    return length < 0 ? NULL : sentence;
}

/* The cause is known as well as it can be: keeps it and lets everybody go on. */
static void failure_complete(muster_group *group, const char *what)
{
    muster_status status = MUSTER_ERR_FAILED;
    int rank = -1;
    const char *words = what;
    bool known = cause_parse(what, &status, &rank, &words);
    char *sentence = say_whose(group, status, known ? rank : -1, words);
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

muster_status failure_say(muster_group *group)
{
    group_failure *failure = &group->failure;
    deadline end = deadline_in(2 * CAUSE_PATIENCE_MS);
    pthread_mutex_lock(&failure->lock);
    while (failure->status != MUSTER_OK && !failure->complete &&
           thread_wait(&failure->settled, &failure->lock, end))
        ;
    while (failure->telling && thread_wait(&failure->settled, &failure->lock, failure->told_by))
        ;
    muster_status status = failure->status;
    if (status != MUSTER_OK)
        error_set(status, "%s; the group has failed, free it and make another",
                  failure->sentence != NULL ? failure->sentence : muster_status_text(status));
    pthread_mutex_unlock(&failure->lock);
    return status;
}

muster_status failure_begun(muster_group *group)
{
    pthread_mutex_lock(&group->failure.lock);
    muster_status status = group->failure.status;
    pthread_mutex_unlock(&group->failure.lock);
    return status;
}

/* This rank's cause, from the thread's last error. */
static void write_cause(char *cause, muster_status status, int rank, const char *sentence)
{
    snprintf(cause, ERROR_SIZE, "%d %d %s", (int)status, rank, sentence);
}

static muster_status raise_cause(muster_group *group, muster_status status, bool others_know)
{
    if (failure_begin(group, status)) {
        char cause[ERROR_SIZE];
        write_cause(cause, status, group->rank, muster_last_error());
        if (others_know)
            cause_learn(group, cause);
        else if (status == MUSTER_ERR_PEER_LOST)
            cause_publish_loss(group, cause);
        else
            cause_publish(group, cause);
        failure_complete(group, cause);
        group_abort_comms(group);
    }
    return failure_check(group);
}

void failure_await(muster_group *group)
{
    enum { MOMENT_MS = 3000 };
    const struct timespec nap = {0, 1000000};
    deadline end = deadline_in(MOMENT_MS);
    while (failure_begun(group) == MUSTER_OK && deadline_left_ms(end) > 0)
        nanosleep(&nap, NULL);
}

/* A communicator that is broken off for whoever uses it was broken by another rank, or by another
 * thread of this one, which has a better sentence. */
muster_status failure_raise(muster_group *group, muster_status status)
{
    if (status == MUSTER_ERR_FAILED)
        failure_await(group);
    return raise_cause(group, status, status == MUSTER_ERR_FAILED);
}

muster_status failure_raise_unless_known(muster_group *group, muster_status status)
{
    return raise_cause(group, status, true);
}

muster_status failure_raise_timeout(muster_group *group, uint64_t sequence, const char *what,
                                    int peer, const char *hint)
{
    if (failure_begin(group, MUSTER_ERR_TIMEOUT)) {
        char cause[ERROR_SIZE], who[32] = CAUSE_RANKS;
        if (sequence == 0 && peer < 0)
            snprintf(who, sizeof(who), "other ranks");
        else if (sequence == 0)
            snprintf(who, sizeof(who), "rank %d", peer);
        snprintf(cause, sizeof(cause), "%d %d timed out after %lld ms in %s, waiting for %s%s",
                 (int)MUSTER_ERR_TIMEOUT, group->rank, (long long)atomic_load(&group->timeout_ms),
                 what, who, hint);
        group_abort_comms(group); /* first, so that those who wait with us say so */
        if (sequence != 0)
            cause_publish_timeout(group, sequence, peer, cause);
        else
            cause_publish(group, cause);
        char *mark = strstr(cause, CAUSE_RANKS);
        if (mark != NULL && peer < 0)
            snprintf(mark, sizeof(cause) - (size_t)(mark - cause), "other ranks");
        else if (mark != NULL) /* nobody knows better: this much is sure */
            snprintf(mark, sizeof(cause) - (size_t)(mark - cause), "rank %d", peer);
        failure_complete(group, cause);
    }
    return failure_check(group);
}

static void set_telling(muster_group *group, bool telling)
{
    pthread_mutex_lock(&group->failure.lock);
    group->failure.telling = telling;
    group->failure.told_by = deadline_in(TELL_MS);
    pthread_cond_broadcast(&group->failure.settled);
    pthread_mutex_unlock(&group->failure.lock);
}

void failure_break_off(muster_group *group, const char *reason)
{
    if (!failure_begin(group, MUSTER_ERR_FAILED)) {
        group_abort_comms(
            group); /* whoever was first may still be asking the store for the cause */
        return;
    }
    char cause[ERROR_SIZE];
    snprintf(cause, sizeof(cause), "%d %d rank %d has broken off the group, since %s",
             (int)MUSTER_ERR_FAILED, group->rank, group->rank, reason);
    set_telling(group, true);
    failure_complete(group, cause);
    group_abort_comms(group);
    cause_publish(group, cause);
    set_telling(group, false);
}

/* Of the rank with that number on the near side. */
static int near_rank(const muster_group *group, int number)
{
    int count;
    const int *ranks = near_map_ranks(&group->hosts, group->rank, &count);
    return number < count ? ranks[number] : -1;
}

void failure_reported(muster_comm_owner *owner, int rank, muster_status status,
                      const char *sentence)
{
    const group_side *side = (const group_side *)owner;
    muster_group *group = side->group;
    char translated[ERROR_SIZE];
    if (side == &group->near) {
        rank = rank >= 0 ? near_rank(group, rank) : rank;
        sentence =
            near_sentence(&group->hosts, group->rank, sentence, translated, sizeof(translated));
    }
    if (!failure_begin(group, status))
        return;
    char cause[ERROR_SIZE];
    bool told = status == MUSTER_ERR_REMOTE;
    write_cause(cause, status, told ? rank : group->rank, sentence);
    if (told)
        cause_learn(group, cause);
    else
        cause_publish_loss(group, cause);
    failure_complete(group, cause);
    group_abort_comms(group);
}

void failure_leave(muster_group *group)
{
    char call[160] = "messages", cause[ERROR_SIZE];
    if (!failure_begin(group, MUSTER_ERR_FAILED)) {
        group_abort_comms(group);
        return;
    }
    message_label doing;
    if (work_queue_busy(group->queue) && calls_last(&group->calls, &doing))
        message_label_text(&doing, call, sizeof(call));
    static const char format[] = "%d %d rank %d has freed the group with %s under way";
    snprintf(cause, sizeof(cause), format, (int)MUSTER_ERR_FAILED, group->rank, group->rank, call);
    failure_complete(group, cause);
    group_abort_comms(group);
    snprintf(cause, sizeof(cause), format, (int)MUSTER_ERR_PEER_LOST, group->rank, group->rank,
             call);
    cause_publish(group, cause);
    lost_say_freed(group);
}

void failure_see_others_told(muster_group *group)
{
    if (group->failure.status == MUSTER_OK || !store_served_here(group->store))
        return;
    loss_wait_heard(group->store, group->prefix, &group->ranks, group->rank, SEE_OFF_MS);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Looking after the other ranks, often while an operation runs for long, now and then while nothing
 * runs. An operation that ends within the first pause costs two additions.
 */
#include "config.h"

#include "group/vigil.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "group/cause.h"
#include "group/failure.h"
#include "group/lookout.h"

enum { PAUSE_MS = 200, IDLE_MS = 2000 };

typedef struct vigil {
    muster_group *group;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stopping;
    atomic_bool idle;    /* it rests for long, and is told when something runs */
    atomic_ullong begun; /* operations */
    atomic_ullong ended;
} vigil;

/* The first rank of this host whose process has ended, or -1. */
static int find_gone(const muster_group *group)
{
    for (int r = 0; r < group->size; r++)
        if (r != group->rank && lookout_gone(&group->ranks.ranks[r]))
            return r;
    return -1;
}

static bool has_failed(muster_group *group)
{
    pthread_mutex_lock(&group->failure.lock);
    bool failed = group->failure.status != MUSTER_OK;
    pthread_mutex_unlock(&group->failure.lock);
    return failed;
}

/* What breaks the communicator wakes whoever waits on it. One whose process has ended may have left
 * in order, so that says something only where it is waited for. */
static void look(muster_group *group, bool waits)
{
    char sentence[512], who[320];
    group_side *side = &group->device;
    if (has_failed(group))
        return;
    int gone = waits ? find_gone(group) : -1;
    if (gone >= 0) {
        snprintf(sentence, sizeof(sentence), "%s has ended",
                 rank_record_name(&group->ranks.ranks[gone], who, sizeof(who)));
        failure_reported(&side->owner, gone, MUSTER_ERR_PEER_LOST, sentence);
    } else if (cause_is_known(group))
        failure_reported(&side->owner, -1, MUSTER_ERR_REMOTE, "another rank has failed");
}

/* The lock is held. */
static void rest(vigil *v)
{
    atomic_store(&v->idle, true);
    bool idle = atomic_load(&v->begun) == atomic_load(&v->ended);
    atomic_store(&v->idle, idle);
    thread_wait(&v->changed, &v->lock, deadline_in(idle ? IDLE_MS : PAUSE_MS));
    atomic_store(&v->idle, false);
}

static void *keep_vigil(void *argument)
{
    vigil *v = argument;
    unsigned long long before = UINT64_MAX;
    pthread_mutex_lock(&v->lock);
    while (!v->stopping) {
        unsigned long long now = atomic_load(&v->ended);
        if (now == before) {
            pthread_mutex_unlock(&v->lock);
            look(v->group, atomic_load(&v->begun) != now);
            pthread_mutex_lock(&v->lock);
        }
        before = now;
        if (!v->stopping)
            rest(v);
    }
    pthread_mutex_unlock(&v->lock);
    return NULL;
}

muster_status vigil_start(muster_group *group)
{
    vigil *v = calloc(1, sizeof(*v));
    if (v == NULL)
        return error_no_memory(sizeof(*v), "a group");
    v->group = group;
    pthread_mutex_init(&v->lock, NULL);
    thread_condition_init(&v->changed);
    int error = thread_start_at(&v->thread, keep_vigil, v, &group->home);
    if (error != 0) {
        free(v);
        return error_set(MUSTER_ERR_SYSTEM, "can't start a thread for the group: %s",
                         strerror(error));
    }
    group->vigil = v;
    return MUSTER_OK;
}

void vigil_stop(muster_group *group)
{
    vigil *v = group->vigil;
    if (v == NULL)
        return;
    pthread_mutex_lock(&v->lock);
    v->stopping = true;
    pthread_cond_broadcast(&v->changed);
    pthread_mutex_unlock(&v->lock);
    pthread_join(v->thread, NULL);
    pthread_mutex_destroy(&v->lock);
    pthread_cond_destroy(&v->changed);
    free(v);
    group->vigil = NULL;
}

void vigil_forget(muster_group *group)
{
    free(group->vigil);
    group->vigil = NULL;
}

void vigil_begin(muster_group *group)
{
    vigil *v = group->vigil;
    if (v == NULL)
        return;
    atomic_fetch_add(&v->begun, 1);
    if (!atomic_load(&v->idle))
        return;
    pthread_mutex_lock(&v->lock);
    pthread_cond_broadcast(&v->changed);
    pthread_mutex_unlock(&v->lock);
}

void vigil_end(muster_group *group)
{
    if (group->vigil != NULL)
        atomic_fetch_add(&group->vigil->ended, 1);
}

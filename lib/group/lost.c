/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster_group_lost_ranks: what each rank that is left has seen of the others is put together in
 * the store, so that all of them name the same.
 *
 * Keys: <prefix>/lost has a character for each rank, '1' for one that is lost, and only grows;
 * <prefix>/lost/<shrinks>/<rank> that a rank has added what it saw. In a group that has failed each
 * rank waits until all that are not lost have done so, once between two shrinks, and only then
 * reads. All talk with the store is on a thread aside, since it may be what is lost.
 */
#include "config.h"

#include "group/lost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/deadline.h"
#include "base/error.h"
#include "base/thread.h"
#include "collective/work_handle.h"
#include "group/failure.h"
#include "group/loss.h"
#include "net/host_identity.h"
#include "store/store.h"

/* How long ranks whose connections were closed have to end or to say that they have failed, how
 * long the others have to say what they saw, and all of it. */
enum { SETTLE_MS = 500, OTHERS_MS = 1500, ROUND_MS = 50, PATIENCE_MS = 2500, FREED_MS = 500 };

/* What one call is about, in memory of its own. */
typedef struct search {
    loss others;  /* all ranks but this one */
    char *prefix; /* others has it too */
    bool failed;  /* the group has */
    long long shrinks;
    bool *suspected; /* a flag for each of others: its connection was closed without a word */
    char *in;        /* a character a rank */
} search;

static void search_free(void *what)
{
    search *one = what;
    muster_store_free(one->others.store);
    free(one->others.suspects);
    free(one->suspected);
    free(one->prefix);
    free(one->in);
    free(one);
}

/* Adds what others have put there; true where in has ranks that are not there yet. */
static bool merge(char *in, const char *there, size_t count)
{
    bool more = false;
    for (size_t r = 0; r < count; r++) {
        if (there[r] == '1')
            in[r] = '1';
        more = more || in[r] != there[r];
    }
    return more;
}

/* How often others may add to the set between two looks at it. */
enum { JOIN_ROUNDS = 1000 };

/* The common set becomes what it was together with in, and in becomes that. */
static bool join(muster_store *store, const char *prefix, char *in, size_t count)
{
    char *key = NULL, *there = calloc(1, count + 1);
    bool more = there != NULL && asprintf(&key, "%s/lost", prefix) >= 0, done = more;
    for (int round = 0; more && round < JOIN_ROUNDS; round++) {
        void *value = NULL;
        size_t size = 0;
        done = muster_store_compare_set(store, muster_str(key), muster_str(there),
                                        (muster_blob){in, count}, &value, &size) == MUSTER_OK;
        if (done && size == count)
            memcpy(there, value, count);
        more = done && size == count && merge(in, there, count);
        muster_free(value);
    }
    free(there);
    free(key);
    return done;
}

static char *said_key(const search *one, int rank)
{
    char *key = NULL;
    return asprintf(&key, "%s/lost/%lld/%d", one->prefix, one->shrinks, rank) < 0 ? NULL : key;
}

/* Whoever has ended is lost, whatever it has said. */
static void look_at_processes(search *one)
{
    for (int i = 0; i < one->others.count; i++) {
        const suspect *it = &one->others.suspects[i];
        if (it->visible && !host_identity_alive(it->pid_space, it->pid, it->start))
            one->in[it->rank] = '1';
    }
}

/* Those whose connections were closed: who can be looked at ends in a moment or is not lost, and
 * any other is lost that does not say that it has failed. */
static void settle_suspects(search *one)
{
    loss open = one->others;
    open.suspects = calloc((size_t)open.size, sizeof(suspect));
    open.count = 0;
    for (int i = 0; open.suspects != NULL && i < one->others.count; i++)
        if (one->suspected[i])
            open.suspects[open.count++] = one->others.suspects[i];
    deadline end = deadline_in(SETTLE_MS);
    while (open.count > 0 && !loss_review(&open) && deadline_left_ms(end) > 0)
        nanosleep(&(struct timespec){0, ROUND_MS * 1000000L}, NULL);
    for (int i = 0; i < open.count; i++) {
        const suspect *it = &open.suspects[i];
        if (it->ended || (!it->said && !it->visible))
            one->in[it->rank] = '1';
    }
    free(open.suspects);
}

/* Waits a moment for those that are not lost; true once they have all said what they saw, or the
 * store does not tell. */
static bool have_others_said(search *one)
{
    size_t count = 0;
    muster_blob *keys = calloc((size_t)one->others.size, sizeof(*keys));
    for (int r = 0; keys != NULL && r < one->others.size; r++) {
        char *key = one->in[r] == '1' ? NULL : said_key(one, r);
        if (key != NULL)
            keys[count++] = muster_str(key);
    }
    muster_status status =
        count > 0 ? muster_store_wait(one->others.store, keys, count, ROUND_MS) : MUSTER_OK;
    for (size_t i = 0; i < count; i++)
        free((void *)keys[i].data);
    free(keys);
    return status != MUSTER_ERR_TIMEOUT;
}

static void ask_others(search *one)
{
    size_t size = (size_t)one->others.size;
    char *key = said_key(one, one->others.rank);
    deadline end = deadline_in(OTHERS_MS);
    if (key != NULL)
        muster_store_set(one->others.store, muster_str(key), muster_str("1"));
    free(key);
    while (!have_others_said(one) && deadline_left_ms(end) > 0) {
        look_at_processes(one);
        if (!join(one->others.store, one->prefix, one->in, size))
            return;
    }
    join(one->others.store, one->prefix, one->in, size);
}

static void search_run(void *what)
{
    search *one = what;
    if (one->failed)
        settle_suspects(one);
    if (join(one->others.store, one->prefix, one->in, (size_t)one->others.size) && one->failed)
        ask_others(one);
}

/* What the backend knows. */
static void ask_backend(const muster_group *group, search *one)
{
    for (int i = 0; i < one->others.count; i++) {
        int rank = one->others.suspects[i].rank;
        one->suspected[i] = one->failed && group_suspects(group, rank);
        if (group_has_left(group, rank))
            one->in[rank] = '1';
    }
}

static search *search_new(muster_group *group)
{
    size_t size = (size_t)group->size;
    search *one = calloc(1, sizeof(*one));
    if (one == NULL)
        return NULL;
    one->prefix = strdup(group->prefix);
    one->suspected = calloc(size, sizeof(bool));
    one->in = malloc(size);
    one->others = (loss){.store = store_retain(group->store),
                         .prefix = one->prefix,
                         .rank = group->rank,
                         .size = group->size,
                         .suspects = calloc(size, sizeof(suspect))};
    one->shrinks = family_count(group->children, "/shrinks", 0);
    if (one->prefix == NULL || one->suspected == NULL || one->in == NULL ||
        one->others.suspects == NULL || one->shrinks < 0) {
        search_free(one);
        return NULL;
    }
    memset(one->in, '0', size);
    for (int r = 0; r < group->size; r++)
        if (r != group->rank)
            loss_add(&one->others, &group->ranks.ranks[r]);
    one->failed = failure_check(group) != MUSTER_OK;
    ask_backend(group, one);
    look_at_processes(one);
    return one;
}

static void say_freed(void *what)
{
    search *one = what;
    one->in[one->others.rank] = '1';
    join(one->others.store, one->prefix, one->in, (size_t)one->others.size);
}

void lost_say_freed(muster_group *group)
{
    search *one = search_new(group);
    if (one != NULL && thread_run_aside(say_freed, search_free, one, FREED_MS))
        search_free(one);
}

/* Where the store does not answer it is what this rank sees by itself. */
static muster_status find_lost(muster_group *group, char *in)
{
    error_kept before;
    error_keep(&before);
    search *one = search_new(group);
    if (one == NULL)
        return error_no_memory(sizeof(*one), "a search");
    memcpy(in, one->in, (size_t)group->size);
    if (thread_run_aside(search_run, search_free, one, PATIENCE_MS)) {
        memcpy(in, one->in, (size_t)group->size);
        search_free(one);
    }
    return error_settle(&before, MUSTER_OK);
}

static muster_status list_lost(const char *in, int size, int **ranks, size_t *num_ranks)
{
    int *list = malloc((size_t)size * sizeof(int));
    size_t count = 0;
    if (list == NULL)
        return error_no_memory((size_t)size * sizeof(int), "a list of ranks");
    for (int r = 0; r < size; r++)
        if (in[r] == '1')
            list[count++] = r;
    *ranks = list;
    *num_ranks = count;
    return MUSTER_OK;
}

muster_status muster_group_lost_ranks(muster_group *group, int **ranks, size_t *num_ranks)
{
    static const char *const function = "muster_group_lost_ranks";
    muster_status status = group_enter(group, function);
    if (status != MUSTER_OK)
        return status;
    if (ranks == NULL || num_ranks == NULL)
        status = error_set(MUSTER_ERR_ARGUMENT, "the place for the %s is NULL",
                           ranks == NULL ? "ranks" : "number of ranks");
    if (status == MUSTER_OK)
        status = work_handle_may_wait();
    char *in = status == MUSTER_OK ? calloc((size_t)group->size, 1) : NULL;
    if (status == MUSTER_OK && in == NULL)
        status = error_no_memory((size_t)group->size, "a set of ranks");
    if (status == MUSTER_OK)
        status = find_lost(group, in);
    if (status == MUSTER_OK)
        status = list_lost(in, group->size, ranks, num_ranks);
    free(in);
    return status == MUSTER_OK ? MUSTER_OK : group_error(group, function, status);
}

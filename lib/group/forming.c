/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Forming groups.
 *
 * Every group is opened on its own thread. Where a process forms two groups at once, both backends'
 * addresses go through the store in one round: each opening thread leaves its address and waits,
 * and the calling thread has the round for both.
 */
#include "config.h"

#include "group/forming.h"

#include <endian.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collective/compose.h"
#include "base/error.h"
#include "group/failure.h"
#include "base/fnv.h"
#include "group/handshake.h"
#include "base/log.h"
#include "base/thread.h"
#include "collective/work.h"

/* How far the opening of one group is. */
typedef enum opening_state {
    OPENING_BEGUN,
    OPENING_SUBMITTED, /* its address waits for the round */
    OPENING_ANSWERED,  /* the others' addresses are there */
    OPENING_ENDED
} opening_state;

struct opening {
    struct forming *all;
    muster_group *group;
    muster_blob given; /* the name that the caller gave */
    opening_state state;
    muster_status status; /* of the round, then of opening as a whole */
    char sentence[ERROR_SIZE];
    muster_blob mine;
    muster_blob *theirs;
};

typedef struct forming {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    exchange *meeting;
    struct opening openings[FORMING_MAX_GROUPS];
    size_t count;
    atomic_bool cancelled;
    muster_status cause; /* why, for the calling thread alone */
    char cause_sentence[ERROR_SIZE];
} forming;

static void opening_move(struct opening *one, opening_state state, muster_status status)
{
    pthread_mutex_lock(&one->all->lock);
    if (status != MUSTER_OK && one->status == MUSTER_OK) {
        one->status = status;
        snprintf(one->sentence, sizeof(one->sentence), "%s", muster_last_error());
    }
    one->state = state;
    pthread_cond_broadcast(&one->all->changed);
    pthread_mutex_unlock(&one->all->lock);
}

/* host->exchange: called by the backend's open on the group's thread. */
muster_status forming_exchange(muster_comm_owner *owner, muster_blob mine, const muster_blob **all)
{
    struct opening *one = ((muster_group *)owner)->opening;
    if (one == NULL || one->state != OPENING_BEGUN)
        return error_set(MUSTER_ERR_INTERNAL,
                         "a backend called exchange outside of open, or twice");
    one->mine = mine;
    opening_move(one, OPENING_SUBMITTED, MUSTER_OK);
    pthread_mutex_lock(&one->all->lock);
    while (one->state == OPENING_SUBMITTED)
        pthread_cond_wait(&one->all->changed, &one->all->lock);
    muster_status status = one->status;
    if (status != MUSTER_OK)
        error_set(status, "%s", one->sentence);
    pthread_mutex_unlock(&one->all->lock);
    *all = one->theirs;
    return status;
}

bool forming_cancelled(const muster_comm_owner *owner)
{
    const struct opening *one = ((const muster_group *)owner)->opening;
    return one != NULL && atomic_load(&one->all->cancelled);
}

static void take_cause(forming *all, muster_status cause)
{
    all->cause = cause;
    if (cause != MUSTER_OK)
        snprintf(all->cause_sentence, sizeof(all->cause_sentence), "%s", muster_last_error());
}

/* While the backends are busy: if another rank has failed or has ended, they are to give up. */
static void look_around(forming *all)
{
    if (all->cause != MUSTER_OK)
        return;
    take_cause(all, exchange_look(all->meeting));
    if (all->cause != MUSTER_OK)
        atomic_store(&all->cancelled, true);
}

static muster_status choose_backend(muster_group *group)
{
    group->one_host = roster_num_hosts(&group->ranks) == 1;
    muster_status status =
        handshake_choose(&group->ranks, group->asked, &group->backend, &group->why);
    if (status == MUSTER_OK && group->size > 1)
        status = handshake_address(&group->ranks, group->backend->name, group->rank,
                                   &group->address, &group->address_why);
    return status;
}

/* What a rank says about itself through a communicator that has just been opened. */
typedef struct who_am_i {
    uint64_t group; /* tells this group from any other */
    uint64_t rank;
    uint64_t size;
    uint64_t world_rank;
} who_am_i;

static uint64_t group_tag(const muster_group *group)
{
    return fnv_add_text(group->ranks.ranks[0].nonce, group->prefix);
}

static muster_status check_who(const muster_group *group, const who_am_i *all, uint64_t tag)
{
    for (int r = 0; r < group->size; r++) {
        char who[320];
        bool right = le64toh(all[r].group) == tag && le64toh(all[r].rank) == (uint64_t)r &&
                     le64toh(all[r].size) == (uint64_t)group->size &&
                     le64toh(all[r].world_rank) == (uint64_t)group->to_world[r];
        if (!right)
            return error_set(
                MUSTER_ERR_MISMATCH,
                "the test of the new group failed: where %s should be, one answers that says it is "
                "rank %llu of %llu, rank %llu of the world%s",
                rank_record_name(&group->ranks.ranks[r], who, sizeof(who)),
                (unsigned long long)le64toh(all[r].rank), (unsigned long long)le64toh(all[r].size),
                (unsigned long long)le64toh(all[r].world_rank),
                le64toh(all[r].group) == tag ? "" : ", of another group");
    }
    return MUSTER_OK;
}

/* Every rank tells every other who it is, in integers that a wrong member, order or size can't
 * pass. */
static muster_status test_group(muster_group *group)
{
    uint64_t tag = group_tag(group);
    who_am_i *all = calloc((size_t)group->size, sizeof(*all));
    if (all == NULL)
        return error_no_memory((size_t)group->size * sizeof(*all), "the test of a group");
    all[group->rank] = (who_am_i){.group = htole64(tag),
                                  .rank = htole64((uint64_t)group->rank),
                                  .size = htole64((uint64_t)group->size),
                                  .world_rank = htole64((uint64_t)group->to_world[group->rank])};
    message_label label = compose_label(group, MESSAGE_ALL_GATHER);
    label.count = sizeof(*all);
    muster_status status =
        compose_all_gather_equal(group, &label, all, sizeof(*all), compose_deadline(group));
    /* The program counts its own operations. */
    atomic_store(&group->sequence, 0);
    pthread_mutex_lock(&group->failure.lock);
    group->calls = (call_list){0};
    pthread_mutex_unlock(&group->failure.lock);
    if (status == MUSTER_OK)
        status = check_who(group, all, tag);
    free(all);
    return status;
}

/* All ranks are told in the same words, so what went wrong on one of them says on which. What is
 * about other ranks names them already; of a group made of a group that is by their new numbers. */
static muster_status say_where(const muster_group *group, muster_status status)
{
    char who[320];
    bool sub_group = group->place.name == NULL;
    if (status == MUSTER_OK)
        return status;
    if (status == MUSTER_ERR_PEER_LOST || status == MUSTER_ERR_TIMEOUT ||
        status == MUSTER_ERR_FAILED)
        return sub_group ? error_prefix(status, "by the ranks of the new group '%s': ", group->name)
                         : status;
    rank_record_name(&group->ranks.ranks[group->rank], who, sizeof(who));
    return error_prefix(status, "%s%s%s%s: ", who, sub_group ? " of '" : "",
                        sub_group ? group->name : "", sub_group ? "'" : "");
}

static muster_status open_comm(muster_group *group, const exchange *meeting)
{
    const muster_open_args args = {
        .size = sizeof(args),
        .rank = group->rank,
        .num_ranks = group->size,
        .group_name = group->name,
        .timeout_ms = deadline_left_ms(meeting->end),
        .address = group->address,
        .one_host = group->one_host,
        .ranks_here = roster_ranks_on_host(&group->ranks, group->rank),
        .cores_here = group->ranks.ranks[group->rank].cores,
    };
    muster_comm *comm = NULL;
    muster_status status = group->backend->ops->open(&group->owner, &args, &comm);
    if (status != MUSTER_OK)
        return say_where(group, error_prefix(status, "backend '%s': ", group->backend->name));
    atomic_store(&group->comm, comm);
    return failure_check(group);
}

/* On the group's own thread. */
static muster_status open_and_test(muster_group *group, void *unused)
{
    (void)unused;
    struct opening *one = group->opening;
    muster_status status = open_comm(group, one->all->meeting);
    if (status == MUSTER_OK)
        status = say_where(group, test_group(group));
    opening_move(one, OPENING_ENDED, status);
    return status;
}

static muster_status start_opening(struct opening *one)
{
    muster_group *group = one->group;
    muster_status status = choose_backend(group);
    if (status == MUSTER_OK && group->size > 1)
        status = say_where(group, work_queue_start(&group->queue, group));
    if (status != MUSTER_OK || group->size == 1) {
        opening_move(one, OPENING_ENDED, status);
        return status;
    }
    group->opening = one;
    muster_work *work = NULL;
    status = say_where(group, work_issue(group, open_and_test, NULL, 0, &work));
    if (status != MUSTER_OK)
        opening_move(one, OPENING_ENDED, status);
    muster_work_free(work);
    return status;
}

/* Waits until an opening has come so far. The lock is held. */
static void wait_for_opening(forming *all, const struct opening *one, opening_state at_least)
{
    enum { FIRST_LOOK_MS = 200, LONGEST_MS = 1000 };
    int64_t pause_ms = FIRST_LOOK_MS;
    deadline look = deadline_in(pause_ms);
    while (one->state < at_least) {
        if (thread_wait(&all->changed, &all->lock, look))
            continue;
        pthread_mutex_unlock(&all->lock);
        look_around(all);
        pthread_mutex_lock(&all->lock);
        pause_ms = pause_ms * 2 < LONGEST_MS ? pause_ms * 2 : LONGEST_MS;
        look = deadline_in(pause_ms);
    }
}

/* A backend that has lost a rank knows it by a number and no more. Who it was and that it has
 * ended, or why it has given up, is known to others in a moment. Where the store has gone that may
 * be why, and nobody can say so. */
static void explain_loss(forming *all, const struct opening *failed)
{
    enum { MOMENT_MS = 300, NAP_MS = 30 };
    const struct timespec nap = {0, NAP_MS * 1000000L};
    deadline end = deadline_in(MOMENT_MS);
    look_around(all);
    while (all->cause == MUSTER_OK && deadline_left_ms(end) > 0) {
        nanosleep(&nap, NULL);
        look_around(all);
    }
    if (all->cause != MUSTER_OK)
        return;
    take_cause(all, exchange_hear(all->meeting));
    if (all->cause != MUSTER_OK && all->meeting->unheard)
        take_cause(all, exchange_blame_store(all->cause, failed->sentence));
}

/* Waits until all openings have come so far; what has gone wrong first, or MUSTER_OK. */
static muster_status wait_for_openings(forming *all, opening_state at_least)
{
    const struct opening *failed = NULL;
    pthread_mutex_lock(&all->lock);
    for (size_t i = 0; i < all->count; i++) {
        wait_for_opening(all, &all->openings[i], at_least);
        if (failed == NULL && all->openings[i].status != MUSTER_OK)
            failed = &all->openings[i];
    }
    pthread_mutex_unlock(&all->lock);
    if (failed != NULL &&
        (failed->status == MUSTER_ERR_PEER_LOST || failed->status == MUSTER_ERR_FAILED ||
         failed->status == MUSTER_ERR_REMOTE))
        explain_loss(all, failed);
    if (all->cause != MUSTER_OK)
        return error_set(all->cause, "%s", all->cause_sentence);
    return failed != NULL ? error_set(failed->status, "%s", failed->sentence) : MUSTER_OK;
}

static char *put_part(char *at, muster_blob part)
{
    uint64_t length = htole64(part.size);
    memcpy(at, &length, sizeof(length));
    at += sizeof(length);
    if (part.size > 0)
        memcpy(at, part.data, part.size);
    return at + part.size;
}

/* The name and the address of each, one after the other, each behind its length. */
static muster_status pack(const forming *all, muster_blob *packed)
{
    size_t size = 0;
    for (size_t i = 0; i < all->count; i++)
        size += 2 * sizeof(uint64_t) + all->openings[i].given.size + all->openings[i].mine.size;
    char *bytes = malloc(size + 1), *at = bytes;
    if (bytes == NULL)
        return error_no_memory(size, "addresses");
    for (size_t i = 0; i < all->count; i++) {
        at = put_part(at, all->openings[i].given);
        at = put_part(at, all->openings[i].mine);
    }
    *packed = (muster_blob){bytes, size};
    return MUSTER_OK;
}

/* The part number index of what a participant published. */
static muster_status unpack(muster_blob packed, size_t index, muster_blob *part)
{
    const char *at = packed.data;
    size_t left = packed.size;
    for (size_t i = 0; left >= sizeof(uint64_t); i++) {
        uint64_t length;
        memcpy(&length, at, sizeof(length));
        length = le64toh(length);
        at += sizeof(length);
        left -= sizeof(length);
        if (length > left)
            break;
        *part = (muster_blob){at, (size_t)length};
        if (i == index)
            return MUSTER_OK;
        at += length;
        left -= (size_t)length;
    }
    return error_set(MUSTER_ERR_PROTOCOL, "a rank published an address that is cut short");
}

static const char *say_name(muster_blob given, char *text, size_t size)
{
    if (given.size == 0)
        return "none";
    snprintf(text, size, "'%.*s'", (int)given.size, (const char *)given.data);
    return text;
}

/* All members have given the name that the first one has. */
static muster_status check_name(const muster_group *group, int rank, muster_blob first,
                                muster_blob given)
{
    char one[256], other[256];
    if (given.size == first.size &&
        (given.size == 0 || memcmp(given.data, first.data, given.size) == 0))
        return MUSTER_OK;
    return error_set(MUSTER_ERR_MISMATCH,
                     "the ranks disagree: of those who are to be one group rank %d gives it the "
                     "group_name %s, but rank %d %s; all must give the same",
                     group->to_parent[0], say_name(first, one, sizeof(one)), group->to_parent[rank],
                     say_name(given, other, sizeof(other)));
}

/* Gives the group of one opening what its members published, from theirs on. */
static muster_status answer(forming *all, size_t index, const muster_blob *published)
{
    struct opening *one = &all->openings[index];
    int size = one->group->size;
    one->theirs = calloc((size_t)size, sizeof(muster_blob));
    if (one->theirs == NULL)
        return error_no_memory((size_t)size * sizeof(muster_blob), "addresses");
    muster_status status = MUSTER_OK;
    muster_blob first = {NULL, 0}, given = {NULL, 0};
    for (int r = 0; status == MUSTER_OK && r < size; r++) {
        status = unpack(published[r], 2 * index, &given);
        first = r == 0 ? given : first;
        if (status == MUSTER_OK)
            status = check_name(one->group, r, first, given);
        if (status == MUSTER_OK)
            status = unpack(published[r], 2 * index + 1, &one->theirs[r]);
    }
    return status;
}

static muster_status have_round(forming *all, const forming_plan *plans)
{
    int wanted_count = 0, at = 0;
    for (size_t i = 0; i < all->count; i++)
        wanted_count += plans[i].group->size;
    int *wanted = calloc((size_t)wanted_count + 1, sizeof(int));
    muster_blob mine = {NULL, 0};
    const muster_blob *published = NULL;
    muster_status status = wanted == NULL ? error_no_memory((size_t)wanted_count, "a list of ranks")
                                          : pack(all, &mine);
    for (size_t i = 0; status == MUSTER_OK && i < all->count; i++)
        for (int r = 0; r < plans[i].group->size; r++)
            wanted[at++] = plans[i].positions != NULL ? plans[i].positions[r] : r;
    if (status == MUSTER_OK)
        status = exchange_round(all->meeting, mine, false, wanted, (size_t)wanted_count, "to join",
                                &published);
    for (size_t i = 0; status == MUSTER_OK && i < all->count; i++) {
        status = answer(all, i, published);
        published += plans[i].group->size;
    }
    free((void *)mine.data);
    free(wanted);
    return status;
}

static void let_go(forming *all, muster_status status)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->openings[i].state == OPENING_SUBMITTED)
            opening_move(&all->openings[i], OPENING_ANSWERED, status);
}

static muster_status form(forming *all, const forming_plan *plans)
{
    for (size_t i = 0; i < all->count; i++)
        start_opening(&all->openings[i]);
    muster_status status = wait_for_openings(all, OPENING_SUBMITTED);
    if (status == MUSTER_OK)
        status = have_round(all, plans);
    status = exchange_settle(all->meeting, status);
    char sentence[ERROR_SIZE];
    snprintf(sentence, sizeof(sentence), "%s", muster_last_error());
    let_go(all, status);
    muster_status opened = wait_for_openings(all, OPENING_ENDED);
    return status == MUSTER_OK ? exchange_settle(all->meeting, opened)
                               : error_set(status, "%s", sentence);
}

static muster_status verdict(exchange *meeting, const forming_plan *plans, size_t num_plans)
{
    static const int nobody = 0;
    muster_status status = MUSTER_OK;
    for (size_t i = 0; status == MUSTER_OK && i < num_plans; i++)
        if (plans[i].group->place.name != NULL && plans[i].group->rank == 0)
            status = claim_formed(&plans[i].group->place);
    status = exchange_settle(meeting, status);
    if (status == MUSTER_OK)
        status =
            exchange_round(meeting, muster_str(""), false, &nobody, 0, "to test the group", NULL);
    return status;
}

muster_status forming_run(exchange *meeting, const forming_plan *plans, size_t num_plans)
{
    forming all = {.meeting = meeting, .count = num_plans};
    pthread_mutex_init(&all.lock, NULL);
    thread_condition_init(&all.changed);
    for (size_t i = 0; i < num_plans; i++)
        all.openings[i] =
            (struct opening){.all = &all,
                             .group = plans[i].group,
                             .given = muster_str(plans[i].given != NULL ? plans[i].given : "")};
    muster_status status = form(&all, plans);
    if (status == MUSTER_OK)
        status = verdict(meeting, plans, num_plans);
    for (size_t i = 0; i < num_plans; i++) {
        work_queue_drain(plans[i].group->queue, DEADLINE_LONGEST_MS);
        plans[i].group->opening = NULL;
        free(all.openings[i].theirs);
    }
    pthread_mutex_destroy(&all.lock);
    pthread_cond_destroy(&all.changed);
    return status;
}

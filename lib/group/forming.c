/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Forming groups.
 *
 * Every group is opened on its own thread. Where a process forms two groups at once, both backends'
 * addresses go through the store in one round: each opening thread leaves its address and waits,
 * and the calling thread has the round for both.
 */
#include "config.h"

#include "group/opening.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/thread.h"
#include "collective/work.h"

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
    for (size_t i = 0; i < OPENING_SIDES * all->count; i++) {
        const struct opening *one = &all->openings[i / OPENING_SIDES][i % OPENING_SIDES];
        wait_for_opening(all, one, at_least);
        if (failed == NULL && one->status != MUSTER_OK)
            failed = one;
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

/* Of each group the name and the addresses of its sides, each behind its length; of a side that is
 * not there nothing. */
enum { PARTS = 1 + OPENING_SIDES };
static muster_status pack(const forming *all, muster_blob *packed)
{
    size_t size = 0;
    for (size_t i = 0; i < all->count; i++) {
        size += PARTS * sizeof(uint64_t) + all->openings[i][0].given.size;
        for (int side = 0; side < OPENING_SIDES; side++)
            size += all->openings[i][side].mine.size;
    }
    char *bytes = malloc(size + 1), *at = bytes;
    if (bytes == NULL)
        return error_no_memory(size, "addresses");
    for (size_t i = 0; i < all->count; i++) {
        at = put_part(at, all->openings[i][0].given);
        for (int side = 0; side < OPENING_SIDES; side++)
            at = put_part(at, all->openings[i][side].mine);
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

/* All members of a group give it one name. */
static muster_status check_names(const forming_plan *plan, size_t index,
                                 const muster_blob *published)
{
    muster_status status = MUSTER_OK;
    muster_blob first = {NULL, 0}, given = {NULL, 0};
    for (int r = 0; status == MUSTER_OK && r < plan->group->size; r++) {
        status = unpack(published[r], PARTS * index, &given);
        first = r == 0 ? given : first;
        if (status == MUSTER_OK)
            status = check_name(plan->group, r, first, given);
    }
    return status;
}

/* Gives one side of a group what its members published. */
static muster_status answer(struct opening *one, size_t part, const muster_blob *published)
{
    if (one->side == NULL)
        return MUSTER_OK;
    const muster_group *group = one->side->group;
    bool near = one->side == &group->near;
    int count = group->size;
    const int *ranks = near ? near_map_ranks(&group->hosts, group->rank, &count) : NULL;
    one->theirs = calloc((size_t)count, sizeof(muster_blob));
    if (one->theirs == NULL)
        return error_no_memory((size_t)count * sizeof(muster_blob), "addresses");
    muster_status status = MUSTER_OK;
    for (int r = 0; status == MUSTER_OK && r < count; r++)
        status = unpack(published[near ? ranks[r] : r], part, &one->theirs[r]);
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
        status = check_names(&plans[i], i, published);
        for (size_t side = 0; status == MUSTER_OK && side < OPENING_SIDES; side++)
            status = answer(&all->openings[i][side], PARTS * i + 1 + side, published);
        published += plans[i].group->size;
    }
    free((void *)mine.data);
    free(wanted);
    return status;
}

static void let_go(forming *all, muster_status status)
{
    for (size_t i = 0; i < OPENING_SIDES * all->count; i++)
        if (all->openings[i / OPENING_SIDES][i % OPENING_SIDES].state == OPENING_SUBMITTED)
            opening_move(&all->openings[i / OPENING_SIDES][i % OPENING_SIDES], OPENING_ANSWERED,
                         status);
}

static muster_status form(forming *all, const forming_plan *plans)
{
    for (size_t i = 0; i < all->count; i++)
        opening_start(all->openings[i], &plans[i]);
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
        for (int side = 0; side < OPENING_SIDES; side++)
            all.openings[i][side] =
                (struct opening){.all = &all,
                                 .plan = &plans[i],
                                 .given = muster_str(plans[i].given != NULL ? plans[i].given : "")};
    muster_status status = form(&all, plans);
    if (status == MUSTER_OK)
        status = verdict(meeting, plans, num_plans);
    for (size_t i = 0; i < num_plans; i++) {
        work_queue_drain(plans[i].group->queue, DEADLINE_LONGEST_MS);
        plans[i].group->host.opening = plans[i].group->device.opening = NULL;
        plans[i].group->messages.opening = plans[i].group->near.opening = NULL;
        for (int side = 0; side < OPENING_SIDES; side++)
            free(all.openings[i][side].theirs);
    }
    pthread_mutex_destroy(&all.lock);
    pthread_cond_destroy(&all.changed);
    return status;
}

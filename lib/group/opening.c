/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening one group: its backends are chosen, their communicators opened, and the group is tested.
 *
 * What carries messages is opened and tested on the group's own thread, the other side beside it.
 */
#include "config.h"

#include "group/opening.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/thread.h"
#include "collective/bulk.h"
#include "collective/work.h"
#include "group/choice.h"
#include "group/failure.h"
#include "group/group_device.h"
#include "group/handshake.h"
#include "group/vigil.h"

void opening_move(struct opening *one, opening_state state, muster_status status)
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

static bool is_of_device(const group_side *side)
{
    return side != NULL && side != &side->group->host && side != &side->group->near;
}

/* The sides with devices are opened one after the other, in the same order on all ranks: two that
 * are opened at once may wait for each other. The lock is held. */
static bool is_turn(const struct opening *one)
{
    if (!is_of_device(one->side))
        return true;
    for (size_t i = 0; i < OPENING_SIDES * one->all->count; i++) {
        const struct opening *other = &one->all->openings[i / OPENING_SIDES][i % OPENING_SIDES];
        if (other == one)
            break;
        if (is_of_device(other->side) && other->state != OPENING_ENDED)
            return false;
    }
    return true;
}

/* host->exchange: called by the backend's open on a thread of the group. */
muster_status forming_exchange(muster_comm_owner *owner, muster_blob mine, const muster_blob **all)
{
    struct opening *one = ((group_side *)owner)->opening;
    if (one == NULL || one->state != OPENING_BEGUN)
        return error_set(MUSTER_ERR_INTERNAL,
                         "a backend called exchange outside of open, or twice");
    one->mine = mine;
    opening_move(one, OPENING_SUBMITTED, MUSTER_OK);
    pthread_mutex_lock(&one->all->lock);
    while (one->state == OPENING_SUBMITTED || (one->status == MUSTER_OK && !is_turn(one)))
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
    const struct opening *one = ((const group_side *)owner)->opening;
    return one != NULL && atomic_load(&one->all->cancelled);
}

static muster_status choose_backends(muster_group *group)
{
    group->one_host = roster_num_hosts(&group->ranks) == 1;
    choice made;
    muster_status status = choice_make(&group->ranks, group->asked, &made);
    if (status != MUSTER_OK)
        return status;
    group->host.backend = made.host;
    group->device.backend = made.device;
    if (made.shares && !group->one_host) {
        group->near.backend = backend_find("local");
        status = near_map_make(&group->ranks, &group->hosts);
    }
    group->why = made.why;
    group->backends = made.name;
    group->in_pieces = true;
    for (int r = 0; r < group->size; r++)
        group->in_pieces = group->in_pieces && group->ranks.ranks[r].in_use != 0;
    if (made.host == NULL && group->size > 1)
        group->messages.backend = made.device;
    group_side *sides[GROUP_SIDES];
    size_t count = group_sides(group, sides);
    for (size_t i = 0; status == MUSTER_OK && i < count; i++)
        if ((group->size > 1 || sides[i] == &group->device) &&
            strcmp(sides[i]->backend->name, "local") != 0)
            status = handshake_address(&group->ranks, sides[i]->backend->name, group->rank,
                                       &sides[i]->address, &sides[i]->address_why);
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
        bulk_all_gather_equal(group, &label, all, sizeof(*all), compose_deadline(group));
    /* The program counts its own operations. */
    atomic_store(&group->sequence, 0);
    calls_clear(&group->calls);
    if (status == MUSTER_OK)
        status = check_who(group, all, tag);
    free(all);
    return status;
}

static bool is_sub_group(const muster_group *group)
{
    return group->place.name == NULL;
}

/* All ranks are told in the same words, so what went wrong on one of them says on which. */
static muster_status say_here(const muster_group *group, muster_status status)
{
    char who[320];
    if (status == MUSTER_OK)
        return status;
    rank_record_name(&group->ranks.ranks[group->rank], who, sizeof(who));
    return error_prefix(status, "%s%s%s%s: ", who, is_sub_group(group) ? " of '" : "",
                        is_sub_group(group) ? group->name : "", is_sub_group(group) ? "'" : "");
}

/* The same of what may be about other ranks, which it names then; of a group made of a group that
 * is by their new numbers. */
static muster_status say_where(const muster_group *group, muster_status status)
{
    bool of_others = status == MUSTER_ERR_PEER_LOST || status == MUSTER_ERR_TIMEOUT ||
                     status == MUSTER_ERR_FAILED;
    if (!of_others)
        return say_here(group, status);
    return is_sub_group(group)
               ? error_prefix(status, "by the ranks of the new group '%s': ", group->name)
               : status;
}

/* The parent's communicator where this one may be split off it, which is the same on all ranks. */
static muster_comm *splitting(const struct opening *one)
{
    muster_group *parent = one->plan->parent;
    if (parent == NULL || !is_of_device(one->side))
        return NULL;
    group_side *same = one->side == &one->side->group->device ? &parent->device : &parent->messages;
    return same->backend == one->side->backend ? atomic_load(&same->comm) : NULL;
}

/* A split has its place in the order of the parent's operations, behind what was issued before. */
static muster_status await_parent(const struct opening *one)
{
    if (splitting(one) == NULL ||
        work_queue_drain(one->plan->parent->queue, deadline_left_ms(one->all->meeting->end)))
        return MUSTER_OK;
    return error_set(MUSTER_ERR_TIMEOUT,
                     "operations of group '%s' that were issued before have not ended",
                     one->plan->parent->name);
}

/* The near side has the ranks of this host alone. */
static void narrow_to_host(const muster_group *group, muster_open_args *args)
{
    near_map_ranks(&group->hosts, group->rank, &args->num_ranks);
    args->rank = group->hosts.place[group->rank];
    args->one_host = true;
}

static muster_status open_side(struct opening *one)
{
    group_side *side = one->side;
    muster_group *group = side->group;
    muster_open_args args = {
        .size = sizeof(args),
        .rank = group->rank,
        .num_ranks = group->size,
        .group_name = group->name,
        .timeout_ms = deadline_left_ms(one->all->meeting->end),
        .address = side->address,
        .one_host = group->one_host,
        .ranks_here = roster_ranks_on_host(&group->ranks, group->rank),
        .cores_here = group->ranks.ranks[group->rank].cores,
        .device = is_of_device(side) ? group->gpu.ordinal : -1,
        .stream = side == &group->device     ? muster_group_stream(group)
                  : side == &group->messages ? group->gpu.message_stream
                                             : NULL,
        .parent = splitting(one),
        .color = one->plan->color,
    };
    if (side == &group->near)
        narrow_to_host(group, &args);
    muster_comm *comm = NULL;
    muster_status status = await_parent(one);
    if (status == MUSTER_OK)
        status = side->backend->ops->open(&side->owner, &args, &comm);
    if (status != MUSTER_OK && side == &group->near)
        near_error(&group->hosts, group->rank, status);
    if (status != MUSTER_OK) { /* what is behind a device names no rank */
        error_prefix(status, "backend '%s': ", side->backend->name);
        return is_of_device(side) ? say_here(group, status) : say_where(group, status);
    }
    atomic_store(&side->comm, comm);
    return failure_check(group);
}

/* A group without a host side talks by its device's communicator, and notices nothing by itself. */
static muster_status open_alone(struct opening *one)
{
    muster_group *group = one->side->group;
    muster_status status = open_side(one);
    if (status == MUSTER_OK && one->side == &group->messages)
        status = say_where(group, vigil_start(group));
    return status;
}

/* The test sends messages by the near side too, and so must find it on all ranks or on none. host
 * is the first of the group's openings. */
static muster_status await_near(const struct opening *host)
{
    const struct opening *near = host + OPENING_SIDES - 1;
    pthread_mutex_lock(&host->all->lock);
    while (near->state != OPENING_ENDED)
        pthread_cond_wait(&host->all->changed, &host->all->lock);
    muster_status status = near->status;
    if (status != MUSTER_OK)
        error_set(status, "%s", near->sentence);
    pthread_mutex_unlock(&host->all->lock);
    return status;
}

/* On the group's own thread. */
static muster_status open_and_test(muster_group *group, void *argument)
{
    struct opening *one = *(struct opening **)argument;
    muster_status status = open_alone(one);
    if (status == MUSTER_OK && one->side == &group->host)
        status = await_near(one);
    if (status == MUSTER_OK && group->size > 1)
        status = say_where(group, test_group(group));
    opening_move(one, OPENING_ENDED, status);
    return status;
}

/* On a thread apart. */
static muster_status open_beside(muster_group *group, void *argument)
{
    (void)group;
    struct opening *one = *(struct opening **)argument;
    muster_status status = open_side(one);
    opening_move(one, OPENING_ENDED, status);
    return status;
}

/* Has the side opened; what carries messages is opened on the group's own thread. */
static void start_side(struct opening *one, bool carries_messages)
{
    muster_group *group = one->side->group;
    muster_work *work = NULL;
    one->side->opening = one;
    muster_status status = say_where(
        group, carries_messages ? work_issue(group, open_and_test, &one, sizeof(one), &work)
                                : work_issue_apart(group, open_beside, &one, sizeof(one), &work));
    if (status != MUSTER_OK)
        opening_move(one, OPENING_ENDED, status);
    muster_work_free(work);
}

/* What the group needs before a side is opened. */
static muster_status prepare_group(muster_group *group, deadline end)
{
    muster_status status = choose_backends(group);
    if (status == MUSTER_OK && group->device.backend != NULL)
        status = say_here(group, group_device_open(group, deadline_early(end)));
    if (status == MUSTER_OK && (group->size > 1 || group->device.backend != NULL))
        status = say_where(group, work_queue_start(&group->queue, group));
    return status;
}

static bool has_near_side(const muster_group *group)
{
    int here = 0;
    if (group->near.backend != NULL)
        near_map_ranks(&group->hosts, group->rank, &here);
    return here > 1;
}

void opening_start(struct opening sides[OPENING_SIDES], const forming_plan *plan)
{
    muster_group *group = plan->group;
    muster_status status = prepare_group(group, sides[0].all->meeting->end);
    bool host = status == MUSTER_OK && group->host.backend != NULL && group->size > 1;
    bool alone = status == MUSTER_OK && group->messages.backend != NULL;
    bool device = status == MUSTER_OK && group->device.backend != NULL;
    bool near = status == MUSTER_OK && has_near_side(group);
    sides[0].side = host ? &group->host : alone ? &group->messages : NULL;
    sides[1].side = device ? &group->device : NULL;
    sides[2].side = near ? &group->near : NULL;
    for (int i = 0; i < OPENING_SIDES; i++)
        if (sides[i].side == NULL)
            opening_move(&sides[i], OPENING_ENDED, i == 0 ? status : MUSTER_OK);
    if (near)
        start_side(&sides[2], false);
    if (sides[0].side != NULL)
        start_side(&sides[0], true);
    if (device)
        start_side(&sides[1], sides[0].side == NULL);
}

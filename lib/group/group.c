/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Process groups: what they are made of, what they answer, and how they end.
 */
#include "config.h"

#include "group/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/error.h"
#include "base/process.h"
#include "group/abort.h"
#include "group/failure.h"
#include "group/family.h"
#include "collective/native.h"
#include "collective/staging.h"
#include "group/forming.h"
#include "group/group_device.h"
#include "group/vigil.h"
#include "options/core_options.h"
#include "options/option_table.h"
#include "store/store.h"
#include "base/thread.h"
#include "collective/work.h"

/* How long muster_group_free() waits: for operations under way, and for the store. */
enum { FREE_DRAIN_MS = 300, FREE_STORE_MS = 500 };

static const char *owner_option(const muster_comm_owner *owner, const char *name)
{
    const group_side *side = (const group_side *)owner;
    return options_value(side->group->options, side->backend->ops->options, name, NULL);
}

static muster_status allocate(muster_group *group, const group_shape *shape)
{
    size_t size = (size_t)shape->size;
    group->name = strdup(shape->name);
    group->prefix = strdup(shape->prefix);
    group->asked = strdup(shape->asked);
    group->to_parent = calloc(size, sizeof(int));
    group->to_world = calloc(size, sizeof(int));
    group->sends = calloc(size, sizeof(*group->sends));
    group->receives = calloc(size, sizeof(*group->receives));
    group->children = family_new();
    if (group->name == NULL || group->prefix == NULL || group->asked == NULL ||
        group->to_parent == NULL || group->to_world == NULL || group->sends == NULL ||
        group->receives == NULL || group->children == NULL)
        return error_no_memory(size * (2 * sizeof(int) + 2 * sizeof(uint64_t)), "a group");
    return MUSTER_OK;
}

muster_status group_new(const group_shape *shape, muster_group **group)
{
    muster_group *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_no_memory(sizeof(*made), "a group");
    made->host.owner = (muster_comm_owner){.option = owner_option,
                                           .exchange = forming_exchange,
                                           .cancelled = forming_cancelled,
                                           .broken = failure_reported};
    made->device.owner = made->messages.owner = made->near.owner = made->host.owner;
    made->host.group = made->device.group = made->messages.group = made->near.group = made;
    made->gpu.ordinal = -1;
    made->rank = shape->rank;
    made->size = shape->size;
    made->parent_size = shape->parent_size;
    made->world_size = shape->world_size;
    made->pid = process_id();
    atomic_init(&made->timeout_ms, shape->timeout_ms);
    failure_init(&made->failure);
    premul_init(&made->premuls);
    turn_line_init(&made->makers);
    made->store = store_retain(shape->store);
    muster_status status = allocate(made, shape);
    if (status != MUSTER_OK) {
        group_destroy(made);
        return status;
    }
    for (int r = 0; r < made->size; r++) {
        made->to_parent[r] = shape->to_parent != NULL ? shape->to_parent[r] : r;
        made->to_world[r] = shape->to_world != NULL ? shape->to_world[made->to_parent[r]] : r;
    }
    *group = made;
    return MUSTER_OK;
}

size_t group_sides(muster_group *group, group_side *sides[GROUP_SIDES])
{
    size_t count = 0;
    if (group->host.backend != NULL)
        sides[count++] = &group->host;
    if (group->device.backend != NULL)
        sides[count++] = &group->device;
    if (group->messages.backend != NULL)
        sides[count++] = &group->messages;
    if (group->near.backend != NULL)
        sides[count++] = &group->near;
    return count;
}

bool group_is_connected(muster_group *group)
{
    return atomic_load(&group->host.comm) != NULL || atomic_load(&group->device.comm) != NULL ||
           atomic_load(&group->messages.comm) != NULL;
}

void group_abort_comms(muster_group *group)
{
    group_side *sides[GROUP_SIDES];
    size_t count = group_sides(group, sides);
    atomic_fetch_add(&group->aborting, 1);
    for (size_t i = 0; i < count; i++) {
        muster_comm *comm = atomic_load(&sides[i]->comm);
        if (comm != NULL)
            sides[i]->backend->ops->abort(comm);
    }
    atomic_fetch_sub(&group->aborting, 1);
}

/* A world is placed as its options say, and what is made of it as the world was. */
static bool heeds_core(const muster_group *group, const char *option)
{
    const options_setting *set = options_find(group->options, option);
    return group->place.name != NULL || set == NULL || set->strength <= OPTIONS_FROM_PARENT;
}

bool group_heeds(const muster_group *group, const char *option)
{
    if (option_table_find(core_options, option) != NULL)
        return heeds_core(group, option);
    const backend_entry *const backends[] = {group->host.backend, group->device.backend};
    for (size_t i = 0; i < sizeof(backends) / sizeof(*backends); i++) {
        size_t length = backends[i] != NULL ? strlen(backends[i]->name) : 0;
        if (length > 0 && strncmp(option, backends[i]->name, length) == 0 && option[length] == '.')
            return true;
    }
    return false;
}

/* Another side, which is still open or is being closed, may be aborting this one, which takes a
 * moment: it has seen the communicator before it was taken away. */
static void *close_comm(void *argument)
{
    group_side *side = argument;
    const struct timespec moment = {0, 100000};
    muster_comm *comm = atomic_exchange(&side->comm, NULL);
    while (comm != NULL && atomic_load(&side->group->aborting) > 0)
        nanosleep(&moment, NULL);
    if (comm != NULL)
        side->backend->ops->close(comm);
    return NULL;
}

/* All at once: each may take a second, and so may the whole. */
static void close_sides(group_side **sides, size_t count)
{
    pthread_t threads[GROUP_SIDES];
    bool started[GROUP_SIDES] = {false};
    for (size_t i = 1; i < count; i++)
        started[i] = thread_start(&threads[i], close_comm, sides[i]) == 0;
    for (size_t i = 0; i < count; i++)
        if (!started[i])
            close_comm(sides[i]);
    for (size_t i = 1; i < count; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
}

/* On the group's thread. What was staged through the device goes before its communicator. */
static muster_status close_comms(muster_group *group, void *unused)
{
    (void)unused;
    group_side *sides[GROUP_SIDES];
    size_t count = group_sides(group, sides);
    native_free(group);
    staging_free(group);
    close_sides(sides, count);
    group_device_close(group);
    return MUSTER_OK;
}

bool group_suspects(const muster_group *group, int rank)
{
    muster_comm *comm = atomic_load(&group->host.comm);
    return comm != NULL && group->host.backend->ops->suspects != NULL &&
           group->host.backend->ops->suspects(comm, rank);
}

bool group_has_left(const muster_group *group, int rank)
{
    muster_comm *comm = atomic_load(&group->host.comm);
    return comm != NULL && group->host.backend->ops->left != NULL &&
           group->host.backend->ops->left(comm, rank);
}

bool group_has_come(const muster_group *group, int rank)
{
    muster_comm *comm = atomic_load(&group->host.comm);
    return comm != NULL && group->host.backend->ops->has_come != NULL &&
           group->host.backend->ops->has_come(comm, rank);
}

static void end_communication(muster_group *group)
{
    if (group->queue == NULL) {
        staging_free(group);
        group_device_close(group);
        return;
    }
    if (!work_queue_drain(group->queue, FREE_DRAIN_MS) && group_is_connected(group))
        failure_leave(group);
    work_queue_drain(group->queue, DEADLINE_LONGEST_MS);
    vigil_stop(group);
    work_issue(group, close_comms, NULL, 0, NULL);
    work_queue_drain(group->queue, DEADLINE_LONGEST_MS);
    work_queue_stop(group->queue);
}

/* Memory alone. */
static void release(muster_group *group)
{
    if (group->siblings != NULL)
        family_drop_name(group->siblings, group->name);
    family_release(group->siblings);
    family_release(group->children);
    claim_clear(&group->place);
    muster_store_free(group->store);
    roster_clear(&group->ranks);
    near_map_clear(&group->hosts);
    muster_options_free(group->options);
    failure_destroy(&group->failure);
    premul_destroy(&group->premuls);
    turn_line_destroy(&group->makers);
    free(group->sends);
    free(group->receives);
    free(group->to_parent);
    free(group->to_world);
    free(group->asked);
    free(group->why);
    free(group->backends);
    free(group->prefix);
    free(group->name);
    free(group);
}

void group_destroy(muster_group *group)
{
    if (group == NULL)
        return;
    end_communication(group);
    release(group);
}

/* Leaving a name takes a few words with the store, which may be gone. */
static void leave_aside(void *what)
{
    claim_leave(what);
}

static void give_up_aside(void *what)
{
    claim_give_up(what);
}

static void free_claim(void *what)
{
    claim_clear(what);
    free(what);
}

static void leave_name(muster_group *group)
{
    claim *place = malloc(sizeof(*place));
    if (group->place.name == NULL || place == NULL) {
        free(place);
        return;
    }
    *place = group->place;
    group->place = (claim){0};
    bool failed = group->failure.status != MUSTER_OK;
    if (thread_run_aside(failed ? give_up_aside : leave_aside, free_claim, place, FREE_STORE_MS))
        free_claim(place);
}

/* After fork, in the child. */
static void forget_comms(muster_group *group)
{
    group_side *sides[GROUP_SIDES];
    size_t count = group_sides(group, sides);
    for (size_t i = 0; i < count; i++)
        if (sides[i]->comm != NULL)
            sides[i]->backend->ops->forget(sides[i]->comm);
    native_forget(group);
    staging_forget(group);
    vigil_forget(group);
}

void muster_group_free(muster_group *group)
{
    if (group == NULL)
        return;
    if (group->pid != process_id()) {
        forget_comms(group);
        work_queue_forget(group->queue);
        abort_listener_forget(atomic_load(&group->listener));
        release(group);
        return;
    }
    abort_listener_stop(atomic_load(&group->listener));
    end_communication(group);
    failure_see_others_told(group);
    leave_name(group);
    release(group);
}

muster_status group_error(const muster_group *group, const char *function, muster_status status)
{
    return error_prefix(status, "group '%s', rank %d, %s: ", group->name, group->rank, function);
}

muster_status group_enter(const muster_group *group, const char *function)
{
    if (group == NULL)
        return error_set(MUSTER_ERR_NOT_MEMBER,
                         "%s: the group is NULL: this process is not a member of it, or it was not "
                         "made",
                         function);
    if (group->pid != process_id())
        return error_set(
            MUSTER_ERR_FORKED,
            "%s: group '%s' was made by process %ld, of which this one is a fork; make "
            "a group of its own, or call exec",
            function, group->name, (long)group->pid);
    return MUSTER_OK;
}

muster_status group_ready(muster_group *group, const char *function)
{
    muster_status status = group_enter(group, function);
    if (status != MUSTER_OK)
        return status;
    status = failure_check(group);
    return status == MUSTER_OK ? MUSTER_OK : group_error(group, function, status);
}

muster_status muster_group_check(muster_group *group)
{
    return group_ready(group, "muster_group_check");
}

int muster_group_rank(const muster_group *group)
{
    return group == NULL ? -1 : group->rank;
}

int muster_group_size(const muster_group *group)
{
    return group == NULL ? -1 : group->size;
}

const char *muster_group_name(const muster_group *group)
{
    return group == NULL ? "" : group->name;
}

const char *muster_group_backend(const muster_group *group)
{
    return group == NULL || group->backends == NULL ? "" : group->backends;
}

int64_t muster_group_timeout(const muster_group *group)
{
    return group == NULL ? -1 : atomic_load(&group->timeout_ms);
}

muster_status muster_group_set_timeout(muster_group *group, int64_t timeout_ms)
{
    static const char *const function = "muster_group_set_timeout";
    muster_status status = group_enter(group, function);
    if (status != MUSTER_OK)
        return status;
    status = group_check_timeout(timeout_ms);
    if (status != MUSTER_OK)
        return group_error(group, function, status);
    atomic_store(&group->timeout_ms, timeout_ms);
    return MUSTER_OK;
}

muster_status group_check_timeout(int64_t timeout_ms)
{
    if (timeout_ms > 0)
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT, "a time-out of %lld ms was given; it must be more than 0",
                     (long long)timeout_ms);
}

const char *muster_group_host(const muster_group *group, int rank)
{
    bool there = group != NULL && rank >= 0 && rank < group->size;
    return there ? group->ranks.ranks[rank].host : NULL;
}

/* What a side has carried whole, behind what is there. */
static void add_whole(const group_side *side, group_traffic *sum)
{
    uint64_t operations, given, taken;
    muster_comm *comm = atomic_load(&side->comm);
    if (comm == NULL || side->backend->ops->traffic == NULL)
        return;
    side->backend->ops->traffic(comm, &operations, &given, &taken);
    sum->whole += operations;
    sum->sent += given;
    sum->received += taken;
}

group_traffic group_count_traffic(const muster_group *group)
{
    group_traffic sum = {.sent = atomic_load(&group->bytes_sent),
                         .received = atomic_load(&group->bytes_received)};
    add_whole(&group->host, &sum);
    add_whole(&group->near, &sum);
    return sum;
}

muster_status muster_group_traffic(const muster_group *group, uint64_t *sent, uint64_t *received)
{
    muster_status status = group_enter(group, "muster_group_traffic");
    if (status != MUSTER_OK)
        return status;
    if (sent == NULL || received == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_group_traffic: %s is NULL",
                         sent == NULL ? "sent" : "received");
    const group_traffic sum = group_count_traffic(group);
    *sent = sum.sent;
    *received = sum.received;
    return MUSTER_OK;
}

static muster_status map_rank(const muster_group *group, const char *function, const int *map,
                              int rank, int *mapped)
{
    muster_status status = group_enter(group, function);
    if (status != MUSTER_OK)
        return status;
    if (mapped == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "%s: the place for the rank is NULL", function);
    if (rank < 0 || rank >= group->size)
        return error_set(MUSTER_ERR_NOT_FOUND, "group '%s' has no rank %d; its ranks are 0 to %d",
                         group->name, rank, group->size - 1);
    *mapped = map[rank];
    return MUSTER_OK;
}

static muster_status find_rank(const muster_group *group, const char *function, const int *map,
                               int wanted, const char *where, int *rank)
{
    muster_status status = group_enter(group, function);
    if (status != MUSTER_OK)
        return status;
    if (rank == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "%s: the place for the rank is NULL", function);
    for (int r = 0; r < group->size; r++) {
        if (map[r] == wanted) {
            *rank = r;
            return MUSTER_OK;
        }
    }
    return error_set(MUSTER_ERR_NOT_FOUND, "rank %d of the %s is not a member of group '%s'",
                     wanted, where, group->name);
}

muster_status muster_group_rank_to_parent(const muster_group *group, int rank, int *parent_rank)
{
    return map_rank(group, "muster_group_rank_to_parent", group != NULL ? group->to_parent : NULL,
                    rank, parent_rank);
}

muster_status muster_group_rank_from_parent(const muster_group *group, int parent_rank, int *rank)
{
    return find_rank(group, "muster_group_rank_from_parent",
                     group != NULL ? group->to_parent : NULL, parent_rank, "parent", rank);
}

muster_status muster_group_rank_to_world(const muster_group *group, int rank, int *world_rank)
{
    return map_rank(group, "muster_group_rank_to_world", group != NULL ? group->to_world : NULL,
                    rank, world_rank);
}

muster_status muster_group_rank_from_world(const muster_group *group, int world_rank, int *rank)
{
    return find_rank(group, "muster_group_rank_from_world", group != NULL ? group->to_world : NULL,
                     world_rank, "world", rank);
}

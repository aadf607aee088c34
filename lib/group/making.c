/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What all calls that make groups of a group have in common.
 */
#include "config.h"

#include "group/making.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "collective/work_handle.h"
#include "base/deadline.h"
#include "base/error.h"
#include "group/failure.h"
#include "group/forming.h"
#include "group/init.h"
#include "group/lookout.h"
#include "base/patience.h"
#include "base/rank_set.h"
#include "store/store.h"

muster_status making_take_arguments(making *call, const muster_group_args *args)
{
    call->args = (muster_group_args)MUSTER_GROUP_ARGS_INIT;
    muster_status status = MUSTER_OK;
    if (args != NULL)
        status = arguments_copy(&call->args, sizeof(call->args), sizeof(call->args), args,
                                "muster_group_args");
    call->timeout_ms = atomic_load(&call->parent->timeout_ms);
    if (status == MUSTER_OK && call->args.group_name != NULL)
        status = init_check_name(call->args.group_name);
    if (status != MUSTER_OK || call->args.timeout_ms == MUSTER_TIMEOUT_DEFAULT)
        return status;
    status = group_check_timeout(call->args.timeout_ms);
    if (status == MUSTER_OK)
        call->timeout_ms = call->args.timeout_ms;
    return status;
}

static muster_status wait_for_turn(const making *call)
{
    if (turn_wait(&call->parent->makers, &call->mine, call->meeting.end))
        return MUSTER_OK;
    return error_set(MUSTER_ERR_TIMEOUT,
                     "timed out after %lld ms on rank %d, waiting for another call that makes "
                     "groups of '%s', which was issued here before and has not ended; such calls "
                     "are made one after the other",
                     (long long)call->timeout_ms, call->parent->rank, call->parent->name);
}

muster_status making_begin(making *call, const char *kind, int index, int count)
{
    muster_group *parent = call->parent;
    char *prefix = NULL;
    deadline end = deadline_in(call->timeout_ms);
    if (!turn_take(&parent->makers, parent->children, kind, &call->mine))
        return error_no_memory(64, "a count");
    if (asprintf(&prefix, "%s%s.%lld", parent->prefix, kind, call->mine.number) < 0)
        return error_no_memory(strlen(parent->prefix), "a key");
    muster_status status =
        exchange_init(&call->meeting, parent->store, prefix, index, count, call->timeout_ms, end);
    free(prefix);
    if (status != MUSTER_OK)
        return status;
    call->meeting.lookout = lookout_group;
    call->meeting.lookout_user = call->parent;
    call->meeting.members = call->participants;
    call->meeting.group = call->parent->name;
    patience_until(call->meeting.end);
    return exchange_settle(&call->meeting, wait_for_turn(call));
}

/* All ranks of the parent meet. Counted even if our arguments are wrong, so that the count is the
 * same everywhere. */
muster_status making_begin_with_all(making *call, const muster_group_args *args)
{
    muster_group *parent = call->parent;
    muster_status status = making_take_arguments(call, args);
    char sentence[ERROR_SIZE];
    snprintf(sentence, sizeof(sentence), "%s", muster_last_error());
    muster_status begun = making_begin(call, "/call", parent->rank, parent->size);
    if (begun != MUSTER_OK)
        return begun;
    return status == MUSTER_OK ? MUSTER_OK
                               : error_set(status, "rank %d: %s", parent->rank, sentence);
}

muster_status making_agree(making *call, const char *plan)
{
    char who[320], text[ERROR_SIZE];
    const rank_record *self = &call->parent->ranks.ranks[call->parent->rank];
    snprintf(text, sizeof(text), "%s%s%s%s\n%s", plan, call->args.backend ? ", backend '" : "",
             call->args.backend ? call->args.backend : "", call->args.backend ? "'" : "",
             rank_record_name(self, who, sizeof(who)));
    return exchange_agree(&call->meeting, text);
}

/* Automatic names say parent and members; those that have had equal ones before are counted. All
 * members make groups with each other in the same order, so they count alike. */
static char *automatic_name(const making *call, const membership *in)
{
    char ranks[512], *name = NULL;
    bool *members = calloc((size_t)call->parent->size, sizeof(bool));
    if (members == NULL)
        return NULL;
    for (int i = 0; i < in->size; i++)
        members[in->ranks[i]] = true;
    rank_set_text(members, call->parent->size, ranks, sizeof(ranks));
    free(members);
    int length = asprintf(&name, "%s/%s%s", call->parent->name, in->label, strchr(ranks, ' ') + 1);
    return length < 0 ? NULL : name;
}

static char *name_of(const making *call, const membership *in)
{
    if (call->args.group_name != NULL)
        return strdup(call->args.group_name);
    char *name = NULL;
    long long before = in->name == NULL ? -1 : family_count(call->parent->children, in->name, 0);
    if (before <= 0)
        return before < 0 ? NULL : strdup(in->name);
    return asprintf(&name, "%s#%lld", in->name, before + 1) < 0 ? NULL : name;
}

static int my_rank(const making *call, const membership *in)
{
    for (int r = 0; r < in->size; r++)
        if (in->ranks[r] == call->parent->rank)
            return r;
    return -1;
}

static muster_status fill_group(const making *call, const membership *in, muster_group *group)
{
    muster_status status = roster_subset(&group->ranks, &call->parent->ranks, in->ranks, in->size);
    if (status == MUSTER_OK)
        status = init_options(call->parent->options, call->args.backend_options, call->args.options,
                              &group->options);
    if (status != MUSTER_OK)
        return status;
    group->home = call->parent->home;
    bool free_name = false;
    if (!family_take_name(call->parent->children, group->name, &free_name))
        return error_no_memory(strlen(group->name), "a name");
    if (!free_name)
        return error_set(MUSTER_ERR_EXISTS,
                         "a group called '%s' is still open here, or being made by another "
                         "thread; free it first, or give the new one another name",
                         group->name);
    group->siblings = family_retain(call->parent->children);
    return MUSTER_OK;
}

static muster_status new_member(const making *call, membership *in, muster_group **group)
{
    muster_group *parent = call->parent;
    in->name = automatic_name(call, in);
    char *prefix = NULL, *name = name_of(call, in);
    /* The groups of one call have no rank in common but those of another label. */
    if (name == NULL || asprintf(&prefix, "%s/%s%d", call->meeting.prefix,
                                 in->label[0] ? in->label : "g", in->ranks[0]) < 0) {
        free(name);
        return error_no_memory(strlen(parent->prefix), "a name");
    }
    const group_shape shape = {.name = name,
                               .prefix = prefix,
                               .asked = call->args.backend ? call->args.backend : parent->asked,
                               .store = parent->store,
                               .timeout_ms = call->timeout_ms,
                               .rank = my_rank(call, in),
                               .size = in->size,
                               .parent_size = parent->size,
                               .world_size = parent->world_size,
                               .to_parent = in->ranks,
                               .to_world = parent->to_world};
    muster_status status = group_new(&shape, group);
    free(prefix);
    free(name);
    if (status != MUSTER_OK)
        return status;
    (*group)->checks = parent->checks;
    status = fill_group(call, in, *group);
    if (status != MUSTER_OK) {
        group_destroy(*group);
        *group = NULL;
    }
    return status;
}

/* Where the ranks of a new group stand among the participants of the meeting. */
static int *positions_of(const making *call, const membership *in)
{
    int *positions = calloc((size_t)in->size, sizeof(int));
    for (int r = 0; positions != NULL && r < in->size; r++) {
        positions[r] = in->ranks[r];
        for (int p = 0; call->participants != NULL && p < call->meeting.count; p++)
            if (call->participants[p] == in->ranks[r])
                positions[r] = p;
    }
    return positions;
}

/* The groups of the memberships, in groups[]; all or none. */
muster_status making_form(making *call, membership *in, size_t count, muster_group **groups)
{
    forming_plan plans[FORMING_MAX_GROUPS] = {{0}};
    muster_status status = MUSTER_OK;
    for (size_t i = 0; status == MUSTER_OK && i < count; i++) {
        status = new_member(call, &in[i], &groups[i]);
        plans[i] = (forming_plan){.group = groups[i],
                                  .positions = positions_of(call, &in[i]),
                                  .given = call->args.group_name,
                                  .parent = in[i].splits ? call->parent : NULL,
                                  .color = in[i].color};
        if (status == MUSTER_OK && plans[i].positions == NULL)
            status = error_no_memory((size_t)in[i].size * sizeof(int), "a list of ranks");
    }
    if (status == MUSTER_OK)
        status = forming_run(&call->meeting, plans, count);
    else
        status = exchange_settle(&call->meeting, status);
    for (size_t i = 0; i < count; i++) {
        if (status == MUSTER_OK)
            family_count(call->parent->children, in[i].name, 1);
        free((void *)plans[i].positions);
        free(in[i].name);
        if (status != MUSTER_OK) {
            group_destroy(groups[i]);
            groups[i] = NULL;
        }
    }
    return status;
}

/* Whether the others are there is seen by a group that all of them are in: the parent, or where
 * that has failed the one that was made of it. */
static void look_while_leaving(making *call, muster_group *made)
{
    muster_group *seen_by = failure_begun(call->parent) == MUSTER_OK ? call->parent : made;
    call->meeting.lookout = seen_by != NULL ? lookout_works : NULL;
    call->meeting.lookout_user = seen_by;
}

/* Ends the exchange, and gives a failure the name of the group and the call. */
muster_status making_finish(making *call, muster_status status, muster_group **groups, size_t count)
{
    char sentence[ERROR_SIZE];
    snprintf(sentence, sizeof(sentence), "%s", muster_last_error());
    look_while_leaving(call, status == MUSTER_OK && count > 0 ? groups[0] : NULL);
    if (call->meeting.store != NULL)
        exchange_clean(&call->meeting, status);
    exchange_destroy(&call->meeting);
    turn_end(&call->parent->makers, &call->mine);
    patience_usual();
    for (size_t i = 0; status == MUSTER_OK && i < count; i++)
        init_finish(groups[i], call->began_ns, call->operations_before);
    if (status == MUSTER_OK)
        return error_settle(&call->before, status);
    error_set(status, "%s", sentence);
    return group_error(call->parent, call->function, status);
}

muster_status making_start_on_any(making *call, muster_group *parent, const char *function)
{
    *call = (making){.parent = parent, .function = function, .began_ns = deadline_now_ns()};
    error_keep(&call->before);
    muster_status status = group_enter(parent, function);
    if (status != MUSTER_OK)
        return status;
    status = work_handle_may_wait();
    if (status != MUSTER_OK)
        return group_error(parent, function, status);
    call->operations_before = store_operations(parent->store);
    return MUSTER_OK;
}

muster_status making_start(making *call, muster_group *parent, const char *function)
{
    muster_status status = making_start_on_any(call, parent, function);
    return status == MUSTER_OK ? group_ready(parent, function) : status;
}

/* The list as one of ints, in memory of its own. */
muster_status making_copy_list(const int *ranks, size_t count, int **copy)
{
    *copy = malloc(count * sizeof(int) + 1);
    if (*copy == NULL)
        return error_no_memory(count * sizeof(int), "a list of ranks");
    memcpy(*copy, ranks, count * sizeof(int));
    return MUSTER_OK;
}

/* Ranks of the parent, each at most once over all lists that share seen. */
muster_status making_check_list(const muster_group *parent, const int *ranks, size_t count,
                                bool *seen)
{
    char list[512];
    if (ranks == NULL || count == 0)
        return error_set(MUSTER_ERR_ARGUMENT, "the list of ranks is %s; a group has at least one",
                         ranks == NULL ? "NULL" : "empty");
    for (size_t i = 0; i < count; i++) {
        if (ranks[i] < 0 || ranks[i] >= parent->size)
            return error_set(MUSTER_ERR_ARGUMENT,
                             "rank %d in %s is none of group '%s', whose ranks are 0 to %d",
                             ranks[i], rank_list_text(ranks, count, list, sizeof(list)),
                             parent->name, parent->size - 1);
        if (seen[ranks[i]])
            return error_set(MUSTER_ERR_ARGUMENT, "rank %d stands twice, the second time in %s",
                             ranks[i], rank_list_text(ranks, count, list, sizeof(list)));
        seen[ranks[i]] = true;
    }
    return MUSTER_OK;
}

/* The common end of calls with one group a rank: status says how the arguments were found. */
muster_status making_form_one(making *call, muster_status status, membership *in,
                              muster_group **group)
{
    muster_group *made = NULL;
    size_t count = in->ranks != NULL ? 1 : 0;
    if (status == MUSTER_OK)
        status = making_form(call, in, count, &made);
    else
        status = exchange_settle(&call->meeting, status);
    status = making_finish(call, status, &made, count);
    free(in->ranks);
    if (status == MUSTER_OK)
        *group = made;
    return status;
}

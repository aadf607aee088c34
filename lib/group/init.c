/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster_init_process_group: from arguments to a group.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "collective/work_handle.h"
#include "base/deadline.h"
#include "base/error.h"
#include "group/choice.h"
#include "group/bind.h"
#include "group/forming.h"
#include "group/handshake.h"
#include "group/init.h"
#include "group/local_rank.h"
#include "group/seats.h"
#include "group/stand.h"
#include "base/log.h"
#include "group/lookout.h"
#include "base/patience.h"
#include "launch/rendezvous.h"
#include "store/store.h"

enum { DEFAULT_TIMEOUT_MS = 30 * 60 * 1000, MAX_NAME = 200, MAX_RANKS = STORE_MAX_KEYS };

/* All that settles how the group is made. */
typedef struct setup {
    muster_init_args args;
    rendezvous meeting_point;
    muster_options *options;
    deadline end;
    int64_t began_ns;
    long long operations_before;
} setup;

muster_status init_check_name(const char *name)
{
    size_t length = strlen(name);
    bool good = length > 0 && length <= MAX_NAME;
    for (const char *c = name; good && *c != '\0'; c++)
        good = (unsigned char)*c >= ' ' && *c != '/' && *c != 127;
    if (good)
        return MUSTER_OK;
    return error_set(
        MUSTER_ERR_ARGUMENT,
        "the group_name '%.60s' can't be used; take 1 to %d characters without '/' and "
        "control characters",
        name, MAX_NAME);
}

static muster_status check_store_arguments(const muster_init_args *args)
{
    if (args->store == NULL)
        return MUSTER_OK;
    if (args->init_method != NULL)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "both a store and the init_method '%s' were given; give one of them",
                         args->init_method);
    if (args->world_size < 1 || args->world_size > MAX_RANKS || args->rank < 0 ||
        args->rank >= args->world_size)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "with a store rank and world_size must be given, and rank %d of %d is "
                         "none; rank is from 0 to world_size - 1, world_size from 1 to %d",
                         args->rank, args->world_size, (int)MAX_RANKS);
    return MUSTER_OK;
}

static muster_status take_arguments(setup *s, const muster_init_args *args)
{
    s->args = (muster_init_args)MUSTER_INIT_ARGS_INIT;
    muster_status status = MUSTER_OK;
    if (args != NULL)
        status =
            arguments_copy(&s->args, sizeof(s->args), sizeof(s->args), args, "muster_init_args");
    if (status != MUSTER_OK)
        return status;
    if (s->args.timeout_ms == MUSTER_TIMEOUT_DEFAULT)
        s->args.timeout_ms = DEFAULT_TIMEOUT_MS;
    if (s->args.group_name == NULL)
        s->args.group_name = "world";
    if (s->args.backend == NULL)
        s->args.backend = "auto";
    status = group_check_timeout(s->args.timeout_ms);
    if (status == MUSTER_OK)
        status = init_check_name(s->args.group_name);
    return status == MUSTER_OK ? check_store_arguments(&s->args) : status;
}

static muster_status find_store(setup *s)
{
    if (s->args.store == NULL)
        return rendezvous_join(s->args.init_method, s->args.rank, s->args.world_size,
                               s->args.timeout_ms, &s->meeting_point);
    s->meeting_point = (rendezvous){.store = store_retain(s->args.store),
                                    .rank = s->args.rank,
                                    .world_size = s->args.world_size};
    return MUSTER_OK;
}

muster_status init_options(const muster_options *base, const muster_options *object,
                           const char *text, muster_options **options)
{
    options_table *tables = NULL;
    size_t count = 0;
    muster_options *collected = NULL;
    muster_status status = options_collect(base, object, text, &collected);
    if (status == MUSTER_OK)
        status = backend_option_tables(&tables, &count);
    if (status == MUSTER_OK)
        status = options_check(collected, tables, count);
    if (status == MUSTER_OK)
        status = stand_check(collected);
    free(tables);
    if (status != MUSTER_OK) {
        muster_options_free(collected);
        return status;
    }
    *options = collected;
    return MUSTER_OK;
}

static muster_status new_world(const setup *s, claim *place, roster *ranks, muster_group **group)
{
    char *prefix = claim_prefix(place);
    if (prefix == NULL)
        return error_no_memory(strlen(place->name), "a key");
    int size = s->meeting_point.world_size;
    const group_shape shape = {.name = s->args.group_name,
                               .prefix = prefix,
                               .asked = s->args.backend,
                               .store = s->meeting_point.store,
                               .timeout_ms = s->args.timeout_ms,
                               .rank = s->meeting_point.rank,
                               .size = size,
                               .parent_size = size,
                               .world_size = size};
    muster_status status = group_new(&shape, group);
    free(prefix);
    if (status != MUSTER_OK)
        return status;
    (*group)->place = *place;
    (*group)->ranks = *ranks;
    *place = (claim){0};
    *ranks = (roster){0};
    return MUSTER_OK;
}

/* Backends that are probed now may know more of the options than was checked before. */
static muster_status look_at_backends(setup *s, int world_size)
{
    size_t known = 0, now = 0;
    const backend_entry *const *list = NULL;
    size_t count = 0;
    muster_status status = backend_list(&list, &count);
    for (size_t i = 0; status == MUSTER_OK && i < count; i++)
        known += list[i]->probed;
    if (status == MUSTER_OK)
        status = choice_look(s->args.backend, world_size);
    if (status == MUSTER_OK)
        status = backend_list(&list, &count);
    for (size_t i = 0; status == MUSTER_OK && i < count; i++)
        now += list[i]->probed;
    if (status != MUSTER_OK || (now == known && s->options != NULL))
        return status;
    muster_options_free(s->options);
    s->options = NULL;
    return init_options(NULL, s->args.backend_options, s->args.options, &s->options);
}

/* Every rank must have been given the same size and backend. */
static muster_status agree(const setup *s, exchange *meeting, const char *record)
{
    rank_record self;
    muster_status status = rank_record_read(&self, muster_str(record));
    if (status != MUSTER_OK)
        return status;
    char who[320], text[ERROR_SIZE];
    snprintf(text, sizeof(text), "world size %d, backend '%s'\n%s", s->meeting_point.world_size,
             s->args.backend, rank_record_name(&self, who, sizeof(who)));
    rank_record_clear(&self);
    return exchange_agree(meeting, text);
}

static muster_status meet(const setup *s, exchange *meeting, const char *record, roster *ranks)
{
    const muster_blob *records = NULL;
    lookout_neighbours neighbours = {meeting, -1};
    meeting->lookout = lookout_next;
    meeting->lookout_user = &neighbours;
    muster_status status = agree(s, meeting, record);
    if (status == MUSTER_OK)
        status =
            exchange_round(meeting, muster_str(record), true, NULL, 0, "to register", &records);
    if (status == MUSTER_OK)
        status = roster_read(ranks, records, meeting->count);
    if (status == MUSTER_OK)
        status = seats_settle(ranks);
    meeting->lookout = NULL;
    return status;
}

/* Ranks that disagree before all have come wait for the late ones, who are to fail like them. The
 * name is free for the next generation before any keys go, so that nobody claims a place among
 * those. */
static void give_up(const setup *s, claim *place, exchange *meeting, muster_status status)
{
    char sentence[ERROR_SIZE];
    snprintf(sentence, sizeof(sentence), "%s", muster_last_error());
    bool last = exchange_leave(meeting);
    if (!last && !meeting->retry && meeting->round == 0 && status != MUSTER_ERR_TIMEOUT)
        claim_linger(place, s->end);
    claim_give_up(place);
    meeting->keep_rounds = 0;
    exchange_finish(meeting, last, status);
    error_set(status, "%s", sentence);
}

/* One generation of the name, from the claim to the group. *retry: it was void, and the next may
 * do. */
static muster_status form_world(setup *s, const char *record, bool *retry, muster_group **group)
{
    claim place;
    exchange meeting = {0};
    roster ranks = {0};
    muster_group *made = NULL;
    muster_status status = claim_take(&place, s->meeting_point.store, s->args.group_name, record,
                                      s->meeting_point.rank, s->meeting_point.world_size,
                                      s->args.timeout_ms, s->end, &meeting);
    if (status != MUSTER_OK)
        return status;
    status = meet(s, &meeting, record, &ranks);
    if (status == MUSTER_OK)
        status = new_world(s, &place, &ranks, &made);
    if (status == MUSTER_OK) {
        made->options = s->options;
        bind_home(&made->ranks.ranks[made->rank], made->options, &made->home);
        for (int r = 0; r < made->size; r++)
            made->checks = made->checks || made->ranks.ranks[r].checks != 0;
        s->options = NULL;
        meeting.lookout = lookout_roster;
        meeting.lookout_user = &made->ranks;
        status = forming_run(&meeting, &(forming_plan){.group = made}, 1);
    }
    if (status == MUSTER_OK) {
        meeting.lookout = lookout_works;
        meeting.lookout_user = made;
        exchange_clean(&meeting, MUSTER_OK);
    } else
        give_up(s, made != NULL ? &made->place : &place, &meeting, status);
    *retry = meeting.retry;
    exchange_destroy(&meeting);
    if (status == MUSTER_OK) {
        *group = made;
        return MUSTER_OK;
    }
    if (made != NULL) {
        s->options = made->options;
        made->options = NULL;
    }
    group_destroy(made);
    roster_clear(&ranks);
    claim_clear(&place);
    return status;
}

static int told_local_rank(const launcher *found)
{
    int local_rank = found->family == NULL ? -1 : found->facts[LAUNCHER_LOCAL_RANK];
    return local_rank < 0 ? 0 : 1 + local_rank;
}

static muster_status make_world(setup *s, muster_group **group)
{
    char *record = NULL;
    bool retry = true;
    muster_status status = handshake_introduce(
        s->meeting_point.store, s->options, s->args.backend, s->meeting_point.rank,
        s->meeting_point.world_size, told_local_rank(&s->meeting_point.launcher), &record);
    while (status == MUSTER_OK && retry) {
        retry = false;
        status = form_world(s, record, &retry, group);
        if (retry)
            status = MUSTER_OK;
    }
    muster_free(record);
    return status;
}

/* One rank alone needs no backend, and variables of other programs are for whoever wants them. */
static void warn_of_options(const muster_group *group)
{
    for (size_t i = 0; group->size > 1 && i < options_count(group->options); i++) {
        const options_setting *set = options_at(group->options, i);
        if (set->strength > OPTIONS_FROM_PARENT && !set->optional && !group_heeds(group, set->name))
            log_line(MUSTER_LOG_WARNING,
                     "group '%s', rank %d: option '%s' (%s) is without effect: the group runs on "
                     "%s (%s)",
                     group->name, group->rank, set->name, set->source, muster_group_backend(group),
                     group->why);
    }
}

/* What a list says is done, and may be meant; that it is seldom is said. */
static void say_shared(const muster_group *group)
{
    const rank_record *self = &group->ranks.ranks[group->rank];
    if (self->seat.placed && self->seat.shared && *self->place_list != '\0')
        log_line(MUSTER_LOG_WARNING,
                 "group '%s', rank %d: placement_list gives some of its CPUs %s to other ranks of "
                 "host '%s' too",
                 group->name, group->rank, self->seat.cpus, self->host);
}

/* A kernel that refuses CPUs that it has offered is no reason to fail on one rank of all. */
static void say_bound(muster_group *group)
{
    const rank_record *self = &group->ranks.ranks[group->rank];
    if (bind_rank(self, group->options) != MUSTER_OK)
        log_line(MUSTER_LOG_WARNING, "group '%s', rank %d: %s", group->name, group->rank,
                 muster_last_error());
}

void init_finish(muster_group *group, int64_t began_ns, long long operations_before)
{
    group->costs.nanoseconds = deadline_now_ns() - began_ns;
    group->costs.store_operations = store_operations(group->store) - operations_before;
    log_line(MUSTER_LOG_INFO, "group '%s', rank %d of %d, runs on %s (%s) and took %.1f ms",
             group->name, group->rank, group->size, muster_group_backend(group), group->why,
             (double)group->costs.nanoseconds / 1e6);
    warn_of_options(group);
}

muster_status muster_init_process_group(muster_group **group, const muster_init_args *args)
{
    if (group == NULL)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "muster_init_process_group: the place for the group is NULL");
    setup s = {.began_ns = deadline_now_ns()};
    error_kept before;
    error_keep(&before);
    muster_group *made = NULL;
    muster_status status = work_handle_may_wait();
    if (status == MUSTER_OK)
        status = take_arguments(&s, args);
    if (status != MUSTER_OK)
        return error_prefix(status, "muster_init_process_group: ");
    s.end = deadline_in(s.args.timeout_ms);
    patience_until(s.end);
    status = look_at_backends(&s, 1);
    if (status == MUSTER_OK)
        status = find_store(&s);
    if (status == MUSTER_OK)
        status = look_at_backends(&s, s.meeting_point.world_size);
    if (status == MUSTER_OK) {
        s.operations_before = store_operations(s.meeting_point.store);
        status = make_world(&s, &made);
    }
    if (status == MUSTER_OK)
        say_bound(made);
    if (status == MUSTER_OK) {
        say_shared(made);
        init_finish(made, s.began_ns, s.operations_before);
        local_rank_compare(made, &s.meeting_point.launcher);
    } else if (s.meeting_point.store != NULL)
        error_prefix(status, "group '%s', rank %d of %d: ", s.args.group_name, s.meeting_point.rank,
                     s.meeting_point.world_size);
    else
        error_prefix(status, "group '%s': ", s.args.group_name);
    muster_options_free(s.options);
    muster_store_free(s.meeting_point.store);
    patience_usual();
    if (status == MUSTER_OK)
        *group = made;
    return error_settle(&before, status);
}

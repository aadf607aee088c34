/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster_group_describe: what a group is and why, in words or in JSON, from one list of facts.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/facts.h"
#include "group/group.h"

static void write_rank(facts *f, const muster_group *group, int rank)
{
    const rank_record *record = &group->ranks.ranks[rank];
    if (!f->json) {
        char name[32];
        snprintf(name, sizeof(name), "rank %d", rank);
        facts_open(f, name);
        facts_part(f, record->host);
        fprintf(f->out, ", pid %lld, rank %d of the world%s", record->pid, group->to_world[rank],
                rank == group->rank ? " (this one)" : "");
        facts_close(f);
        return;
    }
    facts_open_list(f, NULL, '{');
    facts_number(f, "rank", rank);
    facts_number(f, "world_rank", group->to_world[rank]);
    facts_text(f, "host", record->host);
    facts_number(f, "pid", record->pid);
    facts_close_list(f, '}');
}

static void write_options(facts *f, const muster_group *group)
{
    facts_open_list(f, "options", '{');
    for (size_t i = 0; i < options_count(group->options); i++) {
        const options_setting *set = options_at(group->options, i);
        facts_open(f, set->name);
        facts_part(f, set->value);
        facts_part(f, " (");
        facts_part(f, set->source);
        facts_part(f, ")");
        facts_close(f);
    }
    facts_close_list(f, '}');
}

/* Why not the other backends, as this rank has them. */
static void write_others(facts *f, const muster_group *group)
{
    const rank_record *self = &group->ranks.ranks[group->rank];
    facts_open_list(f, "unavailable", '{');
    for (size_t i = 0; i < self->num_backends; i++) {
        char name[80];
        snprintf(name, sizeof(name), "%s%s", f->json ? "" : "not ", self->backends[i].name);
        if (*self->backends[i].reason != '\0')
            facts_text(f, name, self->backends[i].reason);
    }
    facts_close_list(f, '}');
}

static void write_backend(facts *f, const muster_group *group)
{
    muster_comm *comm = group->comm;
    const muster_backend *ops = group->backend->ops;
    facts_text(f, "backend", group->backend->name);
    facts_text(f, "backend version", group->backend->info.version);
    facts_text(f, "backend file", group->backend->file);
    facts_text(f, "why", group->why);
    if (comm != NULL && ops->describe != NULL)
        facts_text(f, "transport", ops->describe(comm));
    if (group->address != NULL) {
        const rank_backend *has =
            rank_record_backend(&group->ranks.ranks[group->rank], group->backend->name);
        bool across = has != NULL && strcmp(has->address, group->address) == 0;
        facts_text(f, "address", group->address);
        bool second = has != NULL && strcmp(has->second, group->address) == 0;
        facts_text(f, "interface", across ? has->interface : second ? has->second_interface : "lo");
        facts_text(f, "address chosen", group->address_why);
    }
}

static void write_facts(facts *f, muster_group *group)
{
    facts_text(f, "group", group->name);
    facts_number(f, "rank", group->rank);
    facts_number(f, "size", group->size);
    facts_number(f, "world size", group->world_size);
    facts_number(f, "hosts", roster_num_hosts(&group->ranks));
    facts_number(f, "local rank", muster_group_local_rank(group));
    facts_number(f, "local size", muster_group_local_size(group));
    write_backend(f, group);
    if (group->checks)
        facts_text(f, "calls are compared", "yes");
    facts_number(f, "time-out ms", (long long)group->timeout_ms);
    facts_number(f, "set-up us", group->costs.nanoseconds / 1000);
    facts_number(f, "store operations", group->costs.store_operations);
    facts_number(f, "bytes sent", (long long)group->bytes_sent);
    facts_number(f, "bytes received", (long long)group->bytes_received);
    bool failed = muster_group_check(group) != MUSTER_OK;
    facts_text(f, "state", failed ? muster_last_error() : "working");
    write_options(f, group);
    write_others(f, group);
    facts_open_list(f, "ranks", '[');
    for (int r = 0; r < group->size; r++)
        write_rank(f, group, r);
    facts_close_list(f, ']');
}

muster_status muster_group_describe(muster_group *group, bool json, char **text)
{
    muster_status status = group_enter(group, "muster_group_describe");
    if (status != MUSTER_OK)
        return status;
    if (text == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_group_describe: text is NULL");
    facts f;
    status = facts_begin(&f, json);
    if (status != MUSTER_OK)
        return status;
    write_facts(&f, group);
    return facts_end(&f, text);
}

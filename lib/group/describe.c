/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster_group_describe: what a group is and why, in words or in JSON, from one list of facts.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/device_memory.h"
#include "base/error.h"
#include "base/facts.h"
#include "group/bind.h"
#include "group/group.h"

/* "cores 0-21, GPU 0 (0000:3b:00.0, local)". */
static void write_place_words(facts *f, const muster_placement *at)
{
    if (*at->cpus == '\0')
        return;
    fprintf(f->out, ", CPUs %s", at->cpus);
    if (at->device >= 0) {
        fprintf(f->out, ", GPU %d (", at->device);
        facts_part(f, *at->device_bus_id != '\0' ? at->device_bus_id : at->device_uuid);
        fprintf(f->out, ", %s)", at->distance);
    }
}

static void write_place(facts *f, const muster_placement *at)
{
    facts_number(f, "local_rank", at->local_rank);
    facts_number(f, "device", at->device);
    facts_text(f, "device_uuid", at->device_uuid);
    facts_text(f, "device_bus_id", at->device_bus_id);
    facts_text(f, "device_name", at->device_name);
    facts_text(f, "distance", at->distance);
    facts_number(f, "package", at->package);
    facts_number(f, "numa_node", at->numa_node);
    facts_text(f, "cpus", at->cpus);
    facts_text(f, "numa_cpus", at->numa_cpus);
    facts_text(f, "near_cpus", at->near_cpus);
    facts_number(f, "kept", at->kept);
    facts_number(f, "shared", at->shared);
    facts_number(f, "elsewhere", at->elsewhere);
    facts_text(f, "nic", at->nic);
    facts_text(f, "hca", at->hca);
    facts_text(f, "nic_why", at->nic_why);
    facts_text(f, "why", at->why);
    facts_text(f, "shortage", at->shortage);
}

static void write_rank(facts *f, const muster_group *group, int rank)
{
    const rank_record *record = &group->ranks.ranks[rank];
    muster_placement at = MUSTER_PLACEMENT_INIT;
    if (muster_group_placement(group, rank, &at) != MUSTER_OK)
        return;
    if (!f->json) {
        char name[32];
        snprintf(name, sizeof(name), "rank %d", rank);
        facts_open(f, name);
        facts_part(f, record->host);
        fprintf(f->out, ", pid %lld, rank %d of the world%s", record->pid, group->to_world[rank],
                rank == group->rank ? " (this one)" : "");
        write_place_words(f, &at);
        facts_close(f);
        return;
    }
    facts_open_list(f, NULL, '{');
    facts_number(f, "rank", rank);
    facts_number(f, "world_rank", group->to_world[rank]);
    facts_text(f, "host", record->host);
    facts_number(f, "pid", record->pid);
    write_place(f, &at);
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
        facts_part(f, group_heeds(group, set->name) ? ")" : "; without effect here)");
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

/* A fact of one side; front tells the device's apart where there are two. */
static void write_fact(facts *f, const char *front, const char *name, const char *value)
{
    char whole[64];
    snprintf(whole, sizeof(whole), "%s%s", front, name);
    facts_text(f, whole, value);
}

/* A group that was asked for by another name may run on what ranks of one host have. */
static const backend_entry *named_backend(const group_side *side)
{
    const backend_entry *gloo = backend_find("gloo");
    const char *name = muster_group_backend(side->group);
    bool other = strncmp(name, "gloo", 4) == 0 || strncmp(name, "cpu:gloo", 8) == 0;
    return other && gloo != NULL && strcmp(side->backend->name, "local") == 0 ? gloo
                                                                              : side->backend;
}

/* What ranks of this host have among themselves, where other ranks or a name say another. */
static void write_within(facts *f, const group_side *side)
{
    muster_comm *comm = side->comm;
    facts_open(f, "within this host");
    facts_part(f, comm != NULL ? side->backend->name : "one rank alone");
    if (comm != NULL && side->backend->ops->describe != NULL) {
        facts_part(f, ": ");
        facts_part(f, side->backend->ops->describe(comm));
    }
    facts_close(f);
}

static void write_side(facts *f, const muster_group *group, const group_side *side,
                       const char *front)
{
    muster_comm *comm = side->comm;
    const muster_backend *ops = side->backend->ops;
    const backend_entry *named = named_backend(side);
    write_fact(f, front, "backend version", named->info.version);
    write_fact(f, front, "backend file", named->file);
    if (named != side->backend)
        write_within(f, side);
    else if (comm != NULL && ops->describe != NULL)
        write_fact(f, front, "transport", ops->describe(comm));
    if (side->address == NULL)
        return;
    const rank_backend *has =
        rank_record_backend(&group->ranks.ranks[group->rank], side->backend->name);
    bool across = has != NULL && strcmp(has->address, side->address) == 0;
    bool second = has != NULL && strcmp(has->second, side->address) == 0;
    write_fact(f, front, "address", side->address);
    write_fact(f, front, "interface",
               across   ? has->interface
               : second ? has->second_interface
                        : "lo");
    write_fact(f, front, "address chosen", side->address_why);
}

/* What runs where, in a group that has to do with devices. */
static void write_device(facts *f, const muster_group *group)
{
    char words[512];
    const char *host = group->host.backend != NULL ? group->host.backend->name : NULL;
    const char *device = group->device.backend != NULL ? group->device.backend->name : NULL;
    if (device == NULL && device_memory_in_use() == NULL)
        return;
    if (host != NULL)
        facts_text(f, "host memory", host);
    else
        snprintf(words, sizeof(words), "staged through the device, by %s", device);
    if (host == NULL)
        facts_text(f, "host memory", words);
    if (device == NULL) {
        snprintf(words, sizeof(words), "staged through the host, by %s", host);
        facts_text(f, "device memory", words);
        return;
    }
    const rank_record *self = &group->ranks.ranks[group->rank];
    const rank_device *mine = rank_record_device(self, device);
    facts_text(f, "device memory", device);
    if (mine == NULL)
        return;
    facts_number(f, "device", mine->ordinal);
    facts_text(f, "device chosen", rank_record_backend(self, device)->device_from);
    facts_text(f, "device name", mine->name);
    facts_text(f, "device uuid", mine->uuid);
    facts_text(f, "device bus id", mine->bus_id);
    facts_text(f, "stream", group->gpu.given != NULL ? "the caller's" : "the group's own");
}

static void write_backend(facts *f, muster_group *group)
{
    group_side *sides[GROUP_SIDES];
    size_t count = group_sides(group, sides);
    facts_text(f, "backend", muster_group_backend(group));
    facts_text(f, "why", group->why);
    for (size_t i = 0; i < count; i++)
        if (sides[i] != &group->messages && sides[i] != &group->near)
            write_side(f, group, sides[i], i > 0 ? "device " : "");
    if (group->near.backend != NULL)
        write_within(f, &group->near);
    write_device(f, group);
}

/* NCCL chooses its network by itself, and muster sets none of its variables: what would be nearest
 * is said for who wants to set them. */
static void write_hint(facts *f, const rank_seat *seat)
{
    bool interface =
        *seat->nic != '\0' && strcmp(seat->nic, "lo") != 0 && getenv("NCCL_SOCKET_IFNAME") == NULL;
    bool hca = *seat->hca != '\0' && getenv("NCCL_IB_HCA") == NULL;
    if (seat->device < 0 || !(interface || hca))
        return;
    facts_open(f, "near for nccl");
    if (interface) {
        facts_part(f, "NCCL_SOCKET_IFNAME=");
        facts_part(f, seat->nic);
    }
    if (hca) {
        facts_part(f, interface ? " NCCL_IB_HCA=" : "NCCL_IB_HCA=");
        facts_part(f, seat->hca);
    }
    facts_close(f);
}

static void write_placement(facts *f, const muster_group *group)
{
    const rank_record *self = &group->ranks.ranks[group->rank];
    if (*self->policy != '\0')
        facts_text(f, "placement", self->policy);
    if (!self->seat.placed)
        return;
    facts_text(f, "cpus", self->seat.cpus);
    facts_text(f, "placed", self->seat.why);
    if (*self->seat.shortage != '\0')
        facts_text(f, "no gpu", self->seat.shortage);
    facts_text(f, "bound", bind_words(self, group->options));
    if (*self->seat.nic != '\0') {
        facts_text(f, "near interface", self->seat.nic);
        facts_text(f, "near because", self->seat.nic_why);
    }
    write_hint(f, &self->seat);
}

static void write_traffic(facts *f, const muster_group *group)
{
    const group_traffic sum = group_count_traffic(group);
    facts_number(f, "collectives", (long long)atomic_load(&group->sequence));
    facts_number(f, "operations in shared memory", (long long)sum.whole);
    facts_number(f, "bytes sent", (long long)sum.sent);
    facts_number(f, "bytes received", (long long)sum.received);
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
    write_placement(f, group);
    if (group->checks)
        facts_text(f, "calls are compared", "yes");
    facts_number(f, "time-out ms", (long long)group->timeout_ms);
    facts_number(f, "set-up us", group->costs.nanoseconds / 1000);
    facts_number(f, "store operations", group->costs.store_operations);
    write_traffic(f, group);
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

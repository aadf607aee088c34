/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster_plan_placement: placing ranks that are not there, perhaps on a machine that is not here.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "machine/nic_near.h"
#include "machine/visible_devices.h"
#include "net/host_identity.h"
#include "options/options.h"
#include "placement/placement.h"

/* Everything that the plan is made of. */
typedef struct sketch {
    muster_plan_args args;
    muster_options *options; /* of MUSTER_OPTIONS, where nothing was asked for */
    const char *policy;
    const char *list;
    char host[256];
    machine *m;
    visible_devices visible;
    int *gpus; /* of the machine, by place among those that CUDA could show */
    standing *ranks;
    placement placed;
} sketch;

/* ---- what is asked ---- */

static muster_status take_options(sketch *s)
{
    muster_status status = options_collect(NULL, NULL, NULL, &s->options);
    if (status != MUSTER_OK)
        return status;
    const options_setting *policy = options_find(s->options, "placement");
    const options_setting *list = options_find(s->options, "placement_list");
    s->policy = policy != NULL ? policy->value : NULL;
    s->list = list != NULL ? list->value : NULL;
    return MUSTER_OK;
}

static muster_status take_arguments(sketch *s, const muster_plan_args *args)
{
    s->args = (muster_plan_args)MUSTER_PLAN_ARGS_INIT;
    muster_status status = MUSTER_OK;
    if (args != NULL)
        status =
            arguments_copy(&s->args, sizeof(s->args), sizeof(s->args), args, "muster_plan_args");
    if (status == MUSTER_OK && (s->args.num_ranks < 1 || s->args.num_ranks > PLACEMENT_MOST_RANKS))
        return error_set(MUSTER_ERR_ARGUMENT, "%d ranks can't be placed on one host: 1 to %d can",
                         s->args.num_ranks, PLACEMENT_MOST_RANKS);
    s->policy = s->args.policy;
    s->list = s->args.list;
    if (status == MUSTER_OK && s->policy == NULL && s->list == NULL)
        status = take_options(s);
    if (s->policy == NULL)
        s->policy = s->list != NULL ? "explicit" : "auto";
    return status;
}

/* The host of a file is called by the file's name without its end. */
static void name_host(sketch *s, const char *here)
{
    const char *path = s->args.topology, *slash = path == NULL ? NULL : strrchr(path, '/');
    const char *name = path == NULL ? here : slash != NULL ? slash + 1 : path;
    size_t length = strlen(name);
    if (path != NULL && length > 4 && strcmp(name + length - 4, ".xml") == 0)
        length -= 4;
    snprintf(s->host, sizeof(s->host), "%.*s", (int)length, name);
}

static muster_status load(sketch *s)
{
    host_identity self;
    muster_status status =
        s->args.topology != NULL ? machine_load_file(s->args.topology, &s->m) : machine_load(&s->m);
    if (status == MUSTER_OK)
        status = host_identity_get(&self);
    if (status != MUSTER_OK)
        return status;
    name_host(s, self.host_name);
    return MUSTER_OK;
}

/* The GPUs that CUDA would show to a process here; all that it can use, of a file. */
static muster_status find_devices(sketch *s)
{
    bool here = s->args.topology == NULL;
    size_t room = (size_t)s->m->num_gpus + 1;
    visible_candidate *candidates = calloc(room, sizeof(*candidates));
    s->gpus = calloc(room, sizeof(*s->gpus));
    int count = 0;
    if (candidates == NULL || s->gpus == NULL) {
        free(candidates);
        return error_no_memory(room * sizeof(*candidates), "a list of GPUs");
    }
    for (int g = 0; g < s->m->num_gpus; g++)
        if (s->m->gpus[g].usable) {
            candidates[count] =
                (visible_candidate){.uuid = s->m->gpus[g].uuid, .model = s->m->gpus[g].model};
            s->gpus[count++] = g;
        }
    visible_devices_read(here ? getenv("CUDA_VISIBLE_DEVICES") : NULL,
                         here ? getenv("CUDA_DEVICE_ORDER") : "PCI_BUS_ID", candidates, count,
                         &s->visible);
    free(candidates);
    return MUSTER_OK;
}

/* ---- the ranks ---- */

/* What binds this process is all that ranks started by it have, and it binds none of them apart. */
static muster_status stand(sketch *s, int rank)
{
    standing *at = &s->ranks[rank];
    muster_status status = standing_begin(at, s->m);
    if (status != MUSTER_OK)
        return status;
    at->rank = at->local_rank = rank;
    at->allowed = at->cpus;
    at->bound = false;
    for (int d = 0; status == MUSTER_OK && d < s->visible.count; d++) {
        const visible_device *seen = &s->visible.devices[d];
        standing_device device = {.ordinal = d, .slice = *seen->mig != '\0'};
        if (seen->gpu < 0 && !device.slice)
            continue;
        const machine_gpu *gpu = seen->gpu < 0 ? NULL : &s->m->gpus[s->gpus[seen->gpu]];
        snprintf(device.uuid, sizeof(device.uuid), "%.*s", (int)sizeof(device.uuid) - 1,
                 device.slice  ? seen->mig
                 : gpu != NULL ? gpu->uuid
                               : "");
        snprintf(device.bus_id, sizeof(device.bus_id), "%s", gpu != NULL ? gpu->bus_id : "");
        status = standing_add_device(at, s->m, &device);
    }
    return status;
}

static muster_status place(sketch *s)
{
    placement_wish wish = {.host = s->host, .list = s->list};
    muster_status status = placement_policy_read(s->policy, &wish.policy);
    if (status == MUSTER_OK && (wish.policy == PLACEMENT_EXPLICIT) != (s->list != NULL))
        return error_set(MUSTER_ERR_ARGUMENT,
                         "a list of places and the policy explicit go together, "
                         "but the policy is %s and there is %s list",
                         s->policy, s->list != NULL ? "a" : "no");
    s->ranks = calloc((size_t)s->args.num_ranks, sizeof(*s->ranks));
    if (s->ranks == NULL)
        return error_no_memory((size_t)s->args.num_ranks * sizeof(*s->ranks),
                               "the ranks of a host");
    for (int r = 0; status == MUSTER_OK && r < s->args.num_ranks; r++)
        status = stand(s, r);
    return status == MUSTER_OK ? placement_make(&s->placed, s->ranks, s->args.num_ranks, &wish)
                               : status;
}

/* ---- the plan in one block ---- */

/* Without a base it counts what there would be. */
typedef struct packer {
    char *base;
    size_t used;
} packer;

static const char *pack(packer *to, const char *text)
{
    size_t size = strlen(text) + 1;
    char *at = to->base == NULL ? NULL : memcpy(to->base + to->used, text, size);
    to->used += size;
    return at;
}

static const char *pack_cpus(packer *to, const cpu_set *cpus)
{
    size_t size = cpu_set_write(cpus, NULL, 0) + 1;
    char *at = to->base == NULL ? NULL : to->base + to->used;
    if (at != NULL)
        cpu_set_write(cpus, at, size);
    to->used += size;
    return at;
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

static void describe(const machine *m, char *text, size_t size)
{
    int usable = 0;
    for (int g = 0; g < m->num_gpus; g++)
        usable += m->gpus[g].usable;
    if (!m->whole) {
        snprintf(text, size, "%d CPUs; nothing else is known", cpu_set_count(&m->cpus));
        return;
    }
    snprintf(text, size,
             "%d package%s, %d NUMA node%s, %d core%s, %d thread%s; %d GPU%s%s; %d network "
             "interface%s",
             m->num_packages, plural(m->num_packages), m->num_numas, plural(m->num_numas),
             m->num_cores, plural(m->num_cores), m->num_pus, plural(m->num_pus), m->num_gpus,
             plural(m->num_gpus),
             m->num_gpus == 0        ? ""
             : usable == m->num_gpus ? " (NVIDIA)"
             : usable == 0           ? " (none NVIDIA)"
                                     : " (some NVIDIA)",
             m->num_nics, plural(m->num_nics));
}

/* The device of a seat as the machine has it. */
static int gpu_of(const sketch *s, const placement_seat *seat)
{
    return seat->device < 0 ? -1 : machine_find_gpu(s->m, s->placed.devices[seat->device].bus_id);
}

static void pack_rank(packer *to, const sketch *s, const placement_seat *seat,
                      muster_placement *rank)
{
    const placement_device *device = seat->device < 0 ? NULL : &s->placed.devices[seat->device];
    int gpu = gpu_of(s, seat);
    nic_choice near =
        gpu >= 0 ? nic_near_gpu(s->m, gpu, NULL, 0) : nic_near_cpus(s->m, &seat->cpus, NULL, 0);
    const machine_nic *nic = near.nic < 0 ? NULL : &s->m->nics[near.nic];
    *rank = (muster_placement){.struct_size = sizeof(*rank),
                               .rank = seat->rank,
                               .local_rank = seat->local_rank,
                               .host = pack(to, s->host),
                               .device = seat->ordinal,
                               .device_uuid = pack(to, device != NULL ? device->uuid : ""),
                               .device_bus_id = pack(to, device != NULL ? device->bus_id : ""),
                               .device_name = pack(to, gpu >= 0 ? s->m->gpus[gpu].model : ""),
                               .distance = placement_nearness_text(seat->nearness),
                               .package = seat->package,
                               .numa_node = seat->node,
                               .cpus = pack_cpus(to, &seat->cpus),
                               .numa_cpus = pack_cpus(to, &seat->node_cpus),
                               .near_cpus = pack_cpus(to, &seat->device_cpus),
                               .kept = seat->cores_kept,
                               .shared = seat->cores_shared,
                               .elsewhere = !s->m->this_system,
                               .nic = pack(to, nic != NULL ? nic->name : ""),
                               .hca = pack(to, nic != NULL ? nic->hca : ""),
                               .nic_why = nic != NULL ? nic_nearness_text(near.nearness) : "",
                               .why = pack(to, seat->why),
                               .shortage = pack(to, device == NULL ? s->placed.shortage : "")};
}

/* The plan, its ranks behind it, the strings behind those. */
static muster_plan *pack_plan(packer *to, const sketch *s)
{
    char topology[256];
    muster_placement counted;
    muster_plan *plan = (muster_plan *)(void *)to->base;
    size_t count = (size_t)s->placed.count;
    to->used = sizeof(*plan) + count * sizeof(counted);
    muster_placement *ranks =
        plan == NULL ? NULL : (muster_placement *)(void *)(to->base + sizeof(*plan));
    for (size_t r = 0; r < count; r++)
        pack_rank(to, s, &s->placed.seats[r], ranks == NULL ? &counted : &ranks[r]);
    describe(s->m, topology, sizeof(topology));
    muster_plan made = {.num_ranks = s->placed.count,
                        .ranks = ranks,
                        .policy = pack(to, s->policy),
                        .topology = pack(to, topology),
                        .seen_by = pack(to, s->m->seen_by),
                        .shortage = pack(to, s->placed.shortage),
                        .remarks = pack(to, s->placed.remarks),
                        .hidden = pack(to, s->visible.why)};
    if (plan != NULL)
        *plan = made;
    return plan;
}

static muster_status finish(const sketch *s, muster_plan **plan)
{
    packer counter = {NULL, 0};
    pack_plan(&counter, s);
    packer to = {malloc(counter.used), 0};
    if (to.base == NULL)
        return error_no_memory(counter.used, "a plan");
    *plan = pack_plan(&to, s);
    return MUSTER_OK;
}

static void sketch_clear(sketch *s)
{
    for (int r = 0; s->ranks != NULL && r < s->args.num_ranks; r++)
        standing_clear(&s->ranks[r]);
    free(s->ranks);
    free(s->gpus);
    placement_free(&s->placed);
    machine_free(s->m);
    muster_options_free(s->options);
}

muster_status muster_plan_placement(const muster_plan_args *args, muster_plan **plan)
{
    if (plan == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_plan_placement: plan is NULL");
    sketch *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return error_no_memory(sizeof(*s), "a plan");
    muster_status status = take_arguments(s, args);
    if (status == MUSTER_OK)
        status = load(s);
    if (status == MUSTER_OK)
        status = find_devices(s);
    if (status == MUSTER_OK)
        status = place(s);
    if (status == MUSTER_OK)
        status = finish(s, plan);
    sketch_clear(s);
    free(s);
    return status == MUSTER_OK ? status : error_prefix(status, "muster_plan_placement: ");
}

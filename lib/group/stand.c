/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where this process stands on its machine.
 */
#include "config.h"

#include "group/stand.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/bind.h"
#include "machine/machine_plain.h"
#include "options/core_options.h"
#include "placement/place_list.h"

/* ---- the machine ---- */

/* Looking takes some ms, and more under many ranks. A child of fork that finds it locked looks for
 * itself. */
static struct {
    pthread_mutex_t lock;
    machine *seen;
    char file[512];
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void named_file(char *text, size_t size)
{
    const char *mine = getenv("MUSTER_TOPOLOGY_FILE"), *any = getenv("HWLOC_XMLFILE");
    snprintf(text, size, "%s:%s", mine != NULL ? mine : "", any != NULL ? any : "");
}

/* Under the lock. What was seen without devices does for who has none to give. */
static muster_status look_again(bool devices)
{
    char file[sizeof(known.file)];
    named_file(file, sizeof(file));
    if (known.seen != NULL && strcmp(file, known.file) == 0 && (known.seen->devices || !devices))
        return MUSTER_OK;
    machine *made = NULL;
    muster_status status = devices ? machine_load(&made) : machine_load_cpus(&made);
    if (status != MUSTER_OK)
        return status;
    machine_free(known.seen);
    known.seen = made;
    strcpy(known.file, file);
    return MUSTER_OK;
}

muster_status stand_machine(bool devices, machine **m, bool *own)
{
    *own = pthread_mutex_trylock(&known.lock) != 0;
    if (*own)
        return devices ? machine_load(m) : machine_load_cpus(m);
    muster_status status = look_again(devices);
    if (status != MUSTER_OK) {
        pthread_mutex_unlock(&known.lock);
        return status;
    }
    cpu_set binding;
    if (known.seen->this_system && machine_own_binding(&binding))
        machine_bind(known.seen, &binding);
    *m = known.seen;
    return MUSTER_OK;
}

void stand_machine_end(machine *m, bool own)
{
    if (own)
        machine_free(m);
    else
        pthread_mutex_unlock(&known.lock);
}

/* Who is not to be placed needs no more than what the kernel says, which costs next to nothing. */
static muster_status machine_for(const char *policy, bool devices, machine **m, bool *own)
{
    if (strcmp(policy, placement_policy_text(PLACEMENT_NONE)) != 0)
        return stand_machine(devices, m, own);
    *own = true;
    return machine_load_plain("nobody: placement is none", m);
}

/* ---- options ---- */

static muster_status read_wish(const muster_options *options, const char **policy,
                               const char **list)
{
    const char *source = NULL;
    placement_policy unused;
    place_list entries;
    *list = options_value(options, core_options, "placement_list", NULL);
    *policy = options_value(options, core_options, "placement", &source);
    if (*list != NULL && strcmp(source, "default") == 0)
        *policy = "explicit";
    muster_status status = placement_policy_read(*policy, &unused);
    if (status != MUSTER_OK)
        return status;
    *policy = placement_policy_text(unused);
    if (*list == NULL && unused == PLACEMENT_EXPLICIT)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "placement=explicit needs a list, as in placement_list=0@0-7;1@8-15");
    if (*list != NULL && unused != PLACEMENT_EXPLICIT)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "placement_list=%.100s is for placement=explicit, but placement is %s; "
                         "leave one of them out",
                         *list, *policy);
    if (*list == NULL) {
        *list = "";
        return MUSTER_OK;
    }
    status = place_list_read(&entries, *list);
    if (status == MUSTER_OK)
        place_list_clear(&entries);
    return status;
}

muster_status stand_check(const muster_options *options)
{
    const char *policy, *list;
    binding_to unused;
    muster_status status = read_wish(options, &policy, &list);
    return status == MUSTER_OK ? bind_wanted(options, &unused) : status;
}

/* ---- the process ---- */

/* A device that can't be told from others can't be given to anybody. */
static muster_status add_devices(standing *s, const machine *m, const rank_backend *backend,
                                 const devices_found *found)
{
    muster_status status = MUSTER_OK;
    for (size_t i = 0; status == MUSTER_OK && i < found->count; i++) {
        const rank_device *device = &found->devices[i];
        standing_device added = {.ordinal = device->ordinal, .slice = device->slice != 0};
        if (strcmp(device->backend, backend->name) != 0 ||
            (*device->uuid == '\0' && *device->bus_id == '\0'))
            continue;
        snprintf(added.uuid, sizeof(added.uuid), "%s", device->uuid);
        snprintf(added.bus_id, sizeof(added.bus_id), "%.*s", (int)sizeof(added.bus_id) - 1,
                 device->bus_id);
        status = standing_add_device(s, m, &added);
    }
    return status;
}

/* The devices of the best backend that has some, and which of them is the process's already. */
static muster_status take_devices(standing *s, const machine *m, const rank_backend *backends,
                                  size_t num_backends, const devices_found *found)
{
    for (size_t b = 0; b < num_backends; b++) {
        muster_status status = add_devices(s, m, &backends[b], found);
        if (status != MUSTER_OK)
            return status;
        if (s->num_devices == 0)
            continue;
        if (backends[b].device >= 0) {
            s->settled = strcmp(backends[b].device_from, DEVICES_BY_OPTION) == 0 ? STANDING_BY_USER
                                                                                 : STANDING_IN_USE;
            s->settled_ordinal = backends[b].device;
        }
        return MUSTER_OK;
    }
    return MUSTER_OK;
}

/* The address that the route to the others chose; NULL where an option did, or nothing. */
static const char *routed_address(const rank_backend *backends, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (*backends[i].address != '\0' && strchr(backends[i].address_from, '.') == NULL)
            return backends[i].address;
    return NULL;
}

muster_status stand_look(const muster_options *options, const rank_backend *backends,
                         size_t num_backends, const devices_found *found, stand *where)
{
    machine *m = NULL;
    bool own;
    standing s = {0};
    muster_status status = read_wish(options, &where->policy, &where->list);
    if (status == MUSTER_OK)
        status = machine_for(where->policy, found->count > 0, &m, &own);
    if (status != MUSTER_OK)
        return status;
    where->elsewhere = !m->this_system;
    status = standing_begin(&s, m);
    if (status == MUSTER_OK)
        status = take_devices(&s, m, backends, num_backends, found);
    if (status == MUSTER_OK)
        status = standing_write(&s, &where->standing);
    if (status == MUSTER_OK)
        status = stand_ways(m, routed_address(backends, num_backends), &s, where);
    standing_clear(&s);
    stand_machine_end(m, own);
    return status;
}

void stand_clear(stand *where)
{
    for (size_t i = 0; i < where->num_ways; i++)
        free(where->texts[i]);
    free(where->texts);
    free(where->ways);
    free(where->standing);
    *where = (stand){0};
}

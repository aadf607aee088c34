/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The record that a rank publishes.
 */
#include "config.h"

#include "group/handshake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/deadline.h"
#include "base/error.h"
#include "backend/device_memory.h"
#include "collective/agree.h"
#include "group/devices.h"
#include "group/stand.h"
#include "net/host_identity.h"
#include "net/interface.h"
#include "net/loopback.h"
#include "net/memory_access.h"
#include "store/store.h"

/* The value of "<backend>.<what>", where the backend declares such an option. */
static const char *network_option(const muster_options *options, const backend_entry *candidate,
                                  const char *what, char *name, size_t size)
{
    const char *source = NULL;
    snprintf(name, size, "%s.%s", candidate->name, what);
    return options_value(options, candidate->ops->options, name, &source);
}

/* The address for talking to other hosts: as an option says, else the one from which the store is
 * reached, else the first that is not loopback. */
static muster_status choose_address(const muster_store *store, const muster_options *options,
                                    const backend_entry *candidate, interface_address *chosen,
                                    char *from, size_t size)
{
    const char *value = network_option(options, candidate, "hostname", from, size);
    if (value != NULL)
        return interface_of_address(value, AF_UNSPEC, chosen);
    char local[sizeof(chosen->address)];
    const char *grammar = network_option(options, candidate, "iface", from, size);
    if (grammar == NULL && store_local_address(store, local, sizeof(local))) {
        snprintf(from, size, "route to the store");
        return interface_of_address(local, AF_UNSPEC, chosen);
    }
    if (grammar == NULL) {
        snprintf(from, size, "first interface that is not loopback");
        grammar = "^lo";
    }
    interface_address *list = NULL;
    size_t count = 0;
    muster_status status = interface_list(&list, &count);
    if (status == MUSTER_OK)
        status = interface_match(grammar, AF_UNSPEC, list, count, chosen);
    free(list);
    return status;
}

/* An address of the other family that reaches as far as the first: ranks that know the master by
 * different families can then agree on one. None where an address was asked for by itself. */
static void choose_second(const muster_options *options, const backend_entry *candidate,
                          const interface_address *first, interface_address *second)
{
    char name[96], exact[IF_NAMESIZE + 1];
    interface_address *list = NULL;
    size_t count = 0;
    const char *grammar = network_option(options, candidate, "iface", name, sizeof(name));
    *second = (interface_address){0};
    if (first->loopback ||
        network_option(options, candidate, "hostname", name, sizeof(name)) != NULL)
        return;
    snprintf(exact, sizeof(exact), "=%s", first->name);
    if (interface_list(&list, &count) == MUSTER_OK &&
        interface_match(grammar != NULL ? grammar : exact,
                        first->family == AF_INET ? AF_INET6 : AF_INET, list, count,
                        second) == MUSTER_OK &&
        (second->loopback || interface_is_link_local(second)))
        *second = (interface_address){0};
    free(list);
}

/* A backend that can't get the address that the user asked for is not available. */
static void introduce_backend(const muster_store *store, const muster_options *options,
                              const backend_entry *candidate, rank_backend *has, char *text,
                              size_t size)
{
    interface_address chosen = {0}, second;
    char from[96];
    *has = (rank_backend){.name = candidate->name,
                          .version = candidate->info.version,
                          .reason = candidate->available ? "" : candidate->reason,
                          .address = "",
                          .interface = "",
                          .address_from = "",
                          .second = "",
                          .second_interface = "",
                          .device = -1,
                          .device_from = ""};
    if (!candidate->available || strcmp(candidate->name, "local") == 0)
        return;
    muster_status status = choose_address(store, options, candidate, &chosen, from, sizeof(from));
    if (status == MUSTER_OK) {
        choose_second(options, candidate, &chosen, &second);
        snprintf(text, size, "%s%c%s%c%s%c%s%c%s", chosen.address, 0, chosen.name, 0, from, 0,
                 second.address, 0, second.name);
        has->address = text;
        has->interface = has->address + strlen(has->address) + 1;
        has->address_from = has->interface + strlen(has->interface) + 1;
        has->second = has->address_from + strlen(has->address_from) + 1;
        has->second_interface = has->second + strlen(has->second) + 1;
    } else if (handshake_is_option_of(from, candidate->name)) {
        snprintf(text, size, "%s", muster_last_error());
        has->reason = text;
    }
}

/* What is said of one backend, in memory of its own. */
typedef struct introduced {
    char text[ERROR_SIZE];
    char reason[ERROR_SIZE];
} introduced;

/* One whose devices can't be had is not available. */
static void introduce_devices(const muster_options *options, const backend_entry *candidate,
                              rank_backend *has, introduced *said, devices_found *found)
{
    if (!candidate->available || candidate->ops->devices == NULL || *has->reason != '\0' ||
        devices_introduce(candidate, options, has, found) == MUSTER_OK)
        return;
    snprintf(said->reason, sizeof(said->reason), "%s", muster_last_error());
    has->reason = said->reason;
}

/* Whether this process can, and is to, share memory with other ranks. */
static muster_status look_at_memory(const muster_options *options, memory_access *memory)
{
    const backend_entry *gloo = backend_find("gloo");
    const char *wanted = options_value(
        options, gloo != NULL && gloo->ops ? gloo->ops->options : NULL, "gloo.shared_memory", NULL);
    bool off = wanted != NULL && strcmp(wanted, "off") == 0;
    if (wanted != NULL && !off && strcmp(wanted, "auto") != 0)
        return error_set(MUSTER_ERR_ARGUMENT, "option gloo.shared_memory is '%s'; give auto or off",
                         wanted);
    memory_access_get(memory);
    if (off || backend_find("local")->ops->run == NULL)
        snprintf(memory->why_not, sizeof(memory->why_not), "%s",
                 off ? "gloo.shared_memory is off there" : "its muster shares none");
    return MUSTER_OK;
}

static unsigned long long random_number(void)
{
    unsigned long long number = 0;
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        number = (unsigned long long)deadline_now_ns();
    return number;
}

/* What a rank sees of itself, of its host and of its backends. */
typedef struct sights {
    host_identity me;
    memory_access memory;
    bool checks;
    size_t num_backends;
    rank_backend *backends;
    introduced *said;
    devices_found found;
    stand where;
} sights;

static void sights_clear(sights *seen)
{
    stand_clear(&seen->where);
    devices_found_free(&seen->found);
    free(seen->backends);
    free(seen->said);
}

static muster_status look_at_backends(const muster_store *store, const muster_options *options,
                                      const backend_entry *const *list, size_t count, sights *seen)
{
    seen->backends = calloc(count + 1, sizeof(*seen->backends));
    seen->said = calloc(count + 1, sizeof(*seen->said));
    if (seen->backends == NULL || seen->said == NULL)
        return error_no_memory((count + 1) * sizeof(*seen->said), "a rank's record");
    seen->num_backends = count;
    for (size_t i = 0; i < count; i++) {
        rank_backend *has = &seen->backends[i];
        introduced *said = &seen->said[i];
        introduce_backend(store, options, list[i], has, said->text, sizeof(said->text));
        introduce_devices(options, list[i], has, said, &seen->found);
    }
    return stand_look(options, seen->backends, count, &seen->found, &seen->where);
}

static muster_status look_around(const muster_store *store, const muster_options *options,
                                 sights *seen)
{
    const backend_entry *const *list = NULL;
    size_t count = 0;
    muster_status status = backend_list(&list, &count);
    if (status == MUSTER_OK)
        status = look_at_memory(options, &seen->memory);
    if (status == MUSTER_OK)
        status = host_identity_get(&seen->me);
    if (status == MUSTER_OK)
        status = agree_wanted(&seen->checks);
    if (status == MUSTER_OK)
        status = look_at_backends(store, options, list, count, seen);
    return status;
}

/* All but what the caller has to say; in memory of what was seen. */
static rank_record record_of(const sights *seen)
{
    return (rank_record){.library = muster_version(),
                         .host = seen->me.host_name,
                         .host_id = seen->me.host_id,
                         .memory = seen->memory.why_not,
                         .access = seen->memory.as,
                         .pid = seen->me.pid,
                         .pid_space = seen->me.pid_namespace,
                         .start = seen->me.start_time,
                         .nonce = random_number(),
                         .cores = seen->me.cores,
                         .checks = seen->checks,
                         .in_use = device_memory_in_use() != NULL,
                         .num_backends = seen->num_backends,
                         .backends = seen->backends,
                         .num_devices = seen->found.count,
                         .devices = seen->found.devices,
                         .policy = seen->where.policy,
                         .place_list = seen->where.list,
                         .standing = seen->where.standing,
                         .elsewhere = seen->where.elsewhere,
                         .num_ways = seen->where.num_ways,
                         .ways = seen->where.ways};
}

muster_status handshake_introduce(const muster_store *store, const muster_options *options,
                                  const char *asked, int rank, int world_size, int told_local_rank,
                                  char **record)
{
    char loopback[LOOPBACK_SIZE];
    sights seen = {0};
    muster_status status = look_around(store, options, &seen);
    if (status == MUSTER_OK) {
        rank_record self = record_of(&seen);
        self.asked = asked;
        self.rank = rank;
        self.world_size = world_size;
        self.told_local_rank = told_local_rank;
        self.loopback = loopback_of_process(seen.me.pid, loopback, sizeof(loopback));
        status = rank_record_write(&self, record);
    }
    sights_clear(&seen);
    return status;
}

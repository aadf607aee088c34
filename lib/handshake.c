/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The record that a rank publishes, and the decisions that every rank takes alike from all of them.
 */
#include "config.h"

#include "handshake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "deadline.h"
#include "error.h"
#include "host_identity.h"
#include "interface.h"
#include "log.h"
#include "loopback.h"
#include "rank_set.h"
#include "store.h"

#define ONE_HOST_ADDRESS "127.0.0.1"

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

/* Whether an address comes from one of the backend's own options. */
static bool is_option_of(const char *from, const char *backend_name)
{
    size_t length = strlen(backend_name);
    return strncmp(from, backend_name, length) == 0 && from[length] == '.';
}

/* A backend that can't get the address that the user asked for is not available. */
static void introduce_backend(const muster_store *store, const muster_options *options,
                              const backend_entry *candidate, rank_backend *has, char *text,
                              size_t size)
{
    interface_address chosen = {0};
    char from[96];
    *has = (rank_backend){.name = candidate->name,
                          .version = candidate->info.version,
                          .reason = candidate->available ? "" : candidate->reason,
                          .address = "",
                          .interface = "",
                          .address_from = ""};
    if (!candidate->available)
        return;
    muster_status status = choose_address(store, options, candidate, &chosen, from, sizeof(from));
    if (status == MUSTER_OK) {
        snprintf(text, size, "%s%c%s%c%s", chosen.address, 0, chosen.name, 0, from);
        has->address = text;
        has->interface = has->address + strlen(has->address) + 1;
        has->address_from = has->interface + strlen(has->interface) + 1;
    } else if (is_option_of(from, candidate->name)) {
        snprintf(text, size, "%s", muster_last_error());
        has->reason = text;
    }
}

static unsigned long long random_number(void)
{
    unsigned long long number = 0;
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        number = (unsigned long long)deadline_now_ns();
    return number;
}

muster_status handshake_introduce(const muster_store *store, const muster_options *options,
                                  const char *asked, int rank, int world_size, char **record)
{
    const backend_entry *const *list = NULL;
    size_t count = 0;
    char loopback[LOOPBACK_SIZE];
    host_identity me;
    muster_status status = backend_list(&list, &count);
    if (status == MUSTER_OK)
        status = host_identity_get(&me);
    if (status != MUSTER_OK)
        return status;
    rank_backend *backends = calloc(count + 1, sizeof(*backends));
    char(*texts)[ERROR_SIZE] = calloc(count + 1, sizeof(*texts));
    if (backends == NULL || texts == NULL) {
        free(backends);
        free(texts);
        return error_no_memory((count + 1) * ERROR_SIZE, "a rank's record");
    }
    for (size_t i = 0; i < count; i++)
        introduce_backend(store, options, list[i], &backends[i], texts[i], sizeof(texts[i]));
    rank_record self = {.library = muster_version(),
                        .host = me.host_name,
                        .host_id = me.host_id,
                        .asked = asked,
                        .loopback = loopback_of_process(me.pid, loopback, sizeof(loopback)),
                        .pid = me.pid,
                        .pid_space = me.pid_namespace,
                        .start = me.start_time,
                        .nonce = random_number(),
                        .world_size = world_size,
                        .rank = rank,
                        .cores = me.cores,
                        .num_backends = count,
                        .backends = backends};
    status = rank_record_write(&self, record);
    free(backends);
    free(texts);
    return status;
}

/* Why not every rank has it: "rank 3 (host b, pid 7): <reason>"; NULL where all have it. */
static muster_status why_not(const roster *ranks, const char *name, char **words)
{
    char who[256];
    *words = NULL;
    for (int r = 0; r < ranks->count; r++) {
        const rank_record *rank = &ranks->ranks[r];
        const rank_backend *has = rank_record_backend(rank, name);
        const char *reason = has == NULL ? "no such backend was found there" : has->reason;
        if (*reason == '\0')
            continue;
        if (asprintf(words, "%s: %s", rank_record_name(rank, who, sizeof(who)), reason) >= 0)
            return MUSTER_OK;
        *words = NULL;
        return error_no_memory(sizeof(who) + strlen(reason), "words");
    }
    return MUSTER_OK;
}

/* "cpu:gloo" is gloo: this library's groups carry host memory. */
static muster_status backend_wanted(const char *asked, char *name, size_t size)
{
    if (strchr(asked, ',') != NULL || strncmp(asked, "cuda:", 5) == 0)
        return error_set(
            MUSTER_ERR_UNAVAILABLE,
            "backend '%s' was asked for, but this muster carries host memory only; ask "
            "for 'auto', 'gloo' or 'cpu:gloo'",
            asked);
    snprintf(name, size, "%s", strncmp(asked, "cpu:", 4) == 0 ? asked + 4 : asked);
    return MUSTER_OK;
}

static muster_status choose_named(const roster *ranks, const char *name,
                                  const backend_entry **chosen, char **why)
{
    const backend_entry *found = backend_find(name);
    if (found == NULL)
        return backend_unknown(name);
    char *reason = NULL;
    muster_status status = why_not(ranks, name, &reason);
    if (reason != NULL)
        status = error_set(MUSTER_ERR_UNAVAILABLE,
                           "backend '%s' was asked for, but is not available on %s", name, reason);
    free(reason);
    if (status != MUSTER_OK)
        return status;
    if (strcmp(name, "local") == 0 && ranks->count > 1)
        return error_set(MUSTER_ERR_UNAVAILABLE,
                         "backend 'local' was asked for, but it serves groups of one rank and this "
                         "one has %d; ask for 'auto' or 'gloo'",
                         ranks->count);
    *chosen = found;
    *why = strdup("asked for");
    return *why == NULL ? error_no_memory(16, "words") : MUSTER_OK;
}

static muster_status choose_this(const backend_entry *best, int count, const char *others,
                                 const backend_entry **chosen, char **why)
{
    char *words = NULL;
    if (asprintf(&words, "auto: the best one that all %d ranks have%s", count, others) < 0)
        return error_no_memory(64 + strlen(others), "words");
    *chosen = best;
    *why = words;
    return MUSTER_OK;
}

/* Adds why name is not the one to the words on others. */
static muster_status pass_over(char **others, const char *name, const char *reason)
{
    char *longer = NULL;
    if (asprintf(&longer, "%s; not %s, since it is not available on %s", *others, name, reason) < 0)
        return error_no_memory(64 + strlen(*others) + strlen(reason), "words");
    free(*others);
    *others = longer;
    return MUSTER_OK;
}

static muster_status choose_best(const roster *ranks, const backend_entry **chosen, char **why)
{
    const backend_entry *const *list = NULL;
    size_t count = 0;
    bool found = false;
    char *others = strdup("");
    muster_status status = backend_list(&list, &count);
    if (status == MUSTER_OK && others == NULL)
        status = error_no_memory(1, "words");
    for (size_t i = 0; status == MUSTER_OK && !found && i < count; i++) {
        if (strcmp(list[i]->name, "local") == 0)
            continue;
        char *reason = NULL;
        status = why_not(ranks, list[i]->name, &reason);
        found = status == MUSTER_OK && reason == NULL;
        if (found)
            status = choose_this(list[i], ranks->count, others, chosen, why);
        else if (status == MUSTER_OK)
            status = pass_over(&others, list[i]->name, reason);
        free(reason);
    }
    if (status == MUSTER_OK && !found)
        status =
            error_set(MUSTER_ERR_UNAVAILABLE,
                      "no backend connects these %d ranks%s; put that right, or install the gloo "
                      "backend's package where it is missing: muster-info says what a host "
                      "has",
                      ranks->count, *others != '\0' ? others : ": none was found");
    free(others);
    return status;
}

muster_status handshake_choose(const roster *ranks, const char *asked, const backend_entry **chosen,
                               char **why)
{
    char name[64];
    muster_status status = backend_wanted(asked, name, sizeof(name));
    if (status != MUSTER_OK)
        return status;
    if (strcmp(name, "auto") != 0)
        return choose_named(ranks, name, chosen, why);
    if (ranks->count > 1)
        return choose_best(ranks, chosen, why);
    *chosen = backend_find("local");
    *why = strdup("auto: a group of one rank needs no connection");
    return *why == NULL ? error_no_memory(64, "words") : MUSTER_OK;
}

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

/* What rank would use, given whether all are on one host, and why. */
static const char *address_of(const rank_record *rank, const char *backend_name, bool one_host,
                              const char **why)
{
    const rank_backend *has = rank_record_backend(rank, backend_name);
    bool beside = one_host && !is_option_of(has->address_from, backend_name);
    *why = beside ? "all ranks are on one host" : has->address_from;
    if (!beside)
        return has->address;
    return *rank->loopback != '\0' ? rank->loopback : ONE_HOST_ADDRESS;
}

static muster_status check_address(const roster *ranks, const char *backend_name, int rank,
                                   bool one_host)
{
    const rank_record *record = &ranks->ranks[rank];
    const char *from, *unused;
    const char *address = address_of(record, backend_name, one_host, &from);
    const char *first = address_of(&ranks->ranks[0], backend_name, one_host, &unused);
    char who[256], whom[256];
    rank_record_name(record, who, sizeof(who));
    if (*address == '\0')
        return error_set(MUSTER_ERR_UNAVAILABLE,
                         "%s has no network interface for other hosts; set %s.iface there", who,
                         backend_name);
    if (!one_host && is_loopback(address))
        return error_set(
            MUSTER_ERR_MISMATCH,
            "%s would use the loopback address %s (%s) while ranks of other hosts take "
            "part; set %s.iface there, or give the master an address that is not loopback",
            who, address, from, backend_name);
    if ((strchr(address, ':') == NULL) != (strchr(first, ':') == NULL))
        return error_set(
            MUSTER_ERR_MISMATCH,
            "%s would use %s and %s %s, which are of two address families; set %s.iface "
            "or %s.hostname so that all ranks are in one",
            rank_record_name(&ranks->ranks[0], whom, sizeof(whom)), first, who, address,
            backend_name, backend_name);
    return MUSTER_OK;
}

muster_status handshake_address(const roster *ranks, const char *backend_name, int rank,
                                const char **address, const char **why)
{
    bool one_host = roster_num_hosts(ranks) == 1;
    for (int r = 0; r < ranks->count; r++) {
        muster_status status = check_address(ranks, backend_name, r, one_host);
        if (status != MUSTER_OK)
            return status;
    }
    *address = address_of(&ranks->ranks[rank], backend_name, one_host, why);
    return MUSTER_OK;
}

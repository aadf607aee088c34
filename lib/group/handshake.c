/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The record that a rank publishes, and the decisions that every rank takes alike from all of them.
 */
#include "config.h"

#include "group/handshake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/deadline.h"
#include "base/error.h"
#include "collective/agree.h"
#include "net/host_identity.h"
#include "net/interface.h"
#include "base/log.h"
#include "net/loopback.h"
#include "base/rank_set.h"
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
                          .second_interface = ""};
    if (!candidate->available)
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

static unsigned long long random_number(void)
{
    unsigned long long number = 0;
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        number = (unsigned long long)deadline_now_ns();
    return number;
}

muster_status handshake_introduce(const muster_store *store, const muster_options *options,
                                  const char *asked, int rank, int world_size, int told_local_rank,
                                  char **record)
{
    const backend_entry *const *list = NULL;
    size_t count = 0;
    char loopback[LOOPBACK_SIZE];
    host_identity me;
    muster_status status = backend_list(&list, &count);
    bool checks = false;
    if (status == MUSTER_OK)
        status = host_identity_get(&me);
    if (status == MUSTER_OK)
        status = agree_wanted(&checks);
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
                        .checks = checks,
                        .told_local_rank = told_local_rank,
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

/* others: why each that was found is not the one; "" where none was. */
static muster_status no_backend(int count, const char *others)
{
    if (*others != '\0')
        return error_set(MUSTER_ERR_UNAVAILABLE,
                         "no backend connects these %d ranks%s; put that right, or install the "
                         "gloo backend's package where it is missing: muster-info says what a "
                         "host has",
                         count, others);
    return error_set(MUSTER_ERR_UNAVAILABLE,
                     "no backend connects these %d ranks: no plugin was found in %s; install the "
                     "gloo backend's package, or name the folder of muster_gloo.so in "
                     "MUSTER_BACKEND_PATH",
                     count, backend_searched());
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
        status = no_backend(ranks->count, others);
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

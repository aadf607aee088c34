/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which backends a group runs on.
 *
 * A backend with devices is taken where every rank has a device of its own; host memory then goes
 * by another backend where all ranks have one.
 */
#include "config.h"

#include "group/choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/devices.h"

enum { WITHOUT_SIZE = 1100 };

/* A request, taken apart; names that were not said are "". */
typedef struct wish {
    char any[64];
    char host[64];
    char device[64];
} wish;

static bool has_devices(const backend_entry *entry)
{
    return entry->ops != NULL && entry->ops->devices != NULL;
}

static bool read_part(const char *part, size_t length, wish *said)
{
    char *to = said->any;
    if (length > 4 && strncmp(part, "cpu:", 4) == 0)
        to = said->host, part += 4, length -= 4;
    else if (length > 5 && strncmp(part, "cuda:", 5) == 0)
        to = said->device, part += 5, length -= 5;
    if (length >= sizeof(said->any) || *to != '\0')
        return false;
    memcpy(to, part, length);
    to[length] = '\0';
    return true;
}

static muster_status read_wish(const char *asked, wish *said)
{
    bool well = true, several = strchr(asked, ',') != NULL;
    *said = (wish){"", "", ""};
    for (const char *at = asked; well; at++) {
        size_t length = strcspn(at, ",");
        well = read_part(at, length, said) && !(several && length == 0);
        at += length;
        if (*at == '\0')
            break;
    }
    if (well && !(several && *said->any != '\0'))
        return MUSTER_OK;
    return error_set(MUSTER_ERR_UNAVAILABLE,
                     "backend '%.200s' was asked for; ask for 'auto', a name such as 'gloo' or "
                     "'nccl', or for 'cpu:NAME', 'cuda:NAME' or 'cpu:NAME,cuda:NAME'",
                     asked);
}

muster_status choice_look(const char *asked, int world_size)
{
    wish said;
    const backend_entry *const *list = NULL;
    size_t count = 0;
    muster_status status = backend_list(&list, &count);
    if (status != MUSTER_OK || read_wish(asked, &said) != MUSTER_OK)
        return status; /* a wrong request is an error later, in its place */
    for (size_t i = 0; status == MUSTER_OK && i < count; i++) {
        const char *name = list[i]->name;
        bool wanted = strcmp(said.any, name) == 0 || strcmp(said.host, name) == 0 ||
                      strcmp(said.device, name) == 0 ||
                      (strcmp(said.any, "auto") == 0 && world_size > 1);
        if (wanted && !list[i]->probed)
            status = backend_look_at(name);
    }
    return status;
}

/* Why not every rank has it: "it is not available on rank 3 (host b, pid 7): <reason>"; NULL where
 * all have it. */
static muster_status why_not(const roster *ranks, const backend_entry *entry, char **words)
{
    char who[256];
    *words = NULL;
    if (has_devices(entry))
        return devices_why_not(ranks, entry->name, words);
    for (int r = 0; r < ranks->count; r++) {
        const rank_record *rank = &ranks->ranks[r];
        const rank_backend *has = rank_record_backend(rank, entry->name);
        const char *reason = has == NULL ? "no such backend was found there" : has->reason;
        if (*reason == '\0')
            continue;
        if (asprintf(words, "it is not available on %s: %s",
                     rank_record_name(rank, who, sizeof(who)), reason) >= 0)
            return MUSTER_OK;
        *words = NULL;
        return error_no_memory(sizeof(who) + strlen(reason), "words");
    }
    return MUSTER_OK;
}

/* The rank of the same host that comes before, or -1. */
static int host_mate(const roster *ranks, int rank)
{
    for (int r = rank - 1; r >= 0; r--)
        if (strcmp(ranks->ranks[r].host_id, ranks->ranks[rank].host_id) == 0)
            return r;
    return -1;
}

/* Whether a rank can't reach what others of its host share. */
static bool is_apart(const roster *ranks, int rank)
{
    int mate = host_mate(ranks, rank);
    const rank_record *self = &ranks->ranks[rank];
    return mate >= 0 && (ranks->ranks[mate].pid_space != self->pid_space ||
                         strcmp(ranks->ranks[mate].access, self->access) != 0);
}

/* A rank that shares a host with another, but not its memory; -1: there is none. */
static int first_without_memory(const roster *ranks)
{
    for (int r = 0; r < ranks->count; r++)
        if (is_apart(ranks, r) ||
            (*ranks->ranks[r].memory != '\0' && roster_ranks_on_host(ranks, r) > 1))
            return r;
    return -1;
}

/* "rank 1 (host b, pid 7) shares no memory: <reason>" */
static const char *say_without(const roster *ranks, int rank, char *words, size_t size)
{
    char who[320], other[320];
    const rank_record *self = &ranks->ranks[rank];
    int mate = host_mate(ranks, rank);
    const char *said = self->memory;
    if (*said == '\0' && ranks->ranks[mate].pid_space != self->pid_space)
        said = "it runs in another pid namespace than others of its host";
    rank_record_name(self, who, sizeof(who));
    if (*said != '\0')
        snprintf(words, size, "%s shares no memory: %s", who, said);
    else
        snprintf(words, size, "%s shares no memory: it runs as %s, but %s as %s", who, self->access,
                 rank_record_name(&ranks->ranks[mate], other, sizeof(other)),
                 ranks->ranks[mate].access);
    return words;
}

/* Where 'local' was asked for by name. */
static muster_status check_local(const roster *ranks)
{
    char words[WITHOUT_SIZE];
    int hosts = roster_num_hosts(ranks), without = first_without_memory(ranks);
    if (hosts > 1)
        return error_set(MUSTER_ERR_UNAVAILABLE,
                         "backend 'local' was asked for, but it serves ranks of one host and these "
                         "%d are on %d; ask for 'auto' or 'gloo'",
                         ranks->count, hosts);
    if (without < 0)
        return MUSTER_OK;
    return error_set(MUSTER_ERR_UNAVAILABLE,
                     "backend 'local' was asked for, but %s; put that right, or ask for 'gloo', "
                     "which goes by sockets then (" BACKEND_PACKAGE("gloo") ")",
                     say_without(ranks, without, words, sizeof(words)));
}

/* The backend of that name, which all ranks must have. */
static muster_status find_named(const roster *ranks, const char *name, const backend_entry **found)
{
    const backend_entry *entry = backend_find(name);
    if (entry == NULL)
        return backend_unknown(name);
    char *reason = NULL;
    muster_status status = why_not(ranks, entry, &reason);
    if (reason != NULL)
        status =
            error_set(MUSTER_ERR_UNAVAILABLE, "backend '%s' was asked for, but %s", name, reason);
    free(reason);
    if (status != MUSTER_OK)
        return status;
    *found = entry;
    return strcmp(name, "local") == 0 && ranks->count > 1 ? check_local(ranks) : MUSTER_OK;
}

static muster_status find_any(const roster *ranks, const char *name, choice *made)
{
    const backend_entry *entry = NULL;
    muster_status status = find_named(ranks, name, &entry);
    if (status == MUSTER_OK && has_devices(entry))
        made->device = entry;
    else
        made->host = entry;
    return status;
}

static muster_status find_sides(const roster *ranks, const wish *said, choice *made)
{
    muster_status status = MUSTER_OK;
    if (*said->host != '\0')
        status = find_named(ranks, said->host, &made->host);
    if (status == MUSTER_OK && made->host != NULL && has_devices(made->host))
        return error_set(MUSTER_ERR_UNAVAILABLE,
                         "backend 'cpu:%s' was asked for, but '%s' carries device memory; ask for "
                         "'%s' alone, which stages host memory through it",
                         said->host, said->host, said->host);
    const backend_entry *device = NULL;
    if (status == MUSTER_OK && *said->device != '\0')
        status = find_named(ranks, said->device, &device);
    if (status != MUSTER_OK || device == NULL)
        return status;
    if (has_devices(device))
        made->device = device;
    else if (made->host == NULL || made->host == device)
        made->host = device; /* device memory is staged through it */
    else
        return error_set(MUSTER_ERR_UNAVAILABLE,
                         "backend 'cpu:%s,cuda:%s' was asked for, but neither has devices; ask for "
                         "one of them, through which device memory is staged",
                         said->host, said->device);
    return MUSTER_OK;
}

static muster_status add_words(char **words, const char *more, const char *name, const char *why)
{
    char *longer = NULL;
    if (asprintf(&longer, "%s%s%s%s%s", *words, more, name, *why != '\0' ? ", since " : "", why) <
        0)
        return error_no_memory(64 + strlen(*words) + strlen(why), "words");
    free(*words);
    *words = longer;
    return MUSTER_OK;
}

/* others: why each that was found is not the one; "" where none was. */
static muster_status no_backend(int count, const char *others)
{
    if (*others != '\0')
        return error_set(
            MUSTER_ERR_UNAVAILABLE,
            "no backend connects these %d ranks%s; put that right, or install " BACKEND_PACKAGE(
                "gloo") " where it is missing: muster-info says what a "
                        "host has",
            count, others);
    return error_set(
        MUSTER_ERR_UNAVAILABLE,
        "no backend connects these %d ranks: no plugin was found in %s; install " BACKEND_PACKAGE(
            "gloo") ", or name the folder of muster_gloo.so in "
                    "MUSTER_BACKEND_PATH",
        count, backend_searched());
}

/* The first of the list that all ranks have, with devices or without; *others says why not those
 * before it. */
static muster_status find_best(const roster *ranks, bool devices, const backend_entry **best,
                               char **others)
{
    const backend_entry *const *list = NULL;
    size_t count = 0;
    muster_status status = backend_list(&list, &count);
    for (size_t i = 0; status == MUSTER_OK && *best == NULL && i < count; i++) {
        /* one that can't be read here has no table that says: it counts as one without devices */
        if (strcmp(list[i]->name, "local") == 0 || has_devices(list[i]) != devices)
            continue;
        char *reason = NULL;
        status = why_not(ranks, list[i], &reason);
        if (status == MUSTER_OK && reason == NULL)
            *best = list[i];
        else if (status == MUSTER_OK)
            status = add_words(others, "; not ", list[i]->name, reason);
        free(reason);
    }
    return status;
}

/* Ranks of one host share its memory: they need nothing else there, and what they asked for by name
 * carries what goes to other hosts. */
static void share_memory(const roster *ranks, choice *made)
{
    bool one_host = roster_num_hosts(ranks) == 1;
    bool alone = roster_num_hosts(ranks) == ranks->count;
    bool asked = made->host != NULL && strcmp(made->host->name, "gloo") == 0;
    if (alone || first_without_memory(ranks) >= 0 || (!asked && (made->host != NULL || !one_host)))
        return;
    made->shares = true;
    if (one_host)
        made->host = backend_find("local");
}

/* How memory is shared; "" where there is nothing to say. */
static void say_memory(const roster *ranks, const choice *made, char *words, size_t size)
{
    int hosts = roster_num_hosts(ranks), without = first_without_memory(ranks);
    words[0] = '\0';
    if (made->shares && hosts == 1)
        snprintf(words, size, "; all ranks are on one host and share its memory");
    else if (made->shares)
        snprintf(words, size, "; ranks of one host share its memory");
    else if (without >= 0 && made->host != NULL && strcmp(made->host->name, "gloo") == 0) {
        int used = snprintf(words, size, "; no memory is shared: ");
        say_without(ranks, without, words + used, size - (size_t)used);
    }
}

/* What was decided first, then what goes with it, then what others lack. */
static muster_status say_why(const roster *ranks, const char *others, choice *made)
{
    char *words = NULL, memory[WITHOUT_SIZE];
    say_memory(ranks, made, memory, sizeof(memory));
    bool alone = made->device == NULL && made->shares && roster_num_hosts(ranks) == 1;
    int length =
        alone ? asprintf(&words, "auto: all %d ranks are on one host and share its memory%s",
                         ranks->count, others)
              : asprintf(&words,
                         made->device != NULL ? "auto: all %d ranks have a GPU of their own%s%s"
                                              : "auto: the best one that all %d ranks have%s%s",
                         ranks->count, memory, others);
    if (length < 0)
        return error_no_memory(sizeof(memory) + strlen(others), "words");
    made->why = words;
    return MUSTER_OK;
}

/* Why ranks of one host, who need no other backend, need one all the same. */
static muster_status add_local(const roster *ranks, char **others)
{
    char words[WITHOUT_SIZE], *longer = NULL;
    int without = first_without_memory(ranks);
    if (without < 0 || roster_num_hosts(ranks) > 1)
        return MUSTER_OK;
    if (asprintf(&longer, "; not local, since %s%s",
                 say_without(ranks, without, words, sizeof(words)), *others) < 0)
        return error_no_memory(WITHOUT_SIZE + strlen(*others), "words");
    free(*others);
    *others = longer;
    return MUSTER_OK;
}

static muster_status find_automatic(const roster *ranks, bool devices, choice *made)
{
    char *others = strdup("");
    muster_status status = others == NULL ? error_no_memory(1, "words") : MUSTER_OK;
    if (status == MUSTER_OK && devices)
        status = find_best(ranks, true, &made->device, &others);
    if (status == MUSTER_OK)
        share_memory(ranks, made);
    if (status == MUSTER_OK && made->host == NULL) {
        status = find_best(ranks, false, &made->host, &others);
        share_memory(ranks, made);
    }
    if (status == MUSTER_OK && made->host == NULL && made->device == NULL)
        status = add_local(ranks, &others);
    if (status == MUSTER_OK && made->host == NULL && made->device == NULL)
        status = no_backend(ranks->count, others);
    if (status == MUSTER_OK)
        status = say_why(ranks, others, made);
    free(others);
    return status;
}

static muster_status say_asked(const roster *ranks, choice *made)
{
    char memory[WITHOUT_SIZE];
    say_memory(ranks, made, memory, sizeof(memory));
    if (asprintf(&made->why, "asked for%s", memory) >= 0)
        return MUSTER_OK;
    made->why = NULL;
    return error_no_memory(sizeof(memory), "words");
}

static muster_status find(const roster *ranks, const wish *said, choice *made)
{
    bool automatic = strcmp(said->any, "auto") == 0;
    bool host_automatic = strcmp(said->host, "auto") == 0 && *said->device == '\0';
    if ((automatic || host_automatic) && ranks->count > 1)
        return find_automatic(ranks, automatic, made);
    if (automatic || host_automatic) {
        made->host = backend_find("local");
        made->why = strdup("auto: a group of one rank needs no connection");
        return made->why != NULL ? MUSTER_OK : error_no_memory(64, "words");
    }
    bool sides = *said->host != '\0' || *said->device != '\0';
    muster_status status = sides ? find_sides(ranks, said, made) : find_any(ranks, said->any, made);
    if (status == MUSTER_OK && ranks->count > 1 && made->host != NULL)
        share_memory(ranks, made);
    return status == MUSTER_OK ? say_asked(ranks, made) : status;
}

static const char *host_name(const choice *made, const wish *said)
{
    bool named = strcmp(said->any, "auto") != 0 && strcmp(said->host, "auto") != 0;
    return named && made->shares ? "gloo" : made->host->name;
}

muster_status choice_make(const roster *ranks, const char *asked, choice *made)
{
    wish said;
    *made = (choice){0};
    muster_status status = read_wish(asked, &said);
    if (status == MUSTER_OK)
        status = find(ranks, &said, made);
    int length = 0;
    if (status == MUSTER_OK && made->host != NULL && made->device != NULL)
        length =
            asprintf(&made->name, "cpu:%s,cuda:%s", host_name(made, &said), made->device->name);
    else if (status == MUSTER_OK)
        length = asprintf(&made->name, "%s",
                          made->host != NULL ? host_name(made, &said) : made->device->name);
    if (length < 0) {
        made->name = NULL;
        status = error_no_memory(64, "words");
    }
    if (status == MUSTER_OK)
        return MUSTER_OK;
    free(made->why);
    *made = (choice){0};
    return status;
}

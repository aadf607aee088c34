/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The addresses of all ranks of a group: decided by every rank alike, from what all published.
 */
#include "config.h"

#include "group/handshake.h"

#include <string.h>
#include <sys/socket.h>

#include "base/error.h"

#define ONE_HOST_ADDRESS "127.0.0.1"

bool handshake_is_option_of(const char *from, const char *backend_name)
{
    size_t length = strlen(backend_name);
    return strncmp(from, backend_name, length) == 0 && from[length] == '.';
}

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

static int family_of(const char *address)
{
    return *address == '\0' ? AF_UNSPEC : strchr(address, ':') == NULL ? AF_INET : AF_INET6;
}

/* What rank would use, given whether all are on one host, and why; of its two addresses the one of
 * the family, where it has that. */
static const char *address_of(const rank_record *rank, const char *backend_name, bool one_host,
                              int family, const char **why)
{
    const rank_backend *has = rank_record_backend(rank, backend_name);
    if (one_host && !handshake_is_option_of(has->address_from, backend_name)) {
        *why = "all ranks are on one host";
        return *rank->loopback != '\0' ? rank->loopback : ONE_HOST_ADDRESS;
    }
    if (*has->second != '\0' && family_of(has->second) == family) {
        *why = "the family that all ranks have, on the same network";
        return has->second;
    }
    *why = has->address_from;
    return has->address;
}

static bool all_have(const roster *ranks, const char *backend_name, bool one_host, int family)
{
    const char *unused;
    for (int r = 0; r < ranks->count; r++)
        if (family_of(address_of(&ranks->ranks[r], backend_name, one_host, family, &unused)) !=
            family)
            return false;
    return true;
}

/* The family of rank 0's first address is kept where there is none that all have. */
static int common_family(const roster *ranks, const char *backend_name, bool one_host)
{
    const char *unused;
    int first = family_of(address_of(&ranks->ranks[0], backend_name, one_host, AF_UNSPEC, &unused));
    int other = first == AF_INET ? AF_INET6 : AF_INET;
    if (first == AF_UNSPEC || all_have(ranks, backend_name, one_host, first))
        return first;
    return all_have(ranks, backend_name, one_host, other) ? other : first;
}

static muster_status check_address(const roster *ranks, const char *backend_name, int rank,
                                   bool one_host, int family)
{
    const rank_record *record = &ranks->ranks[rank];
    const char *from, *unused;
    const char *address = address_of(record, backend_name, one_host, family, &from);
    const char *first = address_of(&ranks->ranks[0], backend_name, one_host, family, &unused);
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
    int family = common_family(ranks, backend_name, one_host);
    for (int r = 0; r < ranks->count; r++) {
        muster_status status = check_address(ranks, backend_name, r, one_host, family);
        if (status != MUSTER_OK)
            return status;
    }
    *address = address_of(&ranks->ranks[rank], backend_name, one_host, family, why);
    return MUSTER_OK;
}

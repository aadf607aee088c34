/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The network interfaces and addresses of this machine.
 */
#include "net/interface.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/patience.h"
#include "net/name_lookup.h"

/* Turns ::ffff:a.b.c.d into a.b.c.d, so that one address has one form. */
static void interface_normalise(interface_number *number)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    if (number->family != AF_INET6 || memcmp(number->bytes, mapped, sizeof(mapped)) != 0)
        return;
    memmove(number->bytes, number->bytes + 12, 4);
    memset(number->bytes + 4, 0, 12);
    number->family = AF_INET;
}

bool interface_parse_number(const char *text, interface_number *number)
{
    char address[INET6_ADDRSTRLEN];
    size_t length = strcspn(text, "%");
    if (length >= sizeof(address))
        return false;
    memcpy(address, text, length);
    address[length] = '\0';
    memset(number, 0, sizeof(*number));
    if (text[length] == '\0' && inet_pton(AF_INET, address, number->bytes) == 1) {
        number->family = AF_INET;
        return true;
    }
    if (inet_pton(AF_INET6, address, number->bytes) != 1)
        return false;
    number->family = AF_INET6;
    interface_normalise(number);
    return true;
}

static bool interface_number_of(const struct sockaddr *address, interface_number *number)
{
    memset(number, 0, sizeof(*number));
    if (address == NULL)
        return false;
    number->family = address->sa_family;
    if (address->sa_family == AF_INET) {
        memcpy(number->bytes, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
        return true;
    }
    if (address->sa_family != AF_INET6)
        return false;
    memcpy(number->bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
    interface_normalise(number);
    return true;
}

static bool interface_link_local(const interface_number *number)
{
    if (number->family == AF_INET)
        return number->bytes[0] == 169 && number->bytes[1] == 254;
    return number->bytes[0] == 0xfe && (number->bytes[1] & 0xc0) == 0x80;
}

bool interface_is_link_local(const interface_address *address)
{
    interface_number number;
    return interface_parse_number(address->address, &number) && interface_link_local(&number);
}

int interface_preference(const interface_address *address)
{
    bool local = interface_is_link_local(address);
    return (address->loopback ? 0 : 4) + (local ? 0 : 2) + (address->family == AF_INET ? 1 : 0);
}

static int interface_prefix(const struct sockaddr *mask)
{
    interface_number number;
    int bits = 0;
    if (mask == NULL || !interface_number_of(mask, &number))
        return -1;
    for (size_t i = 0; i < sizeof(number.bytes); i++)
        for (unsigned byte = number.bytes[i]; byte != 0; byte &= byte - 1)
            bits++;
    return bits;
}

bool interface_same_network(const interface_address *a, const interface_address *b)
{
    interface_number left, right;
    int bits = a->prefix;
    if (bits < 1 || bits != b->prefix || a->family != b->family ||
        !interface_parse_number(a->address, &left) || !interface_parse_number(b->address, &right))
        return false;
    for (int i = 0; i < bits; i++)
        if (((left.bytes[i / 8] ^ right.bytes[i / 8]) >> (7 - i % 8) & 1) != 0)
            return false;
    return true;
}

static void interface_fill(interface_address *entry, const char *name, unsigned flags,
                           const interface_number *number)
{
    memset(entry, 0, sizeof(*entry));
    snprintf(entry->name, sizeof(entry->name), "%s", name);
    inet_ntop(number->family, number->bytes, entry->address, INET6_ADDRSTRLEN);
    if (number->family == AF_INET6 && interface_link_local(number)) {
        size_t used = strlen(entry->address);
        snprintf(entry->address + used, sizeof(entry->address) - used, "%%%s", name);
    }
    entry->family = number->family;
    entry->loopback = (flags & IFF_LOOPBACK) != 0;
    entry->up = (flags & IFF_UP) != 0;
    entry->prefix = -1;
}

muster_status interface_list(interface_address **list, size_t *count)
{
    struct ifaddrs *all;
    if (list == NULL || count == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "the list of interfaces needs a place to go to");
    *list = NULL;
    *count = 0;
    if (getifaddrs(&all) != 0)
        return error_system("listing the network interfaces");
    size_t room = 1; /* so that an empty list is not NULL */
    for (const struct ifaddrs *at = all; at != NULL; at = at->ifa_next)
        room++;
    interface_address *entries = calloc(room, sizeof(*entries));
    if (entries == NULL) {
        freeifaddrs(all);
        return error_no_memory(room * sizeof(*entries), "network interfaces");
    }
    for (const struct ifaddrs *at = all; at != NULL; at = at->ifa_next) {
        interface_number number;
        if (!interface_number_of(at->ifa_addr, &number))
            continue;
        interface_fill(&entries[*count], at->ifa_name, at->ifa_flags, &number);
        entries[(*count)++].prefix = interface_prefix(at->ifa_netmask);
    }
    freeifaddrs(all);
    *list = entries;
    return MUSTER_OK;
}

void interface_describe(const interface_address *list, size_t count, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", count == 0 ? "none" : "");
    for (size_t i = 0; i < count; i++) {
        int more = snprintf(text + used, size - used, "%s%s %s%s%s", i == 0 ? "" : ", ",
                            list[i].name, list[i].address, list[i].loopback ? " (loopback)" : "",
                            list[i].up ? "" : " (down)");
        if (more < 0 || (size_t)more >= size - used) {
            if (size >= 4)
                memcpy(text + (used + 4 <= size ? used : size - 4), "...", 4);
            return;
        }
        used += (size_t)more;
    }
}

/* True where number is of this machine; found is then its entry. */
static bool interface_find(const interface_number *number, uint32_t scope,
                           const interface_address *list, size_t count, interface_address *found)
{
    for (size_t i = 0; i < count; i++) {
        interface_number other;
        if (!interface_parse_number(list[i].address, &other) || other.family != number->family ||
            memcmp(other.bytes, number->bytes, sizeof(other.bytes)) != 0)
            continue;
        if (scope != 0 && if_nametoindex(list[i].name) != scope)
            continue;
        *found = list[i];
        return true;
    }
    if (number->family != AF_INET || number->bytes[0] != 127)
        return false;
    const char *name = "lo";
    for (size_t i = 0; i < count; i++)
        if (list[i].loopback)
            name = list[i].name;
    interface_fill(found, name, IFF_LOOPBACK | IFF_UP, number);
    return true;
}

/* The best of what a name resolves to; resolved says in words what that was. */
static bool interface_choose_resolved(const struct addrinfo *results, int family,
                                      const interface_address *list, size_t count,
                                      interface_address *chosen, char *resolved, size_t size)
{
    bool any = false;
    size_t used = 0;
    resolved[0] = '\0';
    for (const struct addrinfo *at = results; at != NULL; at = at->ai_next) {
        interface_number number;
        interface_address found;
        if (!interface_number_of(at->ai_addr, &number) ||
            (family != AF_UNSPEC && number.family != family))
            continue;
        char text[INET6_ADDRSTRLEN];
        inet_ntop(number.family, number.bytes, text, sizeof(text));
        if (used + strlen(text) + 3 < size)
            used += (size_t)snprintf(resolved + used, size - used, "%s%s", used ? ", " : "", text);
        uint32_t scope = at->ai_family == AF_INET6
                             ? ((const struct sockaddr_in6 *)(void *)at->ai_addr)->sin6_scope_id
                             : 0;
        if (!interface_find(&number, scope, list, count, &found))
            continue;
        if (!any || interface_preference(&found) > interface_preference(chosen))
            *chosen = found;
        any = true;
    }
    return any;
}

static muster_status interface_not_here(const char *host, int family, const char *resolved,
                                        const interface_address *list, size_t count)
{
    char there[1024];
    interface_describe(list, count, there, sizeof(there));
    if (resolved[0] == '\0')
        return error_set(MUSTER_ERR_NOT_FOUND,
                         "\"%s\" has no IPv%c address; this machine has %s: give one of these",
                         host, family == AF_INET ? '4' : '6', there);
    return error_set(MUSTER_ERR_NOT_FOUND,
                     "\"%s\" (%s) is not an address of this machine, which has %s: give one of "
                     "these",
                     host, resolved, there);
}

muster_status interface_of_address(const char *host_or_address, int family,
                                   interface_address *chosen)
{
    if (host_or_address == NULL || host_or_address[0] == '\0' || chosen == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "an address or host name is needed, and it is empty");
    if (family != AF_UNSPEC && family != AF_INET && family != AF_INET6)
        return error_set(MUSTER_ERR_ARGUMENT, "%d is not an address family of the internet",
                         family);
    interface_address *list;
    size_t count;
    muster_status status = interface_list(&list, &count);
    if (status != MUSTER_OK)
        return status;
    struct addrinfo *results = NULL;
    int failed = name_lookup(host_or_address, 0, patience_for(NAME_LOOKUP_MS), &results);
    char resolved[256];
    char there[1024];
    if (failed != 0) {
        interface_describe(list, count, there, sizeof(there));
        status = error_set(MUSTER_ERR_NOT_FOUND,
                           "\"%s\" is neither a numeric address nor a name that resolves (%s); "
                           "this machine has %s",
                           host_or_address, gai_strerror(failed), there);
    } else if (!interface_choose_resolved(results, family, list, count, chosen, resolved,
                                          sizeof(resolved)))
        status = interface_not_here(host_or_address, family, resolved, list, count);
    if (failed == 0)
        freeaddrinfo(results);
    free(list);
    return status;
}

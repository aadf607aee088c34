/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The addresses that this host has, for a message.
 */
#include "config.h"
#include "net/socket_here.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "net/socket.h"

static bool address_of(const struct ifaddrs *one, socket_address *address)
{
    int family = one->ifa_addr == NULL ? AF_UNSPEC : one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6)
        return false;
    *address = (socket_address){.size = family == AF_INET ? sizeof(struct sockaddr_in)
                                                          : sizeof(struct sockaddr_in6)};
    memcpy(&address->at, one->ifa_addr, address->size);
    return true;
}

const char *socket_addresses_here(char *text, size_t size)
{
    struct ifaddrs *all = NULL;
    size_t used = 0;
    if (getifaddrs(&all) != 0)
        all = NULL;
    for (struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
        socket_address address;
        char name[SOCKET_TEXT_SIZE];
        if (!address_of(one, &address))
            continue;
        socket_address_text(&address, false, name);
        if (used + strlen(name) + 3 > size)
            break;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used == 0 ? "" : ", ", name);
    }
    if (used == 0)
        snprintf(text, size, "none");
    if (all != NULL)
        freeifaddrs(all);
    return text;
}

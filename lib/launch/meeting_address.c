/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which of this host's addresses others may reach.
 */
#include "config.h"

#include "launch/meeting_address.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "net/socket.h"

static bool own_by_name(const char *name, interface_address *chosen)
{
    return name != NULL && name[0] != '\0' &&
           interface_of_address(name, AF_UNSPEC, chosen) == MUSTER_OK && !chosen->loopback;
}

/* Connecting a datagram socket sends nothing: it only looks up the route. The addresses are those
 * kept for documentation, to which there is no other route than the default one. */
static bool own_by_route(int family, const char *documentation, interface_address *chosen)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(9)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
    socket_address own;
    char text[SOCKET_TEXT_SIZE];
    inet_pton(family, documentation,
              family == AF_INET ? (void *)&v4.sin_addr : (void *)&v6.sin6_addr);
    int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool found = connect(fd, family == AF_INET ? (void *)&v4 : (void *)&v6,
                         family == AF_INET ? sizeof(v4) : sizeof(v6)) == 0 &&
                 socket_local_address(fd, &own);
    close(fd);
    return found && own_by_name(socket_address_text(&own, false, text), chosen);
}

static muster_status own_by_interfaces(interface_address *chosen)
{
    interface_address *list;
    size_t count;
    muster_status status = interface_list(&list, &count);
    if (status != MUSTER_OK)
        return status;
    const interface_address *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (list[i].up &&
            (best == NULL || interface_preference(&list[i]) > interface_preference(best)))
            best = &list[i];
    if (best != NULL)
        *chosen = *best;
    free(list);
    return best != NULL ? MUSTER_OK
                        : error_set(MUSTER_ERR_UNAVAILABLE,
                                    "this machine has no network interface that is up");
}

muster_status meeting_own_address(const char *name, interface_address *chosen)
{
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof(host) - 1);
    if (own_by_name(name, chosen) || own_by_name(host, chosen) ||
        own_by_route(AF_INET, "192.0.2.1", chosen) || own_by_route(AF_INET6, "2001:db8::1", chosen))
        return MUSTER_OK;
    return own_by_interfaces(chosen);
}

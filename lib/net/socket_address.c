/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Addresses of TCP sockets: compared, and as text.
 */
#include "config.h"
#include "net/socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static const struct sockaddr_in *as_v4(const socket_address *address)
{
    return (const struct sockaddr_in *)&address->at;
}

static const struct sockaddr_in6 *as_v6(const socket_address *address)
{
    return (const struct sockaddr_in6 *)&address->at;
}

bool socket_address_equal(const socket_address *a, const socket_address *b)
{
    return socket_address_same_host(a, b) && socket_address_port(a) == socket_address_port(b);
}

bool socket_address_same_host(const socket_address *a, const socket_address *b)
{
    if (a->at.ss_family != b->at.ss_family)
        return false;
    if (a->at.ss_family == AF_INET)
        return as_v4(a)->sin_addr.s_addr == as_v4(b)->sin_addr.s_addr;
    return memcmp(&as_v6(a)->sin6_addr, &as_v6(b)->sin6_addr, sizeof(struct in6_addr)) == 0 &&
           as_v6(a)->sin6_scope_id == as_v6(b)->sin6_scope_id;
}

int socket_address_port(const socket_address *address)
{
    return ntohs(address->at.ss_family == AF_INET ? as_v4(address)->sin_port
                                                  : as_v6(address)->sin6_port);
}

socket_address socket_address_with_port(const socket_address *address, int port)
{
    socket_address there = *address;
    if (there.at.ss_family == AF_INET)
        ((struct sockaddr_in *)&there.at)->sin_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in6 *)&there.at)->sin6_port = htons((uint16_t)port);
    return there;
}

bool socket_address_is_loopback(const socket_address *address)
{
    if (address->at.ss_family == AF_INET)
        return ntohl(as_v4(address)->sin_addr.s_addr) >> 24 == 127;
    return address->at.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&as_v6(address)->sin6_addr);
}

const char *socket_address_text(const socket_address *address, bool with_port,
                                char text[SOCKET_TEXT_SIZE])
{
    char host[SOCKET_TEXT_SIZE - 16] = "?";
    bool v6 = address->at.ss_family == AF_INET6;
    if (v6 && IN6_IS_ADDR_V4MAPPED(&as_v6(address)->sin6_addr)) {
        inet_ntop(AF_INET, as_v6(address)->sin6_addr.s6_addr + 12, host, sizeof(host));
        v6 = false;
    } else {
        /* getnameinfo adds the interface of a link-local address. */
        getnameinfo((const struct sockaddr *)&address->at, address->size, host, sizeof(host), NULL,
                    0, NI_NUMERICHOST);
    }
    if (with_port)
        snprintf(text, SOCKET_TEXT_SIZE, v6 ? "[%s]:%d" : "%s:%d", host,
                 socket_address_port(address));
    else
        snprintf(text, SOCKET_TEXT_SIZE, "%s", host);
    return text;
}

socket_address socket_address_reachable(const socket_address *address)
{
    socket_address there = *address;
    struct sockaddr_in *v4 = (struct sockaddr_in *)&there.at;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&there.at;
    if (there.at.ss_family == AF_INET && v4->sin_addr.s_addr == htonl(INADDR_ANY))
        v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (there.at.ss_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr))
        v6->sin6_addr = in6addr_loopback;
    return there;
}

bool socket_local_address(int fd, socket_address *address)
{
    *address = (socket_address){.size = sizeof(address->at)};
    return getsockname(fd, (struct sockaddr *)&address->at, &address->size) == 0 &&
           (address->at.ss_family == AF_INET || address->at.ss_family == AF_INET6);
}

bool socket_peer_address(int fd, socket_address *address)
{
    *address = (socket_address){.size = sizeof(address->at)};
    return getpeername(fd, (struct sockaddr *)&address->at, &address->size) == 0 &&
           (address->at.ss_family == AF_INET || address->at.ss_family == AF_INET6);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A host's own name is 127.0.1.1 to itself on many systems, Debian's among them: a store that
 * listens there is reached by no other node.
 */
#include "config.h"

#include "job.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <strings.h>
#include <sys/socket.h>

static bool address_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 ==
               127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static bool address_is_number(const char *host)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST}, *found = NULL;
    bool number = getaddrinfo(host, NULL, &hints, &found) == 0;
    if (number)
        freeaddrinfo(found);
    return number;
}

void nodes_warn_of_loopback(struct job *job)
{
    const char *host = job->options->master_addr;
    char text[INET6_ADDRSTRLEN] = "?";
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    /* Who writes an address or "localhost" knows what it is. */
    if (job->options->num_nodes == 1 || job->options->verbosity < 0 || address_is_number(host) ||
        strcasecmp(host, "localhost") == 0 || getaddrinfo(host, NULL, &hints, &found) != 0)
        return;
    bool all = true;
    for (const struct addrinfo *one = found; one != NULL && all; one = one->ai_next)
        all = address_is_loopback(one->ai_addr);
    getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST);
    freeaddrinfo(found);
    if (all)
        job_say(job,
                "%s is %s on this host: other nodes can't reach the store there; give "
                "--master-addr an address that they can",
                host, text);
}

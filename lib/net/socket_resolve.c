/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of hosts into addresses.
 */
#include "config.h"
#include "net/socket.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/patience.h"
#include "net/name_lookup.h"

/* Between two tries, which may go to a server of names that many ranks ask at once. */
enum { FIRST_PAUSE_MS = 50, LONGEST_PAUSE_MS = 2000 };

/* In their order, but for the loopback's, which are last. */
static void take_addresses(const struct addrinfo *found, bool loopback, socket_address *list,
                           size_t *count)
{
    for (const struct addrinfo *one = found; one != NULL; one = one->ai_next) {
        socket_address address = {.size = one->ai_addrlen};
        memcpy(&address.at, one->ai_addr, one->ai_addrlen);
        if (socket_address_is_loopback(&address) == loopback)
            list[(*count)++] = address;
    }
}

static muster_status copy_addresses(const struct addrinfo *found, int port,
                                    socket_address **addresses, size_t *num)
{
    size_t count = 0;
    for (const struct addrinfo *one = found; one != NULL; one = one->ai_next)
        count++;
    socket_address *list = calloc(count, sizeof(*list));
    if (list == NULL)
        return error_no_memory(count * sizeof(*list), "addresses");
    *num = 0;
    take_addresses(found, false, list, num);
    take_addresses(found, true, list, num);
    for (size_t i = 0; i < *num; i++)
        list[i] = socket_address_with_port(&list[i], port);
    *addresses = list;
    return MUSTER_OK;
}

static muster_status look_up_error(const char *host, int failed, const char *when)
{
    if (failed == EAI_SYSTEM)
        return error_system("finding the address of host '%s'", host);
    return error_set(failed == EAI_MEMORY ? MUSTER_ERR_NO_MEMORY : MUSTER_ERR_NOT_FOUND,
                     "finding the address of host '%s'%s: %s", host, when, gai_strerror(failed));
}

muster_status socket_resolve(const char *host, int port, socket_address **addresses, size_t *num)
{
    struct addrinfo *found = NULL;
    int failed = name_lookup(host, 0, patience_for(NAME_LOOKUP_MS), &found);
    if (failed != 0)
        return look_up_error(host, failed, "");
    muster_status status = copy_addresses(found, port, addresses, num);
    freeaddrinfo(found);
    return status;
}

static void pause_before_next(int64_t *pause_ms, deadline end)
{
    deadline turn = deadline_in(*pause_ms);
    if (turn.at_ns > end.at_ns)
        turn = end;
    while (deadline_left_ms(turn) > 0)
        poll(NULL, 0, deadline_poll_ms(turn));
    *pause_ms = *pause_ms * 2 > LONGEST_PAUSE_MS ? LONGEST_PAUSE_MS : *pause_ms * 2;
}

/* Whether the name may have an address later. */
static bool may_come(int failed)
{
    return failed == EAI_AGAIN || failed == EAI_NONAME || failed == EAI_FAIL ||
           failed == EAI_NODATA;
}

muster_status socket_resolve_until(const char *host, int port, deadline end,
                                   socket_address **addresses, size_t *num)
{
    struct addrinfo *found = NULL;
    int64_t pause_ms = FIRST_PAUSE_MS, given_ms = deadline_left_ms(end);
    int failed = name_lookup(host, 0, end, &found);
    if (may_come(failed))
        log_line(MUSTER_LOG_WARNING,
                 "the address of host '%s' can't be found (%s): trying for up to %lld s", host,
                 gai_strerror(failed), (long long)(deadline_left_ms(end) + 999) / 1000);
    while (may_come(failed) && deadline_left_ms(end) > 0) {
        pause_before_next(&pause_ms, end);
        failed = name_lookup(host, 0, end, &found);
    }
    char when[64];
    snprintf(when, sizeof(when), ", tried for %.3g s", (double)given_ms / 1000);
    if (failed != 0)
        return look_up_error(host, failed, may_come(failed) ? when : "");
    muster_status status = copy_addresses(found, port, addresses, num);
    freeaddrinfo(found);
    return status;
}

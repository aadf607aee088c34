/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Look-ups of names have an end, whatever the servers of names do: a getaddrinfo of this file's own
 * stands in for a server that does not answer.
 */
#include "config.h"

#include "net/name_lookup.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>

#include "base/patience.h"
#include "net/interface.h"
#include "net/socket.h"
#include "tap.h"

enum { SILENT_MS = 1500, SHORT_MS = 100 };

static atomic_int asked, answered;

int getaddrinfo(const char *restrict host, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict found)
{
    union {
        void *data;
        int (*fn)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    } real = {dlsym(RTLD_NEXT, "getaddrinfo")};
    bool number = (hints->ai_flags & AI_NUMERICHOST) != 0;
    if (number || strcmp(host, "silent.invalid") != 0)
        return real.fn(host, service, hints, found);
    atomic_fetch_add(&asked, 1);
    poll(NULL, 0, SILENT_MS);
    int failed = real.fn("127.0.0.1", service, hints, found);
    atomic_fetch_add(&answered, 1);
    return failed;
}

static bool in_time(deadline began)
{
    return deadline_left_ms((deadline){began.at_ns + SILENT_MS * INT64_C(1000000)}) > 0;
}

static void answers(void)
{
    struct addrinfo *found = NULL;
    is_int(name_lookup("192.0.2.7", 0, deadline_in(0), &found), 0, "a number takes no time");
    ok(found->ai_family == AF_INET && found->ai_socktype == SOCK_STREAM, "and is an address");
    freeaddrinfo(found);
    is_int(name_lookup("::1", 0, deadline_in(0), &found), 0, "so does one of IPv6");
    freeaddrinfo(found);
    is_int(name_lookup("localhost", AI_CANONNAME, deadline_in(patient(20000)), &found), 0,
           "a name is found");
    ok(found->ai_canonname != NULL, "with what was asked for");
    freeaddrinfo(found);
    is_int(name_lookup("no..such.host", 0, deadline_in(patient(20000)), &found), EAI_NONAME,
           "one that is none is not");
    is_int(name_lookup("silent.invalid", 0, deadline_in(patient(20000)), &found), 0,
           "a late answer is waited for");
    freeaddrinfo(found);
}

static void silence(void)
{
    struct addrinfo *found = NULL;
    socket_address *addresses = NULL;
    interface_address own;
    size_t num = 0;
    int before = atomic_load(&asked);
    deadline began = deadline_in(0);
    is_int(name_lookup("silent.invalid", 0, deadline_in(SHORT_MS), &found), EAI_AGAIN,
           "a server that does not answer is not waited for");
    is_int(socket_resolve_until("silent.invalid", 1, deadline_in(SHORT_MS), &addresses, &num),
           MUSTER_ERR_NOT_FOUND, "nor by a client that looks a name up");
    has_str(muster_last_error(), "'silent.invalid', tried for ", "which says so");
    patience_until(deadline_in(SHORT_MS));
    is_int(socket_resolve("silent.invalid", 1, &addresses, &num), MUSTER_ERR_NOT_FOUND,
           "nor by a server");
    is_int(interface_of_address("silent.invalid", AF_UNSPEC, &own), MUSTER_ERR_NOT_FOUND,
           "nor where an interface is looked for");
    patience_usual();
    ok(in_time(began), "all in time");
    ok(atomic_load(&asked) - before >= 4, "though each was asked");
    while (atomic_load(&answered) < atomic_load(&asked))
        poll(NULL, 0, 10); /* what comes too late is freed, which the leak checker sees */
    poll(NULL, 0, 50);
}

int main(void)
{
    plan(14);
    answers();
    silence();
    return done();
}

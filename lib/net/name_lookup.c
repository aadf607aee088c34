/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names are looked up on a thread aside; numbers need no server and no thread.
 */
#include "config.h"

#include "net/name_lookup.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/thread.h"

typedef struct lookup {
    int flags;
    int failed;
    struct addrinfo *found;
    char host[]; /* a copy, since the caller may have gone on */
} lookup;

static int ask(const char *host, int flags, struct addrinfo **found)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags};
    *found = NULL;
    return getaddrinfo(host, NULL, &hints, found);
}

static void ask_aside(void *what)
{
    lookup *one = what;
    one->failed = ask(one->host, one->flags, &one->found);
}

static void forget(void *what)
{
    lookup *one = what;
    if (one->found != NULL)
        freeaddrinfo(one->found);
    free(one);
}

int name_lookup(const char *host, int flags, deadline end, struct addrinfo **found)
{
    if (ask(host, flags | AI_NUMERICHOST, found) == 0)
        return 0;
    lookup *one = calloc(1, sizeof(*one) + strlen(host) + 1);
    if (one == NULL)
        return EAI_MEMORY;
    one->flags = flags;
    strcpy(one->host, host);
    if (!thread_run_aside(ask_aside, forget, one, deadline_left_ms(end)))
        return EAI_AGAIN;
    int failed = one->failed;
    *found = one->found;
    free(one);
    return failed;
}

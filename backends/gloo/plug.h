/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plugs: sockets of this process that Gloo takes for a peer's connection until it is given the real
 * one, and the filter that lets nobody else through to where Gloo listens.
 */
#ifndef MUSTER_BACKENDS_GLOO_PLUG_H
#define MUSTER_BACKENDS_GLOO_PLUG_H

#include <stdbool.h>
#include <sys/socket.h>

#include "muster/backend.h"

struct endpoint {
    struct sockaddr_storage at;
    socklen_t size;
};

bool endpoint_equal(const struct endpoint *a, const struct endpoint *b);
bool endpoint_own(int fd, struct endpoint *own);
bool endpoint_peer(int fd, struct endpoint *peer);

typedef struct plug {
    int fd; /* -1: none */
    struct endpoint at;
} plug;

/* At a free port of the address. On failure fd may be open all the same. */
muster_status plug_make(plug *made, const char *address);

/* Lets through to the listening socket what comes from the plug, and drops all else before it is
 * answered. Where the kernel refuses that nothing is changed. */
void plug_admit(const plug *only, int listener);

/* Connects to where Gloo listens; false if that does not come off at once. */
bool plug_connect(const plug *it, const struct endpoint *to);

muster_status plug_error(const char *what);

#endif

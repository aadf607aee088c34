/* SPDX-License-Identifier: BSD-3-Clause
 *
 * getaddrinfo with an end. The C library waits for servers of names as long as its own settings
 * say, which nobody can call off.
 */
#ifndef MUSTER_LIB_NAME_LOOKUP_H
#define MUSTER_LIB_NAME_LOOKUP_H

#include <netdb.h>

#include "base/deadline.h"

/*
 * As getaddrinfo, of one host without a service, whose ports are then 0; flags are its AI_ flags,
 * for sockets of streams and any family. Where the time is over before an answer has come it
 * returns EAI_AGAIN, and the look-up ends by itself on a thread of its own, whenever that is.
 * *found is for freeaddrinfo.
 */
int name_lookup(const char *host, int flags, deadline end, struct addrinfo **found);

/* The time that one look-up may take where it is a part of something with a longer time-out. */
enum { NAME_LOOKUP_MS = 10000 };

#endif

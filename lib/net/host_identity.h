/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who this process is, so that ranks can tell whether they share a host, and whether one of them
 * still lives.
 *
 * Host names say little: containers of one host have different ones, and hosts of a cluster may
 * have the same. The host id is made of the kernel's boot id and the network namespace: ranks with
 * equal ids run on one kernel and reach each other over its loopback.
 */
#ifndef MUSTER_LIB_HOST_IDENTITY_H
#define MUSTER_LIB_HOST_IDENTITY_H

#include <sys/types.h>

#include "muster.h"

typedef struct host_identity {
    char host_name[256];
    char host_id[49]; /* 32 digits for the boot, 16 for the network namespace, hexadecimal */
    int64_t pid;
    uint64_t pid_namespace; /* 0: not known */
    uint64_t start_time;    /* in clock ticks since the boot; 0: not known */
    int cores;              /* that this process may run on, at least 1 */
} host_identity;

/* Always read anew, so that it is right in the child of a fork too. Works without /proc: a host id
 * is then made from the host name. */
muster_status host_identity_get(host_identity *self);

/* Whether such a process of this same host still runs. Only a process of this one's pid namespace
 * can be looked at; of others it is said that they live, for nothing shows that they don't. A
 * process that has ended and that nobody has waited for does not live, nor does one that has begun
 * to end: whose connections are closed by its end has. */
bool host_identity_alive(uint64_t pid_namespace, int64_t pid, uint64_t start_time);

#endif

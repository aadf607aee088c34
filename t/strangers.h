/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Strangers: those who connect to ports of a job to which they do not belong.
 */
#ifndef MUSTER_T_STRANGERS_H
#define MUSTER_T_STRANGERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

typedef enum stranger_way {
    STRANGER_HOLDS,  /* connects and stays */
    STRANGER_CLOSES, /* connects and goes */
    STRANGER_RESETS, /* connects and resets the connection */
    STRANGER_TALKS,  /* says what means nothing, of many lengths */
    STRANGER_MIMICS, /* says what Gloo or muster might say */
    STRANGER_MIXED,  /* one way after the other */
    STRANGER_WAYS
} stranger_way;

/* Visits who listens at the address, count times at once. Those that stay do so until others come,
 * or the process ends. */
void stranger_visit(const struct sockaddr *at, socklen_t size, stranger_way way, int count);

/* The port that is left alone by the two below: that of the job's store. */
void stranger_spare(int port);

/* Visits each IPv4 port at which one of the processes listens, as often as it is seen, until *stop.
 * *visits counts. */
void stranger_haunt(const pid_t *pids, int count, stranger_way way, const atomic_bool *stop,
                    atomic_int *visits);

/* How many sockets listen in a process. */
int stranger_count_listeners(pid_t pid);

#endif

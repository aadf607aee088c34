/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The port at which the ranks of a case meet.
 */
#ifndef MUSTER_T_RANKS_PORT_H
#define MUSTER_T_RANKS_PORT_H

#include "muster.h"

struct port {
    int number;
    int keeper; /* a socket, or -1 */
    muster_store *store;
};

/* A port that nobody is given meanwhile, but that a rank can bind. */
struct port port_reserve(void);

/* One at which this process hosts the tcp store. */
struct port port_host_store(void);

void port_free(struct port *port);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The watch: one thread of the process for all its communicators. It learns of processes that end
 * from descriptors of them, one for each process however many groups it is in, and of all else from
 * the process's ear; then it looks at the memory that the ranks share.
 */
#ifndef MUSTER_LOCAL_WATCH_H
#define MUSTER_LOCAL_WATCH_H

#include "comm.h"

/* Before anything else: the watch runs then, and the ear's name is in name. Ended by watch_leave.
 */
muster_status watch_enter(char *name);

/* Watches the processes of all peers. MUSTER_ERR_PEER_LOST where one has ended already. */
muster_status watch_peers(muster_comm *comm);

/* From now on the core is told. */
void watch_begin(muster_comm *comm);

/* Undoes all of these that were done. Waits for a call of host->broken that is on its way. */
void watch_leave(muster_comm *comm);

/* Who has left may be needed: has the watch look. */
void watch_look(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A tcp store under attack: its server, a member that works all the while, what the log says, and
 * attackers of several kinds.
 */
#ifndef MUSTER_T_SIEGE_H
#define MUSTER_T_SIEGE_H

#include "muster.h"

/* The secret of the stores here. */
#define SIEGE_SECRET "correct horse battery staple"

/* What only a server that stalls keeps a member waiting for, however loaded the machine is. */
enum { SIEGE_STALL_MS = 10000 };

typedef struct siege siege;

/* A server with that secret, or none; strangers are cut off after silent_ms. */
siege *siege_begin(const char *secret, int silent_ms);
int siege_port(const siege *at);

/* Whether the log says this, or comes to within a while. */
bool siege_said(siege *at, const char *part);

/* Lines of the log so far. */
int siege_lines(siege *at);

/* Opens one more store as a member with this secret, or none; in *ms how long it took. */
muster_status siege_join(const siege *at, const char *secret, long long *ms);

/* Makes SIEGE_POINTS points: the member has worked all the while without a stall, a new member gets
 * in without one, and the log does not give the secret away. */
enum { SIEGE_POINTS = 3 };
void siege_end(siege *at, const char *attack);

/* ---- Attackers ----------------------------------------------------------------------------- */

/* A connection that has proved the secret and is inside; the 80 bytes that it sent for that. */
int siege_enter(int port, unsigned char sent[80]);

/* Sends, and waits for the other end to close; false if it does not within so many ms. */
bool siege_repelled(int port, const void *bytes, size_t size, int ms);

/* A process of its own that keeps so many connections which say word (or nothing), and replaces
 * those that are closed; this returns once it has them. */
typedef struct crowd crowd;
crowd *crowd_come(int port, int connections, const char *word);
void crowd_go(crowd *all);

/* For main: does what such a process is to do, and does not return if this is one. */
void crowd_main(int argc, char **argv);

/* Resident memory in KiB, and processor time in ms, of this process. */
long siege_resident(void);
long siege_cpu_ms(void);

#endif

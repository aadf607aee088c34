/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ear of a process: a socket on which others of this host say that there is news in the memory
 * that they share. What comes in says nothing by itself, so a stranger who speaks does no more than
 * make it look.
 */
#ifndef MUSTER_LOCAL_EAR_H
#define MUSTER_LOCAL_EAR_H

#include "comm.h"

/* Opens the process's ear, which has none: its name for the others goes to name, which has room for
 * that of a card. */
muster_status ear_open(char *name);
void ear_close(void);

/* To be polled for reading, and emptied. */
int ear_descriptor(void);
void ear_empty(void);

/* From this process's ear, which is open, to one of that name. Does not block: an ear that is full
 * has news already. */
void ear_speak(const char *name);

#endif

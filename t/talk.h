/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A process that a test talks with: one line there, one line back.
 */
#ifndef MUSTER_T_TALK_H
#define MUSTER_T_TALK_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct talk {
    pid_t pid;
    int to, from;
    size_t kept; /* of line, behind its end: what has come of later lines */
    char line[1 << 16];
} talk;

/* Starts arguments[0], up to a NULL. What it writes to stderr goes nowhere. */
void talk_start(talk *process, const char *const *arguments);

/* Sends a line, to which the newline is added, without waiting for the answer. */
void talk_send(talk *process, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The next line that it prints, without its newline, until the next call; "(silent)" after a
 * minute, and "(gone)" when it has ended. */
const char *talk_read(talk *process);

/* Both. */
const char *talk_ask(talk *process, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends its input, or kills it, and waits for its end. */
void talk_stop(talk *process);
void talk_kill(talk *process);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a command for a test: what it prints, how it ends, and whether it leaves anything running.
 */
#ifndef MUSTER_T_COMMAND_H
#define MUSTER_T_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

struct command {
    pid_t pid;
    char folder[512]; /* with its output, removed at the end */
    int status;       /* of exit, or the negative number of the signal that killed it */
    double seconds;
    char *out;
    char *err;
};

/* Starts arguments[0] (a NULL ends them) with the text input as its standard input, "" if NULL, and
 * no other descriptor of ours. */
void command_start(struct command *command, const char *input, const char *const *arguments);

/* Waits until its output, so far, holds part; false after 20 seconds. */
bool command_has_said(struct command *command, const char *part);

/* Waits for its end, a minute at most, and reads what it printed. */
void command_finish(struct command *command);

/* Both, with arguments up to a NULL. Replaces what an earlier run left in command. */
void command_run(struct command *command, const char *input, const char *const *arguments);

/* How many processes that descend from any command started here are still there after waiting a
 * few seconds for them to go. */
int command_left(void);

void command_free(struct command *command);

#endif

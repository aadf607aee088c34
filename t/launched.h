/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests under real launchers share: the main job and a small program of several worlds,
 * run as ranks.
 */
#ifndef MUSTER_T_LAUNCHED_H
#define MUSTER_T_LAUNCHED_H

#include <stdbool.h>

#include "command.h"

enum { LAUNCHED_RANKS = 4, LAUNCHED_JOB_POINTS = 4, LAUNCHED_WORLDS_POINTS = 2 };

/* A command line up to the program, which ends with NULL. */
typedef struct launched_case {
    const char *name;
    const char *const *launcher;
    const char *environment; /* for environment_only; '@' is a free port */
    const char *family;      /* that the log names */
    const char *how;         /* and how rank 0 was found */
} launched_case;

/* Whether a program is in the search path. */
bool launched_is_there(const char *program);

/* The main job in the case: LAUNCHED_JOB_POINTS. */
void launched_job(const launched_case *what);

/* Two worlds, one after the other, in each process: LAUNCHED_WORLDS_POINTS. */
void launched_worlds(const launched_case *what);

/* Runs launcher and words, both up to a NULL, and leaves what came of it. */
void launched_run(const launched_case *what, const char *const *words);
extern struct command launched_last;

/* How many times part is in text. */
int launched_count(const char *text, const char *part);

/* This test's program. */
const char *launched_self(void);

/* What this test's program does as a rank; the exit status. */
int launched_as_rank(void);

#endif

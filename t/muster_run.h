/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of muster-run share.
 */
#ifndef MUSTER_T_MUSTER_RUN_H
#define MUSTER_T_MUSTER_RUN_H

#include "command.h"
#include "tap.h"

#include <string.h>

/* Arguments of muster-run, as a list that ends with NULL. */
#define RUN(...)                                                                                   \
    (const char *const[])                                                                          \
    {                                                                                              \
        MUSTER_RUN, __VA_ARGS__, NULL                                                              \
    }
#define SHELL(script) "sh", "-c", script

/* The command line, what ranks find, what they print. */
void run_options(void);
void run_surroundings(void);
void run_printing(void);

/* Who gets into the store. */
void run_secrets(void);

/* How they end, signals, what is left. */
void run_failures(void);
void run_signals(void);
void run_leftovers(void);

/* What this program does as a rank of muster-run; its exit status. */
int run_as_rank(const char *what);

#endif

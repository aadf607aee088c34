/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of process groups share: worlds to test on, statuses with their sentence, and
 * time.
 */
#ifndef MUSTER_T_GROUPTEST_H
#define MUSTER_T_GROUPTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "muster.h"
#include "ranks.h"

/* A point: the status is the one expected. On a failure the thread's last error is shown. */
#define is_status(got, expected, ...) tap_is_status(got, expected, __FILE__, __LINE__, __VA_ARGS__)
bool tap_is_status(muster_status got, muster_status expected, const char *file, int line,
                   const char *name, ...) TAP_PRINTF(5, 6);

/* The group that all ranks of the case make over env://, on the backend that MUSTER_TEST_BACKEND
 * names, if it does; without it the test can't go on. */
muster_group *world_of(const char *name, int64_t timeout_ms);

/* The same from these arguments. */
muster_group *group_of(const muster_init_args *args);

/* A tcp store at MASTER_PORT, in which rank 0 of the case is the server. */
muster_store *common_store(int rank);

/* The group carries what it should: every rank finds every other in its place. */
bool group_works(muster_group *group);

int64_t now_ms(void);
void sleep_ms(int64_t ms);

/* Not more than limit_ms, times the factor of slow machines, have passed since began_ms. */
bool in_time(int64_t began_ms, int64_t limit_ms);

/* How many entries a folder has: of /proc/self/fd or /proc/self/task, to compare with later. */
int entries_of(const char *folder);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A tcp store whose server is a process that a test can stop and kill.
 */
#ifndef MUSTER_T_MORTAL_STORE_H
#define MUSTER_T_MORTAL_STORE_H

#include "muster.h"

#include <sys/types.h>

/* A client, with that time-out for an answer, and the process that serves it, which the caller
 * kills. Stops the test when there is none. */
muster_store *mortal_store(int64_t timeout_ms, pid_t *host);

#endif

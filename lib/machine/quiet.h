/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calling what may write to stderr without anything being written there.
 */
#ifndef MUSTER_LIB_QUIET_H
#define MUSTER_LIB_QUIET_H

#include "muster.h"

/*
 * Runs work(what) on a thread of its own and waits for its end. Nothing that it writes to stdout or
 * stderr arrives there: the thread has descriptors of its own, so that other threads are not
 * touched. Descriptors that it leaves open are closed by its end. Where the kernel doesn't let a
 * thread have descriptors of its own (some containers) it runs all the same, and may be heard.
 */
muster_status quiet_run(void (*work)(void *what), void *what);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How long a thread waits for the answers of a store, and of drivers. A store's own time-out is
 * meant for each answer; a call that asks many times is to end by its own time-out even if the
 * store has stopped.
 */
#ifndef MUSTER_LIB_PATIENCE_H
#define MUSTER_LIB_PATIENCE_H

#include "base/deadline.h"

/* From now on this thread waits for answers until end, and a moment beyond, so that a call that has
 * timed out can still say so; a second call replaces the first. */
void patience_until(deadline end);

/* Each answer has the store's own time again. */
void patience_usual(void);

/* Until when this thread waits for an answer that may take timeout_ms. */
deadline patience_for(int64_t timeout_ms);

/* How long this thread may wait for what concerns nobody else and may hang: usual_ms, or until a
 * while before the end, so that there is time to go on without it. */
int64_t patience_alone_ms(int64_t usual_ms);

#endif

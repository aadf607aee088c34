/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every kind of store must do, whatever it is made of.
 */
#ifndef MUSTER_T_STORE_CONFORMANCE_H
#define MUSTER_T_STORE_CONFORMANCE_H

#include "muster.h"

/* The points that store_conformance makes. */
enum { STORE_CONFORMANCE_POINTS = 73 };

/* The server is torch's, which does not look whether a sum fits. */
extern bool store_conformance_wraps;

/* store must be usable by two threads; other may be the same store, or a second way to it. */
void store_conformance(muster_store *store, muster_store *other, const char *kind);

/* Milliseconds on CLOCK_MONOTONIC, and a pause. */
long long now_ms(void);
void pause_ms(int ms);

/* Whether key has this value; false as well when the get fails. */
bool store_holds(muster_store *store, const char *key, muster_blob value);

#endif

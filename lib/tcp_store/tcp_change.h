/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a change of a key brings about on the tcp server: those who wait for it go on, and those who
 * watch it are told what it was and what it is.
 */
#ifndef MUSTER_LIB_TCP_CHANGE_H
#define MUSTER_LIB_TCP_CHANGE_H

#include "tcp_store/tcp_session.h"

/* A key that is about to change. What it holds is kept where somebody is to be told of it. */
typedef struct tcp_change {
    tcp_store_data *data;
    muster_blob key;
    bool watched, existed;
    buffer old;
} tcp_change;

tcp_change tcp_change_begin(tcp_store_data *data, muster_blob key);

/* Once it has changed, if it has; ends what begin began. */
void tcp_change_end(tcp_change *change, bool changed);

/* The same for a key that has been given a value. */
void tcp_change_end_set(tcp_change *change, bool changed);

/* Ends a client's wait. */
void tcp_change_wake(waiter *who, void *data);

#endif

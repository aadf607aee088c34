/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the tcp server answers each query, as torch's server does, but for this: a number that can't
 * be added to closes the connection instead of wrapping around, and COMPARE_SET wakes who waits.
 */
#ifndef MUSTER_LIB_TCP_ANSWERS_H
#define MUSTER_LIB_TCP_ANSWERS_H

#include "tcp_store/tcp_session.h"

/* Reads the query's arguments, which are whole, and puts the answer into session->out. False: it
 * can't be done, and the client is to be cut off. */
typedef bool tcp_answer(tcp_store_data *data, tcp_session *session, protocol_reader *reader);

extern tcp_answer *const tcp_answers[PROTOCOL_NUM_QUERIES];

#endif

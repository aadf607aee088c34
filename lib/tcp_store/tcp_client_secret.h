/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The beginning of a connection to a tcp store that has a job secret, as a client sees it; the
 * exchange itself is described in tcp_entry.h.
 */
#ifndef MUSTER_LIB_TCP_CLIENT_SECRET_H
#define MUSTER_LIB_TCP_CLIENT_SECRET_H

#include "tcp_store/tcp_client.h"

/*
 * Proves the client's secret and has the server prove it: right after connecting. Does nothing
 * where there is none. MUSTER_ERR_PEER_LOST: closed without a word, as by a store without secrets;
 * or with *busy, and no sentence, where the server had no room just now and is worth another try.
 */
muster_status tcp_client_prove(const tcp_client *client, tcp_link *link, deadline end, bool *busy);

/* For a client without a secret whose greeting was answered by these bytes: MUSTER_ERR_MISMATCH
 * with its sentence where they say that the store has one; else status as it is. */
muster_status tcp_client_refused(const tcp_client *client, const unsigned char *bytes, size_t size,
                                 muster_status status);

/* The sentence for a store that closes every connection at the first word of the proof. */
muster_status tcp_client_unproved(const tcp_client *client);

/* And for one that had no room until the time was over. */
muster_status tcp_client_crowded(const tcp_client *client);

#endif

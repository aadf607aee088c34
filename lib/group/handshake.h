/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What each rank can do, and the addresses that all agree on: every rank reads the same list and
 * decides by the same rule, so all decide alike.
 */
#ifndef MUSTER_LIB_HANDSHAKE_H
#define MUSTER_LIB_HANDSHAKE_H

#include "backend/backend.h"
#include "options/options.h"
#include "group/roster.h"

/*
 * Writes this process's record: who it is and, for each backend, its version and address or why it
 * is not available. asked is what muster_init_args.backend says ("auto" for NULL), told_local_rank
 * as in rank_record.
 */
muster_status handshake_introduce(const muster_store *store, const muster_options *options,
                                  const char *asked, int rank, int world_size, int told_local_rank,
                                  char **record);

/*
 * The address that rank uses with the backend, and the words why. Ranks of one host use loopback
 * unless an option says otherwise. All ranks use one family: that of rank 0's address where every
 * rank has one of it, else the other. Checks that nobody would use loopback while other hosts take
 * part; the same verdict on every rank.
 */
muster_status handshake_address(const roster *ranks, const char *backend_name, int rank,
                                const char **address, const char **why);

/* Whether an address comes from one of the backend's own options. */
bool handshake_is_option_of(const char *from, const char *backend_name);

#endif

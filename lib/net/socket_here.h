/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The addresses that this host has, for a message.
 */
#ifndef MUSTER_LIB_SOCKET_HERE_H
#define MUSTER_LIB_SOCKET_HERE_H

#include <stddef.h>

/* "127.0.0.1, 192.0.2.7, ::1"; as many as there is room for. */
const char *socket_addresses_here(char *text, size_t size);

#endif

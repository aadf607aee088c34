/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hosts for a test: each is a sleeping child with a network, a host name and an /etc/hosts of its
 * own, and the test's process is the switches between them. Nothing of it is seen from outside, so
 * that fixed addresses and ports are safe, and all of it vanishes when the test ends, however it
 * does. As root or as an ordinary user who may make user namespaces; needs ip(8) and nsenter(1).
 */
#ifndef MUSTER_T_HOSTS_H
#define MUSTER_T_HOSTS_H

#include "command.h"
#include "tap.h"

enum { HOSTS_MOST = 4 };

/* Makes hosts 0 to count - 1, called host-a, host-b and so on, connected to nothing. First of all,
 * while the process has no threads. NULL, or the reason why there can be none here. */
const char *hosts_make(int count);
void hosts_end(void);

/* Runs "ip <words>" on a host, or among the switches; false where that fails. */
bool hosts_ip(int host, const char *words, ...) TAP_PRINTF(2, 3);
bool hosts_switch_ip(const char *words, ...) TAP_PRINTF(1, 2);

/* Makes a switch, or gives a host an interface that is plugged into it, with up to two addresses,
 * "192.0.2.1/24" or "2001:db8::1/64"; NULL for none. The other end is called by the switch and the
 * host, as in "lan-0". */
bool hosts_switch(const char *name);
bool hosts_plug(int host, const char *interface, const char *into, const char *address,
                const char *second);

/* What the host's /etc/hosts says from now on. */
void hosts_names(int host, const char *text);

/* command_start() on a host; the program is found as usual. */
void hosts_start(int host, struct command *command, const char *const *arguments);

#endif

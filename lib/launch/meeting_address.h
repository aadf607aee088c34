/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which of this host's addresses the ranks on other hosts may reach.
 */
#ifndef MUSTER_LIB_MEETING_ADDRESS_H
#define MUSTER_LIB_MEETING_ADDRESS_H

#include "net/interface.h"

/*
 * The address of this host that name, as the launcher or the host itself has it, resolves to,
 * unless that is loopback, as in /etc/hosts of many systems; then the one that the default route
 * leaves from; then the best of those that the interfaces have. name may be NULL.
 */
muster_status meeting_own_address(const char *name, interface_address *chosen);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which environment variables a launcher sets to tell a process its rank.
 */
#ifndef MUSTER_RUN_FAMILIES_H
#define MUSTER_RUN_FAMILIES_H

#include <stdbool.h>

/* Whether "NAME=VALUE" belongs to some launcher, ours included. */
bool families_own(const char *entry);

#endif

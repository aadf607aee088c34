/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What ranks tell each other of their errors, so that all end alike and the user reads each
 * sentence once.
 */
#ifndef MUSTER_TOOLS_AGREE_H
#define MUSTER_TOOLS_AGREE_H

#include <stdbool.h>

#include "muster.h"

/*
 * Collective over the world: each rank says what went wrong for it, "" for nothing. True when all
 * went well everywhere. Else each sentence has been printed once, by the lowest rank that has it,
 * before any rank returns.
 */
bool agree(muster_group *world, const char *sentence);

#endif

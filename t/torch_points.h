/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points that a script makes: it prints a line "ok NAME" or "not ok NAME" for each.
 */
#ifndef MUSTER_T_TORCH_POINTS_H
#define MUSTER_T_TORCH_POINTS_H

#include "command.h"

/* Makes the points of a script that has ended, and one for how it ended: so many in all. Those that
 * it did not come to are failures. who begins the names. */
void torch_points(const struct command *script, const char *who, int points);

#endif

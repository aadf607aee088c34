/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An environment made for a test: that of a launcher, and nothing that this test was started with.
 */
#ifndef MUSTER_T_ENVIRONMENT_H
#define MUSTER_T_ENVIRONMENT_H

/* Of all the variables that tell a process its rank, and of muster's own, exactly these are set:
 * "RANK=0 WORLD_SIZE=2". A '~' in a value stands for a blank. */
void environment_only(const char *words);

#endif

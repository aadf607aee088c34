/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What t/torchrun.t does where torchrun starts it as a rank.
 */
#ifndef MUSTER_T_TORCHRUN_RANK_H
#define MUSTER_T_TORCHRUN_RANK_H

/* The status to exit with. words[0] is the name of a part. */
int torchrun_rank(int num_words, char **words);

#endif

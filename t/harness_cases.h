/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cases that go wrong in every way that the harness has to notice, and some that go right.
 */
#ifndef MUSTER_T_HARNESS_CASES_H
#define MUSTER_T_HARNESS_CASES_H

#include "ranks.h"

extern const struct ranks_case harness_cases[];
extern const size_t harness_num_cases;

#endif

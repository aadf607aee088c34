/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions: how the elements of all ranks become one.
 */
#ifndef MUSTER_REDUCTION_H
#define MUSTER_REDUCTION_H

#include <muster/group.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a reduction makes of the elements of all ranks, taken in the order of ranks.
 *
 *              integers            floating types                    BOOL
 *   SUM, PROD  wrap                as IEEE 754 says                  or, and
 *   MIN, MAX   yes                 NaN where any rank has NaN        and, or
 *   AVG        the exact sum by    the sum, divided by the ranks     refused
 *              the ranks, cut
 *              towards 0
 *   BAND, BOR, yes                 refused                           and, or, exclusive or
 *   BXOR
 *   a scaled   wraps               each product and sum rounded      refused
 *   sum                            in float or double
 *
 * FLOAT64 is taken in double, every other floating type in float, and the result is rounded to the
 * type once, to nearest, ties to even. What is too large becomes infinity, in FLOAT8_E4M3 the
 * largest number, as with NCCL and torch from 2.12 on. Of zeros MIN and MAX take the lowest rank's.
 * A NaN in a result is always the same, the type's positive quiet one (0x7f of either FLOAT8). For
 * integers torch on NCCL divides the sum after it has wrapped; on the CPU it has no AVG, and on
 * NCCL no BAND, BOR and BXOR.
 *
 * Where buffers are in device memory and go by NCCL, floating types are reduced by NCCL: in an
 * order of its own, so that sums may differ in the last bits from those of host memory, with NCCL's
 * NaNs, and what 16-bit types are scaled by is rounded to the type first.
 */
typedef enum muster_reduction {
    MUSTER_SUM,
    MUSTER_PROD,
    MUSTER_MIN,
    MUSTER_MAX,
    MUSTER_AVG,
    MUSTER_BAND,
    MUSTER_BOR,
    MUSTER_BXOR,
    MUSTER_PREMUL_SUM, /* the kind of those that muster_reduction_premul_sum() makes, and no
                          reduction by itself */
    MUSTER_NUM_REDUCTIONS,
    MUSTER_REDUCTION_LARGEST = 0x7fffffff
} muster_reduction;

/* "sum", or "unknown" for what is no reduction. Never NULL, never freed. */
MUSTER_API const char *muster_reduction_name(muster_reduction redop);

/*
 * Makes a scaled sum, a reduction of this rank in this group: the sum of all ranks' elements, those
 * of this rank multiplied by scalar first. Ranks may give different scalars; for an integer type it
 * must be a whole number that the type holds. muster_reduction_free() frees it, or freeing the
 * group does; operations that were started with it go on. Not collective. For a reduction that is
 * none of the group's muster_reduction_free() does nothing.
 */
MUSTER_API muster_status muster_reduction_premul_sum(muster_group *group, double scalar,
                                                     muster_reduction *redop);
MUSTER_API void muster_reduction_free(muster_group *group, muster_reduction redop);

#ifdef __cplusplus
}
#endif
#endif

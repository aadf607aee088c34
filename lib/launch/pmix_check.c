/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nothing at run time: where PMIx's own header is found, the compiler compares pmix_abi.h with it.
 */
#include "config.h"

#include <stddef.h>

#include "launch/pmix_abi.h"

#ifdef HAVE_PMIX_H
#include <pmix.h>

#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #ours " is " #theirs)
#define SAME_PLACE(ours, our_field, theirs, their_field)                                           \
    SAME(offsetof(ours, our_field), offsetof(theirs, their_field))
#define SAME_TEXT(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #ours)

SAME(sizeof(pmix_abi_process), sizeof(pmix_proc_t));
SAME_PLACE(pmix_abi_process, rank, pmix_proc_t, rank);
SAME(sizeof(pmix_abi_value), sizeof(pmix_value_t));
SAME_PLACE(pmix_abi_value, data, pmix_value_t, data);
SAME(sizeof(pmix_abi_info), sizeof(pmix_info_t));
SAME_PLACE(pmix_abi_info, flags, pmix_info_t, flags);
SAME_PLACE(pmix_abi_info, value, pmix_info_t, value);
SAME(sizeof(pmix_scope_t), sizeof(uint8_t));
SAME(sizeof(pmix_status_t), sizeof(int));
SAME((int)PMIX_ABI_SUCCESS, PMIX_SUCCESS);
SAME((int)PMIX_ABI_BOOL, PMIX_BOOL);
SAME((int)PMIX_ABI_STRING, PMIX_STRING);
SAME((int)PMIX_ABI_UINT32, PMIX_UINT32);
SAME((int)PMIX_ABI_GLOBAL, PMIX_GLOBAL);
SAME(PMIX_ABI_ALL_RANKS, (PMIX_RANK_WILDCARD));
SAME_TEXT(PMIX_ABI_KEY_JOB_SIZE, PMIX_JOB_SIZE);
SAME_TEXT(PMIX_ABI_KEY_COLLECT, PMIX_COLLECT_DATA);
#endif

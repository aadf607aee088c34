/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory that runs out when a test says so: SCARCE_MEMORY of t/local.mk puts functions of scarce.c
 * in place of libc's.
 */
#ifndef MUSTER_T_SCARCE_H
#define MUSTER_T_SCARCE_H

/* Allocations until one is refused; negative: none is. */
extern int scarce_left;

#endif

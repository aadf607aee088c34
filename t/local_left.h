/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a group over shared memory may have left.
 */
#ifndef MUSTER_T_LOCAL_LEFT_H
#define MUSTER_T_LOCAL_LEFT_H

/* Lines of this process's maps that speak of memory of ours. */
int count_mappings(void);

/* Our names in /dev/shm. */
int count_names(void);

#endif

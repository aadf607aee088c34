/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The groups made of one group: names in use, and how often each list of members has been called
 * for, from which automatic names follow alike on all members. Outlives the parent while children
 * live.
 */
#ifndef MUSTER_LIB_FAMILY_H
#define MUSTER_LIB_FAMILY_H

#include <stdbool.h>

typedef struct family family;

/* NULL where there is no memory. Thread-safe throughout. */
family *family_new(void);
family *family_retain(family *members);
void family_release(family *members);

/* How often key has been counted before, and counts it more times; -1 where there is no memory. */
long long family_count(family *members, const char *key, int more);

/* Takes a name until family_drop_name; *taken tells whether it was free. False where there is no
 * memory. */
bool family_take_name(family *members, const char *name, bool *taken);
void family_drop_name(family *members, const char *name);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A set of CPUs by the numbers that the kernel gives them. It is a plain value: assignment copies
 * it, all zeros is the empty set, and nothing of it is allocated.
 */
#ifndef MUSTER_LIB_CPU_SET_H
#define MUSTER_LIB_CPU_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster.h"

/* CPUs are 0 to CPU_SET_LIMIT - 1: as many as Linux can be built for. */
enum { CPU_SET_LIMIT = 8192 };

typedef struct cpu_set {
    uint64_t words[CPU_SET_LIMIT / 64];
} cpu_set;

/* Reads the kernel's way to write a list, "0-3,8-11"; white space at either end is left out, and
 * "" is the empty set. MUSTER_ERR_ARGUMENT for text that is none; then *set is as it was. */
muster_status cpu_set_parse(cpu_set *set, const char *text);

/* Writes such a list as snprintf does: never more than size bytes, its end included, and returns
 * the length of the whole list. */
size_t cpu_set_write(const cpu_set *set, char *text, size_t size);

/* The same in memory for free(). */
muster_status cpu_set_text(const cpu_set *set, char **text);

/* False where there is no such CPU number; the set is as it was then. */
bool cpu_set_add(cpu_set *set, long long cpu);
bool cpu_set_add_range(cpu_set *set, long long first, long long last);
bool cpu_set_has(const cpu_set *set, long long cpu);

/* Those in both, in either, and in the first but not in the second. */
cpu_set cpu_set_and(const cpu_set *a, const cpu_set *b);
cpu_set cpu_set_or(const cpu_set *a, const cpu_set *b);
cpu_set cpu_set_minus(const cpu_set *a, const cpu_set *b);

int cpu_set_count(const cpu_set *set);
int cpu_set_count_both(const cpu_set *a, const cpu_set *b); /* of those in both */
bool cpu_set_is_empty(const cpu_set *set);
bool cpu_set_equal(const cpu_set *a, const cpu_set *b);
bool cpu_set_is_subset(const cpu_set *inner, const cpu_set *outer); /* the empty set of any */
bool cpu_set_meets(const cpu_set *a, const cpu_set *b);             /* at least one in both */

/* The lowest CPU, and the lowest above another one: -1 where there is none, so that a walk is
 * for (int cpu = cpu_set_first(s); cpu >= 0; cpu = cpu_set_next(s, cpu)). */
int cpu_set_first(const cpu_set *set);
int cpu_set_next(const cpu_set *set, int after);

#endif

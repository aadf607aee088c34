/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets of CPUs.
 */
#include "config.h"

#include "machine/cpu_set.h"

#include <string.h>

enum { WORDS = CPU_SET_LIMIT / 64 };

static uint64_t bit_of(long long cpu)
{
    return (uint64_t)1 << (cpu % 64);
}

bool cpu_set_add(cpu_set *set, long long cpu)
{
    return cpu_set_add_range(set, cpu, cpu);
}

bool cpu_set_add_range(cpu_set *set, long long first, long long last)
{
    if (first < 0 || last < first || last >= CPU_SET_LIMIT)
        return false;
    for (long long cpu = first; cpu <= last; cpu++)
        set->words[cpu / 64] |= bit_of(cpu);
    return true;
}

bool cpu_set_has(const cpu_set *set, long long cpu)
{
    return cpu >= 0 && cpu < CPU_SET_LIMIT && (set->words[cpu / 64] & bit_of(cpu)) != 0;
}

cpu_set cpu_set_and(const cpu_set *a, const cpu_set *b)
{
    cpu_set both;
    for (int i = 0; i < WORDS; i++)
        both.words[i] = a->words[i] & b->words[i];
    return both;
}

cpu_set cpu_set_or(const cpu_set *a, const cpu_set *b)
{
    cpu_set either;
    for (int i = 0; i < WORDS; i++)
        either.words[i] = a->words[i] | b->words[i];
    return either;
}

cpu_set cpu_set_minus(const cpu_set *a, const cpu_set *b)
{
    cpu_set rest;
    for (int i = 0; i < WORDS; i++)
        rest.words[i] = a->words[i] & ~b->words[i];
    return rest;
}

static int bits_in(uint64_t word)
{
    int count = 0;
    for (; word != 0; word &= word - 1)
        count++;
    return count;
}

int cpu_set_count(const cpu_set *set)
{
    return cpu_set_count_both(set, set);
}

int cpu_set_count_both(const cpu_set *a, const cpu_set *b)
{
    int count = 0;
    for (int i = 0; i < WORDS; i++)
        count += bits_in(a->words[i] & b->words[i]);
    return count;
}

bool cpu_set_is_empty(const cpu_set *set)
{
    return !cpu_set_meets(set, set);
}

bool cpu_set_equal(const cpu_set *a, const cpu_set *b)
{
    return memcmp(a->words, b->words, sizeof(a->words)) == 0;
}

bool cpu_set_is_subset(const cpu_set *inner, const cpu_set *outer)
{
    for (int i = 0; i < WORDS; i++)
        if ((inner->words[i] & ~outer->words[i]) != 0)
            return false;
    return true;
}

bool cpu_set_meets(const cpu_set *a, const cpu_set *b)
{
    for (int i = 0; i < WORDS; i++)
        if ((a->words[i] & b->words[i]) != 0)
            return true;
    return false;
}

int cpu_set_first(const cpu_set *set)
{
    return cpu_set_next(set, -1);
}

int cpu_set_next(const cpu_set *set, int after)
{
    int cpu = after < 0 ? 0 : after + 1;
    while (cpu < CPU_SET_LIMIT) {
        uint64_t rest = set->words[cpu / 64] >> (cpu % 64);
        if (rest == 0) {
            cpu = (cpu / 64 + 1) * 64;
            continue;
        }
        for (; (rest & 1) == 0; rest >>= 1)
            cpu++;
        return cpu;
    }
    return -1;
}

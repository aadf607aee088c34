/* SPDX-License-Identifier: BSD-3-Clause
 *
 * FNV-1a in 64 bits (Fowler, Noll, Vo: the offset basis and the prime are theirs), for telling
 * names and lists apart; not against anybody who wants two to be alike.
 */
#ifndef MUSTER_LIB_FNV_H
#define MUSTER_LIB_FNV_H

#include <stdint.h>

#define FNV_START UINT64_C(14695981039346656037)

static inline uint64_t fnv_add(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(1099511628211);
}

static inline uint64_t fnv_add_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = fnv_add(hash, (unsigned char)*text);
    return hash;
}

#endif

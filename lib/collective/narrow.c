/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Integers in the fewest bytes that hold them all: one plain loop for each width and direction.
 */
#include "config.h"

#include "collective/narrow.h"

#include <endian.h>
#include <string.h>

/* One byte has no order; these make its loop read like the others. */
#define htole8(value) (value)
#define le8toh(value) (value)

int narrow_width_signed(int64_t low, int64_t high)
{
    if (low >= INT8_MIN && high <= INT8_MAX)
        return 1;
    if (low >= INT16_MIN && high <= INT16_MAX)
        return 2;
    return low >= INT32_MIN && high <= INT32_MAX ? 4 : 8;
}

int narrow_width_unsigned(uint64_t high)
{
    if (high <= UINT8_MAX)
        return 1;
    if (high <= UINT16_MAX)
        return 2;
    return high <= UINT32_MAX ? 4 : 8;
}

/* Cutting off the top keeps the value in two's complement, signed or not. */
#define WRITE(name, bits, wide)                                                                    \
    static void name(unsigned char *restrict bytes, const wide *restrict values, size_t count)     \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            uint##bits##_t value = htole##bits((uint##bits##_t)values[i]);                         \
            memcpy(bytes + i * sizeof(value), &value, sizeof(value));                              \
        }                                                                                          \
    }

/* as is the type, signed or unsigned, that the values are widened from. */
#define READ(name, bits, as, wide)                                                                 \
    static void name(const unsigned char *restrict bytes, wide *restrict values, size_t count)     \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            uint##bits##_t raw;                                                                    \
            as value;                                                                              \
            memcpy(&raw, bytes + i * sizeof(raw), sizeof(raw));                                    \
            raw = le##bits##toh(raw);                                                              \
            memcpy(&value, &raw, sizeof(value));                                                   \
            values[i] = value;                                                                     \
        }                                                                                          \
    }

#define LOOPS(bits)                                                                                \
    WRITE(write_signed_##bits, bits, int64_t)                                                      \
    WRITE(write_unsigned_##bits, bits, size_t)                                                     \
    READ(read_signed_##bits, bits, int##bits##_t, int64_t)                                         \
    READ(read_unsigned_##bits, bits, uint##bits##_t, uint64_t)

LOOPS(8)
LOOPS(16)
LOOPS(32)
LOOPS(64)

/* Picks the loop for width. */
#define PICK(loop, from, to)                                                                       \
    if (width == 1)                                                                                \
        loop##_8(from, to, count);                                                                 \
    else if (width == 2)                                                                           \
        loop##_16(from, to, count);                                                                \
    else if (width == 4)                                                                           \
        loop##_32(from, to, count);                                                                \
    else                                                                                           \
        loop##_64(from, to, count)

void narrow_write_signed(unsigned char *bytes, int width, const int64_t *values, size_t count)
{
    PICK(write_signed, bytes, values);
}

void narrow_write_unsigned(unsigned char *bytes, int width, const size_t *values, size_t count)
{
    PICK(write_unsigned, bytes, values);
}

void narrow_read_signed(const unsigned char *bytes, int width, int64_t *values, size_t count)
{
    PICK(read_signed, bytes, values);
}

void narrow_read_unsigned(const unsigned char *bytes, int width, uint64_t *values, size_t count)
{
    PICK(read_unsigned, bytes, values);
}

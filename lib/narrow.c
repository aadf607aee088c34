/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Integers in the fewest bytes that hold them all.
 */
#include "narrow.h"

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

static void write_one(unsigned char *bytes, int width, uint64_t value)
{
    for (int i = 0; i < width; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t read_one(const unsigned char *bytes, int width)
{
    uint64_t value = 0;
    for (int i = 0; i < width; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

void narrow_write_signed(unsigned char *bytes, int width, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        write_one(bytes + i * (size_t)width, width, (uint64_t)values[i]);
}

void narrow_write_unsigned(unsigned char *bytes, int width, const size_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        write_one(bytes + i * (size_t)width, width, values[i]);
}

void narrow_read_signed(const unsigned char *bytes, int width, int64_t *values, size_t count)
{
    const uint64_t sign = UINT64_C(1) << (8 * width - 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t value = read_one(bytes + i * (size_t)width, width);
        /* what was cut off at the top were copies of the sign bit */
        uint64_t whole = width < 8 ? (value ^ sign) - sign : value;
        values[i] = whole <= INT64_MAX ? (int64_t)whole : -(int64_t)(~whole) - 1;
    }
}

void narrow_read_unsigned(const unsigned char *bytes, int width, uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = read_one(bytes + i * (size_t)width, width);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Integers in the fewest bytes: the width at each border, the bytes themselves, and the way there
 * and back.
 */
#include "collective/narrow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static const struct signed_row {
    int64_t low, high;
    int width;
} signed_rows[] = {
    {0, 0, 1},
    {-1, -1, 1},
    {INT8_MIN, INT8_MAX, 1},
    {INT8_MIN - 1, 0, 2},
    {0, INT8_MAX + 1, 2},
    {INT16_MIN, INT16_MAX, 2},
    {INT16_MIN - 1, 0, 4},
    {0, INT16_MAX + 1, 4},
    {INT32_MIN, INT32_MAX, 4},
    {INT32_MIN - INT64_C(1), 0, 8},
    {0, INT32_MAX + INT64_C(1), 8},
    {INT64_MIN, INT64_MAX, 8},
    {INT64_MIN, INT64_MIN, 8},
    {INT64_MAX, INT64_MAX, 8},
};

static const struct unsigned_row {
    uint64_t high;
    int width;
} unsigned_rows[] = {
    {0, 1},     {UINT8_MAX, 1},  {256, 2},        {UINT16_MAX, 2},
    {65536, 4}, {UINT32_MAX, 4}, {1ULL << 32, 8}, {UINT64_MAX, 8},
};

enum {
    SIGNED_ROWS = sizeof(signed_rows) / sizeof(signed_rows[0]),
    UNSIGNED_ROWS = sizeof(unsigned_rows) / sizeof(unsigned_rows[0]),
    GUARD = 16,
    ROUNDS = 200,
    MOST = 300
};

/* Two values there and back; nothing is written beside the bytes they take. */
static bool survives(const int64_t *values, int width, size_t count)
{
    unsigned char bytes[8 * MOST + 2 * GUARD];
    int64_t back[MOST + 1];
    size_t size = (size_t)width * count;
    memset(bytes, 0xa5, sizeof(bytes));
    memset(back, 0x5a, sizeof(back));
    int64_t untouched = back[count];
    /* at an odd address: on the wire nothing is aligned */
    narrow_write_signed(bytes + GUARD + 1, width, values, count);
    for (size_t i = 0; i < GUARD - 1; i++)
        if (bytes[i] != 0xa5 || bytes[GUARD + 1 + size + i] != 0xa5)
            return false;
    narrow_read_signed(bytes + GUARD + 1, width, back, count);
    return back[count] == untouched && memcmp(values, back, count * sizeof(*values)) == 0;
}

static bool survives_unsigned(const size_t *values, int width, size_t count)
{
    unsigned char bytes[8 * MOST + 2 * GUARD];
    uint64_t back[MOST];
    memset(bytes, 0xa5, sizeof(bytes));
    narrow_write_unsigned(bytes + GUARD + 1, width, values, count);
    narrow_read_unsigned(bytes + GUARD + 1, width, back, count);
    bool same = bytes[GUARD] == 0xa5 && bytes[GUARD + 1 + (size_t)width * count] == 0xa5;
    for (size_t i = 0; i < count; i++)
        same = same && back[i] == values[i];
    return same;
}

static void borders(void)
{
    for (int i = 0; i < SIGNED_ROWS; i++) {
        const struct signed_row *row = &signed_rows[i];
        int64_t values[2] = {row->low, row->high};
        is_int(narrow_width_signed(row->low, row->high), row->width,
               "%" PRId64 " to %" PRId64 " take %d bytes", row->low, row->high, row->width);
        bool all = true;
        for (int width = row->width; width <= 8; width *= 2)
            all = all && survives(values, width, 2);
        ok(all, "and survive them, and every larger width");
    }
    for (int i = 0; i < UNSIGNED_ROWS; i++) {
        const struct unsigned_row *row = &unsigned_rows[i];
        size_t values[2] = {(size_t)row->high, 0};
        is_int(narrow_width_unsigned(row->high), row->width, "0 to %" PRIu64 " take %d bytes",
               row->high, row->width);
        bool all = true;
        for (int width = row->width; width <= 8; width *= 2)
            all = all && survives_unsigned(values, width, 2);
        ok(all, "and survive them, and every larger width");
    }
}

/* The bytes do not depend on the machine. */
static void order(void)
{
    static const unsigned char wire[8] = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
    const int64_t value = 0x1122334455667788;
    const size_t length = 0x55667788;
    unsigned char bytes[8];
    bool same = true, same_length = true;
    for (int width = 1; width <= 8; width *= 2) {
        narrow_write_signed(bytes, width, &value, 1);
        same = same && memcmp(bytes, wire, (size_t)width) == 0;
        narrow_write_unsigned(bytes, width, &length, 1);
        same_length = same_length && memcmp(bytes, wire, width < 4 ? (size_t)width : 4) == 0;
    }
    ok(same, "the lowest byte is first");
    ok(same_length, "in lengths too");
    int64_t minus_two = -2, back = 0;
    narrow_write_signed(bytes, 2, &minus_two, 1);
    ok(bytes[0] == 0xfe && bytes[1] == 0xff, "negative numbers are in two's complement");
    narrow_read_signed(bytes, 1, &back, 1);
    is_int(back, -2, "and are read so");
    uint64_t plain = 0;
    narrow_read_unsigned(bytes, 2, &plain, 1);
    is_int((long long)plain, 0xfffe, "while lengths have no sign");
}

static void nothing(void)
{
    unsigned char byte = 7;
    int64_t value = 7;
    uint64_t length = 7;
    narrow_write_signed(&byte, 8, &value, 0);
    narrow_write_unsigned(&byte, 8, NULL, 0);
    narrow_read_signed(&byte, 8, &value, 0);
    narrow_read_unsigned(&byte, 8, &length, 0);
    ok(byte == 7 && value == 7 && length == 7, "no values are none");
}

static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static void random_values(void)
{
    const char *text = getenv("MUSTER_TEST_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 20240607, state = seed | 1;
    diag("MUSTER_TEST_SEED=%" PRIu64, seed);
    int wrong = 0, widths[9] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        int64_t values[MOST], low = INT64_MAX, high = INT64_MIN;
        size_t lengths[MOST], longest = 0, count = random_bits(&state) % MOST + 1;
        int bits = (int)(random_bits(&state) % 64);
        for (size_t i = 0; i < count; i++) {
            uint64_t raw = random_bits(&state) >> bits;
            values[i] = raw & 1 ? (int64_t)(raw >> 1) : -(int64_t)(raw >> 1);
            lengths[i] = (size_t)raw;
            low = values[i] < low ? values[i] : low;
            high = values[i] > high ? values[i] : high;
            longest = lengths[i] > longest ? lengths[i] : longest;
        }
        int width = narrow_width_signed(low, high);
        widths[width]++;
        wrong += !survives(values, width, count);
        wrong += !survives_unsigned(lengths, narrow_width_unsigned(longest), count);
    }
    is_int(wrong, 0, "random values survive");
    ok(widths[1] > 0 && widths[2] > 0 && widths[4] > 0 && widths[8] > 0,
       "%d, %d, %d and %d rounds were of 1, 2, 4 and 8 bytes", widths[1], widths[2], widths[4],
       widths[8]);
}

int main(void)
{
    plan(2 * SIGNED_ROWS + 2 * UNSIGNED_ROWS + 8);
    borders();
    order();
    nothing();
    random_values();
    return done();
}

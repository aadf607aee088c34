/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Integers in the fewest bytes that hold them all, for the wire: 1, 2, 4 or 8, little-endian.
 */
#ifndef MUSTER_LIB_NARROW_H
#define MUSTER_LIB_NARROW_H

#include <stddef.h>
#include <stdint.h>

/* The bytes an integer needs: of any in low..high, and of any in 0..high. */
int narrow_width_signed(int64_t low, int64_t high);
int narrow_width_unsigned(uint64_t high);

/* Writes count values behind each other; width must hold them. */
void narrow_write_signed(unsigned char *bytes, int width, const int64_t *values, size_t count);
void narrow_write_unsigned(unsigned char *bytes, int width, const size_t *values, size_t count);

/* Reads count values. */
void narrow_read_signed(const unsigned char *bytes, int width, int64_t *values, size_t count);
void narrow_read_unsigned(const unsigned char *bytes, int width, uint64_t *values, size_t count);

#endif

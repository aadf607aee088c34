/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The small floating types read and written by plain arithmetic on doubles, to compare with.
 */
#ifndef MUSTER_T_SLOW_FLOATS_H
#define MUSTER_T_SLOW_FLOATS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct slow_format {
    const char *name;
    int exponent;  /* bits */
    int mantissa;  /* bits */
    bool infinite; /* the largest exponent is that of infinity and NaN; else all ones alone are NaN
                    */
    uint32_t nan;  /* as it is written */
} slow_format;

enum { SLOW_FLOAT16, SLOW_BFLOAT16, SLOW_FLOAT8_E5M2, SLOW_FLOAT8_E4M3, SLOW_FORMATS };
extern const slow_format slow_formats[SLOW_FORMATS];

double slow_read(const slow_format *format, uint32_t bits);
uint32_t slow_write(const slow_format *format, double value);

#endif

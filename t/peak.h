/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The largest resident memory of this process since some moment.
 */
#ifndef MUSTER_T_PEAK_H
#define MUSTER_T_PEAK_H

#include <stddef.h>

/* Not with a sanitizer, which takes memory for each byte and keeps what is freed. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PEAK_IS_REAL 0
#else
#define PEAK_IS_REAL 1
#endif

/* Begins anew; returns the bytes that are resident now. */
size_t peak_reset(void);

/* The most that has been since, in bytes. */
size_t peak_resident(void);

/* The addresses in use now, in bytes. */
size_t peak_virtual(void);

#endif

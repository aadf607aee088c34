/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the fuzz targets share. A target is one function that is given bytes, hands them to a parser
 * as what came from outside, and holds what must be true of the result. libFuzzer calls it with
 * bytes of its own; in any other build replay.c calls it with the files of t/fuzz/corpus.
 */
#ifndef MUSTER_T_FUZZ_H
#define MUSTER_T_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The target. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process where it is not so, saying what should have been. */
void fuzz_hold(bool so, const char *what);

/* A copy that ends with a zero, in memory of exactly that size, for free(). */
char *fuzz_text(const uint8_t *data, size_t size);

/* What is left of an input that holds several things. */
typedef struct fuzz_bytes {
    const uint8_t *data;
    size_t size;
} fuzz_bytes;

/* The next byte, 0 behind the end. */
uint8_t fuzz_byte(fuzz_bytes *input);

/* So many of the next bytes as there are, up to most. */
fuzz_bytes fuzz_take(fuzz_bytes *input, size_t most);

/* Up to the next newline, which is skipped, as fuzz_text() makes it. */
char *fuzz_line(fuzz_bytes *input);

/* A file in memory with these bytes, read from its start. */
int fuzz_file(const uint8_t *data, size_t size);

#endif

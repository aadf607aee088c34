/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes that grow at their end. A failed allocation is remembered in the buffer, so that a message
 * is put together without a check after each part.
 */
#ifndef MUSTER_LIB_BUFFER_H
#define MUSTER_LIB_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* All zeros is an empty buffer. */
typedef struct buffer {
    unsigned char *data;
    size_t size;
    size_t capacity;
    bool failed; /* there was no memory for something that was appended */
} buffer;

/* Makes room for so many more bytes; false when there is no memory, then the buffer is failed. */
bool buffer_reserve(buffer *bytes, size_t more);
void buffer_append(buffer *bytes, const void *data, size_t size);

/* Drops bytes at the start; a large buffer that becomes empty gives its memory back. */
void buffer_consume(buffer *bytes, size_t size);

/* Back to all zeros. */
void buffer_free(buffer *bytes);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes that grow at their end.
 */
#include "base/buffer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 256, KEPT_WHEN_EMPTY = 64 << 10 };

bool buffer_reserve(buffer *bytes, size_t more)
{
    if (bytes->failed)
        return false;
    if (more <= bytes->capacity - bytes->size)
        return true;
    size_t capacity = bytes->capacity < SMALLEST ? SMALLEST : bytes->capacity;
    while (capacity - bytes->size < more && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    unsigned char *data = capacity - bytes->size < more ? NULL : realloc(bytes->data, capacity);
    if (data == NULL) {
        bytes->failed = true;
        return false;
    }
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

void buffer_append(buffer *bytes, const void *data, size_t size)
{
    if (size == 0 || !buffer_reserve(bytes, size))
        return;
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

void buffer_consume(buffer *bytes, size_t size)
{
    if (size == 0)
        return;
    bytes->size -= size;
    if (bytes->size > 0)
        memmove(bytes->data, bytes->data + size, bytes->size);
    else if (bytes->capacity > KEPT_WHEN_EMPTY)
        buffer_free(bytes);
}

void buffer_free(buffer *bytes)
{
    free(bytes->data);
    *bytes = (buffer){0};
}

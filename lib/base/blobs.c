/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs of bytes: compared, copied, packed into one block, and shown in messages.
 */
#include "base/blobs.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

bool blob_equal(muster_blob a, muster_blob b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

muster_status blob_copy(muster_blob blob, void **copy, size_t *size)
{
    void *bytes = malloc(blob.size == 0 ? 1 : blob.size);
    if (bytes == NULL)
        return error_no_memory(blob.size, "a value");
    if (blob.size > 0)
        memcpy(bytes, blob.data, blob.size);
    *copy = bytes;
    *size = blob.size;
    return MUSTER_OK;
}

muster_status blobs_pack(const muster_blob *blobs, size_t num, muster_blob **packed)
{
    size_t total = 0;
    bool fits = !__builtin_mul_overflow(num + 1, sizeof(muster_blob), &total);
    for (size_t i = 0; i < num && fits; i++)
        fits = !__builtin_add_overflow(total, blobs[i].size, &total);
    muster_blob *block = fits ? malloc(total) : NULL;
    if (block == NULL)
        return error_no_memory(fits ? total : SIZE_MAX, "values");
    char *bytes = (char *)(block + num);
    for (size_t i = 0; i < num; i++) {
        block[i] = (muster_blob){bytes, blobs[i].size};
        if (blobs[i].size > 0)
            memcpy(bytes, blobs[i].data, blobs[i].size);
        bytes += blobs[i].size;
    }
    *packed = block;
    return MUSTER_OK;
}

const char *blob_text(muster_blob blob, char text[BLOB_TEXT_SIZE])
{
    size_t used = 0;
    for (size_t i = 0; i < blob.size; i++) {
        unsigned char byte = ((const unsigned char *)blob.data)[i];
        if (used + 4 + sizeof("...") > BLOB_TEXT_SIZE) {
            memcpy(text + used, "...", 3);
            used += 3;
            break;
        }
        if (byte >= ' ' && byte < 0x7f && byte != '\\')
            text[used++] = (char)byte;
        else
            used += (size_t)snprintf(text + used, 5, "\\x%02x", byte);
    }
    text[used] = '\0';
    return text;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes: how a program passes them in, and how it frees those that it gets.
 */
#ifndef MUSTER_BLOB_H
#define MUSTER_BLOB_H

#include <muster/api.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A run of size bytes that somebody else owns. data may be NULL where size is 0. */
typedef struct muster_blob {
    const void *data;
    size_t size;
} muster_blob;

/* The bytes of a C string, without its terminator; none for NULL. */
static inline muster_blob muster_str(const char *text)
{
    muster_blob blob = {text, text == NULL ? 0 : strlen(text)};
    return blob;
}

/* Frees memory that a function of this library returned and that has no _free function of its own.
 * NULL does nothing. */
MUSTER_API void muster_free(void *data);

#ifdef __cplusplus
}
#endif
#endif

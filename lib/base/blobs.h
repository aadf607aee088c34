/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs of bytes: compared, copied, packed into one block, and shown in messages.
 */
#ifndef MUSTER_LIB_BLOBS_H
#define MUSTER_LIB_BLOBS_H

#include "muster.h"

bool blob_equal(muster_blob a, muster_blob b);

/* A copy for muster_free(), never NULL on success, not even for no bytes. */
muster_status blob_copy(muster_blob blob, void **copy, size_t *size);

/* One block with num blobs and behind them all their bytes, that the blobs point into. */
muster_status blobs_pack(const muster_blob *blobs, size_t num, muster_blob **packed);

/* Text that shows a key in a message: bytes that can't be printed as \xHH, long ones cut. */
enum { BLOB_TEXT_SIZE = 128 };
const char *blob_text(muster_blob blob, char text[BLOB_TEXT_SIZE]);

#endif

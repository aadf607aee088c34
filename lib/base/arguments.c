/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structs that callers fill.
 */
#include "base/arguments.h"

#include <string.h>

#include "base/error.h"

muster_status arguments_copy(void *ours, size_t our_size, size_t least, const void *theirs,
                             const char *type)
{
    enum { ABSURD = 4096 };
    size_t size;
    memcpy(&size, theirs, sizeof(size));
    if (size < least || size > ABSURD)
        return error_set(
            MUSTER_ERR_ARGUMENT,
            "the %s has a struct_size of %zu, but it is %zu bytes long; begin with its "
            "initialiser macro",
            type, size, our_size);
    const unsigned char *bytes = theirs;
    for (size_t i = our_size; i < size; i++)
        if (bytes[i] != 0)
            return error_set(MUSTER_ERR_ARGUMENT,
                             "the %s is of a newer muster than this library %s and sets something "
                             "that it does not know; upgrade the library",
                             type, muster_version());
    memcpy(ours, theirs, size < our_size ? size : our_size);
    memcpy(ours, &our_size, sizeof(our_size));
    return MUSTER_OK;
}

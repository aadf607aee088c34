/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers that a store keeps as decimal text.
 */
#include "base/counter.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/blobs.h"
#include "base/error.h"

/* Not strtoll: values have no zero at their end. */
static bool counter_parse(muster_blob value, int64_t *number)
{
    const char *at = value.data, *end = at + value.size;
    while (at < end && isspace((unsigned char)*at))
        at++;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end || *at < '0' || *at > '9')
        return false;
    int64_t parsed = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        int64_t digit = negative ? '0' - *at : *at - '0';
        if (__builtin_mul_overflow(parsed, 10, &parsed) ||
            __builtin_add_overflow(parsed, digit, &parsed))
            return false;
    }
    *number = parsed;
    return true;
}

muster_status counter_add(muster_blob key, const muster_blob *value, int64_t delta,
                          char text[COUNTER_TEXT_SIZE], int64_t *sum)
{
    char name[BLOB_TEXT_SIZE], content[BLOB_TEXT_SIZE];
    int64_t number = 0, total;
    if (value != NULL && (value->size == 0 || !counter_parse(*value, &number)))
        return error_set(MUSTER_ERR_ARGUMENT,
                         "can't add to key '%s': its value '%s' is no 64-bit number",
                         blob_text(key, name), blob_text(*value, content));
    if (__builtin_add_overflow(number, delta, &total))
        return error_set(MUSTER_ERR_ARGUMENT,
                         "can't add %" PRId64 " to key '%s': with its value %" PRId64
                         " the sum does not fit into 64 bits",
                         delta, blob_text(key, name), number);
    snprintf(text, COUNTER_TEXT_SIZE, "%" PRId64, total);
    *sum = total;
    return MUSTER_OK;
}

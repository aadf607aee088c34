/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading what others have written to the file of a file store.
 */
#include "config.h"
#include "store/file_replay.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

enum { BYTES_AT_ONCE = 64 << 10 };

static muster_status not_a_record(const file_log *log, const char *why)
{
    return error_set(MUSTER_ERR_PROTOCOL,
                     "file store %s: what stands at byte %" PRId64
                     " is no record of a store (%s); remove the file and start anew, or give "
                     "another path if it is something else",
                     log->path, (int64_t)log->position, why);
}

static uint32_t length_at(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

typedef struct record {
    muster_blob key, value;
    size_t size; /* in the file; 0 while it is not whole */
} record;

/* The record that the bytes start with, of as many as are left in the file. No limit but that:
 * torch, which may have written it, has none. */
static muster_status parse(const file_log *log, const unsigned char *data, size_t size, off_t left,
                           record *found)
{
    *found = (record){0};
    if (size < 4)
        return MUSTER_OK;
    size_t key_size = length_at(data);
    if (left - 4 < (off_t)key_size)
        return not_a_record(log, "its key is longer than the file");
    if (size < 8 + key_size)
        return MUSTER_OK;
    size_t value_size = length_at(data + 4 + key_size);
    if (left - 8 - (off_t)key_size < (off_t)value_size)
        return not_a_record(log, "its value is longer than the file");
    if (size < 8 + key_size + value_size)
        return MUSTER_OK;
    found->key = (muster_blob){data + 4, key_size};
    found->value = (muster_blob){data + 8 + key_size, value_size};
    found->size = 8 + key_size + value_size;
    return MUSTER_OK;
}

static muster_status apply(file_log *log, const record *one)
{
    const char *key = one->key.data;
    if (one->key.size == 0 || key[0] != '-')
        return value_map_set(&log->values, one->key, one->value);
    value_map_delete(&log->values, (muster_blob){key + 1, one->key.size - 1});
    return MUSTER_OK;
}

static muster_status apply_whole_records(file_log *log, off_t end, buffer *bytes)
{
    size_t done = 0;
    muster_status status = MUSTER_OK;
    for (;;) {
        record one;
        status = parse(log, bytes->data + done, bytes->size - done, end - log->position, &one);
        if (status == MUSTER_OK && one.size > 0)
            status = apply(log, &one);
        if (status != MUSTER_OK || one.size == 0)
            break;
        done += one.size;
        log->position += (off_t)one.size;
    }
    buffer_consume(bytes, done);
    return status;
}

/* Reads up to the given end of the file, of which bytes holds what could not be taken yet. */
static muster_status read_records(file_log *log, int fd, off_t end, buffer *bytes)
{
    muster_status status = MUSTER_OK;
    while (status == MUSTER_OK && log->position + (off_t)bytes->size < end) {
        if (!buffer_reserve(bytes, BYTES_AT_ONCE))
            return error_no_memory(bytes->size + BYTES_AT_ONCE, "records of a file store");
        ssize_t got =
            pread(fd, bytes->data + bytes->size, BYTES_AT_ONCE, log->position + (off_t)bytes->size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_system("file store %s: reading it", log->path);
        if (got == 0)
            break;
        bytes->size += (size_t)got;
        status = apply_whole_records(log, end, bytes);
    }
    if (status == MUSTER_OK && bytes->size > 0)
        return not_a_record(log, "the file ends in the middle of it");
    return status;
}

muster_status file_replay(file_log *log, int fd)
{
    struct stat found;
    buffer bytes = {0};
    if (fstat(fd, &found) != 0)
        return error_system("file store %s: looking at it", log->path);
    if (found.st_size < log->position)
        return error_set(MUSTER_ERR_PROTOCOL,
                         "file store %s: somebody cut the file from %" PRId64 " to %" PRId64
                         " bytes while it was in use",
                         log->path, (int64_t)log->position, (int64_t)found.st_size);
    muster_status status = read_records(log, fd, found.st_size, &bytes);
    buffer_free(&bytes);
    return status;
}

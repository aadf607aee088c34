/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The store in a file that all ranks share, in the format of torch's FileStore.
 */
#include "store/store.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/blobs.h"
#include "base/counter.h"
#include "base/error.h"
#include "store/file_log.h"

enum { FIRST_PAUSE_MS = 1, LONGEST_PAUSE_MS = 10 };

typedef struct file_store {
    muster_store store;
    file_log log;
    char *description;
} file_store;

static file_log *log_of(muster_store *store)
{
    return &((file_store *)store)->log;
}

static deadline lock_deadline(void)
{
    return deadline_in(FILE_LOG_LOCK_MS);
}

/* A key as the file has it, with the "/". Room is for the longest. */
typedef struct file_key {
    unsigned char bytes[STORE_MAX_KEY + 1];
} file_key;

static muster_blob with_slash(muster_blob key, file_key *room)
{
    room->bytes[0] = '/';
    if (key.size > 0)
        memcpy(room->bytes + 1, key.data, key.size);
    return (muster_blob){room->bytes, key.size + 1};
}

static size_t next_missing(file_log *log, const muster_blob *keys, size_t from, size_t num_keys)
{
    file_key room;
    muster_blob value;
    while (from < num_keys && value_map_get(&log->values, with_slash(keys[from], &room), &value))
        from++;
    return from;
}

/* ---- Waiting ------------------------------------------------------------------------------- */

/* Until the file changes from what the caller has seen, with looks at it less and less often. */
static void pause_unchanged(const file_log *log, off_t seen, deadline end, int *pause_ms)
{
    do {
        int left = deadline_poll_ms(end);
        poll(NULL, 0, left < *pause_ms ? left : *pause_ms);
        *pause_ms = *pause_ms * 2 > LONGEST_PAUSE_MS ? LONGEST_PAUSE_MS : *pause_ms * 2;
    } while (deadline_left_ms(end) > 0 && file_log_unchanged(log, seen));
}

static muster_status missing_error(file_store *file, const muster_blob *keys, size_t num_keys,
                                   int64_t timeout_ms)
{
    store_missing missing = {0};
    for (size_t i = 0; i < num_keys; i++)
        if (next_missing(&file->log, keys, i, i + 1) == i)
            store_missing_add(&missing, keys[i]);
    return store_missing_error(&file->store, &missing, timeout_ms);
}

/* *gone: it has been removed, and what it held is all that there will ever be. */
static muster_status begin_reading(file_log *log, deadline end, int *fd, bool *gone)
{
    muster_status status = file_log_begin(log, FILE_LOG_READ, end, fd);
    *gone = status == MUSTER_ERR_NOT_FOUND;
    return *gone ? file_log_begin_removed(log, fd) : status;
}

/* When all keys are there: returns with the file begun, for the caller to look and end. */
static muster_status begin_with(muster_store *store, const muster_blob *keys, size_t num_keys,
                                int64_t timeout_ms, int *fd)
{
    file_store *file = (file_store *)store;
    deadline end = deadline_in(timeout_ms);
    off_t seen = 0;
    for (int pause_ms = FIRST_PAUSE_MS;; pause_unchanged(&file->log, seen, end, &pause_ms)) {
        bool gone, over = deadline_left_ms(end) == 0;
        muster_status status = begin_reading(&file->log, end, fd, &gone);
        if (status != MUSTER_OK)
            return status;
        if (next_missing(&file->log, keys, 0, num_keys) == num_keys)
            return MUSTER_OK;
        if (over)
            status = missing_error(file, keys, num_keys, timeout_ms);
        seen = file->log.position;
        file_log_end(&file->log, *fd);
        if (gone)
            return file_log_gone(&file->log);
        if (over)
            return status;
    }
}

static muster_status file_wait(muster_store *store, const muster_blob *keys, size_t num_keys,
                               int64_t timeout_ms)
{
    int fd;
    muster_status status = begin_with(store, keys, num_keys, timeout_ms, &fd);
    if (status == MUSTER_OK)
        file_log_end(log_of(store), fd);
    return status;
}

static muster_status file_get(muster_store *store, muster_blob key, int64_t timeout_ms,
                              void **value, size_t *size)
{
    int fd;
    file_key room;
    muster_blob found = {NULL, 0};
    file_log *log = log_of(store);
    muster_status status = begin_with(store, &key, 1, timeout_ms, &fd);
    if (status != MUSTER_OK)
        return status;
    value_map_get(&log->values, with_slash(key, &room), &found);
    status = blob_copy(found, value, size);
    file_log_end(log, fd);
    return status;
}

static muster_status file_multi_get(muster_store *store, const muster_blob *keys, size_t num_keys,
                                    int64_t timeout_ms, muster_blob **values)
{
    int fd;
    file_key room;
    muster_blob *found = calloc(num_keys + 1, sizeof(*found));
    if (found == NULL)
        return error_no_memory(num_keys * sizeof(*found), "values");
    muster_status status = begin_with(store, keys, num_keys, timeout_ms, &fd);
    if (status == MUSTER_OK) {
        for (size_t i = 0; i < num_keys; i++)
            value_map_get(&log_of(store)->values, with_slash(keys[i], &room), &found[i]);
        status = blobs_pack(found, num_keys, values);
        file_log_end(log_of(store), fd);
    }
    free(found);
    return status;
}

/* ---- Looking ------------------------------------------------------------------------------- */

static muster_status file_check(muster_store *store, const muster_blob *keys, size_t num_keys,
                                bool *all_there)
{
    int fd;
    bool gone;
    file_log *log = log_of(store);
    muster_status status = begin_reading(log, lock_deadline(), &fd, &gone);
    if (status != MUSTER_OK)
        return status;
    bool there = next_missing(log, keys, 0, num_keys) == num_keys;
    file_log_end(log, fd);
    if (gone && !there)
        return file_log_gone(log);
    *all_there = there;
    return MUSTER_OK;
}

static muster_status file_num_keys(muster_store *store, int64_t *num_keys)
{
    int fd;
    file_log *log = log_of(store);
    muster_status status = file_log_begin(log, FILE_LOG_READ, lock_deadline(), &fd);
    if (status != MUSTER_OK)
        return status;
    *num_keys = (int64_t)value_map_count(&log->values);
    file_log_end(log, fd);
    return MUSTER_OK;
}

/* ---- Writing ------------------------------------------------------------------------------- */

static muster_status file_multi_set(muster_store *store, const muster_blob *keys,
                                    const muster_blob *values, size_t num_keys)
{
    int fd;
    buffer records = {0};
    file_log *log = log_of(store);
    for (size_t i = 0; i < num_keys; i++)
        file_log_put(&records, keys[i], values[i]);
    muster_status status = file_log_begin(log, FILE_LOG_WRITE, lock_deadline(), &fd);
    if (status == MUSTER_OK) {
        status = file_log_append(log, fd, &records);
        file_log_end(log, fd);
    }
    buffer_free(&records);
    return status;
}

static muster_status file_set(muster_store *store, muster_blob key, muster_blob value)
{
    return file_multi_set(store, &key, &value, 1);
}

static muster_status file_add(muster_store *store, muster_blob key, int64_t delta, int64_t *sum)
{
    int fd;
    int64_t total;
    file_key room;
    buffer records = {0};
    char text[COUNTER_TEXT_SIZE];
    muster_blob value;
    file_log *log = log_of(store);
    muster_status status = file_log_begin(log, FILE_LOG_WRITE, lock_deadline(), &fd);
    if (status != MUSTER_OK)
        return status;
    bool there = value_map_get(&log->values, with_slash(key, &room), &value);
    status = counter_add(key, there ? &value : NULL, delta, text, &total);
    if (status == MUSTER_OK) {
        file_log_put(&records, key, muster_str(text));
        status = file_log_append(log, fd, &records);
    }
    if (status == MUSTER_OK)
        *sum = total;
    file_log_end(log, fd);
    buffer_free(&records);
    return status;
}

static muster_status file_compare_set(muster_store *store, muster_blob key, muster_blob expected,
                                      muster_blob desired, void **value, size_t *size)
{
    int fd;
    bool changed;
    file_key room;
    buffer records = {0};
    muster_blob now;
    file_log *log = log_of(store);
    muster_status status = file_log_begin(log, FILE_LOG_WRITE, lock_deadline(), &fd);
    if (status != MUSTER_OK)
        return status;
    value_map_compare(&log->values, with_slash(key, &room), expected, desired, &now, &changed);
    if (changed) {
        file_log_put(&records, key, desired);
        status = file_log_append(log, fd, &records);
    }
    if (status == MUSTER_OK)
        status = blob_copy(now, value, size);
    file_log_end(log, fd);
    buffer_free(&records);
    return status;
}

static muster_status file_delete(muster_store *store, muster_blob key, bool *existed)
{
    int fd;
    file_key room;
    buffer records = {0};
    muster_blob value;
    file_log *log = log_of(store);
    muster_status status = file_log_begin(log, FILE_LOG_WRITE, lock_deadline(), &fd);
    if (status != MUSTER_OK)
        return status;
    bool there = value_map_get(&log->values, with_slash(key, &room), &value);
    if (there) {
        file_log_put_deleted(&records, key);
        status = file_log_append(log, fd, &records);
    }
    if (status == MUSTER_OK)
        *existed = there;
    file_log_end(log, fd);
    buffer_free(&records);
    return status;
}

/* ---- The kind ------------------------------------------------------------------------------ */

static const char *file_describe(const muster_store *store)
{
    return ((const file_store *)store)->description;
}

static void file_destroy(muster_store *store)
{
    file_store *file = (file_store *)store;
    file_log_close(&file->log);
    free(file->description);
    free(file);
}

static const store_ops file_ops = {
    .set = file_set,
    .get = file_get,
    .add = file_add,
    .compare_set = file_compare_set,
    .check = file_check,
    .wait = file_wait,
    .delete_key = file_delete,
    .num_keys = file_num_keys,
    .multi_get = file_multi_get,
    .multi_set = file_multi_set,
    .describe = file_describe,
    .destroy = file_destroy,
};

muster_status muster_store_file(muster_store **store, const char *path)
{
    if (store == NULL || path == NULL || path[0] == '\0')
        return error_set(MUSTER_ERR_ARGUMENT, "muster_store_file: %s",
                         store == NULL  ? "store is NULL"
                         : path == NULL ? "path is NULL"
                                        : "path is empty");
    size_t described = strlen("file store ") + strlen(path) + 1;
    file_store *file = calloc(1, sizeof(*file));
    char *description = malloc(described);
    muster_status status = MUSTER_OK;
    if (file == NULL || description == NULL)
        status = error_no_memory(sizeof(*file) + described, "a file store");
    if (status == MUSTER_OK)
        status = file_log_open(&file->log, path);
    if (status != MUSTER_OK) {
        free(description);
        free(file);
        return status;
    }
    snprintf(description, described, "file store %s", path);
    file->description = description;
    store_init(&file->store, &file_ops);
    *store = &file->store;
    return MUSTER_OK;
}

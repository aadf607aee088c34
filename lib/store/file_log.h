/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file of a file store, as torch's FileStore writes it: records one behind the other, later
 * ones replacing earlier ones, under flock(2).
 *
 * A record is a key and a value, each with its length in 32 bits, little-endian, in front. The key
 * is that of the user behind a "/"; behind a "-" it is one that has been deleted.
 */
#ifndef MUSTER_LIB_FILE_LOG_H
#define MUSTER_LIB_FILE_LOG_H

#include <pthread.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/deadline.h"
#include "store/value_map.h"

/* The longest that a free lock is waited for by what has no time-out of its own. */
enum { FILE_LOG_LOCK_MS = 30000 };

typedef struct file_log {
    char *path; /* absolute */
    int keeper; /* holds the file open, so that its number is given to no other file */
    dev_t device;
    ino_t inode;
    pthread_mutex_t lock; /* over what follows */
    value_map values;     /* what the file says up to position; with the "/" in front of keys */
    off_t position;
} file_log;

enum file_log_mode { FILE_LOG_READ, FILE_LOG_WRITE };

/* Makes the file where it is missing and reads it. */
muster_status file_log_open(file_log *log, const char *path);
void file_log_close(file_log *log);

/*
 * Opens and locks the file and reads what is new; log->values is the caller's until file_log_end.
 * Each time the path is opened anew: that tells when the file has been removed, and forked
 * processes do not share the lock. Waits for the lock until the deadline, but at least 100 ms.
 */
muster_status file_log_begin(file_log *log, enum file_log_mode mode, deadline end, int *fd);
void file_log_end(file_log *log, int fd);

/*
 * After file_log_begin has found the file removed: begins what it held in the end, to be read
 * alone. Whoever removed it may have written, last of all, what a rank still waits for.
 */
muster_status file_log_begin_removed(file_log *log, int *fd);

/* MUSTER_ERR_NOT_FOUND with the sentence that says so, and who may have done it. */
muster_status file_log_gone(file_log *log);

/* Writes records at the end, all or none; after file_log_begin with FILE_LOG_WRITE. */
muster_status file_log_append(file_log *log, int fd, const buffer *records);

/* Adds a record to records: a value for key, or that it has been deleted. */
void file_log_put(buffer *records, muster_blob key, muster_blob value);
void file_log_put_deleted(buffer *records, muster_blob key);

/* Whether the file is the one of before and still ends at the position where the caller has seen it
 * end: another thread may have read on since. Without a lock. */
bool file_log_unchanged(const file_log *log, off_t seen);

#endif

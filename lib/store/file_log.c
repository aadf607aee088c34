/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file of a file store: opened, locked, written.
 */
#include "config.h"
#include "store/file_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "store/file_replay.h"

enum { LEAST_LOCK_MS = 100, LONGEST_LOCK_PAUSE_MS = 8 };

/* Where torch counts the stores that have been closed. */
#define TORCH_CLOSED "cleanup/"

/* ---- Records ------------------------------------------------------------------------------- */

static void put_length(buffer *records, size_t length)
{
    unsigned char wire[4];
    for (int i = 0; i < 4; i++)
        wire[i] = (unsigned char)(length >> 8 * i);
    buffer_append(records, wire, sizeof(wire));
}

static void put_record(buffer *records, muster_blob mark, muster_blob key, muster_blob value)
{
    put_length(records, mark.size + key.size);
    buffer_append(records, mark.data, mark.size);
    buffer_append(records, key.data, key.size);
    put_length(records, value.size);
    buffer_append(records, value.data, value.size);
}

void file_log_put(buffer *records, muster_blob key, muster_blob value)
{
    put_record(records, muster_str("/"), key, value);
}

void file_log_put_deleted(buffer *records, muster_blob key)
{
    put_record(records, muster_str("-/"), key, muster_str(""));
}

/* One write: a reader of torch never comes back from a part of a record. Only where there is no
 * room for all of it another one follows, which then says why. */
static bool write_whole(int fd, const buffer *records, off_t at)
{
    size_t done = 0;
    ssize_t written = 1;
    signals before;
    signals_block(&before, SIGXFSZ);
    while (done < records->size && written > 0) {
        written = pwrite(fd, records->data + done, records->size - done, at + (off_t)done);
        done += written > 0 ? (size_t)written : 0;
    }
    if (written == 0)
        errno = ENOSPC;
    signals_restore(&before);
    return done == records->size;
}

muster_status file_log_append(file_log *log, int fd, const buffer *records)
{
    if (records->failed)
        return error_no_memory(records->size, "records of a file store");
    if (write_whole(fd, records, log->position))
        return MUSTER_OK;
    const char *advice = errno == EFBIG ? ", which ulimit -f does not allow" : "";
    muster_status status = error_system("file store %s: writing %zu bytes at its end%s", log->path,
                                        records->size, advice);
    if (ftruncate(fd, log->position) != 0)
        return error_prefix(status, "the file now ends in a part of a record, remove it: ");
    return status;
}

/* ---- Lock ---------------------------------------------------------------------------------- */

/* Not by waiting in flock(2), which knows no time-out. */
static muster_status lock_file(const file_log *log, int fd, int operation, deadline end)
{
    deadline least = deadline_in(LEAST_LOCK_MS);
    int pause_us = 100;
    while (flock(fd, operation | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return error_system(
                "file store %s: its file system refuses to lock it (flock); put the "
                "file where locks work",
                log->path);
        if (deadline_left_ms(end) == 0 && deadline_left_ms(least) == 0)
            return error_set(
                MUSTER_ERR_TIMEOUT,
                "file store %s: another process keeps the file locked and does not let "
                "go of it in time",
                log->path);
        struct timespec pause = {0, pause_us * 1000L};
        nanosleep(&pause, NULL);
        pause_us = pause_us >= LONGEST_LOCK_PAUSE_MS * 1000 ? pause_us : pause_us * 2;
    }
    return MUSTER_OK;
}

muster_status file_log_gone(file_log *log)
{
    muster_blob closed = {NULL, 0};
    char torch[200] = "";
    pthread_mutex_lock(&log->lock);
    if (value_map_get(&log->values, muster_str(TORCH_CLOSED), &closed))
        snprintf(torch, sizeof(torch),
                 "; torch's FileStore does so when as many of its stores as its world_size have "
                 "been closed (%.*s here): give it the number of all ranks, or none",
                 closed.size > 20 ? 20 : (int)closed.size, (const char *)closed.data);
    pthread_mutex_unlock(&log->lock);
    return error_set(
        MUSTER_ERR_NOT_FOUND,
        "file store %s: the file has been removed, or replaced, while it was in use%s; "
        "all ranks must start anew with a new file",
        log->path, torch);
}

static muster_status open_file(file_log *log, enum file_log_mode mode, int *fd)
{
    struct stat found;
    int opened = open(log->path, (mode == FILE_LOG_READ ? O_RDONLY : O_RDWR) | O_CLOEXEC);
    if (opened < 0)
        return errno == ENOENT ? file_log_gone(log)
                               : error_system("file store %s: opening it", log->path);
    if (fstat(opened, &found) == 0 && found.st_dev == log->device && found.st_ino == log->inode) {
        *fd = opened;
        return MUSTER_OK;
    }
    close(opened);
    return file_log_gone(log);
}

muster_status file_log_begin(file_log *log, enum file_log_mode mode, deadline end, int *fd)
{
    int opened = -1;
    muster_status status = open_file(log, mode, &opened);
    if (status != MUSTER_OK)
        return status;
    status = lock_file(log, opened, mode == FILE_LOG_READ ? LOCK_SH : LOCK_EX, end);
    if (status != MUSTER_OK) {
        close(opened);
        return status;
    }
    pthread_mutex_lock(&log->lock);
    status = file_replay(log, opened);
    if (status != MUSTER_OK)
        file_log_end(log, opened);
    else
        *fd = opened;
    return status;
}

muster_status file_log_begin_removed(file_log *log, int *fd)
{
    int kept = fcntl(log->keeper, F_DUPFD_CLOEXEC, 0);
    if (kept < 0)
        return error_system("file store %s: opening what is left of it", log->path);
    pthread_mutex_lock(&log->lock);
    muster_status status = file_replay(log, kept);
    if (status != MUSTER_OK)
        file_log_end(log, kept);
    else
        *fd = kept;
    return status;
}

void file_log_end(file_log *log, int fd)
{
    pthread_mutex_unlock(&log->lock);
    close(fd); /* which unlocks, since nobody else has this descriptor */
}

bool file_log_unchanged(const file_log *log, off_t seen)
{
    struct stat found;
    return stat(log->path, &found) == 0 && found.st_dev == log->device &&
           found.st_ino == log->inode && found.st_size == seen;
}

/* ---- Life ---------------------------------------------------------------------------------- */

static muster_status no_file(const char *path, int error)
{
    if (error == ENOENT || error == ENOTDIR)
        return error_set(MUSTER_ERR_SYSTEM,
                         "opening the file '%s' of a store: there is no such folder; make it, or "
                         "take a file in a folder that all ranks see",
                         path);
    if (error == EACCES)
        return error_set(MUSTER_ERR_SYSTEM,
                         "opening the file '%s' of a store: user %d may not; take a file that the "
                         "user of the ranks may make, read and write",
                         path, (int)geteuid());
    errno = error;
    return error_system("opening the file '%s' of a store", path);
}

/* Makes the file if need be, for the ranks' own user alone, and remembers which one it is. One that
 * is there already keeps its mode: whoever made it for several users has said so. */
static muster_status identify(file_log *log, const char *path)
{
    struct stat found;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd < 0)
        return no_file(path, errno);
    muster_status status = MUSTER_OK;
    if (fstat(fd, &found) != 0)
        status = error_system("looking at the file '%s' of a store", path);
    else if (!S_ISREG(found.st_mode))
        status = error_set(MUSTER_ERR_ARGUMENT,
                           "'%s' is no regular file, as a file store needs one", path);
    if (status == MUSTER_OK) {
        log->path = realpath(path, NULL);
        if (log->path == NULL)
            status = error_system("finding the file '%s' of a store", path);
    }
    if (status != MUSTER_OK) {
        close(fd);
        return status;
    }
    if (found.st_mode & S_IWOTH)
        log_line(MUSTER_LOG_WARNING,
                 "file store %s: every user of the machine may change it (its mode is %03o): "
                 "chmod 600, or another folder",
                 path, (unsigned)found.st_mode & 0777);
    log->keeper = fd;
    log->device = found.st_dev;
    log->inode = found.st_ino;
    return MUSTER_OK;
}

muster_status file_log_open(file_log *log, const char *path)
{
    int fd;
    *log = (file_log){0};
    muster_status status = identify(log, path);
    if (status != MUSTER_OK)
        return status;
    pthread_mutex_init(&log->lock, NULL);
    status = file_log_begin(log, FILE_LOG_READ, deadline_in(FILE_LOG_LOCK_MS), &fd);
    if (status == MUSTER_OK)
        file_log_end(log, fd);
    else
        file_log_close(log);
    return status;
}

void file_log_close(file_log *log)
{
    value_map_free(&log->values);
    pthread_mutex_destroy(&log->lock);
    close(log->keeper);
    free(log->path);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations that go on while the program does something else.
 *
 * The last argument of an operation on a group is work. With NULL the call blocks until the
 * operation is done, and returns how it ended. Otherwise it returns as soon as the operation has
 * been started, and *work is a handle on it, which the caller frees; where the call fails there is
 * none. The operation has the group's time-out either way.
 *
 * A handle may be used by several threads. It outlives its group: operations that
 * muster_group_free() breaks off have ended when it returns, and their handles say so until they
 * are freed.
 */
#ifndef MUSTER_WORK_H
#define MUSTER_WORK_H

#include <muster/group.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct muster_work muster_work;

/* *done tells whether the operation has ended; the status is that of the operation once it has, and
 * MUSTER_OK before. */
MUSTER_API muster_status muster_work_test(muster_work *work, bool *done);

/* Waits until the operation has ended and returns its status; MUSTER_ERR_TIMEOUT after timeout_ms
 * leaves it running (0 looks once; MUSTER_TIMEOUT_DEFAULT: as long as the operation itself may
 * take). Does not free the handle, which may be waited for again. */
MUSTER_API muster_status muster_work_wait(muster_work *work, int64_t timeout_ms);

/*
 * Waits until any of the operations has ended: *index is its place in works, the first one if there
 * are several, and the status is that operation's. Places that are NULL are passed over, so an
 * operation that was dealt with is freed and set to NULL; not all may be. MUSTER_ERR_TIMEOUT with
 * *index num_works: none has ended, and all go on. *index is not written for wrong arguments alone.
 */
MUSTER_API muster_status muster_work_wait_any(muster_work *const *works, size_t num_works,
                                              int64_t timeout_ms, size_t *index);

/* Is told that an operation has ended, and how; after anything but MUSTER_OK muster_last_error()
 * has its sentence. */
typedef void (*muster_work_fn)(void *user, muster_status status);

/*
 * Has fn called once when the operation has ended, also where the handle is freed before; at once
 * on this thread if it has ended already, else on a thread of the group, whose later operations
 * wait for it. Several are called in the order in which they were added, and all before a wait for
 * the operation returns. A callback may start operations with a handle. It must not free the group,
 * and calls in it that would wait are refused with MUSTER_ERR_ARGUMENT.
 */
MUSTER_API muster_status muster_work_add_callback(muster_work *work, muster_work_fn fn, void *user);

/* Frees the handle. An operation that was not waited for goes on. */
MUSTER_API void muster_work_free(muster_work *work);

#ifdef __cplusplus
}
#endif
#endif

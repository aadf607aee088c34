/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The log: one function of the program receives all lines; silent by default.
 */
#ifndef MUSTER_LOG_H
#define MUSTER_LOG_H

#include <muster/api.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum muster_log_level {
    MUSTER_LOG_NONE = 0, /* the default: nothing is ever printed */
    MUSTER_LOG_WARNING = 1,
    MUSTER_LOG_INFO = 2,
    MUSTER_LOG_DEBUG = 3
} muster_log_level;

/* Receives one line without a newline, which lives until it returns. Called from any thread, also
 * from several at once, never while a lock of a group is held; must not call muster. */
typedef void (*muster_log_fn)(void *user, muster_log_level level, const char *line);

/*
 * Sends log lines up to level to fn, for the whole process; fn NULL writes them to stderr. Without
 * this call the environment decides: MUSTER_LOG=warning, info or debug writes to stderr, and unset
 * is silence. A thread that is about to log may still call the fn that was set before, with its
 * user.
 */
MUSTER_API void muster_set_log(muster_log_fn fn, void *user, muster_log_level level);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The log: one callback, silent by default; MUSTER_LOG writes to stderr.
 */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    bool settled; /* by a call or by the environment */
    muster_log_fn fn;
    void *user;
    muster_log_level level;
} logger = {PTHREAD_MUTEX_INITIALIZER, false, NULL, NULL, MUSTER_LOG_NONE};

static const char *const level_names[] = {"none", "warning", "info", "debug"};

/* One write, so that the lines of several ranks on one terminal do not mix. */
static void log_to_stderr(void *user, muster_log_level level, const char *line)
{
    (void)user;
    char text[ERROR_SIZE + 64];
    int length = snprintf(text, sizeof(text), "muster[%ld] %s: %s\n", (long)getpid(),
                          level_names[level], line);
    if (length > 0) {
        size_t bytes = (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1;
        ssize_t written = write(STDERR_FILENO, text, bytes);
        (void)written; /* there is nowhere to say that stderr is closed */
    }
}

/* Whoever sets the variable wants to read something, and be it that this is none of the levels. */
static muster_log_level level_from_environment(void)
{
    const char *wanted = getenv("MUSTER_LOG");
    if (wanted == NULL || *wanted == '\0')
        return MUSTER_LOG_NONE;
    for (int level = MUSTER_LOG_NONE; level <= MUSTER_LOG_DEBUG; level++)
        if (strcmp(wanted, level_names[level]) == 0)
            return (muster_log_level)level;
    char line[256];
    snprintf(line, sizeof(line),
             "MUSTER_LOG is \"%.100s\", taken as warning; expected none, warning, info or debug",
             wanted);
    log_to_stderr(NULL, MUSTER_LOG_WARNING, line);
    return MUSTER_LOG_WARNING;
}

void muster_set_log(muster_log_fn fn, void *user, muster_log_level level)
{
    pthread_mutex_lock(&logger.lock);
    logger.settled = true;
    logger.fn = fn != NULL ? fn : log_to_stderr;
    logger.user = user;
    logger.level = level;
    pthread_mutex_unlock(&logger.lock);
}

void log_line(muster_log_level level, const char *format, ...)
{
    pthread_mutex_lock(&logger.lock);
    if (!logger.settled) {
        logger.settled = true;
        logger.fn = log_to_stderr;
        logger.level = level_from_environment();
    }
    muster_log_fn fn = logger.fn;
    void *user = logger.user;
    bool wanted = level != MUSTER_LOG_NONE && level <= logger.level;
    pthread_mutex_unlock(&logger.lock);
    if (!wanted)
        return;

    char line[ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    error_clean(line);
    fn(user, level, line);
}

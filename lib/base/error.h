/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The thread's last error in words.
 */
#ifndef MUSTER_LIB_ERROR_H
#define MUSTER_LIB_ERROR_H

#include <stdarg.h>

#include "muster.h"

#if defined(__GNUC__)
#define MUSTER_PRINTF(words, values) __attribute__((format(printf, words, values)))
#else
#define MUSTER_PRINTF(words, values)
#endif

/* The longest sentence, its end included; longer ones are cut with "..." at their end. */
enum { ERROR_SIZE = 2048 };

/* Sets the thread's sentence and returns status, so that "return error_set(...)" is one line.
 * Arguments may point into the present sentence. Keeps errno. */
muster_status error_set(muster_status status, const char *format, ...) MUSTER_PRINTF(2, 3);
muster_status error_set_v(muster_status status, const char *format, va_list arguments);

/* Puts "?" in the place of control characters, line ends among them. */
void error_clean(char *sentence);

/* Puts words in front of the thread's sentence: "group 'world': " before "...". Returns status. */
muster_status error_prefix(muster_status status, const char *format, ...) MUSTER_PRINTF(2, 3);

/* The usual sentence after malloc has failed. */
muster_status error_no_memory(size_t bytes, const char *what);

/* Public functions that try again, or look at what may not be there, keep the thread's sentence at
 * their beginning: error_settle puts it back where they succeed in the end. Returns status. */
typedef struct error_kept {
    char sentence[ERROR_SIZE];
} error_kept;
void error_keep(error_kept *kept);
muster_status error_settle(const error_kept *kept, muster_status status);

/* "<what>: <strerror(errno)>", MUSTER_ERR_SYSTEM. */
muster_status error_system(const char *format, ...) MUSTER_PRINTF(1, 2);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The log: silent unless a callback or MUSTER_LOG asks for it.
 */
#ifndef MUSTER_LIB_LOG_H
#define MUSTER_LIB_LOG_H

#include "base/error.h"

void log_line(muster_log_level level, const char *format, ...) MUSTER_PRINTF(2, 3);

#endif

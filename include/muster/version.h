/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The version of this header, that of the library, and which of two versions is newer.
 */
#ifndef MUSTER_VERSION_H
#define MUSTER_VERSION_H

#include <muster/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version that a program is compiled against. */
#define MUSTER_VERSION_MAJOR 0
#define MUSTER_VERSION_MINOR 1
#define MUSTER_VERSION_PATCH 0

/* The version of the library found at run time, as "0.1.0". Never NULL, never freed. */
MUSTER_API const char *muster_version(void);

/*
 * Compares two version strings number by number: *order becomes negative, 0 or positive as a is
 * older than, the same as or newer than b. "2.10" is newer than "2.6"; missing numbers count as 0;
 * a pre-release ("2.6.0rc1", "2.6.0a2", "2.6.0.dev3") is older than its release; a leading "v", a
 * local part behind "+" and a packager's revision behind "-" do not count. MUSTER_ERR_ARGUMENT for
 * NULL, for text that is not a version and for numbers over 2^31-1.
 */
MUSTER_API muster_status muster_version_compare(const char *a, const char *b, int *order);

#ifdef __cplusplus
}
#endif
#endif

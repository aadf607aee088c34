/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the other headers begin with: the types of C, and the mark of what the library exports.
 */
#ifndef MUSTER_API_H
#define MUSTER_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MUSTER_API __attribute__((visibility("default")))
#else
#define MUSTER_API
#endif

#endif

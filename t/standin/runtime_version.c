/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: which version a library
 * of the runtime says it is.
 */
#include "config.h"

#include "runtime.h"

const int runtime_version = STANDIN_RUNTIME_VERSION;

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether hwloc's readers of XML survive a text: they expect that hwloc wrote it.
 */
#ifndef MUSTER_LIB_MACHINE_XML_H
#define MUSTER_LIB_MACHINE_XML_H

#include <stdbool.h>

/* False where something is in it that is known to end the process, or missing; *why says what. */
bool machine_xml_is_safe(const char *xml, const char **why);

#endif

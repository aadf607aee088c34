/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The standard descriptors, as a program needs them that was started without some of them.
 */
#ifndef MUSTER_TOOLS_STANDARD_H
#define MUSTER_TOOLS_STANDARD_H

/* Whatever is opened later must not become a standard descriptor by chance. An output that is
 * closed can't be written then either; errors are dropped. */
void standard_open(void);

#endif

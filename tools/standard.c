/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens the standard descriptors that are closed.
 */
#include "config.h"

#include "standard.h"

#include <fcntl.h>
#include <unistd.h>

void standard_open(void)
{
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0)
            /* It is the lowest that is free. */
            (void)!open("/dev/null", descriptor == STDERR_FILENO ? O_RDWR : O_RDONLY);
}

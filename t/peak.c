/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The largest resident memory of this process since some moment, as the kernel has it.
 */
#include "config.h"

#include "peak.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

static size_t status_bytes(const char *name)
{
    char line[256];
    unsigned long long kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status != NULL && fgets(line, sizeof(line), status) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            sscanf(line + strlen(name), "%llu", &kilobytes);
    if (status != NULL)
        fclose(status);
    if (kilobytes == 0)
        bail_out("/proc/self/status does not say %s", name);
    return (size_t)kilobytes * 1024;
}

size_t peak_reset(void)
{
    int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, "5", 1) != 1)
        bail_out("/proc/self/clear_refs: %s", strerror(errno));
    close(file);
    return status_bytes("VmRSS:");
}

size_t peak_resident(void)
{
    return status_bytes("VmHWM:");
}

size_t peak_virtual(void)
{
    return status_bytes("VmSize:");
}

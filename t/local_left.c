/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a group over shared memory may have left.
 */
#include "config.h"

#include "local_left.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "opening.h"

const char opening_lost[] = "rank 2";

int count_mappings(void)
{
    char line[512];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
        count += strstr(line, "muster") != NULL &&
                 (strstr(line, "memfd:") != NULL || strstr(line, "/dev/shm/") != NULL);
    if (maps != NULL)
        fclose(maps);
    return count;
}

int count_names(void)
{
    int count = 0;
    DIR *folder = opendir("/dev/shm");
    struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        count += strncmp(entry->d_name, "muster", 6) == 0;
    if (folder != NULL)
        closedir(folder);
    return count;
}

void opening_nothing_left(rank *me, int fds, int threads)
{
    rank_check(me, count_fds() <= fds, "%d descriptors before, %d after", fds, count_fds());
    int now = count_threads();
    rank_check(me, now <= threads, "%d threads before, %d after", threads, now);
    rank_check(me, count_mappings() == 0, "memory is left mapped");
    rank_check(me, count_names() == 0, "a name is left in /dev/shm");
}

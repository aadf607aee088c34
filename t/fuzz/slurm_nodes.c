/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: Slurm's lists of nodes and of tasks.
 */
#include "launch/slurm_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { ENOUGH = 2000 };

typedef struct seen {
    size_t count;
    char first[SLURM_MAX_NAME + 1];
} seen;

static bool take(void *user, const char *name)
{
    seen *names = user;
    fuzz_hold(name[0] != '\0' && strlen(name) <= SLURM_MAX_NAME, "a name has a length");
    if (names->count == 0)
        strcpy(names->first, name);
    return ++names->count < ENOUGH;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes input = {data, size};
    int node = fuzz_byte(&input), tasks = -1;
    char *list = fuzz_text(input.data, input.size);
    char first[SLURM_MAX_NAME + 1];
    seen names = {0, ""};
    bool good = slurm_nodes_each(list, take, &names) == MUSTER_OK;
    fuzz_hold(good || names.count == 0, "a list is refused before its first name is given");
    fuzz_hold(good == (slurm_nodes_first(list, first) == MUSTER_OK), "it has a first name");
    fuzz_hold(!good || strcmp(first, names.first) == 0, "the first name is the first");
    if (slurm_nodes_tasks(list, node, &tasks) == MUSTER_OK)
        fuzz_hold(tasks >= 0, "a node has no fewer than no tasks");
    free(list);
    return 0;
}

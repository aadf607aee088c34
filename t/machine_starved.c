/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Machines without memory: every allocation is refused in turn, which must be an error and nothing
 * else.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "scarce.h"
#include "tap.h"

static muster_status load_file(machine **m)
{
    return machine_load_file(TOPOLOGIES "/hwloc-power8gpudistances.xml", m);
}

static muster_status load_plain(machine **m)
{
    return machine_load_plain("a test", m);
}

static muster_status load_here(machine **m)
{
    return machine_load(m);
}

static muster_status write_set(machine **m)
{
    (void)m;
    cpu_set set = {{5}};
    char *text = NULL;
    muster_status status = cpu_set_text(&set, &text);
    free(text);
    return status;
}

static void starve(const char *what, int least, muster_status (*work)(machine **m))
{
    int refused = 0;
    bool fine = true;
    muster_status status = MUSTER_ERR_NO_MEMORY;
    for (int left = 0; left < 200 && status != MUSTER_OK; left++) {
        machine *m = NULL;
        scarce_left = left;
        status = work(&m);
        scarce_left = -1;
        fine = fine && (status == MUSTER_OK || (status == MUSTER_ERR_NO_MEMORY && m == NULL));
        refused += status == MUSTER_OK ? 0 : 1;
        machine_free(m);
    }
    ok(fine, "%s: each refusal is an error", what);
    ok(status == MUSTER_OK && refused >= least, "it works after %d of them", refused);
}

int main(void)
{
    unsetenv("MUSTER_TOPOLOGY_FILE");
    unsetenv("HWLOC_XMLFILE");
    plan(8);
    starve("without hwloc", 1, load_plain);
    starve("this machine", 1, load_here);
    starve("a list of CPUs", 1, write_set);
#ifdef HAVE_HWLOC
    starve("a file", 13, load_file);
#else
    (void)load_file;
    skip(2, "muster was built without hwloc");
#endif
    return done();
}

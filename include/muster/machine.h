/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What this machine has: backends and cores. muster-info prints it.
 */
#ifndef MUSTER_MACHINE_H
#define MUSTER_MACHINE_H

#include <muster/blob.h>
#include <muster/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One backend as found on this machine. Strings live until the process ends. */
typedef struct muster_backend_report {
    const char *name;
    bool available;
    const char *version; /* of the library below it, "" where unknown */
    const char *file;    /* the plugin, or "built in" */
    const char *reason;  /* why it is not available; "" where it is */
} muster_backend_report;

/* *reports lists the *num_reports backends found, best first; the one muster_free(*reports) frees
 * it. Opens plugins where that has not been done yet. */
MUSTER_API muster_status muster_list_backends(muster_backend_report **reports, size_t *num_reports);

/*
 * This machine as far as it matters here, a line a fact or in JSON: host name, the cores that this
 * process may run on, and packages, NUMA nodes, cores and hardware threads of the whole machine as
 * hwloc sees them, 0 where the library was built without it. MUSTER_TOPOLOGY_FILE or HWLOC_XMLFILE
 * may name a file with another machine, which is then shown; one that can't be read is an error.
 * *text is freed with muster_free().
 */
MUSTER_API muster_status muster_describe_host(bool json, char **text);

#ifdef __cplusplus
}
#endif
#endif

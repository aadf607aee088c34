/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds out whether this host can use NCCL. ncclGetUniqueId is not called here: it leaves a thread
 * and a socket behind.
 */
#include "config.h"

#include "probe.h"

#include <stdio.h>

#include "cuda_api.h"
#include "nccl_api.h"

/* Says why there is no CUDA, and what there is of NCCL, so that who reads it need not come twice;
 * but opens no large file for that, since who has no GPU has no use for it. */
static muster_status probe_refuse(const char *why)
{
    const nccl_api *nccl;
    const char *also;
    if (!nccl_api_is_near())
        return nccl_host->error(MUSTER_ERR_UNAVAILABLE, "%s", why);
    if (!nccl_api_try(&nccl, &also))
        return nccl_host->error(MUSTER_ERR_UNAVAILABLE, "%s; and %s", why, also);
    return nccl_host->error(MUSTER_ERR_UNAVAILABLE, "%s; NCCL %s is here (%s)", why,
                            nccl->version_text, nccl->file);
}

muster_status probe(const muster_host *host, muster_backend_info *info)
{
    const cuda_api *cuda;
    const nccl_api *nccl;
    const char *why;
    if (host->abi != MUSTER_BACKEND_ABI || host->size < sizeof(*host))
        return MUSTER_ERR_UNAVAILABLE;
    nccl_host = host;
    if (cuda_api_try(&cuda, &why) != MUSTER_OK)
        return probe_refuse(why);
    muster_status status = nccl_api_load(&nccl);
    if (status != MUSTER_OK)
        return status;
    snprintf(info->version, sizeof(info->version), "%s", nccl->version_text);
    snprintf(info->details, sizeof(info->details), "%d GPU%s; CUDA %d.%d, driver's %d.%d; %.150s",
             cuda->num_devices, cuda->num_devices == 1 ? "" : "s",
             cuda->runtime_version / CUDA_VERSION_MAJOR_UNIT,
             cuda->runtime_version % CUDA_VERSION_MAJOR_UNIT / CUDA_VERSION_MINOR_UNIT,
             cuda->driver_version / CUDA_VERSION_MAJOR_UNIT,
             cuda->driver_version % CUDA_VERSION_MAJOR_UNIT / CUDA_VERSION_MINOR_UNIT, nccl->file);
    return MUSTER_OK;
}

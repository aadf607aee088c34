/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The gloo backend: the table that the core sees.
 */
#include "config.h"

#include <stdio.h>

#include "comm.h"
#include "failure.h"
#include "message.h"
#include "note.h"

const muster_host *gloo_host;

static const muster_option options[] = {
    {.name = "gloo.iface",
     .type = MUSTER_OPTION_STRING,
     .environment = "GLOO_SOCKET_IFNAME",
     .help = "network interface: eth0, eth (as prefix), =eth0, ^lo,docker, 10.9.0.0/24, or a list"},
    {.name = "gloo.hostname",
     .type = MUSTER_OPTION_STRING,
     .help = "address or name of this host to use, instead of an interface"},
    {.name = "gloo.batch",
     .type = MUSTER_OPTION_STRING,
     .default_value = "auto",
     .help = "schedule Gloo's thread as SCHED_BATCH: on, off, or auto (where cores are shared)"},
    {.name = "gloo.shared_memory",
     .type = MUSTER_OPTION_STRING,
     .default_value = "auto",
     .help = "whether ranks of one host use the backend local among themselves, also with auto: "
             "auto (where they can share memory), or off"},
    {.name = NULL},
};

static muster_status backend_probe(const muster_host *host, muster_backend_info *info)
{
    if (host->abi != MUSTER_BACKEND_ABI || host->size < sizeof(*host))
        return MUSTER_ERR_UNAVAILABLE;
    gloo_host = host;
    gloo_c_prepare_thread(); /* the program's, which may have to break a group off */
    snprintf(info->version, sizeof(info->version), "%s", gloo_c_version());
    snprintf(info->details, sizeof(info->details), "tcp; built for Gloo %s", GLOO_GENERATION);
    return MUSTER_OK;
}

static const char *backend_describe(muster_comm *comm)
{
    return comm->description;
}

__attribute__((visibility("default"))) extern const muster_backend muster_backend_1;

const muster_backend muster_backend_1 = {
    .abi = MUSTER_BACKEND_ABI,
    .size = sizeof(muster_backend),
    .name = "gloo",
    .priority = 10,
    .options = options,
    .probe = backend_probe,
    .open = comm_open,
    .post_send = message_post_send,
    .post_recv = message_post_recv,
    .wait = message_wait,
    .abort = comm_abort,
    .close = comm_close,
    .forget = comm_forget,
    .describe = backend_describe,
    .suspects = failure_suspects,
    .left = note_peer_left,
};

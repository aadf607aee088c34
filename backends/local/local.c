/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The backend for ranks of one host, built into libmuster: it needs no plugin and no network.
 */
#include <stdio.h>

#include "breach.h"
#include "comm.h"
#include "message.h"
#include "muster/version.h"
#include "whole.h"

const muster_host *local_host;

static const muster_option local_options[] = {
    {.name = "local.single_copy",
     .type = MUSTER_OPTION_BOOLEAN,
     .default_value = "on",
     .help = "copy large messages from the sender's memory where the kernel allows it, and not "
             "twice through shared memory"},
    {.name = NULL},
};

static muster_status local_probe(const muster_host *functions, muster_backend_info *info)
{
    local_host = functions;
    snprintf(info->version, sizeof(info->version), "%d.%d.%d", MUSTER_VERSION_MAJOR,
             MUSTER_VERSION_MINOR, MUSTER_VERSION_PATCH);
    snprintf(info->details, sizeof(info->details), "ranks of one host over shared memory");
    return MUSTER_OK;
}

static const char *local_describe(muster_comm *comm)
{
    return comm->description;
}

const muster_backend local_backend = {
    .abi = MUSTER_BACKEND_ABI,
    .size = sizeof(muster_backend),
    .name = "local",
    .priority = 0,
    .options = local_options,
    .probe = local_probe,
    .open = comm_open,
    .post_send = message_post_send,
    .post_recv = message_post_recv,
    .wait = message_wait,
    .abort = comm_abort,
    .close = comm_close,
    .forget = comm_forget,
    .describe = local_describe,
    .suspects = breach_suspects,
    .left = breach_left,
    .has_come = whole_has_come,
    .can = whole_can,
    .run = whole_run,
    .traffic = whole_traffic,
};

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plugins that are wrong in one way each, built from this file with other definitions:
 *
 *   BAD_NAME     the name in the table
 *   BAD_ABI      the ABI number
 *   BAD_SIZE     the size of the table
 *   BAD_SYMBOL   the symbol under which the table is exported
 *   BAD_WAIT     the wait slot
 *   BAD_PROBE    1: probe fails with a sentence, 2: without one
 *   BAD_OPTION   the name of an option
 *   BAD_CALL     a function that nobody has
 *
 * With none of them but BAD_NAME the plugin is good, though its groups can't be opened.
 */
#include <stddef.h>
#include <string.h>

#include "muster/backend.h"

#ifndef BAD_ABI
#define BAD_ABI MUSTER_BACKEND_ABI
#endif
#ifndef BAD_SIZE
#define BAD_SIZE sizeof(muster_backend)
#endif
#ifndef BAD_SYMBOL
#define BAD_SYMBOL muster_backend_1
#endif
#ifndef BAD_WAIT
#define BAD_WAIT bad_wait
#endif
#ifndef BAD_PROBE
#define BAD_PROBE 0
#endif
#ifndef BAD_OPTION
#define BAD_OPTION BAD_NAME ".nothing"
#endif

static const muster_host *host;

static muster_status bad_probe(const muster_host *functions, muster_backend_info *info)
{
    host = functions;
#ifdef BAD_CALL
    extern void BAD_CALL(void);
    BAD_CALL();
#endif
    memset(info->version, '9', sizeof(info->version)); /* no end: the core must put one */
    if (BAD_PROBE == 1)
        return host->error(MUSTER_ERR_UNAVAILABLE, "there is no %s on this machine", "device");
    return BAD_PROBE == 2 ? MUSTER_ERR_SYSTEM : MUSTER_OK;
}

static muster_status bad_open(muster_comm_owner *owner, const muster_open_args *args,
                              muster_comm **comm)
{
    (void)owner, (void)args, (void)comm;
    return host->error(MUSTER_ERR_UNSUPPORTED, "this backend opens nothing");
}

static muster_status bad_post_send(muster_comm *comm, int peer, uint64_t slot, const void *data,
                                   size_t size, muster_request **request)
{
    (void)comm, (void)peer, (void)slot, (void)data, (void)size, (void)request;
    return MUSTER_ERR_UNSUPPORTED;
}

static muster_status bad_post_recv(muster_comm *comm, int peer, uint64_t slot, void *data,
                                   size_t size, muster_request **request)
{
    (void)comm, (void)peer, (void)slot, (void)data, (void)size, (void)request;
    return MUSTER_ERR_UNSUPPORTED;
}

static inline muster_status bad_wait(muster_comm *comm, muster_request *request, int64_t timeout_ms)
{
    (void)comm, (void)request, (void)timeout_ms;
    return MUSTER_ERR_UNSUPPORTED;
}

static void bad_leave(muster_comm *comm)
{
    (void)comm;
}

static const muster_option bad_options[] = {
    {.name = BAD_OPTION, .type = MUSTER_OPTION_STRING, .help = "does nothing"},
    {.name = NULL},
};

extern MUSTER_API const muster_backend BAD_SYMBOL;

const muster_backend BAD_SYMBOL = {
    .abi = BAD_ABI,
    .size = BAD_SIZE,
    .name = BAD_NAME,
    .priority = -1,
    .options = bad_options,
    .probe = bad_probe,
    .open = bad_open,
    .post_send = bad_post_send,
    .post_recv = bad_post_recv,
    .wait = BAD_WAIT,
    .abort = bad_leave,
    .close = bad_leave,
    .forget = bad_leave,
};
